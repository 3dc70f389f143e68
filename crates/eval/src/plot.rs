//! Plots as SVG: lines where there is a horizontal axis, and otherwise a line of dots for each row.

use core::fmt::Write;

use crate::escape::escape;
use crate::figure::{Figure, Row};

/// Told apart by those who see colours differently, too: of Okabe and Ito.
const COLOURS: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#7f7f7f", "#b3a800"];
const WIDTH: f64 = 860.0;
/// More than this many times the least value, and the axis is logarithmic.
const WIDE: f64 = 40.0;

/// From values to places on the screen.
struct Axis {
    least: f64,
    most: f64,
    is_logarithmic: bool,
    from: f64,
    to: f64,
}

impl Axis {
    /// An axis for `values` that goes on the screen between `from` and `to`.
    fn new(values: impl Iterator<Item = f64> + Clone, from: f64, to: f64) -> Self {
        let most = values.clone().fold(f64::MIN, f64::max);
        let least = values.fold(f64::MAX, f64::min);
        let is_logarithmic = least > 0.0 && most > WIDE * least;
        let (least, most) = if is_logarithmic {
            (10f64.powf(least.log10().floor()), 10f64.powf(most.log10().ceil()))
        } else {
            let step = step(most.max(0.0) - least.min(0.0));
            ((least.min(0.0) / step).floor() * step, (most.max(0.0) / step).ceil() * step)
        };
        Self { least, most: if most > least { most } else { least + 1.0 }, is_logarithmic, from, to }
    }

    fn place(&self, value: f64) -> f64 {
        let share = if self.is_logarithmic {
            (value.max(self.least) / self.least).log10() / (self.most / self.least).log10()
        } else {
            (value - self.least) / (self.most - self.least)
        };
        self.from + share * (self.to - self.from)
    }

    fn ticks(&self) -> Vec<f64> {
        if self.is_logarithmic {
            let (first, last) = (self.least.log10().round() as i32, self.most.log10().round() as i32);
            return (first..=last).map(|power| 10f64.powi(power)).collect();
        }
        let step = step(self.most - self.least);
        let count = ((self.most - self.least) / step).round() as i32;
        (0..=count).map(|n| self.least + step * f64::from(n)).collect()
    }
}

/// A round step, of which some four to nine make `range`.
fn step(range: f64) -> f64 {
    if range <= 0.0 {
        return 1.0;
    }
    let power = 10f64.powf((range / 5.0).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|round| round * power);
    steps.into_iter().find(|step| range / step <= 8.0).unwrap_or(steps[3])
}

/// A number with as many places as it needs here.
pub(crate) fn number(value: f64) -> String {
    let places = match value.abs() {
        size if size >= 1000.0 => 0,
        size if size >= 100.0 => 1,
        size if size >= 1.0 => 2,
        0.0 => 0,
        _ => 4,
    };
    let text = format!("{value:.places$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}

/// The figure as SVG; nothing where it has no rows.
pub fn svg(figure: &Figure) -> String {
    if figure.rows.is_empty() {
        String::new()
    } else if figure.rows.iter().all(|row| row.x.is_some()) {
        lines(figure)
    } else {
        dots(&figure.rows)
    }
}

/// All values that a row shows.
fn shown(rows: &[Row]) -> impl Iterator<Item = f64> + Clone + '_ {
    rows.iter().flat_map(|row| row.interval.unwrap_or([row.value; 2]).into_iter().chain(row.published))
}

fn begin(height: f64, title: &str) -> String {
    format!(r#"<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{}">"#, escape(title))
}

// Writing to a string does not fail.
macro_rules! draw {
    ($to:ident, $($what:tt)*) => { let _ = write!($to, $($what)*); };
}

fn dot(to: &mut String, x: f64, y: f64, colour: &str, is_ours: bool) {
    let fill = if is_ours { colour } else { "none" };
    draw!(
        to,
        r#"<circle cx="{x:.1}" cy="{y:.1}" r="4" fill="{fill}" stroke="{colour}" stroke-width="1.5"/>"#
    );
}

fn lines(figure: &Figure) -> String {
    let mut series: Vec<(&str, Vec<(f64, &Row)>)> = Vec::new();
    for row in &figure.rows {
        let point = (row.x.unwrap_or_default(), row);
        match series.iter_mut().find(|(label, _)| *label == row.label) {
            Some((_, points)) => points.push(point),
            None => series.push((&row.label, vec![point])),
        }
    }
    let below = 320.0;
    let height = below + 50.0 + 18.0 * series.len().div_ceil(2) as f64;
    let mut out = begin(height, figure.title);
    let across = Axis {
        is_logarithmic: false,
        ..Axis::new(figure.rows.iter().filter_map(|row| row.x), 70.0, WIDTH - 20.0)
    };
    let up = Axis::new(shown(&figure.rows), below, 20.0);
    for tick in up.ticks() {
        let y = up.place(tick);
        draw!(out, r#"<line class="grid" x1="70" x2="{}" y1="{y:.1}" y2="{y:.1}"/>"#, WIDTH - 20.0);
        draw!(out, r#"<text x="62" y="{:.1}" text-anchor="end">{}</text>"#, y + 4.0, number(tick));
    }
    for tick in across.ticks() {
        let x = across.place(tick);
        draw!(out, r#"<text x="{x:.1}" y="{}" text-anchor="middle">{}</text>"#, below + 18.0, number(tick));
    }
    let unit = figure.rows[0].unit;
    draw!(out, r#"<text x="62" y="12" text-anchor="end">{}</text>"#, escape(unit));
    draw!(
        out,
        r#"<text x="{}" y="{}" text-anchor="end">{}</text>"#,
        WIDTH - 20.0,
        below + 34.0,
        escape(figure.across.unwrap_or_default())
    );
    for (n, (label, points)) in series.iter().enumerate() {
        let colour = COLOURS[n % COLOURS.len()];
        let path: Vec<_> = points
            .iter()
            .map(|(x, row)| format!("{:.1},{:.1}", across.place(*x), up.place(row.value)))
            .collect();
        draw!(
            out,
            r#"<polyline points="{}" fill="none" stroke="{colour}" stroke-width="1.5"/>"#,
            path.join(" ")
        );
        for (x, row) in points {
            let x = across.place(*x);
            if let Some(interval) = row.interval {
                let [low, high] = interval.map(|end| up.place(end));
                draw!(
                    out,
                    r#"<path class="bar" stroke="{colour}" d="M{x:.1} {low:.1}V{high:.1}M{:.1} {low:.1}h8M{:.1} {high:.1}h8"/>"#,
                    x - 4.0,
                    x - 4.0
                );
            }
            dot(&mut out, x, up.place(row.value), colour, true);
            if let Some(published) = row.published {
                dot(&mut out, x, up.place(published), colour, false);
            }
        }
        let (x, y) = (70.0 + (n % 2) as f64 * 400.0, below + 56.0 + 18.0 * (n / 2) as f64);
        dot(&mut out, x, y - 4.0, colour, true);
        draw!(out, r#"<text x="{}" y="{y}">{}</text>"#, x + 10.0, escape(label));
    }
    out + "</svg>"
}

fn dots(rows: &[Row]) -> String {
    let longest = rows.iter().map(|row| row.label.chars().count()).max().unwrap_or_default();
    let (left, line) = ((7.0 * longest as f64 + 24.0).clamp(120.0, 500.0), 20.0);
    let below = 10.0 + line * rows.len() as f64;
    let mut out = begin(below + 40.0, &rows[0].label);
    let across = Axis::new(shown(rows), left, WIDTH - 60.0);
    for tick in across.ticks() {
        let x = across.place(tick);
        draw!(out, r#"<line class="grid" x1="{x:.1}" x2="{x:.1}" y1="6" y2="{below}"/>"#);
        draw!(out, r#"<text x="{x:.1}" y="{}" text-anchor="middle">{}</text>"#, below + 16.0, number(tick));
    }
    draw!(
        out,
        r#"<text x="{}" y="{}" text-anchor="end">{}</text>"#,
        WIDTH - 10.0,
        below + 32.0,
        escape(rows[0].unit)
    );
    for (n, row) in rows.iter().enumerate() {
        let y = 18.0 + line * n as f64;
        let x = across.place(row.value);
        draw!(
            out,
            r#"<text x="{}" y="{}" text-anchor="end">{}</text>"#,
            left - 12.0,
            y + 4.0,
            escape(&row.label)
        );
        if let Some(published) = row.published {
            let published = across.place(published);
            draw!(out, r#"<line class="grid" x1="{x:.1}" x2="{published:.1}" y1="{y}" y2="{y}"/>"#);
            dot(&mut out, published, y, COLOURS[1], false);
        }
        if let Some(interval) = row.interval {
            let [low, high] = interval.map(|end| across.place(end));
            draw!(out, r#"<path class="bar" stroke="{}" d="M{low:.1} {y}H{high:.1}"/>"#, COLOURS[0]);
        }
        dot(&mut out, x, y, COLOURS[0], true);
    }
    out + "</svg>"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::Provenance;
    use crate::published::{Published, Read};

    #[test]
    fn axes_hold_all_values_and_have_some_round_ticks() {
        for values in [
            vec![0.27, 1.2, 7.9],
            vec![3.0],
            vec![0.0],
            vec![-4.0, 12.0],
            vec![1.0, 900.0],
            vec![0.004, 77.0],
        ] {
            let axis = Axis::new(values.iter().copied(), 100.0, 0.0);
            for &value in &values {
                assert!((-0.001..=100.001).contains(&axis.place(value)), "{value} of {values:?}");
            }
            let ticks = axis.ticks();
            assert!((2..=12).contains(&ticks.len()), "{ticks:?}");
            assert!(ticks.windows(2).all(|pair| pair[0] < pair[1]), "{ticks:?}");
        }
    }

    #[test]
    fn numbers_have_as_many_places_as_they_need() {
        let texts = [0.0, 0.27, 5.0, 19.67, 145.04, 2316.6].map(number);
        assert_eq!(texts, ["0", "0.27", "5", "19.67", "145", "2317"]);
    }

    #[test]
    fn ours_is_filled_and_the_papers_is_hollow_and_names_are_escaped() {
        let row = |x| Row {
            x,
            ..Row::new("a < b", 2.0, "ms", Provenance::Measured)
                .beside(Some(Published { value: 3.0, read: Read::Prose }))
        };
        for x in [None, Some(16.0)] {
            let svg = svg(&Figure { title: "t", across: None, rows: vec![row(x)] });
            assert!(svg.contains("a &lt; b") && !svg.contains("a < b"));
            assert_eq!(svg.matches(r#"fill="none" stroke="#).count(), 1 + usize::from(x.is_some()));
        }
        assert_eq!(svg(&Figure { title: "t", across: None, rows: Vec::new() }), "");
    }
}

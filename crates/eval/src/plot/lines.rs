//! Values along a horizontal axis: a line for each label.

use super::axis::Axis;
use super::canvas::{Anchor, CHARACTER, Canvas, LINE, WIDTH};
use super::marks::Marks;
use super::number::number;
use super::shown::shown;
use crate::figure::{Figure, Row};

const LEFT: f64 = 70.0;
const RIGHT: f64 = WIDTH - 20.0;
const TOP: f64 = 20.0;
const BELOW: f64 = 320.0;
/// From the bottom of the plot to the first line of the legend.
const CAPTION: f64 = 56.0;
/// What the line and the dot before an entry of the legend take.
const KEY: f64 = 40.0;
/// Marks that each series may have beside its own, in its colour: what they are called, and how they are drawn.
const KEYS: [(&str, fn(&Marks, &mut String, f64, f64), fn(&Row) -> Option<f64>); 2] = [
    ("as published, in the colour of its series", Marks::published, |row| row.published),
    ("your measurement, in the colour of its series", Marks::measured, |row| row.measured),
];

/// The rows of one label.
struct Series<'f> {
    label: &'f str,
    rows: Vec<&'f Row>,
    marks: Marks,
}

struct Plot {
    canvas: Canvas,
    across: Axis,
    up: Axis,
}

pub(super) fn svg(figure: &Figure) -> String {
    let series = series(&figure.rows);
    let keys: Vec<_> =
        KEYS.into_iter().filter(|(.., value)| figure.rows.iter().any(|row| value(row).is_some())).collect();
    let columns = columns(&series);
    let entries = series.len() + keys.len();
    let height = BELOW + CAPTION + LINE * entries.div_ceil(columns) as f64;
    let mut plot = Plot {
        canvas: Canvas::new(height, figure.title),
        across: Axis::linear(figure.rows.iter().filter_map(|row| row.x), LEFT, RIGHT),
        up: Axis::new(shown(&figure.rows), BELOW, TOP),
    };
    plot.axes(figure);
    series.iter().for_each(|series| plot.series(series));
    for (entry, series) in series.iter().enumerate() {
        plot.legend(series, place(entry, columns));
    }
    for (entry, (name, mark, _)) in (series.len()..).zip(keys) {
        plot.key(name, mark, place(entry, columns));
    }
    plot.canvas.finish()
}

fn series(rows: &[Row]) -> Vec<Series<'_>> {
    let mut all: Vec<Series<'_>> = Vec::new();
    for row in rows {
        match all.iter_mut().find(|series| series.label == row.label) {
            Some(series) => series.rows.push(row),
            None => all.push(Series { label: &row.label, rows: vec![row], marks: Marks::of(all.len()) }),
        }
    }
    all
}

/// In how many columns all entries of the legend have room.
fn columns(series: &[Series<'_>]) -> usize {
    let labels = series.iter().map(|series| series.label).chain(KEYS.map(|(name, ..)| name));
    let longest = labels.map(|label| label.chars().count()).max().unwrap_or_default();
    if KEY + CHARACTER * longest as f64 <= (RIGHT - LEFT) / 2.0 { 2 } else { 1 }
}

/// Where an entry of the legend stands.
fn place(entry: usize, columns: usize) -> (f64, f64) {
    let x = LEFT + (entry % columns) as f64 * (RIGHT - LEFT) / 2.0;
    (x, BELOW + CAPTION + LINE * (entry / columns) as f64)
}

impl Plot {
    fn axes(&mut self, figure: &Figure) {
        for tick in self.up.ticks() {
            let y = self.up.place(tick);
            self.canvas.grid((LEFT, y), (RIGHT, y));
            self.canvas.text(LEFT - 8.0, y + 4.0, Anchor::End, &number(tick));
        }
        for tick in self.across.ticks() {
            self.canvas.text(self.across.place(tick), BELOW + 18.0, Anchor::Middle, &number(tick));
        }
        let unit = figure.rows.first().map_or("", |row| row.unit);
        self.canvas.text(LEFT - 8.0, 12.0, Anchor::End, unit);
        self.canvas.text(RIGHT, BELOW + 34.0, Anchor::End, figure.across.unwrap_or_default());
    }

    fn series(&mut self, series: &Series<'_>) {
        let Marks { colour, dashes, .. } = &series.marks;
        self.canvas.draw(format_args!(r#"<g class="series" data-colour="{colour}" data-dashes="{dashes}">"#));
        let place = |row: &&Row| (self.across.place(row.x.unwrap_or_default()), self.up.place(row.value));
        let path: Vec<_> = series.rows.iter().map(place).map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        self.canvas.draw(format_args!(
            r#"<polyline points="{}" fill="none" stroke="{colour}" stroke-width="1.5" stroke-dasharray="{dashes}"/>"#,
            path.join(" ")
        ));
        series.rows.iter().for_each(|row| self.point(row, &series.marks));
        self.canvas.draw("</g>");
    }

    fn point(&mut self, row: &Row, marks: &Marks) {
        let x = self.across.place(row.x.unwrap_or_default());
        if let Some(interval) = row.interval {
            let [low, high] = interval.map(|end| self.up.place(end));
            let (colour, left) = (marks.colour, x - 4.0);
            self.canvas.draw(format_args!(
                r#"<path fill="none" stroke="{colour}" stroke-width="1.5" d="M{x:.1} {low:.1}V{high:.1}M{left:.1} {low:.1}h8M{left:.1} {high:.1}h8"/>"#
            ));
        }
        marks.ours(self.canvas.text_mut(), x, self.up.place(row.value));
        for (_, mark, value) in KEYS {
            if let Some(value) = value(row) {
                mark(marks, self.canvas.text_mut(), x, self.up.place(value));
            }
        }
    }

    fn legend(&mut self, series: &Series<'_>, (x, y): (f64, f64)) {
        let Marks { colour, dashes, .. } = &series.marks;
        self.canvas.draw(r#"<g class="legend">"#);
        self.canvas.draw(format_args!(
            r#"<polyline points="{x},{y} {},{y}" fill="none" stroke="{colour}" stroke-width="1.5" stroke-dasharray="{dashes}"/>"#,
            x + KEY - 8.0
        ));
        series.marks.ours(self.canvas.text_mut(), x + (KEY - 8.0) / 2.0, y);
        self.canvas.text(x + KEY, y + 4.0, Anchor::Start, series.label);
        self.canvas.draw("</g>");
    }

    fn key(&mut self, name: &str, mark: fn(&Marks, &mut String, f64, f64), (x, y): (f64, f64)) {
        self.canvas.draw(r#"<g class="key">"#);
        mark(&Marks::NEUTRAL, self.canvas.text_mut(), x + (KEY - 8.0) / 2.0, y);
        self.canvas.text(x + KEY, y + 4.0, Anchor::Start, name);
        self.canvas.draw("</g>");
    }
}

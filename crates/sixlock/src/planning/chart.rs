//! A chart of a plan's page: what options come to in one objective.

use std::fmt::Write;

use sixlock_eval::escape;

/// A line of a chart.
pub(super) struct Line {
    /// What the option is called.
    pub(super) option: String,
    /// The mean over seeds.
    pub(super) mean: f64,
    /// Its 95 % interval, if there were several.
    pub(super) interval: Option<[f64; 2]>,
    /// Whether it remains.
    pub(super) remains: bool,
}

/// Where values begin and end, and how high a line is, in pixels of the picture.
const LEFT: f64 = 260.0;
const RIGHT: f64 = 700.0;
const WIDTH: f64 = 780.0;
const LINE: f64 = 20.0;

/// A line an option, from 0 on: a dot at the mean, and a bar from the begin of its interval to the end; a stroke through all where
/// something is demanded.
pub(super) fn svg(title: &str, unit: &str, lines: &[Line], demanded: Option<f64>) -> String {
    let ends = lines.iter().map(|line| line.interval.map_or(line.mean, |[_, high]| high));
    let most = ends.chain(demanded).fold(0.0, f64::max);
    let x = |value: f64| LEFT + (RIGHT - LEFT) * if most > 0.0 { value / most } else { 0.0 };
    let bottom = LINE * (lines.len() as f64 + 0.5);
    let height = bottom + 2.0 * LINE;
    let mut out =
        format!("<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\"><title>{}</title>", escape(title));
    // Writing to a string does not fail, here and below.
    let _ = write!(out, "<path class=\"axis\" d=\"M{LEFT} 0V{bottom}H{RIGHT}\"/>");
    for (index, line) in lines.iter().enumerate() {
        let (y, class) = (LINE * (index as f64 + 0.5), if line.remains { "remains" } else { "out" });
        let _ = write!(
            out,
            "<text class=\"name\" x=\"{}\" y=\"{}\">{}</text>",
            LEFT - 8.0,
            y + 4.0,
            escape(&line.option)
        );
        if let Some([low, high]) = line.interval {
            let _ = write!(out, "<path class=\"{class}\" d=\"M{:.1} {y}H{:.1}\"/>", x(low), x(high));
        }
        let _ = write!(out, "<circle class=\"{class}\" cx=\"{:.1}\" cy=\"{y}\" r=\"4\"/>", x(line.mean));
        let _ = write!(
            out,
            "<text x=\"{:.1}\" y=\"{}\">{:.1}</text>",
            x(line.interval.map_or(line.mean, |[_, high]| high)) + 8.0,
            y + 4.0,
            line.mean
        );
    }
    let _ = write!(out, "<text x=\"{LEFT}\" y=\"{}\">0</text>", bottom + LINE);
    let _ = write!(
        out,
        "<text class=\"end\" x=\"{RIGHT}\" y=\"{}\">{most:.1} {}</text>",
        bottom + LINE,
        escape(unit)
    );
    if let Some(demanded) = demanded {
        let _ = write!(out, "<path class=\"demanded\" d=\"M{0:.1} 0V{bottom}\"/>", x(demanded));
    }
    out + "</svg>"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_stands_where_its_value_is_between_nothing_and_the_most() {
        let line = |mean, interval| Line { option: "a<b".into(), mean, interval, remains: true };
        let svg = svg("t", "ms", &[line(5.0, Some([4.0, 10.0])), line(0.0, None)], Some(8.0));
        let middle = f64::midpoint(LEFT, RIGHT);
        assert!(
            svg.contains(&format!("cx=\"{middle:.1}\"")) && svg.contains(&format!("cx=\"{LEFT:.1}\"")),
            "{svg}"
        );
        assert!(svg.contains(&format!("M{:.1} 0V50", LEFT + 0.8 * (RIGHT - LEFT))), "{svg}");
        assert!(svg.contains("a&lt;b") && svg.contains(">10.0 ms<") && svg.ends_with("</svg>"), "{svg}");
    }
}

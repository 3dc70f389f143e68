//! Plots as SVG: lines where there is a horizontal axis, and otherwise a line of dots for each row.

mod axis;
mod canvas;
mod dots;
mod lines;
mod marks;
mod number;
mod shown;

pub(crate) use self::number::number;

use crate::figure::Figure;

/// The figure as SVG; nothing where it has no rows.
pub fn svg(figure: &Figure) -> String {
    if figure.rows.is_empty() {
        String::new()
    } else if figure.rows.iter().all(|row| row.x.is_some()) {
        lines::svg(figure)
    } else {
        dots::svg(figure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::{Provenance, Row};
    use crate::published::{Published, Read};

    fn row(label: &str, x: Option<f64>) -> Row {
        let row = Row::new(label, 2.0, "ms", Provenance::Measured);
        Row { x, ..row.beside(Some(Published { value: 3.0, read: Read::Prose })) }
    }

    fn figure(rows: Vec<Row>) -> Figure {
        Figure { title: "t", across: Some("bytes"), rows }
    }

    #[test]
    fn ours_is_filled_and_what_was_published_is_hollow_and_names_are_escaped() {
        for x in [None, Some(16.0)] {
            let svg = svg(&figure(vec![row("a < b", x)]));
            assert!(svg.contains("a &lt; b") && !svg.contains("a < b"));
            // One in the plot, and one in the legend.
            assert_eq!(svg.matches(r#"r="4" fill="none""#).count(), 2, "{svg}");
        }
        assert_eq!(svg(&figure(Vec::new())), "");
    }

    #[test]
    fn each_series_has_an_entry_in_the_legend_and_axes_have_their_units() {
        let labels: Vec<_> = (0..12).map(|series| format!("series {series}")).collect();
        let lines = svg(&figure(labels.iter().map(|label| row(label, Some(16.0))).collect()));
        assert_eq!(lines.matches(r#"<g class="series""#).count(), 12);
        assert_eq!(lines.matches(r#"<g class="legend""#).count(), 12);
        assert!(lines.contains(">bytes<") && lines.contains(">ms<"));
        let dots = svg(&figure(labels.iter().map(|label| row(label, None)).collect()));
        assert_eq!(dots.matches(r#"<g class="series""#).count(), 2, "ours, and what was published");
        assert_eq!(dots.matches(r#"<g class="legend""#).count(), 2);
        assert!(dots.contains(">ms<"));
    }

    #[test]
    fn what_the_reader_has_measured_is_a_cross_with_a_key() {
        for x in [None, Some(16.0)] {
            let measured = |measured| svg(&figure(vec![Row { measured, ..row("a", x) }]));
            let (without, with) = (measured(None), measured(Some(9.0)));
            assert!(!without.contains("your measurement"));
            // One in the plot, and one in the legend.
            assert_eq!(with.matches(r#"stroke-width="2"/>"#).count(), 2, "{with}");
            assert_eq!(with.matches(">your measurement").count(), 1, "{with}");
        }
    }
}

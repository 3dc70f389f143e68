//! By what series are told apart: colour, dashes and the shape of their dots.

use core::fmt::Write;

/// Told apart by those who see colours differently, too: of Okabe and Ito.
const COLOURS: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#7f7f7f", "#b3a800"];

/// Half of how large a dot is.
const SIZE: f64 = 4.0;

/// What the dots and lines of one series look like.
pub(super) struct Marks {
    pub(super) colour: &'static str,
    /// Lengths of dashes and gaps; none for a line without gaps.
    pub(super) dashes: String,
    shape: Shape,
}

#[derive(Clone, Copy)]
enum Shape {
    Circle,
    Square,
    Triangle,
    Diamond,
}

const SHAPES: [Shape; 4] = [Shape::Circle, Shape::Square, Shape::Triangle, Shape::Diamond];

impl Marks {
    /// Those of no series, but of text.
    pub(super) const NEUTRAL: Self =
        Self { colour: "currentColor", dashes: String::new(), shape: Shape::Circle };

    /// Those of the series at this place of a plot. No two have the same colour and the same dashes.
    pub(super) fn of(series: usize) -> Self {
        let round = series / COLOURS.len();
        let dashes = if round == 0 { "none".into() } else { format!("{} 4", 3 * round) };
        Self { colour: COLOURS[series % COLOURS.len()], dashes, shape: SHAPES[series % SHAPES.len()] }
    }

    /// A value of ours.
    pub(super) fn ours(&self, to: &mut String, x: f64, y: f64) {
        let (colour, size) = (self.colour, SIZE);
        let path = match self.shape {
            Shape::Circle => return circle(to, x, y, colour, colour),
            Shape::Square => format!("M{:.1} {:.1}h{w}v{w}h-{w}z", x - size, y - size, w = 2.0 * size),
            Shape::Triangle => {
                format!("M{x:.1} {:.1}l{w} {h}h-{h}z", y - size, w = size, h = 2.0 * size)
            }
            Shape::Diamond => {
                format!("M{x:.1} {:.1}l{w} {w}l-{w} {w}l-{w} -{w}z", y - 1.2 * size, w = 1.2 * size)
            }
        };
        // Writing to a string does not fail, here and below.
        let _ = write!(to, r#"<path d="{path}" fill="{colour}"/>"#);
    }

    /// A value that was published.
    pub(super) fn published(&self, to: &mut String, x: f64, y: f64) {
        circle(to, x, y, "none", self.colour);
    }

    /// A value that the reader has measured: a cross.
    pub(super) fn measured(&self, to: &mut String, x: f64, y: f64) {
        let (left, top, size, colour) = (x - SIZE, y - SIZE, 2.0 * SIZE, self.colour);
        let _ = write!(
            to,
            r#"<path d="M{left:.1} {top:.1}l{size} {size}m-{size} 0l{size} -{size}" fill="none" stroke="{colour}" stroke-width="2"/>"#
        );
    }
}

fn circle(to: &mut String, x: f64, y: f64, fill: &str, stroke: &str) {
    let _ = write!(
        to,
        r#"<circle cx="{x:.1}" cy="{y:.1}" r="{SIZE}" fill="{fill}" stroke="{stroke}" stroke-width="1.5"/>"#
    );
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_series_have_the_same_colour_and_dashes() {
        let looks: BTreeSet<_> = (0..64)
            .map(|series| {
                let Marks { colour, dashes, .. } = Marks::of(series);
                (colour, dashes)
            })
            .collect();
        assert_eq!(looks.len(), 64);
    }
}

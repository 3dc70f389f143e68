//! What both kinds of plots are drawn on.

use core::fmt::{Display, Write};

use crate::escape::escape;

/// How wide a plot is, in units of its own.
pub(super) const WIDTH: f64 = 860.0;
/// What a character takes of that, about.
pub(super) const CHARACTER: f64 = 7.0;
/// What a line of a legend takes of the height.
pub(super) const LINE: f64 = 18.0;

/// SVG, as it is drawn.
pub(super) struct Canvas(String);

/// Where a text is at its place.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Canvas {
    /// An empty one.
    pub(super) fn new(height: f64, title: &str) -> Self {
        Self(format!(r#"<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{}">"#, escape(title)))
    }

    /// Adds what stands in SVG as it is here.
    pub(super) fn draw(&mut self, what: impl Display) {
        // Writing to a string does not fail.
        let _ = write!(self.0, "{what}");
    }

    /// Where marks draw themselves.
    pub(super) fn text_mut(&mut self) -> &mut String {
        &mut self.0
    }

    pub(super) fn text(&mut self, x: f64, y: f64, anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        self.draw(format_args!(
            r#"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}">{}</text>"#,
            escape(text)
        ));
    }

    /// A pale line, of a grid or between two values.
    pub(super) fn grid(&mut self, from: (f64, f64), to: (f64, f64)) {
        let ((x1, y1), (x2, y2)) = (from, to);
        self.draw(format_args!(
            r#"<line class="grid" x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}"/>"#
        ));
    }

    pub(super) fn finish(self) -> String {
        self.0 + "</svg>"
    }
}

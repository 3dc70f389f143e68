//! Values that no axis orders: a line for each row.

use super::axis::Axis;
use super::canvas::{Anchor, CHARACTER, Canvas, WIDTH};
use super::marks::Marks;
use super::number::number;
use super::shown::shown;
use crate::figure::{Figure, Row};

/// What a row takes of the height.
const ROW: f64 = 20.0;
/// Where the first row stands.
const FIRST: f64 = 18.0;
/// Room for names.
const NAMES: core::ops::RangeInclusive<f64> = 120.0..=500.0;

struct Plot<'f> {
    canvas: Canvas,
    across: Axis,
    rows: &'f [Row],
    left: f64,
    below: f64,
}

pub(super) fn svg(figure: &Figure) -> String {
    let rows = &figure.rows;
    let longest = rows.iter().map(|row| row.label.chars().count()).max().unwrap_or_default();
    let left = (CHARACTER * longest as f64 + 24.0).clamp(*NAMES.start(), *NAMES.end());
    let below = 10.0 + ROW * rows.len() as f64;
    let across = Axis::new(shown(rows), left, WIDTH - 60.0);
    let mut plot = Plot { canvas: Canvas::new(below + 64.0, figure.title), across, rows, left, below };
    plot.axes();
    plot.ours(&Marks::of(0));
    if rows.iter().any(|row| row.published.is_some()) {
        plot.published(&Marks::of(1));
    }
    if rows.iter().any(|row| row.measured.is_some()) {
        plot.measured(&Marks::of(2));
    }
    plot.canvas.finish()
}

impl Plot<'_> {
    fn axes(&mut self) {
        for tick in self.across.ticks() {
            let x = self.across.place(tick);
            self.canvas.grid((x, 6.0), (x, self.below));
            self.canvas.text(x, self.below + 16.0, Anchor::Middle, &number(tick));
        }
        let unit = self.rows.first().map_or("", |row| row.unit);
        self.canvas.text(WIDTH - 10.0, self.below + 32.0, Anchor::End, unit);
        for (row, y) in self.rows.iter().zip(heights()) {
            self.canvas.text(self.left - 12.0, y + 4.0, Anchor::End, &row.label);
        }
    }

    fn ours(&mut self, marks: &Marks) {
        self.begin(marks);
        for (row, y) in self.rows.iter().zip(heights()) {
            if let Some(interval) = row.interval {
                let [low, high] = interval.map(|end| self.across.place(end));
                let colour = marks.colour;
                self.canvas.draw(format_args!(
                    r#"<path fill="none" stroke="{colour}" stroke-width="1.5" d="M{low:.1} {y}H{high:.1}"/>"#
                ));
            }
            marks.ours(self.canvas.text_mut(), self.across.place(row.value), y);
        }
        self.canvas.draw("</g>");
        self.legend(self.left, "ours", |to, x, y| marks.ours(to, x, y));
    }

    fn published(&mut self, marks: &Marks) {
        self.begin(marks);
        for (row, y) in self.rows.iter().zip(heights()) {
            let Some(published) = row.published else { continue };
            let (x, published) = (self.across.place(row.value), self.across.place(published));
            self.canvas.grid((x, y), (published, y));
            marks.published(self.canvas.text_mut(), published, y);
        }
        self.canvas.draw("</g>");
        self.legend(self.left + 100.0, "as published", |to, x, y| marks.published(to, x, y));
    }

    fn measured(&mut self, marks: &Marks) {
        self.begin(marks);
        for (row, y) in self.rows.iter().zip(heights()) {
            let Some(measured) = row.measured else { continue };
            let x = self.across.place(measured);
            marks.measured(self.canvas.text_mut(), x, y);
        }
        self.canvas.draw("</g>");
        self.legend(self.left + 250.0, "your measurement", |to, x, y| marks.measured(to, x, y));
    }

    fn begin(&mut self, Marks { colour, dashes, .. }: &Marks) {
        self.canvas.draw(format_args!(r#"<g class="series" data-colour="{colour}" data-dashes="{dashes}">"#));
    }

    fn legend(&mut self, x: f64, name: &str, mark: impl Fn(&mut String, f64, f64)) {
        let y = self.below + 52.0;
        self.canvas.draw(r#"<g class="legend">"#);
        mark(self.canvas.text_mut(), x, y);
        self.canvas.text(x + 12.0, y + 4.0, Anchor::Start, name);
        self.canvas.draw("</g>");
    }
}

/// Where rows stand, one below the other.
fn heights() -> impl Iterator<Item = f64> {
    (0..).map(|row| FIRST + ROW * f64::from(row))
}

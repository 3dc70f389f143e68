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
const PUBLISHED: &str = "as published, in the colour of its series";

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
    let has_published = figure.rows.iter().any(|row| row.published.is_some());
    let columns = columns(&series);
    let entries = series.len() + usize::from(has_published);
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
    if has_published {
        plot.key_of_published(place(series.len(), columns));
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
    let labels = series.iter().map(|series| series.label).chain([PUBLISHED]);
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
        if let Some(published) = row.published {
            marks.published(self.canvas.text_mut(), x, self.up.place(published));
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

    fn key_of_published(&mut self, (x, y): (f64, f64)) {
        self.canvas.draw(r#"<g class="key">"#);
        Marks::NEUTRAL.published(self.canvas.text_mut(), x + (KEY - 8.0) / 2.0, y);
        self.canvas.text(x + KEY, y + 4.0, Anchor::Start, PUBLISHED);
        self.canvas.draw("</g>");
    }
}

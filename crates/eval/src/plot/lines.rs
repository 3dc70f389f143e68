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
/// A value that a row may have beside ours, which has a mark of its own in the colour of its series.
struct Beside {
    name: &'static str,
    draw: fn(&Marks, &mut String, f64, f64),
    value: fn(&Row) -> Option<f64>,
}

const BESIDE: [Beside; 2] = [
    Beside {
        name: "as published, in the colour of its series",
        draw: Marks::published,
        value: |row| row.published,
    },
    Beside {
        name: "your measurement, in the colour of its series",
        draw: Marks::measured,
        value: |row| row.measured,
    },
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
    let is_there = |beside: &&Beside| figure.rows.iter().any(|row| (beside.value)(row).is_some());
    let beside: Vec<_> = BESIDE.iter().filter(is_there).collect();
    let columns = columns(&series, &beside);
    let entries = series.len() + beside.len();
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
    for (entry, beside) in (series.len()..).zip(beside) {
        plot.key(beside, place(entry, columns));
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
fn columns(series: &[Series<'_>], beside: &[&Beside]) -> usize {
    let labels = series.iter().map(|series| series.label).chain(beside.iter().map(|beside| beside.name));
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
        for beside in &BESIDE {
            if let Some(value) = (beside.value)(row) {
                (beside.draw)(marks, self.canvas.text_mut(), x, self.up.place(value));
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

    fn key(&mut self, beside: &Beside, (x, y): (f64, f64)) {
        self.canvas.draw(r#"<g class="key">"#);
        (beside.draw)(&Marks::NEUTRAL, self.canvas.text_mut(), x + (KEY - 8.0) / 2.0, y);
        self.canvas.text(x + KEY, y + 4.0, Anchor::Start, beside.name);
        self.canvas.draw("</g>");
    }
}

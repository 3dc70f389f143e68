//! The values of figures as CSV (RFC 4180).

use super::figure_id::FigureId;
use crate::figure::{Figure, Row};
use crate::measured::COLUMNS;
use crate::published::Read;

/// The name of the file with the values of the figure that stands there.
pub(super) fn file(id: &FigureId) -> String {
    format!("{id}.csv")
}

/// What is in it: a line for each row, below one that names the columns.
pub(super) fn text(figure: &Figure) -> String {
    let names = [
        "label",
        figure.across.unwrap_or("x"),
        "value",
        "sd",
        "interval low",
        "interval high",
        "unit",
        "published",
        "read",
        "your measurement",
        "provenance",
    ];
    lines(core::iter::once(names.map(String::from)).chain(figure.rows.iter().map(fields)))
}

fn fields(row: &Row) -> [String; 11] {
    [
        row.label.clone(),
        number(row.x),
        number(Some(row.value)),
        number(row.sd),
        number(row.interval.map(|[low, _]| low)),
        number(row.interval.map(|[_, high]| high)),
        row.unit.into(),
        number(row.published),
        row.read.map_or("", Read::name).into(),
        number(row.measured),
        row.provenance.name().into(),
    ]
}

/// The file in which readers enter their own measurements of these figures: a line for each value, with what they have measured already.
pub(super) fn measurements<'f>(figures: impl Iterator<Item = (FigureId, &'f Figure)>) -> String {
    let fields = |experiment: &str, title: &str, row: &Row| {
        let measured = number(row.measured);
        [experiment.into(), title.into(), row.label.clone(), number(row.x), measured, row.unit.into()]
    };
    let rows = figures
        .flat_map(|(id, figure)| figure.rows.iter().map(move |row| fields(id.experiment, figure.title, row)));
    lines(core::iter::once(COLUMNS.map(String::from)).chain(rows))
}

fn number(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn lines<const N: usize>(lines: impl Iterator<Item = [String; N]>) -> String {
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
    for line in lines {
        // Writing to memory does not fail, and all lines are of one length.
        let _ = writer.write_record(line);
    }
    let bytes = writer.into_inner().unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}

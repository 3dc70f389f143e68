//! The values of a figure as CSV (RFC 4180).

use super::figure_id::FigureId;
use crate::figure::{Figure, Row};
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
        "provenance",
    ];
    let rows = figure.rows.iter().map(fields);
    core::iter::once(names.map(String::from)).chain(rows).map(|fields| line(&fields)).collect()
}

fn fields(row: &Row) -> [String; 10] {
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
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
        row.provenance.name().into(),
    ]
}

fn line(fields: &[String]) -> String {
    let quoted: Vec<_> = fields.iter().map(|field| quoted(field)).collect();
    quoted.join(",") + "\r\n"
}

fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\r', '\n']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.into()
    }
}

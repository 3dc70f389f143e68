//! A figure on a page: the plot, what it was made with, and its values.

use core::fmt::Write;

use super::csv;
use super::figure_id::FigureId;
use crate::escape::escape;
use crate::figure::{Figure, Row};
use crate::plot::{number, svg};
use crate::published::Read;
use crate::setup::Parameters;

/// Adds it to a page.
pub(super) fn html(out: &mut String, id: &FigureId, figure: &Figure, parameters: &Parameters) {
    // Writing to a string does not fail, here and below.
    let _ = write!(
        out,
        "<figure id=\"{id}\"><figcaption><h3>{}</h3></figcaption><div class=\"scroll plot\">{}</div>",
        escape(figure.title),
        svg(figure)
    );
    list(out, figure, parameters);
    let _ = write!(out, "<details><summary>The values</summary><div class=\"scroll\">");
    table(out, figure);
    let _ = write!(
        out,
        "</div></details><p><a href=\"{}\" download>The values as CSV</a></p></figure>",
        csv::file(id)
    );
}

fn list(out: &mut String, figure: &Figure, parameters: &Parameters) {
    let Parameters { platform, mac, routing, network, seeds, runs, commit } = parameters;
    let [platform, mac] = [
        of_rows(figure, |row| row.platform.unwrap_or(platform)),
        of_rows(figure, |row| row.mac.unwrap_or(mac)),
    ];
    out.push_str("<dl class=\"parameters\">");
    for (name, value) in [
        ("Platform", platform.as_str()),
        ("MAC", &mac),
        ("Routing", routing),
        ("Network", network),
        ("Seeds", seeds),
        ("Runs", &runs.to_string()),
        ("Commit", commit),
    ] {
        let _ = write!(out, "<div><dt>{name}</dt><dd>{}</dd></div>", escape(value));
    }
    out.push_str("</dl>");
}

/// What the rows of a figure were made with, each once.
fn of_rows<'f>(figure: &'f Figure, part: impl Fn(&'f Row) -> &'f str) -> String {
    let mut parts: Vec<_> = Vec::new();
    for row in &figure.rows {
        let part = part(row);
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    parts.join("; ")
}

fn table(out: &mut String, figure: &Figure) {
    let across = escape(figure.across.unwrap_or_default());
    let is_measured = figure.rows.iter().any(|row| row.measured.is_some());
    let measured = if is_measured { "<th class=\"n\">your measurement" } else { "" };
    let _ = write!(
        out,
        "<table><tr><th><th class=\"n\">{across}<th class=\"n\">ours<th class=\"n\">95 % interval<th class=\"n\">published<th>{measured}<th>unit<th>provenance</tr>"
    );
    figure.rows.iter().for_each(|row| line(out, row, is_measured));
    out.push_str("</table>");
}

fn line(out: &mut String, row: &Row, is_measured: bool) {
    let cell = |value: Option<f64>| value.map(number).unwrap_or_default();
    let interval = row.interval.map(|[low, high]| format!("{} to {}", number(low), number(high)));
    let measured =
        if is_measured { format!("<td class=\"n\">{}", cell(row.measured)) } else { String::new() };
    let _ = write!(
        out,
        "<tr><td>{}<td class=\"n\">{}<td class=\"n\">{}<td class=\"n\">{}<td class=\"n\">{}<td>{}{measured}<td>{}<td>{}</tr>",
        escape(&row.label),
        cell(row.x),
        number(row.value),
        interval.unwrap_or_default(),
        cell(row.published),
        row.read.map_or("", Read::name),
        escape(row.unit),
        row.provenance.name()
    );
}

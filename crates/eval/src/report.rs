//! The report: one page of HTML that needs nothing else.

use core::fmt::Write;

use crate::escape::escape;
use crate::evaluation::Evaluation;
use crate::plot::{number, svg};
use crate::published::Read;

const STYLE: &str = "
:root { color-scheme: light dark; --ink: #222; --pale: #777; --paper: #fff; --grid: #ddd; }
@media (prefers-color-scheme: dark) { :root { --ink: #ddd; --pale: #999; --paper: #181818; --grid: #444; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
svg { width: 100%; height: auto; } svg text { font-size: 13px; fill: var(--ink); }
.grid { stroke: var(--grid); } .bar { fill: none; stroke-width: 1.5; }
table { border-collapse: collapse; font-size: 0.9rem; width: 100%; } td, th { padding: 0.15rem 0.6rem; border-bottom: 1px solid var(--grid); text-align: left; }
.n { text-align: right; font-variant-numeric: tabular-nums; } .source, summary { color: var(--pale); }
.claims dt { font-weight: 600; } .claims dd { margin: 0 0 0.8rem 1.5rem; }
";

/// The page that shows `evaluations`.
pub fn html(evaluations: &[Evaluation]) -> String {
    let mut out = String::from("<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">");
    out.push_str("<meta name=\"viewport\" content=\"width=device-width\"><title>Sixlock: the papers' experiments</title>");
    // Writing to a string does not fail, here and below.
    let _ = write!(out, "<style>{STYLE}</style><h1>The papers' experiments</h1>");
    out.push_str("<p>A filled dot is ours, a hollow one the paper's, a bar the mean's 95 % confidence interval over runs. Each value says where it is from: ");
    out.push_str("<i>measured</i> in this run on what the code made, counted by <i>exact emulation</i> of the firmware, an <i>estimate</i> by a model of time, ");
    out.push_str("or reckoned from what was <i>published</i> alone.</p>");
    let (reproduced, not_yet): (Vec<_>, Vec<_>) =
        evaluations.iter().partition(|evaluation| evaluation.reproduced);
    for evaluation in reproduced {
        experiment(&mut out, evaluation);
    }
    if !not_yet.is_empty() {
        out.push_str("<h2>Not yet reproduced</h2><ul>");
        for evaluation in not_yet {
            let why = escape(evaluation.why.unwrap_or_default());
            let _ = write!(
                out,
                "<li><b>{}</b>, {}: {why}</li>",
                evaluation.experiment,
                escape(&evaluation.source)
            );
        }
        out.push_str("</ul>");
    }
    out + "</html>\n"
}

fn experiment(out: &mut String, evaluation: &Evaluation) {
    let name = evaluation.experiment;
    let _ =
        write!(out, "<h2 id=\"{name}\">{name}</h2><p class=\"source\">{}</p>", escape(&evaluation.source));
    if !evaluation.claims.is_empty() {
        out.push_str("<dl class=\"claims\">");
        for claim in &evaluation.claims {
            let verdict = if claim.holds { "✓ holds" } else { "✗ does not hold" };
            let (text, why) = (escape(&claim.text), escape(&claim.why));
            let _ = write!(out, "<dt>{verdict}: {text}</dt><dd>{why}</dd>");
        }
        out.push_str("</dl>");
    }
    for figure in &evaluation.figures {
        let _ = write!(out, "<h3>{}</h3>{}", escape(figure.title), svg(figure));
        let across = escape(figure.across.unwrap_or_default());
        let _ = write!(
            out,
            "<details><summary>The values</summary><table><tr><th><th class=\"n\">{across}<th class=\"n\">ours<th class=\"n\">95 % interval<th class=\"n\">published<th><th>unit<th>provenance</tr>"
        );
        for row in &figure.rows {
            let cell = |value: Option<f64>| value.map(number).unwrap_or_default();
            let _ = write!(
                out,
                "<tr><td>{}<td class=\"n\">{}<td class=\"n\">{}<td class=\"n\">{}<td class=\"n\">{}<td>{}<td>{}<td>{}</tr>",
                escape(&row.label),
                cell(row.x),
                number(row.value),
                row.interval
                    .map(|[low, high]| format!("{} to {}", number(low), number(high)))
                    .unwrap_or_default(),
                cell(row.published),
                row.read.map_or("", Read::name),
                escape(row.unit),
                row.provenance.name()
            );
        }
        out.push_str("</table></details>");
    }
}

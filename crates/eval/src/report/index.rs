//! The page that leads to the others.

use core::fmt::Write;

use super::document::document;
use super::page::Page;
use super::summary::Summary;
use crate::escape::escape;

const PREFACE: &str = "<p>The experiments of the papers that this project builds on, made again with its code, and experiments of its own. \
    Each claim of a paper is checked, and holds or does not; one that is the paper's own arithmetic, or true by the way the experiment is built, \
    is not counted. All values are in <a href=\"eval.json\">eval.json</a>, too.</p>";

const PROVENANCE: &str = "<h2>Where values are from</h2><ul><li><i>measured</i>: in this run, on what the code made, or when images were linked</li>\
    <li><i>exact emulation</i>: each cycle was counted while the firmware ran in an emulator</li>\
    <li><i>estimate</i>: by a model of the processor's or the radio's time</li><li><i>published</i>: reckoned from what the paper says alone</li>\
    <li><i>aim</i>: what this project is to reach</li></ul>";

/// The page.
pub(super) fn html(pages: &[Page<'_>]) -> String {
    let mut body = format!(
        "{PREFACE}<div class=\"scroll\"><table><tr><th>page<th class=\"n\">experiments{}</tr>",
        Summary::HEADS
    );
    for page in pages {
        // Writing to a string does not fail.
        let _ = write!(
            body,
            "<tr><td><a href=\"{}\">{}</a><td class=\"n\">{}{}</tr>",
            page.file(),
            escape(&page.title),
            page.evaluations.len(),
            page.summary().cells()
        );
    }
    let all = Summary::of(pages.iter().flat_map(|page| page.evaluations.iter().copied()));
    let _ = write!(body, "</table></div><p>Of all claims, {all}.</p>{PROVENANCE}");
    document("The papers' experiments", &body)
}

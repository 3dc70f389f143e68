//! A page: the experiments of a paper, or our own.

use core::fmt::Write;

use super::document::document;
use super::figure;
use super::figure_id::FigureId;
use super::summary::Summary;
use crate::claim::Claim;
use crate::escape::escape;
use crate::evaluation::Evaluation;
use crate::figure::Figure;
use crate::published::Unchecked;
use crate::relative_error;
use crate::verdict::Verdict;

/// The page of our own experiments.
const OWN: (&str, &str) = ("own", "Experiments of our own, and validation");

/// The experiments that stand on one page.
pub(super) struct Page<'e> {
    name: &'e str,
    pub(super) title: String,
    pub(super) evaluations: Vec<&'e Evaluation>,
}

/// The pages of all experiments, in their order.
pub(super) fn pages(evaluations: &[Evaluation]) -> Vec<Page<'_>> {
    let mut pages: Vec<Page<'_>> = Vec::new();
    for evaluation in evaluations {
        let (name, title) = name_and_title(evaluation);
        match pages.iter_mut().find(|page| page.name == name) {
            Some(page) => page.evaluations.push(evaluation),
            None => pages.push(Page { name, title: title.into(), evaluations: vec![evaluation] }),
        }
    }
    pages
}

/// The name and the title of the page that an experiment stands on. Names of experiments begin with their paper's.
fn name_and_title(evaluation: &Evaluation) -> (&str, &str) {
    if evaluation.is_own {
        return OWN;
    }
    let name = evaluation.experiment;
    (name.split_once('-').map_or(name, |(paper, _)| paper), &evaluation.paper)
}

impl<'e> Page<'e> {
    /// The name of its file.
    pub(super) fn file(&self) -> String {
        format!("{}.html", self.name)
    }

    pub(super) fn summary(&self) -> Summary {
        Summary::of(self.evaluations.iter().copied())
    }

    /// All its figures, with where they stand.
    pub(super) fn figures(&self) -> impl Iterator<Item = (FigureId, &'e Figure)> + '_ {
        self.evaluations.iter().flat_map(|evaluation| figures(evaluation))
    }

    pub(super) fn html(&self) -> String {
        let mut body = String::from("<nav><a href=\"index.html\">All papers</a></nav>");
        // Writing to a string does not fail, here and below.
        let _ = write!(body, "<p>Of the claims on this page, {}.</p>", self.summary());
        self.contents(&mut body);
        for evaluation in &self.evaluations {
            experiment(&mut body, evaluation);
        }
        document(&self.title, &body)
    }

    fn contents(&self, out: &mut String) {
        let _ =
            write!(out, "<div class=\"scroll\"><table><tr><th>experiment<th>shows{}</tr>", Summary::HEADS);
        for evaluation in &self.evaluations {
            let Evaluation { experiment, at, shows, .. } = evaluation;
            let _ = write!(
                out,
                "<tr><td><a href=\"#{experiment}\">{experiment}</a><br><span class=\"pale\">{}</span><td>{}{}</tr>",
                escape(at),
                escape(shows),
                Summary::of(core::iter::once(*evaluation)).cells()
            );
        }
        out.push_str("</table></div>");
    }
}

fn figures(evaluation: &Evaluation) -> impl Iterator<Item = (FigureId, &Figure)> {
    let experiment = evaluation.experiment;
    (1..).zip(&evaluation.figures).map(move |(number, figure)| (FigureId { experiment, number }, figure))
}

fn experiment(out: &mut String, evaluation: &Evaluation) {
    let name = evaluation.experiment;
    let _ = write!(
        out,
        "<section><h2 id=\"{name}\">{name}</h2><p class=\"pale\">{}</p>",
        escape(&evaluation.source)
    );
    let _ = write!(out, "<p>It shows {}.</p>", escape(evaluation.shows));
    if !evaluation.missing.is_empty() {
        let _ = write!(out, "<p>Not made: {}.</p>", escape(&evaluation.missing.join("; ")));
    }
    if let Some(sentence) = relative_error::sentence(evaluation) {
        let _ = write!(out, "<p>{}.</p>", escape(&sentence));
    }
    claims(out, &evaluation.claims);
    unchecked(out, &evaluation.unchecked);
    for (id, shown) in figures(evaluation) {
        figure::html(out, &id, shown, &evaluation.parameters);
    }
    out.push_str("</section>");
}

/// What the paper says that is not checked, and why.
fn unchecked(out: &mut String, unchecked: &[Unchecked]) {
    if unchecked.is_empty() {
        return;
    }
    out.push_str("<ul class=\"claims\">");
    for Unchecked { section, says, why, .. } in unchecked {
        // Writing to a string does not fail.
        let _ = write!(
            out,
            "<li><span class=\"verdict\">– not checked:</span> {} (section {})<p class=\"pale\">{}</p></li>",
            escape(says),
            escape(section),
            escape(why)
        );
    }
    out.push_str("</ul>");
}

fn claims(out: &mut String, claims: &[Claim]) {
    if claims.is_empty() {
        return;
    }
    out.push_str("<ul class=\"claims\">");
    for claim in claims {
        let sign = match claim.verdict {
            Verdict::Holds => '✓',
            Verdict::NotDecided => '?',
            Verdict::DoesNotHold => '✗',
        };
        let verdict = claim.verdict.name();
        let counted = if claim.counted { "" } else { ", not counted" };
        let tolerance = claim.tolerance.map(|tolerance| format!(" (tolerance of {tolerance})"));
        let _ = write!(
            out,
            "<li><span class=\"verdict\">{sign} {verdict}{counted}:</span> {}{}<p>{}</p></li>",
            escape(&claim.text),
            escape(&tolerance.unwrap_or_default()),
            escape(&claim.why)
        );
    }
    out.push_str("</ul>");
}

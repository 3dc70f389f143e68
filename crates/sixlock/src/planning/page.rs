//! A plan as one page of HTML that needs nothing else.

use std::fmt::Write;

use sixlock_eval::escape;
use sixlock_plan::{Candidate, Network, OBJECTIVES, Plan, Verdict};
use sixlock_sim::Quantity;

use crate::estimates::cell;

use super::chart::{self, Line};
use super::table::columns;
use super::words::{
    COMMIT, again, better, changes, is_comparison, nothing_simulated, pairs, protects, takes, tried, verdict,
};

const STYLE: &str = "
:root { color-scheme: light dark; --ink: #222; --pale: #999; --paper: #fff; --grid: #ddd; --good: #06c; --bad: #c30; }
@media (prefers-color-scheme: dark) { :root { --ink: #ddd; --pale: #888; --paper: #181818; --grid: #444; --good: #6bf; --bad: #f86; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
svg { width: 100%; max-width: 50rem; height: auto; } svg text { font-size: 13px; fill: var(--ink); }
.axis { fill: none; stroke: var(--grid); } .name, .end { text-anchor: end; } .demanded { stroke: var(--bad); stroke-dasharray: 4 3; }
path.remains, path.out { stroke-width: 2; } .remains { stroke: var(--good); fill: var(--good); } .out { stroke: var(--pale); fill: var(--pale); }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: 0.9rem; } td, th { padding: 0.15rem 0.6rem; border-bottom: 1px solid var(--grid); text-align: left; }
th { vertical-align: bottom; } td.n { white-space: nowrap; } .n { text-align: right; font-variant-numeric: tabular-nums; } code { overflow-wrap: anywhere; }
";

/// A plan with what it is of.
pub(super) struct Page<'a> {
    pub(super) network: &'a Network,
    pub(super) plan: &'a Plan,
    /// The network's file.
    pub(super) file: &'a std::path::Path,
    /// For each option the file that its scenario was written to, if it was.
    pub(super) scenarios: &'a [Option<String>],
}

impl Page<'_> {
    /// The page.
    pub(super) fn html(&self) -> String {
        let name = escape(self.network.name());
        let mut out = format!(
            "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
             <title>{name}: a plan</title><style>{STYLE}</style><h1>{name}</h1>"
        );
        self.summary(&mut out);
        self.values(&mut out);
        self.differences(&mut out);
        self.charts(&mut out);
        self.conditions(&mut out);
        self.others(&mut out);
        // Writing to a string does not fail, here and below.
        let _ = write!(out, "<h2>The network</h2><pre class=\"wide\">{}</pre>", escape(self.network.text()));
        out + "</html>\n"
    }

    fn candidates(&self, remain: bool) -> impl Iterator<Item = (usize, &Candidate)> {
        let all = self.plan.comparison.candidates.iter().enumerate();
        all.filter(move |(_, candidate)| (candidate.verdict == Verdict::Remains) == remain)
    }

    fn summary(&self, out: &mut String) {
        let seconds = self.plan.comparison.duration.as_secs();
        let count = self.plan.comparison.candidates.len();
        let options = match is_comparison(self.plan) {
            true => format!("{count} options are compared"),
            false => format!("Of {count} options {} remain", self.candidates(true).count()),
        };
        let _ = write!(
            out,
            "<p>{options}. Each run simulates {seconds} s; an option has {} to {} seeds, from {} on, the same for all. \
             Values are means over seeds, ± half of their 95 % intervals. Made by the commit {COMMIT}. \
             <a href=\"plan.csv\">CSV</a>, <a href=\"plan.json\">JSON</a>.</p>",
            self.plan.limits.least_seeds, self.plan.limits.most_seeds, self.plan.limits.first_seed,
        );
    }

    fn values(&self, out: &mut String) {
        let remain: Vec<_> = self.candidates(true).collect();
        let comparison = is_comparison(self.plan);
        out.push_str(if comparison { "<h2>What is compared</h2>" } else { "<h2>What remains</h2>" });
        if remain.is_empty() {
            out.push_str("<p>Nothing: see below what each option lacks.");
            nothing_simulated(self.plan).iter().for_each(|why| out.push_str(&format!(" {why}")));
            out.push_str("</p>");
            return;
        }
        let columns = columns(remain.iter().map(|(_, candidate)| *candidate));
        out.push_str("<div class=\"wide\"><table><tr><th>option");
        for &index in &columns {
            let Quantity { name, unit, .. } = OBJECTIVES[index].quantity;
            let _ = write!(out, "<th class=\"n\">{}, {}", escape(name), escape(unit));
        }
        for (_, candidate) in &remain {
            let _ = write!(out, "<tr><th>{}", escape(&candidate.choice.to_string()));
            for &index in &columns {
                let _ = write!(out, "<td class=\"n\">{}", cell(candidate.estimate(index)));
            }
        }
        out.push_str("</table></div><dl>");
        for (index, candidate) in remain {
            let _ = write!(
                out,
                "<dt>{}<dd>It is {}. {} To repeat its runs: <code>{}</code>",
                escape(&candidate.choice.to_string()),
                escape(&protects(candidate)),
                escape(&verdict(self.network, self.plan, index, candidate).1),
                escape(&again(self.file, self.network, self.plan, candidate))
            );
            if let Some(memory) = takes(candidate) {
                let _ = write!(out, " It takes {memory}.");
            }
            if let Some(Some(file)) = self.scenarios.get(index) {
                let _ = write!(out, " (<a href=\"{0}\">{0}</a>)", escape(file));
            }
        }
        out.push_str("</dl>");
    }

    /// How much more the second of two options that are compared has than the first.
    fn differences(&self, out: &mut String) {
        if !is_comparison(self.plan) {
            return;
        }
        for (first, second) in pairs(self.plan) {
            let [one, other] = [first, second].map(|index| &self.plan.comparison.candidates[index].choice);
            let [one, other] = [one, other].map(|choice| escape(&choice.to_string()));
            let _ = write!(out, "<h2>{other} beside {one}</h2><div class=\"wide\"><table>");
            out.push_str("<tr><th>quantity<th class=\"n\">more by<th class=\"n\">95 % interval<th>it is");
            for (index, objective) in OBJECTIVES.iter().enumerate() {
                let Some((mean, [low, high])) = self.plan.comparison.difference(second, first, index) else {
                    continue;
                };
                let Quantity { name, unit, .. } = objective.quantity;
                let better = better(mean, [low, high], objective.is_gain);
                let _ = write!(
                    out,
                    "<tr><td>{}, {}<td class=\"n\">{mean:+.2}<td class=\"n\">{low:+.2} to {high:+.2}<td>{better}",
                    escape(name),
                    escape(unit)
                );
            }
            out.push_str("</table></div>");
        }
    }

    fn charts(&self, out: &mut String) {
        out.push_str("<h2>What options come to</h2><p>");
        out.push_str(if is_comparison(self.plan) { "A" } else { "Those that remain are blue; a" });
        out.push_str(" dashed line is what is demanded.</p>");
        for (index, objective) in OBJECTIVES.iter().enumerate() {
            let lines = self.plan.comparison.candidates.iter().filter_map(|candidate| {
                let estimate = candidate.estimate(index);
                Some(Line {
                    option: candidate.choice.to_string(),
                    mean: estimate.mean()?,
                    interval: estimate.interval(),
                    remains: candidate.verdict == Verdict::Remains,
                })
            });
            let lines: Vec<_> = lines.collect();
            if lines.iter().all(|line| line.mean == 0.0) {
                continue;
            }
            let (name, unit) = (objective.quantity.name, objective.quantity.unit);
            let better = if objective.is_gain { "more" } else { "less" };
            let _ = write!(out, "<h3>{}, {} ({better} is better)</h3>", escape(name), escape(unit));
            out.push_str(&chart::svg(name, unit, &lines, objective.demanded(self.network.demands())));
        }
    }

    fn conditions(&self, out: &mut String) {
        if self.plan.screenings.is_empty() {
            return;
        }
        out.push_str("<h2>What would change this</h2><dl>");
        for screening in &self.plan.screenings {
            let _ = write!(out, "<dt>{}", escape(&tried(screening)));
            for change in changes(self.plan, screening) {
                let _ = write!(out, "<dd>{}", escape(&change));
            }
        }
        out.push_str("</dl>");
    }

    fn others(&self, out: &mut String) {
        if self.candidates(false).next().is_none() {
            return;
        }
        out.push_str(
            "<h2>What does not remain</h2><div class=\"wide\"><table><tr><th>option<th>verdict<th>why",
        );
        for (index, candidate) in self.candidates(false) {
            let (name, why) = verdict(self.network, self.plan, index, candidate);
            let option = candidate.choice.to_string();
            let _ = write!(out, "<tr><td>{}<td>{name}<td>{}", escape(&option), escape(&why));
        }
        out.push_str("</table></div>");
    }
}

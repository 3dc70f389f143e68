//! The files of a plan: the page, the values for programs, and the scenarios that repeat its runs.

use std::fs;
use std::io;
use std::path::Path;

use sixlock_plan::{Network, Plan, Verdict};

use super::page::Page;
use super::{csv, json};

/// The folder of scenarios in that of the plan.
const SCENARIOS: &str = "scenarios";
/// The values, for programs.
const VALUES: &str = "plan.csv";

/// Makes `folder`, and the first of the files.
pub(super) fn begin(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder.join(SCENARIOS))?;
    fs::File::create(folder.join(VALUES)).map(drop)
}

/// Writes them to `folder`; `file` is the network's.
pub(super) fn write(folder: &Path, network: &Network, plan: &Plan, file: &Path) -> io::Result<()> {
    let mut scenarios = Vec::new();
    for candidate in &plan.comparison.candidates {
        let text = match candidate.verdict {
            Verdict::Struck(_) => None,
            _ => network.scenario_file(&candidate.choice, plan.comparison.duration, plan.limits.first_seed),
        };
        // The option's name, as a file may be called everywhere.
        let name = candidate.choice.to_string().replace([':', '+', ','], "-").replace(' ', "");
        let path = format!("{SCENARIOS}/{name}.toml");
        if let Some(text) = &text {
            fs::write(folder.join(&path), text)?;
        }
        scenarios.push(text.is_some().then_some(path));
    }
    fs::write(folder.join("plan.json"), json::document(network, plan).to_string())?;
    csv::print(&mut fs::File::create(folder.join(VALUES))?, network, plan)?;
    fs::write(folder.join("index.html"), Page { network, plan, file, scenarios: &scenarios }.html())
}

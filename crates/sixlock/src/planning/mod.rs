//! `sixlock plan`.

mod chart;
mod csv;
mod json;
mod page;
mod report;
mod table;
mod words;

use std::error::Error;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use sixlock_plan::{Choice, Limits, Modes, Network, Progress, plan};

use crate::args::Plan as Args;
use crate::progress;

/// Without --full, no run begins after so long.
const TIME: Duration = Duration::from_secs(600);

pub(crate) fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let network = Network::load(&args.network)?;
    let modes = match (&args.compare[..], args.full) {
        ([], false) => Modes::Usual,
        ([], true) => Modes::Every,
        (modes, _) => Modes::These(modes.to_vec()),
    };
    let time = if args.full { Duration::MAX } else { TIME };
    let limits = Limits { time, modes, first_seed: args.seed, ..Limits::default() };
    let started = Instant::now();
    let bar = progress::bar("Simulating", limits.most_seeds.into());
    let done = |progress: &Progress| match progress {
        Progress::Seeds { seeds, left } => {
            bar.set_position(seeds.round() as u64);
            bar.set_message(format!("{left} options left"));
        }
        Progress::FirstFront { left, open } => {
            let list =
                |choices: &[Choice]| choices.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
            // An option may be called `none`.
            let said = match &left[..] {
                [] => "no option is left".to_owned(),
                left => format!("these are left: {}", list(left)),
            };
            let still = match &open[..] {
                [] => String::new(),
                open => format!(" (still simulated: {})", list(open)),
            };
            bar.suspend(|| {
                to_stderr!("after {:.0} s of simulating {said}{still}", started.elapsed().as_secs_f64());
            });
        }
        Progress::Screening { condition, done, all } => {
            bar.set_length(u64::from(*all));
            bar.set_position(u64::from(*done));
            bar.set_message(format!("other values of {}", condition.key()));
        }
    };
    let cannot_write =
        |folder: &Path, error| format!("cannot write the report to {}: {error}", folder.display());
    // Before minutes of simulation.
    if let Some(folder) = &args.report {
        report::begin(folder).map_err(|error| cannot_write(folder, error))?;
    }
    let plan = plan(&network, limits, done)?;
    bar.finish_and_clear();
    if let Some(folder) = &args.report {
        report::write(folder, &network, &plan, &args.network).map_err(|error| cannot_write(folder, error))?;
        to_stderr!("the report is {}", folder.join("index.html").display());
    }
    let mut out = io::stdout().lock();
    if args.json {
        serde_json::to_writer(&mut out, &json::document(&network, &plan))?;
        writeln!(out)?;
    } else if args.csv {
        csv::print(&mut out, &network, &plan)?;
    } else {
        table::print(&mut out, &network, &plan, &args.network)?;
    }
    Ok(())
}

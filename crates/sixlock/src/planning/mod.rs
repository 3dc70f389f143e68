//! `sixlock plan`.

mod csv;
mod json;
mod table;
mod words;

use std::error::Error;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use sixlock_plan::{Limits, Modes, Network, Progress, plan};

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
    let (started, first) = (Instant::now(), limits.least_seeds);
    let bar = progress::bar("Simulating", limits.most_seeds.into());
    let done = |progress: &Progress| {
        bar.set_position(progress.seeds.into());
        bar.set_message(format!("{} options left", progress.left.len()));
        if progress.seeds == first {
            let left: Vec<_> = progress.left.iter().map(ToString::to_string).collect();
            bar.suspend(|| {
                to_stderr!("left after {:.0} s: {}", started.elapsed().as_secs_f64(), left.join("; "))
            });
        }
    };
    let plan = plan(&network, limits, done)?;
    bar.finish_and_clear();
    let mut out = io::stdout().lock();
    if args.json {
        serde_json::to_writer(&mut out, &json::document(&network, &plan))?;
        writeln!(out)?;
    } else if args.csv {
        csv::print(&mut out, &plan)?;
    } else {
        table::print(&mut out, &network, &plan, &args.network)?;
    }
    Ok(())
}

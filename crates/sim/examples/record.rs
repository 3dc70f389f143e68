//! Simulates a scenario with two seeds, and prints everything that this writes: the capture, the events and the keys of the first run, and
//! the reports of both. Usage: record SCENARIO.toml MODE SEED THREADS

use std::env;
use std::error::Error;
use std::io::{self, Write};
use std::path::Path;

use sixlock_sim::{Options, ScenarioBuilder, Simulation, Sinks, run_seeds};
use sixlock_testing::Recording;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<_> = env::args().skip(1).collect();
    let [scenario, security, seed, threads] = &args[..] else {
        return Err("usage: record SCENARIO.toml MODE SEED THREADS".into());
    };
    let builder = ScenarioBuilder::load(Path::new(scenario))?.security(security.parse()?);
    let scenario = builder.seed(seed.parse()?).build()?;
    let [pcap, events, key_log] = <[Recording; 3]>::default();
    let sinks = Sinks {
        pcap: Some(pcap.sink()),
        events: Some(events.sink()),
        key_log: Some(key_log.sink()),
        ..Sinks::default()
    };
    Simulation::new(&scenario, Options { sinks, ..Options::default() })?.run()?;
    let reports = run_seeds(&scenario, 2, Some(threads.parse()?), || ())?;
    let mut out = io::stdout().lock();
    for recording in [pcap, events, key_log] {
        out.write_all(&recording.bytes())?;
    }
    Ok(serde_json::to_writer(out, &reports)?)
}

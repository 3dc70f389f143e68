//! Measures the cloud under load: what `./bench cloud`, `./bench ingest`, `./bench sessions`, `./bench restart`, `./bench siege` and `./bench import` run.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use sixlock_load::{
    Besieged, HEADING, Measurement, Plan, Program, Scale, Servers, Tell, capacity, cloud, echo, hold, import,
    libcoap, restart, siege, with_rules,
};

const USAGE: &str = "usage: sixlock-load ingest   SIXLOCK DISK [--rules] [--seconds N] [--json]
       sixlock-load cloud    SIXLOCK DISK [--alone | --beside CALIFORNIUM] [--core N] [--shards N] [--sessions N] [--only WORDS] [--seconds N] [--json]
       sixlock-load sessions SIXLOCK DISK [--sessions N] [--rate N] [--seconds N] [--json]
       sixlock-load restart  SIXLOCK DISK [--sessions N] [--shards N] [--then N] [--json]
       sixlock-load siege    SIXLOCK DISK [--core N] [--seconds N] [--json]
       sixlock-load import   SIXLOCK DISK [--json]
       sixlock-load echo    [THREADS]";
/// Readings a post: one, the pack of a node, and more.
const PACKS: [u32; 3] = [1, 3, 8];
/// Devices in a file that is imported.
const DEVICES: usize = 10_000;

struct Arguments {
    what: Benchmark,
    program: PathBuf,
    disk: PathBuf,
    span: Duration,
    json: bool,
}

enum Benchmark {
    Ingest { rules: bool },
    Cloud { beside: Option<PathBuf>, core: usize, shards: usize, sessions: usize, only: String },
    Sessions { sessions: usize, rate: f64 },
    Restart { sessions: usize, shards: usize, then: Option<usize> },
    Siege { core: Option<usize> },
    Import,
}

fn arguments() -> Option<Arguments> {
    let mut words = std::env::args().skip(1);
    let mut what = match &*words.next()? {
        "ingest" => Benchmark::Ingest { rules: false },
        "cloud" => {
            Benchmark::Cloud { beside: None, core: 0, shards: 1, sessions: 10_000, only: String::new() }
        }
        "sessions" => Benchmark::Sessions { sessions: 10_000, rate: 500.0 },
        "restart" => Benchmark::Restart { sessions: 10_000, shards: 1, then: None },
        "siege" => Benchmark::Siege { core: None },
        "import" => Benchmark::Import,
        _ => return None,
    };
    let (program, disk) = (words.next()?.into(), words.next()?.into());
    let mut span =
        if matches!(what, Benchmark::Siege { .. }) { Plan::WHOLE.span } else { Duration::from_secs(10) };
    let mut json = false;
    while let Some(word) = words.next() {
        match (&*word, &mut what) {
            ("--alone", Benchmark::Cloud { beside: None, .. }) => {}
            ("--seconds", what) if !matches!(what, Benchmark::Import) => {
                span = Duration::from_secs(words.next()?.parse().ok()?)
            }
            ("--json", _) => json = true,
            ("--rules", Benchmark::Ingest { rules }) => *rules = true,
            ("--beside", Benchmark::Cloud { beside, .. }) => *beside = Some(words.next()?.into()),
            ("--core", Benchmark::Siege { core }) => *core = Some(words.next()?.parse().ok()?),
            ("--core", Benchmark::Cloud { core, .. }) => *core = words.next()?.parse().ok()?,
            ("--only", Benchmark::Cloud { only, .. }) => *only = words.next()?,
            ("--then", Benchmark::Restart { then, .. }) => {
                *then = Some(words.next()?.parse().ok().filter(|shards| *shards > 0)?);
            }
            ("--shards", Benchmark::Cloud { shards, .. } | Benchmark::Restart { shards, .. }) => {
                *shards = words.next()?.parse().ok().filter(|shards| *shards > 0)?;
            }
            (
                "--sessions",
                Benchmark::Sessions { sessions, .. }
                | Benchmark::Cloud { sessions, .. }
                | Benchmark::Restart { sessions, .. },
            ) => {
                *sessions = words.next()?.parse().ok().filter(|sessions| *sessions > 0)?;
            }
            ("--rate", Benchmark::Sessions { rate, .. }) => {
                *rate = words.next()?.parse().ok().filter(|rate| *rate > 0.0)?;
            }
            _ => return None,
        }
    }
    Some(Arguments { what, program, disk, span, json })
}

fn main() -> ExitCode {
    if std::env::args().nth(1).is_some_and(|word| word == "echo") {
        let threads = std::env::args().nth(2).map_or(Ok(1), |threads| threads.parse());
        return end(threads.map_err(io::Error::other).and_then(echo));
    }
    let Some(arguments) = arguments() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let Arguments { what, program, disk, span, json } = arguments;
    let program = Program::at(program);
    let done = match what {
        Benchmark::Ingest { rules } => ingest(&program, &disk, rules, span, json),
        Benchmark::Cloud { beside, core, shards, sessions, only } => {
            let californium = beside.as_deref();
            let servers = Servers { program: &program, disk: &disk, californium, core, shards, only: &only };
            capacity(&servers, sessions, span, &mut Tell::default())
                .map(|measured| if json { println!("{}", measured.json()) } else { println!("{measured}") })
        }
        Benchmark::Sessions { sessions, rate } => {
            hold(&program, &disk, sessions, rate, span, &mut Tell::default())
                .map(|held| if json { println!("{}", held.json()) } else { println!("{held}") })
        }
        Benchmark::Restart { sessions, shards, then } => {
            let shards = [shards, then.unwrap_or(shards)];
            restart(&program, &disk, sessions, shards, &mut Tell::default())
                .map(|done| if json { println!("{}", done.json()) } else { println!("{done}") })
        }
        Benchmark::Import => import(&program, &disk, DEVICES)
            .map(|done| if json { println!("{}", done.json()) } else { println!("{done}") }),
        Benchmark::Siege { core } => {
            let program = core.map_or(program.clone(), |core| program.on(core..=core));
            besiege(&program, &disk, &Plan { span, limit: 4 * span, ..Plan::WHOLE }, json)
        }
    };
    end(done)
}

fn end(done: io::Result<()>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("sixlock-load: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Over HTTP and over TLS; fails if a figure is above its bound.
fn besiege(program: &Program, disk: &Path, plan: &Plan, json: bool) -> io::Result<()> {
    let mut all = Vec::new();
    for secure in [false, true] {
        let besieged = siege(program, disk, secure, plan, &mut Tell::default())?;
        if !json {
            println!("{besieged}");
        }
        all.push(besieged);
    }
    if json {
        println!("{}", serde_json::Value::Array(all.iter().map(Besieged::json).collect()));
    }
    if all.iter().all(Besieged::holds) {
        Ok(())
    } else {
        Err(io::Error::other("a figure is above its bound"))
    }
}

/// Beside libcoap's server, and with rules and computed streams beside the same without, or the latter alone; fails if these take more than
/// they may.
fn ingest(program: &Program, disk: &Path, rules: bool, span: Duration, json: bool) -> io::Result<()> {
    let mut all = if rules { Vec::new() } else { beside_libcoap(program, disk, span, json)? };
    let measured = with_rules(program, disk, Scale::whole(span), &mut Tell::default())?;
    if json {
        all.push(measured.json());
        println!("{}", serde_json::Value::Array(all));
    } else {
        println!("{measured}");
    }
    if measured.holds() {
        Ok(())
    } else {
        Err(io::Error::other("rules and computed streams take more than they may"))
    }
}

fn beside_libcoap(
    program: &Program,
    disk: &Path,
    span: Duration,
    json: bool,
) -> io::Result<Vec<serde_json::Value>> {
    if !json {
        println!("{HEADING}");
    }
    let tell = |measured: Measurement| {
        if !json {
            println!("{measured}");
        }
        measured
    };
    let mut all = Vec::new();
    for readings in PACKS {
        all.push((tell(cloud(program, disk, readings, span)?), tell(libcoap(readings, span)?)));
    }
    if !json {
        println!();
        for (readings, (cloud, libcoap)) in PACKS.iter().zip(&all) {
            let ratio = cloud.posts_per_cpu_second() / libcoap.posts_per_cpu_second();
            println!(
                "{readings} readings a post, all of them durable: {ratio:.2} of the posts of libcoap without a database"
            );
        }
        println!();
    }
    Ok(all.iter().flat_map(|(cloud, libcoap)| [cloud.json(), libcoap.json()]).collect())
}

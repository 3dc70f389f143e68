//! Measures the cloud under load: what `./bench ingest` runs.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use sixlock_load::{HEADING, Measurement, Program, cloud, libcoap};

const USAGE: &str = "usage: sixlock-load SIXLOCK DISK [--seconds N] [--json]";
/// Readings a post: one, the pack of a node, and more.
const PACKS: [u32; 3] = [1, 3, 8];

struct Arguments {
    program: PathBuf,
    disk: PathBuf,
    span: Duration,
    json: bool,
}

fn arguments() -> Option<Arguments> {
    let mut words = std::env::args().skip(1);
    let (program, disk) = (words.next()?.into(), words.next()?.into());
    let mut arguments = Arguments { program, disk, span: Duration::from_secs(10), json: false };
    while let Some(word) = words.next() {
        match &*word {
            "--seconds" => arguments.span = Duration::from_secs(words.next()?.parse().ok()?),
            "--json" => arguments.json = true,
            _ => return None,
        }
    }
    Some(arguments)
}

fn main() -> ExitCode {
    let Some(arguments) = arguments() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let Arguments { program, disk, span, json } = arguments;
    match ingest(&Program::at(program), &disk, span, json) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("sixlock-load: {error}");
            ExitCode::FAILURE
        }
    }
}

fn ingest(program: &Program, disk: &Path, span: Duration, json: bool) -> io::Result<()> {
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
    if json {
        let all = all.iter().flat_map(|(cloud, libcoap)| [cloud.json(), libcoap.json()]);
        println!("{}", serde_json::Value::Array(all.collect()));
        return Ok(());
    }
    println!();
    for (readings, (cloud, libcoap)) in PACKS.iter().zip(&all) {
        let ratio = cloud.posts_per_cpu_second() / libcoap.posts_per_cpu_second();
        println!(
            "{readings} readings a post, all of them durable: {ratio:.2} of the posts of libcoap without a database"
        );
    }
    Ok(())
}

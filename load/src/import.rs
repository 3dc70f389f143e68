//! How long `sixlock keys import` takes.

use std::fmt::{self, Display, Formatter};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{Cloud, Program};

/// How long the cloud may take to stop.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long devices took to be enrolled from a file.
#[derive(Clone, Copy, Debug)]
pub struct Imported {
    /// How many in a file.
    devices: usize,
    /// With the cloud running.
    running: Duration,
    /// With it stopped.
    stopped: Duration,
}

impl Imported {
    /// As JSON, in seconds.
    pub fn json(&self) -> Value {
        let Self { devices, running, stopped } = self;
        json!({"devices": devices, "running_s": running.as_secs_f64(), "stopped_s": stopped.as_secs_f64()})
    }
}

impl Display for Imported {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { devices, running, stopped } = self;
        let (running, stopped) = (running.as_secs_f64(), stopped.as_secs_f64());
        write!(
            f,
            "{devices} devices imported in {running:.3} s with the cloud running, in {stopped:.3} s with it stopped"
        )
    }
}

/// Imports `devices` from a file twice, into a cloud that keeps its data in a new folder under `disk`.
///
/// # Errors
/// What does not start, or an import that does not enrol all of them.
pub fn import(program: &Program, disk: &Path, devices: usize) -> io::Result<Imported> {
    let place = tempfile::tempdir_in(disk)?;
    let data = place.path().join("data");
    let cloud = Cloud::start(program, &data, SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), &[])?;
    let running = timed(program, place.path(), "running", devices)?;
    if cloud.terminate(PATIENCE)?.is_none() {
        return Err(io::Error::other("the cloud does not stop"));
    }
    let stopped = timed(program, place.path(), "stopped", devices)?;
    Ok(Imported { devices, running, stopped })
}

/// Imports devices that are called after `name`.
fn timed(program: &Program, place: &Path, name: &str, devices: usize) -> io::Result<Duration> {
    let file = place.join(format!("{name}.csv"));
    write_devices(&file, name, devices)?;
    let started = Instant::now();
    let mut command = Command::new(program.path());
    let output =
        command.args(["keys", "import"]).arg(&file).arg("--data").arg(place.join("data")).output()?;
    let (taken, said) = (started.elapsed(), String::from_utf8_lossy(&output.stdout));
    if !said.starts_with(&format!("{devices} devices are enrolled")) {
        return Err(io::Error::other(format!("{said}{}", String::from_utf8_lossy(&output.stderr))));
    }
    // The keys that were made are in a file beside it, which is not looked at.
    fs::remove_file(file)?;
    Ok(taken)
}

fn write_devices(file: &Path, name: &str, devices: usize) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(file)?);
    writeln!(file, "label,mode")?;
    for n in 1..=devices {
        writeln!(file, "{name}-{n},dtls-psk")?;
    }
    file.flush()
}

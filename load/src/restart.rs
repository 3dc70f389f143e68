//! What an orderly stop and a start take with many sessions open, which go on.

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cloud::open_sessions;
use crate::process::resident_bytes;
use crate::{Authentication, Cloud, Program, Target, Tell, enrol, idle};

/// Devices: each has as many of the sessions as the others.
const DEVICES: usize = 10_000;
/// Those of the devices that go on which ask at the same time.
const AT_ONCE: usize = 64;
/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// The file of the sessions between both clouds.
const FILE: &str = "open-sessions";

/// What was measured.
#[derive(Debug)]
pub struct Restarted {
    sessions: usize,
    shards: [usize; 2],
    /// From the signal to the end of the process.
    stopping: Duration,
    file: u64,
    /// From the start of the process until it is ready.
    starting: Duration,
    /// How long that takes on the same data without sessions: those that are left can be resumed.
    bare: Duration,
    /// Resident, in bytes: when all were open, and when the next cloud was ready with all of them.
    memory: [u64; 2],
    /// Devices that then asked for something in their sessions, without a handshake.
    went_on: usize,
}

impl Restarted {
    /// The measurement as JSON.
    pub fn json(&self) -> Value {
        json!({
            "sessions": self.sessions,
            "shards": self.shards,
            "stop_s": self.stopping.as_secs_f64(),
            "file_bytes": self.file,
            "start_s": self.starting.as_secs_f64(),
            "start_without_s": self.bare.as_secs_f64(),
            "resident_bytes": self.memory,
            "went_on": self.went_on,
        })
    }
}

impl fmt::Display for Restarted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sessions, shards: [before, after], stopping, file, starting, bare, memory, went_on } =
            self;
        let [open, woken] = memory.map(|bytes| bytes as f64 / f64::from(1 << 20));
        writeln!(
            f,
            "{sessions} DTLS sessions open over a restart, with {before} and then {after} threads that serve devices"
        )?;
        writeln!(f, "stopped in        {:.2} s", stopping.as_secs_f64())?;
        writeln!(f, "the file          {file} bytes, {} for a session", file / (*sessions).max(1) as u64)?;
        writeln!(
            f,
            "ready again in    {:.2} s with all of them, {:.2} s without",
            starting.as_secs_f64(),
            bare.as_secs_f64()
        )?;
        writeln!(f, "resident memory   {open:.1} MiB before, {woken:.1} MiB when ready again")?;
        write!(f, "went on           all {went_on} devices that asked, without a handshake")
    }
}

/// Opens so many sessions with a cloud with as many threads that serve devices as the first of `shards`, which keeps its data in a new folder under `disk`; stops it in
/// order, and starts another with as many as the second.
///
/// # Errors
/// What does not start or answer, or does not go on.
pub fn restart(
    program: &Program,
    disk: &Path,
    sessions: usize,
    shards: [usize; 2],
    tell: &mut Tell,
) -> io::Result<Restarted> {
    let data = tempfile::tempdir_in(disk)?;
    // Chance gives one thread more than another.
    let limit = if shards == [1, 1] { sessions } else { sessions + sessions / 10 + 100 }.to_string();
    let start = |coaps, shards: usize| {
        let began = Instant::now();
        let options = ["--max-sessions", &limit, "--shards", &shards.to_string()];
        Cloud::start(program, data.path(), coaps, &options).map(|cloud| (cloud, began.elapsed()))
    };
    let (cloud, _) = start(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), shards[0])?;
    let coaps = cloud.coaps;
    let credentials = enrol(cloud.http, data.path(), sessions.min(DEVICES))?;
    let authentications: Vec<Authentication> = credentials.iter().map(Authentication::from).collect();
    let mut fleet = idle::open(Target::cloud(coaps), &authentications, sessions, tell)?;
    let went_on = fleet.sessions() as usize;
    let open = resident_bytes(cloud.id())?;
    expect(cloud.http, sessions)?;
    tell.done();

    let stopping = stop(cloud)?;
    let file = std::fs::metadata(data.path().join(FILE))?.len();
    let (cloud, starting) = start(coaps, shards[1])?;
    let woken = resident_bytes(cloud.id())?;
    expect(cloud.http, sessions)?;
    if !fleet.post_in_turn(AT_ONCE, PATIENCE, |_| {})? || !fleet.refusals.is_empty() {
        return Err(io::Error::other("not every device is answered"));
    }
    if fleet.sessions() as usize != went_on {
        return Err(io::Error::other("a device had to make another session"));
    }
    stop(cloud)?;
    std::fs::remove_file(data.path().join(FILE))?;
    let (_, bare) = start(coaps, shards[1])?;
    Ok(Restarted { sessions, shards, stopping, file, starting, bare, memory: [open, woken], went_on })
}

/// Stops a cloud in order, and tells how long that takes.
fn stop(cloud: Cloud) -> io::Result<Duration> {
    let asked = Instant::now();
    match cloud.terminate(PATIENCE)? {
        Some(status) if status.success() => Ok(asked.elapsed()),
        ended => Err(io::Error::other(format!("the cloud did not end in order: {ended:?}"))),
    }
}

fn expect(http: SocketAddr, sessions: usize) -> io::Result<()> {
    match open_sessions(http)? {
        open if open == sessions => Ok(()),
        open => Err(io::Error::other(format!("of {sessions} sessions, {open} are open"))),
    }
}

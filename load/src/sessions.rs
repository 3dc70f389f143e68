//! What it takes to hold many DTLS sessions open: memory, and how long posts take meanwhile.

use std::fmt;
use std::io;
use std::net::Ipv4Addr;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cloud::open_sessions;
use crate::process::{cpu_seconds, resident_bytes};
use crate::{Cloud, Fleet, Habits, Latencies, LoadPattern, Program, Progress, Target, Tell, enrol};

/// Devices that make a handshake or their first post at the same time: what they send fits a socket's buffer.
const AT_ONCE: usize = 64;
/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// After every so many goodbyes, a wait until they are heard: none is said twice.
const PAUSE: Duration = Duration::from_millis(20);
/// How long none is to be heard before those that are missing are taken for lost.
const LOST: Duration = Duration::from_secs(3);

/// What was measured.
#[derive(Debug)]
pub struct Held {
    sessions: usize,
    connecting: Duration,
    connecting_cpu: f64,
    memory: Memory,
    rate: f64,
    latencies: Latencies,
}

/// The server's resident memory, in bytes.
#[derive(Debug)]
struct Memory {
    /// Before the first session.
    before: u64,
    /// When all were connected and none was used: what is needed to repeat the last flight is still kept.
    connected: u64,
    /// When each had been used.
    used: u64,
    /// When all had been closed; what is left of them can be resumed.
    after: u64,
}

impl Held {
    fn bytes_per_session(&self) -> u64 {
        self.memory.used.saturating_sub(self.memory.before) / self.sessions as u64
    }

    fn handshakes_per_second(&self) -> f64 {
        self.sessions as f64 / self.connecting.as_secs_f64()
    }

    fn handshakes_per_cpu_second(&self) -> f64 {
        self.sessions as f64 / self.connecting_cpu
    }

    fn millis(&self, share: f64) -> f64 {
        self.latencies.quantile(share).unwrap_or_default().as_secs_f64() * 1_000.0
    }

    /// The measurement as JSON.
    pub fn json(&self) -> Value {
        let Memory { before, connected, used, after } = self.memory;
        json!({
            "sessions": self.sessions,
            "handshakes_per_second": self.handshakes_per_second(),
            "handshakes_per_cpu_second": self.handshakes_per_cpu_second(),
            "resident_bytes": { "before": before, "connected": connected, "used": used, "after": after },
            "bytes_per_session": self.bytes_per_session(),
            "posts_per_second": self.rate,
            "posts": self.latencies.count(),
            "p50_ms": self.millis(0.50),
            "p99_ms": self.millis(0.99),
        })
    }
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        let Memory { before, connected, used, after } = self.memory;
        writeln!(f, "{} DTLS sessions open at the same time", self.sessions)?;
        writeln!(
            f,
            "handshakes        {:.0} a second, {:.0} a second of the server's processor time",
            self.handshakes_per_second(),
            self.handshakes_per_cpu_second()
        )?;
        writeln!(
            f,
            "resident memory   {:.1} MiB before, {:.1} when connected, {:.1} when each was used, {:.1} when closed",
            mib(before),
            mib(connected),
            mib(used),
            mib(after)
        )?;
        writeln!(f, "a session         {} bytes", self.bytes_per_session())?;
        write!(
            f,
            "a post            p50 {:.1} ms, p99 {:.1} ms ({} posts of random sessions, {:.0} a second)",
            self.millis(0.50),
            self.millis(0.99),
            self.latencies.count(),
            self.rate
        )
    }
}

/// Opens `sessions` sessions with a cloud that keeps its data in a new folder under `disk`, and has random ones of them
/// post `rate` times a second for `span`.
///
/// # Errors
/// What does not start or answer.
pub fn hold(
    program: &Program,
    disk: &Path,
    sessions: usize,
    rate: f64,
    span: Duration,
    tell: &mut Tell,
) -> io::Result<Held> {
    let data = tempfile::tempdir_in(disk)?;
    let limit = sessions.to_string();
    let options = ["--max-sessions", &limit];
    let cloud = Cloud::start(program, data.path(), (Ipv4Addr::LOCALHOST, 0).into(), &options)?;
    let credentials = enrol(cloud.http, data.path(), sessions)?;
    let mut fleet =
        Fleet::new(Target::cloud(cloud.coaps), &credentials, Habits::default()).map_err(|error| {
            io::Error::other(format!("{error}: each session needs a socket; raise ulimit -n"))
        })?;
    let server = cloud.id();
    let before = resident_bytes(server)?;

    let (started, cpu) = (Instant::now(), cpu_seconds(server)?);
    all(fleet.connect_in_turn(AT_ONCE, PATIENCE, |done| tell.progress("sessions open", done, sessions))?)?;
    let (connecting, connecting_cpu) = (started.elapsed(), cpu_seconds(server)? - cpu);
    let connected = resident_bytes(server)?;
    all(fleet.post_in_turn(AT_ONCE, PATIENCE, |done| tell.progress("first posts", done, sessions))?)?;
    let used = resident_bytes(server)?;

    fleet.latencies = Latencies::default();
    let progress = Progress::default();
    let posts = (rate * span.as_secs_f64()) as usize;
    let answered = std::thread::scope(|scope| {
        let (fleet, progress) = (&mut fleet, &progress);
        let end = Some(Instant::now() + span);
        let run = scope.spawn(move || fleet.run(LoadPattern::Rate(rate), progress, end, PATIENCE));
        while !run.is_finished() {
            std::thread::sleep(Duration::from_millis(100));
            tell.progress("posts", progress.acknowledged() as usize, posts);
        }
        run.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    all(answered?)?;
    if let Some(refusal) = fleet.refusals.first() {
        return Err(io::Error::other(format!("a post was refused: {refusal:?}")));
    }
    let open = open_sessions(cloud.http)?;
    if open != sessions || fleet.sessions() as usize != sessions {
        return Err(io::Error::other(format!("of {sessions} sessions, {open} are open in the end")));
    }

    let latencies = std::mem::take(&mut fleet.latencies);
    fleet.close(AT_ONCE, PAUSE);
    let (mut open, mut heard) = (sessions, Instant::now());
    while open > 0 && heard.elapsed() < LOST {
        std::thread::sleep(Duration::from_millis(100));
        let left = open_sessions(cloud.http)?;
        if left < open {
            (open, heard) = (left, Instant::now());
        }
    }
    let memory = Memory { before, connected, used, after: resident_bytes(server)? };
    tell.done();
    Ok(Held { sessions, connecting, connecting_cpu, memory, rate, latencies })
}

fn all(answered: bool) -> io::Result<()> {
    if answered { Ok(()) } else { Err(io::Error::other("the cloud does not answer every device")) }
}

//! What a server does in a second of its processor's time, and what a session takes of its memory.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::flood::{Flood, flood};
use crate::process::{thread_seconds, times};
use crate::servers::{CLOUD, Offer, Protection, Server, californium, cloud, echo, libcoap};
use crate::{Fleet, Habits, Latencies, LoadPattern, Program, Progress, Tell, idle};

/// Requests or handshakes that are under way at the same time for each core of the server, as if there were so many clients.
const AT_ONCE: usize = 64;
/// Sessions of which requests come.
const SESSIONS: usize = 2_000;
/// How long it goes on before it counts: a Java machine compiles meanwhile what is done often.
const WARM_UP: Duration = Duration::from_secs(3);
/// How long anything else may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// After every so many goodbyes, a wait until they are heard: none is said twice.
const PAUSE: Duration = Duration::from_millis(2);
/// The name of a flood.
const FLOOD: &str = "flood";
/// What of the processor's time `/proc` tells is this fine, in seconds.
const TICK: f64 = 0.01;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Task {
    Get(Protection),
    Post(Protection),
    Handshake(Protection),
    Memory,
}

impl Task {
    const ALL: [Self; 8] = [
        Self::Get(Protection::Plain),
        Self::Post(Protection::Plain),
        Self::Get(Protection::PreSharedKey),
        Self::Post(Protection::PreSharedKey),
        Self::Handshake(Protection::PreSharedKey),
        Self::Handshake(Protection::RawPublicKey),
        Self::Handshake(Protection::Certificate),
        Self::Memory,
    ];

    /// What the others have kept in memory alone the cloud has kept for good.
    const fn name(self) -> &'static str {
        match self {
            Self::Get(Protection::Plain) => "GET, plain",
            Self::Get(_) => "GET, coaps with a pre-shared key",
            Self::Post(Protection::Plain) => "POST, plain",
            Self::Post(_) => "POST, coaps with a pre-shared key",
            Self::Handshake(Protection::RawPublicKey) => "handshake, raw public keys",
            Self::Handshake(Protection::Certificate) => "handshake, certificates",
            Self::Handshake(_) => "handshake, pre-shared key",
            Self::Memory => "bytes of a session",
        }
    }

    const fn is_post(self) -> bool {
        matches!(self, Self::Post(_))
    }

    /// What the cloud does at least in the processor time in which a program that only answers gives one answer; no change may go
    /// below it.
    const fn floor(self) -> Option<f64> {
        match self {
            Self::Get(Protection::Plain) => Some(0.65),
            Self::Get(Protection::PreSharedKey) => Some(0.45),
            _ => None,
        }
    }
}

/// What the cloud does of a task beside a program that only answers.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Share {
    task: Task,
    /// Of the answers of that program in as much processor time.
    of_echoes: f64,
    floor: f64,
}

impl Share {
    fn holds(self) -> bool {
        self.of_echoes >= self.floor
    }

    fn json(self) -> Value {
        let Self { task, of_echoes, floor } = self;
        json!({ "what": task.name(), "of_echoes": of_echoes, "floor": floor, "holds": self.holds() })
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { task, of_echoes, floor } = self;
        let holds = if self.holds() { "holds" } else { "does not hold" };
        write!(f, "{}: {of_echoes:.2} of that; the floor of {floor:.2} {holds}.", task.name())
    }
}

/// A figure of one server.
#[derive(Debug)]
struct Figure {
    task: Task,
    server: &'static str,
    durable: bool,
    /// How many in a second of its processor's time, or bytes.
    value: f64,
    /// How many in a second of the processor's time of its busiest thread: so many it could do in a second of any clock that
    /// had a processor for each of its threads.
    busiest: Option<f64>,
    /// The kernel's share of that time, for what the server asks of it.
    kernel: Option<f64>,
    latencies: Latencies,
}

impl Figure {
    /// The processor time that one takes, in microseconds, whatever threads do it.
    fn microseconds(&self) -> Option<f64> {
        (self.task != Task::Memory).then_some(1e6 / self.value)
    }

    fn json(&self) -> Value {
        let Self { task, server, durable, value, busiest, kernel, latencies } = self;
        let millis = |share| latencies.quantile(share).map(|latency| latency.as_secs_f64() * 1_000.0);
        json!({
            "what": task.name(),
            "server": server,
            "durable": task.is_post().then_some(durable),
            "unit": if *task == Task::Memory { "bytes" } else { "per_cpu_second" },
            "value": value,
            "cpu_us": self.microseconds(),
            "per_second_of_busiest_thread": busiest,
            "kernel_share": kernel,
            "p50_ms": millis(0.50),
            "p99_ms": millis(0.99),
        })
    }
}

/// What was measured of all servers.
#[derive(Debug)]
pub struct Capacity {
    figures: Vec<Figure>,
    /// What was measured of the cloud with one thread that serves devices, if the other figures are those of several.
    of_one_thread: Vec<Figure>,
    floods: Vec<Flood>,
    /// The answers of a program that only answers.
    echoes: Option<Measured>,
    /// How many threads of the cloud served devices.
    shards: usize,
    sessions: usize,
}

impl Capacity {
    fn find(&self, task: Task, server: &str) -> Option<f64> {
        self.figures
            .iter()
            .find(|figure| (figure.task, figure.server) == (task, server))
            .map(|figure| figure.value)
    }

    /// What the cloud does beside the program that only answers, where there is a floor.
    fn shares(&self) -> impl Iterator<Item = Share> {
        let echoes = self.echoes.as_ref().map(|echoes| echoes.value);
        Task::ALL.into_iter().filter_map(move |task| {
            Some(Share { task, of_echoes: self.find(task, CLOUD)? / echoes?, floor: task.floor()? })
        })
    }

    /// The processor time that one of each task takes the cloud, in microseconds: with one thread, and with all.
    fn threads(&self) -> impl Iterator<Item = (Task, f64, f64)> {
        self.of_one_thread.iter().filter_map(|one| {
            let of_cloud = |all: &&Figure| (all.task, all.server) == (one.task, CLOUD);
            let all = self.figures.iter().find(of_cloud)?;
            Some((one.task, one.microseconds()?, all.microseconds()?))
        })
    }

    /// The measurement as JSON.
    pub fn json(&self) -> Value {
        let figures = |figures: &[Figure]| figures.iter().map(Figure::json).collect::<Vec<_>>();
        json!({
            "shards": self.shards,
            "sessions": SESSIONS,
            "at_once": AT_ONCE * self.shards,
            "idle_sessions": self.sessions,
            "echoes_per_cpu_second": self.echoes.as_ref().map(|echoes| echoes.value),
            "floors": self.shares().map(Share::json).collect::<Vec<_>>(),
            "figures": figures(&self.figures),
            "of_one_thread": figures(&self.of_one_thread),
            "floods": self.floods.iter().map(Flood::json).collect::<Vec<_>>(),
        })
    }

    /// Compares threads by the processor time that a request takes.
    fn fmt_threads(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.of_one_thread.is_empty() {
            let all = format!("with {}", self.shards);
            write!(
                f,
                "\n{:<36}{:>16}{all:>16}{:>16}",
                "processor time of one, in us", "with one thread", "times"
            )?;
        }
        for (task, one, all) in self.threads() {
            write!(f, "\n{:<36}{one:>16.2}{all:>16.2}{:>16.2}", task.name(), all / one)?;
        }
        Ok(())
    }
}

impl fmt::Display for Capacity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut servers: Vec<&str> = Vec::new();
        for Figure { server, .. } in &self.figures {
            if !servers.contains(server) {
                servers.push(server);
            }
        }
        writeln!(
            f,
            "In a second of the server's processor time, on {}; {AT_ONCE} at a time for each, of {SESSIONS} sessions. The last line: \
             {} sessions ({SESSIONS} of libcoap's), each used once.",
            if self.shards == 1 {
                "one core".to_owned()
            } else {
                format!("{} cores, each with its sessions", self.shards)
            },
            self.sessions
        )?;
        write!(f, "{:<36}", "")?;
        for server in &servers {
            write!(f, "{server:>16}")?;
        }
        let last = match (servers.len() > 1, self.shards > 1) {
            (true, _) => "to the best",
            (_, true) => "busiest thread",
            _ => "",
        };
        writeln!(f, "{last:>16}")?;
        let measured = |task: &Task| self.figures.iter().any(|figure| figure.task == *task);
        for task in Task::ALL.into_iter().filter(measured) {
            write!(f, "{:<36}", task.name())?;
            for server in &servers {
                match self.find(task, server) {
                    Some(value) => write!(f, "{value:>16.0}")?,
                    None => write!(f, "{:>16}", "-")?,
                }
            }
            let others = servers.iter().skip(1).filter_map(|server| self.find(task, server));
            let best = if task == Task::Memory { others.reduce(f64::min) } else { others.reduce(f64::max) };
            if let Some((own, best)) = servers.first().and_then(|own| self.find(task, own)).zip(best) {
                write!(f, "{:>16.2}", own / best)?;
            }
            let busiest =
                self.figures.iter().find(|figure| figure.task == task).and_then(|figure| figure.busiest);
            if let Some(busiest) = busiest.filter(|_| self.shards > 1) {
                write!(f, "{busiest:>16.0}")?;
            }
            writeln!(f)?;
        }
        write!(
            f,
            "GET tells what is in memory. A POST to the cloud is on the disk before it is answered, to the others in memory."
        )?;
        let of_kernel = |figure: &Figure| (figure.server == CLOUD).then_some((figure.task, figure.kernel?));
        let shares: Vec<_> = self.figures.iter().filter_map(of_kernel).collect();
        if !shares.is_empty() {
            let share = |(task, share): &(Task, f64)| format!("{:.0} % with {}", 100.0 * share, task.name());
            let shares = shares.iter().map(share).collect::<Vec<_>>().join("; ");
            write!(f, "\nOf the cloud's time, the kernel has: {shares}.")?;
        }
        if let Some(Measured { value, busiest, .. }) = self.echoes {
            write!(f, "\nA program that only answers, by the same calls of the system: {value:.0}")?;
            match busiest.filter(|_| self.shards > 1) {
                Some(busiest) => write!(f, ", and its busiest thread {busiest:.0}.")?,
                None => write!(f, ".")?,
            }
        }
        for share in self.shares() {
            write!(f, "\n{share}")?;
        }
        self.fmt_threads(f)?;
        for flood in &self.floods {
            write!(f, "\n{flood}")?;
        }
        Ok(())
    }
}

/// Where the servers are.
pub struct Servers<'a> {
    /// Ours.
    pub program: &'a Program,
    /// Where the cloud keeps its data, in a new folder.
    pub disk: &'a Path,
    /// Where Californium's server and its libraries are, if the cloud is to be measured beside others.
    pub californium: Option<&'a Path>,
    /// The core that each server has for itself.
    pub core: usize,
    /// How many threads of the cloud serve devices: as many cores it has then, from that one on.
    pub shards: usize,
    /// What is measured: all whose name has these words in it.
    pub only: &'a str,
}

/// Measures them, each task for `span`, and the memory of `idle` sessions.
///
/// # Errors
/// What does not start or answer.
pub fn capacity(servers: &Servers<'_>, idle: usize, span: Duration, tell: &mut Tell) -> io::Result<Capacity> {
    let Servers { program, disk, californium: folder, core, shards, only } = *servers;
    let data = tempfile::tempdir_in(disk)?;
    let sessions = idle.max(SESSIONS);
    let mut capacity = Capacity {
        figures: Vec::new(),
        of_one_thread: Vec::new(),
        floods: Vec::new(),
        echoes: None,
        shards,
        sessions,
    };
    let cores = core..=core + shards.max(1) - 1;
    let mut ours = cloud(&program.on(cores.clone()), data.path(), sessions, shards)?;
    all(&mut ours, sessions, span, only, tell, &mut capacity.figures)?;
    if let Some(folder) = folder {
        let authentications = |protection| {
            let offer = ours.offers.iter().find(|offer| offer.protection == protection);
            offer.map_or(&[][..], |offer| &offer.authentications)
        };
        let certified = authentications(Protection::Certificate);
        let known = [authentications(Protection::RawPublicKey), certified];
        let core = Some(core);
        all(
            &mut californium(core, folder, sessions, data.path(), known)?,
            sessions,
            span,
            only,
            tell,
            &mut capacity.figures,
        )?;
        // What a handshake takes libcoap's grows with the sessions that there are.
        all(&mut libcoap(core, SESSIONS, None)?, SESSIONS, span, only, tell, &mut capacity.figures)?;
        let beside = Some((data.path(), certified));
        all(&mut libcoap(core, SESSIONS, beside)?, SESSIONS, span, only, tell, &mut capacity.figures)?;
    }
    drop(ours);
    if shards > 1 {
        let data = tempfile::tempdir_in(disk)?;
        let one = cloud(&program.on(core..=core), data.path(), SESSIONS, 1)?;
        rates(&one, span, only, tell, &mut capacity.of_one_thread)?;
    }
    let has_floor = |task: &Task| task.floor().is_some() && task.name().contains(only);
    if Task::ALL.iter().any(has_floor) {
        let echo = echo(cores.clone(), SESSIONS)?;
        let plain = Task::Get(Protection::Plain);
        capacity.echoes = Some(rate(&echo, &echo.offers[0], plain, span)?);
    }
    let floods = [Protection::PreSharedKey, Protection::RawPublicKey];
    for begins in floods.into_iter().filter(|_| FLOOD.contains(only)) {
        // What is left of a flood fills the places of handshakes for a while.
        let data = tempfile::tempdir_in(disk)?;
        let ours = cloud(&program.on(cores.clone()), data.path(), SESSIONS, shards)?;
        let with = |protection| ours.offers.iter().find(|offer| offer.protection == protection);
        if let Some((offer, begins)) = with(Protection::PreSharedKey).zip(with(begins)) {
            capacity.floods.push(flood(ours.id(), offer, begins, span)?);
        }
    }
    tell.done();
    Ok(capacity)
}

/// Measures all that a server offers, and `idle` sessions. The others are measured as far as they go.
fn all(
    server: &mut Server,
    idle: usize,
    span: Duration,
    only: &str,
    tell: &mut Tell,
    figures: &mut Vec<Figure>,
) -> io::Result<()> {
    for n in 0..server.offers.len() {
        if server.offers[n].protection == Protection::PreSharedKey && Task::Memory.name().contains(only) {
            let measured =
                |value| Measured { value, busiest: None, kernel: None, latencies: Latencies::default() };
            let measured = memory(server, n, idle, tell).map(measured);
            keep(server, Task::Memory, measured, figures)?;
        }
    }
    rates(server, span, only, tell, figures)
}

/// Measures the requests and handshakes that a server offers.
fn rates(
    server: &Server,
    span: Duration,
    only: &str,
    tell: &mut Tell,
    figures: &mut Vec<Figure>,
) -> io::Result<()> {
    for offer in &server.offers {
        let wanted = |task: &Task| match task {
            Task::Get(protection) | Task::Post(protection) | Task::Handshake(protection) => {
                *protection == offer.protection
            }
            Task::Memory => false,
        };
        let named = |task: &Task| task.name().contains(only);
        for (n, task) in Task::ALL.into_iter().filter(wanted).filter(named).enumerate() {
            tell.progress(server.name, n, Task::ALL.len());
            keep(server, task, rate(server, offer, task, span), figures)?;
        }
    }
    Ok(())
}

/// Keeps what was measured of a server. What failed is an error if the server is ours, and otherwise told.
fn keep(
    server: &Server,
    task: Task,
    measured: io::Result<Measured>,
    figures: &mut Vec<Figure>,
) -> io::Result<()> {
    let Server { name, durable, .. } = *server;
    match measured {
        Ok(Measured { value, busiest, kernel, latencies }) => {
            figures.push(Figure { task, server: name, durable, value, busiest, kernel, latencies });
        }
        Err(error) if server.is_ours() => {
            return Err(io::Error::other(format!("{name}, {}: {error}", task.name())));
        }
        Err(error) => eprintln!("{name}, {}: {error}", task.name()),
    }
    Ok(())
}

/// A [`Figure`] of some server.
#[derive(Debug)]
struct Measured {
    value: f64,
    busiest: Option<f64>,
    kernel: Option<f64>,
    latencies: Latencies,
}

/// What a server has used before something is measured.
struct Used {
    server: u32,
    times: [f64; 2],
    threads: BTreeMap<OsString, f64>,
}

impl Used {
    fn so_far(server: &Server) -> io::Result<Self> {
        let server = server.id();
        Ok(Self { server, times: times(server)?, threads: thread_seconds(server)? })
    }

    /// How many of what was `done` since in a second of what it has used since, and of its busiest thread.
    fn measured(self, done: u64, latencies: Latencies) -> io::Result<Measured> {
        let ([own_before, kernel_before], [own, kernel]) = (self.times, times(self.server)?);
        let kernel = kernel - kernel_before;
        let all = own - own_before + kernel;
        if done == 0 || all < TICK {
            return Err(io::Error::other("the server has done nothing"));
        }
        let since = |(thread, now): (&OsString, &f64)| now - self.threads.get(thread).unwrap_or(&0.0);
        let threads = thread_seconds(self.server)?;
        let busiest = threads.iter().map(since).fold(0.0, f64::max);
        let busiest = (busiest >= TICK).then(|| done as f64 / busiest);
        Ok(Measured { value: done as f64 / all, busiest, kernel: Some(kernel / all), latencies })
    }
}

/// How many of a task in a second of the server's processor time.
fn rate(server: &Server, offer: &Offer, task: Task, span: Duration) -> io::Result<Measured> {
    let target = if task.is_post() { offer.post } else { offer.get };
    let at_once = AT_ONCE * server.cores;
    if let Task::Handshake(_) = task {
        let authentications = &offer.authentications[..at_once.min(offer.authentications.len())];
        let mut fleet = Fleet::new(target, authentications, Habits::default())?;
        fleet.handshakes(WARM_UP)?;
        let used = Used::so_far(server)?;
        return used.measured(fleet.handshakes(span)?, Latencies::default());
    }
    let mut fleet = Fleet::new(target, &offer.authentications[..SESSIONS], Habits::default())?;
    if !fleet.connect_in_turn(AT_ONCE, PATIENCE, |_| {})? {
        return Err(io::Error::other("not every device could connect"));
    }
    let mut ask = |span| {
        fleet.latencies = Latencies::default();
        let progress = Progress::default();
        fleet.run(LoadPattern::AtOnce(at_once), &progress, Some(Instant::now() + span), PATIENCE)?;
        match fleet.refusals.first() {
            Some(refusal) => Err(io::Error::other(format!("a request was refused: {refusal:?}"))),
            None => Ok(progress.acknowledged()),
        }
    };
    ask(WARM_UP)?;
    let used = Used::so_far(server)?;
    let asked = ask(span)?;
    let measured = used.measured(asked, std::mem::take(&mut fleet.latencies));
    fleet.close(AT_ONCE, PAUSE);
    measured
}

/// The bytes that each of so many sessions takes which have been used once.
fn memory(server: &mut Server, offer: usize, sessions: usize, tell: &mut Tell) -> io::Result<f64> {
    let before = server.memory()?;
    let open_before = server.open_sessions()?;
    let offer = &server.offers[offer];
    // The last devices are there until memory was measured.
    let _fleet = idle::open(offer.get, &offer.authentications, sessions, tell)?;
    let after = server.memory()?;
    if let Some((before, now)) = open_before.zip(server.open_sessions()?)
        && now < before + sessions
    {
        return Err(io::Error::other(format!(
            "of {sessions} sessions, {} are open in the end",
            now - before
        )));
    }
    Ok(after.saturating_sub(before) as f64 / sessions as f64)
}

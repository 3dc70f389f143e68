//! All that strangers can do to a cloud, at once, and what a signed-in user and the devices notice of it.
//!
//! Everybody is on the loopback. Those who besiege have addresses of three networks of 24 bits; the user and the devices have 127.0.0.1.

mod connection;
mod feeds;
mod idle;
mod report;
mod requests;
mod user;

use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use rustix::process::nice;
use sixlock_interop::Authority;

use crate::flood::Flooding;
use crate::process::most_resident_bytes;
use crate::{
    Authentication, Cloud, Credential, Fleet, Habits, Latencies, LoadPattern, Program, Progress, Target, Tell,
};
use crate::{enrol, posts};
use connection::HttpServer;
use idle::{Held, Misbehaviour, hold};
pub use report::Besieged;
use report::Figure;
use requests::{Answers, Kind, send};
use user::Served;

/// The networks of 24 bits from which the cloud is besieged.
const NETWORKS: [[u8; 3]; 3] = [[127, 1, 1], [127, 2, 2], [127, 3, 3]];
/// The files of a data folder.
const TOKEN: &str = "admin-token";
/// The most passwords of one address that are looked into meanwhile.
const GUESSES: usize = 40;
/// How many live feeds a user may have.
const FEEDS: usize = 8;
/// The longest that one in a hundred requests of the user may take,
const USERS_P99: Duration = Duration::from_millis(200);
/// how much longer one in a hundred posts of devices may take than without a siege,
const DEVICES_FACTOR: u32 = 2;
/// and the most memory that the cloud may have, in bytes.
const MEMORY: u64 = 150_000_000;
/// How nice those are to others who besiege.
const BACKGROUND: i32 = 10;
/// How long anything else may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// How many of what there are.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Over how long requests are spread.
    pub span: Duration,
    /// After how long what is not done is given up.
    pub limit: Duration,
    /// Requests that break rules.
    pub hostile: usize,
    /// Sign-ins with wrong passwords, from an address of each network.
    pub wrong_passwords: usize,
    /// Connections with a body that never ends.
    pub slow_bodies: usize,
    /// Connections of which no answer is read.
    pub unread: usize,
    /// Live feeds that one user asks for.
    pub feeds: usize,
    /// Handshakes that are begun and not finished: half of them from one network, the others from three.
    pub half_done: usize,
    /// Devices that are connected, and their posts in a second, all together.
    pub devices: usize,
    /// How often a second they post.
    pub posts: f64,
    /// Requests of a signed-in user.
    pub looks: usize,
}

impl Plan {
    /// What `./bench siege` does.
    pub const WHOLE: Self = Self {
        span: Duration::from_secs(60),
        limit: Duration::from_secs(240),
        hostile: 10_000,
        wrong_passwords: 1_000,
        slow_bodies: 1_100,
        unread: 64,
        feeds: 40,
        half_done: 1_500,
        devices: 100,
        posts: 200.0,
        looks: 1_200,
    };
    /// Enough to show what is wrong without waiting for long.
    pub const SHORT: Self = Self {
        span: Duration::from_secs(8),
        limit: Duration::from_secs(120),
        hostile: 800,
        wrong_passwords: 300,
        half_done: 200,
        devices: 20,
        posts: 40.0,
        looks: 40,
        ..Self::WHOLE
    };
}

/// A cloud that is to be besieged, and those who use it.
struct Scene {
    cloud: Cloud,
    server: HttpServer,
    token: String,
    credentials: Vec<Credential>,
    fleet: Fleet,
}

impl Scene {
    /// A cloud with its data in `data`, whose HTTP goes over TLS or not, and whose devices are connected.
    fn new(program: &Program, data: &Path, secure: bool, plan: &Plan) -> io::Result<Self> {
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let mut cloud = Cloud::start(program, data, any, &[])?;
        let credentials = enrol(cloud.http, data, plan.devices)?;
        let authority = secure.then(|| certified(data)).transpose()?;
        if secure {
            cloud.terminate(PATIENCE)?;
            let [certificate, key] =
                ["http.pem", "http.key"].map(|file| data.join(file).display().to_string());
            cloud = Cloud::start(program, data, any, &["--tls-cert", &certificate, "--tls-key", &key])?;
        }
        let address = SocketAddrV4::new(Ipv4Addr::LOCALHOST, cloud.http.port());
        let server = match authority {
            None => HttpServer::plain(address),
            Some(authority) => HttpServer::secure(address, &authority)?,
        };
        let mut fleet = Fleet::new(Target::cloud(cloud.coaps), &credentials, Habits::default())?;
        // Each has a value then, which the user may look at.
        if !fleet.connect(PATIENCE)? || !fleet.post_in_turn(plan.devices, PATIENCE, |_| {})? {
            return Err(io::Error::other("not every device is answered"));
        }
        let token = fs::read_to_string(data.join(TOKEN))?.trim().to_owned();
        Ok(Self { cloud, server, token, credentials, fleet })
    }
}

/// Makes a certificate for HTTP and its key, which are put into `data`, and tells the authority's, in PEM.
fn certified(data: &Path) -> io::Result<Vec<u8>> {
    let authority = Authority::new();
    authority.certify("http", "subjectAltName=IP:127.0.0.1");
    for file in ["http.pem", "http.key"] {
        fs::copy(authority.path(file), data.join(file))?;
        fs::set_permissions(data.join(file), fs::Permissions::from_mode(0o600))?;
    }
    fs::read(authority.path("authority.pem"))
}

/// Besieges a cloud that keeps its data in a new folder under `disk`, over TLS or not.
///
/// # Errors
/// What does not start, or does not answer before the siege.
pub fn siege(
    program: &Program,
    disk: &Path,
    secure: bool,
    plan: &Plan,
    tell: &mut Tell,
) -> io::Result<Besieged> {
    allow_many_files()?;
    let data = tempfile::tempdir_in(disk)?;
    let mut scene = Scene::new(program, data.path(), secure, plan)?;
    let calm = post(&mut scene.fleet, plan, |progress| {
        thread::sleep(plan.span / 4);
        progress.finish();
    })?;
    if calm.count() == 0 {
        return Err(io::Error::other("no device was answered before the siege"));
    }
    let besieged = besiege(&mut scene, plan, tell)?;
    tell.done();
    let memory = most_resident_bytes(scene.cloud.id());
    // What was acknowledged is on the disk: nothing tells the cloud to bring it there now.
    scene.cloud.kill()?;
    let stored = posts(data.path()).map_err(io::Error::other)?;
    let lost = scene.fleet.acknowledged().iter().filter(|post| !stored.contains_key(post)).count();
    Ok(report(secure, plan, &calm, &besieged, memory.unwrap_or(u64::MAX), lost, &scene.fleet))
}

/// As many files as this process may have open at all, and those that it starts: each connection is one.
fn allow_many_files() -> io::Result<()> {
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
    Ok(setrlimit(Resource::RLIMIT_NOFILE, most, most)?)
}

/// Has devices post while `meanwhile` goes on, and until it says that they finish; how long their posts took.
fn post(fleet: &mut Fleet, plan: &Plan, meanwhile: impl FnOnce(&Progress)) -> io::Result<Latencies> {
    fleet.latencies = Latencies::default();
    let progress = Progress::default();
    thread::scope(|scope| {
        let _end = progress.finish_when_dropped();
        let posting = scope.spawn(|| fleet.run(LoadPattern::Rate(plan.posts), &progress, None, PATIENCE));
        meanwhile(&progress);
        progress.finish();
        posting.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })?;
    Ok(std::mem::take(&mut fleet.latencies))
}

/// What everybody observed of the siege.
#[derive(Debug, Default)]
struct Observations {
    posts: Latencies,
    user: Served,
    hostile: Answers,
    wrong_passwords: Answers,
    slow_bodies: Held,
    unread: Held,
    feeds: usize,
    /// Cookies that were shown by those who then said nothing.
    half_done: u64,
}

/// Addresses of each of these networks, in turn.
fn addresses(networks: &[[u8; 3]]) -> Vec<Ipv4Addr> {
    let hosts = (1..=254).flat_map(|host| networks.iter().map(move |network| (network, host)));
    hosts.map(|(&[a, b, c], host)| Ipv4Addr::new(a, b, c, host)).collect()
}

fn besiege(scene: &mut Scene, plan: &Plan, tell: &mut Tell) -> io::Result<Observations> {
    let Scene { cloud, server, token, credentials, fleet } = scene;
    let (server, token, from) = (&*server, &**token, &*addresses(&NETWORKS));
    let authentications: Vec<Authentication> = credentials.iter().map(Authentication::from).collect();
    let target = Target::cloud(cloud.coaps);
    let (mut observations, stop) = (Observations::default(), &AtomicBool::new(false));
    let (mut half_done, tried) = (Ok(0), &[const { AtomicUsize::new(0) }; 2]);
    let posts = post(fleet, plan, |_| {
        thread::scope(|scope| {
            let held = [(Misbehaviour::SlowBody, plan.slow_bodies), (Misbehaviour::NeverReads, plan.unread)];
            let holding = [0, 1]
                .map(|n| scope.spawn(move || in_background(|| hold(server, from, held[n], &tried[n], stop))));
            let follow = || feeds::follow(server, Ipv4Addr::LOCALHOST, token, plan.feeds, stop);
            let feeds = scope.spawn(move || in_background(follow));
            let flood =
                scope.spawn(|| in_background(|| begin_handshakes(target, &authentications, plan, stop)));
            let end = Instant::now() + plan.limit;
            // The others come when all those are there, or were turned away.
            wait(plan.limit / 3, || tried[0].load(Ordering::Relaxed) >= plan.slow_bodies);
            let look = move || user::look(server, Ipv4Addr::LOCALHOST, token, (plan.looks, plan.span), end);
            let requests =
                move |kind, from, count| in_background(|| send(server, from, (kind, count), plan.span, end));
            let user = scope.spawn(look);
            let hostile = scope.spawn(move || requests(Kind::Hostile, from, plan.hostile));
            let guesses = scope
                .spawn(move || requests(Kind::WrongPassword, &from[..NETWORKS.len()], plan.wrong_passwords));
            let begun = Instant::now();
            wait(2 * plan.limit, || {
                let seconds = |span: Duration| span.as_secs() as usize;
                tell.progress("seconds of siege", seconds(begun.elapsed()), seconds(plan.span));
                user.is_finished() && hostile.is_finished() && guesses.is_finished()
            });
            stop.store(true, Ordering::Relaxed);
            (observations.hostile, observations.wrong_passwords) = (join(hostile), join(guesses));
            [observations.slow_bodies, observations.unread] = holding.map(join);
            (observations.feeds, observations.user) = (join(feeds), join(user));
            half_done = join(flood);
        });
    })?;
    Ok(Observations { posts, half_done: half_done?, ..observations })
}

/// Does the work of those who besiege, at a lower priority than that of the user and the devices, who share their processor: what these notice
/// is to be of the cloud.
fn in_background<T>(work: impl FnOnce() -> T) -> T {
    // Without it, the figures are only worse.
    let _ = nice(BACKGROUND);
    work()
}

fn join<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Looks again and again, for at most `limit`, until something `is` so.
fn wait(limit: Duration, mut is: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is() && started.elapsed() < limit {
        thread::sleep(Duration::from_millis(20));
    }
}

/// Handshakes that stop when the cookie was shown: for half of the time from one network, then from three. How many there were.
fn begin_handshakes(
    target: Target,
    authentications: &[Authentication],
    plan: &Plan,
    stop: &AtomicBool,
) -> io::Result<u64> {
    let (half, rate) = (plan.half_done / 2, plan.half_done as f64 / plan.span.as_secs_f64());
    let mut shown = 0;
    for (networks, is_last) in [(&NETWORKS[..1], false), (&NETWORKS[..], true)] {
        let hosts = addresses(networks);
        let mut flooding = Flooding::new(target, authentications, hosts.into_iter().cycle().take(half))?;
        let enough = AtomicBool::new(false);
        shown += thread::scope(|scope| {
            let flooding = scope.spawn(|| flooding.run(rate, &enough));
            let limit = if is_last { 2 * plan.limit } else { plan.span / 2 };
            wait(limit, || stop.load(Ordering::Relaxed));
            enough.store(true, Ordering::Relaxed);
            join(flooding)
        })?;
    }
    Ok(shown)
}

fn report(
    secure: bool,
    plan: &Plan,
    calm: &Latencies,
    observations: &Observations,
    memory: u64,
    lost: usize,
    fleet: &Fleet,
) -> Besieged {
    let Observations { posts, user, hostile, wrong_passwords, slow_bodies, unread, feeds, half_done } =
        observations;
    let p99 = |latencies: &Latencies| latencies.quantile(0.99).unwrap_or(Duration::MAX);
    let figures = vec![
        Figure::latency("a signed-in user's request, p99", p99(&user.latencies), USERS_P99),
        Figure::count("requests of theirs not served", user.unserved, 0),
        Figure::late("requests of theirs made again", user.repeats, plan.looks / 100),
        Figure::latency("a device's post, p99", p99(posts), p99(calm).saturating_mul(DEVICES_FACTOR)),
        Figure::count("devices not answered in the end", fleet.waiting(), 0),
        Figure::count("posts refused", fleet.refusals.len(), 0),
        Figure::count("posts acknowledged and not in the database", lost, 0),
        Figure::memory("the cloud's memory at most", memory, MEMORY),
        Figure::count("hostile requests served", hostile.served(), 0),
        Figure::count("hostile requests that the cloud failed at", hostile.failures(), 0),
        Figure::late("hostile requests not sent in time", plan.hostile - hostile.sent, 0),
        Figure::count("wrong passwords let in", wrong_passwords.served(), 0),
        Figure::count("wrong passwords looked into", wrong_passwords.refused(), GUESSES * NETWORKS.len()),
        Figure::count("wrong passwords that the cloud failed at", wrong_passwords.failures(), 0),
        Figure::late("wrong passwords not sent in time", plan.wrong_passwords - wrong_passwords.sent, 0),
        Figure::count("live feeds of one user at a time", *feeds, FEEDS),
    ];
    let mut notes = vec![
        format!(
            "{} requests of the user; {} posts of {} devices, p99 {:.1} ms without a siege",
            user.latencies.count(),
            posts.count(),
            plan.devices,
            p99(calm).as_secs_f64() * 1_000.0
        ),
        format!("hostile requests by status, 0 for none: {:?}", hostile.by_status),
        format!("wrong passwords by status, 0 for none: {:?}", wrong_passwords.by_status),
        format!(
            "at most {} of {} slow bodies at a time, of which the cloud ended {}; {} of {} readers who never read",
            slow_bodies.most, plan.slow_bodies, slow_bodies.ended, unread.most, plan.unread
        ),
        format!("{half_done} handshakes half done"),
    ];
    notes.extend(user.first.as_ref().map(|first| format!("first not served: {first}")));
    Besieged { over: if secure { "TLS" } else { "HTTP" }, figures, notes }
}

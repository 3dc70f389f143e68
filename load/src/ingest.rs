//! How many readings a second the cloud keeps, for how much of a processor.

use std::fmt;
use std::io;
use std::net::Ipv4Addr;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::process::cpu_seconds;
use crate::servers::{self, Protection};
use crate::{Authentication, Cloud, Fleet, Habits, Latencies, LoadPattern, Program, Progress, Target, enrol};

/// Devices that each have one post under way, as RFC 7252's NSTART says. With many more, what they send at once is more
/// than a socket of Linux holds by default.
const DEVICES: usize = 128;
/// How long the devices post before it counts.
const WARM_UP: Duration = Duration::from_secs(1);
/// How long anything else may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// What was measured of one server with one kind of posts.
#[derive(Debug)]
pub struct Measurement {
    server: &'static str,
    /// Whether a reading is in a database, for good, before it is acknowledged.
    durable: bool,
    readings: u32,
    posts: u64,
    /// Devices that were not answered any more in the end.
    lost: usize,
    seconds: f64,
    cpu_seconds: f64,
    latencies: Latencies,
}

impl Measurement {
    /// Readings a post.
    pub const fn readings(&self) -> u32 {
        self.readings
    }

    /// Acknowledged posts for a second of the server's processor time.
    pub fn posts_per_cpu_second(&self) -> f64 {
        self.posts as f64 / self.cpu_seconds
    }

    fn millis(&self, share: f64) -> f64 {
        self.latencies.quantile(share).unwrap_or_default().as_secs_f64() * 1_000.0
    }

    /// The measurement as JSON.
    pub fn json(&self) -> Value {
        json!({
            "server": self.server,
            "durable": self.durable,
            "readings_per_post": self.readings,
            "posts": self.posts,
            "devices": DEVICES,
            "devices_lost": self.lost,
            "seconds": self.seconds,
            "server_cpu_seconds": self.cpu_seconds,
            "posts_per_cpu_second": self.posts_per_cpu_second(),
            "readings_per_cpu_second": self.posts_per_cpu_second() * f64::from(self.readings),
            "p50_ms": self.millis(0.50),
            "p99_ms": self.millis(0.99),
        })
    }
}

/// A line of a table; [`HEADING`] stands above it.
impl fmt::Display for Measurement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:<26} {:>8} {:>10.0} {:>14.0} {:>18.0} {:>8.1} {:>8.1}",
            self.server,
            self.readings,
            self.posts as f64 / self.seconds,
            self.posts_per_cpu_second(),
            self.posts_per_cpu_second() * f64::from(self.readings),
            self.millis(0.50),
            self.millis(0.99)
        )
    }
}

/// What the columns of a [`Measurement`] are.
pub const HEADING: &str =
    "server                     readings    posts/s  posts/CPU-s    readings/CPU-s   p50 ms   p99 ms";

/// Measures the cloud, with its data in a new folder under `disk`, for `span`.
///
/// # Errors
/// What does not start or answer.
pub fn cloud(program: &Program, disk: &Path, readings: u32, span: Duration) -> io::Result<Measurement> {
    let data = tempfile::tempdir_in(disk)?;
    let cloud = Cloud::start(program, data.path(), (Ipv4Addr::LOCALHOST, 0).into(), &[])?;
    let credentials = enrol(cloud.http, data.path(), DEVICES)?;
    let measured = measure(Target::cloud(cloud.coaps), &credentials, readings, span, cloud.id())?;
    if measured.lost > 0 {
        return Err(io::Error::other(format!("{} devices were not answered", measured.lost)));
    }
    Ok(Measurement { server: "sixlock cloud", durable: true, ..measured })
}

/// Measures libcoap's example server, which keeps what is put to one of its resources in memory. When a datagram is lost
/// it may not answer a device any more: OpenSSL lets nobody begin a session anew at the same address.
///
/// # Errors
/// What does not start or answer.
pub fn libcoap(readings: u32, span: Duration) -> io::Result<Measurement> {
    let server = servers::libcoap(None, DEVICES, None)?;
    let offer = server.offers.iter().find(|offer| offer.protection == Protection::PreSharedKey);
    let offer = offer.ok_or_else(|| io::Error::other("libcoap's server has no pre-shared key"))?;
    measure(offer.post, &offer.authentications, readings, span, server.id())
        .map(|measured| Measurement { server: "libcoap coap-server-openssl", ..measured })
}

fn measure<P>(
    target: Target,
    authentications: &[P],
    readings: u32,
    span: Duration,
    server: u32,
) -> io::Result<Measurement>
where
    for<'p> &'p P: Into<Authentication>,
{
    let mut fleet = Fleet::new(target, authentications, Habits { readings, ..Habits::default() })?;
    if !fleet.connect(PATIENCE)? {
        return Err(io::Error::other("not every device could connect"));
    }
    let mut post = |span| {
        let progress = Progress::default();
        fleet.latencies = Latencies::default();
        fleet.run(LoadPattern::Answered, &progress, Some(Instant::now() + span), PATIENCE)?;
        if let Some(refusal) = fleet.refusals.first() {
            return Err(io::Error::other(format!("a post was refused: {refusal:?}")));
        }
        Ok((progress.acknowledged(), fleet.waiting(), std::mem::take(&mut fleet.latencies)))
    };
    post(WARM_UP)?;
    let before = cpu_seconds(server)?;
    let (posts, lost, latencies) = post(span)?;
    let cpu_seconds = cpu_seconds(server)? - before;
    let seconds = span.as_secs_f64();
    Ok(Measurement { server: "", durable: false, readings, posts, lost, seconds, cpu_seconds, latencies })
}

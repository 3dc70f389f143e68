//! Handshakes that are begun without end and never finished, and what devices notice of them that are connected.

use std::fmt;
use std::io;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mio::{Events, Interest, Poll, Token};
use serde_json::{Value, json};

use crate::association::{Authentication, Environment};
use crate::device::{Device, Habits, Target};
use crate::fleet::wait;
use crate::process::cpu_seconds;
use crate::servers::{Offer, Protection};
use crate::{Fleet, Latencies, LoadPattern, Progress};

/// Devices that are connected, and what they ask for in a second, all together.
const DEVICES: usize = 1_000;
const ASKED: f64 = 2_000.0;
/// Handshakes that are begun in a second.
const BEGUN: f64 = 10_000.0;
/// Where they come from: so many addresses and ports, of as many networks as the loopback has of 24 bits, so that no limit for one network
/// stops them.
const PLACES: usize = 4_096;
const NETWORKS: usize = 1 << 12;
/// How long anything else may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// What was measured.
#[derive(Debug)]
pub(crate) struct Flood {
    begins: Protection,
    /// Hellos that came back with their cookie, in a second.
    cookies: f64,
    without: Asked,
    with: Asked,
}

/// What it was like for those who are connected.
#[derive(Debug)]
struct Asked {
    latencies: Latencies,
    /// The share of a processor that the server used.
    processor: f64,
}

impl Asked {
    fn millis(&self, share: f64) -> f64 {
        self.latencies.quantile(share).unwrap_or_default().as_secs_f64() * 1_000.0
    }
}

impl Flood {
    /// The share of a processor that handshakes take.
    fn handshakes(&self) -> f64 {
        self.with.processor - self.without.processor
    }

    pub(crate) fn json(&self) -> Value {
        let asked = |asked: &Asked| json!({ "p50_ms": asked.millis(0.50), "p99_ms": asked.millis(0.99), "processor": asked.processor });
        json!({
            "begins": self.begins.name(),
            "cookies_per_second": self.cookies,
            "devices": DEVICES,
            "asked_per_second": ASKED,
            "without": asked(&self.without),
            "with": asked(&self.with),
            "handshakes_processor": self.handshakes(),
        })
    }
}

impl fmt::Display for Flood {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} devices ask {ASKED:.0} times a second: p99 {:.2} ms; while {:.0} handshakes a second are begun with {} and not finished, {:.2} ms; \
             these take {:.0} % of a processor.",
            DEVICES,
            self.without.millis(0.99),
            self.cookies,
            self.begins.name(),
            self.with.millis(0.99),
            100.0 * self.handshakes()
        )
    }
}

/// Measures what those notice who are connected as `offer` says, while others begin handshakes as `begins` says and come as far as
/// to show the server its cookie.
///
/// # Errors
/// What is not answered.
pub(crate) fn flood(server: u32, offer: &Offer, begins: &Offer, span: Duration) -> io::Result<Flood> {
    let devices = offer.authentications.get(..DEVICES).unwrap_or(&offer.authentications);
    let mut fleet = Fleet::new(offer.get, devices, Habits::default())?;
    if !fleet.connect_in_turn(64, PATIENCE, |_| {})? {
        return Err(io::Error::other("not every device could connect"));
    }
    let mut ask = |span: Duration| {
        fleet.latencies = Latencies::default();
        let (began, before) = (Instant::now(), cpu_seconds(server)?);
        fleet.run(LoadPattern::Rate(ASKED), &Progress::default(), Some(began + span), PATIENCE)?;
        let processor = (cpu_seconds(server)? - before) / began.elapsed().as_secs_f64();
        Ok::<_, io::Error>(Asked { latencies: std::mem::take(&mut fleet.latencies), processor })
    };
    ask(Duration::from_secs(1))?;
    let without = ask(span)?;
    let hosts =
        (0..PLACES).map(|n| Ipv4Addr::from_bits((127 << 24) + (1 << 20) + ((n % NETWORKS) << 8) as u32 + 1));
    let (stop, mut flooding) =
        (AtomicBool::new(false), Flooding::new(begins.get, &begins.authentications, hosts)?);
    let (with, cookies) = std::thread::scope(|scope| {
        let flood = scope.spawn(|| {
            let started = Instant::now();
            flooding.run(BEGUN, &stop).map(|shown| shown as f64 / started.elapsed().as_secs_f64())
        });
        let with = ask(span);
        stop.store(true, Ordering::Relaxed);
        (with, flood.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    Ok(Flood { begins: begins.protection, cookies: cookies?, without, with: with? })
}

/// Those who begin.
pub(crate) struct Flooding {
    poll: Poll,
    place: Environment,
    devices: Vec<Device>,
    /// Which of them wait for their cookie.
    begun: Vec<bool>,
}

impl Flooding {
    /// One at each of the addresses `hosts`, at a port of its own, which all say to be those of `proofs`.
    pub(crate) fn new(
        target: Target,
        authentications: &[Authentication],
        hosts: impl Iterator<Item = Ipv4Addr>,
    ) -> io::Result<Self> {
        let (poll, mut place) = (Poll::new()?, Environment::new());
        let mut devices = Vec::new();
        for (n, (host, authentication)) in hosts.zip(authentications.iter().cycle()).enumerate() {
            let mut device = Device::at(&mut place, target, authentication.clone(), host, Habits::default())?;
            poll.registry().register(&mut device.socket, Token(n), Interest::READABLE)?;
            devices.push(device);
        }
        Ok(Self { poll, place, begun: vec![false; devices.len()], devices })
    }

    /// Begins `rate` handshakes in a second until it is told to stop; how many cookies were shown.
    pub(crate) fn run(&mut self, rate: f64, stop: &AtomicBool) -> io::Result<u64> {
        let (started, mut begun, mut cookies) = (Instant::now(), 0usize, 0u64);
        let mut events = Events::with_capacity(1024);
        while !stop.load(Ordering::Relaxed) {
            let due = (started.elapsed().as_secs_f64() * rate) as usize;
            while begun < due {
                let n = begun % self.devices.len();
                self.devices[n].begin_anew(&mut self.place);
                (self.begun[n], begun) = (true, begun + 1);
            }
            wait(&mut self.poll, &mut events)?;
            for event in &events {
                let Token(n) = event.token();
                if std::mem::take(&mut self.begun[n]) {
                    self.devices[n].receive(&mut self.place, |_| {});
                    cookies += 1;
                } else {
                    self.devices[n].ignore();
                }
            }
        }
        Ok(cookies)
    }
}

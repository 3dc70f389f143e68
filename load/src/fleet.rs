//! All devices, driven by one thread.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use mio::{Events, Interest, Poll, Token};
use sixlock_coap_msg::Code;

use crate::device::{Answered, Credential, Device, Habits, Place, Target};
use crate::{Latencies, Post};

/// How often the clocks of the devices are looked at.
const TICK: Duration = Duration::from_millis(20);

/// How often devices post.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// As soon as they may.
    Answered,
    /// So many posts a second, all devices together. A post that is begun late has waited since it was due.
    Rate(f64),
}

/// What others may know of a fleet that runs, and tell it.
#[derive(Debug, Default)]
pub struct Progress {
    acknowledged: AtomicU64,
    finish: AtomicBool,
}

impl Progress {
    /// How many posts were acknowledged.
    pub fn acknowledged(&self) -> u64 {
        self.acknowledged.load(Ordering::Relaxed)
    }

    /// Lets no new posts begin.
    pub fn finish(&self) {
        self.finish.store(true, Ordering::Relaxed);
    }

    /// Lets no new posts begin once the result is dropped, so that a test that fails does not wait for ever.
    pub const fn finish_when_dropped(&self) -> Finish<'_> {
        Finish(self)
    }
}

/// Lets no new posts begin once it is dropped.
pub struct Finish<'a>(&'a Progress);

impl Drop for Finish<'_> {
    fn drop(&mut self) {
        self.0.finish();
    }
}

/// Devices that post.
pub struct Fleet {
    poll: Poll,
    place: Place,
    devices: Vec<Device>,
    acknowledged: Vec<Post>,
    /// How long the acknowledged posts took.
    pub latencies: Latencies,
    /// The code of each answer that was no success.
    pub refusals: Vec<Code>,
}

impl Fleet {
    /// One device for each credential.
    pub fn new(target: Target, credentials: &[Credential], habits: Habits) -> io::Result<Self> {
        let (poll, mut place) = (Poll::new()?, Place::new());
        let mut devices = Vec::new();
        for (n, credential) in credentials.iter().enumerate() {
            let mut device = Device::new(&mut place, target, credential.clone(), habits)?;
            poll.registry().register(&mut device.socket, Token(n), Interest::READABLE)?;
            devices.push(device);
        }
        let acknowledged = Vec::new();
        Ok(Self { poll, place, devices, acknowledged, latencies: Latencies::default(), refusals: Vec::new() })
    }

    /// Waits until every device has a session; whether that came true within `limit`.
    pub fn connect(&mut self, limit: Duration) -> io::Result<bool> {
        let end = Instant::now() + limit;
        while Instant::now() < end {
            if self.devices.iter().all(Device::is_connected) {
                return Ok(true);
            }
            self.turn(&Progress::default(), |_, _| {})?;
            self.tick();
        }
        Ok(false)
    }

    /// Posts until `end`, if there is one, or until `progress` says to finish. Then what was begun is brought to its
    /// end, within `patience`; whether all of it was answered.
    pub fn run(
        &mut self,
        pace: Pace,
        progress: &Progress,
        end: Option<Instant>,
        patience: Duration,
    ) -> io::Result<bool> {
        let (started, mut ticked) = (Instant::now(), Instant::now());
        let (mut begun, mut turn) = (0u64, 0);
        let mut finished = None;
        if pace == Pace::Answered {
            for device in &mut self.devices {
                while device.has_room() {
                    device.post(&mut self.place, Instant::now());
                }
            }
        }
        loop {
            let now = Instant::now();
            if finished.is_none()
                && (progress.finish.load(Ordering::Relaxed) || end.is_some_and(|end| now >= end))
            {
                finished = Some(now);
            }
            if let Some(finished) = finished {
                let waiting = self.devices.iter().any(Device::is_waiting);
                if !waiting || now - finished >= patience {
                    return Ok(!waiting);
                }
            } else if let Pace::Rate(rate) = pace {
                let due = |n: u64| started + Duration::from_secs_f64(n as f64 / rate);
                while due(begun) <= now {
                    let Some(n) = self.next_with_room(turn) else { break };
                    self.devices[n].post(&mut self.place, due(begun));
                    (begun, turn) = (begun + 1, n + 1);
                }
            }
            let more = finished.is_none() && pace == Pace::Answered;
            self.turn(progress, |device, place| {
                while more && device.has_room() {
                    device.post(place, Instant::now());
                }
            })?;
            if now - ticked >= TICK {
                ticked = now;
                self.tick();
            }
        }
    }

    /// The posts that were acknowledged, in that order.
    pub fn acknowledged(&self) -> &[Post] {
        &self.acknowledged
    }

    /// How many devices wait for an answer.
    pub fn waiting(&self) -> usize {
        self.devices.iter().filter(|device| device.is_waiting()).count()
    }

    /// How many sessions the devices have had.
    pub fn sessions(&self) -> u32 {
        self.devices.iter().map(|device| device.sessions).sum()
    }

    /// How often the devices have sent a post again.
    pub fn repeats(&self) -> u64 {
        self.devices.iter().map(|device| device.repeats).sum()
    }

    /// What came of it all, in `took`.
    pub fn summary(&self, took: Duration) -> String {
        format!(
            "{} posts acknowledged in {:.1} s ({:.0}/s, pauses included), {} sent again, {} sessions",
            self.acknowledged.len(),
            took.as_secs_f64(),
            self.acknowledged.len() as f64 / took.as_secs_f64(),
            self.repeats(),
            self.sessions(),
        )
    }

    /// The first device that takes another post on, from `turn` on.
    fn next_with_room(&self, turn: usize) -> Option<usize> {
        let all = self.devices.len();
        (turn..turn + all).map(|n| n % all).find(|&n| self.devices[n].has_room())
    }

    /// Takes what has come in, at most a tick long, and lets each device that heard something go on.
    fn turn(
        &mut self,
        progress: &Progress,
        mut go_on: impl FnMut(&mut Device, &mut Place),
    ) -> io::Result<()> {
        let mut events = Events::with_capacity(1024);
        match self.poll.poll(&mut events, Some(Duration::from_millis(1))) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
            _ => {}
        }
        for event in &events {
            let Token(n) = event.token();
            let Self { place, devices, acknowledged, latencies, refusals, .. } = self;
            let now = Instant::now();
            devices[n].receive(place, |Answered { post, due, code }| {
                if code.is_success() {
                    acknowledged.push(Post { device: n, number: post });
                    latencies.add(now.saturating_duration_since(due));
                    progress.acknowledged.fetch_add(1, Ordering::Relaxed);
                } else {
                    refusals.push(code);
                }
            });
            go_on(&mut devices[n], place);
        }
        Ok(())
    }

    fn tick(&mut self) {
        for device in &mut self.devices {
            device.handle_timeout(&mut self.place);
        }
    }
}

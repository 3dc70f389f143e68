//! All devices, driven by one thread.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use mio::{Events, Interest, Poll, Token};
use sixlock_coap_msg::Code;

use crate::association::{Authentication, Environment};
use crate::device::{Answered, Device, Habits, Target};
use crate::{Latencies, Post, Random};

/// How often the clocks of the devices are looked at.
const TICK: Duration = Duration::from_millis(20);

/// How often devices post.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LoadPattern {
    /// As soon as they may.
    Answered,
    /// So many posts a second, all devices together, each by any of them that has none under way. A post that is begun
    /// late has waited since it was due.
    Rate(f64),
    /// So many at the same time, each by the next device in turn that has none under way.
    AtOnce(usize),
}

/// Waits a moment for what has come in. If the process was stopped meanwhile, nothing has.
pub(crate) fn wait(poll: &mut Poll, events: &mut Events) -> io::Result<()> {
    match poll.poll(events, Some(Duration::from_millis(1))) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => events.clear(),
        polled => return polled,
    }
    Ok(())
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
    place: Environment,
    devices: Vec<Device>,
    acknowledged: Vec<Post>,
    /// How long the acknowledged posts took.
    pub latencies: Latencies,
    /// The code of each answer that was no success.
    pub refusals: Vec<Code>,
}

impl Fleet {
    /// One device for each proof, each with a socket. None is connected yet, but those that need no session.
    pub fn new<P>(target: Target, authentications: &[P], habits: Habits) -> io::Result<Self>
    where
        for<'p> &'p P: Into<Authentication>,
    {
        Self::numbered(0, target, authentications, habits)
    }

    /// The same, with devices that are numbered from `first` on. Those of other fleets with other numbers have other addresses and ports,
    /// also when they are gone: if `first` is a multiple of [`AT_ONE_ADDRESS`](crate::device::AT_ONE_ADDRESS).
    pub(crate) fn numbered<P>(
        first: usize,
        target: Target,
        authentications: &[P],
        habits: Habits,
    ) -> io::Result<Self>
    where
        for<'p> &'p P: Into<Authentication>,
    {
        let (poll, mut place) = (Poll::new()?, Environment::new());
        let mut devices = Vec::new();
        for (n, authentication) in authentications.iter().enumerate() {
            let mut device = Device::new(&mut place, target, authentication.into(), first + n, habits)?;
            poll.registry().register(&mut device.socket, Token(n), Interest::READABLE)?;
            devices.push(device);
        }
        let acknowledged = Vec::new();
        Ok(Self { poll, place, devices, acknowledged, latencies: Latencies::default(), refusals: Vec::new() })
    }

    /// Connects all devices at the same time; whether every one has a session within `limit`.
    pub fn connect(&mut self, limit: Duration) -> io::Result<bool> {
        let all = self.devices.len();
        self.each(all, limit, Device::begin, Device::is_connected, |_| {})
    }

    /// Connects all devices, so many at the same time, and tells how many are; whether each was within `limit` after the one
    /// before.
    pub fn connect_in_turn(
        &mut self,
        at_once: usize,
        limit: Duration,
        tell: impl FnMut(usize),
    ) -> io::Result<bool> {
        self.each(at_once, limit, Device::begin, Device::is_connected, tell)
    }

    /// Has each device post once, so many at the same time, and tells how many have; whether each was answered within
    /// `limit` after the one before.
    pub fn post_in_turn(
        &mut self,
        at_once: usize,
        limit: Duration,
        tell: impl FnMut(usize),
    ) -> io::Result<bool> {
        let post = |device: &mut Device, place: &mut Environment| device.post(place, Instant::now());
        self.each(at_once, limit, post, |device| !device.is_waiting(), tell)
    }

    /// Has all devices close their sessions, `pause` after every so many.
    pub fn close(mut self, at_once: usize, pause: Duration) {
        for some in self.devices.chunks_mut(at_once) {
            some.iter_mut().for_each(|device| device.close(&mut self.place));
            std::thread::sleep(pause);
        }
    }

    /// Has each device make one handshake after the other for `span`, each from another port; how many were made.
    pub fn handshakes(&mut self, span: Duration) -> io::Result<u64> {
        let (mut made, mut ticked) = (0, Instant::now());
        let end = ticked + span;
        for device in &mut self.devices {
            device.begin(&mut self.place);
        }
        while Instant::now() < end {
            let mut events = Events::with_capacity(1024);
            wait(&mut self.poll, &mut events)?;
            for event in &events {
                let device = &mut self.devices[event.token().0];
                device.receive(&mut self.place, |_| {});
                if device.is_connected() {
                    made += 1;
                    device.renew(&mut self.place)?;
                    self.poll.registry().register(&mut device.socket, event.token(), Interest::READABLE)?;
                }
            }
            if ticked.elapsed() >= TICK {
                ticked = Instant::now();
                self.tick();
            }
        }
        Ok(made)
    }

    /// Has each device begin something, so many at the same time, and tells how many have done it; whether each did it
    /// within `limit` after the one before.
    fn each(
        &mut self,
        at_once: usize,
        limit: Duration,
        begin: impl Fn(&mut Device, &mut Environment),
        is_done: impl Fn(&Device) -> bool,
        mut tell: impl FnMut(usize),
    ) -> io::Result<bool> {
        let (mut next, mut under_way) = (0, Vec::new());
        let (mut ticked, mut moved) = (Instant::now(), Instant::now());
        while next < self.devices.len() || !under_way.is_empty() {
            while under_way.len() < at_once && next < self.devices.len() {
                begin(&mut self.devices[next], &mut self.place);
                under_way.push(next);
                next += 1;
            }
            self.turn(&Progress::default(), |_, _| {})?;
            let before = under_way.len();
            under_way.retain(|&n| !is_done(&self.devices[n]));
            let now = Instant::now();
            if under_way.len() < before {
                moved = now;
                tell(next - under_way.len());
            } else if now - moved >= limit {
                return Ok(false);
            }
            if now - ticked >= TICK {
                ticked = now;
                for &n in &under_way {
                    self.devices[n].handle_timeout(&mut self.place);
                }
            }
        }
        Ok(true)
    }

    /// Posts until `end`, if there is one, or until `progress` says to finish. Then what was begun is brought to its
    /// end, within `patience`; whether all of it was answered.
    pub fn run(
        &mut self,
        pattern: LoadPattern,
        progress: &Progress,
        end: Option<Instant>,
        patience: Duration,
    ) -> io::Result<bool> {
        let (started, mut ticked) = (Instant::now(), Instant::now());
        let (mut begun, mut random) = (0u64, Random::new(1));
        let (mut finished, mut turn, answered) = (None, 0, self.latencies.count() + self.refusals.len());
        if pattern == LoadPattern::Answered {
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
            } else if let LoadPattern::Rate(rate) = pattern {
                let due = |n: u64| started + Duration::from_secs_f64(n as f64 / rate);
                while due(begun) <= now {
                    let turn = random.below(self.devices.len() as u64) as usize;
                    let Some(n) = self.next_with_room(turn) else { break };
                    self.devices[n].post(&mut self.place, due(begun));
                    begun += 1;
                }
            } else if let LoadPattern::AtOnce(most) = pattern {
                let answered = (self.latencies.count() + self.refusals.len() - answered) as u64;
                while begun - answered < most as u64 {
                    let Some(n) = self.next_with_room(turn) else { break };
                    self.devices[n].post(&mut self.place, now);
                    (begun, turn) = (begun + 1, n + 1);
                }
            }
            let more = finished.is_none() && pattern == LoadPattern::Answered;
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
        mut go_on: impl FnMut(&mut Device, &mut Environment),
    ) -> io::Result<()> {
        let mut events = Events::with_capacity(1024);
        wait(&mut self.poll, &mut events)?;
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

//! What machines are lent on a host.

use std::time::Duration;

use sixlock_base::{Counters, Cx, Entropy, Instant};
use sixlock_crypto::SmallKeys;

/// What machines are lent on a host: its clock, its random bytes, and cryptography.
pub struct HostContext {
    crypto: SmallKeys,
    entropy: DrawnAhead,
    pub(crate) counters: Counters,
    started: std::time::Instant,
    /// The time at which the clock is held.
    held: Option<Instant>,
    nv: (),
}

impl Default for HostContext {
    fn default() -> Self {
        Self::new()
    }
}

impl HostContext {
    /// Time begins now.
    pub fn new() -> Self {
        Self {
            crypto: SmallKeys::default(),
            entropy: DrawnAhead { numbers: [0; NUMBERS], left: 0 },
            counters: Counters::new(),
            started: std::time::Instant::now(),
            held: None,
            nv: (),
        }
    }

    /// It is the present time until [`Self::release_clock`]: what came together needs one look at the clock.
    pub(crate) fn hold_clock(&mut self) {
        self.held = Some(self.shown());
    }

    /// Time goes on.
    pub(crate) fn release_clock(&mut self) {
        self.held = None;
    }

    fn now(&self) -> Instant {
        self.held.unwrap_or_else(|| self.shown())
    }

    fn shown(&self) -> Instant {
        // Wraps every 49.7 days, as instants do.
        Instant::from_millis(self.started.elapsed().as_millis() as u32)
    }

    /// What a machine is lent for one call.
    pub fn cx(&mut self) -> Cx<'_, SmallKeys, DrawnAhead, ()> {
        Cx {
            now: self.now(),
            crypto: &mut self.crypto,
            entropy: &mut self.entropy,
            nv: &mut self.nv,
            counters: &mut self.counters,
        }
    }

    /// Returns how long it is until `deadline`.
    pub fn until(&self, deadline: Instant) -> Duration {
        Duration::from_millis(self.now().until(deadline).millis().into())
    }
}

/// Numbers that are drawn at a time.
const NUMBERS: usize = 64;

/// [`SystemEntropy`], which is called for many numbers at a time: each flight of a handshake and each confirmable message needs one or two, to say
/// how long it waits and what it is called. Nothing else is made of them: keys, cookies and names are drawn as they are needed.
pub struct DrawnAhead {
    numbers: [u32; NUMBERS],
    /// How many were not given yet.
    left: usize,
}

impl Entropy for DrawnAhead {
    fn fill(&mut self, out: &mut [u8]) {
        SystemEntropy.fill(out);
    }

    fn next_u32(&mut self) -> u32 {
        if self.left == 0 {
            let mut bytes = [[0; 4]; NUMBERS];
            SystemEntropy.fill(bytes.as_flattened_mut());
            (self.numbers, self.left) = (bytes.map(u32::from_le_bytes), NUMBERS);
        }
        self.left -= 1;
        self.numbers.get(self.left).copied().unwrap_or_default()
    }
}

/// The random bytes of the system.
#[derive(Clone, Copy, Debug)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn fill(&mut self, out: &mut [u8]) {
        // The start has drawn random bytes, and a system that once gave them goes on giving them. Keys and
        // cookies made without would be worse than an end.
        if getrandom::fill(out).is_err() {
            std::process::abort();
        }
    }
}

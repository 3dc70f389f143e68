use sixlock_base::{Instant, New};

/// Bounds how often strangers make this node begin Trickle anew: who asks for ever would drain it and its neighbours.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    taken: u8,
    refilled: Instant,
}

impl New for Limit {
    const NEW: Self = Self { taken: 0, refilled: Instant::from_millis(0) };
}

impl Limit {
    /// Most at once.
    const BURST: u8 = 6;
    /// Milliseconds until there may be one more.
    const INTERVAL: u32 = 30_000;

    /// Whether there may be one more at `now`; if so, it counts.
    pub(crate) fn take(&mut self, now: Instant) -> bool {
        let mut passed = now.since(self.refilled).millis();
        if passed >= Self::INTERVAL {
            self.refilled = now;
        }
        while passed >= Self::INTERVAL && self.taken > 0 {
            passed -= Self::INTERVAL;
            self.taken -= 1;
        }
        let may = self.taken < Self::BURST;
        self.taken += u8::from(may);
        may
    }
}

use sixlock_base::Instant;

/// Bounds the rate of ICMPv6 errors by a token bucket
/// ([RFC 4443 section 2.4 (f)](https://www.rfc-editor.org/rfc/rfc4443#section-2.4)).
pub struct Limit {
    /// How many are missing in the bucket.
    taken: u8,
    refilled: Instant,
}

impl Limit {
    /// Most errors sent at once.
    const BURST: u8 = 4;
    /// Milliseconds until one more may be sent.
    const INTERVAL: u32 = 500;

    /// A full bucket.
    pub const fn new() -> Self {
        Self { taken: 0, refilled: Instant::from_millis(0) }
    }

    /// Whether one more may be sent at `now`; if so, it counts as sent.
    pub fn take(&mut self, now: Instant) -> bool {
        let earned = now.since(self.refilled).millis() / Self::INTERVAL;
        if earned > 0 {
            self.taken = u32::from(self.taken).saturating_sub(earned) as u8;
            self.refilled = now;
        }
        let may = self.taken < Self::BURST;
        self.taken += u8::from(may);
        may
    }
}

impl Default for Limit {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_passes_then_one_an_interval() {
        let mut limit = Limit::new();
        let at = Instant::from_millis;
        for _ in 0..Limit::BURST {
            assert!(limit.take(at(1000)));
        }
        assert!(!limit.take(at(1000)));
        assert!(!limit.take(at(999 + Limit::INTERVAL)));
        assert!(limit.take(at(1000 + Limit::INTERVAL)));
        assert!(!limit.take(at(1000 + Limit::INTERVAL)));
        let sent = (0..100).filter(|_| limit.take(at(1_000_000))).count();
        assert_eq!(sent, Limit::BURST.into());
    }
}

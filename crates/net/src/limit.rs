use sixlock_base::{Duration, Instant, New, RateLimit};

/// Bounds the rate of ICMPv6 errors
/// ([RFC 4443 section 2.4 (f)](https://www.rfc-editor.org/rfc/rfc4443#section-2.4)).
pub struct Limit(RateLimit);

impl Limit {
    /// Most errors sent at once.
    const BURST: u8 = 4;
    /// Milliseconds until one more may be sent.
    const INTERVAL: u32 = 500;

    /// None was sent.
    pub const fn new() -> Self {
        Self(RateLimit::NEW)
    }

    /// Whether one more may be sent at `now`; if so, it counts as sent.
    pub fn take(&mut self, now: Instant) -> bool {
        self.0.take(now, Self::BURST, Duration::from_millis(Self::INTERVAL))
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

use sixlock_base::{Duration, Entropy, Instant, New};

/// A Trickle timer ([RFC 6206 section 4.2](https://www.rfc-editor.org/rfc/rfc6206#section-4.2)): it says when to send what others may
/// have said already, often after a change and ever more rarely while all agree.
///
/// Its intervals are powers of two, of at least [`Trickle::LEAST`] and at most [`Trickle::MOST`] milliseconds: what a configuration
/// says beyond these is cut off. The least interval of RFC 6550, 8 ms, would be shorter than a frame takes here.
#[derive(Clone, Copy, Debug)]
pub struct Trickle {
    is_running: bool,
    /// Exponents of the least, the greatest and this interval.
    minimum: u8,
    maximum: u8,
    exponent: u8,
    /// After how many others that say the same one is silent; never if 0.
    redundancy: u8,
    /// How many others have said the same in this interval.
    heard: u8,
    /// Whether the point in this interval at which to send is past.
    is_past: bool,
    /// When to send.
    at: Instant,
    /// When the interval ends.
    end: Instant,
}

impl New for Trickle {
    const NEW: Self = Self {
        is_running: false,
        minimum: 0,
        maximum: 0,
        exponent: 0,
        redundancy: 0,
        heard: 0,
        is_past: false,
        at: Instant::from_millis(0),
        end: Instant::from_millis(0),
    };
}

impl Trickle {
    /// The exponent of the least interval that is used: 256 ms.
    pub const LEAST: u8 = 8;
    /// The exponent of the greatest: 12 days, of which wrapping time tells before from after.
    pub const MOST: u8 = 30;

    /// Starts with the interval of 2^`minimum` milliseconds, which may double `doublings` times.
    #[inline(never)]
    pub fn start<E: Entropy>(
        &mut self,
        now: Instant,
        entropy: &mut E,
        (minimum, doublings, redundancy): (u8, u8, u8),
    ) {
        self.minimum = minimum.clamp(Self::LEAST, Self::MOST);
        self.maximum = self.minimum.saturating_add(doublings).min(Self::MOST);
        self.redundancy = redundancy;
        self.is_running = true;
        self.begin(now, entropy, self.minimum);
    }

    /// Stops.
    pub fn stop(&mut self) {
        self.is_running = false;
    }

    /// Whether it runs.
    pub fn is_running(&self) -> bool {
        self.is_running
    }

    /// Begins again with the least interval, after something that is not as others say. In the least interval nothing changes, or
    /// who resets often would silence this.
    #[inline(never)]
    pub fn reset<E: Entropy>(&mut self, now: Instant, entropy: &mut E) {
        if self.is_running && self.exponent > self.minimum {
            self.begin(now, entropy, self.minimum);
        }
    }

    /// Another has said the same.
    pub fn hear(&mut self) {
        self.heard = self.heard.saturating_add(1);
    }

    /// When to call [`Trickle::handle_timeout`].
    pub fn poll_timeout(&self) -> Option<Instant> {
        let due = if self.is_past { self.end } else { self.at };
        self.is_running.then_some(due)
    }

    /// Does what is due; whether to send.
    pub fn handle_timeout<E: Entropy>(&mut self, now: Instant, entropy: &mut E) -> bool {
        let mut sends = false;
        if self.is_running && !self.is_past && now.has_reached(self.at) {
            self.is_past = true;
            sends = self.redundancy == 0 || self.heard < self.redundancy;
        }
        if self.is_running && self.is_past && now.has_reached(self.end) {
            self.begin(now, entropy, (self.exponent + 1).min(self.maximum));
        }
        sends
    }

    /// Begins an interval, and draws the point in its second half at which to send.
    fn begin<E: Entropy>(&mut self, now: Instant, entropy: &mut E, exponent: u8) {
        self.exponent = exponent;
        (self.heard, self.is_past) = (0, false);
        let half = 1 << (exponent - 1);
        let drawn = half + (entropy.next_u32() & (half - 1));
        self.at = now + Duration::from_millis(drawn);
        self.end = now + Duration::from_millis(half + half);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixlock_testing::Random;
    extern crate std;
    use std::vec::Vec;

    fn seeded(seed: u32) -> Random {
        Random::new(seed)
    }

    fn at(millis: u32) -> Instant {
        Instant::from_millis(millis)
    }

    /// The times at which it sends in the first `millis` milliseconds, and those at which it was asked.
    fn run(trickle: &mut Trickle, entropy: &mut Random, from: Instant, millis: u32) -> Vec<u32> {
        let mut sent = Vec::new();
        while let Some(due) = trickle.poll_timeout() {
            if due.since(from).millis() > millis {
                break;
            }
            if trickle.handle_timeout(due, entropy) {
                sent.push(due.since(from).millis());
            }
        }
        sent
    }

    #[test]
    fn it_sends_once_in_the_second_half_of_each_interval_and_intervals_double() {
        for seed in 0..50 {
            let (mut trickle, mut entropy) = (Trickle::NEW, seeded(seed));
            // Across the wrap of time.
            let start = at(u32::MAX - 5_000);
            trickle.start(start, &mut entropy, (10, 3, 0));
            let sent = run(&mut trickle, &mut entropy, start, 1024 + 2048 + 4096 + 3 * 8192);
            let mut begin = 0;
            for (n, interval) in [1024, 2048, 4096, 8192, 8192, 8192].into_iter().enumerate() {
                assert!((begin + interval / 2..begin + interval).contains(&sent[n]), "{seed}: {sent:?}");
                begin += interval;
            }
            assert_eq!(sent.len(), 6);
        }
    }

    /// Mistake 14: t is drawn anew in each interval (RIOT#7870).
    #[test]
    fn the_point_in_an_interval_is_drawn_anew() {
        let (mut trickle, mut entropy) = (Trickle::NEW, seeded(3));
        trickle.start(at(0), &mut entropy, (12, 0, 0));
        let sent = run(&mut trickle, &mut entropy, at(0), 4096 * 20);
        let mut offsets: Vec<_> = sent.iter().map(|at| at % 4096).collect();
        offsets.sort_unstable();
        offsets.dedup();
        assert!(offsets.len() > 15, "{offsets:?}");
    }

    #[test]
    fn as_many_others_as_the_redundancy_silence_it_for_one_interval() {
        let (mut trickle, mut entropy) = (Trickle::NEW, seeded(1));
        trickle.start(at(0), &mut entropy, (10, 0, 2));
        trickle.hear();
        assert_eq!(run(&mut trickle, &mut entropy, at(0), 1024).len(), 1, "one is not enough");
        trickle.hear();
        trickle.hear();
        assert_eq!(run(&mut trickle, &mut entropy, at(0), 2048).len(), 0);
        assert_eq!(run(&mut trickle, &mut entropy, at(0), 3072).len(), 1);
    }

    /// Mistake 14: a redundancy of 0 is infinity (contiki#1879).
    #[test]
    fn with_no_redundancy_nothing_silences_it() {
        let (mut trickle, mut entropy) = (Trickle::NEW, seeded(1));
        trickle.start(at(0), &mut entropy, (10, 0, 0));
        (0..300).for_each(|_| trickle.hear());
        assert_eq!(run(&mut trickle, &mut entropy, at(0), 1024).len(), 1);
    }

    /// Mistake 14: resets in the least interval move nothing (contiki-ng#1015).
    #[test]
    fn a_flood_of_resets_does_not_silence_it() {
        let (mut trickle, mut entropy) = (Trickle::NEW, seeded(1));
        trickle.start(at(0), &mut entropy, (10, 8, 0));
        let mut sent = 0;
        for millis in 0..10_240 {
            trickle.reset(at(millis), &mut entropy);
            sent += u32::from(trickle.handle_timeout(at(millis), &mut entropy));
        }
        // A reset as soon as the interval has doubled: about one each 1024 ms.
        assert!((9..=10).contains(&sent), "{sent}");
    }

    #[test]
    fn a_reset_begins_again_with_the_least_interval() {
        let (mut trickle, mut entropy) = (Trickle::NEW, seeded(1));
        trickle.start(at(0), &mut entropy, (10, 8, 0));
        run(&mut trickle, &mut entropy, at(0), 1 << 16);
        trickle.reset(at(1 << 16), &mut entropy);
        assert_eq!(run(&mut trickle, &mut entropy, at(1 << 16), 1024).len(), 1);
        trickle.stop();
        trickle.reset(at(1 << 17), &mut entropy);
        assert_eq!((trickle.poll_timeout(), trickle.is_running()), (None, false));
    }

    /// Mistake 1: no interval is beyond what can be shifted or told apart; and none is shorter than a frame (mistake 14).
    #[test]
    fn any_configuration_gives_intervals_that_can_be_kept() {
        for minimum in 0..=255 {
            for doublings in [0, 1, 8, 31, 32, 255] {
                let (mut trickle, mut entropy) = (Trickle::NEW, seeded(9));
                trickle.start(at(0), &mut entropy, (minimum, doublings, 1));
                let mut now = at(0);
                for _ in 0..70 {
                    let due = trickle.poll_timeout().unwrap();
                    assert!(due.has_reached(now));
                    now = due;
                    trickle.handle_timeout(now, &mut entropy);
                }
                assert!(now.since(at(0)).millis() >= 256 || minimum >= Trickle::MOST);
            }
        }
    }

    #[test]
    fn who_comes_late_sends_once_and_begins_anew() {
        let (mut trickle, mut entropy) = (Trickle::NEW, seeded(1));
        trickle.start(at(0), &mut entropy, (10, 1, 0));
        assert!(trickle.handle_timeout(at(100_000), &mut entropy));
        assert!(!trickle.handle_timeout(at(100_000), &mut entropy));
        assert!(trickle.poll_timeout().unwrap().has_reached(at(101_024)));
    }
}

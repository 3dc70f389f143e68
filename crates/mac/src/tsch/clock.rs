//! Which slot it is, by the device's own clock, and how that drifts against the network's.

use sixlock_base::Symbols;
use sixlock_ieee802154::enhanced::Asn;

/// The most by which slots are longer or shorter on a device's clock than they should be, in parts of 2^24: 120 parts in a million.
const MOST_DRIFT: i32 = 2047;
/// Corrections are added up for so many symbols before the drift is judged by them: four seconds.
const LEARNING: u32 = 1 << 18;
/// Corrections that are longer ago say nothing about the drift: 33 seconds.
const FORGETTING: u32 = 1 << 21;
/// The most symbols that can be corrected by in that time.
const MOST_CORRECTION: i32 = 127;

/// One slot's number and when it begins, from which the others follow.
#[derive(Clone, Copy)]
pub(super) struct SlotClock {
    pub(super) asn: Asn,
    pub(super) begin: Symbols,
    /// What the begin is later, in parts of 2^16 symbols.
    fraction: u16,
    /// By how much slots are longer on the own clock, in parts of 2^24.
    drift: i32,
    /// Since when corrections are added up, and their sum.
    since: Option<Symbols>,
    corrections: i32,
    /// How often the drift was judged.
    judged: u8,
}

impl SlotClock {
    /// One that knows a slot, and nothing about its drift.
    pub(super) const fn new(asn: Asn, begin: Symbols) -> Self {
        Self { asn, begin, fraction: 0, drift: 0, since: None, corrections: 0, judged: 0 }
    }

    /// Another slot begins so. How fast the clock is stays known.
    pub(super) fn set(&mut self, asn: Asn, begin: Symbols) {
        (self.asn, self.begin, self.fraction, self.since) = (asn, begin, 0, None);
    }

    /// When a slot that is not before this one, and at most seven hours after it, begins; one slot is `length` symbols.
    pub(super) fn begin_of(&self, asn: Asn, length: u32) -> Symbols {
        self.reckon(asn, length).0
    }

    fn reckon(&self, asn: Asn, length: u32) -> (Symbols, u16) {
        let slots = asn.number().saturating_sub(self.asn.number());
        let passed = (slots as u32).wrapping_mul(length);
        // Each product is less than 2^31.
        let longer = match passed {
            0..0x10_0000 => (passed.cast_signed() * self.drift) >> 8,
            _ => (passed.min(1 << 27) >> 8).cast_signed() * self.drift,
        };
        let longer = longer + i32::from(self.fraction);
        (self.begin.after(passed).after((longer >> 16).cast_unsigned()), longer as u16)
    }

    /// Counts on to a slot.
    pub(super) fn advance(&mut self, asn: Asn, length: u32) {
        (self.begin, self.fraction) = self.reckon(asn, length);
        self.asn = asn;
    }

    /// Moves all slots by so many symbols, as was found to be right at `at`, and learns from it how fast the own clock is.
    pub(super) fn correct(&mut self, at: Symbols, symbols: i32) {
        self.begin = self.begin.after(symbols.cast_unsigned());
        let passed = self.since.map_or(u32::MAX, |since| at.count().wrapping_sub(since.count()));
        self.corrections += symbols.clamp(-MOST_CORRECTION, MOST_CORRECTION);
        if passed < LEARNING {
            return;
        }
        if passed < FORGETTING {
            let corrections = self.corrections.clamp(-MOST_CORRECTION, MOST_CORRECTION);
            let found = (corrections << 24) / passed.cast_signed();
            // One symbol in four seconds is four parts in a million.
            self.drift += if self.judged == 0 { found } else { found / 4 };
            self.drift = self.drift.clamp(-MOST_DRIFT, MOST_DRIFT);
            self.judged = self.judged.saturating_add(1);
        }
        (self.since, self.corrections) = (Some(at), 0);
    }

    /// From now on corrections come from another clock.
    pub(super) fn follow_another(&mut self) {
        self.since = None;
    }

    /// Whether its drift was judged several times.
    pub(super) const fn is_steady(&self) -> bool {
        self.judged > 3
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_learns_how_fast_it_is() {
        for ppm in [-80i64, -3, 0, 25, 80] {
            let asn = |number| Asn::new(number).unwrap();
            let mut clock = SlotClock::new(asn(0), Symbols::new(7));
            // Where the slot begins on the own clock.
            let truth = |slot: u64| 7 + (slot * 625) as i64 + (slot * 625) as i64 * ppm / 1_000_000;
            let error =
                |clock: &SlotClock, slot| i64::from(clock.begin_of(asn(slot), 625).count()) - truth(slot);
            for slot in (0..40_000).step_by(37) {
                clock.advance(asn(slot), 625);
                if slot % (37 * 11) == 0 {
                    let error = error(&clock, slot);
                    clock.correct(Symbols::new(truth(slot) as u32), -error as i32);
                }
            }
            assert!(clock.is_steady());
            let from = clock.asn.number();
            assert!(error(&clock, from + 1000).abs() <= 4, "{ppm}: after ten seconds");
        }
    }
}

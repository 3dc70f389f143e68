//! Which slot it is, by the device's own clock.

use sixlock_base::Symbols;
use sixlock_ieee802154::enhanced::Asn;

/// One slot's number and when it begins, from which the others follow.
#[derive(Clone, Copy)]
pub(super) struct SlotClock {
    pub(super) asn: Asn,
    pub(super) begin: Symbols,
}

impl SlotClock {
    /// When a slot that is not before this one, and at most seven hours after it, begins; one slot is `length` symbols.
    pub(super) fn begin_of(&self, asn: Asn, length: u32) -> Symbols {
        let slots = asn.number().saturating_sub(self.asn.number());
        self.begin.after((slots as u32).wrapping_mul(length))
    }

    /// Counts on to a slot.
    pub(super) fn advance(&mut self, asn: Asn, length: u32) {
        self.begin = self.begin_of(asn, length);
        self.asn = asn;
    }

    /// Moves all slots by so many symbols.
    pub(super) fn correct(&mut self, symbols: i32) {
        self.begin = self.begin.after(symbols.cast_unsigned());
    }
}

use core::net::Ipv6Addr;

use sixlock_base::{Nv, NvError, NvSlot};

use crate::lifetime::Expiry;
use crate::replay::ReplayWindow;
use crate::{ConfigError, Mode, OutboundError, Protocol, SequenceNumber, Transform};

/// A security association, before it is used: in one direction, under keys of its own. It lasts as long as `L` says: a
/// [`Lifetime`](crate::Lifetime), or `()` for as long as its host does.
pub struct Association<T, L = ()> {
    /// The security parameters index, not 0. The reserved ones, from 1 to 255, may be used where both ends agree.
    pub spi: u32,
    /// Transport or tunnel.
    pub mode: Mode,
    /// Whether sequence numbers have 64 bits
    /// ([RFC 4303 section 2.2.1](https://www.rfc-editor.org/rfc/rfc4303#section-2.2.1)).
    pub extended: bool,
    /// When it ends.
    pub lifetime: L,
    /// An address that packets that come in must have beside the index: the destination, if that is a multicast group, or else
    /// the source, if several senders use an index that header compression elides
    /// ([RFC 4301 section 4.1](https://www.rfc-editor.org/rfc/rfc4301#section-4.1)).
    pub address: Option<Ipv6Addr>,
    /// AH or ESP.
    pub transform: T,
}

impl<T, L> Association<T, L> {
    /// Whether packets with these belong to it. `address` is the destination if that is a multicast group, or else the source.
    pub(crate) fn is<C>(&self, protocol: Protocol, spi: u32, address: &Ipv6Addr) -> bool
    where
        T: Transform<C>,
    {
        self.spi == spi
            && self.transform.protocol() == protocol
            && self.address.as_ref().map_or(!address.is_multicast(), |own| own == address)
    }

    /// The mode; always transport if tunnels are not linked.
    pub(crate) fn mode<C>(&self) -> Mode
    where
        T: Transform<C>,
    {
        if T::FEATURES.tunnels { self.mode } else { Mode::Transport }
    }

    /// Whether its parameters are valid, and what they need is linked.
    pub(crate) fn check<C>(&self) -> Result<(), ConfigError>
    where
        T: Transform<C>,
    {
        if self.spi == 0 {
            return Err(ConfigError::ReservedSpi);
        }
        let is_linked = T::FEATURES.tunnels || self.mode == Mode::Transport;
        if is_linked { Ok(()) } else { Err(ConfigError::NotLinked) }
    }
}

/// An association under which packets go out.
pub(crate) struct Outbound<T, L: Expiry> {
    pub(crate) association: Association<T, L>,
    pub(crate) usage: L::Usage,
    /// The last sequence number taken. The first of all is one.
    last: SequenceNumber,
    /// How many numbers after it are reserved.
    reserved: u16,
}

/// Sequence numbers are reserved in blocks of 2^10: a reboot skips at most one block.
const BLOCK_BITS: u32 = 10;

impl<T, L: Expiry> Outbound<T, L> {
    pub(crate) fn new(association: Association<T, L>) -> Self {
        Self { association, usage: L::Usage::default(), last: SequenceNumber::default(), reserved: 0 }
    }

    /// Its replacement, which goes on counting where this one is.
    pub(crate) fn replaced_by(&self, association: Association<T, L>) -> Self {
        Self { last: self.last, reserved: self.reserved, ..Self::new(association) }
    }

    /// Takes the next sequence number
    /// ([RFC 4303 section 3.3.3](https://www.rfc-editor.org/rfc/rfc4303#section-3.3.3)).
    #[inline(always)]
    pub(crate) fn number(&mut self, nv: &mut impl Nv) -> Result<SequenceNumber, OutboundError> {
        if self.reserved == 0 {
            let block = nv.reserve(NvSlot::IpsecSequence, 1).map_err(|error| match error {
                NvError::Exhausted => OutboundError::SequenceExhausted,
                NvError::Storage => OutboundError::Storage,
            })?;
            self.last = SequenceNumber::new(block >> (32 - BLOCK_BITS), block << BLOCK_BITS);
            self.reserved = 1 << BLOCK_BITS;
        }
        let number = self.last.next();
        if number.high != 0 && !self.association.extended {
            return Err(OutboundError::SequenceExhausted);
        }
        self.last = number;
        self.reserved -= 1;
        Ok(number)
    }
}

/// An association under which packets come in, with a replay window of `WINDOW` × 8 packets.
pub(crate) struct Inbound<T, L: Expiry, const WINDOW: usize> {
    pub(crate) association: Association<T, L>,
    pub(crate) usage: L::Usage,
    window: ReplayWindow<WINDOW>,
}

impl<T, L: Expiry, const WINDOW: usize> Inbound<T, L, WINDOW> {
    pub(crate) fn new(association: Association<T, L>) -> Self {
        Self { association, usage: L::Usage::default(), window: ReplayWindow::new() }
    }

    /// The whole number of a packet that carries `low`, if it may still be accepted.
    pub(crate) fn fresh(&self, low: u32) -> Option<SequenceNumber> {
        self.window.fresh(low).filter(|number| number.high == 0 || self.association.extended)
    }

    /// Remembers an authentic packet.
    pub(crate) fn accept(&mut self, number: SequenceNumber) {
        self.window.accept(number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixlock_testing::Ranges;

    fn association(extended: bool) -> Outbound<(), ()> {
        let mode = Mode::Transport;
        Outbound::new(Association { spi: 256, mode, extended, lifetime: (), address: None, transform: () })
    }

    #[test]
    fn numbers_begin_with_one_and_never_repeat_across_associations_and_reboots() {
        let mut nv = Ranges::default();
        let mut last = SequenceNumber::default();
        for boot in 0..5 {
            let mut outbound = association(false);
            for n in 0..1500 * boot {
                let number = outbound.number(&mut nv).unwrap();
                assert!(number > last);
                assert!(boot > 1 || n >= 1024 || number.low == n + 1);
                last = number;
            }
        }
        assert_eq!(last.low, 1024 * (2 + 3 + 5) + 6000);
        assert_eq!(nv.next(NvSlot::LinkFrameCounter), 0);
    }

    #[test]
    fn numbers_go_on_beyond_32_bits_only_if_they_are_extended() {
        let before = |nv: u32, extended| {
            let mut nv = Ranges::starting_at(NvSlot::IpsecSequence, nv);
            let mut outbound = association(extended);
            let mut numbers = core::iter::repeat_with(|| outbound.number(&mut nv));
            let last = numbers.by_ref().nth(1022).unwrap();
            (last, numbers.next().unwrap(), numbers.next().unwrap())
        };
        let last = SequenceNumber::new(0, u32::MAX);
        let [after, behind] = [0, 1].map(|low| Ok(SequenceNumber::new(1, low)));
        let exhausted = Err(OutboundError::SequenceExhausted);
        assert_eq!(before((1 << 22) - 1, true), (Ok(last), after, behind));
        assert_eq!(before((1 << 22) - 1, false), (Ok(last), exhausted, exhausted));
        assert_eq!(before(u32::MAX - 1, true).2, exhausted);
        let crossing = [0xffff, 0x1_0000, 0x1_0001].map(|low| Ok(SequenceNumber::new(0, low)));
        assert_eq!(before(63, false), crossing.into());
    }
}

//! One datagram put together from fragments in any order
//! ([RFC 4944 section 5.3](https://www.rfc-editor.org/rfc/rfc4944#section-5.3)).

use core::ops::Range;

use sixlock_base::Instant;
use sixlock_sixlowpan::ipsec::Context;
use sixlock_sixlowpan::{
    ElidedChecksum, Error, FragmentHeader, LinkAddresses, MAX_DATAGRAM, decompress_with,
};

/// A datagram of which some fragments are here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reassembly {
    pub(crate) tag: u16,
    pub(crate) deadline: Instant,
    /// Where a UDP checksum is to be computed at the end.
    pub(crate) elided_checksum: Option<ElidedChecksum>,
    /// Length of the first fragment as it came, compressed.
    first_len: u16,
    units: Units,
}

/// What a fragment did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// More are missing.
    Incomplete,
    /// It was the last one missing.
    Complete,
    /// It overlaps with another without being the same.
    Conflict,
    /// It cannot be part of any datagram.
    Malformed,
    /// It carries the last bits of a sequence number only, and those before are not known.
    UnknownSequence,
}

impl Reassembly {
    pub(crate) const fn new(tag: u16, deadline: Instant) -> Self {
        Self { tag, deadline, elided_checksum: None, first_len: 0, units: Units::new() }
    }

    /// Adds the fragment `payload`, which stands behind `header`, to `datagram`, which is as long as the
    /// header says.
    pub(crate) fn add(
        &mut self,
        context: &impl Context,
        header: FragmentHeader,
        link: LinkAddresses,
        payload: &[u8],
        datagram: &mut [u8],
    ) -> Outcome {
        let added = if header.offset == 0 {
            self.add_first(context, link, payload, datagram)
        } else {
            self.add_subsequent(usize::from(header.offset), payload, datagram)
        };
        match added {
            Ok(()) if self.units.count() == units(0..datagram.len()).len() => Outcome::Complete,
            Ok(()) => Outcome::Incomplete,
            Err(outcome) => outcome,
        }
    }

    fn add_first(
        &mut self,
        context: &impl Context,
        link: LinkAddresses,
        payload: &[u8],
        datagram: &mut [u8],
    ) -> Result<(), Outcome> {
        if self.units.begins(0) {
            let same = usize::from(self.first_len) == payload.len();
            return if same { Ok(()) } else { Err(Outcome::Conflict) };
        }
        // Headers are restored into the gap before the first fragment that is here: what does not fit overlaps.
        let size = datagram.len();
        let gap = (self.units.first() * 8).min(size);
        let overlong = if gap < size { Outcome::Conflict } else { Outcome::Malformed };
        let gap = datagram.get_mut(..gap).ok_or(Outcome::Malformed)?;
        let datagram_size = u16::try_from(size).map_err(|_| Outcome::Malformed)?;
        let headers = decompress_with(context, payload, link, Some(datagram_size), gap);
        let headers = headers.map_err(|error| match error {
            Error::BufferTooSmall => overlong,
            Error::UnknownSequence => Outcome::UnknownSequence,
            _ => Outcome::Malformed,
        })?;
        let verbatim = payload.get(headers.consumed..).ok_or(Outcome::Malformed)?;
        let end = headers.written + verbatim.len();
        let room = gap.get_mut(headers.written..end).ok_or(overlong)?;
        room.copy_from_slice(verbatim);
        if !fragment_may_end(end, size) {
            return Err(Outcome::Malformed);
        }
        self.elided_checksum = headers.elided_checksum;
        self.first_len = u16::try_from(payload.len()).map_err(|_| Outcome::Malformed)?;
        self.units.insert(units(0..end));
        Ok(())
    }

    fn add_subsequent(&mut self, offset: usize, payload: &[u8], datagram: &mut [u8]) -> Result<(), Outcome> {
        let size = datagram.len();
        let end = offset + payload.len();
        let place = datagram.get_mut(offset..end).ok_or(Outcome::Malformed)?;
        if payload.is_empty() || !fragment_may_end(end, size) {
            return Err(Outcome::Malformed);
        }
        let covered = units(offset..end);
        if self.units.is_free(covered.clone()) {
            place.copy_from_slice(payload);
            self.units.insert(covered);
            Ok(())
        } else if self.units.is_fragment(covered) && place == payload {
            Ok(())
        } else {
            Err(Outcome::Conflict)
        }
    }
}

/// All fragments but the last end at a multiple of 8 bytes.
fn fragment_may_end(end: usize, size: usize) -> bool {
    end == size || end.is_multiple_of(8)
}

/// The units of 8 bytes that `bytes` covers.
fn units(bytes: Range<usize>) -> Range<usize> {
    bytes.start / 8..bytes.end.div_ceil(8)
}

const MAX_UNITS: usize = MAX_DATAGRAM.div_ceil(8);

/// Which units of 8 bytes are here, and which of them begin a fragment.
#[derive(Clone, Copy, Debug)]
struct Units {
    here: [u8; MAX_UNITS / 8],
    begins: [u8; MAX_UNITS / 8],
}

impl Units {
    const fn new() -> Self {
        Self { here: [0; MAX_UNITS / 8], begins: [0; MAX_UNITS / 8] }
    }

    fn is_here(&self, unit: usize) -> bool {
        bit(&self.here, unit)
    }

    fn begins(&self, unit: usize) -> bool {
        bit(&self.begins, unit)
    }

    fn is_free(&self, mut units: Range<usize>) -> bool {
        !units.any(|unit| self.is_here(unit))
    }

    /// Whether `units` are exactly one fragment that is here.
    fn is_fragment(&self, units: Range<usize>) -> bool {
        let ends = !self.is_here(units.end) || self.begins(units.end);
        let all_here = units.clone().all(|unit| self.is_here(unit));
        let begin = units.start;
        all_here && ends && units.into_iter().all(|unit| self.begins(unit) == (unit == begin))
    }

    fn insert(&mut self, units: Range<usize>) {
        set(&mut self.begins, units.start);
        for unit in units {
            set(&mut self.here, unit);
        }
    }

    /// The first unit that is here, or one behind the last possible.
    fn first(&self) -> usize {
        (0..MAX_UNITS).find(|&unit| self.is_here(unit)).unwrap_or(MAX_UNITS)
    }

    fn count(&self) -> usize {
        self.here.iter().map(|byte| byte.count_ones() as usize).sum()
    }
}

fn bit(bits: &[u8], at: usize) -> bool {
    bits.get(at / 8).is_some_and(|byte| byte >> (at % 8) & 1 == 1)
}

fn set(bits: &mut [u8], at: usize) {
    if let Some(byte) = bits.get_mut(at / 8) {
        *byte |= 1 << (at % 8);
    }
}

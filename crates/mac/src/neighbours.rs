use sixlock_base::{Array, Eui64, New, Symbols};

/// How long after its last copy a sequence number marks a frame as a repetition, in symbols
/// (one second). Even with the longest backoffs the next copy comes sooner; another frame that
/// happens to carry the same of 256 numbers comes later.
const REPETITION: u32 = 62_500;

/// The same where frames are sent in slots (128 seconds): three back-offs of up to 32 slotframes of a second lie between them.
pub(crate) const SLOTTED_REPETITION: u32 = 8_000_000;

/// What is remembered of the last frame of a neighbour.
#[derive(Clone, Copy)]
pub struct Neighbour {
    address: Eui64,
    sequence: u8,
    heard: Symbols,
    /// The frame counter, or 0 if frames are not secured.
    frame_counter: u32,
}

impl New for Neighbour {
    const NEW: Self = Self { address: Eui64([0; 8]), sequence: 0, heard: Symbols::new(0), frame_counter: 0 };
}

/// How a frame compares with the last one accepted from its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Freshness {
    /// It is new.
    Fresh,
    /// It is the same frame once more.
    Duplicate,
    /// Its frame counter has been used.
    Replayed,
}

/// The neighbours that frames were accepted from, the last heard first.
///
/// When the table is full, a new neighbour takes the place of the one not heard for longest,
/// unless frames are secured: then forgetting a frame counter would let an old frame pass as
/// new, so the new neighbour is refused. Only an authentic frame gets its sender in.
pub(crate) struct Neighbours<A> {
    entries: A,
    len: u16,
}

impl<A: Array<Neighbour>> Neighbours<A> {
    const FITS: () =
        assert!(A::LEN > 0 && A::LEN <= u16::MAX as usize, "a neighbour table holds 1 to 65,535 entries");

    pub(crate) const fn new() -> Self {
        let () = Self::FITS;
        Self { entries: A::NEW, len: 0 }
    }

    const fn is_full(&self) -> bool {
        self.len as usize == A::LEN
    }

    fn known(&self) -> &[Neighbour] {
        &self.entries.as_ref()[..self.len as usize]
    }

    fn position(&self, address: Eui64) -> Option<usize> {
        self.known().iter().position(|neighbour| neighbour.address == address)
    }

    fn get(&self, address: Eui64) -> Option<&Neighbour> {
        self.position(address).map(|n| &self.entries.as_ref()[n])
    }

    /// Whether a secured frame from `address` could be remembered.
    pub(crate) fn can_remember(&self, address: Eui64) -> bool {
        !self.is_full() || self.position(address).is_some()
    }

    /// How an unsecured frame compares with the last one (7.5.6.2).
    pub(crate) fn unsecured(&self, address: Eui64, sequence: u8, at: Symbols) -> Freshness {
        self.repeated(address, sequence, at, REPETITION)
    }

    /// How a frame compares with the last one by its sequence number, which marks a repetition for so many symbols.
    pub(crate) fn repeated(&self, address: Eui64, sequence: u8, at: Symbols, within: u32) -> Freshness {
        match self.get(address) {
            Some(last)
                if last.sequence == sequence && at.count().wrapping_sub(last.heard.count()) < within =>
            {
                Freshness::Duplicate
            }
            _ => Freshness::Fresh,
        }
    }

    /// How a secured frame compares with the last one (7.5.8.2.3).
    pub(crate) fn secured(&self, address: Eui64, sequence: u8, frame_counter: u32) -> Freshness {
        match self.get(address) {
            Some(last) if last.frame_counter == frame_counter && last.sequence == sequence => {
                Freshness::Duplicate
            }
            Some(last) if last.frame_counter >= frame_counter => Freshness::Replayed,
            _ => Freshness::Fresh,
        }
    }

    /// The neighbour that a frame was last accepted from, and the counter of that frame.
    pub(crate) fn latest(&self) -> Option<(Eui64, u32)> {
        let latest = self.known().first()?;
        Some((latest.address, latest.frame_counter))
    }

    /// Remembers that frames with counters up to this one were accepted from `address`; whether there was room.
    pub(crate) fn restore(&mut self, address: Eui64, frame_counter: u32) -> bool {
        if !self.can_remember(address) {
            return false;
        }
        if self.get(address).is_none_or(|known| known.frame_counter < frame_counter) {
            self.remember(address, 0, Symbols::new(0), frame_counter);
        }
        true
    }

    /// Remembers an accepted frame.
    pub(crate) fn remember(&mut self, address: Eui64, sequence: u8, at: Symbols, frame_counter: u32) {
        let place = match self.position(address) {
            Some(place) => place,
            None if self.is_full() => A::LEN - 1,
            None => {
                self.len += 1;
                self.entries.make_room(self.len.into());
                self.len as usize - 1
            }
        };
        let entries = self.entries.as_mut();
        entries.copy_within(..place, 1);
        entries[0] = Neighbour { address, sequence, heard: at, frame_counter };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(n: u32) -> Eui64 {
        Eui64::of_node(n)
    }

    #[test]
    fn a_sequence_number_repeats_for_a_second() {
        let mut neighbours = Neighbours::<[Neighbour; 2]>::new();
        let start = Symbols::new(u32::MAX - 10);
        assert_eq!(neighbours.unsecured(address(1), 7, start), Freshness::Fresh);
        neighbours.remember(address(1), 7, start, 0);
        assert_eq!(neighbours.unsecured(address(1), 7, start.after(REPETITION - 1)), Freshness::Duplicate);
        assert_eq!(neighbours.unsecured(address(1), 7, start.after(REPETITION)), Freshness::Fresh);
        assert_eq!(neighbours.unsecured(address(1), 8, start), Freshness::Fresh);
        assert_eq!(neighbours.unsecured(address(2), 7, start), Freshness::Fresh);
    }

    #[test]
    fn a_frame_counter_only_goes_up() {
        let mut neighbours = Neighbours::<[Neighbour; 2]>::new();
        assert_eq!(neighbours.secured(address(1), 7, 0), Freshness::Fresh);
        neighbours.remember(address(1), 7, Symbols::new(0), 100);
        assert_eq!(neighbours.secured(address(1), 7, 100), Freshness::Duplicate);
        assert_eq!(neighbours.secured(address(1), 8, 100), Freshness::Replayed);
        assert_eq!(neighbours.secured(address(1), 7, 99), Freshness::Replayed);
        assert_eq!(neighbours.secured(address(1), 7, 101), Freshness::Fresh);
        assert_eq!(neighbours.secured(address(2), 7, 0), Freshness::Fresh);
    }

    #[test]
    fn the_neighbour_not_heard_for_longest_gives_way() {
        let mut neighbours = Neighbours::<[Neighbour; 3]>::new();
        let at = Symbols::new(0);
        for n in [1, 2, 3, 1] {
            assert!(neighbours.can_remember(address(n)));
            neighbours.remember(address(n), 7, at, 0);
        }
        assert!(!neighbours.can_remember(address(4)));
        neighbours.remember(address(4), 7, at, 0);
        for (n, freshness) in [
            (1, Freshness::Duplicate),
            (2, Freshness::Fresh),
            (3, Freshness::Duplicate),
            (4, Freshness::Duplicate),
        ] {
            assert_eq!(neighbours.unsecured(address(n), 7, at), freshness, "{n}");
        }
    }
}

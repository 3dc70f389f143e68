//! Indirect transmission (7.5.6.3): what a device has for a neighbour whose
//! receiver is off waits until that neighbour asks for it by a data request.

use sixlock_base::{Array, Eui64, New, Slot, Symbols};

/// The command frame identifier of a data request (7.3.4).
pub(crate) const DATA_REQUEST: u8 = 4;

/// For how many symbols after its last data request a neighbour counts as asleep: ten minutes. Then frames are sent to it at once, as to any
/// other, and its place in the table is free.
const REMEMBERED: u32 = 37_500_000;

/// A neighbour whose receiver is off when it has nothing to do.
#[derive(Clone, Copy)]
pub struct Sleeper {
    address: Eui64,
    /// When it asked last.
    asked: Symbols,
    /// Until when it listens for a frame.
    listens_until: Symbols,
    /// The sequence number of the frame that was made for it then, until that has an outcome: it listens for no other.
    frame: Slot<u8>,
    /// What it was told of that frames to all tell others.
    advertised: Slot<u32>,
    /// Whether nobody has looked yet for what waits for it.
    asks: bool,
}

impl New for Sleeper {
    const NEW: Self = Self {
        address: Eui64([0; 8]),
        asked: Symbols::new(0),
        listens_until: Symbols::new(0),
        frame: Slot::Empty,
        advertised: Slot::Empty,
        asks: false,
    };
}

/// The neighbours that have asked for frames. When the table is full, a newcomer takes the place of one that has not asked for ten minutes;
/// if there is none, it is told that nothing waits for it, and frames to it are sent at once.
pub(crate) struct Sleepers<A> {
    entries: A,
    len: u16,
}

impl<A: Array<Sleeper>> Sleepers<A> {
    const FITS: () =
        assert!(A::LEN <= u16::MAX as usize, "a table of sleeping neighbours holds at most 65,535");

    /// Whether there are such neighbours at all.
    pub(crate) const LINKED: bool = A::LEN > 0;

    pub(crate) const fn new() -> Self {
        let () = Self::FITS;
        Self { entries: A::NEW, len: 0 }
    }

    /// Whether no neighbour has asked yet.
    pub(crate) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn find(&mut self, matches: impl Fn(&Sleeper) -> bool) -> Option<&mut Sleeper> {
        let known = self.entries.as_mut().get_mut(..usize::from(self.len))?;
        known.iter_mut().find(|sleeper| matches(sleeper))
    }

    /// A neighbour has asked at `at` for what waits for it; false if there is no room for it.
    pub(crate) fn ask(&mut self, address: Eui64, at: Symbols) -> bool {
        let entry = Sleeper { address, asked: at, listens_until: at, asks: true, ..Sleeper::NEW };
        if let Some(known) = self.find(|sleeper| sleeper.address == address) {
            *known = Sleeper { frame: known.frame, advertised: known.advertised, ..entry };
        } else if usize::from(self.len) < A::LEN {
            self.len += 1;
            self.entries.make_room(self.len.into());
            if let Some(place) = self.entries.as_mut().get_mut(usize::from(self.len) - 1) {
                *place = entry;
            }
        } else if let Some(forgotten) = self.find(|sleeper| sleeper.is_forgotten(at)) {
            *forgotten = entry;
        } else {
            return false;
        }
        true
    }

    /// A neighbour that has asked, once each.
    pub(crate) fn take_asking(&mut self) -> Option<Eui64> {
        let sleeper = self.find(|sleeper| sleeper.asks)?;
        sleeper.asks = false;
        Some(sleeper.address)
    }

    /// A neighbour listens for a frame until then.
    pub(crate) fn listens(&mut self, address: Eui64, until: Symbols) {
        if let Some(sleeper) = self.find(|sleeper| sleeper.address == address) {
            sleeper.listens_until = until;
        }
    }

    /// The frame of that number was made for a neighbour that listens at `at`.
    pub(crate) fn serve(&mut self, address: Eui64, sequence: u8, at: Symbols) {
        if let Some(sleeper) = self.find(|sleeper| sleeper.address == address)
            && !at.has_reached(sleeper.listens_until)
        {
            sleeper.frame = Slot::Full(sequence);
        }
    }

    /// That frame has its outcome. When it is lost, it may have told something.
    pub(crate) fn served(&mut self, address: Eui64, sequence: u8, is_delivered: bool) {
        if let Some(sleeper) = self.find(|sleeper| sleeper.is_served(address, sequence)) {
            sleeper.frame = Slot::Empty;
            // That has passed.
            sleeper.listens_until = sleeper.asked;
            if !is_delivered {
                sleeper.advertised = Slot::Empty;
            }
        }
    }

    /// Whether a neighbour is there, and was not told of this.
    pub(crate) fn is_news(&self, address: Eui64, news: u32) -> bool {
        self.known()
            .iter()
            .any(|sleeper| sleeper.address == address && sleeper.advertised.get() != Some(&news))
    }

    /// It is told.
    pub(crate) fn tell(&mut self, address: Eui64, news: u32) {
        if let Some(sleeper) = self.find(|sleeper| sleeper.address == address) {
            sleeper.advertised = Slot::Full(news);
        }
    }

    /// Whether a frame is there that was made for this neighbour.
    pub(crate) fn has_frame(&self, address: Eui64) -> bool {
        self.known().iter().any(|sleeper| sleeper.address == address && sleeper.frame.is_full())
    }

    /// Whether the frame of that number was made for a neighbour that does not listen at `at` any more: it stays until that asks again
    /// (7.5.6.4.3).
    pub(crate) fn is_late(&self, address: Eui64, sequence: u8, at: Symbols) -> bool {
        self.known().iter().any(|sleeper| {
            sleeper.is_served(address, sequence)
                && at.has_reached(sleeper.listens_until)
                && !sleeper.is_forgotten(at)
        })
    }

    /// Whether a frame to `address` has to wait at `at` until that neighbour asks for it.
    pub(crate) fn is_asleep(&self, address: Eui64, at: Symbols) -> bool {
        self.known().iter().any(|sleeper| {
            sleeper.address == address
                && (sleeper.frame.is_full() || at.has_reached(sleeper.listens_until))
                && !sleeper.is_forgotten(at)
        })
    }

    fn known(&self) -> &[Sleeper] {
        self.entries.as_ref().get(..usize::from(self.len)).unwrap_or_default()
    }
}

impl Sleeper {
    fn is_served(&self, address: Eui64, sequence: u8) -> bool {
        self.address == address && self.frame.get() == Some(&sequence)
    }

    fn is_forgotten(&self, at: Symbols) -> bool {
        at.count().wrapping_sub(self.asked.count()) >= REMEMBERED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(n: u32) -> Eui64 {
        Eui64::of_node(n)
    }

    #[test]
    fn a_neighbour_is_asleep_from_its_data_request_on_but_while_it_listens_and_when_it_has_gone() {
        let mut sleepers = Sleepers::<[Sleeper; 2]>::new();
        let at = Symbols::new(u32::MAX - 5);
        assert!(!sleepers.is_asleep(address(1), at));
        assert!(sleepers.ask(address(1), at));
        assert_eq!((sleepers.take_asking(), sleepers.take_asking()), (Some(address(1)), None));
        assert!(sleepers.is_asleep(address(1), at));
        assert!(!sleepers.is_asleep(address(2), at));
        sleepers.listens(address(1), at.after(100));
        assert!(!sleepers.is_asleep(address(1), at.after(99)));
        assert!(sleepers.is_asleep(address(1), at.after(100)));
        sleepers.listens(address(1), at.after(200));
        sleepers.serve(address(1), 7, at.after(120));
        assert!(sleepers.is_asleep(address(1), at.after(121)), "it listens for one frame");
        assert!(
            !sleepers.is_late(address(1), 7, at.after(199)) && sleepers.is_late(address(1), 7, at.after(200))
        );
        assert!(!sleepers.is_late(address(1), 8, at.after(200)));
        assert!(sleepers.ask(address(1), at) && sleepers.has_frame(address(1)), "it asks for it again");
        sleepers.listens(address(1), at.after(300));
        assert!(!sleepers.is_late(address(1), 7, at.after(299)));
        assert!(!sleepers.is_late(address(1), 7, at.after(REMEMBERED)));
        sleepers.served(address(1), 7, true);
        assert!(!sleepers.is_late(address(1), 7, at.after(300)) && !sleepers.has_frame(address(1)));
        assert!(
            sleepers.is_asleep(address(1), at.after(200)),
            "it has got the frame that it has listened for"
        );
        sleepers.serve(address(1), 8, at.after(300));
        assert!(!sleepers.has_frame(address(1)), "it does not listen");
        assert!(sleepers.is_asleep(address(1), at.after(REMEMBERED - 1)));
        assert!(!sleepers.is_asleep(address(1), at.after(REMEMBERED)));
    }

    #[test]
    fn a_neighbour_is_told_once_unless_a_frame_to_it_is_lost() {
        let mut sleepers = Sleepers::<[Sleeper; 2]>::new();
        let at = Symbols::new(7);
        assert!(!sleepers.is_news(address(1), 3), "it does not sleep");
        assert!(sleepers.ask(address(1), at) && sleepers.is_news(address(1), 3));
        sleepers.tell(address(1), 3);
        assert!(sleepers.ask(address(1), at.after(9)));
        assert!(!sleepers.is_news(address(1), 3) && sleepers.is_news(address(1), 4));
        for (is_delivered, is_news) in [(true, false), (false, true)] {
            sleepers.listens(address(1), at.after(20));
            sleepers.serve(address(1), 9, at.after(10));
            sleepers.served(address(1), 9, is_delivered);
            assert_eq!(sleepers.is_news(address(1), 3), is_news);
        }
    }

    #[test]
    fn when_the_table_is_full_only_one_that_has_gone_gives_way() {
        let mut sleepers = Sleepers::<[Sleeper; 2]>::new();
        let at = Symbols::new(7);
        assert!(sleepers.ask(address(1), at) && sleepers.ask(address(2), at.after(9)));
        assert!(!sleepers.ask(address(3), at.after(REMEMBERED - 1)));
        assert!(sleepers.ask(address(3), at.after(REMEMBERED)));
        assert!(!sleepers.ask(address(1), at.after(REMEMBERED)));
        assert!(sleepers.is_asleep(address(3), at.after(REMEMBERED)));
        assert!(sleepers.is_asleep(address(2), at.after(REMEMBERED)));
    }
}

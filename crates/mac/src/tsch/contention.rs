//! Whose turn it is in links that several send in.

use sixlock_base::{Entropy, Eui64};

use crate::Csma;

/// Neighbours that were sent to in vain, at most.
const NEIGHBOURS: usize = 8;

/// The largest exponent of the standard.
const MAX_BE: u8 = 8;

/// A neighbour to which a frame was sent in vain.
#[derive(Clone, Copy)]
struct Failed {
    neighbour: Eui64,
    exponent: u8,
    /// So many links to it are left to others.
    skips: u16,
}

/// The neighbours to which frames were sent in vain, and so to whom others may be sending, too (6.2.5.3).
///
/// When it is full, the one that was there first gives way, and is sent to again without a wait.
pub(super) struct Contention {
    failed: [Option<Failed>; NEIGHBOURS],
}

impl Contention {
    /// None.
    pub(super) const fn new() -> Self {
        Self { failed: [None; NEIGHBOURS] }
    }

    fn find(&mut self, neighbour: Eui64) -> Option<&mut Option<Failed>> {
        self.failed.iter_mut().find(|failed| failed.is_some_and(|failed| failed.neighbour == neighbour))
    }

    /// A link comes to those neighbours of which `is_link` says that it is one to them. Returns to which of them others may send in it.
    pub(super) fn pass(&mut self, is_link: impl Fn(Eui64) -> bool) -> [Option<Eui64>; NEIGHBOURS] {
        let mut left = [None; NEIGHBOURS];
        for (failed, left) in self.failed.iter_mut().flatten().zip(&mut left) {
            if failed.skips > 0 && is_link(failed.neighbour) {
                failed.skips -= 1;
                *left = Some(failed.neighbour);
            }
        }
        left
    }

    /// A frame to a neighbour was acknowledged.
    pub(super) fn succeed(&mut self, neighbour: Eui64) {
        if let Some(failed) = self.find(neighbour) {
            *failed = None;
        }
    }

    /// One was not: the next goes by the same rules as others' frames to it.
    pub(super) fn fail<E: Entropy>(&mut self, neighbour: Eui64, csma: &Csma, entropy: &mut E) {
        let known = self.find(neighbour).and_then(Option::take);
        let exponent = known.map_or(csma.min_be, |known| known.exponent).min(MAX_BE);
        let skips = (entropy.next_u32() % (1 << exponent)) as u16;
        let exponent = exponent.saturating_add(1).min(csma.max_be);
        let free = self.failed.iter().position(Option::is_none);
        let last = free.unwrap_or(NEIGHBOURS - 1);
        self.failed[..=last].rotate_right(1);
        self.failed[0] = Some(Failed { neighbour, exponent, skips });
    }
}

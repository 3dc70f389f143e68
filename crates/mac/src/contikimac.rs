//! ContikiMAC: the radio is off but for two assessments of the channel in each cycle, and who sends repeats a frame until the
//! neighbour wakes up and acknowledges it.
//!
//! A. Dunkels, "The ContikiMAC Radio Duty Cycling Protocol", SICS Technical Report T2011:13; its times, and what the report leaves open, are those of
//! `core/net/mac/contikimac.c` of Contiki 2.6 and 2.7.

mod duty_cycle;
mod header;
mod phases;
mod strobe;
mod times;

use sixlock_base::{New, Slot, Symbols};

pub use duty_cycle::DutyCycle;
pub use header::{LENGTH as HEADER, unpadded};
pub(crate) use header::{is_data, is_pending, padded};
pub use phases::Phase;
pub use times::Times;

use crate::listening::Listening;

/// Listens as ContikiMAC does, once it is started; until then its radio is always on.
///
/// It remembers of `PHASES` neighbours when they wake up. When there are more, the one that was not sent to for longest is
/// forgotten.
pub struct ContikiMac<const PHASES: usize>(Slot<DutyCycle<[Phase; PHASES]>>);

impl<const PHASES: usize> ContikiMac<PHASES> {
    /// Begins with the cycle at `at`, and wakes up first so many symbols later. Every device of a network has the same [`Times`], but wakes
    /// up at a time of its own: the driver draws one within a cycle.
    ///
    /// With `phase_lock`, a frame is sent just before the neighbour is awaited to wake up, where that is known.
    pub fn start(&mut self, times: Times, phase_lock: bool, at: Symbols, wakes_after: u32) {
        self.0 = Slot::Full(DutyCycle::new(times, phase_lock, at, at.after(wakes_after)));
    }
}

impl<const PHASES: usize> New for ContikiMac<PHASES> {
    const NEW: Self = Self(Slot::Empty);
}

impl<const PHASES: usize> Listening for ContikiMac<PHASES> {
    type Phases = [Phase; PHASES];

    fn duty_cycle(&self) -> Option<&DutyCycle<Self::Phases>> {
        self.0.get()
    }

    fn duty_cycle_mut(&mut self) -> Option<&mut DutyCycle<Self::Phases>> {
        self.0.get_mut()
    }
}

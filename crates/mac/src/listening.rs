use sixlock_base::{Array, New, Slot, Symbols};

use crate::contikimac::{DutyCycle, Phase};
use crate::polling::Polling;

/// When a device listens.
pub trait Listening: New {
    /// The neighbours of which it is remembered when they wake up.
    type Phases: Array<Phase>;

    /// Its duty cycle, if it has one; else its radio is always on.
    fn duty_cycle(&self) -> Option<&DutyCycle<Self::Phases>>;

    /// The same, to be changed.
    fn duty_cycle_mut(&mut self) -> Option<&mut DutyCycle<Self::Phases>>;

    /// Where it stands, if its receiver is off and it polls a neighbour.
    #[inline(always)]
    fn polling(&self) -> Option<&Polling> {
        None
    }

    /// The same, to be changed.
    #[inline(always)]
    fn polling_mut(&mut self) -> Option<&mut Polling> {
        None
    }
}

/// The radio listens whenever it does not send. This takes neither memory nor code.
#[derive(Clone, Copy, Debug)]
pub struct AlwaysOn;

impl New for AlwaysOn {
    const NEW: Self = Self;
}

impl Listening for AlwaysOn {
    type Phases = [Phase; 0];

    #[inline(always)]
    fn duty_cycle(&self) -> Option<&DutyCycle<Self::Phases>> {
        None
    }

    #[inline(always)]
    fn duty_cycle_mut(&mut self) -> Option<&mut DutyCycle<Self::Phases>> {
        None
    }
}

/// The receiver is off, once it is started; until then the radio is always on. For a device that forwards nothing: what others have
/// for it waits until it asks for that.
pub struct Sleepy(Slot<Polling>);

impl Sleepy {
    /// Begins at `at`. From one data request to the next it takes at most `period` symbols, below 2^31.
    ///
    /// The first one follows 125 ms after a frame that this device has sent or got, and each further one after twice that time, as long as
    /// nothing waits for it. Until it has a parent ([`Mac::follow`](crate::Mac::follow)) that answers, and when that does not any more, it searches:
    /// the receiver is on for five minutes at the start, for one when the parent was lost, and then for eight seconds after a frame to all, with
    /// pauses of up to ten minutes.
    pub fn start(&mut self, period: u32, at: Symbols) {
        self.0 = Slot::Full(Polling::new(period, at));
    }
}

impl New for Sleepy {
    const NEW: Self = Self(Slot::Empty);
}

impl Listening for Sleepy {
    type Phases = [Phase; 0];

    fn duty_cycle(&self) -> Option<&DutyCycle<Self::Phases>> {
        None
    }

    fn duty_cycle_mut(&mut self) -> Option<&mut DutyCycle<Self::Phases>> {
        None
    }

    fn polling(&self) -> Option<&Polling> {
        self.0.get()
    }

    fn polling_mut(&mut self) -> Option<&mut Polling> {
        self.0.get_mut()
    }
}

use sixlock_base::{Array, New};

use crate::contikimac::{DutyCycle, Phase};

/// When a device listens.
pub trait Listening: New {
    /// The neighbours of which it is remembered when they wake up.
    type Phases: Array<Phase>;

    /// Its duty cycle, if it has one; else its radio is always on.
    fn duty_cycle(&self) -> Option<&DutyCycle<Self::Phases>>;

    /// The same, to be changed.
    fn duty_cycle_mut(&mut self) -> Option<&mut DutyCycle<Self::Phases>>;
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

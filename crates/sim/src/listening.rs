//! When stations listen, as their scenario says.

use sixlock_base::New;
use sixlock_node::contikimac::{ContikiMac, DutyCycle};
use sixlock_node::mac::{Listening, Polling, Sleepy};

use crate::sizes::PHASES;

/// When a station listens.
pub(crate) enum StationListening {
    Always,
    ContikiMac(Box<ContikiMac<PHASES>>),
    Sleepy(Sleepy),
}

impl New for StationListening {
    const NEW: Self = Self::Always;
}

impl Listening for StationListening {
    type Phases = <ContikiMac<PHASES> as Listening>::Phases;

    fn duty_cycle(&self) -> Option<&DutyCycle<Self::Phases>> {
        match self {
            Self::ContikiMac(contikimac) => contikimac.duty_cycle(),
            Self::Always | Self::Sleepy(_) => None,
        }
    }

    fn duty_cycle_mut(&mut self) -> Option<&mut DutyCycle<Self::Phases>> {
        match self {
            Self::ContikiMac(contikimac) => contikimac.duty_cycle_mut(),
            Self::Always | Self::Sleepy(_) => None,
        }
    }

    fn polling(&self) -> Option<&Polling> {
        match self {
            Self::Sleepy(sleepy) => sleepy.polling(),
            Self::Always | Self::ContikiMac(_) => None,
        }
    }

    fn polling_mut(&mut self) -> Option<&mut Polling> {
        match self {
            Self::Sleepy(sleepy) => sleepy.polling_mut(),
            Self::Always | Self::ContikiMac(_) => None,
        }
    }
}

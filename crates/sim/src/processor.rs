//! What runs a board's tasks.

use sixlock_base::{Counters, Eui64};
use sixlock_emulator::Task;

use crate::emulated::Emulated;
use crate::modelled::Modelled;
use crate::outcome::{Failure, Outcome};

/// What a board's tasks run in.
pub(crate) enum Processor {
    /// An emulator, which counts what they take.
    Emulated(Box<Emulated>),
    /// The simulator itself, which reckons what they would take.
    Modelled(Box<Modelled>),
}

impl Processor {
    /// Whether a frame waits for a neighbour that has to ask for it.
    pub(crate) fn holds_for(&mut self, neighbour: Eui64) -> bool {
        match self {
            // Firmware holds no frames.
            Self::Emulated(_) => false,
            Self::Modelled(modelled) => modelled.holds_for(neighbour),
        }
    }

    /// Runs a task. What happens in it that the simulator can see is added to `counters`.
    pub(crate) fn run(&mut self, task: &Task<'_>, counters: &mut Counters) -> Result<Outcome, Failure> {
        match self {
            Self::Emulated(emulated) => emulated.run(task, counters),
            Self::Modelled(modelled) => Ok(modelled.run(task, counters).0),
        }
    }
}

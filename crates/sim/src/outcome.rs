//! What comes of a board's tasks.

use core::fmt;

use sixlock_emulator::Error;
use sixlock_lockstep::{Command, Exchange};

use crate::time::Span;

/// What came of a task.
pub(crate) struct Outcome {
    /// What the node wants now: nothing, to assess the channel or to transmit.
    pub(crate) command: Command,
    /// Its other wishes, and its news.
    pub(crate) exchange: Exchange,
    /// What the task took: cycles, or instructions on Cortex-M3.
    pub(crate) cost: u64,
    /// How long an engine's jobs kept the CPU busy beside that.
    pub(crate) engine: Span,
    /// How many bytes of it go to non-volatile storage.
    pub(crate) written: u32,
    /// The keys of a session that has opened in it, if they are known.
    pub(crate) keys: Option<SessionKeys>,
}

/// What opens the records of a session.
pub(crate) struct SessionKeys {
    pub(crate) client_random: [u8; 32],
    pub(crate) master_secret: [u8; 48],
}

/// Why a processor runs no more.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The emulator failed, or the firmware in it.
    Emulator(Error),
    /// The node beside an emulated one, which was handed the same, wanted something else.
    Parted {
        /// What it was that they parted at.
        task: String,
    },
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Emulator(error) => error.fmt(f),
            Self::Parted { task } => write!(f, "parts from the native node beside it at {task}"),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Emulator(error)
    }
}

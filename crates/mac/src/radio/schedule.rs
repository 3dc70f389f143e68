//! Where the current transmit frame and the acknowledgement that is owed stand.

use sixlock_base::{Slot, Symbols};
use sixlock_ieee802154::{ACK_FRAME, ack};

use crate::csma::Access;

/// Where the current transmit frame stands.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Step {
    /// There is none.
    Idle,
    /// It is to be sent after an assessment of the channel from a time on, but the radio was not told yet.
    Backoff,
    /// The radio was told, and may still wait for that time.
    Assessing,
    /// The channel is clear: it is to be sent at a time, but the radio was not told yet.
    Turnaround,
    /// The radio was told.
    OnAir,
    /// It waits for its acknowledgement until a time.
    AwaitingAck,
    /// With a duty cycle: it is to be sealed, if it was not, at a time, and then to be sent.
    Unsealed,
    /// A copy is out: the channel is to be assessed at a time, but the radio was not told yet.
    Gap,
    /// The radio was told.
    GapAssessing,
}

/// An acknowledgement owed to a neighbour.
pub(crate) struct OwedAck {
    pub(crate) frame: [u8; ACK_FRAME],
    pub(crate) due: Symbols,
    /// Whether the radio was told to send it.
    pub(crate) on_air: bool,
}

/// The radio's schedule.
pub(crate) struct Radio {
    pub(crate) step: Step,
    /// The time of that step.
    pub(crate) at: Symbols,
    pub(crate) access: Access,
    pub(crate) retries: u8,
    /// When the pause after the last frame ends.
    pub(crate) rested: Symbols,
    pub(crate) owed_ack: Slot<OwedAck>,
    /// Whether the time has come for what the radio is to do next.
    pub(crate) is_due: bool,
}

impl Radio {
    pub(crate) const fn new() -> Self {
        Self {
            step: Step::Idle,
            at: Symbols::new(0),
            access: Access::NONE,
            retries: 0,
            rested: Symbols::new(0),
            owed_ack: Slot::Empty,
            is_due: false,
        }
    }

    /// Schedules the acknowledgement, due a turnaround later, of a frame that ended at `at`.
    ///
    /// The channel assessment or turnaround it interrupts starts over when it has been sent:
    /// it counts neither as a busy channel nor as a transmission. While this device is itself
    /// sending, or owes an acknowledgement already, none is scheduled: the neighbour repeats
    /// its frame.
    pub(crate) fn owe_ack(&mut self, at: Symbols, turnaround: u32, sequence: u8) {
        if self.step == Step::OnAir || self.owed_ack.is_full() {
            return;
        }
        if matches!(self.step, Step::Assessing | Step::Turnaround) {
            // What is left of a backoff still counts; a turnaround is over before the acknowledgement is sent.
            self.step = Step::Backoff;
        }
        self.is_due = false;
        self.owed_ack =
            Slot::Full(OwedAck { frame: ack(sequence), due: at.after(turnaround), on_air: false });
    }

    pub(crate) fn enter(&mut self, step: Step, at: Symbols) {
        (self.step, self.at) = (step, at);
    }

    /// When the radio is to begin with what it was not told yet.
    pub(crate) fn next(&self) -> Option<Symbols> {
        match (self.owed_ack.get(), self.step) {
            (Some(ack), _) => (!ack.on_air).then_some(ack.due),
            (None, Step::Backoff | Step::Turnaround) => Some(self.at),
            _ => None,
        }
    }
}

//! What the radio does, and when: one transmit frame's way through CSMA-CA and its
//! acknowledgement, and the acknowledgements owed to others, which go first.

use sixlock_base::{Counter, Counters, Cx, Entropy, Nv, Slot, Symbols};
use sixlock_crypto::Crypto;
use sixlock_ieee802154::{ACK_FRAME, ack};

use crate::csma::Access;
use crate::{LinkLayer, Mac, Outcome};

/// From receiving to sending and back, in symbols (aTurnaroundTime).
const TURNAROUND: u32 = 12;
/// How long an acknowledgement is waited for, in symbols (macAckWaitDuration).
const ACK_WAIT: u32 = 54;
/// The pause after a short frame, in symbols (macMinSIFSPeriod).
const SHORT_PAUSE: u32 = 12;
/// The pause after a long frame, in symbols (macMinLIFSPeriod).
const LONG_PAUSE: u32 = 40;
/// The longest short frame, in bytes (aMaxSIFSFrameSize).
const SHORT_FRAME: u8 = 18;

/// What the radio is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RadioCommand {
    /// Listen for 8 symbols and tell [`Mac::handle_cca`] whether the channel was clear.
    Cca,
    /// Send [`Mac::transmit_frame`] now and tell [`Mac::handle_transmitted`] when it is out.
    /// A CCA still under way is given up.
    Transmit,
}

/// Where the current transmit frame stands.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Step {
    /// There is none.
    Idle,
    /// Waiting for its turn to assess the channel.
    Backoff(Symbols),
    /// Assessing the channel.
    Assessing,
    /// The channel is clear; the radio turns around to send.
    Turnaround(Symbols),
    /// Being sent.
    OnAir,
    /// Waiting for its acknowledgement.
    AwaitingAck(Symbols),
}

/// An acknowledgement owed to a neighbour.
struct OwedAck {
    frame: [u8; ACK_FRAME],
    due: Symbols,
    on_air: bool,
}

/// The radio's schedule.
pub(crate) struct Radio {
    step: Step,
    access: Access,
    retries: u8,
    /// When the pause after the last frame ends.
    rested: Symbols,
    owed_ack: Slot<OwedAck>,
    command: Slot<RadioCommand>,
}

impl Radio {
    pub(crate) const fn new() -> Self {
        Self {
            step: Step::Idle,
            access: Access::NONE,
            retries: 0,
            rested: Symbols::new(0),
            owed_ack: Slot::Empty,
            command: Slot::Empty,
        }
    }

    /// Schedules the acknowledgement of a frame that ended at `at`.
    ///
    /// The channel assessment or turnaround it interrupts starts over when it has been sent:
    /// it counts neither as a busy channel nor as a transmission. While this device is itself
    /// sending, or owes an acknowledgement already, none is scheduled: the neighbour repeats
    /// its frame.
    pub(crate) fn owe_ack(&mut self, at: Symbols, sequence: u8) {
        if self.step == Step::OnAir || self.owed_ack.is_full() {
            return;
        }
        if matches!(self.step, Step::Assessing | Step::Turnaround(_)) {
            self.step = Step::Backoff(at);
            self.command = Slot::Empty;
        }
        self.owed_ack =
            Slot::Full(OwedAck { frame: ack(sequence), due: at.after(TURNAROUND), on_air: false });
    }

    /// Puts a frame of `len` bytes on the air.
    fn transmit(&mut self, counters: &mut Counters, len: usize) {
        self.command = Slot::Full(RadioCommand::Transmit);
        counters.count(Counter::FramesSent);
        counters.add(Counter::BytesSent, len as u32);
    }
}

impl<C: Crypto, L: LinkLayer> Mac<C, L> {
    /// What the radio is to do next, once.
    pub fn poll_radio(&mut self) -> Option<RadioCommand> {
        self.radio.command.take()
    }

    /// The frame being sent, FCS included.
    pub fn transmit_frame(&self) -> &[u8] {
        match (self.radio.owed_ack.get(), self.queue.current()) {
            (Some(OwedAck { frame, on_air: true, .. }), _) => frame,
            (_, Some(frame)) => frame.bytes(),
            _ => &[],
        }
    }

    /// When to call [`Mac::handle_timeout`]: at once if the driver is late and it has passed.
    pub fn poll_timeout(&self) -> Option<Symbols> {
        let ack = match self.radio.owed_ack.get() {
            Some(OwedAck { on_air: false, due, .. }) => Some(*due),
            _ => None,
        };
        let step = match self.radio.step {
            Step::AwaitingAck(until) => Some(until),
            Step::Backoff(until) | Step::Turnaround(until) if !self.radio.owed_ack.is_full() => Some(until),
            _ => None,
        };
        match (ack, step) {
            (Some(ack), Some(step)) => Some(if ack.has_reached(step) { step } else { ack }),
            (ack, step) => ack.or(step),
        }
    }

    /// Does what is due.
    pub fn handle_timeout<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols) {
        let radio = &mut self.radio;
        if let Some(ack) = radio.owed_ack.get_mut()
            && !ack.on_air
            && at.has_reached(ack.due)
        {
            ack.on_air = true;
            radio.transmit(cx.counters, ACK_FRAME);
        }
        match radio.step {
            Step::AwaitingAck(until) if L::CSMA && at.has_reached(until) => self.retry(cx, at),
            Step::Backoff(until) if !radio.owed_ack.is_full() && at.has_reached(until) => {
                radio.step = Step::Assessing;
                radio.command = Slot::Full(RadioCommand::Cca);
            }
            Step::Turnaround(until) if at.has_reached(until) => {
                radio.step = Step::OnAir;
                radio.transmit(cx.counters, self.queue.current().map_or(0, |frame| frame.bytes().len()));
            }
            _ => {}
        }
    }

    /// Takes in the outcome of a CCA that ended at `at`.
    pub fn handle_cca<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols, clear: bool) {
        if self.radio.step != Step::Assessing {
            // An acknowledgement has come in between.
            return;
        }
        if clear {
            self.radio.step = Step::Turnaround(at.after(TURNAROUND));
        } else if L::CSMA && self.radio.access.busy(&self.csma) {
            self.radio.step = Step::Backoff(at.after(self.radio.access.delay(cx.entropy)));
        } else {
            cx.counters.count(Counter::MacChannelBusy);
            self.finish(cx, at, Outcome::ChannelBusy);
        }
    }

    /// Takes in that the last symbol of [`Mac::transmit_frame`] went out at `at`.
    pub fn handle_transmitted<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols) {
        if self.radio.owed_ack.get().is_some_and(|ack| ack.on_air) {
            self.radio.owed_ack = Slot::Empty;
            // What waited for the acknowledgement may be due.
            self.handle_timeout(cx, at);
        } else if self.radio.step == Step::OnAir {
            if L::CSMA && self.queue.current().is_some_and(|frame| frame.ack_request) {
                self.radio.step = Step::AwaitingAck(at.after(ACK_WAIT));
            } else {
                self.rest(at);
                self.finish(cx, at, Outcome::Delivered);
            }
        }
    }

    /// Takes in the acknowledgement of the frame numbered `sequence`.
    pub(crate) fn handle_ack<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols, sequence: u8) {
        let awaited = L::CSMA
            && matches!(self.radio.step, Step::AwaitingAck(_))
            && self.queue.current().is_some_and(|frame| frame.sequence == sequence);
        if awaited {
            self.rest(at);
            self.finish(cx, at, Outcome::Delivered);
        }
    }

    /// Begins with the next frame, unless one is under way.
    pub(crate) fn begin_frame_if_idle<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols) {
        if self.radio.step == Step::Idle {
            self.begin_frame(cx, at);
        }
    }

    fn begin_frame<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols) {
        if self.queue.current().is_none() {
            self.radio.step = Step::Idle;
            return;
        }
        self.radio.retries = 0;
        let pause = self.radio.rested.count().wrapping_sub(at.count());
        self.begin_access(cx, if pause <= LONG_PAUSE { at.after(pause) } else { at });
    }

    fn begin_access<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols) {
        let mut delay = 0;
        if L::CSMA {
            self.radio.access = Access::new(&self.csma);
            delay = self.radio.access.delay(cx.entropy);
        }
        self.radio.step = Step::Backoff(at.after(delay));
    }

    /// Sends the current frame again, or gives it up (7.5.6.4.3).
    fn retry<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols) {
        if self.radio.retries < self.csma.max_retries {
            self.radio.retries += 1;
            cx.counters.count(Counter::MacRetries);
            self.begin_access(cx, at);
        } else {
            cx.counters.count(Counter::MacNoAck);
            self.finish(cx, at, Outcome::NoAck);
        }
    }

    /// Leaves receivers their time to process the current frame before the next (7.5.1.3).
    fn rest(&mut self, at: Symbols) {
        let short = self.queue.current().is_some_and(|frame| frame.len <= SHORT_FRAME);
        self.radio.rested = at.after(if short { SHORT_PAUSE } else { LONG_PAUSE });
    }

    fn finish<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols, outcome: Outcome) {
        let sent = u8::from(outcome != Outcome::ChannelBusy);
        self.queue.finish(outcome, self.radio.retries.saturating_add(sent));
        self.begin_frame(cx, at);
    }
}

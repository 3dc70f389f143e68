//! What the radio does, and when: one transmit frame's way through CSMA-CA and its
//! acknowledgement, and the acknowledgements owed to others, which go first.

mod schedule;
#[cfg(test)]
mod transitions;

use core::mem::replace;

use sixlock_base::{Counter, Cx, Entropy, Eui64, Nv, Slot, Symbols};
use sixlock_crypto::Crypto;
use sixlock_ieee802154::FrameType;

use crate::csma::{Access, total_wait};
use crate::indirect::DATA_REQUEST;
use crate::layer::RadioCommand;
use crate::listening::Listening as _;
use crate::queue::Frame;
use crate::rules::ChannelAccess as _;
use crate::{LinkLayer, Mac, Outcome};

use schedule::OwedAck;
pub(crate) use schedule::{Radio, Step};

/// The longest short frame, in bytes (aMaxSIFSFrameSize).
const SHORT_FRAME: u8 = 18;

/// The earlier of two times, of those that there are.
pub(crate) fn earlier(one: Option<Symbols>, other: Option<Symbols>) -> Option<Symbols> {
    match (one, other) {
        (Some(one), Some(other)) => Some(if one.has_reached(other) { other } else { one }),
        (one, other) => one.or(other),
    }
}

impl<C: Crypto, L: LinkLayer> Mac<C, L> {
    /// What the radio is to do next, once, as soon as that is known: for a driver that begins with it when its time comes.
    pub fn poll_radio(&mut self) -> Option<RadioCommand> {
        if self.listening.duty_cycle().is_some() {
            return self.poll_cycle();
        }
        if let Some((at, listens)) = self.receiver_turns() {
            if let Some(polling) = self.listening.polling_mut() {
                polling.turned(listens);
            }
            return Some(if listens { RadioCommand::Listen { at } } else { RadioCommand::Off { at } });
        }
        let radio = &mut self.radio;
        if let Some(ack) = radio.owed_ack.get_mut() {
            let is_told = replace(&mut ack.on_air, true);
            return (!is_told).then_some(RadioCommand::Send { at: ack.due, assess: false });
        }
        let (step, assess) = match radio.step {
            Step::Backoff => (Step::Assessing, true),
            Step::Turnaround => (Step::OnAir, false),
            _ => return None,
        };
        radio.step = step;
        Some(RadioCommand::Send { at: radio.at, assess })
    }

    /// The same when its time has come, as [`Mac::handle_timeout`] was told: for a driver that can do things at once only.
    pub fn poll_radio_due(&mut self) -> Option<RadioCommand> {
        if replace(&mut self.radio.is_due, false) { self.poll_radio() } else { None }
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
        if self.listening.duty_cycle().is_some() {
            return self.cycle_timeout();
        }
        let awaited = (self.radio.step == Step::AwaitingAck).then_some(self.radio.at);
        let next = earlier(self.radio.next(), awaited);
        match self.listening.polling() {
            Some(polling) => {
                let turns = self.receiver_turns().map(|(at, _)| at);
                let due = earlier(polling.searches_until(), polling.due(self.radio.step == Step::Idle));
                earlier(earlier(turns, due), next)
            }
            None => next,
        }
    }

    /// Whether the receiver is to be turned on, or off, and when.
    #[inline(always)]
    fn receiver_turns(&self) -> Option<(Symbols, bool)> {
        let polling = self.listening.polling()?;
        polling.turns((self.radio.step, self.radio.at), self.radio.owed_ack.is_full())
    }

    /// Asks for what waits at a neighbour, if that is due, and there is nothing else to send.
    #[inline(always)]
    fn request_data<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols) {
        let Some(polling) = self.listening.polling_mut() else { return };
        polling.at(at);
        if self.radio.step == Step::Idle
            && let Some(parent) = polling.take_due(at)
        {
            // One that finds no room, or no frame counter, is due again, and counted.
            let _ = self.send_frame(cx, at, FrameType::Command, parent, &[DATA_REQUEST]);
        }
    }

    /// Does what is due.
    pub fn handle_timeout<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols) {
        if self.listening.duty_cycle().is_some() {
            return self.cycle_due(cx, at);
        }
        self.request_data(cx, at);
        let turns = self.receiver_turns().is_some();
        self.radio.is_due = turns || self.radio.next().is_some_and(|next| at.has_reached(next));
        if L::CSMA && self.radio.step == Step::AwaitingAck && at.has_reached(self.radio.at) {
            self.retry(cx, at);
        }
    }

    /// Takes in whether the channel was clear, as an assessment that ended at `at` has found.
    pub fn handle_cca<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols, clear: bool) {
        if !self.cycle_assessed(cx, at, clear) || self.radio.step != Step::Assessing {
            // An acknowledgement has come in between.
            return;
        }
        if clear {
            self.radio.enter(Step::Turnaround, at.after(self.rules().turnaround));
        } else {
            self.channel_busy(cx, at);
        }
    }

    /// Waits and tries again, or gives the current frame up.
    #[inline(always)]
    pub(crate) fn channel_busy<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols) {
        if L::CSMA && self.radio.access.busy(&self.csma) {
            let delay = self.radio.access.delay(&self.access, self.radio.retries, cx.entropy);
            self.contend(at.after(delay));
            self.strobe_ended(at, None);
        } else if L::CSMA && self.rules().retries_when_busy && self.radio.retries < self.csma.max_retries {
            self.try_again(cx, at);
        } else {
            cx.counters.count(Counter::MacChannelBusy);
            self.finish(cx, at, Outcome::ChannelBusy);
        }
    }

    /// Takes in that the last symbol of [`Mac::transmit_frame`] went out at `at`.
    pub fn handle_transmitted<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols) {
        let is_ack = self.radio.owed_ack.get().is_some_and(|ack| ack.on_air);
        if !is_ack && !matches!(self.radio.step, Step::Assessing | Step::OnAir) {
            return;
        }
        cx.counters.count(Counter::FramesSent);
        cx.counters.add(Counter::BytesSent, self.transmit_frame().len() as u32);
        if let Some(polling) = self.listening.polling_mut() {
            polling.at(at);
        }
        if is_ack {
            self.radio.owed_ack = Slot::Empty;
            // What waited for the acknowledgement may be due.
            self.handle_timeout(cx, at);
        } else if !self.copy_sent(at) {
            // Another follows, or its acknowledgement.
        } else if L::CSMA && self.queue.current().is_some_and(|frame| frame.ack_request) {
            self.radio.enter(Step::AwaitingAck, at.after(self.rules().ack_wait));
        } else {
            self.rest(at);
            self.finish(cx, at, Outcome::Delivered);
        }
    }

    /// Takes in the acknowledgement of the frame numbered `sequence`.
    pub(crate) fn handle_ack<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        sequence: u8,
        pending: bool,
    ) {
        let awaited = L::CSMA
            && self.awaits_ack()
            && self.queue.current().is_some_and(|frame| frame.sequence == sequence);
        if awaited {
            self.rest(at);
            if pending && let Some(polling) = self.listening.polling_mut() {
                polling.waits(at.after(total_wait(&self.csma, self.access.rules())));
            }
            self.finish(cx, at, Outcome::Delivered);
        }
    }

    fn awaits_ack(&self) -> bool {
        let in_gap = matches!(self.radio.step, Step::Gap | Step::GapAssessing);
        self.radio.step == Step::AwaitingAck || self.listening.duty_cycle().is_some() && in_gap
    }

    /// Begins with the next frame, unless one is under way.
    pub(crate) fn begin_frame_if_idle<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols) {
        if self.radio.step == Step::Idle {
            self.begin_frame(cx, at);
        }
    }

    fn begin_frame<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols) {
        if !self.choose_frame(at) {
            self.radio.step = Step::Idle;
            return;
        }
        self.radio.retries = 0;
        let pause = self.radio.rested.count().wrapping_sub(at.count());
        self.begin_access(cx, if pause <= self.rules().long_pause { at.after(pause) } else { at });
    }

    fn begin_access<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols) {
        let mut delay = 0;
        if L::CSMA && !self.is_burst() {
            self.radio.access = Access::new(&self.csma);
            delay = self.radio.access.delay(&self.access, self.radio.retries, cx.entropy);
        }
        self.contend(at.after(delay));
    }

    /// The current frame is to be sent from `at` on.
    #[inline(always)]
    fn contend(&mut self, at: Symbols) {
        let step = if self.listening.duty_cycle().is_some() { Step::Unsealed } else { Step::Backoff };
        self.radio.enter(step, at);
    }

    /// Whether there is a frame to be sent; the current one is then the first whose neighbour is not to ask for it again before.
    #[inline(always)]
    fn choose_frame(&mut self, at: Symbols) -> bool {
        if !Self::HOLDS {
            return self.queue.current().is_some();
        }
        let is_late = |frame: &Frame| self.sleepers.is_late(frame.destination(), frame.sequence, at);
        let is_full = !self.queue.has_room();
        let first = self.queue.waiting().position(|frame| !is_late(frame));
        // When all that wait take all places, one is sent all the same, and makes room.
        let first = first.or((is_full && self.queue.current().is_some()).then_some(0));
        if let Some(first) = first {
            self.queue.promote(first);
        }
        first.is_some()
    }

    /// Whether the current frame is for a neighbour that does not listen any more.
    #[inline(always)]
    fn is_late(&self, at: Symbols) -> bool {
        Self::HOLDS
            && self
                .queue
                .current()
                .is_some_and(|frame| self.sleepers.is_late(frame.destination(), frame.sequence, at))
    }

    /// Leaves the current frame until its neighbour asks for it again: it was made too late, or not acknowledged. One such frame is kept, and
    /// none if it takes the last place; the one before ends.
    fn keep<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols) {
        let is_late = |frame: &Frame| self.sleepers.is_late(frame.destination(), frame.sequence, at);
        let other = self.queue.waiting().skip(1).position(is_late);
        if let Some(other) = other {
            self.queue.promote(other + 1);
        }
        if other.is_some() || !self.queue.has_room() {
            cx.counters.count(Counter::MacNoAck);
            self.finish(cx, at, Outcome::NoAck);
        } else {
            self.begin_frame(cx, at);
        }
    }

    /// Sends the frame that was kept for `neighbour`, which asks at `at`, if there is one.
    #[inline(always)]
    pub(crate) fn send_kept<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        neighbour: Eui64,
    ) {
        if self.sleepers.has_frame(neighbour) {
            self.answer_data_request(neighbour, at);
            self.begin_frame_if_idle(cx, at);
        }
    }

    /// Sends the current frame again, or gives it up (7.5.6.4.3).
    pub(crate) fn retry<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols) {
        if self.radio.retries >= self.csma.max_retries {
            cx.counters.count(Counter::MacNoAck);
            self.finish(cx, at, Outcome::NoAck);
        } else if self.is_late(at) {
            self.keep(cx, at);
        } else {
            self.try_again(cx, at);
        }
    }

    fn try_again<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols) {
        self.strobe_ended(at, None);
        self.radio.retries += 1;
        cx.counters.count(Counter::MacRetries);
        self.begin_access(cx, at);
    }

    /// Leaves receivers their time to process the current frame before the next (7.5.1.3).
    fn rest(&mut self, at: Symbols) {
        let short = self.queue.current().is_some_and(|frame| frame.len <= SHORT_FRAME);
        let rules = self.rules();
        self.radio.rested = at.after(if short { rules.short_pause } else { rules.long_pause });
    }

    fn finish<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols, outcome: Outcome) {
        self.strobe_ended(at, Some(outcome));
        if let (Some(polling), Some(frame)) = (self.listening.polling_mut(), self.queue.current()) {
            polling.sent(at, (frame.destination(), frame.is_command()), outcome);
        }
        if Self::HOLDS
            && let Some(frame) = self.queue.current()
        {
            self.sleepers.served(frame.destination(), frame.sequence, outcome == Outcome::Delivered);
        }
        let sent = u8::from(outcome != Outcome::ChannelBusy);
        self.queue.finish(outcome, self.radio.retries.saturating_add(sent));
        self.begin_frame(cx, at);
    }
}

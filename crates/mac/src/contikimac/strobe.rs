//! How a frame is sent to who sleeps, and what the radio is told in the meantime.

use core::mem::replace;

use sixlock_base::{Array, Cx, Entropy, Nv, Symbols};
use sixlock_crypto::Crypto;
use sixlock_ieee802154::{FCS, Header, fcs};

use crate::airtime::airtime;
use crate::contikimac::duty_cycle::Wake;
use crate::contikimac::header::{PENDING, is_pending};
use crate::contikimac::times::ASSESSMENT;
use crate::contikimac::{DutyCycle, Phase};
use crate::listening::Listening as _;
use crate::radio::{Step, earlier};
use crate::{LinkLayer, Mac, Outcome, RadioCommand};

/// Times that a frame is sent in vain when its neighbour is awaited, before it is sent for a whole cycle.
const MISSES: u8 = 2;

/// What the radio is to be told next.
enum Next {
    Acknowledge,
    Listen(bool),
    /// The next copy of the current frame.
    Copy,
    /// To assess the channel in the gap behind a copy.
    Gap,
    /// To assess it before the first copy.
    Contend,
    /// To assess it at a wake-up.
    WakeUp,
    /// To assess it while it listens.
    Look,
}

impl<C: Crypto, L: LinkLayer> Mac<C, L> {
    fn next_of<A: Array<Phase>>(&self, cycle: &DutyCycle<A>) -> Option<(Symbols, Next)> {
        let radio = &self.radio;
        if let Some(ack) = radio.owed_ack.get() {
            return (!ack.on_air).then_some((ack.due, Next::Acknowledge));
        }
        let listens = match radio.step {
            Step::Assessing | Step::OnAir | Step::GapAssessing | Step::AwaitingAck => return None,
            Step::Turnaround => self.queue.current().is_some_and(|frame| frame.ack_request),
            Step::Gap => true,
            Step::Unsealed if cycle.is_burst => true,
            Step::Idle | Step::Unsealed | Step::Backoff => cycle.is_awake(),
        };
        if listens != cycle.is_on {
            return Some((cycle.now, Next::Listen(listens)));
        }
        match (radio.step, cycle.wake) {
            (Step::Turnaround, _) => Some((radio.at, Next::Copy)),
            (Step::Gap, _) => Some((radio.at, Next::Gap)),
            (Step::Unsealed, _) if cycle.is_burst => None,
            // What comes in goes first, and so does a wake-up that is due or under way.
            (Step::Backoff, Wake::Sleeps | Wake::Checks) if !radio.at.has_reached(cycle.wakes) => {
                Some((radio.at, Next::Contend))
            }
            (_, Wake::Sleeps) => Some((cycle.wakes, Next::WakeUp)),
            (_, Wake::Listens) => Some((cycle.at, Next::Look)),
            (_, Wake::Checks | Wake::Looks | Wake::AwaitsBurst) => None,
        }
    }

    fn next_command(&self) -> Option<(Symbols, Next)> {
        self.listening.duty_cycle().and_then(|cycle| self.next_of(cycle))
    }

    /// What the radio is to do next, once.
    pub(crate) fn poll_cycle(&mut self) -> Option<RadioCommand> {
        let (at, next) = self.next_command()?;
        let (radio, cycle) = (&mut self.radio, self.listening.duty_cycle_mut()?);
        let times = &cycle.times;
        Some(match next {
            Next::Acknowledge => {
                if let Some(ack) = radio.owed_ack.get_mut() {
                    ack.on_air = true;
                }
                RadioCommand::Send { at, assess: false }
            }
            Next::Listen(listens) => {
                cycle.is_on = listens;
                if listens { RadioCommand::Listen { at } } else { RadioCommand::Off { at } }
            }
            Next::Copy => {
                radio.step = Step::OnAir;
                RadioCommand::Send { at, assess: false }
            }
            Next::Gap => {
                radio.step = Step::GapAssessing;
                RadioCommand::Assess { at, times: 1, apart: times.apart }
            }
            Next::Contend => {
                radio.step = Step::Assessing;
                cycle.wake = Wake::Sleeps;
                RadioCommand::Assess { at, times: times.assessments_to_send, apart: times.apart }
            }
            Next::WakeUp => {
                cycle.wake = Wake::Checks;
                RadioCommand::Assess { at, times: times.assessments, apart: times.apart }
            }
            Next::Look => {
                cycle.wake = Wake::Looks;
                RadioCommand::Assess { at, times: 1, apart: times.apart }
            }
        })
    }

    /// When something is due.
    pub(crate) fn cycle_timeout(&self) -> Option<Symbols> {
        let cycle = self.listening.duty_cycle()?;
        let timed = matches!(self.radio.step, Step::Unsealed | Step::AwaitingAck).then_some(self.radio.at);
        let awaited = (cycle.wake == Wake::AwaitsBurst).then_some(cycle.at);
        let told = self.next_of(cycle).map(|(at, _)| at);
        earlier(earlier(timed, awaited), told)
    }

    /// Does what is due.
    pub(crate) fn cycle_due<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols) {
        let Some(cycle) = self.listening.duty_cycle_mut() else { return };
        cycle.now = at;
        if cycle.wake == Wake::AwaitsBurst && at.has_reached(cycle.at) {
            cycle.sleep(at);
        }
        if at.has_reached(self.radio.at) {
            match self.radio.step {
                Step::Unsealed => self.prepare(cx, at),
                // It was no acknowledgement.
                Step::AwaitingAck => self.channel_busy(cx, at),
                _ => {}
            }
        }
        self.radio.is_due = self.next_command().is_some_and(|(next, _)| at.has_reached(next));
    }

    /// Seals the current frame, if that was not done, and begins with it when its neighbour is awaited.
    fn prepare<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols) {
        let retries = self.radio.retries;
        let is_missed = retries >= MISSES || retries > 0 && retries == self.csma.max_retries;
        let Some(frame) = self.queue.current() else { return };
        let (destination, acknowledged) = (frame.destination(), frame.ack_request);
        let pending = acknowledged && self.queue.is_followed();
        let turnaround = self.rules().turnaround;
        let Some(cycle) = self.listening.duty_cycle_mut() else { return };
        let is_sealed = replace(&mut cycle.is_sealed, true);
        let times = cycle.times;
        // Whose clock runs at another rate would be missed each time: then it is as if nothing were known of it.
        let wait = match cycle.phase_lock && acknowledged && !is_missed {
            true => cycle.phases.wait(destination, at, &times),
            false => None,
        };
        cycle.limit = if cycle.is_burst || wait.is_some() { times.strobe_at_phase } else { times.strobe };
        if cycle.is_burst {
            cycle.first = at.after(turnaround);
            self.radio.enter(Step::Turnaround, at.after(turnaround));
        } else {
            self.radio.enter(Step::Backoff, at.after(wait.unwrap_or(0)));
        }
        if !is_sealed {
            self.seal_current(cx, pending);
        }
    }

    fn seal_current<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>, pending: bool) {
        let link = if L::SECURED { self.link.get() } else { None };
        let Some(frame) = self.queue.current_mut() else { return };
        let len = usize::from(frame.len).saturating_sub(FCS);
        if let Some((body, trailer)) = frame.bytes.split_at_mut_checked(len) {
            if pending && let Some(control) = body.first_mut() {
                *control |= PENDING;
            }
            if let (Some(link), Ok((header, header_len))) = (link, Header::parse(body)) {
                let frame_counter = header.security.map_or(0, |security| security.frame_counter);
                let (sealed, mic) = body.split_at_mut(len.saturating_sub(link.mic_len()));
                mic.copy_from_slice(
                    link.seal(cx.crypto, self.address, frame_counter, sealed, header_len).bytes(),
                );
            }
            if let Some(trailer) = trailer.first_chunk_mut() {
                *trailer = fcs(body).to_le_bytes();
            }
        }
    }

    /// An assessment has ended; true if it was one before sending, which is for CSMA-CA to judge.
    pub(crate) fn cycle_assessed<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        clear: bool,
    ) -> bool {
        let turnaround = self.rules().turnaround;
        let Some(cycle) = self.listening.duty_cycle_mut() else { return true };
        cycle.now = at;
        match self.radio.step {
            Step::Assessing => {
                cycle.first = at.after(turnaround);
                return true;
            }
            Step::GapAssessing if !clear => {
                self.radio.enter(Step::AwaitingAck, at.after(cycle.times.ack_wait.into()));
            }
            Step::GapAssessing if cycle.goes_on(at) => {
                self.radio.enter(Step::Turnaround, at.after(turnaround));
            }
            Step::GapAssessing => {
                if let (false, Some(frame)) = (cycle.is_burst, self.queue.current()) {
                    let times = cycle.times;
                    cycle.phases.missed(frame.destination(), at, &times);
                }
                self.retry(cx, at);
            }
            _ => cycle.assessed(at, clear),
        }
        false
    }

    /// A copy is out; true if it was the last.
    pub(crate) fn copy_sent(&mut self, at: Symbols) -> bool {
        let turnaround = self.rules().turnaround;
        let Some(cycle) = self.listening.duty_cycle_mut() else { return true };
        cycle.now = at;
        let Some(frame) = self.queue.current() else { return true };
        cycle.last = at.before(airtime(frame.len.into()));
        let gap = u32::from(cycle.times.gap);
        if frame.ack_request {
            self.radio.enter(Step::Gap, at.after(gap.saturating_sub(ASSESSMENT)));
        } else if cycle.goes_on(at) {
            self.radio.enter(Step::Turnaround, at.after(gap + turnaround));
        } else {
            return true;
        }
        false
    }

    /// What was sent has come to its end: the next wake-up is one to come.
    pub(crate) fn strobe_ended(&mut self, at: Symbols, outcome: Option<Outcome>) {
        let Some(cycle) = self.listening.duty_cycle_mut() else { return };
        if cycle.wake == Wake::Sleeps {
            cycle.sleep(at);
        }
        let is_awake = replace(&mut cycle.is_burst, false);
        let Some(outcome) = outcome else { return };
        cycle.is_sealed = false;
        let Some(frame) = self.queue.current() else { return };
        if outcome == Outcome::Delivered && frame.ack_request {
            if !is_awake {
                cycle.phases.acknowledged(frame.destination(), cycle.last);
            }
            cycle.is_burst = is_pending(&frame.bytes) && self.queue.is_followed();
        }
    }

    /// Whether the current frame goes to a neighbour that waits for it.
    pub(crate) fn is_burst(&self) -> bool {
        self.listening.duty_cycle().is_some_and(|cycle| cycle.is_burst)
    }

    /// An acknowledgement is to be sent before anything else.
    pub(crate) fn interrupted(&mut self) {
        if self.listening.duty_cycle().is_some()
            && matches!(
                self.radio.step,
                Step::Assessing | Step::Turnaround | Step::Backoff | Step::Gap | Step::GapAssessing
            )
            && self.radio.owed_ack.is_full()
        {
            self.radio.step = Step::Unsealed;
        }
    }
}

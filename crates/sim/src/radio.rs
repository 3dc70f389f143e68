//! A station's radio, which does what it is told at the time that it is told, without the station's CPU.

#[cfg(test)]
mod sleepers;
#[cfg(test)]
mod tests;

use sixlock_node::RadioCommand;

use crate::clock::Clock;
use crate::medium::{CCA, Medium};
use crate::time::{Span, Time};

/// What a radio does next.
#[derive(Clone, Copy)]
enum Step {
    /// It listens from then on.
    Listen,
    /// It is off from then on.
    Off,
    /// It begins to assess the channel.
    Assess(Assessments),
    /// It has assessed it.
    Assessed(Assessments),
    /// It begins to send.
    Send,
}

/// Assessments of the channel, one after the other.
#[derive(Clone, Copy)]
struct Assessments {
    /// How many are left, the one under way among them.
    left: u8,
    /// From the end of one to the begin of the next.
    pause: Span,
    /// Whether a frame is sent when the channel is clear.
    send: bool,
}

/// What a radio tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RadioEvent {
    /// It has assessed the channel, and found it clear or not.
    Assessed { clear: bool },
    /// It begins to send.
    Sends,
}

/// A radio, between two things that it does.
#[derive(Clone, Copy)]
pub(crate) struct Radio {
    /// From an assessment to sending.
    turnaround: Span,
    next: Option<(Time, Step)>,
    /// Whether an event is scheduled for it.
    is_scheduled: bool,
}

impl Radio {
    /// One that does nothing, and takes so long from an assessment to sending.
    pub(crate) const fn new(turnaround: Span) -> Self {
        Self { turnaround, next: None, is_scheduled: false }
    }

    /// Takes a command in place of what is not done yet. Its symbol is that of the node's clock; `node` is whose radio this is.
    pub(crate) fn take(
        &mut self,
        node: u32,
        command: RadioCommand,
        now: Time,
        clock: Clock,
        medium: &mut Medium,
    ) {
        self.give_up(node, now, medium);
        let (at, step) = match command {
            RadioCommand::Listen { at } => (at, Step::Listen),
            RadioCommand::Off { at } => (at, Step::Off),
            RadioCommand::Assess { at, times, apart } => {
                let pause = Span::from_symbols(apart.into()).saturating_sub(CCA);
                (at, Step::Assess(Assessments { left: times, pause, send: false }))
            }
            RadioCommand::Send { at, assess: true } => {
                (at, Step::Assess(Assessments { left: 1, pause: Span::ZERO, send: true }))
            }
            RadioCommand::Send { at, assess: false } => (at, Step::Send),
        };
        let time = clock.of_symbols(now, at);
        match step {
            // What is due takes effect before the next command can take its place.
            Step::Listen | Step::Off if time == now => medium.listen(node, matches!(step, Step::Listen), now),
            _ => self.plan(time, step),
        }
    }

    /// When each of the assessments would end that it begins to make now, if it does, were the channel clear. Nothing if a frame is to follow.
    pub(crate) fn assessments(&self, now: Time) -> Option<impl Iterator<Item = Time> + use<>> {
        let (_, Step::Assess(Assessments { left, pause, send: false })) =
            self.next.filter(|(time, _)| *time == now)?
        else {
            return None;
        };
        let mut begin = now;
        Some((0..left).map(move |_| {
            let end = begin.symbol_boundary() + CCA;
            begin = end + pause;
            end
        }))
    }

    /// Whether what it does next is to assess the channel, and no frame is to follow by itself.
    pub(crate) fn only_assesses(&self) -> bool {
        matches!(self.next, Some((_, Step::Assess(Assessments { send: false, .. }))))
    }

    /// Notes that its assessments were made, and found the channel clear.
    pub(crate) fn assessed(&mut self) {
        self.next = None;
    }

    /// Gives up what is not done yet.
    pub(crate) fn give_up(&mut self, node: u32, now: Time, medium: &mut Medium) {
        if let Some((_, Step::Assess(_) | Step::Assessed(_))) = self.next.take() {
            medium.assess(node, false, now);
        }
    }

    fn plan(&mut self, time: Time, step: Step) {
        (self.next, self.is_scheduled) = (Some((time, step)), false);
    }

    /// When to call [`Radio::go_on`], once.
    pub(crate) fn poll_time(&mut self) -> Option<Time> {
        let (time, _) = self.next?;
        (!core::mem::replace(&mut self.is_scheduled, true)).then_some(time)
    }

    /// Does what is to be done now, if anything is. A frame that is to be sent after an assessment is `made` at that time.
    pub(crate) fn go_on(
        &mut self,
        node: u32,
        now: Time,
        medium: &mut Medium,
        made: impl FnOnce() -> Time,
    ) -> Option<RadioEvent> {
        let (_, step) = self.next.take_if(|(time, _)| *time == now)?;
        match step {
            Step::Listen => medium.listen(node, true, now),
            Step::Off => medium.listen(node, false, now),
            Step::Assess(assessments) => {
                medium.assess(node, true, now);
                let begin = if assessments.send { made() } else { now };
                self.plan(begin.symbol_boundary() + CCA, Step::Assessed(assessments));
            }
            Step::Assessed(assessments) => {
                let clear = medium.is_clear(node, now);
                if let Assessments { left: 2.., pause, .. } = assessments
                    && clear
                {
                    // It stays on meanwhile.
                    let left = assessments.left - 1;
                    self.plan(now + pause, Step::Assess(Assessments { left, ..assessments }));
                    return None;
                }
                medium.assess(node, false, now);
                match assessments {
                    Assessments { send: true, .. } if clear => self.plan(now + self.turnaround, Step::Send),
                    _ => return Some(RadioEvent::Assessed { clear }),
                }
            }
            Step::Send => return Some(RadioEvent::Sends),
        }
        None
    }
}

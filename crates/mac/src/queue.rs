use sixlock_base::{Array, Eui64, New, Slot};
use sixlock_ieee802154::MAX_FRAME;

use crate::event::{BROADCAST, Event, Outcome, TransmitId};

/// The destination addressing mode of a frame to an extended address, in the second byte of frame control (7.2.1.1.6).
const EXTENDED_DESTINATION: u8 = 0b1100;

/// The frame type, and that of a command, in the first (7.2.1.1.1).
const FRAME_TYPE: u8 = 0b111;
const COMMAND: u8 = 3;

/// A frame to be sent.
#[derive(Clone)]
pub struct Frame {
    pub(crate) bytes: [u8; MAX_FRAME],
    pub(crate) len: u8,
    pub(crate) sequence: u8,
    pub(crate) ack_request: bool,
    outcome: Slot<Outcome>,
    /// How often it was sent, when it has an outcome; in slots, also before.
    pub(crate) attempts: u8,
}

impl New for Frame {
    const NEW: Self = Self {
        bytes: [0; MAX_FRAME],
        len: 0,
        sequence: 0,
        ack_request: false,
        outcome: Slot::Empty,
        attempts: 0,
    };
}

impl Frame {
    /// The neighbour it is for, which stands behind frame control, sequence number and PAN.
    pub(crate) fn destination(&self) -> Eui64 {
        match self.bytes {
            [_, control, _, _, _, h, g, f, e, d, c, b, a, ..]
                if control & EXTENDED_DESTINATION == EXTENDED_DESTINATION =>
            {
                Eui64([a, b, c, d, e, f, g, h])
            }
            _ => BROADCAST,
        }
    }

    /// Whether it is a command; of those, data requests alone are sent.
    pub(crate) fn is_command(&self) -> bool {
        self.bytes[0] & FRAME_TYPE == COMMAND
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len).min(MAX_FRAME)]
    }
}

/// The transmit frames, first in, first out. A frame keeps its place until its outcome has
/// been taken; when every place is in use, the next frame is refused.
pub(crate) struct Queue<A> {
    frames: A,
    /// The oldest frame, if there is one.
    first: u8,
    /// Frames in use, from the oldest on.
    used: u8,
    /// Frames with an outcome, from the oldest on.
    finished: u8,
}

impl<A: Array<Frame>> Queue<A> {
    const FITS: () = assert!(A::LEN > 0 && A::LEN <= 128, "a transmit queue holds 1 to 128 frames");

    pub(crate) const fn new() -> Self {
        let () = Self::FITS;
        Self { frames: A::NEW, first: 0, used: 0, finished: 0 }
    }

    /// How many places are in use.
    pub(crate) const fn occupied(&self) -> usize {
        self.used as usize
    }

    pub(crate) const fn has_room(&self) -> bool {
        (self.used as usize) < A::LEN
    }

    /// The place of the `n`th frame from the oldest on.
    const fn place(&self, n: u8) -> usize {
        (self.first as usize + n as usize) % A::LEN
    }

    /// A frame to be filled in; [`Queue::push`] then appends it.
    pub(crate) fn vacant(&mut self) -> Option<&mut Frame> {
        if !self.has_room() {
            return None;
        }
        let place = self.place(self.used);
        let frame = &mut self.frames.as_mut()[place];
        frame.outcome = Slot::Empty;
        Some(frame)
    }

    /// Appends the frame that [`Queue::vacant`] lent.
    pub(crate) fn push(&mut self) {
        if self.has_room() {
            self.used += 1;
        }
    }

    /// The oldest frame without an outcome.
    pub(crate) fn current(&self) -> Option<&Frame> {
        (self.finished < self.used).then(|| &self.frames.as_ref()[self.place(self.finished)])
    }

    /// The same, to be changed.
    pub(crate) fn current_mut(&mut self) -> Option<&mut Frame> {
        let place = self.place(self.finished);
        (self.finished < self.used).then(|| &mut self.frames.as_mut()[place])
    }

    /// The frames without an outcome, from the oldest on.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = &Frame> + '_ {
        (self.finished..self.used).map(|n| &self.frames.as_ref()[self.place(n)])
    }

    /// Makes the `n`th frame without an outcome the current one; the order of the others stays.
    pub(crate) fn promote(&mut self, n: usize) {
        if usize::from(self.finished) + n >= usize::from(self.used) {
            return;
        }
        let first = self.finished;
        for n in (1..=n as u8).rev() {
            let [place, before] = [first + n, first + n - 1].map(|n| self.place(n));
            self.frames.as_mut().swap(place, before);
        }
    }

    /// Whether the frame behind the current one is for the same neighbour.
    pub(crate) fn is_followed(&self) -> bool {
        let mut waiting = self.waiting().map(Frame::destination);
        waiting.next().is_some_and(|current| current != BROADCAST && waiting.next() == Some(current))
    }

    /// Gives the current frame its outcome, after so many attempts: the next one becomes current.
    pub(crate) fn finish(&mut self, outcome: Outcome, attempts: u8) {
        if self.finished < self.used {
            let place = self.place(self.finished);
            let frame = &mut self.frames.as_mut()[place];
            (frame.outcome, frame.attempts) = (Slot::Full(outcome), attempts);
            self.finished += 1;
        }
    }

    /// Takes the oldest outcome and frees its frame.
    pub(crate) fn take_finished(&mut self) -> Option<Event> {
        let frame = &self.frames.as_ref()[self.place(0)];
        if self.finished == 0 {
            return None;
        }
        let taken = frame.outcome.get().map(|&outcome| Event::Sent {
            id: TransmitId(frame.sequence),
            destination: frame.destination(),
            outcome,
            attempts: frame.attempts,
        });
        self.first = self.place(1) as u8;
        self.used -= 1;
        self.finished -= 1;
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn push(queue: &mut Queue<[Frame; 3]>, sequence: u8) -> bool {
        let Some(frame) = queue.vacant() else { return false };
        frame.sequence = sequence;
        queue.push();
        true
    }

    #[test]
    fn a_frame_that_goes_first_leaves_the_others_in_order() {
        let mut queue = Queue::<[Frame; 3]>::new();
        for n in 0..6 {
            assert!(push(&mut queue, n));
            queue.finish(Outcome::Delivered, 1);
            queue.take_finished();
            for n in 10..13 {
                assert!(push(&mut queue, n));
            }
            queue.promote(3);
            assert_eq!(queue.current().map(|frame| frame.sequence), Some(10), "there is no such frame");
            queue.promote(2);
            let left: [_; 3] = core::array::from_fn(|_| {
                let sequence = queue.current().map(|frame| frame.sequence);
                queue.finish(Outcome::Delivered, 1);
                queue.take_finished();
                sequence
            });
            assert_eq!(left, [Some(12), Some(10), Some(11)]);
        }
    }

    #[test]
    fn frames_leave_in_order_and_keep_their_place_until_their_outcome_is_taken() {
        let mut queue = Queue::<[Frame; 3]>::new();
        assert!(queue.current().is_none());
        assert_eq!(queue.take_finished(), None);
        for round in (0u8..30).step_by(3) {
            for n in round..round + 3 {
                assert!(push(&mut queue, n));
            }
            assert!(!push(&mut queue, 0xff));
            for (n, outcome) in (round..).zip([Outcome::Delivered, Outcome::NoAck, Outcome::ChannelBusy]) {
                assert_eq!(queue.current().map(|frame| frame.sequence), Some(n));
                queue.finish(outcome, n);
            }
            assert!(!queue.has_room());
            assert_eq!(queue.occupied(), 3);
            assert!(queue.current().is_none());
            for (n, outcome) in (round..).zip([Outcome::Delivered, Outcome::NoAck, Outcome::ChannelBusy]) {
                let (id, destination) = (TransmitId(n), BROADCAST);
                let sent = Event::Sent { id, destination, outcome, attempts: n };
                assert_eq!(queue.take_finished(), Some(sent));
            }
        }
    }
}

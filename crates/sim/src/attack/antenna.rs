//! An antenna: what it sends, and what waits until the channel is clear.

use std::collections::VecDeque;

use crate::random::Stream;
use crate::time::{Span, Time};

/// How long an attacker waits for an acknowledgement, with the pause that its receiver needs then: 54 and 40 symbols.
const REST: Span = Span::from_micros(94 * 16);
/// The unit of the pause of who finds the channel busy: 20 symbols.
const BACKOFF: Span = Span::from_micros(320);
/// Of how many of these units the pause is at most.
const BACKOFFS: u64 = 16;
/// How often an attacker finds the channel busy until it gives a frame up.
const TRIES: u8 = 32;
/// Frames that wait at most; what is more is not sent.
const WAITING: usize = 512;

/// An attacker's antenna, on the medium behind the stations of the network.
pub(super) struct Antenna {
    pub(super) attacker: usize,
    /// Which of the attacker's antennas it is.
    pub(super) place: usize,
    pub(super) at: (i32, i32),
    pub(super) range: Option<i32>,
    pub(super) on_air: Vec<u8>,
    is_sending: bool,
    /// Before this time it does not send what may wait: the frame before may be acknowledged.
    rests_until: Time,
    /// What waits to be sent.
    waiting: VecDeque<Vec<u8>>,
    /// How often the channel was busy when the first of them was to be sent.
    tries: u8,
}

impl Antenna {
    pub(super) fn new(attacker: usize, place: usize, at: (i32, i32), range: Option<i32>) -> Self {
        let (on_air, waiting) = (Vec::new(), VecDeque::new());
        Self {
            attacker,
            place,
            at,
            range,
            on_air,
            is_sending: false,
            rests_until: Time::ZERO,
            waiting,
            tries: 0,
        }
    }

    /// Its transmission has ended.
    pub(super) fn transmitted(&mut self, now: Time) {
        (self.is_sending, self.rests_until) = (false, now + REST);
    }

    /// Has a frame wait behind those that do already, if there is room; whether it is the first.
    pub(super) fn wait(&mut self, frame: Vec<u8>) -> bool {
        if self.waiting.len() < WAITING {
            self.waiting.push_back(frame);
        }
        self.waiting.len() == 1
    }

    /// Sends nothing that waits.
    pub(super) fn give_up(&mut self) {
        self.waiting.clear();
        self.tries = 0;
    }

    /// Sends a frame, unless another is being sent; whether it does.
    pub(super) fn send_now(&mut self, frame: Vec<u8>) -> bool {
        let is_free = !self.is_sending;
        if is_free {
            (self.on_air, self.is_sending) = (frame, true);
        }
        is_free
    }

    /// Sends the first frame that waits, if the channel is clear; whether it does, and when to try again.
    pub(super) fn try_first(
        &mut self,
        now: Time,
        is_clear: bool,
        stream: &mut Stream,
    ) -> (bool, Option<Time>) {
        let is_free = is_clear && !self.is_sending && now >= self.rests_until;
        self.tries += 1;
        let first = self.waiting.pop_front_if(|_| is_free);
        let is_sent = first.is_some_and(|frame| self.send_now(frame));
        if !is_sent && self.tries == TRIES {
            self.waiting.pop_front();
        }
        if is_sent || self.tries == TRIES {
            self.tries = 0;
        }
        let later = now + Span::from_micros((1 + stream.below(BACKOFFS)) * BACKOFF.micros());
        (is_sent, (!self.waiting.is_empty()).then_some(later))
    }
}

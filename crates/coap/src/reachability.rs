//! Whether a peer that is heard from another address than before receives what is sent to it there.

use sixlock_base::{Cx, Entropy, Instant};

use crate::Transmission;
use crate::reliability::{MessageIds, Schedule};

/// A peer of which this is not known yet. It shows it by answering a message that nobody was sent before it moved: its records
/// alone say nothing, as whoever is on the path may let them come from any address.
#[derive(Debug)]
pub(crate) struct Moved {
    /// When the ping is sent again; of no meaning before there is one.
    schedule: Schedule,
    /// The first message id that was given since: that of a ping, if one is sent.
    first: u16,
    /// What is left for pings of the room that there is, in bytes.
    reserve: u8,
    ping: Ping,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ping {
    /// Nothing waits for an answer.
    None,
    Due,
    Sent,
}

// Every peer has room for it.
const _: () = assert!(size_of::<Option<Moved>>() == 12);

impl Moved {
    /// It has moved now.
    pub(crate) fn now<C, E: Entropy, N>(
        cx: &mut Cx<'_, C, E, N>,
        ids: &mut MessageIds,
        reserve: usize,
    ) -> Self {
        let reserve = u8::try_from(reserve).unwrap_or(u8::MAX);
        Self { schedule: Schedule::none(cx.now), first: ids.next(cx), reserve, ping: Ping::None }
    }

    /// Whether a message of so many bytes is to wait, when there is so much room.
    pub(crate) fn holds_back(&self, length: usize, room: usize) -> bool {
        length.saturating_add(self.reserve.into()) > room
    }

    /// Whether an acknowledgement or reset with this id answers what was sent since, of all messages up to the last id.
    pub(crate) fn is_shown_by(&self, id: u16, last: Option<u16>) -> bool {
        last.is_some_and(|last| id.wrapping_sub(self.first) <= last.wrapping_sub(self.first))
    }

    /// Something waits: the id of the ping that is to be sent now, if one is due and there is `room` for it.
    pub(crate) fn ping<C, E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        transmission: &Transmission,
        room: bool,
    ) -> Option<u16> {
        if self.ping == Ping::None {
            (self.schedule, self.ping) = (Schedule::start(cx, transmission), Ping::Due);
        }
        let sends = room && self.ping == Ping::Due;
        if sends {
            self.ping = Ping::Sent;
        }
        sends.then_some(self.first)
    }

    /// Whether something waits for the answer to a ping.
    pub(crate) fn is_pinged(&self) -> bool {
        self.ping != Ping::None
    }

    /// When [`Moved::handle_timeout`] is to be called.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.is_pinged().then_some(self.schedule.deadline)
    }

    /// Does what is due by now: whether the ping was sent in vain for the last time.
    pub(crate) fn handle_timeout(&mut self, now: Instant) -> bool {
        if !self.deadline().is_some_and(|deadline| now.has_reached(deadline)) {
            return false;
        }
        let again = self.schedule.advance(now);
        self.ping = if again { Ping::Due } else { Ping::None };
        !again
    }
}

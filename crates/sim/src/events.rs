//! The event queue.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::time::Time;

/// Whose event it is. Within one microsecond those of schedules come first, so that a reading is due before anything lets
/// its node take it; then the medium's, so that a frame that ends as another begins does not collide with it; then the
/// nodes', in order of their ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Owner {
    /// The schedule of nodes' readings.
    Schedule,
    /// The radio medium.
    Medium,
    /// The node of this id; the border router is 0.
    Node(u32),
    /// The far end.
    Cloud,
}

/// What happens at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ScheduledEvent {
    /// The transmission of this station ends.
    TransmissionEnds(u32),
    /// The radio of the event's owner goes on with what it was told.
    Radio,
    /// The radio timer of the event's owner.
    RadioTimer,
    /// The timer of the event's owner.
    Timer,
    /// A packet is at the other end of the serial line of the event's owner, a border router.
    Line,
    /// The processor of the event's owner, a border router, is done with something.
    Processor,
    /// A task of the event's owner, which is a board, ends, or its radio owes an acknowledgement.
    Board,
    /// A reading of this node is due.
    Reading(u32),
    /// An echo to this node is due.
    Echo(u32),
    /// The power of this station is there again.
    PowerReturns(u32),
    /// The event of this number in the scenario.
    Scenario(u32),
    /// Something is due at the attacker of this number.
    Attack(u32),
    /// The attack of this number in the scenario begins, or ends.
    AttackTurns(u32),
    /// Something is due in a trial.
    Trial,
}

/// Events in order of (time, owner, sequence): the order in which they were scheduled decides last.
#[derive(Debug)]
pub(crate) struct Events<E> {
    /// The first of all, if it came before all others when it was scheduled: what a node brings about is often the next to happen, and
    /// does not go through the heap.
    first: Option<Entry<E>>,
    heap: BinaryHeap<Reverse<Entry<E>>>,
    /// Those of devices that sleep and wake up, and most likely sleep on: hardly anything else happens where radios sleep.
    wake_ups: BinaryHeap<Reverse<Entry<E>>>,
    sequence: u64,
}

#[derive(Debug)]
struct Entry<E> {
    time: Time,
    /// The owner's place among owners, and below that the sequence: one number, as most of what a simulation does is to compare two.
    order: u64,
    event: E,
}

/// Bits of a sequence: a trillion events.
const SEQUENCE_BITS: u32 = 40;

/// The most that a node's id is.
const MAX_ID: u32 = (1 << (u64::BITS - SEQUENCE_BITS)) - 4;

impl Owner {
    const fn place(self) -> u64 {
        match self {
            Self::Schedule => 0,
            Self::Medium => 1,
            Self::Node(id) => 2 + id as u64,
            Self::Cloud => 3 + MAX_ID as u64,
        }
    }

    const fn at(place: u64) -> Self {
        const CLOUD: u64 = Owner::Cloud.place();
        match place {
            0 => Self::Schedule,
            1 => Self::Medium,
            CLOUD => Self::Cloud,
            id => Self::Node(id as u32 - 2),
        }
    }
}

impl<E> Entry<E> {
    /// As one number.
    fn key(&self) -> u128 {
        u128::from(self.time.micros()) << u64::BITS | u128::from(self.order)
    }
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<E> Eq for Entry<E> {}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl<E> Events<E> {
    /// An empty queue.
    pub(crate) fn new() -> Self {
        Self { first: None, heap: BinaryHeap::new(), wake_ups: BinaryHeap::new(), sequence: 0 }
    }

    /// Schedules `event`.
    pub(crate) fn push(&mut self, time: Time, owner: Owner, event: E) {
        let entry = self.entry(time, owner, event);
        let comes_first = match &self.first {
            Some(first) => entry < *first,
            None => self.heap.peek().is_none_or(|Reverse(next)| entry < *next),
        };
        let later = if comes_first { self.first.replace(entry) } else { Some(entry) };
        if let Some(later) = later {
            self.heap.push(Reverse(later));
        }
    }

    /// Schedules `event`, at which a device wakes up that has nothing to send.
    pub(crate) fn push_wake_up(&mut self, time: Time, owner: Owner, event: E) {
        let entry = self.entry(time, owner, event);
        self.wake_ups.push(Reverse(entry));
    }

    fn entry(&mut self, time: Time, owner: Owner, event: E) -> Entry<E> {
        debug_assert!(!matches!(owner, Owner::Node(id) if id > MAX_ID), "{owner:?}");
        let order = owner.place() << SEQUENCE_BITS | self.sequence;
        self.sequence = (self.sequence + 1) % (1 << SEQUENCE_BITS);
        Entry { time, order, event }
    }

    /// When the next event is.
    pub(crate) fn next_time(&self) -> Option<Time> {
        self.wake_up_if_next().or(self.next_other()).map(|entry| entry.time)
    }

    /// When the next event is that is no wake-up.
    pub(crate) fn next_time_but_wake_ups(&self) -> Option<Time> {
        self.next_other().map(|entry| entry.time)
    }

    /// Takes the next event, unless it is later than `end`.
    pub(crate) fn pop_until(&mut self, end: Time) -> Option<(Time, Owner, E)> {
        let next = if let Some(wake_up) = self.wake_up_if_next() {
            if wake_up.time > end {
                return None;
            }
            self.wake_ups.pop()
        } else {
            if self.next_other()?.time > end {
                return None;
            }
            self.first.take().map(Reverse).or_else(|| self.heap.pop())
        };
        next.map(|Reverse(Entry { time, order, event })| (time, Owner::at(order >> SEQUENCE_BITS), event))
    }

    /// The next event that is no wake-up.
    fn next_other(&self) -> Option<&Entry<E>> {
        self.first.as_ref().or_else(|| self.heap.peek().map(|Reverse(entry)| entry))
    }

    /// The next event, if it is a wake-up.
    fn wake_up_if_next(&self) -> Option<&Entry<E>> {
        let Reverse(wake_up) = self.wake_ups.peek()?;
        self.next_other().is_none_or(|other| wake_up < other).then_some(wake_up)
    }
}

impl<E> Default for Events<E> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Span;

    #[test]
    fn events_come_by_time_then_owner_then_the_order_they_were_scheduled_in() {
        let at = |micros| Time::ZERO + Span::from_micros(micros);
        let mut events = Events::new();
        for (micros, owner, name) in [
            (5, Owner::Node(2), 'd'),
            (5, Owner::Node(1), 'b'),
            (9, Owner::Medium, 'f'),
            (5, Owner::Medium, 'a'),
            (5, Owner::Node(1), 'c'),
            (5, Owner::Cloud, 'e'),
            (5, Owner::Schedule, '0'),
        ] {
            events.push(at(micros), owner, name);
        }
        let mut order = String::new();
        while let Some((_, _, name)) = events.pop_until(at(8)) {
            order.push(name);
        }
        assert_eq!(order, "0abcde");
        assert_eq!(events.next_time(), Some(at(9)));
        assert!(events.pop_until(at(9)).is_some());
        assert!(events.pop_until(at(9)).is_none());
    }

    proptest::proptest! {
        /// Whatever is scheduled and taken in turn, the next is the first of what is there.
        #[test]
        fn the_next_event_is_the_first_of_those_that_are_scheduled(steps in proptest::collection::vec((0u64..20, 0u32..3, 0..4), 0..200)) {
            let (mut events, mut expected, mut sequence) = (Events::new(), Vec::<(Time, Owner, u32)>::new(), 0);
            for (micros, node, step) in steps {
                let time = Time::ZERO + Span::from_micros(micros);
                if step == 0 {
                    expected.sort_unstable();
                    let next = (!expected.is_empty()).then(|| expected.remove(0));
                    proptest::prop_assert_eq!(events.next_time(), next.map(|(time, ..)| time));
                    let taken = events.pop_until(Time::ZERO + Span::from_micros(20));
                    proptest::prop_assert_eq!(taken, next);
                } else {
                    expected.push((time, Owner::Node(node), sequence));
                    match step {
                        1 => events.push_wake_up(time, Owner::Node(node), sequence),
                        _ => events.push(time, Owner::Node(node), sequence),
                    }
                    sequence += 1;
                }
            }
        }
    }
}

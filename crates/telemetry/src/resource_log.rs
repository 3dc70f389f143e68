//! What happens to resources, for those who have them: gathered here until somebody takes it away to keep it.
//!
//! The same again is counted, not gathered again. What people do, what devices do and what strangers do have parts of their own; of the
//! second each resource has a share, of the third each network. So nobody pushes out what others do. Of what a stranger states nothing is kept but the
//! identity or the resource that it names, and that only until it is taken.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use sixlock_dtls::Failure;

use crate::client::network;
use crate::clock::Clock;
use crate::event::Event;

/// The most different things that wait to be taken: what was done to resources, what happened to their devices, of which each resource has a
/// share, and what strangers did, of which each network has one. Further ones are dropped.
const MOST_ACTIONS: usize = 1_024;
const MOST_OF_DEVICES: usize = 4_096;
const MOST_OF_RESOURCE: usize = 16;
const MOST_OF_STRANGERS: usize = 1_024;
const MOST_OF_NETWORK: usize = 16;
/// The longest detail, in characters.
const LONGEST_DETAIL: usize = 200;

/// What something happened to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogSubject {
    /// The resource of this row.
    Resource(i64),
    /// The resource of this identity, if there is one: a stranger states it.
    Identity(String),
}

/// Something that happened, once or several times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// What it happened to.
    pub subject: LogSubject,
    /// What happened, in one word of a fixed list.
    pub kind: &'static str,
    /// More about it; empty if there is no more.
    pub detail: String,
    /// Whether whoever did it has not proved that they may.
    pub stranger: bool,
    /// Whether somebody who may has done it on purpose: changed something of the resource.
    pub action: bool,
    /// When it happened first, in milliseconds since 1970.
    pub first: i64,
    /// When it happened last.
    pub last: i64,
    /// How often it happened.
    pub count: u64,
}

/// Gathers what happens to resources. Clones share it.
#[derive(Clone)]
pub struct ResourceLog {
    gathered: Arc<Mutex<Gathered>>,
    clock: Clock,
}

#[derive(Default)]
struct Gathered {
    actions: Part,
    devices: Part,
    strangers: Part,
    /// How many things wait of each resource that its device did, and of each network that strangers did.
    shares: BTreeMap<Share, usize>,
}

/// Things that wait, and behind which of them taking goes on: so all have their turn.
#[derive(Default)]
struct Part {
    waiting: BTreeMap<Key, Times>,
    next: Option<Key>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    subject: LogSubject,
    kind: &'static str,
    detail: String,
}

struct Times {
    first: i64,
    last: i64,
    count: u64,
    share: Option<Share>,
}

/// Whose share of a part something takes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Share {
    Resource(LogSubject),
    Network(IpAddr),
}

/// By whom something happened.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    /// Somebody who may, on purpose.
    Action,
    /// The device, or who acts for it.
    Device,
    /// A stranger of this network.
    Stranger(IpAddr),
}

impl Part {
    fn take(&mut self, most: usize) -> Vec<(Key, Times)> {
        let mut rest = match self.next.take() {
            Some(next) => self.waiting.split_off(&next),
            None => std::mem::take(&mut self.waiting),
        };
        let mut next = || rest.pop_first().or_else(|| self.waiting.pop_first());
        let taken = std::iter::from_fn(&mut next).take(most).collect();
        self.next = rest.first_key_value().map(|(key, _)| key.clone());
        self.waiting.append(&mut rest);
        taken
    }
}

impl ResourceLog {
    /// Nothing yet. Times are those of `clock`.
    pub fn new(clock: Clock) -> Self {
        Self { gathered: Arc::default(), clock }
    }

    /// Takes note of an event if it is about a resource. Returns false if there was no room for it.
    pub(crate) fn note(&self, event: &Event<'_>) -> bool {
        match read(event) {
            Some((key, by)) => self.gather(key, by),
            None => true,
        }
    }

    fn gather(&self, key: Key, by: By) -> bool {
        let now = (self.clock)();
        let mut gathered = self.gathered.lock().unwrap_or_else(PoisonError::into_inner);
        let Gathered { actions, devices, strangers, shares } = &mut *gathered;
        let (part, most, share, most_of_share) = match by {
            By::Action => (actions, MOST_ACTIONS, None, 0),
            By::Device => {
                let share = Share::Resource(key.subject.clone());
                (devices, MOST_OF_DEVICES, Some(share), MOST_OF_RESOURCE)
            }
            By::Stranger(network) => {
                (strangers, MOST_OF_STRANGERS, Some(Share::Network(network)), MOST_OF_NETWORK)
            }
        };
        if let Some(known) = part.waiting.get_mut(&key) {
            known.last = known.last.max(now);
            known.count = known.count.saturating_add(1);
            return true;
        }
        if part.waiting.len() >= most {
            return false;
        }
        if let Some(share) = &share {
            let number = shares.entry(share.clone()).or_default();
            if *number >= most_of_share {
                return false;
            }
            *number += 1;
        }
        part.waiting.insert(key, Times { first: now, last: now, count: 1, share });
        true
    }

    /// Takes at most so many of what was gathered: first what was done on purpose, then what happened to devices, and at last, if they are
    /// wanted, what strangers did.
    pub fn take(&self, most: usize, of_strangers: bool) -> Vec<LogEntry> {
        let mut gathered = self.gathered.lock().unwrap_or_else(PoisonError::into_inner);
        let Gathered { actions, devices, strangers, shares } = &mut *gathered;
        let mut entries = Vec::new();
        for (part, action, stranger) in
            [(actions, true, false), (devices, false, false), (strangers, false, true)]
        {
            let left = if stranger && !of_strangers { 0 } else { most - entries.len() };
            for (Key { subject, kind, detail }, Times { first, last, count, share }) in part.take(left) {
                if let Some(share) = share
                    && let Some(number) = shares.get_mut(&share)
                {
                    *number -= 1;
                    if *number == 0 {
                        shares.remove(&share);
                    }
                }
                entries.push(LogEntry { subject, kind, detail, stranger, action, first, last, count });
            }
        }
        entries
    }
}

/// What an event says of a resource, and by whom it happened.
fn read(event: &Event<'_>) -> Option<(Key, By)> {
    let key = |subject, kind, detail: &str| Key {
        subject,
        kind,
        detail: detail.chars().take(LONGEST_DETAIL).collect(),
    };
    let own =
        |resource, kind, detail: &str| Some((key(LogSubject::Resource(resource), kind, detail), By::Device));
    match *event {
        Event::Polled { resource, failure: Some(failure) } => own(resource, "poll_failed", failure),
        Event::Commanded { resource: Some(resource), command, outcome } => {
            let kind = match outcome {
                "done" => "command_done",
                "refused" => "command_refused",
                _ => "command_unanswered",
            };
            own(resource, kind, &format!("command {command}"))
        }
        Event::PostRefused { resource, reason, .. } => own(resource, "post_refused", reason),
        Event::LeftOut { resource, what } => own(resource, "left_out", what),
        Event::Done(done) => {
            let subject = LogSubject::Resource(done.resource()?);
            Some((key(subject, done.action(), done.by().unwrap_or_default()), By::Action))
        }
        Event::Refused(refused) => {
            let subject = LogSubject::Resource(refused.resource()?);
            let by = match refused.is_strangers() {
                true => By::Stranger(refused.client().network()),
                false => By::Device,
            };
            Some((key(subject, "refused", refused.reason()), by))
        }
        Event::Failed { from, identity, failure } => {
            let reason = match failure {
                Failure::Negotiation(refusal) | Failure::Authentication(refusal) => refusal.name(),
                Failure::TimedOut => "timed-out",
                Failure::Refused(_) => "refused",
                Failure::Alert(_) => "alert",
            };
            // What is no text is no identity of a resource.
            let identity = std::str::from_utf8(identity).ok().filter(|identity| !identity.is_empty())?;
            let subject = LogSubject::Identity(identity.to_owned());
            Some((key(subject, "handshake_failed", reason), By::Stranger(network(from.ip()))))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;
    use std::sync::atomic::{AtomicI64, Ordering};

    use sixlock_dtls::Refusal;

    use super::*;
    use crate::record::{Done, Refused, Scheme};

    fn address(host: u16) -> SocketAddr {
        let [high, low] = host.to_be_bytes();
        SocketAddr::from(([192, 0, high, low], 7))
    }

    fn failed(host: u16, identity: &[u8]) -> Event<'_> {
        let failure = Failure::Authentication(Refusal::WrongKey);
        Event::Failed { from: address(host), identity, failure }
    }

    #[test]
    fn the_same_again_is_counted_and_what_is_taken_is_not_there_any_more() {
        static NOW: AtomicI64 = AtomicI64::new(0);
        let log = ResourceLog::new(|| NOW.fetch_add(10, Ordering::Relaxed));
        for _ in 0..3 {
            assert!(log.note(&Event::Polled { resource: 7, failure: Some("nobody answers") }));
        }
        assert!(log.note(&Event::Polled { resource: 8, failure: Some("nobody answers") }));
        assert!(log.note(&Event::Polled { resource: 7, failure: None }));
        assert!(log.note(&Event::Stopping));
        let entry = |resource, first, last, count| LogEntry {
            subject: LogSubject::Resource(resource),
            kind: "poll_failed",
            detail: "nobody answers".into(),
            stranger: false,
            action: false,
            first,
            last,
            count,
        };
        assert_eq!(log.take(9, true), [entry(7, 0, 20, 3), entry(8, 30, 30, 1)]);
        assert_eq!(log.take(9, true), []);
    }

    #[test]
    fn each_event_of_a_resource_is_told_with_what_happened_and_who_may_is_no_stranger() {
        let log = ResourceLog::new(|| 5);
        let refused = |scheme, reason| Refused::new(scheme, address(1), reason);
        for event in [
            Event::Commanded { resource: Some(1), command: 3, outcome: "done" },
            Event::PostRefused { resource: 1, scheme: Scheme::Http, reason: "no JSON" },
            Event::LeftOut { resource: 1, what: "t is frozen" },
            Event::Done(&Done::new(Scheme::Http, "key_replaced").who("ann").of(1)),
            Event::Done(&Done::new(Scheme::Http, "signed_in").who("ann")),
            Event::Refused(&refused(Scheme::Coaps, "anothers_resource").of(1)),
            Event::Refused(&refused(Scheme::Http, "unauthenticated").who("eve").what("/x").of_stranger(1)),
            Event::Refused(&refused(Scheme::Http, "unauthenticated")),
            failed(1, b"node-1"),
            failed(1, b"\xff"),
            failed(1, b""),
        ] {
            assert!(log.note(&event));
        }
        let told = log.take(usize::MAX, true).into_iter();
        let told: Vec<_> =
            told.map(|entry| (entry.subject, entry.kind, entry.detail, entry.stranger)).collect();
        let of_1 =
            |kind, detail: &str, stranger| (LogSubject::Resource(1), kind, detail.to_owned(), stranger);
        let expected = [
            of_1("key_replaced", "ann", false),
            of_1("command_done", "command 3", false),
            of_1("left_out", "t is frozen", false),
            of_1("post_refused", "no JSON", false),
            of_1("refused", "anothers_resource", false),
            of_1("refused", "unauthenticated", true),
            (LogSubject::Identity("node-1".into()), "handshake_failed", "wrong-key".into(), true),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn a_flood_of_strangers_takes_no_place_of_the_devices_and_one_network_few_of_other_strangers() {
        let log = ResourceLog::new(|| 5);
        let identities: Vec<_> = (0..5_000).map(|number| format!("guess-{number}")).collect();
        let kept = identities.iter().filter(|identity| log.note(&failed(1, identity.as_bytes())));
        assert_eq!(kept.count(), MOST_OF_NETWORK);
        // The same again needs no place.
        assert!(log.note(&failed(1, b"guess-0")));
        assert!(log.note(&failed(2, b"node-1")));
        for (number, identity) in identities.iter().enumerate() {
            log.note(&failed(number as u16, identity.as_bytes()));
        }
        assert!(log.note(&Event::Polled { resource: 7, failure: Some("nobody answers") }));
        let long = "é".repeat(1_000);
        assert!(log.note(&Event::PostRefused { resource: 7, scheme: Scheme::Coap, reason: &long }));
        let taken = log.take(usize::MAX, true);
        assert_eq!(taken.iter().filter(|entry| entry.stranger).count(), MOST_OF_STRANGERS);
        assert!(taken.iter().any(|entry| entry.subject == LogSubject::Identity("node-1".into())));
        let own: Vec<_> = taken.iter().filter(|entry| !entry.stranger).collect();
        assert_eq!(own.len(), 2);
        assert!(own.iter().all(|entry| entry.detail.chars().count() <= LONGEST_DETAIL));
        // And what the devices do has an end, too.
        let noted = (0..5_000).filter(|&resource| log.note(&Event::LeftOut { resource, what: "t" }));
        assert_eq!(noted.count(), MOST_OF_DEVICES);
        assert!(log.note(&Event::Done(&Done::new(Scheme::Http, "key_replaced").who("ann").of(1))));
    }

    #[test]
    fn a_device_has_a_share_and_all_have_their_turn_when_some_are_taken() {
        let log = ResourceLog::new(|| 5);
        let words: Vec<_> = (0..100).map(|number| format!("line 1 column {number}")).collect();
        let refused = |resource, reason| Event::PostRefused { resource, scheme: Scheme::Http, reason };
        for resource in [1, 2] {
            let noted = words.iter().filter(|reason| log.note(&refused(resource, reason)));
            assert_eq!(noted.count(), MOST_OF_RESOURCE);
        }
        assert!(log.note(&Event::Polled { resource: 7, failure: Some("nobody answers") }));
        assert!(log.note(&failed(1, b"node-1")));
        let of = |entry: &LogEntry| entry.subject == LogSubject::Resource(7);
        assert!(!log.take(2 * MOST_OF_RESOURCE, false).iter().any(of));
        // Those of before again, and it is the turn of the last one nevertheless.
        assert!(words.iter().take(MOST_OF_RESOURCE).all(|reason| log.note(&refused(1, reason))));
        let taken = log.take(2, false);
        assert!(of(&taken[0]) && !taken[1].stranger && taken.len() == 2, "{taken:?}");
        assert!(log.take(usize::MAX, false).iter().all(|entry| !entry.stranger));
        assert_eq!(log.take(usize::MAX, true).len(), 1);
        assert!(log.gathered.lock().unwrap().shares.is_empty());
    }
}

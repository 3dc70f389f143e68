//! What happens at the doors, told once and in one form: it becomes the record of refusals, the metrics, and what tests
//! look at.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::registry::Registry;
use sixlock_base::{Counter as Protocol, Counters};

use crate::Error;
use crate::audit::{Audit, Door, Refused};

/// Something that happened.
#[derive(Clone, Debug)]
pub(crate) enum Event<'a> {
    /// A request was answered: with a status of HTTP, or one of CoAP without its dot.
    Answered { door: Door, status: u16 },
    /// Somebody was refused.
    Refused(Refused),
    /// A DTLS handshake came to its end.
    Connected,
    /// A DTLS handshake did not.
    HandshakeFailed,
    /// Something inside failed, which is the operator's to mend.
    Fault { at: At, error: &'a Error },
}

/// Where something inside failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    /// Looking up the key of a DTLS identity. Its client cannot tell this from an identity that is not known.
    LookUp,
}

impl At {
    /// Its name in metrics.
    const fn name(self) -> &'static str {
        match self {
            Self::LookUp => "look_up",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Answered {
    door: &'static str,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Why {
    door: &'static str,
    reason: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Outcome {
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Place {
    at: &'static str,
}

/// Takes events. Clones share what they know.
#[derive(Clone)]
pub(crate) struct Events(Arc<Known>);

struct Known {
    audit: Audit,
    answered: Family<Answered, Counter>,
    refused: Family<Why, Counter>,
    handshakes: Family<Outcome, Counter>,
    faults: Family<Place, Counter>,
    sessions: Gauge,
    under_way: Gauge,
    look_ups: Gauge,
    /// What the protocols of the CoAP doors have counted, in the order of [`Protocol::ALL`].
    protocols: Vec<AtomicU64>,
}

impl Events {
    pub(crate) fn new(audit: Audit) -> Self {
        Self(Arc::new(Known {
            audit,
            answered: Family::default(),
            refused: Family::default(),
            handshakes: Family::default(),
            faults: Family::default(),
            sessions: Gauge::default(),
            under_way: Gauge::default(),
            look_ups: Gauge::default(),
            protocols: Protocol::ALL.iter().map(|_| AtomicU64::new(0)).collect(),
        }))
    }

    /// Takes note of an event.
    pub(crate) fn tell(&self, event: Event<'_>) {
        let known = &self.0;
        match event {
            Event::Answered { door, status } => {
                known.answered.get_or_create(&Answered { door: door.name(), status }).inc();
            }
            Event::Refused(refused) => {
                let why = Why { door: refused.door().name(), reason: refused.reason() };
                known.refused.get_or_create(&why).inc();
                known.audit.record(refused);
            }
            Event::Connected => {
                known.handshakes.get_or_create(&Outcome { outcome: "connected" }).inc();
            }
            Event::HandshakeFailed => {
                known.handshakes.get_or_create(&Outcome { outcome: "failed" }).inc();
            }
            Event::Fault { at, error } => {
                known.faults.get_or_create(&Place { at: at.name() }).inc();
                eprintln!("sixlock: {}: {error}", at.name());
            }
        }
    }

    /// Takes note of how the CoAP doors are doing: open sessions, requests that wait for their answer, keys that are
    /// being looked up, and what the protocols have counted.
    pub(crate) fn state(&self, sessions: usize, under_way: usize, look_ups: usize, counters: &Counters) {
        self.0.sessions.set(sessions as i64);
        self.0.under_way.set(under_way as i64);
        self.0.look_ups.set(look_ups as i64);
        for (counter, count) in Protocol::ALL.iter().zip(&self.0.protocols) {
            count.store(u64::from(counters.get(*counter)), Ordering::Relaxed);
        }
    }

    /// The record of refusals.
    pub(crate) fn audit(&self) -> &Audit {
        &self.0.audit
    }

    /// All that is known, as OpenMetrics text. `points` have been stored, `feeds` are followed.
    pub(crate) fn metrics(&self, points: u64, feeds: usize) -> String {
        let known = &self.0;
        let mut registry = Registry::with_prefix("sixlock");
        registry.register("requests", "Requests answered", known.answered.clone());
        registry.register("refusals", "Requests and handshakes refused", known.refused.clone());
        registry.register("handshakes", "DTLS handshakes", known.handshakes.clone());
        registry.register("sessions", "DTLS sessions open", known.sessions.clone());
        registry.register("coap_under_way", "CoAP requests that wait for an answer", known.under_way.clone());
        registry.register(
            "key_look_ups",
            "Keys that are being looked up for handshakes",
            known.look_ups.clone(),
        );
        registry.register("faults", "What failed inside; the log says why", known.faults.clone());
        registry.register("points_stored", "Points stored since the start", ConstCounter::new(points));
        registry.register("live_feeds", "Live feeds that are followed", ConstGauge::new(feeds as i64));
        for (counter, count) in Protocol::ALL.iter().zip(&known.protocols) {
            let count = ConstCounter::new(count.load(Ordering::Relaxed));
            registry.register(counter.name(), "Counted by the protocols of the CoAP doors", count);
        }
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = text::encode(&mut text, &registry);
        text
    }
}

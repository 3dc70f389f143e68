//! The metrics. `docs/metrics.md` says what each is.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};
use sixlock_base::{Counter as Protocol, Counters};

use crate::event::{At, Event};
use crate::figures::Figures;
use crate::record::Scheme;
use crate::refusals::{RefusalCount, Refusals};

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StatusLabels {
    scheme: &'static str,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReasonLabels {
    scheme: &'static str,
    reason: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ActionLabels {
    action: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OutcomeLabels {
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PlaceLabels {
    at: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OwnerLabels {
    of: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StateLabels {
    state: &'static str,
}

/// The certificates of devices whose end is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CertificateExpiry {
    /// The next end that is to come, in milliseconds since 1970.
    pub next: Option<i64>,
    /// How many have ended.
    pub expired: i64,
    /// How many end within 30 days.
    pub soon: i64,
    /// How many are good for longer.
    pub good: i64,
}

/// What is counted and measured.
pub(crate) struct Metrics {
    /// But those of shards.
    answered: Requests,
    refused: Refusals,
    done: Family<ActionLabels, Counter>,
    handshakes: Family<OutcomeLabels, Counter>,
    polls: Family<OutcomeLabels, Counter>,
    commands: Family<OutcomeLabels, Counter>,
    messages: Family<OutcomeLabels, Counter>,
    broker_sessions: Family<OutcomeLabels, Counter>,
    broker_points: Family<OutcomeLabels, Counter>,
    faults: Family<PlaceLabels, Counter>,
    handed_over: Family<OutcomeLabels, Counter>,
    /// Entries of resource logs that there was no room for.
    resource_log_dropped: Counter,
    waiting: Gauge,
    /// Points that were stored.
    points: Counter,
    /// When the next certificate of each kind ends.
    expiry: Family<OwnerLabels, Gauge<f64, AtomicU64>>,
    /// The certificates of devices.
    certificates: Family<StateLabels, Gauge>,
    batches: Histogram,
    commits: Histogram,
    /// The shards of the CoAP server, of which what is told is the sum.
    shards: Mutex<Vec<Arc<Shard>>>,
    /// What a border router beside the cloud has counted, if there is one.
    router: OnceLock<Protocols>,
}

/// What protocols have counted.
struct Protocols(Vec<(Protocol, AtomicU64)>);

/// How a shard of the CoAP server is doing. It alone counts here.
pub(crate) struct Shard {
    sessions: AtomicU64,
    under_way: AtomicU64,
    look_ups: AtomicU64,
    answered: Requests,
    protocols: Protocols,
}

/// How often each status was answered, by scheme.
struct Requests([[AtomicU64; STATUSES]; SCHEMES.len()]);

/// No status is as great as this.
const STATUSES: usize = 600;
const SCHEMES: [Scheme; 3] = [Scheme::Http, Scheme::Coap, Scheme::Coaps];

impl Default for Requests {
    fn default() -> Self {
        Self(std::array::from_fn(|_| std::array::from_fn(|_| AtomicU64::new(0))))
    }
}

impl Requests {
    fn count(&self, scheme: Scheme, status: u16) {
        let statuses = SCHEMES.iter().zip(&self.0).find(|(known, _)| **known == scheme);
        if let Some(count) = statuses.and_then(|(_, statuses)| statuses.get(usize::from(status))) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// All that was counted here.
    fn sum(&self) -> u64 {
        self.0.iter().flatten().map(|count| count.load(Ordering::Relaxed)).sum()
    }

    /// Adds what was counted here.
    fn add_to(&self, sum: &Family<StatusLabels, Counter>) {
        for (scheme, statuses) in SCHEMES.iter().zip(&self.0) {
            for (status, count) in (0..).zip(statuses) {
                let count = count.load(Ordering::Relaxed);
                if count > 0 {
                    sum.get_or_create(&StatusLabels { scheme: scheme.name(), status }).inc_by(count);
                }
            }
        }
    }
}

impl Default for Shard {
    fn default() -> Self {
        Self {
            sessions: AtomicU64::default(),
            under_way: AtomicU64::default(),
            look_ups: AtomicU64::default(),
            answered: Requests::default(),
            protocols: Protocols::of(is_of_coap_server),
        }
    }
}

/// Whether the CoAP server counts it: theirs are DTLS and CoAP, and what is below them is the system's.
fn is_of_coap_server(counter: Protocol) -> bool {
    matches!(counter.name().split_once('_'), Some(("dtls" | "coap", _)))
}

impl Shard {
    /// A request was answered with this status.
    pub(crate) fn answered(&self, scheme: Scheme, status: u16) {
        self.answered.count(scheme, status);
    }

    pub(crate) fn state(&self, sessions: usize, under_way: usize, look_ups: usize, counters: &Counters) {
        self.sessions.store(sessions as u64, Ordering::Relaxed);
        self.under_way.store(under_way as u64, Ordering::Relaxed);
        self.look_ups.store(look_ups as u64, Ordering::Relaxed);
        self.protocols.set(counters);
    }
}

impl Protocols {
    /// Nothing yet, of the counters that are to be told.
    fn of(told: impl Fn(Protocol) -> bool) -> Self {
        let counters = Protocol::ALL.iter().copied().filter(|counter| told(*counter));
        Self(counters.map(|counter| (counter, AtomicU64::new(0))).collect())
    }

    /// Adds what another of the same kind has counted.
    fn add(&self, other: &Self) {
        for ((_, sum), (_, count)) in self.0.iter().zip(&other.0) {
            sum.fetch_add(count.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }

    fn set(&self, counters: &Counters) {
        for (counter, count) in &self.0 {
            count.store(u64::from(counters.get(*counter)), Ordering::Relaxed);
        }
    }

    /// Registers them, with what stands before their names.
    fn register(&self, registry: &mut Registry, prefix: &str, help: &str) {
        for (counter, count) in &self.0 {
            let count = ConstCounter::new(count.load(Ordering::Relaxed));
            registry.register(format!("{prefix}{}", counter.name()), help, count);
        }
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            answered: Requests::default(),
            refused: Refusals::default(),
            done: Family::default(),
            handshakes: Family::default(),
            polls: Family::default(),
            commands: Family::default(),
            messages: Family::default(),
            broker_sessions: Family::default(),
            broker_points: Family::default(),
            faults: Family::default(),
            handed_over: Family::default(),
            resource_log_dropped: Counter::default(),
            waiting: Gauge::default(),
            points: Counter::default(),
            expiry: Family::default(),
            certificates: Family::default(),
            // 1 to 1024 points.
            batches: Histogram::new(exponential_buckets(1.0, 4.0, 6)),
            // 0.25 ms to 4 s.
            commits: Histogram::new(exponential_buckets(0.000_25, 4.0, 8)),
            shards: Mutex::default(),
            router: OnceLock::new(),
        }
    }
}

impl Metrics {
    pub(crate) fn count(&self, event: &Event<'_>) {
        let ended = |outcome: &Family<OutcomeLabels, Counter>, name| {
            outcome.get_or_create(&OutcomeLabels { outcome: name }).inc();
        };
        match *event {
            Event::Started { .. }
            | Event::SessionsResumable { .. }
            | Event::SessionsRestored { .. }
            | Event::SessionsSaved { .. }
            | Event::Stopping
            | Event::Expiring { .. }
            | Event::Dropped { .. }
            | Event::PostRefused { .. }
            | Event::LeftOut { .. }
            | Event::Closed { .. } => {}
            Event::Answered { scheme, status } => self.answered.count(scheme, status),
            Event::Refused(refused) => {
                self.refused.count(refused.scheme(), refused.reason());
            }
            Event::Done(done) => {
                self.done.get_or_create(&ActionLabels { action: done.action() }).inc();
            }
            Event::Connected { .. } => ended(&self.handshakes, "connected"),
            Event::Failed { .. } => ended(&self.handshakes, "failed"),
            Event::HandedOver { passed: true } => ended(&self.handed_over, "passed"),
            Event::HandedOver { passed: false } => ended(&self.handed_over, "dropped"),
            Event::Committed { points, took, .. } => {
                self.points.inc_by(points as u64);
                self.batches.observe(points as f64);
                self.commits.observe(took.as_secs_f64());
            }
            Event::Polled { failure: None, .. } => ended(&self.polls, "done"),
            Event::Polled { failure: Some(_), .. } => ended(&self.polls, "failed"),
            Event::Commanded { outcome, .. } => ended(&self.commands, outcome),
            Event::MessageSent { failure: None, .. } => ended(&self.messages, "told"),
            Event::MessageSent { failure: Some(_), given_up, .. } => {
                ended(&self.messages, "failed");
                self.messages.get_or_create(&OutcomeLabels { outcome: "given_up" }).inc_by(given_up);
            }
            Event::BrokerConnected { .. } => ended(&self.broker_sessions, "begun"),
            Event::BrokerFailed { .. } => ended(&self.broker_sessions, "failed"),
            Event::BrokerServed { published, dropped, .. } => {
                for (outcome, points) in [("published", published), ("dropped", dropped)] {
                    self.broker_points.get_or_create(&OutcomeLabels { outcome }).inc_by(points);
                }
            }
            Event::Fault { at, .. } => {
                self.faults.get_or_create(&PlaceLabels { at: at.name() }).inc();
            }
        }
    }

    /// Another shard of the CoAP server.
    pub(crate) fn shard(&self) -> Arc<Shard> {
        let shard = Arc::new(Shard::default());
        self.shards().push(shard.clone());
        shard
    }

    fn shards(&self) -> MutexGuard<'_, Vec<Arc<Shard>>> {
        self.shards.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn router(&self, counters: &Counters) {
        self.router.get_or_init(|| Protocols::of(|_| true)).set(counters);
    }

    /// When certificates end: of devices, the cloud's own, and its authority's.
    pub(crate) fn certificates(&self, devices: CertificateExpiry, own: Option<i64>, authority: Option<i64>) {
        for (of, end) in [("devices", devices.next), ("cloud", own), ("authority", authority)] {
            match end {
                Some(end) => {
                    self.expiry.get_or_create(&OwnerLabels { of }).set(end as f64 / 1_000.0);
                }
                None => {
                    self.expiry.remove(&OwnerLabels { of });
                }
            }
        }
        let CertificateExpiry { expired, soon, good, .. } = devices;
        for (state, count) in [("expired", expired), ("within_30_days", soon), ("good", good)] {
            self.certificates.get_or_create(&StateLabels { state }).set(count);
        }
    }

    /// Something that happened to a resource is not in the log of that.
    pub(crate) fn left_out_of_resource_log(&self) {
        self.resource_log_dropped.inc();
    }

    pub(crate) fn waiting(&self, more: bool) {
        if more {
            self.waiting.inc()
        } else {
            self.waiting.dec()
        };
    }

    /// What has happened since the start, in figures.
    pub(crate) fn figures(&self) -> Figures {
        let shards = self.shards();
        let requests = shards.iter().map(|shard| shard.answered.sum()).sum::<u64>() + self.answered.sum();
        let of = |outcomes: &Family<OutcomeLabels, Counter>, outcome| {
            outcomes.get(&OutcomeLabels { outcome }).map_or(0, |count| count.get())
        };
        let faults = At::ALL.iter().filter_map(|at| self.faults.get(&PlaceLabels { at: at.name() }));
        Figures {
            sessions: shards.iter().map(|shard| shard.sessions.load(Ordering::Relaxed)).sum(),
            requests,
            handshakes: of(&self.handshakes, "connected"),
            failed_handshakes: of(&self.handshakes, "failed"),
            faults: faults.map(|count| count.get()).sum(),
            refusals: self.refused.all(),
        }
    }

    /// All of them, as OpenMetrics text. `feeds` are followed, `brokers` are connected, and the latest
    /// `backup` was made so many milliseconds after 1970.
    pub(crate) fn text(&self, feeds: usize, brokers: usize, backup: Option<i64>) -> String {
        let mut registry = Registry::with_prefix("sixlock");
        let (answered, protocols, shards) =
            (Family::default(), Protocols::of(is_of_coap_server), self.shards());
        self.answered.add_to(&answered);
        for shard in &*shards {
            shard.answered.add_to(&answered);
            protocols.add(&shard.protocols);
        }
        let sum = |gauge: fn(&Shard) -> &AtomicU64| {
            ConstGauge::new(
                shards.iter().map(|shard| gauge(shard).load(Ordering::Relaxed) as i64).sum::<i64>(),
            )
        };
        registry.register("requests", "Requests answered", answered);
        let refused = Family::<ReasonLabels, Counter>::default();
        for RefusalCount { scheme, reason, count } in self.refused.all() {
            refused.get_or_create(&ReasonLabels { scheme: scheme.name(), reason }).inc_by(count);
        }
        registry.register("refusals", "Requests and handshakes refused", refused);
        registry.register("actions", "Actions that matter to security", self.done.clone());
        registry.register("handshakes", "DTLS handshakes", self.handshakes.clone());
        registry.register("polls", "Polls of resources", self.polls.clone());
        registry.register("commands", "Commands that devices were told", self.commands.clone());
        registry.register("alert_messages", "Messages of alerts that were to be told", self.messages.clone());
        registry.register("faults", "What failed inside; the log says why", self.faults.clone());
        registry.register(
            "handed_over",
            "Datagrams that came to another shard than the one that has their session",
            self.handed_over.clone(),
        );
        registry.register(
            "resource_log_dropped",
            "Entries of resource logs that there was no room for",
            self.resource_log_dropped.clone(),
        );
        registry.register("sessions", "DTLS sessions open", sum(|shard| &shard.sessions));
        registry.register(
            "coap_under_way",
            "CoAP requests that wait for an answer",
            sum(|shard| &shard.under_way),
        );
        registry.register(
            "key_look_ups",
            "Keys being looked up for handshakes",
            sum(|shard| &shard.look_ups),
        );
        registry.register(
            "posts_waiting",
            "Posts that wait for the writer of readings",
            self.waiting.clone(),
        );
        registry.register("batch_points", "Points that a commit holds", self.batches.clone());
        registry.register_with_unit(
            "commit",
            "Time that a commit takes",
            Unit::Seconds,
            self.commits.clone(),
        );
        registry.register_with_unit(
            "certificate_expiry_timestamp",
            "When the next certificate ends",
            Unit::Seconds,
            self.expiry.clone(),
        );
        registry.register(
            "certificates",
            "Certificates of devices whose end is known",
            self.certificates.clone(),
        );
        registry.register("points_stored", "Points stored since the start", self.points.clone());
        registry.register(
            "broker_sessions",
            "Sessions with brokers of MQTT: those that began, and those that did not or have ended",
            self.broker_sessions.clone(),
        );
        registry.register(
            "broker_points",
            "Points that were published to brokers, or left out",
            self.broker_points.clone(),
        );
        registry.register("brokers_connected", "Brokers with a session", ConstGauge::new(brokers as i64));
        registry.register("live_feeds", "Live feeds that are followed", ConstGauge::new(feeds as i64));
        if let Some(backup) = backup {
            let (help, seconds) =
                ("When the latest backup was made", ConstGauge::new(backup as f64 / 1_000.0));
            registry.register_with_unit("last_backup_timestamp", help, Unit::Seconds, seconds);
        }
        protocols.register(&mut registry, "", "Counted by the protocols of the CoAP server");
        if let Some(router) = self.router.get() {
            router.register(&mut registry, "router_", "Counted by the border router");
        }
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = text::encode(&mut text, &registry);
        text
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::record::{Done, Refused};

    /// Where each metric is explained.
    const EXPLAINED: &str = include_str!("../../../docs/metrics.md");
    /// Where those of `/metrics` end: what follows is explained of the devices, which the cloud tells.
    const OF_DEVICES: &str = "\n## When devices were heard\n";

    #[test]
    fn the_document_explains_every_metric_and_no_other() {
        let metrics = Metrics::default();
        let from: std::net::SocketAddr = "127.0.0.1:7".parse().unwrap();
        // Those with labels are there when there is one.
        for event in [
            Event::Answered { scheme: Scheme::Http, status: 200 },
            Event::Refused(&Refused::new(Scheme::Http, from, "forbidden")),
            Event::Done(&Done::new(Scheme::Http, "signed_in")),
            Event::Connected { from, identity: b"node-1" },
            Event::HandedOver { passed: true },
            Event::Polled { resource: 1, failure: None },
            Event::Commanded { resource: Some(1), command: 1, outcome: "done" },
            Event::MessageSent { channel: 1, failure: None, given_up: 0 },
            Event::BrokerConnected { broker: 1 },
            Event::BrokerServed { broker: 1, published: 1, dropped: 0 },
            Event::Fault { at: At::LookUp, error: &"it is full" },
        ] {
            metrics.count(&event);
        }
        metrics.certificates(CertificateExpiry::default(), Some(0), None);
        let text = metrics.text(0, 0, Some(0));
        let types = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.rsplit_once(' '));
        let protocols: BTreeSet<String> =
            Protocol::ALL.iter().map(|counter| format!("sixlock_{}", counter.name())).collect();
        let there: BTreeSet<(&str, &str)> = types.filter(|(name, _)| !protocols.contains(*name)).collect();
        let (explained, _) = EXPLAINED.split_once(OF_DEVICES).unwrap();
        let rows = explained.lines().filter_map(|line| {
            let mut cells = line.strip_prefix("| `")?.split(" | ");
            Some((cells.next()?.strip_suffix('`')?, cells.next()?))
        });
        assert_eq!(rows.collect::<BTreeSet<_>>(), there);
    }

    #[test]
    fn what_is_told_of_shards_is_their_sum() {
        let metrics = Metrics::default();
        let mut counters = Counters::new();
        counters.add(Protocol::DtlsHandshakes, 5);
        for shard in [metrics.shard(), metrics.shard()] {
            shard.state(10, 2, 1, &counters);
            shard.answered(Scheme::Coaps, 204);
            shard.answered(Scheme::Coap, 204);
        }
        metrics.count(&Event::Answered { scheme: Scheme::Coaps, status: 204 });
        let text = metrics.text(0, 0, None);
        for line in [
            r#"sixlock_requests_total{scheme="coaps",status="204"} 3"#,
            r#"sixlock_requests_total{scheme="coap",status="204"} 2"#,
            "sixlock_sessions 20",
            "sixlock_coap_under_way 4",
            "sixlock_key_look_ups 2",
            "sixlock_dtls_handshakes_total 10",
        ] {
            assert!(text.lines().any(|known| known == line), "{line} is not in {text}");
        }
    }

    #[test]
    fn the_figures_are_those_of_the_metrics() {
        let metrics = Metrics::default();
        assert_eq!(metrics.figures(), Figures::default());
        let from: std::net::SocketAddr = "127.0.0.1:7".parse().unwrap();
        let shard = metrics.shard();
        shard.state(7, 0, 0, &Counters::new());
        shard.answered(Scheme::Coaps, 204);
        for event in [
            Event::Answered { scheme: Scheme::Http, status: 200 },
            Event::Refused(&Refused::new(Scheme::Http, from, "forbidden")),
            Event::Refused(&Refused::new(Scheme::Coaps, from, "wrong_key")),
            Event::Refused(&Refused::new(Scheme::Coaps, from, "wrong_key")),
            Event::Connected { from, identity: b"node-1" },
            Event::Fault { at: At::LookUp, error: &"it is full" },
            Event::Fault { at: At::Request(Scheme::Http), error: &"it is full" },
        ] {
            metrics.count(&event);
        }
        let refusal = |scheme, reason, count| RefusalCount { scheme, reason, count };
        let expected = Figures {
            sessions: 7,
            requests: 2,
            handshakes: 1,
            failed_handshakes: 0,
            faults: 2,
            refusals: vec![refusal(Scheme::Coaps, "wrong_key", 2), refusal(Scheme::Http, "forbidden", 1)],
        };
        assert_eq!(metrics.figures(), expected);
        let text = metrics.text(0, 0, None);
        let line = r#"sixlock_refusals_total{scheme="coaps",reason="wrong_key"} 2"#;
        assert!(text.lines().any(|known| known == line), "{text}");
    }

    #[test]
    fn a_border_router_has_counters_of_its_own_if_there_is_one() {
        let metrics = Metrics::default();
        let mut counters = Counters::new();
        counters.add(Protocol::IpsecDiscarded, 3);
        let shards = [metrics.shard(), metrics.shard()];
        shards.iter().for_each(|shard| shard.state(0, 0, 0, &Counters::new()));
        assert!(!metrics.text(0, 0, None).contains("ipsec"));
        metrics.router(&counters);
        let text = metrics.text(0, 0, None);
        assert!(text.lines().any(|line| line == "sixlock_router_ipsec_discarded_total 3"), "{text}");
        assert!(!text.contains("sixlock_ipsec"), "the CoAP server counts no such thing: {text}");
    }

    #[test]
    fn what_the_coap_server_tells_is_what_their_sources_count() {
        let counted: BTreeSet<String> =
            ["../dtls/src", "../coap/src", "../endpoint/src", "../coap-server/src"]
                .iter()
                .flat_map(|sources| files(&Path::new(env!("CARGO_MANIFEST_DIR")).join(sources)))
                .flat_map(|file| {
                    let source = std::fs::read_to_string(file).unwrap();
                    let named = source.split("Counter::").skip(1).filter_map(|rest| {
                        rest.split(|letter: char| !letter.is_alphanumeric()).next().map(str::to_owned)
                    });
                    named.filter(|name| name.starts_with(char::is_uppercase)).collect::<Vec<_>>()
                })
                .collect();
        let told = Protocol::ALL.iter().filter(|counter| is_of_coap_server(**counter));
        assert_eq!(told.map(|counter| format!("{counter:?}")).collect::<BTreeSet<_>>(), counted);
    }

    fn files(directory: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
        entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
    }
}

//! What happens in the cloud, told once and in one form: it becomes the log, the metrics, the record of refusals that the
//! dashboard shows, and what tests look at.

mod fault_lines;
mod log;
mod metrics;

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sixlock_base::Counters;
use sixlock_dtls::Failure;

use crate::audit::{Audit, Done, Door, Entry, Refused};
use crate::store::{Expiry, ResourceId};
use fault_lines::FaultLines;
pub use log::LogLevel;
pub(crate) use log::{Line, Log};
use metrics::{Metrics, Shard};

/// Something that happened.
#[derive(Clone, Copy)]
pub(crate) enum Event<'a> {
    /// The cloud is ready.
    Started { http: SocketAddr, coap: Option<SocketAddr>, coaps: SocketAddr },
    /// So many DTLS sessions of before can be resumed.
    Restored { sessions: usize },
    /// So many DTLS sessions of before go on; of others not, as their credentials have ended, there is no room for them, or the pause was too long.
    Woken { sessions: usize, others: usize },
    /// So many open DTLS sessions are kept for the next cloud to go on with.
    Suspended { sessions: usize },
    /// The cloud was told to stop.
    Stopping,
    /// A request was answered: with a status of HTTP, or one of CoAP without its dot.
    Answered { door: Door, status: u16 },
    /// Somebody was refused.
    Refused(&'a Refused),
    /// Something was done that matters to security.
    Done(&'a Done),
    /// A DTLS handshake came to its end.
    Connected { from: SocketAddr, identity: &'a [u8] },
    /// A DTLS session was closed, by either side or to make room.
    Closed { from: SocketAddr, identity: &'a [u8] },
    /// A DTLS handshake or session failed.
    Failed { from: SocketAddr, identity: &'a [u8], failure: Failure },
    /// A datagram of a session came to another shard than the one that has it, which got it, or had too many waiting.
    HandedOver { passed: bool },
    /// A batch of posts was committed.
    Committed { posts: usize, points: usize, took: Duration },
    /// A resource was polled: nothing, or why that gave no readings.
    Polled { resource: ResourceId, failure: Option<&'a str> },
    /// Certificates of devices, or one of the cloud's own, have ended or end within 30 days; the next one then, in milliseconds since
    /// 1970.
    Expiring { certificates: &'a str, expired: i64, soon: i64, next: Option<i64> },
    /// Something inside failed, which is the operator's to mend.
    Fault { at: At, error: &'a dyn fmt::Display },
}

/// Where something inside failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    /// Looking up the key of a DTLS identity. Its client cannot tell this from an identity that is not known.
    LookUp,
    /// Serving a request.
    Request(Door),
    /// Ending credentials whose time has come. They are good no more all the same.
    Credentials,
    /// Reading which resources are polled, or noting that they were.
    Pollers,
    /// Storing a batch of posts. None of them was acknowledged.
    Commit,
    /// Sorting points. They are found where they are.
    Sorting,
    /// Recording refusals: from now on, none is.
    Audit,
    /// Reading or keeping what is left of DTLS sessions. What is not kept cannot be resumed after a restart.
    Sessions,
}

impl At {
    const fn name(self) -> &'static str {
        match self {
            Self::LookUp => "look_up",
            Self::Request(door) => door.name(),
            Self::Credentials => "credentials",
            Self::Pollers => "pollers",
            Self::Commit => "commit",
            Self::Sorting => "sorting",
            Self::Audit => "audit",
            Self::Sessions => "sessions",
        }
    }
}

impl Event<'_> {
    const fn level(&self) -> LogLevel {
        match self {
            Self::Fault { .. } | Self::Expiring { .. } => LogLevel::Error,
            Self::Answered { .. }
            | Self::HandedOver { .. }
            | Self::Committed { .. }
            | Self::Polled { failure: None, .. } => LogLevel::Debug,
            Self::Started { .. }
            | Self::Restored { .. }
            | Self::Woken { .. }
            | Self::Suspended { .. }
            | Self::Stopping
            | Self::Refused(_)
            | Self::Done(_)
            | Self::Connected { .. }
            | Self::Closed { .. }
            | Self::Failed { .. }
            | Self::Polled { failure: Some(_), .. } => LogLevel::Info,
        }
    }

    fn line(&self) -> Line {
        let line = |what| Line::new(self.level(), what);
        let session = |what, from: SocketAddr, identity: &[u8]| {
            line(what).field("from", from).field("identity", String::from_utf8_lossy(identity))
        };
        match *self {
            Self::Started { http, coap, coaps } => {
                line("started").field("http", http).maybe("coap", coap).field("coaps", coaps)
            }
            Self::Restored { sessions } => line("restored").field("sessions", sessions),
            Self::Woken { sessions, others } => {
                line("woken").field("sessions", sessions).field("others", others)
            }
            Self::Suspended { sessions } => line("suspended").field("sessions", sessions),
            Self::Stopping => line("stopping"),
            Self::Answered { door, status } => {
                line("answered").field("door", door.name()).field("status", status)
            }
            Self::Refused(refused) => refused.line(line("refused")),
            Self::Done(done) => done.line(line("done")),
            Self::Connected { from, identity } => session("connected", from, identity),
            Self::Closed { from, identity } => session("closed", from, identity),
            Self::Failed { from, identity, failure } => {
                session("failed", from, identity).field("why", format_args!("{failure:?}"))
            }
            Self::HandedOver { passed } => line("handed_over").field("passed", passed),
            Self::Committed { posts, points, took } => line("committed")
                .field("posts", posts)
                .field("points", points)
                .field("ms", format_args!("{:.2}", took.as_secs_f64() * 1_000.0)),
            Self::Polled { resource, failure } => {
                line("polled").field("resource", resource.0).maybe("failure", failure)
            }
            Self::Expiring { certificates, expired, soon, next } => {
                let next = next.and_then(|next| jiff::Timestamp::from_millisecond(next).ok());
                line("certificates_expiring")
                    .field("of", certificates)
                    .field("expired", expired)
                    .field("within_30_days", soon)
                    .maybe("next", next)
            }
            Self::Fault { at, error } => line("fault").field("at", at.name()).field("error", error),
        }
    }
}

/// Takes events. Clones share what they know.
#[derive(Clone)]
pub(crate) struct Events {
    log: Option<Log>,
    metrics: Arc<Metrics>,
    audit: Option<Audit>,
    faults: Arc<FaultLines>,
    /// What is counted where no other thread counts, at a shard of the doors.
    shard: Option<Arc<Shard>>,
}

impl Events {
    /// Events go to `log` and into metrics.
    pub(crate) fn new(log: Log) -> Self {
        Self { log: Some(log), ..Self::unheard() }
    }

    /// Events go into metrics only.
    pub(crate) fn unheard() -> Self {
        Self { log: None, metrics: Arc::default(), audit: None, faults: Arc::default(), shard: None }
    }

    /// Refusals go to `audit` as well.
    pub(crate) fn recorded_by(self, audit: Audit) -> Self {
        Self { audit: Some(audit), ..self }
    }

    /// The same for a shard of the CoAP doors, whose requests and state are counted on their own, without waiting for another's.
    pub(crate) fn of_shard(&self) -> Self {
        Self { shard: Some(self.metrics.shard()), ..self.clone() }
    }

    /// Takes note of an event.
    pub(crate) fn tell(&self, event: Event<'_>) {
        match (event, &self.shard) {
            (Event::Answered { door, status }, Some(shard)) => shard.answered(door, status),
            _ => self.metrics.count(&event),
        }
        if let Some(log) = self.log.as_ref().filter(|log| log.takes(event.level())) {
            self.write(log, event);
        }
        let entry = match event {
            Event::Refused(refused) => Entry::Refused(refused.clone()),
            Event::Done(done) => Entry::Done(done.clone()),
            _ => return,
        };
        self.audit.iter().for_each(|audit| audit.record(entry.clone()));
    }

    /// Logs an event; a fault that goes on is logged now and then.
    fn write(&self, log: &Log, event: Event<'_>) {
        let Event::Fault { at, error } = event else { return log.write(event.line()) };
        if let Some(unlogged) = self.faults.admit(at, &error.to_string(), Instant::now()) {
            log.write(event.line().maybe("unlogged", (unlogged > 0).then_some(unlogged)));
        }
    }

    /// The record of refusals and actions, if there is one.
    pub(crate) const fn audit(&self) -> Option<&Audit> {
        self.audit.as_ref()
    }

    /// Takes note of how a shard of the CoAP doors is doing: open sessions, requests that wait for their answer, keys that are
    /// being looked up, and what the protocols have counted.
    pub(crate) fn state(&self, sessions: usize, under_way: usize, look_ups: usize, counters: &Counters) {
        if let Some(shard) = &self.shard {
            shard.state(sessions, under_way, look_ups, counters);
        }
    }

    /// Takes note of what the border router beside the cloud has counted.
    pub(crate) fn router(&self, counters: &Counters) {
        self.metrics.router(counters);
    }

    /// Takes note of when certificates end: of devices, the cloud's own, and its authority's.
    pub(crate) fn certificates(&self, devices: Expiry, own: Option<i64>, authority: Option<i64>) {
        self.metrics.certificates(devices, own, authority);
    }

    /// One post more, or one less, waits for the writer of readings.
    pub(crate) fn waiting(&self, more: bool) {
        self.metrics.waiting(more);
    }

    /// All that is known, as OpenMetrics text. `points` have been stored, `feeds` are followed, and the latest
    /// `backup`, if there is one, was made so many milliseconds after 1970.
    pub(crate) fn metrics(&self, points: u64, feeds: usize, backup: Option<i64>) -> String {
        self.metrics.text(points, feeds, backup)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::Mutex;

    use super::*;
    use crate::Error;

    /// What was logged.
    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn an_event_is_logged_if_the_level_says_so_and_counted_in_any_case() {
        let lines = Lines::default();
        let (log, thread) = Log::open(LogLevel::Info, lines.clone()).unwrap();
        let events = Events::new(log.clone());
        let from: SocketAddr = "127.0.0.1:7".parse().unwrap();
        events.tell(Event::Answered { door: Door::Http, status: 204 });
        events.tell(Event::Connected { from, identity: b"node 1" });
        events.tell(Event::Refused(&Refused::new(Door::Coaps, from, "wrong_key").who("node-2")));
        events.tell(Event::Fault { at: At::LookUp, error: &Error::Busy });
        log.close();
        thread.join().unwrap();
        let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
        let told: Vec<_> = text.lines().map(|line| line.split_once(' ').unwrap().1).collect();
        let fault = format!("error fault at=look_up error={}", serde_json::json!(Error::Busy.to_string()));
        let expected = [
            r#"info connected from=127.0.0.1:7 identity="node 1""#,
            "info refused door=coaps from=127.0.0.1:7 reason=wrong_key who=node-2",
            &*fault,
        ];
        assert_eq!(told, expected);
        let metrics = events.metrics(0, 0, None);
        for line in [
            r#"sixlock_requests_total{door="http",status="204"} 1"#,
            r#"sixlock_handshakes_total{outcome="connected"} 1"#,
            r#"sixlock_refusals_total{door="coaps",reason="wrong_key"} 1"#,
            r#"sixlock_faults_total{at="look_up"} 1"#,
        ] {
            assert!(metrics.lines().any(|known| known == line), "{line} is not in {metrics}");
        }
    }
}

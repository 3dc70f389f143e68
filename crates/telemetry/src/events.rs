//! Takes events, and makes of each a line of the log, metrics, and an entry of the record.

use std::sync::Arc;

use sixlock_base::Counters;

use crate::audit::Audit;
use crate::event::Event;
use crate::fault_lines::FaultLines;
use crate::figures::Figures;
use crate::log::Log;
use crate::metrics::{CertificateExpiry, Metrics, Shard};
use crate::record::Entry;
use crate::resource_log::ResourceLog;

/// Takes events. Clones share what they know.
#[derive(Clone)]
pub struct Events {
    log: Option<Log>,
    metrics: Arc<Metrics>,
    audit: Option<Audit>,
    resources: Option<ResourceLog>,
    faults: Arc<FaultLines>,
    /// What is counted where no other thread counts, at a shard of the CoAP server.
    shard: Option<Arc<Shard>>,
}

impl Events {
    /// Events go to `log` and into metrics.
    pub fn new(log: Log) -> Self {
        Self { log: Some(log), ..Self::unheard() }
    }

    /// Events go into metrics only.
    pub fn unheard() -> Self {
        Self {
            log: None,
            metrics: Arc::default(),
            audit: None,
            resources: None,
            faults: Arc::default(),
            shard: None,
        }
    }

    /// Refusals go to `audit` as well.
    pub fn recorded_by(self, audit: Audit) -> Self {
        Self { audit: Some(audit), ..self }
    }

    /// What happens to resources goes to `log` as well.
    pub fn logged_by(self, log: ResourceLog) -> Self {
        Self { resources: Some(log), ..self }
    }

    /// The same for a shard of the CoAP server, whose requests and state are counted on their own, without waiting for another's.
    pub fn of_shard(&self) -> Self {
        Self { shard: Some(self.metrics.shard()), ..self.clone() }
    }

    /// Takes note of an event.
    pub fn tell(&self, event: Event<'_>) {
        match (event, &self.shard) {
            (Event::Answered { scheme, status }, Some(shard)) => shard.answered(scheme, status),
            _ => self.metrics.count(&event),
        }
        if let Some(resources) = &self.resources
            && !resources.note(&event)
        {
            self.metrics.left_out_of_resource_log();
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
        let Event::Fault { at, error } = event else { return log.write(event.line(log.now())) };
        if let Some(unlogged) = self.faults.admit(at, &error.to_string(), log.now()) {
            log.write(event.line(log.now()).maybe("unlogged", (unlogged > 0).then_some(unlogged)));
        }
    }

    /// The record of refusals and actions, if there is one.
    pub const fn audit(&self) -> Option<&Audit> {
        self.audit.as_ref()
    }

    /// Takes note of how a shard of the CoAP server is doing: open sessions, requests that wait for their answer, keys that are
    /// being looked up, and what the protocols have counted.
    pub fn state(&self, sessions: usize, under_way: usize, look_ups: usize, counters: &Counters) {
        if let Some(shard) = &self.shard {
            shard.state(sessions, under_way, look_ups, counters);
        }
    }

    /// Takes note of what the border router beside the cloud has counted.
    pub fn router(&self, counters: &Counters) {
        self.metrics.router(counters);
    }

    /// Takes note of when certificates end: of devices, the cloud's own, and its authority's.
    pub fn certificates(&self, devices: CertificateExpiry, own: Option<i64>, authority: Option<i64>) {
        self.metrics.certificates(devices, own, authority);
    }

    /// One post more, or one less, waits for the writer of readings.
    pub fn waiting(&self, more: bool) {
        self.metrics.waiting(more);
    }

    /// What has happened since the start, in figures.
    pub fn figures(&self) -> Figures {
        self.metrics.figures()
    }

    /// All that is known, as OpenMetrics text. `feeds` are followed, `brokers` are connected, and the latest
    /// `backup`, if there is one, was made so many milliseconds after 1970.
    pub fn metrics(&self, feeds: usize, brokers: usize, backup: Option<i64>) -> String {
        self.metrics.text(feeds, brokers, backup)
    }
}

#[cfg(test)]
mod tests {
    use sixlock_dtls::{Failure, Refusal};
    use sixlock_testing::Recording;

    use super::*;
    use crate::event::At;
    use crate::log::LogLevel;
    use crate::record::{Refused, Scheme};
    use std::net::SocketAddr;

    #[test]
    fn an_event_is_logged_if_the_level_says_so_and_counted_in_any_case() {
        let lines = Recording::default();
        let (log, thread) = Log::open(LogLevel::Info, lines.clone(), || 0).unwrap();
        let events = Events::new(log.clone());
        let from: SocketAddr = "127.0.0.1:7".parse().unwrap();
        events.tell(Event::Answered { scheme: Scheme::Http, status: 204 });
        events.tell(Event::Connected { from, identity: b"node 1" });
        events.tell(Event::Refused(&Refused::new(Scheme::Coaps, from, "wrong_key").who("node-2")));
        events.tell(Event::Fault { at: At::LookUp, error: &"it is full" });
        log.close();
        thread.join().unwrap();
        let text = String::from_utf8(lines.bytes()).unwrap();
        let told: Vec<_> = text.lines().map(|line| line.split_once(' ').unwrap().1).collect();
        let fault = format!("error fault at=look_up error={}", serde_json::json!("it is full"));
        let expected = [
            r#"info connected from=127.0.0.1:7 identity="node 1""#,
            "info refused scheme=coaps from=127.0.0.1:7 reason=wrong_key who=node-2",
            &*fault,
        ];
        assert_eq!(told, expected);
        let metrics = events.metrics(0, 0, None);
        for line in [
            r#"sixlock_requests_total{scheme="http",status="204"} 1"#,
            r#"sixlock_handshakes_total{outcome="connected"} 1"#,
            r#"sixlock_refusals_total{scheme="coaps",reason="wrong_key"} 1"#,
            r#"sixlock_faults_total{at="look_up"} 1"#,
        ] {
            assert!(metrics.lines().any(|known| known == line), "{line} is not in {metrics}");
        }
    }

    #[test]
    fn the_log_says_why_dtls_refuses() {
        let lines = Recording::default();
        let (log, thread) = Log::open(LogLevel::Debug, lines.clone(), || 0).unwrap();
        let events = Events::new(log.clone());
        let from: SocketAddr = "127.0.0.1:7".parse().unwrap();
        events.tell(Event::Dropped { from, refusal: Refusal::Epoch });
        for failure in [
            Failure::Authentication(Refusal::WrongKey),
            Failure::Negotiation(Refusal::NoCommonGroup),
            Failure::TimedOut,
        ] {
            events.tell(Event::Failed { from, identity: b"node-1", failure });
        }
        log.close();
        thread.join().unwrap();
        let text = String::from_utf8(lines.bytes()).unwrap();
        let told: Vec<_> = text.lines().map(|line| line.split_once(' ').unwrap().1).collect();
        let expected = [
            "debug dropped from=127.0.0.1:7 reason=epoch",
            "info failed from=127.0.0.1:7 identity=node-1 why=Authentication reason=wrong-key",
            "info failed from=127.0.0.1:7 identity=node-1 why=Negotiation reason=no-common-group",
            "info failed from=127.0.0.1:7 identity=node-1 why=TimedOut",
        ];
        assert_eq!(told, expected);
    }
}

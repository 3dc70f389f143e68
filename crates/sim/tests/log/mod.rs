//! The capture and the event log of a run, read again.

use std::collections::BTreeMap;

use sixlock_sim::Sinks;
use sixlock_testing::Recording;

/// What is recorded of a run.
#[derive(Default)]
pub(crate) struct Recorded {
    pcap: Recording,
    events: Recording,
}

impl Recorded {
    pub(crate) fn sinks(&self) -> Sinks {
        Sinks { pcap: Some(self.pcap.sink()), events: Some(self.events.sink()), ..Sinks::default() }
    }

    pub(crate) fn log(&self) -> Log {
        let bytes = self.events.bytes();
        let lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        let event = |line| {
            let fields: serde_json::Value = serde_json::from_slice(line).unwrap();
            Event {
                micros: fields["us"].as_u64().unwrap(),
                node: fields["node"].as_u64().unwrap() as u32,
                name: fields["event"].as_str().unwrap().to_owned(),
                fields,
            }
        };
        Log(lines.map(event).collect())
    }

    /// The frames of the capture.
    pub(crate) fn frames(&self) -> Vec<Vec<u8>> {
        self.pcap.frames()
    }
}

/// One line of the log.
pub(crate) struct Event {
    pub(crate) micros: u64,
    pub(crate) node: u32,
    pub(crate) name: String,
    fields: serde_json::Value,
}

impl Event {
    pub(crate) fn find(&self, field: &str) -> Option<u64> {
        self.fields.get(field)?.as_u64()
    }

    pub(crate) fn number(&self, field: &str) -> u64 {
        self.find(field).unwrap_or(0)
    }

    pub(crate) fn text(&self, field: &str) -> &str {
        self.fields[field].as_str().unwrap()
    }
}

pub(crate) struct Log(Vec<Event>);

impl Log {
    pub(crate) fn all(&self) -> impl Iterator<Item = &Event> {
        self.0.iter()
    }

    pub(crate) fn of(&self, node: u32) -> impl Iterator<Item = &Event> {
        self.0.iter().filter(move |event| event.node == node)
    }

    pub(crate) fn named(&self, node: u32, name: &str) -> impl Iterator<Item = &Event> {
        self.of(node).filter(move |event| event.name == name)
    }

    /// How often a station has dropped something for each cause, by events of this name.
    pub(crate) fn causes(&self, name: &str, node: u32) -> BTreeMap<&'static str, u32> {
        let mut causes: BTreeMap<&'static str, u32> = BTreeMap::new();
        for event in self.named(node, name) {
            let cause: &'static str = event.text("cause").to_owned().leak();
            *causes.entry(cause).or_default() += 1;
        }
        causes
    }
}

//! A timeline as lines of JSON.

use std::collections::BTreeMap;
use std::fmt::{Display, Write};

use crate::energest::EnergestTicks;
use crate::energy::{ByState, Nanojoules, StateTimes};
use crate::platform::Platform;
use crate::profile::Profile;
use crate::scenario::Scenario;
use crate::time::{Span, Time};

use super::change::{Change, TimelineStation};

/// The version of this format.
const VERSION: u32 = 1;

/// A string of JSON.
fn string(text: &str) -> String {
    let mut quoted = String::from('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            // A string takes whatever is written.
            control if control.is_control() => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(control));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

fn object(fields: impl IntoIterator<Item = (impl AsRef<str>, impl Display)>) -> String {
    let fields: Vec<_> =
        fields.into_iter().map(|(name, value)| format!("{}:{value}", string(name.as_ref()))).collect();
    format!("{{{}}}", fields.join(","))
}

fn array(values: impl Iterator<Item = String>) -> String {
    format!("[{}]", values.collect::<Vec<_>>().join(","))
}

/// What is known of it, or that nothing is.
fn known(current: Option<u32>) -> String {
    current.map_or("null".into(), |current| current.to_string())
}

/// The figures of a platform.
fn platform(profile: &Profile) -> String {
    let Profile { millivolts, cpu, lpm, tx, rx, listen, off, engine, storage, energest, .. } = *profile;
    let cpu = object([("active", cpu), ("lpm", lpm)]);
    let [listen, rx, tx] = [listen, rx, tx].map(|current| current.to_string());
    let radio = object([("off", &known(off)), ("listen", &listen), ("rx", &rx), ("tx", &tx), ("ack", &tx)]);
    let idle = "0".to_owned();
    let engine = object([("idle", &idle), ("work", &known(engine))]);
    let storage = known(storage.map(|storage| storage.current));
    let storage = object([("idle", &idle), ("write", &storage)]);
    let nanoamperes = object([("cpu", cpu), ("radio", radio), ("engine", engine), ("storage", storage)]);
    object([
        ("millivolts", millivolts.to_string()),
        ("nanoamperes", nanoamperes),
        ("energest_hz", energest.to_string()),
    ])
}

/// The first line: what is simulated, on what, and which stations have which components.
pub(crate) fn begin(scenario: &Scenario, stations: &[TimelineStation]) -> String {
    let platforms: BTreeMap<_, _> = stations
        .iter()
        .filter_map(|station| station.platform.as_ref())
        .map(|on| (on.name(), platform(on.profile())))
        .collect();
    let stations = array(stations.iter().map(|station| {
        let on = station.platform.as_ref().map(Platform::name);
        let components = station.components.iter().map(|component| string(component.name()));
        object([
            ("node", station.number.to_string()),
            ("platform", on.map_or("null".into(), string)),
            ("components", array(components)),
        ])
    }));
    let line = object([
        ("us", "0".into()),
        ("timeline", VERSION.to_string()),
        ("scenario", string(&scenario.name)),
        ("security", string(&scenario.security.to_string())),
        ("seed", scenario.seed.to_string()),
        ("platforms", object(platforms)),
        ("nodes", stations),
    ]);
    format!("{line}\n")
}

/// The line of a change, at the station of this number.
pub(crate) fn change(change: &Change, number: u32, lines: &mut String) {
    let (micros, component, state) = (change.time.micros(), change.component.name(), change.name());
    // A string takes whatever is written.
    let _ = writeln!(
        lines,
        "{{\"us\":{micros},\"node\":{number},\"component\":\"{component}\",\"state\":\"{state}\"}}"
    );
}

/// What a node has come to at the end.
pub(crate) struct EndOfNode {
    pub(crate) number: u32,
    pub(crate) times: StateTimes,
    /// Of all, and of its handshakes, if it runs on a platform.
    pub(crate) energy: Option<[Nanojoules; 2]>,
    pub(crate) energest: Option<EnergestTicks>,
}

impl EndOfNode {
    fn line(&self, all: Span) -> String {
        let StateTimes { cpu, lpm, tx, rx, listen, off, engine, storage } = self.times;
        let idle = |work| all.saturating_sub(work).micros();
        let cpu = object([("active", cpu.micros()), ("lpm", lpm.micros())]);
        let radio = object(
            [("off", off), ("listen", listen), ("rx", rx), ("tx", tx)]
                .map(|(name, span)| (name, span.micros())),
        );
        let engine = object([("idle", idle(engine)), ("work", engine.micros())]);
        let storage = object([("idle", idle(storage)), ("write", storage.micros())]);
        let times = match self.energy {
            Some(_) => object([("cpu", cpu), ("radio", radio), ("engine", engine), ("storage", storage)]),
            None => object([("radio", radio)]),
        };
        let mut fields = vec![("node", self.number.to_string()), ("times_us", times)];
        if let Some([all, handshakes]) = &self.energy {
            fields.push(("nanojoules", nanojoules(all)));
            fields.push(("handshake_nanojoules", nanojoules(handshakes)));
            fields.push(("steady_nanojoules", nanojoules(&all.without(handshakes))));
        }
        if let Some(EnergestTicks { cpu, lpm, tx, rx }) = self.energest {
            fields.push(("energest", object([("cpu", cpu), ("lpm", lpm), ("tx", tx), ("rx", rx)])));
        }
        object(fields)
    }
}

fn nanojoules(energy: &Nanojoules) -> String {
    let parts = ByState::<u128>::PARTS.into_iter().zip(energy.parts());
    object(parts.filter_map(|(name, value)| Some((name, value?))))
}

/// The last line.
pub(crate) fn end(now: Time, nodes: &[EndOfNode]) -> String {
    let all = now.since(Time::ZERO);
    let nodes = array(nodes.iter().map(|node| node.line(all)));
    let line = object([("us", now.micros().to_string()), ("end", "true".into()), ("nodes", nodes)]);
    format!("{line}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_of_any_characters_is_read_back() {
        let text = "a \"name\" with \\ and \n and µ";
        assert_eq!(serde_json::from_str::<String>(&string(text)).unwrap(), text);
    }
}

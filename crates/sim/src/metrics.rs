//! The metrics of a [`Report`](crate::Report): one list, from which tables and CSV take their columns, and with which tests compare
//! the keys of the JSON. `docs/reports.md` is made of it.

use core::fmt;

use crate::drops;
use crate::energest::EnergestTicks;
use crate::energy::Energy;
use crate::readings::Skip;
use crate::statistics::Distribution;

/// A metric of a node. The border router has some of them, too, and the far end `drops`.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Its key in the JSON of a node; that of an object in another stands behind a dot.
    pub name: &'static str,
    /// The keys of the numbers that it is made of, if it is an object. One that is missing is 0 where causes are counted.
    pub parts: &'static [&'static str],
    /// What it counts, or is measured in; nothing for names and numbers of nodes.
    pub unit: &'static str,
    /// What its values may rest on; `provenance` says of a node, on which of these its times do.
    pub sources: &'static [Source],
    /// What it says.
    pub about: &'static str,
}

impl Metric {
    /// Its name and, if it has parts, theirs: a column each.
    pub fn columns(&self) -> impl Iterator<Item = String> + use<> {
        let (name, parts) = (self.name, self.parts);
        let alone = parts.is_empty().then(|| name.to_owned());
        alone.into_iter().chain(parts.iter().map(move |part| format!("{name}.{part}")))
    }
}

/// What a value rests on, in the words of `docs/platforms.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The scenario says so.
    Given,
    /// Counted in the run, of what the protocol code did.
    Counted,
    /// Cycles that an emulator counted.
    Exact,
    /// Instructions that an emulator counted, times a cycle and a third.
    Estimate,
    /// Times that the simulator reckons.
    Modelled,
    /// Figures of data sheets, manuals and papers.
    Published,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Given => "given",
            Self::Counted => "counted",
            Self::Exact => "exact",
            Self::Estimate => "estimate",
            Self::Modelled => "modelled",
            Self::Published => "published",
        })
    }
}

const TIMES: &[Source] = &[Source::Exact, Source::Estimate, Source::Modelled];
const ENERGY: &[Source] = &[Source::Exact, Source::Estimate, Source::Modelled, Source::Published];

/// What a reading or an echo is counted as.
const READINGS: &str = "readings";

/// All metrics, in the order of columns.
pub const METRICS: &[Metric] = &[
    given("id", "The node; the border router is 0"),
    given(
        "hops",
        "How many hops it is from the border router, by the parents that nodes have at the end; `null` where RPL routes and they lead to none",
    ),
    given(
        "parent",
        "Its next hop towards the border router; where RPL routes, its parent at the end, and `null` if it has lost it, has found none, or is off",
    ),
    counted(
        "joined_s",
        "s",
        "Where RPL routes, when packets could go to the border router and back first; left out if they never could",
    ),
    counted(
        "rank",
        "",
        "Where RPL routes, its rank at the end: by MRHOF the ETX of its path in units of 1/128, by OF0 256 for a hop over a good link; the border router has 128, or 256. Left out if it has no parent",
    ),
    counted("parent_changes", "changes", "Where RPL routes, how often it took a parent, the first included"),
    counted(
        "registered.at",
        "",
        "Where neighbour discovery gives addresses, the node at which it has registered its own, at the end; left out if it has none",
    ),
    counted("registered.address", "", "That address"),
    counted(
        "duplicates",
        "",
        "How often a router refused an address of it, which is another's; left out if none did",
    ),
    counted("due", READINGS, "Readings that were due, or echoes to it"),
    counted("sent", READINGS, "Those handed to CoAP; of echoes, those sent"),
    counted(
        "delivered",
        READINGS,
        "Those of which the far end accepted a first copy; of echoes, those that came back",
    ),
    counted(
        "failed",
        READINGS,
        "Those given up of which no copy arrived; of echoes, those not back when the next was sent, nor later",
    ),
    counted("skipped", READINGS, "Those that were not begun"),
    Metric {
        name: "skipped_for",
        parts: &Skip::NAMES,
        unit: READINGS,
        sources: &[Source::Counted],
        about: "Of these, how many for which cause ([causes](events.md))",
    },
    counted("pending", READINGS, "Those that are under way, or may yet be begun"),
    counted(
        "false_readings",
        READINGS,
        "Those that the far end has accepted, though the node did not send them, or had sent them before; left out if there are none",
    ),
    Metric {
        name: "drops",
        parts: &drops::NAMES,
        unit: "drops",
        sources: &[Source::Counted],
        about: "What was given up, by cause ([causes](events.md#causes-of-drop))",
    },
    counted(
        "handshake.begun",
        "handshakes",
        "DTLS handshakes that it began, or that the far end began with it",
    ),
    counted("handshake.done", "handshakes", "Those that came to a session"),
    counted("handshake.failed", "handshakes", "Those that did not"),
    Metric {
        name: "handshake.ms",
        parts: &Distribution::PARTS,
        unit: "ms",
        sources: TIMES,
        about: "How long those took that came to a session",
    },
    counted(
        "handshake.frames",
        "frames",
        "Those of `frames` that carried handshakes and alerts, others' included, and their acknowledgements",
    ),
    counted("handshake.bytes", "bytes", "Their bytes"),
    Metric {
        name: "handshake.energy_mj",
        parts: &Energy::PARTS,
        unit: "mJ",
        sources: ENERGY,
        about: "What it consumed while its own handshakes were under way",
    },
    Metric {
        name: "rtt_ms",
        parts: &Distribution::PARTS,
        unit: "ms",
        sources: TIMES,
        about: "From the beginning of the task that makes a reading to its confirmation; of an echo, until it is back",
    },
    Metric {
        name: "cpu_ms.echoed",
        parts: &Distribution::PARTS,
        unit: "ms",
        sources: TIMES,
        about: "How long its CPU was at work for an echo that it sent back",
    },
    Metric {
        name: "cpu_ms.forwarded",
        parts: &Distribution::PARTS,
        unit: "ms",
        sources: TIMES,
        about: "The same for an echo that it sent on, there and back",
    },
    counted("frames", "frames", "Frames put on the air, acknowledgements and retries included"),
    counted("bytes", "bytes", "Their bytes, FCS included"),
    counted(
        "control_frames",
        "frames",
        "Where RPL routes, those of `frames` that carried its messages, others' that it forwarded and retries included",
    ),
    counted("control_bytes", "bytes", "Their bytes"),
    Metric {
        name: "duty_cycle",
        parts: &[],
        unit: "share",
        sources: &[Source::Modelled],
        about: "Where radios sleep, the share of the time that its radio was on, with the time until it joined",
    },
    Metric {
        name: "duty_cycle_joined",
        parts: &[],
        unit: "share",
        sources: &[Source::Modelled],
        about: "Where radios sleep and RPL finds the ways, the share of the time since `joined_s` that its radio was on",
    },
    Metric {
        name: "energy_mj",
        parts: &Energy::PARTS,
        unit: "mJ",
        sources: ENERGY,
        about: "What it consumed: CPU at work (`cpu`) and with nothing to do (`lpm`), radio off, waiting for frames, receiving, sending, accelerator and writes to storage; the platform's file says nothing of what is left out",
    },
    Metric {
        name: "steady.energy_mj",
        parts: &Energy::PARTS,
        unit: "mJ",
        sources: ENERGY,
        about: "Where there are handshakes, what it consumed while none of its own was under way: `energy_mj` less `handshake.energy_mj`",
    },
    Metric {
        name: "steady.life_days",
        parts: &[],
        unit: "d",
        sources: ENERGY,
        about: "Where nodes have batteries, how long its own lasts without any further handshake",
    },
    Metric {
        name: "energest.hz",
        parts: &[],
        unit: "Hz",
        sources: &[Source::Published],
        about: "The timer by which Contiki's Energest counts on its platform",
    },
    Metric {
        name: "energest.ticks",
        parts: &EnergestTicks::PARTS,
        unit: "ticks",
        sources: TIMES,
        about: "What Energest would show: CPU at work, CPU in low power, radio sending, and on otherwise ([what it does not see](platforms.md#energest))",
    },
    Metric {
        name: "energest.energy_mj",
        parts: &[],
        unit: "mJ",
        sources: ENERGY,
        about: "What these ticks come to, times current and voltage",
    },
    Metric {
        name: "life_days",
        parts: &[],
        unit: "d",
        sources: ENERGY,
        about: "Where nodes have batteries, how long its own lasts if it goes on like that",
    },
    Metric {
        name: "provenance",
        parts: &["platform", "cpu", "engine", "radio", "currents"],
        unit: "",
        sources: &[Source::Given],
        about: "What it runs on, and what the times of its parts and their currents rest on ([platforms](platforms.md))",
    },
];

/// What is said of each attacker, in `attacks`.
pub const ATTACK_METRICS: &[Metric] = &[
    given("id", "The attacker: its number comes behind those of the nodes"),
    given("kind", "What it does ([kinds](attacks.md))"),
    counted("frames", "frames", "Frames that it put on the air"),
    counted("bytes", "bytes", "Their bytes, FCS included"),
    counted(
        "travels.packets",
        "packets",
        "Packets that it sent which may travel; left out if there are none",
    ),
    counted("travels.mean_hops", "hops", "How many stations sent one on, on average"),
    counted("travels.most_hops", "hops", "How many sent on the one that came furthest"),
    counted(
        "dropped",
        "packets",
        "Of a black hole and of selective forwarding, the packets that it was to send on, and did not",
    ),
    counted(
        "swallowed",
        READINGS,
        "Of a sink-hole, the readings that came to it; one that is sent again counts once",
    ),
];

/// What is said of all attackers together, in `cost`.
pub const COST_METRICS: &[Metric] = &[
    counted("readings", READINGS, "Readings that were delivered without them, and are not with them"),
    counted("false_readings", READINGS, "Those of all nodes"),
    counted("frames", "frames", "Frames that nodes and border router sent more"),
    counted("bytes", "bytes", "Bytes that they did"),
    counted("control_frames", "frames", "Where RPL routes, those of `frames` that carried its messages"),
    Metric {
        name: "energy_mj",
        parts: &[],
        unit: "mJ",
        sources: ENERGY,
        about: "What nodes on platforms consumed more to compute and to send; left out if there are none. A radio that listens takes so much anyhow, and more than one that receives",
    },
];

const fn given(name: &'static str, about: &'static str) -> Metric {
    Metric { name, parts: &[], unit: "", sources: &[Source::Given], about }
}

const fn counted(name: &'static str, unit: &'static str, about: &'static str) -> Metric {
    Metric { name, parts: &[], unit, sources: &[Source::Counted], about }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use serde_json::Value;

    use super::*;
    use crate::energest::Energest;
    use crate::statistics::{
        AttackCost, AttackReport, EchoWork, HandshakeReport, NodeReport, Provenance, RegisteredReport,
        RouterReport, SteadyReport, TravelReport,
    };

    fn columns() -> Vec<String> {
        METRICS.iter().flat_map(Metric::columns).collect()
    }

    /// A node of whose report no part is missing.
    fn node() -> NodeReport {
        let times = Some(Distribution { mean: 1.0, p50: 1.0, p95: 1.0 });
        let one = Some(1.0);
        let each =
            Energy { cpu: 1.0, lpm: 1.0, off: one, listen: 1.0, rx: 1.0, tx: 1.0, engine: one, storage: one };
        let energy = Some(each);
        NodeReport {
            id: 1,
            hops: Some(1),
            parent: Some(0),
            joined_s: Some(1.0),
            rank: Some(1),
            parent_changes: Some(1),
            registered: Some(RegisteredReport { at: 0, address: "2001:db8:7::1".into() }),
            duplicates: Some(1),
            due: 1,
            sent: 1,
            delivered: 1,
            failed: 1,
            skipped: 1,
            skipped_for: Skip::NAMES.map(|cause| (cause, 1)).into(),
            false_readings: 1,
            pending: 1,
            drops: drops::NAMES.map(|cause| (cause, 1)).into(),
            handshake: Some(HandshakeReport {
                begun: 1,
                done: 1,
                failed: 1,
                ms: times,
                frames: 1,
                bytes: 1,
                energy_mj: energy,
            }),
            rtt_ms: times,
            cpu_ms: Some(EchoWork { echoed: times, forwarded: times }),
            frames: 1,
            bytes: 1,
            control_frames: Some(1),
            control_bytes: Some(1),
            duty_cycle: Some(1.0),
            duty_cycle_joined: Some(1.0),
            energy_mj: energy,
            steady: Some(SteadyReport { energy_mj: each, life_days: one }),
            energest: Some(Energest { hz: 1, ticks: EnergestTicks::default(), energy_mj: 1.0 }),
            life_days: Some(1.0),
            provenance: Some(Provenance {
                platform: "micaz".into(),
                cpu: "modelled",
                engine: Some("modelled"),
                radio: "modelled",
                currents: "published",
            }),
        }
    }

    /// The keys of all values in `report` that are no objects.
    fn keys(report: &Value, within: &str, into: &mut BTreeSet<String>) {
        for (key, value) in report.as_object().unwrap() {
            let name = format!("{within}{key}");
            match value.is_object() {
                true => keys(value, &format!("{name}."), into),
                false => assert!(into.insert(name)),
            }
        }
    }

    fn keys_of(report: impl serde::Serialize) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        keys(&serde_json::to_value(report).unwrap(), "", &mut found);
        found
    }

    #[test]
    fn the_json_of_a_node_has_the_keys_of_the_list_and_no_others() {
        let listed: BTreeSet<_> = columns().into_iter().collect();
        assert_eq!(listed.len(), columns().len(), "none is listed twice");
        assert_eq!(keys_of(node()), listed);
        let drops = BTreeMap::from(drops::NAMES.map(|cause| (cause, 1)));
        let router = keys_of(RouterReport {
            frames: 1,
            bytes: 1,
            control_frames: Some(1),
            control_bytes: Some(1),
            drops,
        });
        assert!(router.is_subset(&listed), "{router:?}");
    }

    /// Programs of others read these; a name that goes, or another unit, is a new schema.
    #[test]
    fn names_that_were_promised_stay() {
        let columns = columns();
        let promised = "id hops parent due sent delivered failed skipped pending drops.rxfifo drops.queue drops.reassembly \
            drops.no-ack drops.channel-busy drops.no-route drops.icv drops.replay handshake.begun handshake.done \
            handshake.failed handshake.ms.mean handshake.ms.p50 handshake.ms.p95 handshake.frames handshake.bytes \
            rtt_ms.mean rtt_ms.p50 rtt_ms.p95 frames bytes energy_mj.cpu energy_mj.lpm energy_mj.tx energy_mj.rx \
            energy_mj.listen";
        for name in promised.split_whitespace() {
            assert!(columns.iter().any(|column| column == name), "{name}");
        }
    }

    #[test]
    fn the_json_of_attacks_has_the_keys_of_its_lists_and_no_others() {
        let travels = Some(TravelReport { packets: 1, mean_hops: 1.0, most_hops: 1 });
        let attack = AttackReport {
            id: 9,
            kind: "jam",
            frames: 1,
            bytes: 1,
            travels,
            dropped: Some(1),
            swallowed: Some(1),
        };
        let names =
            |metrics: &[Metric]| metrics.iter().map(|metric| metric.name.to_owned()).collect::<BTreeSet<_>>();
        assert_eq!(keys_of(attack), names(ATTACK_METRICS));
        let cost = AttackCost {
            readings: 1,
            false_readings: 1,
            frames: 1,
            bytes: 1,
            control_frames: Some(1),
            energy_mj: Some(1.0),
        };
        assert_eq!(keys_of(cost), names(COST_METRICS));
    }

    #[test]
    fn the_documentation_has_every_metric() {
        let text = include_str!("../../../docs/reports.md");
        let lists =
            [("# The reports", METRICS), ("## `attacks`", ATTACK_METRICS), ("## `cost`", COST_METRICS)];
        for (heading, metrics) in lists {
            let section = text.split(heading).nth(1).unwrap_or_default();
            let section = section.split("\n## ").next().unwrap_or_default();
            let documented: Vec<_> = section.lines().filter(|line| line.starts_with("| `")).collect();
            let row = |metric: &Metric| {
                let Metric { name, unit, sources, about, .. } = metric;
                let sources: Vec<_> = sources.iter().map(Source::to_string).collect();
                format!("| `{name}` | {} | {unit} | {} | {about} |", parts(metric), sources.join(", "))
            };
            let listed: Vec<_> = metrics.iter().map(row).collect();
            assert_eq!(documented, listed, "the table should be\n{}", listed.join("\n"));
        }
    }

    /// The parts of `metric` for people: those of causes are listed elsewhere.
    fn parts(metric: &Metric) -> String {
        match metric.name {
            "drops" | "skipped_for" => "the causes".into(),
            _ => metric.parts.iter().map(|part| format!("`{part}`")).collect::<Vec<_>>().join(", "),
        }
    }
}

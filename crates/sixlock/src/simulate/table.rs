//! What runs have shown, for people.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::{self, Write};

use sixlock_base::Engines;
use sixlock_sim::{
    AttackCost, Credential, Destination, HandshakeReport, NodeReport, Report, Scenario, TrafficKind,
};

use crate::columns::NOTHING;

use super::cells::Cells;
use super::rpl;

/// Prints what was run, and how the far end knows whose readings come.
pub(super) fn heading(out: &mut impl Write, scenario: &Scenario, reports: &[Report]) -> io::Result<()> {
    let Some(report) = reports.first() else { return Ok(()) };
    let seeds = match reports.last().filter(|_| reports.len() > 1) {
        Some(last) => format!("seeds {} to {}", report.seed, last.seed),
        None => format!("seed {}", report.seed),
    };
    writeln!(out, "{}, {}, {seeds}, {:.0} s", scenario.name(), scenario.security(), report.simulated_s)?;
    writeln!(out, "{}", requests(scenario))
}

fn requests(scenario: &Scenario) -> String {
    let traffic = scenario.traffic();
    let (receiver, knows) = match (traffic.to, scenario.security().transport, traffic.credential) {
        (Destination::Node(node), ..) => (format!("node {node}"), "their DTLS session"),
        (_, Some(_), _) => ("the cloud".into(), "their DTLS session"),
        (_, None, Credential::None) => ("the cloud".into(), "their address (credential = \"none\")"),
        (_, None, Credential::Query) => {
            ("the cloud".into(), "the id and key in each request (credential = \"query\")")
        }
    };
    if let Some((node, peer)) = scenario.measured_echoes() {
        return format!(
            "node {node} sends echoes to node {peer}, and measures them: --serial writes its report"
        );
    }
    match traffic.kind {
        TrafficKind::Report => format!("nodes post readings to {receiver}, which knows them by {knows}"),
        TrafficKind::Echo { payload } => format!("the cloud sends nodes {payload} bytes, which they echo"),
    }
}

/// A column of a node's line: its heading, its width, and the metrics that its numbers are the sums of.
struct Column(&'static str, usize, &'static [&'static str]);

const COLUMNS: [Column; 11] = [
    Column("node", 6, &["id"]),
    Column("hops", 4, &["hops"]),
    Column("due", 6, &["due"]),
    Column("delivered", 9, &["delivered"]),
    Column("failed", 6, &["failed"]),
    Column("skipped", 7, &["skipped"]),
    Column("pending", 7, &["pending"]),
    Column("rtt p50/ms", 10, &["rtt_ms.p50"]),
    Column("rtt p95/ms", 10, &["rtt_ms.p95"]),
    Column("frames", 8, &["frames"]),
    Column("bytes", 9, &["bytes"]),
];

/// Those of what nodes consume.
const ENERGY: [Column; 6] = [
    Column("CPU/mJ", 9, &["energy_mj.cpu"]),
    Column("TX/mJ", 8, &["energy_mj.tx"]),
    Column("RX/mJ", 8, &["energy_mj.rx"]),
    Column("listen/mJ", 10, &["energy_mj.listen"]),
    Column(
        "all/mJ",
        10,
        &[
            "energy_mj.cpu",
            "energy_mj.lpm",
            "energy_mj.off",
            "energy_mj.tx",
            "energy_mj.rx",
            "energy_mj.listen",
            "energy_mj.engine",
            "energy_mj.storage",
        ],
    ),
    Column(
        "without listen/mJ",
        17,
        &[
            "energy_mj.cpu",
            "energy_mj.lpm",
            "energy_mj.off",
            "energy_mj.tx",
            "energy_mj.rx",
            "energy_mj.engine",
            "energy_mj.storage",
        ],
    ),
];

impl Column {
    /// What stands there for what `cells` are of: whole numbers as they are, times and energies with one digit. A sum is that of the parts which
    /// there are.
    fn cell(&self, cells: &Cells) -> Option<String> {
        let Self(heading, _, metrics) = self;
        let sum = metrics.iter().filter_map(|metric| cells.number(metric)).reduce(|sum, part| sum + part)?;
        Some(if heading.contains('/') { format!("{sum:.1}") } else { sum.to_string() })
    }
}

/// Prints one run, a line a node.
pub(super) fn nodes(out: &mut impl Write, scenario: &Scenario, report: &Report) -> io::Result<()> {
    let consume = report.nodes.iter().any(|node| node.energy_mj.is_some());
    let columns: Vec<_> = COLUMNS.iter().chain(ENERGY.iter().filter(|_| consume)).collect();
    line(out, columns.iter().map(|Column(heading, width, _)| (*width, (*heading).into())))?;
    for cells in Cells::of_nodes(report)? {
        let cell = |column: &Column| column.cell(&cells).unwrap_or(NOTHING.into());
        line(out, columns.iter().map(|column| (column.1, cell(column))))?;
    }
    let router = Cells::of_router(report)?;
    let (names, rest) = columns.split_at(1);
    let name = names.iter().map(|column| (column.1, "router".into()));
    let rest = rest.iter().map(|column| (column.1, column.cell(&router).unwrap_or_default()));
    line(out, name.chain(rest))?;
    if consume { provenance(out, scenario, report) } else { Ok(()) }
}

/// Prints a line of cells, each as wide as is said with it.
pub(super) fn line(out: &mut impl Write, cells: impl Iterator<Item = (usize, String)>) -> io::Result<()> {
    let cells: Vec<_> = cells.map(|(width, cell)| format!("{cell:>width$}")).collect();
    writeln!(out, "{}", cells.join(" ").trim_end())
}

fn provenance(out: &mut impl Write, scenario: &Scenario, report: &Report) -> io::Result<()> {
    let provenances = || report.nodes.iter().filter_map(|node| node.provenance.as_ref());
    let from = |cpu| provenances().any(|node| node.cpu == cpu);
    let cpu = match (from("emulated"), from("modelled")) {
        (true, true) => "emulated or modelled",
        (true, false) => "emulated",
        _ => "modelled",
    };
    let are = |currents| provenances().any(|node| node.currents == currents);
    let currents = match (are("published"), are("given")) {
        (true, true) => "published, or given by the file of a board",
        (false, true) => "given by the file of a board",
        _ => "published",
    };
    writeln!(out, "CPU times are {cpu}, radio times modelled, currents {currents}: see docs/platforms.md")?;
    if scenario.security().engines != Engines::NONE {
        writeln!(out, "what @engine computes takes times modelled from data sheets")?;
    }
    Ok(())
}

/// Prints what all runs come to.
pub(super) fn sums(out: &mut impl Write, scenario: &Scenario, reports: &[Report]) -> io::Result<()> {
    let sum = |field: fn(&NodeReport) -> u64| reports.iter().map(|report| report.sum(field)).sum::<u64>();
    let (due, delivered) = (sum(|node| node.due), sum(|node| node.delivered));
    let noun = match scenario.traffic().kind {
        TrafficKind::Report => "readings",
        TrafficKind::Echo { .. } => "echoes",
    };
    writeln!(out, "{delivered} of {due} {noun} due were delivered ({})", share(delivered, due))?;
    let [failed, skipped, pending] =
        [sum(|node| node.failed), sum(|node| node.skipped), sum(|node| node.pending)];
    if delivered < due {
        let nodes = reports.iter().flat_map(|report| &report.nodes);
        let causes = spell(nodes.flat_map(|node| &node.skipped_for));
        let causes = if causes.is_empty() { causes } else { format!(" ({causes})") };
        writeln!(out, "failed {failed}, skipped {skipped}{causes}, pending at the end {pending}")?;
    }
    if scenario.security().transport.is_some() {
        handshakes(out, reports)?;
    }
    rpl::print(out, reports)?;
    let drops = reports.iter().flat_map(|report| {
        report.nodes.iter().map(|node| &node.drops).chain([&report.router.drops]).flatten()
    });
    match spell(drops) {
        none if none.is_empty() => {}
        drops => writeln!(out, "dropped on the way: {drops}; docs/events.md says why each is")?,
    }
    attacks(out, reports)
}

/// Prints what attackers did, and what that cost the network.
fn attacks(out: &mut impl Write, reports: &[Report]) -> io::Result<()> {
    for attack in reports.iter().flat_map(|report| &report.attacks) {
        write!(out, "attacker {}, {}: {} frames", attack.id, attack.kind, attack.frames)?;
        if let Some(travels) = attack.travels {
            write!(
                out,
                "; {} packets travelled {:.1} hops on average, {} at most",
                travels.packets, travels.mean_hops, travels.most_hops
            )?;
        }
        if let Some(dropped) = attack.dropped {
            write!(out, "; {dropped} packets that it was to send on were dropped")?;
        }
        if let Some(swallowed) = attack.swallowed {
            write!(out, "; {swallowed} readings came to it and went no further")?;
        }
        writeln!(out)?;
    }
    costs(out, reports)
}

/// Prints what attacks cost, beside runs without them.
fn costs(out: &mut impl Write, reports: &[Report]) -> io::Result<()> {
    let costs: Vec<_> = reports.iter().filter_map(|report| report.cost).collect();
    if costs.is_empty() {
        return Ok(());
    }
    let sum = |field: fn(&AttackCost) -> i64| costs.iter().map(field).sum::<i64>();
    let readings = difference(-sum(|cost| cost.readings), "readings");
    let false_readings: u64 = costs.iter().map(|cost| cost.false_readings).sum();
    let frames = difference(sum(|cost| cost.frames), "frames");
    let bytes = difference(sum(|cost| cost.bytes), "bytes");
    write!(
        out,
        "beside the same without attacks: {readings} were delivered, {false_readings} false ones accepted, \
        {frames} and {bytes} sent"
    )?;
    let control = |report: &Report| Some((report.control_frames()?, report.cost?.control_frames?));
    if let Some((sent, more)) =
        reports.iter().filter_map(control).reduce(|(sent, more), (s, m)| (sent + s, more + m))
    {
        match (sent as i64 - more) as f64 {
            calm if calm > 0.0 => {
                write!(out, ", {:.1} times as many frames with control messages", sent as f64 / calm)?;
            }
            _ => write!(out, ", {} with control messages", difference(more, "frames"))?,
        }
    }
    if let Some(more) = costs.iter().filter_map(|cost| cost.energy_mj).reduce(|sum, one| sum + one) {
        let word = if more < 0.0 { "less" } else { "more" };
        write!(out, ", {:.1} mJ {word} consumed to compute and to send", more.abs())?;
    }
    writeln!(out)
}

/// How many more of `noun` there were, or fewer.
fn difference(more: i64, noun: &str) -> String {
    match more {
        0 => format!("as many {noun}"),
        1.. => format!("{more} {noun} more"),
        _ => format!("{} {noun} fewer", more.unsigned_abs()),
    }
}

/// The share of `whole` that `part` is; there is none of nothing.
fn share(part: u64, whole: u64) -> String {
    match whole {
        0 => NOTHING.into(),
        _ => format!("{:.2} %", 100.0 * part as f64 / whole as f64),
    }
}

/// Counts by cause, summed up.
fn spell<'c, N: Copy + Into<u64> + 'c>(counts: impl Iterator<Item = (&'c &'static str, &'c N)>) -> String {
    let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
    for (cause, count) in counts {
        *sums.entry(cause).or_default() += (*count).into();
    }
    list(sums.iter().map(|(cause, count)| format!("{cause} {count}")))
}

fn list(parts: impl Iterator<Item = impl Display>) -> String {
    parts.map(|part| part.to_string()).collect::<Vec<_>>().join(", ")
}

/// Prints how handshakes fared, apart from the readings.
fn handshakes(out: &mut impl Write, reports: &[Report]) -> io::Result<()> {
    let each = || reports.iter().flat_map(|report| &report.nodes).filter_map(|node| node.handshake.as_ref());
    let sum = |field: fn(&HandshakeReport) -> u64| each().map(field).sum::<u64>();
    let [begun, done, failed] = [sum(|all| all.begun), sum(|all| all.done), sum(|all| all.failed)];
    write!(out, "DTLS handshakes: {begun} begun, {done} done, {failed} failed")?;
    if let Some(longest) = each().filter_map(|handshake| handshake.ms).map(|ms| ms.mean).reduce(f64::max) {
        write!(out, ", at the slowest node in {longest:.0} ms on average")?;
    }
    let [frames, bytes] = [sum(|all| all.frames.into()), sum(|all| all.bytes.into())];
    writeln!(out, "; {frames} frames and {bytes} bytes of nodes were theirs")?;
    completed(out, reports)
}

/// Prints in how many runs each node got a session that had a handshake begun, if any had.
fn completed(out: &mut impl Write, reports: &[Report]) -> io::Result<()> {
    let has_begun = |node: &&NodeReport| node.handshake.as_ref().is_some_and(|handshake| handshake.begun > 0);
    let begun: Vec<_> =
        reports.iter().filter(|report| report.nodes.iter().any(|node| has_begun(&node))).collect();
    if begun.is_empty() {
        return Ok(());
    }
    let is_complete =
        |report: &&&Report| report.nodes.iter().filter(has_begun).all(|node| node.handshakes() > 0);
    let (runs, complete) = (begun.len(), begun.iter().filter(is_complete).count());
    let noun = if runs == 1 { "run" } else { "runs" };
    // A server of others' readings begins none, nor does a node that posts none.
    let nodes = match reports.iter().flat_map(|report| &report.nodes).all(|node| has_begun(&node)) {
        true => "every node completed its DTLS handshake",
        false => "every node that had a DTLS handshake begun completed one",
    };
    writeln!(out, "{nodes} in {complete} of {runs} {noun}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixlock_sim::{METRICS, Metric, Options, Simulation, Time};

    fn printed(text: &str) -> String {
        let scenario = Scenario::parse("s", text).unwrap_or_else(|error| panic!("{error}"));
        let mut simulation = Simulation::new(&scenario, Options::default()).unwrap();
        simulation.step_until(Time::ZERO + scenario.duration());
        let reports = [simulation.report()];
        let mut out = Vec::new();
        heading(&mut out, &scenario, &reports).unwrap();
        nodes(&mut out, &scenario, &reports[0]).unwrap();
        sums(&mut out, &scenario, &reports).unwrap();
        String::from_utf8(out).unwrap()
    }

    /// What is printed of a run in which somebody attacks.
    fn attacked(text: &str) -> String {
        let scenario = Scenario::parse("s", text).unwrap_or_else(|error| panic!("{error}"));
        let report = Simulation::new(&scenario, Options::default()).unwrap().run().unwrap();
        let reports = [sixlock_sim::with_cost(&scenario, report).unwrap()];
        let mut out = Vec::new();
        sums(&mut out, &scenario, &reports).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_column_is_of_metrics_in_the_list() {
        let listed: Vec<_> = METRICS.iter().flat_map(Metric::columns).collect();
        for metric in COLUMNS.iter().chain(&ENERGY).flat_map(|column| column.2) {
            assert!(listed.iter().any(|name| name == metric), "{metric}");
        }
    }

    #[test]
    fn of_nothing_due_no_share_is_delivered() {
        let printed = printed("duration = \"1ms\"\nsecurity = \"none\"\n[traffic]\nperiod = \"20d\"");
        assert!(printed.contains("\n0 of 0 readings due were delivered (–)\n"), "{printed}");
    }

    #[test]
    fn a_table_says_what_was_due_and_how_requests_say_whose_they_are() {
        let text =
            "duration = \"100s\"\nsecurity = \"none\"\n[topology]\nnodes = 1\n[traffic]\nperiod = \"10s\"\n";
        let none = printed(text);
        assert!(none.contains("which knows them by their address (credential = \"none\")"), "{none}");
        assert!(none.contains("\n10 of 10 readings due were delivered (100.00 %)\n"), "{none}");
        let row: Vec<_> = none.lines().find(|line| line.starts_with("     1 ")).unwrap().split(' ').collect();
        let row: Vec<_> = row.into_iter().filter(|field| !field.is_empty()).collect();
        assert_eq!(row[..7], ["1", "1", "10", "10", "0", "0", "0"], "{none}");
        let query = printed(&format!("{text}credential = \"query\""));
        assert!(query.contains("by the id and key in each request (credential = \"query\")"), "{query}");
    }

    #[test]
    fn what_an_attack_cost_is_told() {
        let text = "duration = \"100s\"\nsecurity = \"none\"\n[topology]\nnodes = 3\n[traffic]\nperiod = \"10s\"\n\
            [[attack]]\nkind = \"forge\"\nx = \"80m\"\ny = \"40m\"\nend = \"100s\"\n";
        let printed = attacked(text);
        assert!(
            printed.contains(
                "\nattacker 4, forge: 30 frames; 10 packets travelled 2.0 hops on average, 2 at most\n"
            ),
            "{printed}"
        );
        assert!(printed.contains(": as many readings were delivered, 10 false ones accepted, "), "{printed}");
    }

    #[test]
    fn what_became_of_packets_is_told_of_those_who_drop_them() {
        let of = |security: &str, routing: &str, attack: &str| {
            attacked(&format!(
                "duration = \"400s\"\nsecurity = \"{security}\"\n[routing]\nkind = \"{routing}\"\n[topology]\nnodes = 4\n\
                [traffic]\nperiod = \"20s\"\n[[attack]]\nstart = \"120s\"\n{attack}\n"
            ))
        };
        let number = |printed: &str, before: &str, after: &str| -> f64 {
            let number = printed.split(after).next().unwrap().rsplit(before).next().unwrap();
            number.parse().unwrap_or_else(|_| panic!("{before}…{after} in {printed}"))
        };
        // Nodes 3 and 4 send 14 readings each behind it, as is counted beside it.
        let hole = of("none", "static", "kind = \"black-hole\"\nnode = 2");
        assert!(number(&hole, "; ", " packets that it was to send on were dropped\n") >= 28.0, "{hole}");
        assert!(hole.contains(" frames fewer and ") && hole.contains(" bytes fewer sent\n"), "{hole}");
        assert!(!hole.contains(" -"), "{hole}");
        let place = "x = \"140m\"\ny = \"20m\"";
        let hole = of("none", "rpl", &format!("kind = \"sink-hole\"\n{place}"));
        let swallowed = number(&hole, "; ", " readings came to it and went no further\n");
        // A node whose reading is swallowed sends it again and again, and skips those that are due meanwhile.
        let failed = number(&hole, "failed ", ", skipped");
        let pending = number(&hole, "pending at the end ", "\nRPL");
        assert!(failed > 0.0 && (failed..=failed + pending).contains(&swallowed), "{hole}");
        let flood = of("none", "rpl", &format!("kind = \"dio-flood\"\n{place}"));
        assert!(number(&flood, ", ", " times as many frames with control messages\n") >= 2.0, "{flood}");
        // Who is asked much computes and sends much, and listens less.
        let flood = of(
            "none",
            "static",
            &format!(
                "kind = \"handshake-flood\"\nevery = \"1s\"\n{place}\n[platform]\nprofile = \"openmote\""
            ),
        );
        assert!(number(&flood, ", ", " mJ more consumed to compute and to send\n") > 0.0, "{flood}");
    }

    #[test]
    fn completed_handshakes_are_told_of_nodes_that_began_any() {
        let chain = |more: &str| {
            printed(&format!("security = \"dtls-psk\"\n[topology]\nnodes = 2\n[traffic]\nperiod = {more}"))
        };
        let all = chain("\"10s\"");
        assert!(all.contains("\nevery node completed its DTLS handshake in 1 of 1 run\n"), "{all}");
        let among_nodes = chain("\"10s\"\nto = 1");
        assert!(among_nodes.contains("\nDTLS handshakes: 1 begun, 1 done, 0 failed"), "{among_nodes}");
        let some = "\nevery node that had a DTLS handshake begun completed one in 1 of 1 run\n";
        assert!(among_nodes.contains(some), "{among_nodes}");
        let none = printed("duration = \"1ms\"\nsecurity = \"dtls-psk\"\n[traffic]\nperiod = \"20d\"");
        assert!(none.contains("\nDTLS handshakes: 0 begun") && !none.contains("every node"), "{none}");
    }

    #[test]
    fn how_a_network_formed_itself_by_rpl_is_told_with_the_ways_at_the_end() {
        let text = "duration = \"300s\"\nsecurity = \"none\"\n[topology]\nnodes = 3\n";
        let static_routes = printed(text);
        assert!(
            !static_routes.contains("RPL") && !static_routes.contains("ways at the end"),
            "{static_routes}"
        );
        let rpl = printed(&format!("{text}[routing]\nkind = \"rpl\"\n"));
        let line = rpl.lines().find(|line| line.starts_with("RPL: ")).unwrap();
        assert!(line.starts_with("RPL: 3 of 3 nodes joined, after "), "{line}");
        let seconds = |before: &str, after: &str| -> f64 {
            line.split(after).next().unwrap().rsplit(before).next().unwrap().parse().unwrap()
        };
        // Each joins over the one before.
        let (median, last) = (seconds("after ", " s in the median"), seconds("and ", " s at the latest"));
        assert!(median > 0.0 && median < last, "{line}");
        assert!(line.contains("; parents were taken 3 times, the first of each node included; "), "{line}");
        assert!(!line.contains("; 0 frames"), "{line}");
        assert!(rpl.contains("\nways at the end, by hops: 1 of 1, 1 of 2, 1 of 3\n"), "{rpl}");
        let dies = "[routing]\nkind = \"rpl\"\n[[event]]\nat = \"60s\"\nnode = 2\nkind = \"die\"\n";
        let broken = printed(&format!("{text}{dies}"));
        assert!(broken.contains("\nways at the end, by hops: 1 of 1, 2 nodes without a way\n"), "{broken}");
        let row: Vec<_> =
            broken.lines().find(|line| line.starts_with("     3 ")).unwrap().split_whitespace().collect();
        assert_eq!(row[..2], ["3", NOTHING], "{broken}");
    }

    #[test]
    fn what_was_lost_is_told_with_its_causes() {
        let text = "duration = \"200s\"\nsecurity = \"none\"\n[radio]\nloss = 1.0\n[platform]\nprofile = \"openmote\"\n\
            [topology]\nnodes = 1\n[traffic]\nperiod = \"10s\"\n";
        let printed = printed(text);
        assert!(printed.contains("\n0 of 20 readings due were delivered (0.00 %)\n"), "{printed}");
        assert!(printed.contains(", skipped ") && printed.contains("(under-way "), "{printed}");
        assert!(printed.contains("dropped on the way: no-ack "), "{printed}");
        assert!(printed.contains(" without listen/mJ\n"), "{printed}");
        // No part of this board has an energy of its own while the radio is off.
        let node = printed.lines().find(|line| line.starts_with("     1 ")).unwrap();
        let all: f64 = node.split_whitespace().rev().nth(1).unwrap().parse().unwrap();
        assert!(all > 1000.0, "{printed}");
    }
}

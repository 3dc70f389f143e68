//! What nodes have consumed in a run, by component and state, for people.

use std::io::{self, Write};

use sixlock_sim::Report;

use crate::columns::NOTHING;

use super::cells::Cells;
use super::table::line;

/// The parts of energy: what their columns are called, and their names in reports.
const PARTS: [(&str, &str); 8] = [
    ("CPU", "cpu"),
    ("LPM", "lpm"),
    ("radio off", "off"),
    ("listen", "listen"),
    ("RX", "rx"),
    ("TX", "tx"),
    ("engine", "engine"),
    ("storage", "storage"),
];

/// A column: its heading, and what stands in it of a node.
type Column<'a> = (&'a str, Box<dyn Fn(&Cells) -> Option<String> + 'a>);

/// Prints a line for each node on a platform, if there is any.
pub(super) fn nodes(out: &mut impl Write, report: &Report) -> io::Result<()> {
    let nodes: Vec<_> =
        Cells::of_nodes(report)?.into_iter().filter(|node| all(node, "energy_mj").is_some()).collect();
    if nodes.is_empty() {
        return Ok(());
    }
    let has = |name: &str| nodes.iter().any(|node| node.number(name).is_some());
    let mut columns: Vec<Column<'_>> = vec![("node", Box::new(|node| Some(node.text("id"))))];
    for (heading, part) in PARTS {
        let name = format!("energy_mj.{part}");
        if has(&name) {
            columns.push((heading, Box::new(move |node| Some(millijoules(node.number(&name)?)))));
        }
    }
    let mut sum =
        |heading, name| columns.push((heading, Box::new(move |node| Some(millijoules(all(node, name)?)))));
    sum("all", "energy_mj");
    if has("steady.energy_mj.cpu") {
        sum("handshakes", "handshake.energy_mj");
        sum("steady", "steady.energy_mj");
    }
    columns.push(("Energest", Box::new(|node| Some(millijoules(node.number("energest.energy_mj")?)))));
    for (heading, name) in [("radio on/%", "duty_cycle"), ("joined/%", "duty_cycle_joined")] {
        if has(name) {
            columns.push((heading, Box::new(move |node| Some(format!("{:.2}", 100.0 * node.number(name)?)))));
        }
    }
    if has("life_days") {
        columns.push(("life/d", Box::new(|node| Some(format!("{:.1}", node.number("life_days")?)))));
    }
    writeln!(
        out,
        "energy by component and state, in mJ; all is their sum, Energest what Contiki's would come to"
    )?;
    let cell = |value: Option<String>| value.unwrap_or(NOTHING.into());
    let rows: Vec<Vec<_>> =
        nodes.iter().map(|node| columns.iter().map(|(_, of)| cell(of(node))).collect()).collect();
    let width = |at: usize| {
        let cells = rows.iter().map(|row: &Vec<String>| row[at].chars().count());
        cells.chain([columns[at].0.len()]).max().unwrap_or(0) + usize::from(at > 0)
    };
    let widths: Vec<_> = (0..columns.len()).map(width).collect();
    line(out, widths.iter().copied().zip(columns.iter().map(|(heading, _)| (*heading).to_owned())))?;
    for row in rows {
        line(out, widths.iter().copied().zip(row))?;
    }
    let lives = nodes.iter().filter_map(|node| Some((node.number("life_days")?, node.text("id"))));
    if let Some((days, id)) = lives.min_by(|(a, _), (b, _)| a.total_cmp(b)) {
        writeln!(
            out,
            "the battery of node {id} is empty first, after {days:.1} days if all goes on like that"
        )?;
    }
    for node in nodes.iter().filter(|node| node.number("life_days").is_some() && delivers_nothing(node)) {
        let (id, due) = (node.text("id"), node.text("due"));
        writeln!(
            out,
            "node {id} has delivered none of {due} readings: how long its battery lasts is not how long it works"
        )?;
    }
    Ok(())
}

/// Whether nothing of a node has arrived, though something should have by now.
fn delivers_nothing(node: &Cells) -> bool {
    let number = |name| node.number(name).unwrap_or(0.0);
    number("delivered") == 0.0 && number("due") > number("pending")
}

/// What the parts of the energy `name` come to, as far as they are known, if there are any.
fn all(node: &Cells, name: &str) -> Option<f64> {
    let parts = PARTS.iter().filter_map(|(_, part)| node.number(&format!("{name}.{part}")));
    parts.reduce(|sum, part| sum + part)
}

/// An energy with as many digits as people read, also if it is small.
fn millijoules(energy: f64) -> String {
    match energy {
        0.0 => "0".into(),
        small if small < 1.0 => format!("{small:.4}"),
        large => format!("{large:.1}"),
    }
}

#[cfg(test)]
mod tests {
    use sixlock_sim::{METRICS, Metric, Options, Scenario, Simulation};

    use super::*;

    fn printed(text: &str) -> String {
        let scenario = Scenario::parse("s", text).unwrap_or_else(|error| panic!("{error}"));
        let report = Simulation::new(&scenario, Options::default()).unwrap().run().unwrap();
        let mut out = Vec::new();
        nodes(&mut out, &report).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn fields(line: &str) -> Vec<&str> {
        line.split(' ').filter(|field| !field.is_empty()).collect()
    }

    #[test]
    fn parts_are_those_of_the_metric() {
        let columns: Vec<_> = METRICS.iter().flat_map(Metric::columns).collect();
        let listed = columns.iter().filter_map(|column| column.strip_prefix("energy_mj."));
        assert_eq!(listed.collect::<Vec<_>>(), PARTS.map(|(_, part)| part));
    }

    #[test]
    fn energy_is_told_by_component_and_state_of_nodes_on_platforms_alone() {
        let network = "duration = \"100s\"\n[topology]\nnodes = 2\n[traffic]\nperiod = \"10s\"\n";
        assert_eq!(printed(network), "");
        let table = printed(&format!("{network}[platform]\nprofile = \"tmote-sky\"\n[battery]\n"));
        let lines: Vec<_> = table.lines().collect();
        assert_eq!(
            fields(lines[1]),
            ["node", "CPU", "LPM", "listen", "RX", "TX", "all", "handshakes", "steady", "Energest", "life/d"],
            "{table}"
        );
        for (row, id) in lines[2..4].iter().zip(["1", "2"]) {
            let fields = fields(row);
            let number = |at: usize| fields[at].parse::<f64>().unwrap();
            assert_eq!(fields[0], id);
            assert!((number(6) - (1..=5).map(number).sum::<f64>()).abs() < 0.5, "{table}");
            assert!(number(7) > 0.0 && (number(6) - number(7) - number(8)).abs() < 0.2, "{table}");
            assert!((number(6) - number(9)).abs() < 0.01 * number(6), "{table}");
        }
        assert!(lines[4].contains(" is empty first, after "), "{table}");
        assert_eq!(lines.len(), 5, "{table}");
    }

    #[test]
    fn of_a_node_that_delivers_nothing_it_is_said_beside_the_life_of_its_battery() {
        let text = "duration = \"600s\"\n[traffic]\nperiod = \"10s\"\n[battery]\n[topology]\nkind = \"list\"\n\
            [[node]]\nid = 1\nx = \"30m\"\n[[node]]\nid = 2\nx = \"60m\"\nplatform = \"tmote-sky\"\n\
            [[event]]\nat = \"1s\"\nnode = 1\nkind = \"die\"\n";
        let table = printed(text);
        assert!(table.contains("\nnode 2 has delivered none of 60 readings: "), "{table}");
    }
}

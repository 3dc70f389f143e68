//! What came of a siege: figures, each with the most that it may be.

use std::fmt;
use std::time::Duration;

use serde_json::{Value, json};

/// In what a figure is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// A number of something.
    Count,
    Milliseconds,
    /// 1,000,000 bytes.
    Megabytes,
}

impl Unit {
    const fn name(self) -> &'static str {
        match self {
            Self::Count => "",
            Self::Milliseconds => "ms",
            Self::Megabytes => "MB",
        }
    }

    fn format(self, value: f64) -> String {
        match self {
            Self::Count => format!("{value:.0}"),
            Self::Milliseconds | Self::Megabytes => format!("{value:.1} {}", self.name()),
        }
    }
}

/// A figure and its bound.
#[derive(Clone, Debug)]
pub(super) struct Figure {
    pub(super) what: String,
    pub(super) value: f64,
    /// The most that it may be.
    pub(super) most: f64,
    pub(super) unit: Unit,
    /// Whether a machine that is busy with something else can make it more.
    is_of_time: bool,
}

impl Figure {
    fn new(what: &str, value: f64, most: f64, unit: Unit) -> Self {
        Self { what: what.into(), value, most, unit, is_of_time: unit == Unit::Milliseconds }
    }

    pub(super) fn count(what: &str, value: usize, most: usize) -> Self {
        Self::new(what, value as f64, most as f64, Unit::Count)
    }

    /// How many there were because somebody was slow.
    pub(super) fn late(what: &str, value: usize, most: usize) -> Self {
        Self { is_of_time: true, ..Self::count(what, value, most) }
    }

    pub(super) fn latency(what: &str, value: Duration, most: Duration) -> Self {
        let [value, most] = [value, most].map(|duration| duration.as_secs_f64() * 1_000.0);
        Self::new(what, value, most, Unit::Milliseconds)
    }

    pub(super) fn memory(what: &str, bytes: u64, most: u64) -> Self {
        let [bytes, most] = [bytes, most].map(|bytes| bytes as f64 / 1e6);
        Self::new(what, bytes, most, Unit::Megabytes)
    }

    fn holds(&self) -> bool {
        self.value <= self.most
    }
}

/// What came of a siege.
#[derive(Clone, Debug)]
pub struct Besieged {
    /// What HTTP went over.
    pub(super) over: &'static str,
    pub(super) figures: Vec<Figure>,
    /// What else there is to say.
    pub(super) notes: Vec<String>,
}

impl Besieged {
    /// Whether all figures hold.
    pub fn holds(&self) -> bool {
        self.figures.iter().all(Figure::holds)
    }

    /// The figures that do not hold, but for those that a busy machine makes worse.
    pub fn faults(&self) -> Vec<String> {
        let faults = self.figures.iter().filter(|figure| !figure.is_of_time && !figure.holds());
        faults.map(|figure| format!("{}: {}", figure.what, figure.unit.format(figure.value))).collect()
    }

    /// The figures as JSON.
    pub fn json(&self) -> Value {
        let figure = |figure: &Figure| {
            let Figure { what, value, most, unit, .. } = figure;
            json!({ "what": what, "value": value, "at_most": most, "unit": unit.name(), "holds": figure.holds() })
        };
        let figures = self.figures.iter().map(figure).collect::<Vec<_>>();
        json!({ "over": self.over, "holds": self.holds(), "figures": figures, "notes": self.notes })
    }
}

impl fmt::Display for Besieged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<58}{:>14}{:>14}  holds",
            format!("besieged over {}", self.over),
            "figure",
            "at most"
        )?;
        for figure in &self.figures {
            let Figure { what, value, most, unit, .. } = figure;
            let holds = if figure.holds() { "yes" } else { "NO" };
            writeln!(f, "{what:<58}{:>14}{:>14}  {holds}", unit.format(*value), unit.format(*most))?;
        }
        self.notes.iter().try_for_each(|note| writeln!(f, "  {note}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_a_figure_above_its_bound_that_no_busy_machine_explains() {
        let late = Figure::latency("late", Duration::from_millis(3), Duration::from_millis(2));
        let [lost, kept] = [1, 0].map(|value| Figure::count("lost", value, 0));
        let besieged = |figures| Besieged { over: "HTTP", figures, notes: Vec::new() };
        assert!(besieged(vec![kept.clone()]).holds());
        let slow = besieged(vec![kept, late, Figure::late("left", 1, 0)]);
        assert!(!slow.holds() && slow.faults().is_empty(), "{slow}");
        assert_eq!(besieged(vec![lost]).faults(), ["lost: 1"]);
    }
}

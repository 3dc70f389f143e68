//! What a whole run comes to, a number each: in tables of several runs, of varied keys, and of options that are compared.

use crate::energy::Energy;
use crate::spread::Spread;
use crate::statistics::{NodeReport, Report};

/// A number that a run comes to. None is less than 0.
#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    /// What it is.
    pub name: &'static str,
    /// What it is called where each is a column or a key.
    pub column: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// The largest that it can be.
    most: f64,
    /// Its value, if the run has one.
    of: fn(&Report) -> Option<f64>,
}

impl Quantity {
    /// Readings delivered of those that were due.
    pub const DELIVERED: Self = Self {
        name: "Delivered of due",
        column: "delivered_percent",
        unit: "%",
        most: 100.0,
        of: |report| Some(100.0 * report.delivery()?),
    };
    /// How long a reading takes to be confirmed, or an echo to come back.
    pub const ROUND_TRIP: Self = Self {
        name: "Round trip, mean of nodes' means",
        column: "rtt_ms",
        unit: "ms",
        most: f64::INFINITY,
        of: |report| {
            let means = report.nodes.iter().filter_map(|node| Some(node.rtt_ms?.mean));
            let (count, sum) = means.fold((0.0, 0.0), |(count, sum), mean| (count + 1.0, sum + mean));
            (count > 0.0).then(|| sum / count)
        },
    };
    /// The same at its slowest: the 95th percentile of the node where that is longest.
    pub const LATENCY: Self = Self {
        name: "95 % of the slowest node's readings confirmed within",
        column: "latency_ms",
        unit: "ms",
        most: f64::INFINITY,
        of: |report| slowest(report, |node| Some(node.rtt_ms?.p95)),
    };
    /// What nodes and border router sent.
    pub const BYTES: Self = Self {
        name: "Sent by router and nodes",
        column: "bytes",
        unit: "bytes",
        most: f64::INFINITY,
        of: |report| Some(bytes(report)),
    };
    /// The same for each reading delivered, handshakes and routing included.
    pub const BYTES_A_READING: Self = Self {
        name: "Bytes on the air a delivered reading",
        column: "bytes_a_reading",
        unit: "bytes",
        most: f64::INFINITY,
        of: |report| {
            let delivered = report.sum(|node| node.delivered);
            (delivered > 0).then(|| bytes(report) / delivered as f64)
        },
    };
    /// What all nodes took.
    pub const ENERGY: Self = Self {
        name: "Energy of all nodes",
        column: "energy_mj",
        unit: "mJ",
        most: f64::INFINITY,
        of: |report| energy(report, Energy::total),
    };
    /// The same, but for the radio that waits for a frame.
    pub const ENERGY_WITHOUT_LISTENING: Self = Self {
        name: "The same without listening",
        column: "energy_without_listening_mj",
        unit: "mJ",
        most: f64::INFINITY,
        of: |report| energy(report, Energy::without_listening),
    };
    /// How long the first battery lasts.
    pub const LIFE: Self = Self {
        name: "Life of the worst node",
        column: "life_days",
        unit: "d",
        most: f64::INFINITY,
        of: |report| report.nodes.iter().filter_map(|node| node.life_days).reduce(f64::min),
    };
    /// How long a session takes to be made; 0 without handshakes, as there is nothing to wait for.
    pub const HANDSHAKE: Self = Self {
        name: "Session made within, mean of the slowest node",
        column: "handshake_ms",
        unit: "ms",
        most: f64::INFINITY,
        of: |report| match report.nodes.iter().all(|node| node.handshake.is_none()) {
            true => Some(0.0),
            false => slowest(report, |node| Some(node.handshake_ms()?.mean)),
        },
    };

    /// Its value in a run, if that has one.
    pub fn of(&self, report: &Report) -> Option<f64> {
        (self.of)(report)
    }

    /// What these values of it say, of a run each.
    pub fn estimate(&self, values: &[f64]) -> Estimate {
        Estimate::of(self.most, values)
    }
}

/// What several runs say of a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Estimate {
    /// No run has it.
    Nothing,
    /// One run alone has it.
    One(f64),
    /// Several have it.
    Several {
        /// Their mean and standard deviation.
        spread: Spread,
        /// The mean's 95 % interval, within what is possible.
        interval: [f64; 2],
        /// Whether it would be wider without that.
        is_cut: bool,
    },
}

impl Estimate {
    /// That of `values`, which lie between 0 and `most`.
    pub fn of(most: f64, values: &[f64]) -> Self {
        match (Spread::of(values), values) {
            (Some(spread), _) => {
                let [low, high] = spread.interval();
                let is_cut = low < 0.0 || high > most;
                Self::Several { spread, interval: [low.max(0.0), high.min(most)], is_cut }
            }
            (None, [value]) => Self::One(*value),
            (None, _) => Self::Nothing,
        }
    }

    /// The mean, if any run has a value.
    pub const fn mean(&self) -> Option<f64> {
        match self {
            Self::Nothing => None,
            Self::One(value) => Some(*value),
            Self::Several { spread, .. } => Some(spread.mean),
        }
    }

    /// The mean's 95 % interval, if several runs have a value.
    pub const fn interval(&self) -> Option<[f64; 2]> {
        match self {
            Self::Nothing | Self::One(_) => None,
            Self::Several { interval, .. } => Some(*interval),
        }
    }
}

/// What nodes and border router sent.
fn bytes(report: &Report) -> f64 {
    report.sum(|node| node.bytes.into()) as f64 + f64::from(report.router.bytes)
}

/// The sum over nodes which have an energy, if any does.
fn energy(report: &Report, of: fn(&Energy) -> f64) -> Option<f64> {
    report.nodes.iter().filter_map(|node| node.energy_mj.as_ref()).map(of).reduce(|sum, energy| sum + energy)
}

/// The largest value of a node; nothing if a node has none.
fn slowest(report: &Report, of: fn(&NodeReport) -> Option<f64>) -> Option<f64> {
    let values: Option<Vec<_>> = report.nodes.iter().map(of).collect();
    values?.into_iter().reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_does_not_exceed_what_a_value_can_be() {
        let of = |most, values| match Estimate::of(most, values) {
            Estimate::Several { interval, is_cut, .. } => (interval.map(|end| (100.0 * end).round()), is_cut),
            other => panic!("{other:?}"),
        };
        assert_eq!(of(100.0, &[90.0, 100.0]), ([3147.0, 10_000.0], true));
        assert_eq!(of(f64::INFINITY, &[1.0, 3.0]), ([0.0, 1471.0], true));
        assert_eq!(of(100.0, &[50.0, 51.0]), ([4415.0, 5685.0], false));
    }
}

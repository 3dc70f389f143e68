//! What a whole run comes to, a number each.

use sixlock_sim::{Energy, NodeReport, Report, Spread};

/// A number that a run comes to.
pub(super) struct Quantity {
    /// What it is, with its unit.
    pub(super) name: &'static str,
    /// Its column where each is one.
    pub(super) column: &'static str,
    /// The largest that it can be; none is less than 0.
    most: f64,
    /// Its value, if the run has one.
    of: fn(&Report) -> Option<f64>,
}

pub(super) const QUANTITIES: [Quantity; 6] = [
    Quantity {
        name: "delivered of due/%",
        column: "delivered_percent",
        most: 100.0,
        of: |report| Some(100.0 * report.delivery()?),
    },
    Quantity { name: "rtt, mean of nodes' means/ms", column: "rtt_ms", most: f64::INFINITY, of: round_trip },
    Quantity {
        name: "bytes, router and nodes",
        column: "bytes",
        most: f64::INFINITY,
        of: |report| Some(report.sum(|node| node.bytes.into()) as f64 + f64::from(report.router.bytes)),
    },
    Quantity {
        name: "energy of all nodes/mJ",
        column: "energy_mj",
        most: f64::INFINITY,
        of: |report| energy(report, Energy::total),
    },
    Quantity {
        name: "the same without listening/mJ",
        column: "energy_without_listening_mj",
        most: f64::INFINITY,
        of: |report| energy(report, Energy::without_listening),
    },
    Quantity {
        name: "life of the worst node/d",
        column: "worst_life_days",
        most: f64::INFINITY,
        of: |report| report.nodes.iter().filter_map(|node| node.life_days).reduce(f64::min),
    },
];

impl Quantity {
    /// What runs come to.
    pub(super) fn of(&self, reports: &[Report]) -> Estimate {
        Estimate::of(self.most, reports.iter().filter_map(self.of))
    }
}

/// What several runs say of a number.
pub(super) enum Estimate {
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
    pub(super) fn of(most: f64, values: impl Iterator<Item = f64>) -> Self {
        let values: Vec<_> = values.collect();
        match (Spread::of(&values), &values[..]) {
            (Some(spread), _) => {
                let [low, high] = spread.interval();
                let is_cut = low < 0.0 || high > most;
                Self::Several { spread, interval: [low.max(0.0), high.min(most)], is_cut }
            }
            (None, [value]) => Self::One(*value),
            (None, _) => Self::Nothing,
        }
    }
}

/// The mean of nodes' mean round trips.
fn round_trip(report: &Report) -> Option<f64> {
    let means: Vec<_> = report.nodes.iter().filter_map(|node: &NodeReport| node.rtt_ms).collect();
    (!means.is_empty()).then(|| means.iter().map(|rtt| rtt.mean).sum::<f64>() / means.len() as f64)
}

/// That of all nodes which have one.
fn energy(report: &Report, of: fn(&Energy) -> f64) -> Option<f64> {
    let parts: Vec<_> = report.nodes.iter().filter_map(|node| node.energy_mj).collect();
    (!parts.is_empty()).then(|| parts.iter().map(of).sum())
}

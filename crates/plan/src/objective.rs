//! What options are compared by.

use sixlock_sim::{NodeReport, Report};

use crate::demands::Demands;

/// A number that a run comes to, and which is better.
#[derive(Clone, Copy)]
pub struct Objective {
    /// What it is.
    pub name: &'static str,
    /// What it is called where each is a column or a key, with its unit.
    pub column: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// Whether more is better.
    pub is_gain: bool,
    /// Its value, if the run has one.
    of: fn(&Report) -> Option<f64>,
    /// The worst value that is good enough, if that is demanded.
    demanded: fn(&Demands) -> Option<f64>,
}

/// All of them.
pub const OBJECTIVES: [Objective; 5] = [
    Objective {
        name: "Delivered of due",
        column: "delivered_percent",
        unit: "%",
        is_gain: true,
        of: |report| Some(100.0 * report.delivery()?),
        demanded: |demands| demands.delivered,
    },
    Objective {
        name: "95 % of the slowest node's readings confirmed within",
        column: "latency_ms",
        unit: "ms",
        is_gain: false,
        of: |report| slowest(report, |node| Some(node.rtt_ms?.p95)),
        demanded: |demands| Some(demands.latency?.micros() as f64 / 1000.0),
    },
    Objective {
        name: "Life of the worst node",
        column: "life_days",
        unit: "d",
        is_gain: true,
        of: |report| report.nodes.iter().filter_map(|node| node.life_days).reduce(f64::min),
        demanded: |demands| Some(demands.life?.as_secs() / 86_400.0),
    },
    Objective {
        name: "Bytes on the air a delivered reading",
        column: "bytes_a_reading",
        unit: "bytes",
        is_gain: false,
        of: |report| {
            let bytes = report.sum(|node| node.bytes.into()) + u64::from(report.router.bytes);
            let delivered = report.sum(|node| node.delivered);
            (delivered > 0).then(|| bytes as f64 / delivered as f64)
        },
        demanded: |_| None,
    },
    Objective {
        name: "Slowest node's session made within",
        column: "handshake_ms",
        unit: "ms",
        is_gain: false,
        // Without handshakes there is nothing to wait for.
        of: |report| match report.nodes.iter().all(|node| node.handshake.is_none()) {
            true => Some(0.0),
            false => slowest(report, |node| Some(node.handshake_ms()?.mean)),
        },
        demanded: |_| None,
    },
];

impl Objective {
    /// Its value in a run, if that has one.
    pub fn of(&self, report: &Report) -> Option<f64> {
        (self.of)(report)
    }

    /// The worst value that is good enough, if that is demanded.
    pub(crate) fn demanded(&self, demands: &Demands) -> Option<f64> {
        (self.demanded)(demands)
    }
}

/// The largest value of a node; nothing if a node has none.
fn slowest(report: &Report, of: fn(&NodeReport) -> Option<f64>) -> Option<f64> {
    let values: Option<Vec<_>> = report.nodes.iter().map(of).collect();
    values?.into_iter().reduce(f64::max)
}

/// What a run comes to, by each objective.
pub(crate) type Values = [Option<f64>; OBJECTIVES.len()];

pub(crate) fn values(report: &Report) -> Values {
    OBJECTIVES.map(|objective| objective.of(report))
}

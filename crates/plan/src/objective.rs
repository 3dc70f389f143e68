//! What options are compared by.

use sixlock_sim::{Quantity, Report};

use crate::demands::Demands;

/// A number that a run comes to, and which is better.
#[derive(Clone, Copy, Debug)]
pub struct Objective {
    /// What it is, its unit and its value in a run.
    pub quantity: Quantity,
    /// Whether more is better.
    pub is_gain: bool,
    /// The worst value that is good enough, if that is demanded.
    demanded: fn(&Demands) -> Option<f64>,
}

/// All of them.
pub const OBJECTIVES: [Objective; 5] = [
    Objective { quantity: Quantity::DELIVERED, is_gain: true, demanded: |demands| demands.delivered },
    Objective {
        quantity: Quantity::LATENCY,
        is_gain: false,
        demanded: |demands| Some(demands.latency?.micros() as f64 / 1000.0),
    },
    Objective {
        quantity: Quantity::LIFE,
        is_gain: true,
        demanded: |demands| Some(demands.life?.as_secs() / 86_400.0),
    },
    Objective { quantity: Quantity::BYTES_A_READING, is_gain: false, demanded: |_| None },
    Objective { quantity: Quantity::HANDSHAKE, is_gain: false, demanded: |_| None },
];

/// The place of how long the battery of the worst node lasts.
pub(crate) const LIFE: usize = 2;

impl Objective {
    /// The worst value that is good enough, if that is demanded.
    pub fn demanded(&self, demands: &Demands) -> Option<f64> {
        (self.demanded)(demands)
    }

    /// Whether `value` is worse than what is demanded.
    pub(crate) fn misses(&self, value: f64, wanted: f64) -> bool {
        if self.is_gain { value < wanted } else { value > wanted }
    }

    /// Which bound it is that is demanded, in words.
    pub(crate) const fn bound(&self) -> &'static str {
        if self.is_gain { "at least" } else { "at most" }
    }
}

/// What a run comes to, by each objective.
pub(crate) type Values = [Option<f64>; OBJECTIVES.len()];

pub(crate) fn values(report: &Report) -> Values {
    OBJECTIVES.map(|objective| objective.quantity.of(report))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn life_has_its_place() {
        assert_eq!(OBJECTIVES[LIFE].quantity.column, Quantity::LIFE.column);
    }
}

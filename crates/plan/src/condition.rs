//! Conditions of a network that may be others than its file says.

use core::fmt;

use sixlock_sim::{Scenario, ScenarioError, Setting};

/// A condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// How many frames are lost on each link.
    Loss,
    /// How far the radio reaches: the shorter, the more hops.
    Range,
    /// The time between a node's readings.
    Period,
}

impl Condition {
    /// Every one.
    pub const ALL: [Self; 3] = [Self::Loss, Self::Range, Self::Period];

    /// Each by its name in a file.
    pub(crate) const NAMED: [(&str, Self); 3] =
        [("loss", Self::Loss), ("range", Self::Range), ("period", Self::Period)];

    /// The key of the scenario.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Loss => "radio.loss",
            Self::Range => "radio.range",
            Self::Period => "traffic.period",
        }
    }

    /// Its value in this scenario: a share of frames, metres, or seconds.
    pub(crate) fn of(self, scenario: &Scenario) -> f64 {
        match self {
            Self::Loss => scenario.radio().loss.share(),
            Self::Range => f64::from(scenario.radio().range) / 1000.0,
            Self::Period => scenario.traffic().period.as_secs(),
        }
    }

    /// The least and the most that it may well be where it is taken to be `value`.
    pub(crate) fn extremes(self, value: f64) -> [f64; 2] {
        match self {
            Self::Loss => [0.0, (2.0 * value + 0.1).min(0.5)],
            Self::Range => [0.75 * value, 1.5 * value],
            Self::Period => [value / 3.0, 3.0 * value],
        }
    }

    /// The scenario's key with this value.
    pub(crate) fn setting(self, value: f64) -> Result<Setting, ScenarioError> {
        Setting::new(self.key(), &Spelled(self, value).to_string())
    }

    /// This value, as the scenario's key has it.
    pub fn spell(self, value: f64) -> impl fmt::Display {
        Spelled(self, value)
    }
}

struct Spelled(Condition, f64);

impl fmt::Display for Spelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(condition, value) = *self;
        match condition {
            Condition::Loss => write!(f, "{}", (10_000.0 * value).round() / 10_000.0),
            Condition::Range => write!(f, "{}m", (10.0 * value).round() / 10.0),
            Condition::Period => write!(f, "{}s", value.round()),
        }
    }
}

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
    /// How many DTLS sessions a node has in a day, after the first.
    Handshakes,
    /// What the battery of each node holds.
    Battery,
}

/// Seconds in a day.
const DAY: f64 = 86_400.0;

/// How many sessions in a day a scenario can have: one in 20 days, and one a minute.
const FEWEST: f64 = 1.0 / 20.0;
const MOST: f64 = 1440.0;

impl Condition {
    /// Every one.
    pub const ALL: [Self; 5] = [Self::Loss, Self::Range, Self::Period, Self::Handshakes, Self::Battery];

    /// Each by its name in a file.
    pub(crate) const NAMED: [(&str, Self); 5] = [
        ("loss", Self::Loss),
        ("range", Self::Range),
        ("period", Self::Period),
        ("handshakes", Self::Handshakes),
        ("battery", Self::Battery),
    ];

    /// The key of the scenario.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Loss => "radio.loss",
            Self::Range => "radio.range",
            Self::Period => "traffic.period",
            Self::Handshakes => "traffic.session",
            Self::Battery => "battery.capacity",
        }
    }

    /// Its value in this scenario, a share of frames, metres, seconds, a number a day or milliampere-hours; nothing if it says nothing of such.
    pub(crate) fn of(self, scenario: &Scenario) -> Option<f64> {
        Some(match self {
            Self::Loss => scenario.radio().loss.share(),
            Self::Range => f64::from(scenario.radio().range) / 1000.0,
            Self::Period => scenario.traffic().period.as_secs(),
            Self::Handshakes => scenario.traffic().session.map_or(0.0, |session| DAY / session.as_secs()),
            Self::Battery => scenario.battery()?.capacity as f64 / 1000.0,
        })
    }

    /// The least and the most that it may well be in a scenario where it is taken to be `value`.
    pub(crate) fn extremes(self, value: f64, scenario: &Scenario) -> [f64; 2] {
        match self {
            Self::Loss => [0.0, (2.0 * value + 0.1).min(0.5)],
            Self::Range => [0.75 * value, 1.5 * value],
            // With each fourth reading, so that those of a run have some.
            Self::Handshakes if value == 0.0 => {
                [0.0, (DAY / (4.0 * scenario.traffic().period.as_secs())).clamp(FEWEST, MOST)]
            }
            Self::Handshakes => [(value / 3.0).max(FEWEST), (3.0 * value).min(MOST)],
            Self::Period | Self::Battery => [value / 3.0, 3.0 * value],
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
            Condition::Handshakes if value == 0.0 => f.write_str("unlimited"),
            Condition::Handshakes => write!(f, "{}s", (DAY / value).round()),
            Condition::Battery => write!(f, "{}mAh", value.round()),
        }
    }
}

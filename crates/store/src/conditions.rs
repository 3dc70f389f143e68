//! What a rule says of readings: plain values, which both the journal and the rules of users are made of.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How much an alert matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// It is good to know.
    Information,
    /// Somebody is to look at it.
    Warning,
    /// Somebody is to act now.
    Critical,
}

/// How a value is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub enum Operator {
    /// Greater.
    #[serde(rename = ">")]
    Greater,
    /// Less.
    #[serde(rename = "<")]
    Less,
    /// Equal.
    #[serde(rename = "=")]
    Equal,
    /// Greater or equal.
    #[serde(rename = ">=")]
    GreaterOrEqual,
    /// Less or equal.
    #[serde(rename = "<=")]
    LessOrEqual,
}

/// When a rule opens an alert.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Condition {
    /// The value is on the wrong side of a threshold.
    Threshold {
        /// How the value is compared with the operand.
        operator: Operator,
        /// The threshold.
        operand: f64,
        /// How far the value is to come back for an open alert to be cleared; 0 or more.
        #[serde(default)]
        #[schema(minimum = 0)]
        hysteresis: f64,
        /// For how many seconds that is to hold before the alert opens, at most a week.
        #[serde(default)]
        #[schema(minimum = 0, maximum = 604_800)]
        hold_s: i64,
    },
    /// The value differs from the one before by so much or more.
    Change {
        /// How much; more than 0.
        #[schema(exclusive_minimum = 0)]
        by: f64,
    },
    /// There are no readings: for so many of their usual intervals, or for so long. One of the two is stated.
    Silence {
        /// How many usual intervals: the middle one of the latest nine, of which there are to be three.
        #[schema(minimum = 2, maximum = 1000)]
        periods: Option<i64>,
        /// How many seconds, at most 31 days.
        #[schema(minimum = 1, maximum = 2_678_400)]
        after_s: Option<i64>,
    },
}

impl Severity {
    pub(crate) const ALL: [Self; 3] = [Self::Information, Self::Warning, Self::Critical];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Information => "information",
            Self::Warning => "warning",
            Self::Critical => "critical",
        }
    }

    /// The one that the database calls so.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|severity| severity.name() == name)
    }
}

impl Operator {
    const ALL: [Self; 5] = [Self::Greater, Self::Less, Self::Equal, Self::GreaterOrEqual, Self::LessOrEqual];

    /// How it is written.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Greater => ">",
            Self::Less => "<",
            Self::Equal => "=",
            Self::GreaterOrEqual => ">=",
            Self::LessOrEqual => "<=",
        }
    }

    pub(crate) fn written(sign: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operator| operator.sign() == sign)
    }

    /// Whether it holds, within `hysteresis`.
    pub(crate) fn holds(self, value: f64, operand: f64, hysteresis: f64) -> bool {
        match self {
            Self::Greater => value > operand - hysteresis,
            Self::Less => value < operand + hysteresis,
            Self::Equal => (value - operand).abs() <= hysteresis,
            Self::GreaterOrEqual => value >= operand - hysteresis,
            Self::LessOrEqual => value <= operand + hysteresis,
        }
    }
}

/// A condition as the database has it: kind, operator, operand, hysteresis, hold, periods, pause; times in milliseconds.
pub(crate) type ConditionRow =
    (String, Option<String>, Option<f64>, Option<f64>, Option<i64>, Option<i64>, Option<i64>);

impl Condition {
    /// The columns of the database, in the order of [`ConditionRow`].
    pub(crate) const COLUMNS: &str = "rules.kind, operator, operand, hysteresis, hold, periods, pause";

    pub(crate) fn row(&self) -> ConditionRow {
        match *self {
            Self::Threshold { operator, operand, hysteresis, hold_s } => (
                "threshold".into(),
                Some(operator.sign().into()),
                Some(operand),
                Some(hysteresis),
                Some(hold_s * 1_000),
                None,
                None,
            ),
            Self::Change { by } => ("change".into(), None, Some(by), None, None, None, None),
            Self::Silence { periods, after_s } => {
                let pause = after_s.map(|after| after * 1_000);
                ("silence".into(), None, None, None, None, periods, pause)
            }
        }
    }

    /// The one in a row; `None` if another version wrote what this one does not know.
    pub(crate) fn of_row(row: ConditionRow) -> Option<Self> {
        let (kind, operator, operand, hysteresis, hold, periods, pause) = row;
        match &*kind {
            "threshold" => Some(Self::Threshold {
                operator: Operator::written(&operator?)?,
                operand: operand?,
                hysteresis: hysteresis?,
                hold_s: hold? / 1_000,
            }),
            "change" => Some(Self::Change { by: operand? }),
            "silence" => Some(Self::Silence { periods, after_s: pause.map(|pause| pause / 1_000) }),
            _ => None,
        }
    }
}

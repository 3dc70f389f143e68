//! What a rule says of readings: plain values, which both the journal and the rules of users are made of.

use serde::{Deserialize, Serialize};
use sixlock_ingest::{Value, ValueType};
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
    /// Equal; it may be written `==`, too.
    #[serde(rename = "=", alias = "==")]
    Equal,
    /// Not equal.
    #[serde(rename = "!=")]
    NotEqual,
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
        /// How the value is compared with the operand; a text, true and false by `=` or `!=` alone.
        operator: Operator,
        /// The threshold: a number, or for a stream of texts a text, for one of truth values `true` or `false`.
        #[schema(schema_with = crate::values::value_schema)]
        operand: Value,
        /// How far a number is to come back for an open alert to be cleared; 0 or more.
        #[serde(default)]
        #[schema(minimum = 0)]
        hysteresis: f64,
        /// For how many seconds that is to hold before the alert opens, at most a week.
        #[serde(default)]
        #[schema(minimum = 0, maximum = 604_800)]
        hold_s: i64,
    },
    /// The value differs from the one before, by so much or more if that is stated.
    Change {
        /// How much; more than 0. Of texts there is none.
        #[schema(exclusive_minimum = 0)]
        by: Option<f64>,
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
    const ALL: [Self; 6] =
        [Self::Greater, Self::Less, Self::Equal, Self::NotEqual, Self::GreaterOrEqual, Self::LessOrEqual];

    /// How it is written.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Greater => ">",
            Self::Less => "<",
            Self::Equal => "=",
            Self::NotEqual => "!=",
            Self::GreaterOrEqual => ">=",
            Self::LessOrEqual => "<=",
        }
    }

    pub(crate) fn written(sign: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operator| operator.sign() == sign)
    }

    /// Whether it compares texts and truth values, which are equal or not, and nothing between.
    pub(crate) const fn is_of_equality(self) -> bool {
        matches!(self, Self::Equal | Self::NotEqual)
    }

    /// Whether it holds, of numbers within `hysteresis`.
    pub(crate) fn holds(self, value: &Value, operand: &Value, hysteresis: f64) -> bool {
        match (value.number(), operand.number()) {
            (Some(value), Some(operand)) => self.holds_of_numbers(value, operand, hysteresis),
            _ => match self {
                Self::Equal => value == operand,
                Self::NotEqual => value != operand,
                Self::Greater | Self::Less | Self::GreaterOrEqual | Self::LessOrEqual => false,
            },
        }
    }

    fn holds_of_numbers(self, value: f64, operand: f64, hysteresis: f64) -> bool {
        match self {
            Self::Greater => value > operand - hysteresis,
            Self::Less => value < operand + hysteresis,
            Self::Equal => (value - operand).abs() <= hysteresis,
            Self::NotEqual => value != operand,
            Self::GreaterOrEqual => value >= operand - hysteresis,
            Self::LessOrEqual => value <= operand + hysteresis,
        }
    }
}

/// Whether a value differs from the one before, by `by` or more if that is stated.
pub(crate) fn differs(value: &Value, before: &Value, by: Option<f64>) -> bool {
    match (value.number(), before.number(), by) {
        (Some(value), Some(before), Some(by)) => (value - before).abs() >= by,
        _ => value != before,
    }
}

/// A condition as the database has it.
#[derive(Default)]
pub(crate) struct ConditionRow {
    pub(crate) kind: String,
    pub(crate) operator: Option<String>,
    /// The threshold, or the least change.
    pub(crate) operand: Option<f64>,
    pub(crate) hysteresis: Option<f64>,
    /// In milliseconds.
    pub(crate) hold: Option<i64>,
    pub(crate) periods: Option<i64>,
    /// In milliseconds.
    pub(crate) pause: Option<i64>,
    /// What the threshold is.
    pub(crate) operand_type: String,
    /// The threshold, if it is a text.
    pub(crate) operand_text: Option<String>,
}

impl Condition {
    /// The columns of the database, in the order of the fields of [`ConditionRow`].
    pub(crate) const COLUMNS: &str =
        "rules.kind, operator, operand, hysteresis, hold, periods, pause, operand_type,
             operand_text";

    pub(crate) fn row(&self) -> ConditionRow {
        let number = ValueType::Number.name().to_owned();
        match self {
            Self::Threshold { operator, operand, hysteresis, hold_s } => ConditionRow {
                kind: "threshold".into(),
                operator: Some(operator.sign().into()),
                operand: operand.number(),
                hysteresis: Some(*hysteresis),
                hold: Some(hold_s * 1_000),
                operand_type: operand.value_type().name().into(),
                operand_text: text(operand).map(str::to_owned),
                ..ConditionRow::default()
            },
            Self::Change { by } => ConditionRow {
                kind: "change".into(),
                operand: *by,
                operand_type: number,
                ..ConditionRow::default()
            },
            Self::Silence { periods, after_s } => ConditionRow {
                kind: "silence".into(),
                periods: *periods,
                pause: after_s.map(|after| after * 1_000),
                operand_type: number,
                ..ConditionRow::default()
            },
        }
    }

    /// The one in a row; `None` if another version wrote what this one does not know.
    pub(crate) fn of_row(row: ConditionRow) -> Option<Self> {
        match &*row.kind {
            "threshold" => Some(Self::Threshold {
                operator: Operator::written(&row.operator?)?,
                operand: match ValueType::named(&row.operand_type)? {
                    ValueType::Number => Value::Number(row.operand?),
                    ValueType::Boolean => Value::Boolean(row.operand? != 0.0),
                    ValueType::Text => Value::Text(row.operand_text?),
                },
                hysteresis: row.hysteresis?,
                hold_s: row.hold? / 1_000,
            }),
            "change" => Some(Self::Change { by: row.operand }),
            "silence" => {
                Some(Self::Silence { periods: row.periods, after_s: row.pause.map(|pause| pause / 1_000) })
            }
            _ => None,
        }
    }
}

/// The text that a value is, if it is one.
pub(crate) fn text(value: &Value) -> Option<&str> {
    match value {
        Value::Text(text) => Some(text),
        Value::Number(_) | Value::Boolean(_) => None,
    }
}

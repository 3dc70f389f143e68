//! Values, and which types of them there are.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// The longest text of a point, in characters.
pub const LONGEST_TEXT_VALUE: usize = 160;

/// A value that was measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// A number, finite.
    Number(f64),
    /// A text. Of one with more than [`LONGEST_TEXT_VALUE`] characters, which no stream takes, there is one more than that.
    Text(String),
    /// A truth value.
    Boolean(bool),
}

/// What the values of a stream are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ValueType {
    /// Numbers.
    #[default]
    Number,
    /// Texts.
    Text,
    /// Truth values.
    Boolean,
}

impl Value {
    /// A text. What nobody keeps of one that is too long takes no memory.
    pub fn text(chars: impl IntoIterator<Item = char>) -> Self {
        Self::Text(chars.into_iter().take(LONGEST_TEXT_VALUE + 1).collect())
    }

    /// Its type.
    pub const fn value_type(&self) -> ValueType {
        match self {
            Self::Number(_) => ValueType::Number,
            Self::Text(_) => ValueType::Text,
            Self::Boolean(_) => ValueType::Boolean,
        }
    }

    /// The number that stands for it: true is 1 and false is 0. Nothing does for a text.
    pub const fn number(&self) -> Option<f64> {
        match *self {
            Self::Number(number) => Some(number),
            Self::Boolean(true) => Some(1.0),
            Self::Boolean(false) => Some(0.0),
            Self::Text(_) => None,
        }
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => text.fmt(f),
            Self::Boolean(boolean) => boolean.fmt(f),
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

/// Reads a value of any type.
struct AnyValue;

impl Visitor<'_> for AnyValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a finite number, a text, true or false")
    }

    fn visit_bool<E: Error>(self, boolean: bool) -> Result<Value, E> {
        Ok(Value::Boolean(boolean))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Number(number as f64))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Number(number as f64))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Value, E> {
        match number.is_finite() {
            true => Ok(Value::Number(number)),
            false => Err(E::custom("a value is not finite")),
        }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        Ok(Value::text(text.chars()))
    }
}

impl ValueType {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Number, Self::Text, Self::Boolean];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::Text => "text",
            Self::Boolean => "boolean",
        }
    }

    /// The one that is called so.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|value_type| value_type.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_and_read_as_json_has_them() {
        for (json, value) in [
            ("21.5", Value::Number(21.5)),
            ("true", Value::Boolean(true)),
            ("\"open\"", Value::Text("open".into())),
            ("\"\"", Value::Text(String::new())),
        ] {
            assert_eq!(serde_json::from_str::<Value>(json).unwrap(), value);
            assert_eq!(serde_json::to_string(&value).unwrap(), json);
        }
        for (json, number) in [("3", 3.0), ("-3", -3.0)] {
            assert_eq!(serde_json::from_str::<Value>(json).unwrap(), Value::Number(number));
        }
        for json in ["null", "[1]", "{}"] {
            let error = serde_json::from_str::<Value>(json).unwrap_err().to_string();
            assert!(error.contains("a finite number, a text, true or false"), "{error}");
        }
    }

    #[test]
    fn of_a_text_that_is_too_long_there_is_enough_to_know_it() {
        let of = |length| match Value::text(std::iter::repeat_n('é', length)) {
            Value::Text(text) => text.chars().count(),
            Value::Number(_) | Value::Boolean(_) => 0,
        };
        assert_eq!([0, 160, 161, 5_000].map(of), [0, 160, 161, 161]);
    }
}

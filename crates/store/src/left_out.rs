//! Points of a post that are not stored with the others.

use std::fmt;

use serde::Serialize;
use sixlock_ingest::{LONGEST_TEXT_VALUE, Value, ValueType, is_bidi_control};
use utoipa::ToSchema;

/// Why points are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum LeftOutReason {
    /// The stream is frozen.
    Frozen,
    /// They are older than what is kept of the stream.
    TooOld,
    /// The stream is of numbers. True and false count as 1 and 0 there; a text does not.
    NotANumber,
    /// The stream is of texts.
    NotAText,
    /// The stream is of truth values.
    NotABoolean,
    /// The text has more than 160 characters.
    TooLong,
    /// The text has a control character, or one that turns the direction of text.
    ControlCharacters,
}

impl LeftOutReason {
    /// Why a stream of this type does not take `value`; nothing if it does.
    pub(crate) fn of_value(value_type: ValueType, value: &Value) -> Option<Self> {
        match (value_type, value) {
            (ValueType::Number, Value::Number(_) | Value::Boolean(_))
            | (ValueType::Boolean, Value::Boolean(_)) => None,
            (ValueType::Text, Value::Text(text)) => Self::of_text(text),
            (ValueType::Number, Value::Text(_)) => Some(Self::NotANumber),
            (ValueType::Text, Value::Number(_) | Value::Boolean(_)) => Some(Self::NotAText),
            (ValueType::Boolean, Value::Number(_) | Value::Text(_)) => Some(Self::NotABoolean),
        }
    }

    /// Why no stream takes `text`; nothing if one does.
    pub fn of_text(text: &str) -> Option<Self> {
        if text.chars().count() > LONGEST_TEXT_VALUE {
            return Some(Self::TooLong);
        }
        let is_control = |char: char| {
            char.is_control() || is_bidi_control(char) || matches!(char, '\u{2028}' | '\u{2029}')
        };
        text.chars().any(is_control).then_some(Self::ControlCharacters)
    }
}

/// Points of a stream that were left out of a post.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct LeftOut {
    /// The label of the stream.
    pub stream: String,
    /// Why.
    pub why: LeftOutReason,
    /// How many.
    pub points: usize,
}

/// What became of a post that was stored, as a whole or but for some points.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stored {
    /// What was left out, each stream and reason once.
    pub left_out: Vec<LeftOut>,
}

impl Stored {
    /// A point of `stream` is left out.
    pub(crate) fn leave_out(&mut self, stream: &str, why: LeftOutReason) {
        match self.left_out.iter_mut().find(|known| known.stream == stream && known.why == why) {
            Some(known) => known.points += 1,
            None => self.left_out.push(LeftOut { stream: stream.to_owned(), why, points: 1 }),
        }
    }
}

impl LeftOut {
    /// Why, of whichever number of points: the same words each time.
    pub fn reason(&self) -> String {
        let stream = &self.stream;
        match self.why {
            LeftOutReason::Frozen => format!("{stream:?} is frozen and takes no points"),
            LeftOutReason::TooOld => format!("older than what is kept of {stream:?}"),
            LeftOutReason::NotANumber => format!("a text, and {stream:?} is of numbers"),
            LeftOutReason::NotAText => format!("no text, and {stream:?} is of texts"),
            LeftOutReason::NotABoolean => format!("no truth value, and {stream:?} is of these"),
            LeftOutReason::TooLong => {
                format!("a text for {stream:?} longer than {LONGEST_TEXT_VALUE} characters")
            }
            LeftOutReason::ControlCharacters => {
                format!(
                    "a text for {stream:?} with control characters, or some that turn the direction of text"
                )
            }
        }
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stream, why, points } = self;
        match why {
            LeftOutReason::Frozen => {
                write!(f, "{stream:?} is frozen and takes no points ({points} left out)")
            }
            LeftOutReason::NotANumber => write!(f, "{stream:?} takes numbers, no texts ({points} left out)"),
            LeftOutReason::NotAText => write!(f, "{stream:?} takes texts only ({points} left out)"),
            LeftOutReason::NotABoolean => {
                write!(f, "{stream:?} takes true and false only ({points} left out)")
            }
            LeftOutReason::TooLong => {
                write!(f, "{points} of {stream:?} longer than {LONGEST_TEXT_VALUE} characters")
            }
            LeftOutReason::ControlCharacters => {
                write!(
                    f,
                    "{points} of {stream:?} with control characters, or some that turn the direction of text"
                )
            }
            LeftOutReason::TooOld => write!(f, "{points} of {stream:?} older than what is kept of it"),
        }
    }
}

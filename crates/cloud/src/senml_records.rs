//! Points as records of SenML ([RFC 8428](https://www.rfc-editor.org/rfc/rfc8428)).

use ciborium::Value;
use serde::Serialize;
use sixlock_store::{Point, Value as PointValue};

/// From which second on SenML counts times from 1970; those before would be taken for spans.
const EARLIEST_SECOND: f64 = 268_435_456.0;

/// A record of a SenML pack.
#[derive(Serialize)]
pub(crate) struct Record<'a> {
    n: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    u: Option<&'a str>,
    #[serde(flatten)]
    value: RecordValue<'a>,
    t: f64,
}

/// The value of a record, by its label in JSON.
#[derive(Serialize)]
enum RecordValue<'a> {
    #[serde(rename = "v")]
    Number(f64),
    #[serde(rename = "vs")]
    Text(&'a str),
    #[serde(rename = "vb")]
    Boolean(bool),
}

/// The label of the stream is no name of SenML, or the time is none that SenML can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotSenml;

impl<'a> Record<'a> {
    /// A point of the stream with this label and unit.
    pub(crate) fn new(
        label: &'a str,
        unit: Option<&'a str>,
        Point { time, value }: &'a Point,
    ) -> Result<Self, NotSenml> {
        let time = *time as f64 / 1000.0;
        let is_named = label.starts_with(|first: char| first.is_ascii_alphanumeric())
            && label.chars().all(|char| char.is_ascii_alphanumeric() || "-:./_".contains(char));
        if !is_named || time < EARLIEST_SECOND {
            return Err(NotSenml);
        }
        let value = match value {
            PointValue::Number(number) => RecordValue::Number(*number),
            PointValue::Text(text) => RecordValue::Text(text),
            PointValue::Boolean(boolean) => RecordValue::Boolean(*boolean),
        };
        Ok(Self { n: label, u: unit, value, t: time })
    }

    /// With the numbers that labels have in CBOR
    /// ([RFC 8428 section 6](https://www.rfc-editor.org/rfc/rfc8428#section-6)).
    pub(crate) fn labelled(self) -> Value {
        let unit = self.u.map(|unit| (Value::from(1), Value::from(unit)));
        let name = [(Value::from(0), Value::from(self.n))];
        let value = match self.value {
            RecordValue::Number(number) => (Value::from(2), Value::from(number)),
            RecordValue::Text(text) => (Value::from(3), Value::from(text)),
            RecordValue::Boolean(boolean) => (Value::from(4), Value::from(boolean)),
        };
        let time = (Value::from(6), Value::from(self.t));
        Value::Map(name.into_iter().chain(unit).chain([value, time]).collect())
    }
}

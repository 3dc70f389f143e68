//! Points as records of SenML ([RFC 8428](https://www.rfc-editor.org/rfc/rfc8428)).

use ciborium::Value;
use serde::Serialize;
use sixlock_store::Point;

/// From which second on SenML counts times from 1970; those before would be taken for spans.
const EARLIEST_SECOND: f64 = 268_435_456.0;

/// A record of a SenML pack.
#[derive(Serialize)]
pub(crate) struct Record<'a> {
    n: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    u: Option<&'a str>,
    v: f64,
    t: f64,
}

/// The label of the stream is no name of SenML, or the time is none that SenML can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotSenml;

impl<'a> Record<'a> {
    /// A point of the stream with this label and unit.
    pub(crate) fn new(
        label: &'a str,
        unit: Option<&'a str>,
        Point { time, value }: Point,
    ) -> Result<Self, NotSenml> {
        let time = time as f64 / 1000.0;
        let is_named = label.starts_with(|first: char| first.is_ascii_alphanumeric())
            && label.chars().all(|char| char.is_ascii_alphanumeric() || "-:./_".contains(char));
        if !is_named || time < EARLIEST_SECOND {
            return Err(NotSenml);
        }
        Ok(Self { n: label, u: unit, v: value, t: time })
    }

    /// With the numbers that labels have in CBOR
    /// ([RFC 8428 section 6](https://www.rfc-editor.org/rfc/rfc8428#section-6)).
    pub(crate) fn labelled(self) -> Value {
        let unit = self.u.map(|unit| (Value::from(1), Value::from(unit)));
        let name = [(Value::from(0), Value::from(self.n))];
        let numbers = [(Value::from(2), Value::from(self.v)), (Value::from(6), Value::from(self.t))];
        Value::Map(name.into_iter().chain(unit).chain(numbers).collect())
    }
}

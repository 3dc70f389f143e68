//! Points as JSON, for a stream that is named beside them.

use std::fmt;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use sixlock_ingest::{TIMES, check_times};
use sixlock_store::{Reading, Stream, Value};
use utoipa::ToSchema;

use crate::Error;

/// A value, and when it was measured.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewPoint {
    /// As the stream has it: a number, a text of at most 160 characters, or `true` or `false`.
    #[schema(schema_with = sixlock_store::value_schema)]
    value: Value,
    /// In milliseconds since 1970, at most 24 hours after its arrival. Without it, on arrival.
    time: Option<i64>,
}

/// One point or some.
#[derive(ToSchema)]
#[schema(as = NewPoints)]
#[serde(untagged)]
pub(crate) enum NewPoints {
    One(NewPoint),
    /// At most 256: all are stored, or none.
    Some(Vec<NewPoint>),
}

impl<'de> Deserialize<'de> for NewPoints {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneOrSome)
    }
}

/// Reads points, and says of each what is wrong with it.
struct OneOrSome;

impl<'de> Visitor<'de> for OneOrSome {
    type Value = NewPoints;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(r#"{"value": VALUE, "time": MILLISECONDS} or a list of these"#)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<NewPoints, A::Error> {
        NewPoint::deserialize(MapAccessDeserializer::new(map)).map(NewPoints::One)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<NewPoints, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list)).map(NewPoints::Some)
    }
}

impl NewPoints {
    /// They as readings of `stream` that arrived at `now`.
    pub(crate) fn readings(self, stream: &Stream, now: i64) -> Result<Vec<Reading>, Error> {
        let points = match self {
            Self::One(point) => vec![point],
            Self::Some(points) => points,
        };
        if points.is_empty() {
            return Err(Error::Invalid("there is no point"));
        }
        let reading = |NewPoint { value, time }| {
            let (stream, unit) = (stream.label.clone(), stream.unit.clone());
            let time = time.unwrap_or(now);
            if !TIMES.contains(&time) {
                return Err(Error::Invalid("time is in milliseconds since 1970"));
            }
            Ok(Reading { stream, unit, time, value })
        };
        let readings = points.into_iter().map(reading).collect::<Result<Vec<_>, _>>()?;
        check_times(&readings, now)?;
        Ok(readings)
    }
}

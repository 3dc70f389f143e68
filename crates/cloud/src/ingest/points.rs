//! Points as JSON, for a stream that is named beside them.

use serde::Deserialize;
use sixlock_ingest::{TIMES, check_times};
use utoipa::ToSchema;

use crate::Error;
use crate::store::{Reading, Stream};

/// A value, and when it was measured.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewPoint {
    value: f64,
    /// Without it, on arrival.
    time: Option<i64>,
}

/// One point or some.
#[derive(Deserialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum NewPoints {
    One(NewPoint),
    /// At most 256: all are stored, or none.
    Some(Vec<NewPoint>),
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

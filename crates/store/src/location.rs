//! Where a device is.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::error::Error;

/// A place on the Earth (WGS 84).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Location {
    /// In degrees north of the equator.
    #[schema(minimum = -90, maximum = 90)]
    pub latitude: f64,
    /// In degrees east of Greenwich.
    #[schema(minimum = -180, maximum = 180)]
    pub longitude: f64,
}

impl Location {
    /// That of a row: both are there, or neither is.
    pub(crate) fn of((latitude, longitude): (Option<f64>, Option<f64>)) -> Option<Self> {
        let (latitude, longitude) = latitude.zip(longitude)?;
        Some(Self { latitude, longitude })
    }

    /// Refuses what is nowhere on the Earth.
    pub(crate) fn check(place: Option<Self>) -> Result<(), Error> {
        let is_there =
            |Self { latitude, longitude }: Self| latitude.abs() <= 90.0 && longitude.abs() <= 180.0;
        place.is_none_or(is_there).then_some(()).ok_or(Error::Invalid(
            "place is null, or a latitude from -90 to 90 and a longitude from -180 to 180, in degrees",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_on_the_earth() {
        for (latitude, longitude, is_there) in [
            (0.0, 0.0, true),
            (-90.0, 180.0, true),
            (90.000_001, 0.0, false),
            (0.0, -180.000_001, false),
            (f64::NAN, 0.0, false),
            (0.0, f64::INFINITY, false),
        ] {
            let place = Location { latitude, longitude };
            assert_eq!(Location::check(Some(place)).is_ok(), is_there, "{place:?}");
        }
        assert!(Location::check(None).is_ok());
    }
}

//! A device among many: when it was heard, and whether it is silent.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::ids::ResourceId;
use crate::location::Location;
use crate::resources::Resource;

/// So many of its periods without a reading, and a device is silent.
const SILENT_AFTER_PERIODS: i64 = 3;
/// A device that reports more often than this is late for a while before it is silent.
const SHORTEST_SILENCE_MS: i64 = 60_000;
/// A device whose period nobody knows is silent after an hour.
const USUAL_SILENCE_MS: i64 = 3_600_000;

/// Whether a device reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeviceState {
    /// It was heard lately.
    Reporting,
    /// It was heard, but not for three of its periods, or for a minute if that is longer; where none is known, for an hour.
    Silent,
    /// It was never heard.
    Unheard,
}

/// A resource with what is known of its device.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct FleetDevice {
    /// The resource.
    #[serde(flatten)]
    pub resource: Resource,
    /// When the last post with readings arrived that was accepted, in milliseconds since 1970; null if none ever was.
    pub heard: Option<i64>,
    /// Whether it reports.
    pub state: DeviceState,
    /// When it is silent, or will be if it is not heard before, in milliseconds since 1970; null if it was never heard.
    pub silent_from: Option<i64>,
    /// Whether its poller is paused; null if it has none.
    pub polls_paused: Option<bool>,
    /// How many alerts of rules that watch it are not cleared.
    pub alerts: i64,
}

/// A device that has a place.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct PlacedDevice {
    /// The resource.
    pub id: ResourceId,
    /// Its label.
    pub label: String,
    /// Where it is.
    #[serde(flatten)]
    pub place: Location,
    /// Whether it reports.
    pub state: DeviceState,
    /// How many alerts of rules that watch it are not cleared.
    pub alerts: i64,
}

impl PlacedDevice {
    /// That which this is, if it has a place.
    pub(crate) fn of(FleetDevice { resource, state, alerts, .. }: FleetDevice) -> Option<Self> {
        let (id, place) = (resource.id, resource.place?);
        Some(Self { id, label: resource.label, place, state, alerts })
    }
}

impl FleetDevice {
    /// One with this poller, heard at this time, as it is at the time `now`.
    pub(crate) fn new(
        resource: Resource,
        heard: Option<i64>,
        poller: Option<(i64, bool)>,
        alerts: i64,
        now: i64,
    ) -> Self {
        let polled = poller.filter(|(_, paused)| !paused).map(|(period, _)| period);
        let allowed = match resource.period_s.or(polled) {
            Some(period_s) => (period_s * 1_000 * SILENT_AFTER_PERIODS).max(SHORTEST_SILENCE_MS),
            None => USUAL_SILENCE_MS,
        };
        let silent_from = heard.map(|heard| heard + allowed);
        let state = match silent_from {
            None => DeviceState::Unheard,
            Some(from) if now >= from => DeviceState::Silent,
            Some(_) => DeviceState::Reporting,
        };
        Self { resource, heard, state, silent_from, polls_paused: poller.map(|(_, paused)| paused), alerts }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn device(id: i64, label: &str) -> FleetDevice {
        FleetDevice::new(resource(id, label), None, None, 0, 0)
    }

    pub(crate) fn resource(id: i64, label: &str) -> Resource {
        Resource {
            id: ResourceId(id),
            label: label.into(),
            mode: "none".into(),
            identity: None,
            description: String::new(),
            tags: Vec::new(),
            folder: String::new(),
            period_s: None,
            place: None,
        }
    }

    #[test]
    fn silence_is_reckoned_by_the_period_that_is_known() {
        const HEARD: i64 = 1_700_000_000_000;
        for (stated, poller, silent_after_s) in [
            (None, None, 3_600),
            (Some(3_600), None, 3 * 3_600),
            (Some(5), None, 60),
            (None, Some((600, false)), 1_800),
            // What its owner says goes first, and a poller that is paused says nothing.
            (Some(60), Some((600, false)), 180),
            (None, Some((600, true)), 3_600),
        ] {
            let at = |now| {
                let resource = Resource { period_s: stated, ..resource(1, "node") };
                FleetDevice::new(resource, Some(HEARD), poller, 0, now).state
            };
            let end = HEARD + silent_after_s * 1_000;
            assert_eq!((at(end - 1), at(end)), (DeviceState::Reporting, DeviceState::Silent), "{poller:?}");
        }
        assert_eq!(device(1, "node").state, DeviceState::Unheard);
    }
}

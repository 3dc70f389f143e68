//! `/users/{user}/fleet`: many devices, found, counted, and changed together.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::{Extension, Json};
use serde::{Deserialize, Deserializer};
use sixlock_store::{
    Chosen, DeviceOrder, DeviceState, Fleet, FleetChange, FleetChanged, FleetQuery, LONGEST_FLEET_PAGE,
    PlacedDevice, ResourceId, Selection, now_ms,
};
use utoipa::ToSchema;

use super::app::{Answer, App, Body};
use super::caller::Owner;
use super::failure::Failure;
use super::listing::check_limit;
use super::recorded::AuditDetails;
use crate::Error;

/// The most devices that a change names one by one.
const MOST_NAMED: usize = 5_000;

const fn usual() -> usize {
    100
}

/// Which devices, in which order, and which page of them.
#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct FleetParameters {
    /// At most 8 words, each in the label, identity, mode, description, folder or a tag
    #[serde(default)]
    #[param(max_length = 200)]
    search: String,
    /// Tags, all of which they have, with a comma between two
    #[serde(default)]
    tags: String,
    /// Whether they report
    state: Option<DeviceState>,
    /// Only those with alerts that are not cleared
    #[serde(default)]
    with_alerts: bool,
    /// Those in this folder and the folders below it; `folders` of the answer are those right below it
    #[serde(default)]
    #[param(max_length = 256)]
    folder: String,
    /// Those in that folder itself only
    #[serde(default)]
    not_below: bool,
    /// In which order; without it, by their names
    #[serde(default)]
    order: DeviceOrder,
    /// How many are left out before the page
    #[serde(default)]
    offset: usize,
    /// At most so many, 1 to 1000; without it, 100
    #[serde(default = "usual")]
    limit: usize,
}

/// A user's devices in a few numbers, and a page of those that are looked for
///
/// A device is silent that was not heard for three of its periods, or for a minute if that is longer; where none is known, for an hour. Its
/// period is what its `period_s` says, or else that of its poller, if that is not paused.
#[utoipa::path(get, path = "/users/{user}/fleet", tag = "resources", params(FleetParameters),
    responses((status = 200, body = Fleet)))]
pub(super) async fn show(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
    query: Result<Query<FleetParameters>, QueryRejection>,
) -> Answer<Fleet> {
    let Query(query) = query?;
    let FleetParameters { search, tags, state, with_alerts, folder, not_below, order, offset, limit } = query;
    // Wide enough that both fit.
    check_limit(limit as u64, LONGEST_FLEET_PAGE as u64)?;
    let tags = tags.split(',').filter(|tag| !tag.is_empty()).map(str::to_owned).collect();
    let selection = Selection { search, tags, state, with_alerts, folder, not_below };
    let query = FleetQuery { selection, order, offset, limit };
    Ok(Json(app.store.fleet(owner.id, query, now_ms()).await?))
}

/// A user's devices that have a place
#[utoipa::path(get, path = "/users/{user}/fleet/places", tag = "resources",
    responses((status = 200, body = [PlacedDevice])))]
pub(super) async fn places(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
) -> Answer<Vec<PlacedDevice>> {
    Ok(Json(app.store.places(owner.id, now_ms()).await?))
}

/// A change of many devices at once.
#[derive(Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum Change {
    /// They get tags besides those that they have
    Tag { tags: Vec<String> },
    /// Tags are taken from them
    Untag { tags: Vec<String> },
    /// They are moved to a folder, or out of theirs if the name is empty
    Move {
        #[schema(max_length = 256)]
        folder: String,
    },
    /// Their pollers poll no more
    PausePolls {},
    /// Their pollers poll again
    ResumePolls {},
    /// Points of the streams that they have are kept for so many seconds; null: for ever
    Keep {
        #[serde(deserialize_with = "seconds")]
        #[schema(required, minimum = 3_600, maximum = 3_162_240_000_i64)]
        keep_s: Option<i64>,
        /// Whether points may be discarded that there are already
        #[serde(default)]
        discard: bool,
    },
    /// They are deleted with their streams and points, at most 1000 at once; `count` has to be there
    Delete {},
}

/// Reads what has to be there, be it null.
fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    Option::deserialize(deserializer)
}

impl Change {
    /// As the store knows it, and what the record says of it.
    fn read(self) -> (FleetChange, &'static str) {
        match self {
            Self::Tag { tags } => (FleetChange::Tag(tags), "devices_tagged"),
            Self::Untag { tags } => (FleetChange::Untag(tags), "devices_untagged"),
            Self::Move { folder } => (FleetChange::Move(folder), "devices_moved"),
            Self::PausePolls {} => (FleetChange::PausePolls(true), "polls_paused"),
            Self::ResumePolls {} => (FleetChange::PausePolls(false), "polls_resumed"),
            Self::Keep { keep_s, discard } => (FleetChange::Keep { keep_s, discard }, "retention_changed"),
            Self::Delete {} => (FleetChange::Delete, "devices_deleted"),
        }
    }
}

/// Which devices, and what is done to them. Either `devices` or `matching` is there.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FleetChangeRequest {
    /// The ids of the devices
    #[schema(value_type = Option<Vec<i64>>, max_items = 5_000)]
    devices: Option<Vec<i64>>,
    /// Or those that are found so
    matching: Option<Selection>,
    /// How many they are: if there are more or fewer, nothing is changed (409)
    count: Option<usize>,
    change: Change,
}

/// Changes or deletes many devices at once
///
/// At most 10000 devices. A change is made to all of them or, if one cannot be changed, to none; but devices are deleted in parts,
/// and an answer that is not a success may have deleted some: it says how many. `changed` tells how many are otherwise than before.
#[utoipa::path(post, path = "/users/{user}/fleet/changes", tag = "resources", request_body = FleetChangeRequest,
    responses((status = 200, body = FleetChanged)))]
pub(super) async fn change(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
    body: Body<FleetChangeRequest>,
) -> Result<(Extension<AuditDetails>, Json<FleetChanged>), Failure> {
    let Json(FleetChangeRequest { devices, matching, count, change }) = body?;
    let chosen = match (devices, matching) {
        (Some(devices), None) if devices.len() > MOST_NAMED => {
            return Err(Failure::invalid(format!("devices names at most {MOST_NAMED}")));
        }
        (Some(devices), None) => Chosen::Devices(devices.into_iter().map(ResourceId).collect()),
        (None, Some(selection)) => Chosen::Matching(selection),
        _ => return Err(Failure::invalid("either devices or matching says which devices are meant")),
    };
    let (change, action) = change.read();
    if change == FleetChange::Delete && count.is_none() {
        return Err(Failure::invalid("count says how many devices are to be deleted"));
    }
    let deed = |changed: usize, matched: usize| AuditDetails {
        made: Some(format!("{changed} of {matched} devices")),
        ..AuditDetails::actions(vec![action])
    };
    match app.store.change_fleet(owner.id, (chosen, count), change, now_ms()).await {
        Ok(changed) => Ok((Extension(deed(changed.changed, changed.matched)), Json(changed))),
        Err(error @ Error::PartlyDeleted { deleted, of, .. }) => {
            Err(Failure::from(error).after(deed(deleted, of)))
        }
        Err(error) => Err(error.into()),
    }
}

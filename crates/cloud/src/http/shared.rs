//! `/shared/streams`: streams that others than their owners may read. A stream is named by its id alone, and nothing else of its
//! owner can be reached from there.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::Response;
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use sixlock_store::{Listing, Page, Point, SharedStream};
use utoipa::ToSchema;

use super::app::{Answer, App};
use super::caller::Shared;
use super::data::{self, DataQuery, PointsOrWindows, StreamLabels};
use super::failure::Failure;
use super::listing::check_limit;

/// The most streams of one answer.
const MOST: i64 = 100;
/// The longest text that is looked for, in characters.
const LONGEST_SEARCH: usize = 200;

const fn usual() -> i64 {
    50
}

/// Which streams are looked for, and which page of them. The next one begins behind the last id of this one.
#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct FindQuery {
    /// At most 4 words of letters and digits, each the beginning of one in the label or description of the stream, the label or a tag of
    /// its device or the user name of its owner; without any, all streams are found
    #[serde(default)]
    #[param(max_length = 200)]
    search: String,
    /// Only streams of devices that have this tag
    #[param(max_length = 40)]
    tag: Option<String>,
    /// At most so many, 1 to 100; without it, 50
    #[serde(default = "usual")]
    limit: i64,
    /// Only those with greater ids
    #[serde(default)]
    after: i64,
}

/// Streams that are public to find, in the order of their ids
///
/// Who is not signed in, or has a token for a stream, asks 60 times at once from an address, or /64 of IPv6, and then once each half
/// second (429), here and for a stream. Of words that more than 100000 others begin as, the first in the order of the alphabet
/// count.
#[utoipa::path(get, path = "/shared/streams", tag = "shared", params(FindQuery),
    responses((status = 200, body = [SharedStream])))]
pub(super) async fn find(
    State(app): State<Arc<App>>,
    query: Result<Query<FindQuery>, QueryRejection>,
) -> Answer<Vec<SharedStream>> {
    let Query(FindQuery { search, tag, limit, after }) = query?;
    check_limit(limit, MOST)?;
    if search.chars().count() > LONGEST_SEARCH {
        return Err(Failure::invalid("search has more than 200 characters"));
    }
    Ok(Json(app.store.find_streams(&search, tag.as_deref(), Listing { limit, after }).await?))
}

/// A shared stream, and its latest point.
#[derive(Serialize, ToSchema)]
pub(super) struct SharedStreamWithPoint {
    #[serde(flatten)]
    stream: SharedStream,
    /// The point of the latest time; null if there is none
    latest: Option<Point>,
}

/// A shared stream
#[utoipa::path(get, path = "/shared/streams/{shared}", tag = "shared",
    responses((status = 200, body = SharedStreamWithPoint)))]
pub(super) async fn show(
    State(app): State<Arc<App>>,
    Extension(Shared { stream, .. }): Extension<Shared>,
) -> Answer<SharedStreamWithPoint> {
    let page = Page { limit: 1, from: None, until: None };
    let latest = app.store.points(stream.id, page).await?.pop();
    Ok(Json(SharedStreamWithPoint { stream, latest }))
}

/// Points of a shared stream, oldest first: the first ones from `from` on, or without it the latest
///
/// With `every`, what they amount to in each window, as for its owner.
#[utoipa::path(get, path = "/shared/streams/{shared}/data", tag = "shared", params(DataQuery),
    responses((status = 200, content((PointsOrWindows = "application/json"), (String = "text/csv; charset=utf-8"),
        (Vec<Object> = "application/senml+json")))))]
pub(super) async fn read(
    State(app): State<Arc<App>>,
    Extension(Shared { stream, .. }): Extension<Shared>,
    query: Result<Query<DataQuery>, QueryRejection>,
) -> Result<Response, Failure> {
    let SharedStream { id, device, label, unit, value_type, .. } = &stream;
    let named = StreamLabels { device, label, unit: unit.as_deref(), value_type: *value_type };
    data::answer(&app.store, *id, named, query).await
}

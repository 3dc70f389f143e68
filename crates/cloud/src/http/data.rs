//! `…/resources/{resource}/data` and `…/streams/{stream}/data`.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, QueryRejection};
use axum::extract::{FromRequest, Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use sixlock_ingest::Format;
use sixlock_store::{
    Append, Idempotency, LONGEST_PAGE, LeftOut, Page, Point, Resource, ResourceId, Store, Stored, Stream,
    StreamId, Summary, ValueType, Windows, now_ms,
};
use utoipa::ToSchema;

use super::app::{Answer, App};
use super::caller::{Caller, Given};
use super::csv;
use super::export;
use super::failure::Failure;
use super::listing::check_limit;
use super::live_access::LiveAccess;
use super::windows::{self, Aggregate};
use crate::ingest::{self, points::NewPoints};
use crate::senml_records::{NotSenml, Record};

/// The refusal of any other format.
const FORMATS: &str = "format is not json, csv or senml";

/// What a request for data asks for. An empty value is one that is not there.
#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct DataQuery {
    /// At most so many points, or windows, 1 to 10000; without it, 50
    #[serde(default)]
    limit: String,
    /// None older than this; the window that holds it is whole
    #[serde(default)]
    from: String,
    /// Only older than this; the window that holds the last of these is whole
    #[serde(default)]
    until: String,
    /// `json`; `csv`: lines of UTC, milliseconds since 1970 and value below a heading; or `senml`, a pack of SenML in JSON
    #[serde(default)]
    format: String,
    /// Instead of points, windows of this length that have points: `30s`, `10m`, `1h`, `7d`, at most 366 days, which follow each other
    /// from the beginning of 1970 (UTC); or `day`
    #[serde(default)]
    every: String,
    /// The value of a window: `mean`, `min`, `max`, `sum`, `count`, `first` or `last`; or `all` of them; without it, `mean`. True counts as
    /// 1 and false as 0, so `mean` is the share of what is true. Of texts: `count`, `first` or `last`, which it is without it, or `all`
    #[serde(default)]
    aggregate: String,
    /// In which a `day` begins: `UTC`, a difference such as `+02:00`, or a name such as `Europe/Stockholm`; without it, `UTC`
    #[serde(default)]
    time_zone: String,
}

/// The number in `text`; an empty one is none.
fn number(name: &str, text: &str) -> Result<Option<i64>, Failure> {
    match text {
        "" => Ok(None),
        text => {
            let number = text.parse().map(Some);
            number.map_err(|_| Failure::invalid(format!("{name} is not a whole number")))
        }
    }
}

impl DataQuery {
    fn page(&self) -> Result<Page, Failure> {
        const LIMIT: i64 = 50;
        let limit = number("limit", &self.limit)?.unwrap_or(LIMIT);
        check_limit(limit, LONGEST_PAGE)?;
        Ok(Page { limit, from: number("from", &self.from)?, until: number("until", &self.until)? })
    }

    /// The windows that are asked for, and what of each; nothing if points are.
    fn windows(&self, page: Page, value_type: ValueType) -> Result<Option<(Windows, Aggregate)>, Failure> {
        if self.every.is_empty() {
            return match (&*self.aggregate, &*self.time_zone) {
                ("", "") => Ok(None),
                _ => {
                    Err(Failure::invalid("aggregate and time_zone are for windows: say how long with every"))
                }
            };
        }
        let width = windows::width(&self.every, &self.time_zone)?;
        let Page { limit, from, until } = page;
        Ok(Some((Windows { width, limit, from, until }, Aggregate::of(&self.aggregate, value_type)?)))
    }
}

/// Points, or with `aggregate=all` windows.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(super) enum PointsOrWindows {
    Points(Vec<Point>),
    Windows(Vec<Summary>),
}

/// Points of a stream, oldest first: the first ones from `from` on, or without it the latest
///
/// With `every`, what they amount to in each window. Windows of whole hours, and days where these begin with an hour of UTC, are read from
/// rollups, which outlive the points; all others are made of at most 1,000,000 points (400).
#[utoipa::path(get, path = "/users/{user}/resources/{resource}/streams/{stream}/data", tag = "data",
    params(DataQuery),
    responses((status = 200, content((PointsOrWindows = "application/json"), (String = "text/csv; charset=utf-8"),
        (Vec<Object> = "application/senml+json")))))]
pub(super) async fn read(
    State(app): State<Arc<App>>,
    Extension(resource): Extension<Resource>,
    Extension(stream): Extension<Stream>,
    query: Result<Query<DataQuery>, QueryRejection>,
) -> Result<Response, Failure> {
    let Stream { id, label, unit, value_type, .. } = &stream;
    let named =
        StreamLabels { device: &resource.label, label, unit: unit.as_deref(), value_type: *value_type };
    answer(&app.store, *id, named, query).await
}

/// The most texts of an answer.
const LONGEST_PAGE_OF_TEXTS: i64 = 1_000;

/// The names of the stream whose points are answered, and what its values are.
pub(super) struct StreamLabels<'a> {
    pub(super) device: &'a str,
    pub(super) label: &'a str,
    pub(super) unit: Option<&'a str>,
    pub(super) value_type: ValueType,
}

/// The points of `stream` that are asked for, in the format that is asked for.
pub(super) async fn answer(
    store: &Store,
    stream: StreamId,
    StreamLabels { device, label, unit, value_type }: StreamLabels<'_>,
    query: Result<Query<DataQuery>, QueryRejection>,
) -> Result<Response, Failure> {
    let Query(query) = query?;
    let page = query.page()?;
    // Texts are long: an answer of them that is read slowly would take much memory.
    let page = match value_type {
        ValueType::Text => Page { limit: page.limit.min(LONGEST_PAGE_OF_TEXTS), ..page },
        ValueType::Number | ValueType::Boolean => page,
    };
    let points = match query.windows(page, value_type)? {
        None => store.points(stream, page).await?,
        Some((windows, aggregate)) => {
            let summaries = store.windows(stream, &windows).await?;
            match (aggregate.points(&summaries), &*query.format) {
                (Some(points), _) => points,
                (None, "" | "json") => return Ok(Json(PointsOrWindows::Windows(summaries)).into_response()),
                (None, "csv") => {
                    return Ok(csv::file(&[device, label], csv::windows(&summaries)).into_response());
                }
                (None, "senml") => {
                    return Err(Failure::invalid("SenML has one value of a window: name it in aggregate"));
                }
                (None, _) => return Err(Failure::invalid(FORMATS)),
            }
        }
    };
    match &*query.format {
        "" | "json" => Ok(Json(PointsOrWindows::Points(points)).into_response()),
        "csv" => {
            let mut text = csv::OF_STREAM.to_owned();
            points.iter().for_each(|point| csv::line(&mut text, point));
            Ok(csv::file(&[device, label], text).into_response())
        }
        "senml" => {
            let records = points.iter().map(|point| Record::new(label, unit, point));
            let pack = records.collect::<Result<Vec<_>, _>>().map_err(|NotSenml| Failure::not_senml())?;
            let kind = HeaderValue::from_static("application/senml+json");
            Ok(([(header::CONTENT_TYPE, kind)], Json(pack)).into_response())
        }
        _ => Err(Failure::invalid(FORMATS)),
    }
}

/// All points of a resource: lines of UTC, milliseconds since 1970, stream, unit and value below a heading
///
/// Stream by stream, each oldest first.
#[utoipa::path(get, path = "/users/{user}/resources/{resource}/data", tag = "data",
    params(SpanQuery), responses((status = 200, body = String, content_type = "text/csv; charset=utf-8")))]
pub(super) async fn export(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Extension(resource): Extension<Resource>,
    given: Option<Extension<Given>>,
    query: Result<Query<SpanQuery>, QueryRejection>,
) -> Result<Response, Failure> {
    let Query(SpanQuery { from, until }) = query?;
    let span = (number("from", &from)?, number("until", &until)?);
    let access = LiveAccess::new(&app.store, &caller, given.map(|Extension(given)| given)).await?;
    Ok(export::export(&app.store, access, &resource, span).await?)
}

/// Adds points to a stream
///
/// When this answers, they survive power loss. What is sent again with the same `Idempotency-Key` is stored once, for
/// 247 seconds after it was stored. Points that are older than what the stream keeps are left out, which is told; if all are, or the
/// stream is frozen, this is refused (409, `left_out`).
#[utoipa::path(post, path = "/users/{user}/resources/{resource}/streams/{stream}/data", tag = "data",
    params(("Idempotency-Key" = Option<String>, Header, description = "1 to 255 bytes that name this post")),
    request_body = NewPoints, responses((status = 204, description = "They are stored"),
        (status = 200, body = PartlyStored, description = "They are stored but for some")))]
pub(super) async fn add(
    State(app): State<Arc<App>>,
    Extension(resource): Extension<Resource>,
    Extension(stream): Extension<Stream>,
    headers: HeaderMap,
    payload: Result<Bytes, BytesRejection>,
) -> Result<Response, Failure> {
    let payload = payload?;
    let Json(points) = Json::<NewPoints>::from_bytes(&payload)?;
    let readings = points.readings(&stream, now_ms())?;
    let said = [&stream.id.0.to_be_bytes()[..], &payload].concat();
    let idempotency = idempotency(&headers, resource.id, &said)?;
    let stored = app.store.append(Append { resource: resource.id, idempotency, readings }).await?;
    ingest::tell_left_out(&app.events, resource.id, &stored);
    Ok(stored_answer(stored))
}

/// The points that were left out of a post whose other points are stored.
#[derive(Serialize, ToSchema)]
pub(super) struct PartlyStored {
    left_out: Vec<LeftOut>,
}

/// The answer to a post that is stored.
fn stored_answer(Stored { left_out }: Stored) -> Response {
    match left_out.is_empty() {
        true => StatusCode::NO_CONTENT.into_response(),
        false => Json(PartlyStored { left_out }).into_response(),
    }
}

/// Which points. An empty value is one that is not there.
#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct SpanQuery {
    /// None older than this
    #[serde(default)]
    from: String,
    /// Only older than this
    #[serde(default)]
    until: String,
}

/// How many points were deleted.
#[derive(Serialize, ToSchema)]
pub(super) struct Deleted {
    deleted: u64,
}

/// Which points are to be deleted. An empty value is one that is not there.
#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct DeletedQuery {
    /// None older than this
    #[serde(default)]
    from: String,
    /// Only older than this
    #[serde(default)]
    until: String,
    /// `true`, which says that all are meant where neither `from` nor `until` is stated
    #[serde(default)]
    all: bool,
}

/// Deletes points of a stream: those of a span, or with `all=true` all
#[utoipa::path(delete, path = "/users/{user}/resources/{resource}/streams/{stream}/data", tag = "data",
    params(DeletedQuery), responses((status = 200, body = Deleted)))]
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    Extension(stream): Extension<Stream>,
    query: Result<Query<DeletedQuery>, QueryRejection>,
) -> Answer<Deleted> {
    let Query(DeletedQuery { from, until, all }) = query?;
    let (from, until) = (number("from", &from)?, number("until", &until)?);
    if all == (from.is_some() || until.is_some()) {
        return Err(Failure::invalid("say which points: from, until or both; or all=true, alone"));
    }
    Ok(Json(Deleted { deleted: app.store.delete_points(stream.id, from, until).await? }))
}

/// Adds what a payload says
///
/// SenML in JSON or CBOR, any JSON or CBOR, or text, as `Content-Type` says. SenML says itself what it means; all else
/// goes through the resource's parsers, which the first post makes where there are none. All of it is stored or none, but for points of
/// streams that are frozen or keep none so old: these are left out, which is told; if all are, this is refused (409, `left_out`).
/// When this answers, it survives power loss. What is sent again with the same `Idempotency-Key` is stored once, for 247
/// seconds after it was stored.
#[utoipa::path(post, path = "/users/{user}/resources/{resource}/data", tag = "data",
    params(("Idempotency-Key" = Option<String>, Header, description = "1 to 255 bytes that name this post")),
    request_body(content = Object, content_type = "application/json"),
    responses((status = 204, description = "It is stored"),
        (status = 200, body = PartlyStored, description = "It is stored but for some points")))]
pub(super) async fn post(
    State(app): State<Arc<App>>,
    Extension(resource): Extension<Resource>,
    headers: HeaderMap,
    request: Request,
) -> Result<Response, Failure> {
    let media_type = headers.get(header::CONTENT_TYPE).and_then(|media_type| media_type.to_str().ok());
    let format = media_type.and_then(Format::of_media_type).ok_or_else(Failure::media_type)?;
    let payload = Bytes::from_request(request, &()).await?;
    let idempotency = idempotency(&headers, resource.id, &payload)?;
    Ok(stored_answer(
        ingest::post((&app.store, &app.events), resource.id, format, &payload, idempotency).await?,
    ))
}

/// What a post is known again by, if its sender wants to send it again.
fn idempotency(headers: &HeaderMap, resource: ResourceId, payload: &[u8]) -> Result<Idempotency, Failure> {
    match headers.get("idempotency-key").map(|key| key.as_bytes()) {
        None => Ok(Idempotency::unique()?),
        Some(key) if (1..=255).contains(&key.len()) => Ok(Idempotency::named(resource, key, payload)),
        Some(_) => Err(Failure::invalid("Idempotency-Key has 1 to 255 bytes")),
    }
}

//! `…/streams/{stream}/data`.

use std::fmt::Write;
use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::failure::Failure;
use super::{Answer, App, Body};
use crate::ingest::points::NewPoints;
use crate::secrets;
use crate::store::{Append, Idempotency, LONGEST_PAGE, Page, Point, Resource, Stream, Transmission, now_ms};

/// What a request for data asks for. An empty value is one that is not there.
#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct DataQuery {
    /// At most so many points, 1 to 10000; without it, 50
    #[serde(default)]
    limit: String,
    /// None older than this
    #[serde(default)]
    from: String,
    /// Only older than this
    #[serde(default)]
    until: String,
    /// `json`, or `csv`: lines of time and value below a heading
    #[serde(default)]
    format: String,
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
        if !(1..=LONGEST_PAGE).contains(&limit) {
            return Err(Failure::invalid(format!("limit is not between 1 and {LONGEST_PAGE}")));
        }
        Ok(Page { limit, from: number("from", &self.from)?, until: number("until", &self.until)? })
    }
}

/// Points of a stream, oldest first: the first ones from `from` on, or without it the latest
#[utoipa::path(get, path = "/users/{user}/resources/{resource}/streams/{stream}/data", tag = "data",
    params(DataQuery),
    responses((status = 200, content((Vec<Point> = "application/json"), (String = "text/csv; charset=utf-8")))))]
pub(super) async fn read(
    State(app): State<Arc<App>>,
    Extension(stream): Extension<Stream>,
    query: Result<Query<DataQuery>, QueryRejection>,
) -> Result<Response, Failure> {
    let Query(query) = query?;
    let page = query.page()?;
    match &*query.format {
        "" | "json" => Ok(Json(app.store.points(stream.id, page).await?).into_response()),
        "csv" => {
            let points = app.store.points(stream.id, page).await?;
            let kind = HeaderValue::from_static("text/csv; charset=utf-8");
            let file = format!("attachment; filename=\"stream-{}.csv\"", stream.id.0);
            Ok(([(header::CONTENT_TYPE, kind)], [(header::CONTENT_DISPOSITION, file)], csv(&points))
                .into_response())
        }
        _ => Err(Failure::invalid("format is not json or csv")),
    }
}

fn csv(points: &[Point]) -> String {
    let mut text = "time,value\r\n".to_owned();
    for Point { time, value } in points {
        let _ = write!(text, "{time},{value}\r\n");
    }
    text
}

/// Adds points to a stream
///
/// When this answers, they survive power loss.
#[utoipa::path(post, path = "/users/{user}/resources/{resource}/streams/{stream}/data", tag = "data",
    request_body = NewPoints, responses((status = 204, description = "They are stored")))]
pub(super) async fn add(
    State(app): State<Arc<App>>,
    Extension(resource): Extension<Resource>,
    Extension(stream): Extension<Stream>,
    body: Body<NewPoints>,
) -> Result<StatusCode, Failure> {
    let Json(points) = body?;
    let readings = points.readings(&stream, now_ms())?;
    // HTTP does not repeat a post by itself: each is a new one.
    let once = secrets::random::<16>()?;
    let transmission = Transmission { association: &once, message_id: 0, token: &once };
    let idempotency = Idempotency::of(resource.id, transmission, b"");
    app.store.append(Append { resource: resource.id, idempotency, readings }).await?;
    Ok(StatusCode::NO_CONTENT)
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

/// Deletes points of a stream: all, or those of a span
#[utoipa::path(delete, path = "/users/{user}/resources/{resource}/streams/{stream}/data", tag = "data",
    params(SpanQuery), responses((status = 200, body = Deleted)))]
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    Extension(stream): Extension<Stream>,
    query: Result<Query<SpanQuery>, QueryRejection>,
) -> Answer<Deleted> {
    let Query(SpanQuery { from, until }) = query?;
    let (from, until) = (number("from", &from)?, number("until", &until)?);
    Ok(Json(Deleted { deleted: app.store.delete_points(stream.id, from, until).await? }))
}

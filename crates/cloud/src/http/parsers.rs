//! `…/resources/{resource}/parsers`.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use sixlock_ingest::Format;
use sixlock_store::{LeftOutReason, NewParser, Parser, Resource, Value};
use utoipa::ToSchema;

use super::app::{Answer, App, Body};
use super::failure::Failure;
use crate::ingest;

/// A resource's parsers
#[utoipa::path(get, path = "/users/{user}/resources/{resource}/parsers", tag = "parsers",
    responses((status = 200, body = [Parser])))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Extension(resource): Extension<Resource>,
) -> Answer<Vec<Parser>> {
    Ok(Json(app.store.parsers(resource.id).await?))
}

/// Add a parser
#[utoipa::path(post, path = "/users/{user}/resources/{resource}/parsers", tag = "parsers",
    request_body = NewParser, responses((status = 201, body = Parser)))]
pub(super) async fn add(
    State(app): State<Arc<App>>,
    Extension(resource): Extension<Resource>,
    body: Body<NewParser>,
) -> Result<(StatusCode, Json<Parser>), Failure> {
    let specification = body?.0.try_into().map_err(Failure::from)?;
    Ok((StatusCode::CREATED, Json(app.store.add_parser(resource.id, &specification).await?)))
}

/// A parser
#[utoipa::path(get, path = "/users/{user}/resources/{resource}/parsers/{parser}", tag = "parsers",
    responses((status = 200, body = Parser)))]
pub(super) async fn show(Extension(parser): Extension<Parser>) -> Json<Parser> {
    Json(parser)
}

/// Replace a parser
#[utoipa::path(put, path = "/users/{user}/resources/{resource}/parsers/{parser}", tag = "parsers",
    request_body = NewParser, responses((status = 200, body = Parser)))]
pub(super) async fn replace(
    State(app): State<Arc<App>>,
    Extension(parser): Extension<Parser>,
    body: Body<NewParser>,
) -> Answer<Parser> {
    let specification = body?.0.try_into().map_err(Failure::from)?;
    Ok(Json(app.store.replace_parser(parser.id, &specification).await?))
}

/// Remove a parser; its stream stays
#[utoipa::path(delete, path = "/users/{user}/resources/{resource}/parsers/{parser}", tag = "parsers",
    responses((status = 204)))]
pub(super) async fn remove(
    State(app): State<Arc<App>>,
    Extension(parser): Extension<Parser>,
) -> Result<StatusCode, Failure> {
    app.store.remove_parser(parser.id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A payload to try.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Sample {
    /// As a post of it would state it
    content_type: String,
    /// The payload, as text
    payload: String,
    /// The parser to try; without it, those of the resource
    parser: Option<NewParser>,
}

/// What a post of a payload would store.
#[derive(Serialize, ToSchema)]
pub(super) struct Preview {
    readings: Vec<PreviewedReading>,
    /// The parsers that the post would make
    new_parsers: Vec<NewParser>,
}

/// A reading that would be stored.
#[derive(Serialize, ToSchema)]
struct PreviewedReading {
    stream: String,
    unit: Option<String>,
    time: i64,
    #[schema(schema_with = sixlock_store::value_schema)]
    value: Value,
    /// Why no stream would take it; null if one of its type does
    left_out: Option<LeftOutReason>,
}

/// What a payload would store, without storing it
#[utoipa::path(post, path = "/users/{user}/resources/{resource}/parsers/test", tag = "parsers",
    request_body = Sample, responses((status = 200, body = Preview)))]
pub(super) async fn test(
    State(app): State<Arc<App>>,
    Extension(resource): Extension<Resource>,
    body: Body<Sample>,
) -> Answer<Preview> {
    let Json(Sample { content_type, payload, parser }) = body?;
    let format = Format::of_media_type(&content_type).ok_or_else(Failure::media_type)?;
    let parsers = match parser {
        Some(parser) => vec![parser.try_into()?],
        None => app.store.specifications(resource.id).await?,
    };
    let (readings, new) = ingest::read(parsers, format, payload.into_bytes()).await?;
    let readings = readings.into_iter();
    let readings = readings.map(|reading| {
        let sixlock_store::Reading { stream, unit, time, value } = reading;
        let left_out = match &value {
            Value::Text(text) => LeftOutReason::of_text(text),
            Value::Number(_) | Value::Boolean(_) => None,
        };
        PreviewedReading { stream, unit, time, value, left_out }
    });
    Ok(Json(Preview { readings: readings.collect(), new_parsers: new.into_iter().map(Into::into).collect() }))
}

//! `…/streams/{stream}/data`.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::{Extension, Json};
use serde::Deserialize;

use super::failure::Failure;
use super::{Answer, App};
use crate::store::{LONGEST_PAGE, Page, Point, Stream};

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
}

impl TryFrom<DataQuery> for Page {
    type Error = Failure;

    fn try_from(query: DataQuery) -> Result<Self, Failure> {
        const LIMIT: i64 = 50;
        let number = |name: &str, text: &str| match text {
            "" => Ok(None),
            text => text
                .parse::<i64>()
                .map(Some)
                .map_err(|_| Failure::invalid(format!("{name} is not a whole number"))),
        };
        let limit = number("limit", &query.limit)?.unwrap_or(LIMIT);
        if !(1..=LONGEST_PAGE).contains(&limit) {
            return Err(Failure::invalid(format!("limit is not between 1 and {LONGEST_PAGE}")));
        }
        Ok(Self { limit, from: number("from", &query.from)?, until: number("until", &query.until)? })
    }
}

/// Points of a stream, oldest first: the first ones from `from` on, or without it the latest
#[utoipa::path(get, path = "/users/{user}/resources/{resource}/streams/{stream}/data", tag = "data",
    params(DataQuery), responses((status = 200, body = [Point])))]
pub(super) async fn read(
    State(app): State<Arc<App>>,
    Extension(stream): Extension<Stream>,
    query: Result<Query<DataQuery>, QueryRejection>,
) -> Answer<Vec<Point>> {
    let Query(query) = query?;
    Ok(Json(app.store.points(stream.id, query.try_into()?).await?))
}

//! Pages of what there may be much of.

use std::fmt::Display;

use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use serde::Deserialize;
use sixlock_store::Listing;

use super::failure::Failure;

/// Which page of a list. The next one begins behind the last id of this one.
#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct ListQuery {
    /// At most so many, 1 to 10000; without it, 1000
    #[serde(default = "usual")]
    limit: i64,
    /// Only those with greater ids
    #[serde(default)]
    after: i64,
}

const MOST: i64 = 10_000;

const fn usual() -> i64 {
    1000
}

/// The page that a request asks for.
pub(super) fn page(query: Result<Query<ListQuery>, QueryRejection>) -> Result<Listing, Failure> {
    let Query(ListQuery { limit, after }) = query?;
    check_limit(limit, MOST)?;
    Ok(Listing { limit, after })
}

/// Refuses a `limit` that is not between 1 and `most`.
pub(super) fn check_limit<N: PartialOrd + From<u8> + Display>(limit: N, most: N) -> Result<(), Failure> {
    match limit >= N::from(1) && limit <= most {
        true => Ok(()),
        false => Err(Failure::invalid(format!("limit is not between 1 and {most}"))),
    }
}

//! Refuses what a query says that nothing asks for: a parameter that is mistyped must not mean "all".

use axum::extract::{MatchedPath, Query, Request};
use serde::{Deserialize, Deserializer};

use super::failure::Failure;
use super::openapi::Document;

/// The longest part of an unknown name that is told, in characters.
const LONGEST_TOLD: usize = 64;

/// Reads what is given in a body, be it null.
pub(super) fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// Refuses a request of the API whose query has a parameter that the description does not name for it.
pub(super) fn check_query(request: &Request, document: &Document) -> Result<(), Failure> {
    if request.uri().query().is_none_or(str::is_empty) {
        return Ok(());
    }
    let Some(path) = request.extensions().get::<MatchedPath>() else { return Ok(()) };
    let Some(known) = document.query_parameters(request.method(), path.as_str()) else { return Ok(()) };
    let Query(stated) = Query::<Vec<(String, String)>>::try_from_uri(request.uri())?;
    let Some((unknown, _)) = stated.iter().find(|(name, _)| !known.contains(&&**name)) else {
        return Ok(());
    };
    let unknown: String = unknown.chars().take(LONGEST_TOLD).collect();
    Err(Failure::invalid(match &known[..] {
        [] => format!("query: {unknown:?} is not known here: this takes no parameters"),
        known => format!("query: {unknown:?} is not known here: this takes {}", known.join(", ")),
    }))
}

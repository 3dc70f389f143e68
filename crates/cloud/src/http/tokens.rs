//! `/users/{user}/tokens`: tokens for programs.

use std::sync::Arc;

use axum::extract::{RawPathParams, State};
use axum::http::StatusCode;
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use sixlock_store::{ADMINISTRATORS_FILE, ResourceId, StreamId, Token, TokenScope, now_ms};
use utoipa::ToSchema;

use super::app::{Answer, App, Body};
use super::caller::Owner;
use super::failure::Failure;
use super::paths::named;
use super::recorded::AuditDetails;
use crate::Error;

/// A user's tokens for programs; sessions are not among them
#[utoipa::path(get, path = "/users/{user}/tokens", tag = "tokens", responses((status = 200, body = [Token])))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
) -> Answer<Vec<Token>> {
    Ok(Json(app.store.tokens(owner.id, now_ms()).await?))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewToken {
    #[schema(min_length = 1, max_length = 64, pattern = "^[+-]*([0-9]+[^/0-9][^/]*|[^/0-9+-][^/]*)?$")]
    label: String,
    /// When it ends; without it, not by itself.
    expires: Option<i64>,
    /// Whether it may only read.
    #[serde(default)]
    read_only: bool,
    /// The id or label of the only resource that it may be used for; without it, it may be used for all.
    #[schema(min_length = 1, max_length = 64)]
    resource: Option<String>,
    /// The id or label of the only stream of that resource that it may be used for, which is to read it at `/shared/streams`, or with
    /// `write_only` to post points to it.
    #[schema(min_length = 1, max_length = 128)]
    stream: Option<String>,
    /// Whether it posts points to that stream, and reads nothing
    #[serde(default)]
    write_only: bool,
}

/// A token just made: the only answer that ever holds it.
#[derive(Serialize, ToSchema)]
pub(super) struct TokenWithSecret {
    id: i64,
    label: String,
    created: i64,
    expires: Option<i64>,
    read_only: bool,
    /// The only resource that it may be used for
    resource: Option<ResourceId>,
    /// The only stream that it may be used for, which is to read it or to post points to it
    stream: Option<StreamId>,
    /// Whether it posts points to that stream, and reads nothing
    write_only: bool,
    token: String,
}

/// Makes a token that acts for the user
///
/// A user has at most 32, and 256 that are for a stream each. One that may only read, or may be used for a resource only, makes no tokens or keys and changes no user;
/// one for a resource goes with it, and cannot set a poller or computed streams, which reach further. One for a stream may be given
/// away: it reads that stream at `/shared/streams/{shared}`, whether or not it is public, or with `write_only` posts points to it at
/// `…/streams/{stream}/data`, which count for the user, and is good for nothing else.
#[utoipa::path(post, path = "/users/{user}/tokens", tag = "tokens", request_body = NewToken,
    responses((status = 201, body = TokenWithSecret)))]
pub(super) async fn add(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
    body: Body<NewToken>,
) -> Result<(StatusCode, Extension<AuditDetails>, Json<TokenWithSecret>), Failure> {
    let Json(NewToken { label, expires, read_only, resource, stream, write_only }) = body?;
    if label == ADMINISTRATORS_FILE {
        return Err(Error::Invalid(
            "admin-token is the name of the token in the operator's file; choose another",
        )
        .into());
    }
    let resource = app.resource_named(owner.id, resource.as_deref()).await?;
    let stream = match (stream, resource) {
        (Some(name), Some(resource)) => {
            Some(app.store.stream(resource, &name).await?.ok_or(Error::Unknown("stream"))?.id)
        }
        (Some(_), None) => return Err(Failure::invalid("a token for a stream names its resource, too")),
        (None, _) => None,
    };
    if write_only && (read_only || stream.is_none()) {
        return Err(Failure::invalid("write_only is for a token that names a stream, and is not read_only"));
    }
    let read_only = read_only || (stream.is_some() && !write_only);
    let scope = TokenScope { read_only, resource, stream };
    let (made, token) = app.store.add_token(owner.id, &label, (expires, scope), now_ms()).await?;
    let Token { id, label, created, expires, read_only, resource, stream, write_only } = made;
    let deed = Extension(AuditDetails::made(label.clone()));
    Ok((
        StatusCode::CREATED,
        deed,
        Json(TokenWithSecret { id, label, created, expires, read_only, resource, stream, write_only, token }),
    ))
}

/// Ends a token
#[utoipa::path(delete, path = "/users/{user}/tokens/{token}", tag = "tokens",
    responses((status = 204, description = "It is good no more")))]
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
    names: RawPathParams,
) -> Result<StatusCode, Failure> {
    app.store.delete_token(owner.id, named(&names, "token")).await?;
    Ok(StatusCode::NO_CONTENT)
}

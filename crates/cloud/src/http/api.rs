//! The handlers of `/api/v1`. They run behind [`super::access`], which hands them what the caller may have.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{ConnectInfo, Query, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use sixlock_base::Security;

use super::access::{Caller, Owner};
use super::failure::Failure;
use super::{App, sign_in};
use crate::audit::{Door, Refused};
use crate::secrets::Secret;
use crate::store::{Device, LONGEST_PAGE, Page, Point, Resource, ResourceId, Stream, User};

type Answer<T> = Result<Json<T>, Failure>;
type Body<T> = Result<Json<T>, JsonRejection>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Login {
    username: String,
    password: String,
}

#[derive(Serialize)]
struct Session {
    token: String,
    expires: i64,
}

pub(super) async fn login(
    State(app): State<Arc<App>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    body: Body<Login>,
) -> Result<Response, Failure> {
    let Json(Login { username, password }) = body?;
    let Some(user) = app.store.user_by_password(&username, password).await? else {
        app.audit.record(Refused::new(Door::Http, from, "wrong_password").who(username));
        return Err(Failure::new(
            StatusCode::UNAUTHORIZED,
            "wrong_password",
            "Username and password do not belong together.",
            "Check both; nothing says which of them is wrong.",
        ));
    };
    let (token, expires) = sign_in::begin_session(&app, user.id).await?;
    let cookie = sign_in::cookie(&app, &token);
    Ok(([(header::SET_COOKIE, cookie)], Json(Session { token, expires })).into_response())
}

pub(super) async fn logout(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
) -> Result<Response, Failure> {
    app.store.revoke_token(&caller.token).await?;
    Ok(([(header::SET_COOKIE, sign_in::no_cookie())], StatusCode::NO_CONTENT).into_response())
}

pub(super) async fn me(Extension(caller): Extension<Caller>) -> Json<User> {
    Json(caller.user)
}

pub(super) async fn network(State(app): State<Arc<App>>) -> Result<Response, Failure> {
    let network = app.network.as_ref().ok_or(Failure::unknown("network: this cloud runs without one"))?;
    let json = network.borrow().to_string();
    Ok(([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], json).into_response())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewUser {
    username: String,
    password: String,
    #[serde(default)]
    email: String,
}

pub(super) async fn add_user(
    State(app): State<Arc<App>>,
    body: Body<NewUser>,
) -> Result<(StatusCode, Json<User>), Failure> {
    let Json(NewUser { username, password, email }) = body?;
    let user = app.store.add_user(&username, &email, password, false).await?;
    Ok((StatusCode::CREATED, Json(user)))
}

pub(super) async fn resources(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
) -> Answer<Vec<Resource>> {
    Ok(Json(app.store.resources(owner.id).await?))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewResource {
    label: String,
    mode: String,
    identity: Option<String>,
    key: Option<String>,
}

/// A resource just made: the only answer that ever holds its key.
#[derive(Serialize)]
pub(super) struct ResourceWithKey {
    id: ResourceId,
    label: String,
    mode: String,
    identity: String,
    key: String,
}

pub(super) async fn add_resource(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
    body: Body<NewResource>,
) -> Result<(StatusCode, Json<ResourceWithKey>), Failure> {
    let Json(NewResource { label, mode, identity, key }) = body?;
    let mode: Security = mode.parse().map_err(|error| Failure::invalid(format!("mode: {error}")))?;
    let key = key.map(|key| Secret::new(key.into_bytes()));
    let enrolled = app.store.add_resource(owner.id, Device { label, mode, identity, key }).await?;
    let Resource { id, label, mode, identity } = enrolled.resource;
    // The key was text when it came in, or made of printable characters.
    let key = String::from_utf8_lossy(enrolled.key.bytes()).into_owned();
    Ok((StatusCode::CREATED, Json(ResourceWithKey { id, label, mode, identity, key })))
}

pub(super) async fn resource(Extension(resource): Extension<Resource>) -> Json<Resource> {
    Json(resource)
}

pub(super) async fn streams(
    State(app): State<Arc<App>>,
    Extension(resource): Extension<Resource>,
) -> Answer<Vec<Stream>> {
    Ok(Json(app.store.streams(resource.id).await?))
}

pub(super) async fn stream(Extension(stream): Extension<Stream>) -> Json<Stream> {
    Json(stream)
}

/// What a request for data asks for. An empty value is one that is not there.
#[derive(Deserialize)]
pub(super) struct DataQuery {
    #[serde(default)]
    limit: String,
    #[serde(default)]
    from: String,
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

pub(super) async fn data(
    State(app): State<Arc<App>>,
    Extension(stream): Extension<Stream>,
    query: Result<Query<DataQuery>, QueryRejection>,
) -> Answer<Vec<Point>> {
    let Query(query) = query?;
    Ok(Json(app.store.points(stream.id, query.try_into()?).await?))
}

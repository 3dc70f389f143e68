//! The HTTP door: the API under `/api/v1`, the live feed and the dashboard.

mod access;
mod audit;
mod body_deadline;
mod connections;
mod credentials;
mod csv;
mod dashboard;
mod data;
mod endpoints;
mod export;
mod failure;
mod import;
mod listing;
mod live;
mod live_access;
mod live_feeds;
mod metrics;
mod network;
mod openapi;
mod parsers;
mod plain_words;
mod poller;
mod recorded;
mod resources;
mod serve;
mod sign_in;
mod sign_in_backoff;
mod streams;
#[cfg(test)]
mod tests;
mod tokens;
mod trusted_proxies;
mod users;
mod write_deadline;

use std::sync::Arc;

use axum::extract::DefaultBodyLimit;
use axum::extract::rejection::JsonRejection;
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use axum::{Json, Router};
use sixlock_store::Store;
use sixlock_telemetry::Events;
use tokio::sync::watch;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouterExt};
use utoipa_axum::routes;

use crate::pollers::Guard;
use failure::Failure;
use live_feeds::LiveFeeds;
use sign_in_backoff::Backoff;

pub(crate) use body_deadline::Pace;
pub(crate) use endpoints::Endpoints;
pub use import::LONGEST_IMPORT;
pub(crate) use serve::{Limits, serve};
pub(crate) use sign_in::SignInLink;
pub(crate) use trusted_proxies::TrustedProxies;

/// What a handler answers when all is well, or why it is not.
type Answer<T> = Result<Json<T>, Failure>;
/// A request's body.
type Body<T> = Result<Json<T>, JsonRejection>;

/// The longest request body.
const LONGEST_BODY: usize = 64 << 10;
/// The longest of an import: each device in a KiB.
const LONGEST_IMPORT_BODY: usize = LONGEST_IMPORT << 10;
/// The longest of a sign-in: a name and a password, every character written as an escape.
const LONGEST_SIGN_IN: usize = 8 << 10;

/// The longest body of a request for this path of the API.
fn longest_body(path: &str) -> usize {
    match path {
        "/users/{user}/import" => LONGEST_IMPORT_BODY,
        "/login" => LONGEST_SIGN_IN,
        _ => LONGEST_BODY,
    }
}

/// What every handler can use.
pub(crate) struct App {
    store: Store,
    events: Events,
    /// What `/network` shows, as JSON; nothing where the cloud runs without a network of its own.
    network: Option<watch::Receiver<Arc<str>>>,
    link: SignInLink,
    reach: Reach,
    live_feeds: LiveFeeds,
    backoff: Backoff,
    /// Where pollers may poll.
    guard: Guard,
    stopping: watch::Receiver<bool>,
}

/// From where, and by which names, HTTP is reached.
pub(crate) struct Reach {
    pub(crate) endpoints: Endpoints,
    /// Whether connections are TLS.
    pub(crate) tls: bool,
    /// Whether a proxy in front does TLS.
    pub(crate) behind_proxy: bool,
    /// Names of this server beside those of loopback.
    pub(crate) hosts: Vec<String>,
    /// Proxies that say where requests come from.
    pub(crate) proxies: TrustedProxies,
    /// How slowly bodies of requests may come.
    pub(crate) sending: Pace,
}

impl App {
    pub(crate) fn new(
        store: Store,
        events: Events,
        network: Option<watch::Receiver<Arc<str>>>,
        link: SignInLink,
        reach: Reach,
        guard: Guard,
        stopping: watch::Receiver<bool>,
    ) -> Self {
        let (live_feeds, backoff) = (LiveFeeds::default(), Backoff::default());
        Self { store, events, network, link, reach, live_feeds, backoff, guard, stopping }
    }
}

/// The API: every handler with its path. Who may use it, [`access`] says: a route that is not listed there is closed.
fn api() -> OpenApiRouter<Arc<App>> {
    let api = OpenApiRouter::new()
        .routes(routes!(openapi::show))
        .routes(routes!(sign_in::login).layer(DefaultBodyLimit::max(LONGEST_SIGN_IN)))
        .routes(routes!(sign_in::logout))
        .routes(routes!(users::me))
        .routes(routes!(endpoints::show))
        .routes(routes!(endpoints::public_keys))
        .routes(routes!(network::show))
        .routes(routes!(audit::list))
        .routes(routes!(live::all))
        .routes(routes!(users::list, users::add))
        .routes(routes!(users::show, users::change, users::delete))
        .routes(routes!(tokens::list, tokens::add))
        .routes(routes!(tokens::delete))
        .routes(routes!(resources::list, resources::add))
        .routes(routes!(resources::show, resources::change, resources::delete))
        .routes(routes!(credentials::all))
        .routes(routes!(credentials::list, credentials::rotate, credentials::remove_all))
        .routes(routes!(credentials::remove))
        .routes(routes!(import::import).layer(DefaultBodyLimit::max(LONGEST_IMPORT_BODY)))
        .routes(routes!(poller::show, poller::set, poller::remove))
        .routes(routes!(streams::list, streams::add))
        .routes(routes!(streams::show, streams::change, streams::delete))
        .routes(routes!(data::export, data::post))
        .routes(routes!(data::read, data::add, data::delete))
        .routes(routes!(parsers::list, parsers::add))
        .routes(routes!(parsers::test))
        .routes(routes!(parsers::show, parsers::replace, parsers::remove))
        .routes(routes!(live::stream));
    OpenApiRouter::with_openapi(openapi::empty()).nest(access::API, api)
}

/// Every path there is.
fn paths() -> Router<Arc<App>> {
    let (api, _) = api().split_for_parts();
    api.route(sign_in::PATH, get(sign_in::sign_in))
        .route(metrics::PATH, get(metrics::show))
        .fallback(dashboard::serve)
}

/// All that HTTP serves, behind the layer that says who may.
pub(crate) fn router(app: Arc<App>) -> Router {
    paths()
        .layer(DefaultBodyLimit::max(LONGEST_BODY))
        .layer(from_fn_with_state(app.clone(), access::guard))
        .with_state(app)
}

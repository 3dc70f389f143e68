//! The HTTP door: the API under `/api/v1`, the live feed and the dashboard.

mod access;
mod dashboard;
mod data;
mod failure;
mod live;
mod network;
mod resources;
mod sign_in;
mod streams;
mod users;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::DefaultBodyLimit;
use axum::extract::rejection::JsonRejection;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use axum::{Json, Router};
use tokio::sync::{Semaphore, watch};

use crate::audit::Audit;
use crate::store::Store;
use failure::Failure;

pub(crate) use sign_in::SignInLink;

/// What a handler answers when all is well, or why it is not.
type Answer<T> = Result<Json<T>, Failure>;
/// A request's body.
type Body<T> = Result<Json<T>, JsonRejection>;

/// The longest request body.
const LONGEST_BODY: usize = 64 << 10;
/// Live feeds at the same time; beyond, the answer is 503.
const LIVE_FEEDS: usize = 256;

/// What every handler can use.
pub(crate) struct App {
    store: Store,
    audit: Audit,
    /// What `/network` shows, as JSON; nothing where the cloud runs without a network of its own.
    network: Option<watch::Receiver<Arc<str>>>,
    link: SignInLink,
    bound_to: SocketAddr,
    behind_proxy: bool,
    live_feeds: Arc<Semaphore>,
    stopping: watch::Receiver<bool>,
}

impl App {
    pub(crate) fn new(
        store: Store,
        audit: Audit,
        network: Option<watch::Receiver<Arc<str>>>,
        link: SignInLink,
        (bound_to, behind_proxy): (SocketAddr, bool),
        stopping: watch::Receiver<bool>,
    ) -> Self {
        let live_feeds = Arc::new(Semaphore::new(LIVE_FEEDS));
        Self { store, audit, network, link, bound_to, behind_proxy, live_feeds, stopping }
    }
}

/// Every path there is. Who may use it, [`access`] says: a path without a rule there is closed.
pub(crate) fn router(app: Arc<App>) -> Router {
    let api = Router::new()
        .route("/login", post(sign_in::login))
        .route("/logout", post(sign_in::logout))
        .route("/me", get(users::me))
        .route("/network", get(network::network))
        .route("/live", get(live::all))
        .route("/users", post(users::add))
        .route("/users/{user}/resources", get(resources::list).post(resources::add))
        .route("/users/{user}/resources/{resource}", get(resources::show))
        .route("/users/{user}/resources/{resource}/streams", get(streams::list))
        .route("/users/{user}/resources/{resource}/streams/{stream}", get(streams::show))
        .route("/users/{user}/resources/{resource}/streams/{stream}/data", get(data::read))
        .route("/users/{user}/resources/{resource}/streams/{stream}/live", get(live::stream));
    Router::new()
        .nest(access::API, api)
        .route(sign_in::PATH, get(sign_in::sign_in))
        .fallback(dashboard::serve)
        .layer(DefaultBodyLimit::max(LONGEST_BODY))
        .layer(from_fn_with_state(app.clone(), access::guard))
        .with_state(app)
}

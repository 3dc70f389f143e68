//! The HTTP door: the API under `/api/v1`, the live feed and the dashboard.

mod access;
mod api;
mod dashboard;
mod failure;
mod live;
mod sign_in;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use tokio::sync::{Semaphore, watch};

use crate::audit::Audit;
use crate::store::Store;

pub(crate) use sign_in::SignInLink;

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
        .route("/login", post(api::login))
        .route("/logout", post(api::logout))
        .route("/me", get(api::me))
        .route("/network", get(api::network))
        .route("/live", get(live::all))
        .route("/users", post(api::add_user))
        .route("/users/{user}/resources", get(api::resources).post(api::add_resource))
        .route("/users/{user}/resources/{resource}", get(api::resource))
        .route("/users/{user}/resources/{resource}/streams", get(api::streams))
        .route("/users/{user}/resources/{resource}/streams/{stream}", get(api::stream))
        .route("/users/{user}/resources/{resource}/streams/{stream}/data", get(api::data))
        .route("/users/{user}/resources/{resource}/streams/{stream}/live", get(live::stream));
    Router::new()
        .nest(access::API, api)
        .route(sign_in::PATH, get(sign_in::sign_in))
        .fallback(dashboard::serve)
        .layer(DefaultBodyLimit::max(LONGEST_BODY))
        .layer(from_fn_with_state(app.clone(), access::guard))
        .with_state(app)
}

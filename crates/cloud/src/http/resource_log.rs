//! `…/resources/{resource}/log`: what happened to a resource.

use std::sync::Arc;

use axum::extract::State;
use axum::{Extension, Json};
use sixlock_store::{LogLine, Resource};

use super::app::{Answer, App};

/// What happened to a resource, the newest first
///
/// `kind` is what: `post_refused` and `left_out` of posts and of readings in them, with why; `poll_failed`; `command_done`, `command_refused` and
/// `command_unanswered`, with which; `handshake_failed` and `refused`, with why; or an action as in `/audit`, such as `key_replaced`, with whose it
/// was. The same again within an hour is one line. There are at most 100 lines, and 20 of strangers; the oldest go. It is there some two seconds
/// after it happened. Of strangers neither an address nor anything that they state is told: administrators find that in `/audit`.
#[utoipa::path(get, path = "/users/{user}/resources/{resource}/log", tag = "resources",
    responses((status = 200, body = [LogLine])))]
pub(super) async fn show(
    State(app): State<Arc<App>>,
    Extension(resource): Extension<Resource>,
) -> Answer<Vec<LogLine>> {
    Ok(Json(app.store.resource_log(resource.id).await?))
}

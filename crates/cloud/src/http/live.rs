//! Points as they are stored, as server-sent events.
//!
//! The database is the feed: a listener reads the rows behind the last one it was sent and waits for word of
//! more. Going on after a break, falling behind and keeping up are so the same thing.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use futures_util::stream::{self, Stream as AsyncStream};
use serde::Serialize;
use tokio::sync::{OwnedSemaphorePermit, watch};
use utoipa::ToSchema;

use super::App;
use super::access::Caller;
use super::failure::Failure;
use crate::store::{PointId, ResourceId, Store, StoredPoint, Stream, StreamId, UserId};

/// Rows read at a time.
const PAGE: i64 = 500;

/// Which points a listener gets.
enum Scope {
    All,
    Of(UserId),
    One(StreamId),
}

impl Scope {
    fn covers(&self, point: &StoredPoint) -> bool {
        match self {
            Self::All => true,
            Self::Of(owner) => point.owner == *owner,
            Self::One(stream) => point.stream == *stream,
        }
    }
}

/// Points of all that is yours, as they are stored: server-sent events `point` with the point's row as id
#[utoipa::path(get, path = "/live", tag = "data",
    responses((status = 200, content_type = "text/event-stream", body = Data)))]
pub(super) async fn all(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
) -> Result<Sse<impl AsyncStream<Item = Result<Event, Infallible>>>, Failure> {
    let scope = if caller.user.admin { Scope::All } else { Scope::Of(caller.user.id) };
    listen(&app, scope, &headers)
}

/// Points of a stream, as they are stored: server-sent events `point` with the point's row as id
#[utoipa::path(get, path = "/users/{user}/resources/{resource}/streams/{stream}/live", tag = "data",
    responses((status = 200, content_type = "text/event-stream", body = Data)))]
pub(super) async fn stream(
    State(app): State<Arc<App>>,
    Extension(stream): Extension<Stream>,
    headers: HeaderMap,
) -> Result<Sse<impl AsyncStream<Item = Result<Event, Infallible>>>, Failure> {
    listen(&app, Scope::One(stream.id), &headers)
}

fn listen(
    app: &App,
    scope: Scope,
    headers: &HeaderMap,
) -> Result<Sse<impl AsyncStream<Item = Result<Event, Infallible>> + use<>>, Failure> {
    let slot = app.live_feeds.clone().try_acquire_owned().map_err(|_| Failure::busy())?;
    let newest = app.store.newest();
    let last = match headers.get("last-event-id") {
        Some(id) => {
            let id = id.to_str().ok().and_then(|id| id.parse().ok());
            let id = PointId(id.ok_or(Failure::invalid("Last-Event-ID is not the id of a point"))?);
            // An id that was never given, of another database say, must not keep what comes from being heard.
            id.min(*newest.borrow())
        }
        None => *newest.borrow(),
    };
    let feed = Feed {
        store: app.store.clone(),
        scope,
        newest,
        stopping: app.stopping.clone(),
        last,
        page: VecDeque::new(),
        _slot: slot,
    };
    let events = stream::unfold(feed, |mut feed| async {
        let event = feed.next().await?;
        Some((Ok(event), feed))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(Duration::from_secs(15))))
}

struct Feed {
    store: Store,
    scope: Scope,
    newest: watch::Receiver<PointId>,
    stopping: watch::Receiver<bool>,
    /// The last row read.
    last: PointId,
    page: VecDeque<StoredPoint>,
    _slot: OwnedSemaphorePermit,
}

#[derive(Serialize, ToSchema)]
struct Data {
    resource: ResourceId,
    stream: StreamId,
    time: i64,
    value: f64,
    /// When it arrived, in milliseconds since 1970
    arrived: i64,
}

impl Feed {
    /// The next event; none when the cloud stops or the database fails, and the listener comes back by itself.
    async fn next(&mut self) -> Option<Event> {
        loop {
            while let Some(point) = self.page.pop_front() {
                if self.scope.covers(&point) {
                    return event(&point);
                }
            }
            // Seen before the rows are read: what is stored meanwhile is new again.
            self.newest.borrow_and_update();
            self.page = self.store.points_after(self.last, PAGE).await.ok()?.into();
            if let Some(point) = self.page.back() {
                self.last = point.id;
                continue;
            }
            tokio::select! {
                more = self.newest.changed() => more.ok()?,
                _ = self.stopping.wait_for(|stopping| *stopping) => return None,
            }
        }
    }
}

fn event(StoredPoint { id, stream, resource, point, arrived, .. }: &StoredPoint) -> Option<Event> {
    let data = Data {
        resource: *resource,
        stream: *stream,
        time: point.time,
        value: point.value,
        arrived: *arrived,
    };
    Event::default().event("point").id(id.0.to_string()).json_data(data).ok()
}

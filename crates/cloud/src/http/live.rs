//! Points as they are stored, as server-sent events.
//!
//! The database is the feed: a listener reads the points behind the last one it was sent and waits for word of
//! more. Going on after a break, falling behind and keeping up are so the same thing.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, Uri};
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use futures_util::stream::{self, Stream as AsyncStream};
use serde::Serialize;
use sixlock_store::{
    Changes, Cursor, FeedPoint, LONGEST_REPLAY, Next, ResourceId, Scope, Store, Stream, StreamId, Value,
};
use sixlock_telemetry::{Client, Done, Events, Scheme};
use tokio::sync::watch;
use utoipa::ToSchema;

use super::app::App;
use super::caller::{Caller, Given, ReadAs, Shared, is_strangers};
use super::failure::Failure;
use super::live_access::LiveAccess;
use super::live_feeds::{self, Follower};

/// Points of all that is yours, and of devices that groups let you see, as they are stored: server-sent events `point` with the point's row as id
///
/// A user follows at most 8 feeds at the same time, beyond that the answer is 429; all together 256, beyond that it is 503.
/// `Last-Event-ID` goes on behind that event. Who has missed more than 10000 points gets the event `history` instead, and
/// reads them with `from` and `until`; so does one who has more than 100000 points and missed 10000 of all users. The feed
/// ends with the token.
#[utoipa::path(get, path = "/live", tag = "data",
    responses((status = 200, content_type = "text/event-stream", body = Data)))]
pub(super) async fn all(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Extension(client): Extension<Client>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Sse<impl AsyncStream<Item = Result<Event, Infallible>>>, Failure> {
    let scope = if caller.user.admin { Scope::All } else { Scope::Of(caller.user.id) };
    let listener = Listener::new(client, Some(&caller), uri);
    let access = LiveAccess::new(&app.store, &caller, None).await?;
    listen(&app, access, listener, scope, Some(&headers))
}

/// Points of a stream, as they are stored: server-sent events `point` with the point's row as id
///
/// The limits are those of `/live`.
#[utoipa::path(get, path = "/users/{user}/resources/{resource}/streams/{stream}/live", tag = "data",
    responses((status = 200, content_type = "text/event-stream", body = Data)))]
pub(super) async fn stream(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Extension(client): Extension<Client>,
    Extension(stream): Extension<Stream>,
    given: Option<Extension<Given>>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Sse<impl AsyncStream<Item = Result<Event, Infallible>>>, Failure> {
    let listener = Listener::new(client, Some(&caller), uri);
    let access = LiveAccess::new(&app.store, &caller, given.map(|Extension(given)| given)).await?;
    listen(&app, access, listener, Scope::One(stream.id), Some(&headers))
}

/// Points of a shared stream, as they are stored: server-sent events `point`
///
/// Events have no ids: whoever was away reads what was missed with `from`. From an address, or /64 of IPv6, 4 feeds are
/// followed at the same time by those who are not signed in or have a token for a stream, beyond that the answer is 429; all
/// together 64, beyond that it is 503. A feed ends when the stream is public no more, no group lets its listener read it, or with the token.
#[utoipa::path(get, path = "/shared/streams/{shared}/live", tag = "shared",
    responses((status = 200, content_type = "text/event-stream", body = SharedPoint)))]
pub(super) async fn shared(
    State(app): State<Arc<App>>,
    caller: Option<Extension<Caller>>,
    Extension(client): Extension<Client>,
    Extension(Shared { stream, ground }): Extension<Shared>,
    uri: Uri,
) -> Result<Sse<impl AsyncStream<Item = Result<Event, Infallible>>>, Failure> {
    let caller = caller.map(|Extension(caller)| caller);
    let listener = Listener::new(client, caller.as_ref(), uri);
    let access = match (&caller, ground) {
        (Some(caller), ReadAs::Owner) => LiveAccess::new(&app.store, caller, None).await?,
        (Some(caller), ReadAs::Member) => LiveAccess::to_given(&app.store, caller, stream.id).await?,
        _ => LiveAccess::to_public(&app.store, stream.id).await?,
    };
    listen(&app, access, listener, Scope::One(stream.id), None)
}

/// A feed of the points in `scope`; without `headers` one that shows others than the owner what they may see of a point, from now on.
fn listen(
    app: &App,
    access: LiveAccess,
    listener: Listener,
    scope: Scope,
    headers: Option<&HeaderMap>,
) -> Result<Sse<impl AsyncStream<Item = Result<Event, Infallible>> + use<>>, Failure> {
    let place = app.live_feeds.enter(listener.follower)?;
    let changes = app.store.changes();
    let last = match headers.and_then(|headers| headers.get("last-event-id")) {
        Some(id) => {
            let id: Option<Cursor> = id.to_str().ok().and_then(|id| id.parse().ok());
            // An id that was never given, of another database say, must not keep what comes from being heard.
            app.store.feed_position(id.ok_or(Failure::invalid("Last-Event-ID is not the id of a point"))?)
        }
        None => changes.end(),
    };
    let feed = Feed {
        store: app.store.clone(),
        events: app.events.clone(),
        access,
        listener,
        scope,
        is_shared: headers.is_none(),
        changes,
        stopping: app.stopping.clone(),
        last,
        sent: last,
        page: VecDeque::new(),
        _place: place,
    };
    let events = stream::unfold(feed, |mut feed| async {
        let event = feed.next().await?;
        Some((Ok(event), feed))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(Duration::from_secs(15))))
}

/// Who follows a feed, for the record.
struct Listener {
    client: Client,
    follower: Follower,
    /// The user name, if it is a user.
    name: Option<String>,
    path: String,
}

impl Listener {
    fn new(client: Client, caller: Option<&Caller>, uri: Uri) -> Self {
        let user = caller.filter(|caller| !is_strangers(Some(caller))).map(|caller| &caller.user);
        let follower = user.map_or(Follower::Stranger(client.network()), |user| Follower::User(user.id));
        Self { client, follower, name: user.map(|user| user.username.clone()), path: uri.path().to_owned() }
    }
}

struct Feed {
    store: Store,
    events: Events,
    access: LiveAccess,
    listener: Listener,
    scope: Scope,
    /// Whether it tells what others than the owner of a shared stream may see.
    is_shared: bool,
    changes: Changes,
    stopping: watch::Receiver<bool>,
    /// All points up to this position have been sent, or are in the page.
    last: Cursor,
    /// All points up to this position have been sent, or are not in the scope.
    sent: Cursor,
    page: VecDeque<FeedPoint>,
    _place: live_feeds::Permit,
}

#[derive(Serialize, ToSchema)]
struct Data {
    resource: ResourceId,
    stream: StreamId,
    time: i64,
    #[schema(schema_with = sixlock_store::value_schema)]
    value: Value,
    /// When it arrived, in milliseconds since 1970
    arrived: i64,
}

/// A point as people other than its owner hear it: without the time of its arrival, and without its place among the points of all users.
#[derive(Serialize, ToSchema)]
struct SharedPoint {
    stream: StreamId,
    time: i64,
    #[schema(schema_with = sixlock_store::value_schema)]
    value: Value,
}

/// What is said to a listener who has missed too many points.
#[derive(Serialize)]
struct History {
    /// So many points would have been sent.
    limit: i64,
}

impl Feed {
    /// The next event. `None` if the listener may not hear more, the cloud stops or the database fails; the listener comes
    /// back by itself.
    async fn next(&mut self) -> Option<Event> {
        loop {
            // Asked first: what comes after access has ended is not sent, even if it was read before.
            if !self.access.holds().await {
                self.record_end();
                return None;
            }
            if self.access.was_checked() && matches!(self.scope, Scope::Of(_)) {
                // A group may have ended meanwhile: what was read before is read again.
                self.page.clear();
                self.last = self.sent;
            }
            if let Some(point) = self.page.pop_front() {
                self.sent = point.position;
                return if self.is_shared { shared_event(point) } else { event(point) };
            }
            self.sent = self.last;
            // Seen before the rows are read: what is stored meanwhile is new again.
            let newest = self.changes.see_end();
            if self.last != newest && !self.may_concern() {
                self.last = newest;
            }
            if self.last != newest {
                match self.store.feed(self.scope, self.last, newest).await.ok()? {
                    Next::Points(points, upto) => (self.page, self.last) = (points.into(), upto),
                    Next::TooMany => {
                        (self.last, self.sent) = (newest, newest);
                        return history(newest, self.is_shared);
                    }
                }
                continue;
            }
            tokio::select! {
                more = self.changes.changed() => more.ok()?,
                () = self.access.doubtful() => {}
                _ = self.stopping.wait_for(|stopping| *stopping) => return None,
            }
        }
    }

    /// Returns whether there may be new points in the scope.
    fn may_concern(&self) -> bool {
        let Scope::One(stream) = self.scope else { return true };
        let changed = self.changes.since(self.last);
        changed.is_none_or(|changed| changed.streams.iter().any(|change| change.stream == stream))
    }

    fn record_end(&self) {
        let Listener { client, name, path, .. } = &self.listener;
        let done = Done::new(Scheme::Http, "live_feed_ended").from(*client).what(path);
        let done = match name {
            Some(name) => done.who(name),
            None => done,
        };
        self.events.tell(sixlock_telemetry::Event::Done(&done));
    }
}

fn event(FeedPoint { position, stream, resource, point, arrived }: FeedPoint) -> Option<Event> {
    let data = Data { resource, stream, time: point.time, value: point.value, arrived };
    Event::default().event("point").id(position.to_string()).json_data(data).ok()
}

fn shared_event(FeedPoint { stream, point, .. }: FeedPoint) -> Option<Event> {
    let data = SharedPoint { stream, time: point.time, value: point.value };
    Event::default().event("point").json_data(data).ok()
}

fn history(newest: Cursor, is_shared: bool) -> Option<Event> {
    let event = Event::default().event("history");
    let event = if is_shared { event } else { event.id(newest.to_string()) };
    event.json_data(History { limit: LONGEST_REPLAY }).ok()
}

//! All points of a device in one file, read and sent a page at a time.

use std::collections::VecDeque;

use axum::response::{IntoResponse, Response};
use sixlock_store::{LONGEST_PAGE, PointId, Resource, Store, Stream};

use super::csv;
use super::live_access::LiveAccess;
use super::parts::{self, Parts};
use crate::Error;

/// Whose points are sent, and which come next.
struct Export {
    store: Store,
    streams: VecDeque<Stream>,
    /// The last point of the first stream that was sent.
    last: (i64, PointId),
    until: i64,
    from: i64,
    heading: bool,
}

/// The points of `resource` from `from` on, older than `until`: stream by stream, each oldest first.
pub(super) async fn export(
    store: &Store,
    access: LiveAccess,
    resource: &Resource,
    (from, until): (Option<i64>, Option<i64>),
) -> Result<Response, Error> {
    let streams = store.streams(resource.id).await?.into();
    let (from, until) = (from.unwrap_or(i64::MIN), until.unwrap_or(i64::MAX));
    let (store, last) = (store.clone(), (from, PointId(0)));
    let body = parts::body(access, Export { store, streams, last, until, from, heading: true });
    Ok(csv::file(&[&resource.label], body).into_response())
}

impl Parts for Export {
    async fn next_part(&mut self) -> Result<Option<String>, Error> {
        let mut text =
            if std::mem::take(&mut self.heading) { csv::OF_DEVICE.to_owned() } else { String::new() };
        while let Some(stream) = self.streams.front() {
            let points = self.store.points_behind(stream.id, self.last, self.until, LONGEST_PAGE).await?;
            points.iter().for_each(|(_, point)| csv::device_line(&mut text, stream, point));
            match points.last() {
                Some((id, point)) => self.last = (point.time, *id),
                None => {
                    self.streams.pop_front();
                    self.last = (self.from, PointId(0));
                }
            }
            if !text.is_empty() {
                return Ok(Some(text));
            }
        }
        Ok((!text.is_empty()).then_some(text))
    }
}

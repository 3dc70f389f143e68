//! `/streams/data`: points of a stream.

use sixlock_coap_msg::Code;
use sixlock_coap_server::{Answer, LONGEST_PAYLOAD, Peer};
use sixlock_store::{Append, LONGEST_PAGE, Page, ResourceId, StreamId, now_ms};

use super::answer::LONGEST_BODY;
use super::refusal::Refusal;
use super::request::Request;
use super::resources_data::{idempotency, stored_answer};
use super::{Devices, content};
use crate::ingest::{self, points::NewPoints};

/// The most points of one message that are looked at: more do not fit it.
const MOST_POINTS: i64 = 64;

impl Devices {
    /// A page of points: the first ones, or without `from` the latest. Whoever states no limit gets those that fit one
    /// message.
    pub(super) async fn read_points(
        &self,
        (resource, stream): (ResourceId, StreamId),
        request: &Request,
    ) -> Result<Answer, Refusal> {
        let limit = request.number("limit")?;
        if limit.is_some_and(|limit| !(1..=LONGEST_PAGE).contains(&limit)) {
            return Err(Refusal::Malformed("limit is not between 1 and 10000"));
        }
        let (limit, room) = limit.map_or((MOST_POINTS, LONGEST_PAYLOAD), |limit| (limit, LONGEST_BODY));
        let page = Page { limit, from: request.number("from")?, until: request.number("until")? };
        let format = request.accepted()?;
        let stream = self.known_stream(resource, stream).await?;
        let points = self.store.points(stream.id, page).await?;
        let points = content::page(points, page.from.is_none(), room)?;
        content::points(format, &points, points.iter().map(|point| (&stream, point)))
    }

    /// Stores a point, or some; when this returns, they survive power loss.
    pub(super) async fn add_points(
        &self,
        peer: &Peer,
        (resource, stream): (ResourceId, StreamId),
        request: &Request,
    ) -> Result<Answer, Refusal> {
        let points: NewPoints = request.content()?;
        let stream = self.known_stream(resource, stream).await?;
        let readings = points.readings(&stream, now_ms())?;
        let idempotency = idempotency(peer, resource, request);
        let stored = self.store.append(Append { resource, idempotency, readings }).await?;
        ingest::tell_left_out(&self.events, resource, &stored);
        Ok(stored_answer(&stored))
    }

    /// Deletes the points of a stream that are of a span, or all.
    pub(super) async fn delete_points(&self, stream: StreamId, request: &Request) -> Result<Answer, Refusal> {
        let (from, until) = request.deleted_span()?;
        self.store.delete_points(stream, from, until).await?;
        Ok(Answer::new(Code::DELETED))
    }
}

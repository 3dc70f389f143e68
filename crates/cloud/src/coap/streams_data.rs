//! `/streams/data`: points of a stream.

use super::answer::{Answer, Refusal};
use super::request::Request;
use super::resources_data::idempotency;
use super::{Devices, Peer};
use crate::ingest::points::NewPoints;
use crate::store::{Append, LONGEST_PAGE, Page, ResourceId, StreamId, now_ms};

/// The most points of one answer that are looked at: more do not fit it.
const MOST_POINTS: i64 = 64;

impl Devices {
    /// A page of points, as much of it as fits: the first of the page, or without `from` the latest.
    pub(super) async fn read_points(&self, stream: StreamId, request: &Request) -> Result<Answer, Refusal> {
        let limit = request.number("limit")?.unwrap_or(MOST_POINTS);
        if !(1..=LONGEST_PAGE).contains(&limit) {
            return Err(Refusal::Malformed("limit is not between 1 and 10000"));
        }
        let page = Page {
            limit: limit.min(MOST_POINTS),
            from: request.number("from")?,
            until: request.number("until")?,
        };
        let points = self.store.points(stream, page).await?;
        Answer::page(&points, page.from.is_none())
    }

    /// Stores a point, or some; when this returns, they survive power loss.
    pub(super) async fn add_points(
        &self,
        peer: &Peer,
        (resource, stream): (ResourceId, StreamId),
        request: &Request,
    ) -> Result<Answer, Refusal> {
        let points: NewPoints = request.json()?;
        let stream = self.store.stream(resource, &stream.0.to_string()).await?.ok_or(Refusal::NotFound)?;
        let readings = points.readings(&stream, now_ms())?;
        let idempotency = idempotency(peer, resource, request);
        self.store.append(Append { resource, idempotency, readings }).await?;
        Ok(Answer::changed())
    }

    /// Deletes all points of a stream, or those of a span.
    pub(super) async fn delete_points(&self, stream: StreamId, request: &Request) -> Result<Answer, Refusal> {
        self.store.delete_points(stream, request.number("from")?, request.number("until")?).await?;
        Ok(Answer::deleted())
    }
}

//! `/resources/data`: readings of a device.

use serde::Serialize;

use super::answer::{Answer, Refusal};
use super::request::Request;
use super::{Devices, Peer};
use crate::ingest;
use crate::store::{Idempotency, Page, Point, ResourceId, StreamId, Transmission};

/// The latest point of a stream.
#[derive(Serialize)]
struct Latest {
    stream: StreamId,
    label: String,
    #[serde(flatten)]
    point: Point,
}

impl Devices {
    /// Stores readings; when this returns, they survive power loss.
    pub(super) async fn add_readings(
        &self,
        peer: &Peer,
        resource: ResourceId,
        request: &Request,
    ) -> Result<Answer, Refusal> {
        let format = request.format()?;
        let idempotency = idempotency(peer, resource, request);
        ingest::post(&self.store, resource, format, &request.payload, idempotency).await?;
        Ok(Answer::changed())
    }

    /// The latest point of each stream, from behind the stream `after` on as many as fit.
    pub(super) async fn latest(&self, resource: ResourceId, request: &Request) -> Result<Answer, Refusal> {
        const LATEST: Page = Page { limit: 1, from: None, until: None };
        let after = request.number("after")?.unwrap_or(0);
        let mut latest = Vec::new();
        for stream in self.store.streams(resource).await? {
            if stream.id.0 > after {
                let point = self.store.points(stream.id, LATEST).await?.pop();
                let label = stream.label;
                latest.extend(point.map(|point| Latest { stream: stream.id, label, point }));
            }
        }
        Answer::page(&latest, false)
    }

    /// Deletes the points of all streams, or those of a span.
    pub(super) async fn delete_readings(
        &self,
        resource: ResourceId,
        request: &Request,
    ) -> Result<Answer, Refusal> {
        let (from, until) = (request.number("from")?, request.number("until")?);
        for stream in self.store.streams(resource).await? {
            self.store.delete_points(stream.id, from, until).await?;
        }
        Ok(Answer::deleted())
    }
}

/// What a post is known again by.
pub(super) fn idempotency(peer: &Peer, resource: ResourceId, request: &Request) -> Idempotency {
    let Request { message_id, token, payload, .. } = request;
    let transmission = Transmission { association: &peer.association, message_id: *message_id, token };
    Idempotency::of(resource, transmission, payload)
}

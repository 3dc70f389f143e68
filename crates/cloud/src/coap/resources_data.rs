//! `/resources/data`: readings of a device.

use serde::Serialize;
use sixlock_coap_msg::ContentFormat;

use super::answer::{Answer, Refusal};
use super::request::Request;
use super::{Devices, Peer};
use crate::ingest::senml;
use crate::store::{Append, Idempotency, Page, Point, Reading, ResourceId, StreamId, Transmission, now_ms};

/// The latest point of a stream.
#[derive(Serialize)]
struct Latest {
    stream: StreamId,
    label: String,
    #[serde(flatten)]
    point: Point,
}

impl Devices {
    /// Stores the readings of a SenML pack.
    pub(super) async fn add_readings(
        &self,
        peer: &Peer,
        resource: ResourceId,
        request: &Request,
    ) -> Result<Answer, Refusal> {
        let readings = senml::read(request.payload_in(ContentFormat::SENML_JSON)?, now_ms())?;
        self.append(peer, resource, request, readings).await
    }

    /// Stores what a request brings; when this returns, it survives power loss.
    pub(super) async fn append(
        &self,
        peer: &Peer,
        resource: ResourceId,
        request: &Request,
        readings: Vec<Reading>,
    ) -> Result<Answer, Refusal> {
        let Request { message_id, token, payload, .. } = request;
        let transmission = Transmission { association: &peer.association, message_id: *message_id, token };
        let idempotency = Idempotency::of(resource, transmission, payload);
        self.store.append(Append { resource, idempotency, readings }).await?;
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

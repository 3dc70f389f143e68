//! `/resources/data`: readings of a device.

use serde::Serialize;
use sixlock_coap_msg::{Code, ContentFormat};
use sixlock_coap_server::{Answer, Peer};
use sixlock_store::{Idempotency, Latest, Point, ResourceId, Stored, Stream, StreamId, Transmission};

use super::answer::LONGEST_BODY;
use super::refusal::{LONGEST_DIAGNOSTIC, Refusal};
use super::request::Request;
use super::{Devices, content};
use crate::ingest;

/// The point of a stream that arrived last.
#[derive(Serialize)]
struct Shown<'a> {
    stream: StreamId,
    label: &'a str,
    #[serde(flatten)]
    point: &'a Point,
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
        let into = (&self.store, &self.events);
        Ok(stored_answer(&ingest::post(into, resource, format, &request.payload, idempotency).await?))
    }

    /// The point of each stream that arrived last, from behind the stream `after` on.
    pub(super) async fn latest(&self, resource: ResourceId, request: &Request) -> Result<Answer, Refusal> {
        let (after, format) = (request.number("after")?.unwrap_or(0), request.accepted()?);
        let mut arrived = self.store.latest(resource).await?;
        let mut latest = Vec::new();
        for stream in self.store.streams(resource).await? {
            if stream.id.0 > after {
                let point = arrived.remove(&stream.id);
                let point = point.map(|Latest { time, value, .. }| Point { time, value });
                latest.extend(point.map(|point| (stream, point)));
            }
        }
        let shown =
            latest.iter().map(|(Stream { id, label, .. }, point)| Shown { stream: *id, label, point });
        let shown = content::page(shown.collect(), false, LONGEST_BODY)?;
        let points = latest.iter().take(shown.len()).map(|(stream, point)| (stream, point));
        content::points(format, &shown, points)
    }

    /// Deletes the points of all streams, or those of a span.
    pub(super) async fn delete_readings(
        &self,
        resource: ResourceId,
        request: &Request,
    ) -> Result<Answer, Refusal> {
        let (from, until) = request.deleted_span()?;
        self.store.delete_points_of(resource, from, until).await?;
        Ok(Answer::new(Code::DELETED))
    }
}

/// The answer to a post that is stored: what was left out of it is told in words.
pub(super) fn stored_answer(Stored { left_out }: &Stored) -> Answer {
    let words = left_out.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
    let payload = words.chars().take(LONGEST_DIAGNOSTIC).collect::<String>().into_bytes();
    let format = (!payload.is_empty()).then_some(ContentFormat::TEXT);
    Answer { payload, format, ..Answer::new(Code::CHANGED) }
}

/// What a post is known again by.
pub(super) fn idempotency(peer: &Peer, resource: ResourceId, request: &Request) -> Idempotency {
    let Request { message_id, token, payload, .. } = request;
    let transmission = Transmission { association: &peer.association, message_id: *message_id, token };
    Idempotency::of(resource, transmission, payload)
}

//! `/resources/data`: readings of a device.

use sixlock_coap_msg::ContentFormat;

use super::answer::{Answer, Refusal};
use super::request::Request;
use super::{Devices, Peer};
use crate::ingest::senml;
use crate::store::{Append, Idempotency, ResourceId, Transmission, now_ms};

impl Devices {
    /// Stores readings; when this returns, they survive power loss.
    pub(super) async fn add_readings(
        &self,
        peer: &Peer,
        resource: ResourceId,
        request: &Request,
    ) -> Result<Answer, Refusal> {
        let payload = request.payload_in(ContentFormat::SENML_JSON)?;
        let readings = senml::read(payload, now_ms())?;
        let Request { message_id, token, .. } = request;
        let transmission = Transmission { association: &peer.association, message_id: *message_id, token };
        let idempotency = Idempotency::of(resource, transmission, payload);
        self.store.append(Append { resource, idempotency, readings }).await?;
        Ok(Answer::changed())
    }
}

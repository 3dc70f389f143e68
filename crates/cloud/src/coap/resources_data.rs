//! `/resources/data`: readings of a device.

use super::answer::Refusal;
use super::request::Request;
use super::{Devices, Peer};
use crate::ingest::senml;
use crate::store::{Append, Idempotency, ResourceId, Transmission, now_ms};

impl Devices {
    /// Stores readings; when this returns, they survive power loss.
    pub(super) async fn post_readings(
        &self,
        peer: &Peer,
        resource: Option<ResourceId>,
        request: &Request,
        payload: &[u8],
    ) -> Result<(), Refusal> {
        let resource = match (peer.resource, resource) {
            (Some(own), None) => own,
            (Some(own), Some(named)) if own == named => own,
            (Some(_), Some(_)) => return Err(Refusal::AnothersResource),
            (None, Some(named)) => self.check_key(named, request).await?,
            (None, None) => return Err(Refusal::Key),
        };
        let readings = senml::read(payload, now_ms())?;
        let Request { message_id, token, .. } = request;
        let transmission = Transmission { association: &peer.association, message_id: *message_id, token };
        let idempotency = Idempotency::of(resource, transmission, payload);
        Ok(self.store.append(Append { resource, idempotency, readings }).await?)
    }
}

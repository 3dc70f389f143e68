//! `/resources`: the resource of a device.

use serde::{Deserialize, Serialize};

use super::Devices;
use super::answer::{Answer, Refusal};
use super::request::Request;
use crate::store::ResourceId;

/// A resource as its device sees it; the identity and key it knows.
#[derive(Serialize)]
struct Own<'a> {
    id: ResourceId,
    label: &'a str,
    mode: &'a str,
    description: &'a str,
}

/// What a device may change of its resource: what is not given stays.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    label: Option<String>,
    description: Option<String>,
}

impl Devices {
    pub(super) async fn show_resource(&self, id: ResourceId) -> Result<Answer, Refusal> {
        let resource = self.store.resource_by_id(id).await?.ok_or(Refusal::NotFound)?;
        let (label, mode, description) = (&*resource.label, &*resource.mode, &*resource.description);
        Answer::json(&Own { id, label, mode, description })
    }

    pub(super) async fn change_resource(&self, id: ResourceId, request: &Request) -> Result<Answer, Refusal> {
        let Change { label, description } = request.json()?;
        self.store.change_resource(id, label.as_deref(), None, description.as_deref()).await?;
        Ok(Answer::changed())
    }
}

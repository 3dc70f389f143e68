//! `/resources`: the resource of a device.

use serde::{Deserialize, Serialize};
use sixlock_coap_msg::Code;
use sixlock_coap_server::Answer;
use sixlock_store::{Resource, ResourceChange, ResourceId};

use super::refusal::Refusal;
use super::request::Request;
use super::{Devices, content};

/// A resource as its device sees it; the identity and key it knows.
#[derive(Serialize)]
struct Own<'a> {
    id: ResourceId,
    label: &'a str,
    mode: &'a str,
    description: &'a str,
}

impl<'a> Own<'a> {
    fn of(resource: &'a Resource) -> Self {
        let Resource { id, label, mode, description, .. } = resource;
        Self { id: *id, label, mode, description }
    }
}

/// What a device may change of its resource: what is not given stays.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    label: Option<String>,
    description: Option<String>,
}

impl Devices {
    pub(super) async fn show_resource(&self, id: ResourceId, request: &Request) -> Result<Answer, Refusal> {
        let resource = self.store.resource_by_id(id).await?.ok_or(Refusal::NotFound)?;
        content::show(request.accepted()?, &Own::of(&resource))
    }

    pub(super) async fn change_resource(&self, id: ResourceId, request: &Request) -> Result<Answer, Refusal> {
        let Change { label, description } = request.content()?;
        let mut is_still = None;
        if request.is_conditional() {
            let resource = self.store.resource_by_id(id).await?.ok_or(Refusal::NotFound)?;
            if !request.may_change(&content::etag(&content::json(&Own::of(&resource))?)) {
                return Err(Refusal::Precondition);
            }
            is_still = Some(resource);
        }
        let (label, description) = (label.as_deref(), description.as_deref());
        let change = ResourceChange { label, description, ..ResourceChange::default() };
        self.store.change_resource(id, change, is_still.as_ref()).await?;
        Ok(Answer::new(Code::CHANGED))
    }
}

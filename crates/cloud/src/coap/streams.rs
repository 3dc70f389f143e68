//! `/streams`: the streams of a device's resource.

use serde::Deserialize;
use sixlock_coap_msg::Code;
use sixlock_coap_server::Answer;
use sixlock_store::{ResourceId, Stream, StreamChange, StreamId, ValueType};

use super::answer::LONGEST_BODY;
use super::refusal::Refusal;
use super::request::Request;
use super::{Devices, content};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct New {
    label: String,
    unit: Option<String>,
    #[serde(default)]
    description: String,
    #[serde(default)]
    value_type: ValueType,
}

/// What is not given stays; an empty unit is none.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    unit: Option<String>,
    description: Option<String>,
}

impl Devices {
    /// The streams from behind the stream `after` on.
    pub(super) async fn list_streams(
        &self,
        resource: ResourceId,
        request: &Request,
    ) -> Result<Answer, Refusal> {
        let after = request.number("after")?.unwrap_or(0);
        let mut streams = self.store.streams(resource).await?;
        streams.retain(|stream| stream.id.0 > after);
        let streams = content::page(streams, false, LONGEST_BODY)?;
        content::show(request.accepted()?, &streams)
    }

    pub(super) async fn show_stream(
        &self,
        resource: ResourceId,
        id: StreamId,
        request: &Request,
    ) -> Result<Answer, Refusal> {
        content::show(request.accepted()?, &self.known_stream(resource, id).await?)
    }

    /// The stream `id`, which was found to be one of `resource`.
    pub(super) async fn known_stream(&self, resource: ResourceId, id: StreamId) -> Result<Stream, Refusal> {
        self.store.stream(resource, &id.0.to_string()).await?.ok_or(Refusal::NotFound)
    }

    pub(super) async fn add_stream(
        &self,
        resource: ResourceId,
        request: &Request,
    ) -> Result<Answer, Refusal> {
        let New { label, unit, description, value_type } = request.content()?;
        let format = content::structured(request.accepted()?)?;
        let named = (&*label, unit.as_deref(), &*description);
        let made = self.store.add_stream(resource, named, value_type).await?;
        content::created(format, &made)
    }

    pub(super) async fn change_stream(
        &self,
        resource: ResourceId,
        id: StreamId,
        request: &Request,
    ) -> Result<Answer, Refusal> {
        let Change { unit, description } = request.content()?;
        let mut is_still = None;
        if request.is_conditional() {
            let stream = self.known_stream(resource, id).await?;
            if !request.may_change(&content::etag(&content::json(&stream)?)) {
                return Err(Refusal::Precondition);
            }
            is_still = Some(stream);
        }
        let (unit, description) = (unit.as_deref(), description.as_deref());
        let change = StreamChange { unit, description, ..StreamChange::default() };
        self.store.change_stream(id, change, is_still.as_ref()).await?;
        Ok(Answer::new(Code::CHANGED))
    }

    pub(super) async fn delete_stream(&self, id: StreamId) -> Result<Answer, Refusal> {
        self.store.delete_stream(id).await?;
        Ok(Answer::new(Code::DELETED))
    }
}

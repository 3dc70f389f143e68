//! `/streams`: the streams of a device's resource.

use serde::Deserialize;

use super::Devices;
use super::answer::{Answer, Refusal};
use super::request::Request;
use crate::store::{ResourceId, StreamId};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct New {
    label: String,
    unit: Option<String>,
    #[serde(default)]
    description: String,
}

/// What is not given stays; an empty unit is none.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    unit: Option<String>,
    description: Option<String>,
}

impl Devices {
    /// The streams from behind the stream `after` on, as many as fit.
    pub(super) async fn list_streams(
        &self,
        resource: ResourceId,
        request: &Request,
    ) -> Result<Answer, Refusal> {
        let after = request.number("after")?.unwrap_or(0);
        let mut streams = self.store.streams(resource).await?;
        streams.retain(|stream| stream.id.0 > after);
        Answer::page(&streams, false)
    }

    pub(super) async fn show_stream(&self, resource: ResourceId, id: StreamId) -> Result<Answer, Refusal> {
        let stream = self.store.stream(resource, &id.0.to_string()).await?.ok_or(Refusal::NotFound)?;
        Answer::json(&stream)
    }

    pub(super) async fn add_stream(
        &self,
        resource: ResourceId,
        request: &Request,
    ) -> Result<Answer, Refusal> {
        let New { label, unit, description } = request.json()?;
        Answer::created(&self.store.add_stream(resource, &label, unit.as_deref(), &description).await?)
    }

    pub(super) async fn change_stream(&self, id: StreamId, request: &Request) -> Result<Answer, Refusal> {
        let Change { unit, description } = request.json()?;
        self.store.change_stream(id, unit.as_deref(), description.as_deref()).await?;
        Ok(Answer::changed())
    }

    pub(super) async fn delete_stream(&self, id: StreamId) -> Result<Answer, Refusal> {
        self.store.delete_stream(id).await?;
        Ok(Answer::deleted())
    }
}

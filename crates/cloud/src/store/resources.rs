//! Resources, which are devices and other sources of data, and their streams.

use serde::Serialize;
use sixlock_base::Security;
use sqlx::sqlite::SqliteConnection;
use utoipa::ToSchema;

use super::accounts::{LABEL_RULE, is_label};
use super::{ResourceId, Store, StreamId, UserId};
use crate::Error;
use crate::secrets::{self, Secret};

/// A device or any other source of data, as its owner sees it. Its key is shown once, when it is made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Resource {
    /// The row.
    pub id: ResourceId,
    /// The label, unique for its owner.
    pub label: String,
    /// The security mode.
    pub mode: String,
    /// The pre-shared key's identity, unique in the cloud.
    pub identity: String,
}

/// One quantity of a resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Stream {
    /// The row.
    pub id: StreamId,
    /// The label, unique in its resource.
    pub label: String,
    /// The unit, if the device states one.
    pub unit: Option<String>,
}

/// A device to be known to the cloud.
#[derive(Clone, Debug)]
pub struct Device {
    /// The resource's label.
    pub label: String,
    /// How the device's traffic is protected.
    pub mode: Security,
    /// The pre-shared key's identity; without one, the label.
    pub identity: Option<String>,
    /// The pre-shared key; without one, a new key is made.
    pub key: Option<Secret>,
}

/// A resource just made, and its key.
#[derive(Clone, Debug)]
pub(crate) struct Enrolled {
    pub(crate) resource: Resource,
    pub(crate) key: Secret,
}

/// Whose a pre-shared key is.
#[derive(Clone, Debug)]
pub struct Psk {
    /// The resource that the identity is bound to.
    pub resource: ResourceId,
    /// The key.
    pub key: Secret,
}

type ResourceRow = (i64, String, String, String);

fn resource((id, label, mode, identity): ResourceRow) -> Resource {
    Resource { id: ResourceId(id), label, mode, identity }
}

type StreamRow = (i64, String, Option<String>);

fn stream((id, label, unit): StreamRow) -> Stream {
    Stream { id: StreamId(id), label, unit }
}

/// A device whose fields have the form they need.
struct Checked {
    label: String,
    mode: String,
    identity: String,
    key: Secret,
}

impl Checked {
    fn new(device: Device) -> Result<Self, Error> {
        let Device { label, mode, identity, key } = device;
        if !is_label(&label) {
            return Err(Error::Invalid(LABEL_RULE));
        }
        let identity = identity.unwrap_or_else(|| label.clone());
        // RFC 4279 section 5.3 asks for support of identities up to 128 and keys up to 64 bytes.
        if !(1..=128).contains(&identity.len()) || identity.chars().any(char::is_control) {
            return Err(Error::Invalid("an identity has 1 to 128 bytes and no control characters"));
        }
        let key = match key {
            Some(key) => key,
            None => Secret::new(secrets::printable_key()?.into_bytes()),
        };
        if !(16..=64).contains(&key.bytes().len()) {
            return Err(Error::Invalid("a pre-shared key has 16 to 64 bytes"));
        }
        Ok(Self { label, mode: mode.to_string(), identity, key })
    }
}

impl Store {
    /// Adds a resource of `owner` and returns it with its key.
    pub(crate) async fn add_resource(&self, owner: UserId, device: Device) -> Result<Enrolled, Error> {
        let device = Checked::new(device)?;
        let mut writer = self.writer.lock().await;
        self.insert_resource(&mut writer, owner, device).await
    }

    /// Makes `device` a resource of `owner`, or brings the one that has its label up to date.
    pub async fn enrol(&self, owner: UserId, device: Device) -> Result<Resource, Error> {
        let device = Checked::new(device)?;
        let mut writer = self.writer.lock().await;
        let known: Option<i64> =
            sqlx::query_scalar("SELECT id FROM resources WHERE owner = $1 AND label = $2")
                .bind(owner.0)
                .bind(&device.label)
                .fetch_optional(&mut *writer)
                .await?;
        let Some(id) = known else {
            return Ok(self.insert_resource(&mut writer, owner, device).await?.resource);
        };
        let sealed = self.master.seal(device.identity.as_bytes(), device.key.bytes())?;
        let row: Option<ResourceRow> = sqlx::query_as(
            "UPDATE resources SET mode = $1, identity = $2, key = $3
             WHERE id = $4 AND NOT EXISTS (SELECT 1 FROM resources WHERE identity = $2 AND id <> $4)
             RETURNING id, label, mode, identity",
        )
        .bind(&device.mode)
        .bind(&device.identity)
        .bind(sealed)
        .bind(id)
        .fetch_optional(&mut *writer)
        .await?;
        row.map(resource).ok_or(Error::Taken("identity"))
    }

    async fn insert_resource(
        &self,
        writer: &mut SqliteConnection,
        owner: UserId,
        device: Checked,
    ) -> Result<Enrolled, Error> {
        let sealed = self.master.seal(device.identity.as_bytes(), device.key.bytes())?;
        let row: Option<ResourceRow> = sqlx::query_as(
            "INSERT INTO resources (owner, label, mode, identity, key) VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT DO NOTHING RETURNING id, label, mode, identity",
        )
        .bind(owner.0)
        .bind(&device.label)
        .bind(&device.mode)
        .bind(&device.identity)
        .bind(sealed)
        .fetch_optional(writer)
        .await?;
        let resource = row.map(resource).ok_or(Error::Taken("label or identity"))?;
        Ok(Enrolled { resource, key: device.key })
    }

    /// The pre-shared key of `identity`.
    pub async fn psk(&self, identity: &str) -> Result<Option<Psk>, Error> {
        let row: Option<(i64, Vec<u8>)> = sqlx::query_as("SELECT id, key FROM resources WHERE identity = $1")
            .bind(identity)
            .fetch_optional(&self.readers)
            .await?;
        let Some((id, sealed)) = row else { return Ok(None) };
        let key = self.master.open_sealed(identity.as_bytes(), &sealed)?;
        Ok(Some(Psk { resource: ResourceId(id), key }))
    }

    /// The key of `resource`.
    pub(crate) async fn key(&self, resource: ResourceId) -> Result<Option<Secret>, Error> {
        let row: Option<(String, Vec<u8>)> =
            sqlx::query_as("SELECT identity, key FROM resources WHERE id = $1")
                .bind(resource.0)
                .fetch_optional(&self.readers)
                .await?;
        row.map(|(identity, sealed)| self.master.open_sealed(identity.as_bytes(), &sealed)).transpose()
    }

    /// The resources of `owner`.
    pub async fn resources(&self, owner: UserId) -> Result<Vec<Resource>, Error> {
        let rows: Vec<ResourceRow> =
            sqlx::query_as("SELECT id, label, mode, identity FROM resources WHERE owner = $1 ORDER BY id")
                .bind(owner.0)
                .fetch_all(&self.readers)
                .await?;
        Ok(rows.into_iter().map(resource).collect())
    }

    /// The resource of `owner` with this id or label.
    pub async fn resource(&self, owner: UserId, id_or_label: &str) -> Result<Option<Resource>, Error> {
        let row: Option<ResourceRow> = sqlx::query_as(
            "SELECT id, label, mode, identity FROM resources WHERE owner = $1 AND (id = $2 OR label = $3)",
        )
        .bind(owner.0)
        .bind(id_or_label.parse().unwrap_or(-1i64))
        .bind(id_or_label)
        .fetch_optional(&self.readers)
        .await?;
        Ok(row.map(resource))
    }

    /// The streams of `resource`.
    pub async fn streams(&self, resource: ResourceId) -> Result<Vec<Stream>, Error> {
        let rows: Vec<StreamRow> =
            sqlx::query_as("SELECT id, label, unit FROM streams WHERE resource = $1 ORDER BY id")
                .bind(resource.0)
                .fetch_all(&self.readers)
                .await?;
        Ok(rows.into_iter().map(stream).collect())
    }

    /// The stream of `resource` with this id or label. Devices choose labels: where one looks like an id, the id
    /// comes first.
    pub async fn stream(&self, resource: ResourceId, id_or_label: &str) -> Result<Option<Stream>, Error> {
        let id = id_or_label.parse().unwrap_or(-1i64);
        let rows: Vec<StreamRow> = sqlx::query_as(
            "SELECT id, label, unit FROM streams WHERE resource = $1 AND (id = $2 OR label = $3)",
        )
        .bind(resource.0)
        .bind(id)
        .bind(id_or_label)
        .fetch_all(&self.readers)
        .await?;
        Ok(rows.into_iter().min_by_key(|row| row.0 != id).map(stream))
    }

    /// The resource that a stream belongs to.
    pub(crate) async fn resource_of_stream(&self, stream: StreamId) -> Result<Option<ResourceId>, Error> {
        let row: Option<i64> = sqlx::query_scalar("SELECT resource FROM streams WHERE id = $1")
            .bind(stream.0)
            .fetch_optional(&self.readers)
            .await?;
        Ok(row.map(ResourceId))
    }
}

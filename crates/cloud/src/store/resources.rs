//! Resources, which are devices and other sources of data, and their streams.

use serde::Serialize;
use sixlock_base::Security;
use sqlx::Connection;
use sqlx::sqlite::SqliteConnection;
use utoipa::ToSchema;

use super::accounts::{LABEL_RULE, is_label};
use super::credentials::{self, NewCredential, to_its_end};
use super::{CredentialId, ResourceId, Store, StreamId, UserId};
use crate::Error;
use crate::secrets::Secret;

/// A device or any other source of data, as its owner sees it. Its key is shown once, when it is made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Resource {
    /// The row.
    pub id: ResourceId,
    /// The label, unique for its owner.
    pub label: String,
    /// The security mode.
    pub mode: String,
    /// The identity of its current credential, unique in the cloud; none if that was removed.
    pub identity: Option<String>,
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

type ResourceRow = (i64, String, String, Option<String>);

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
    credential: NewCredential,
}

impl Checked {
    fn new(device: Device) -> Result<Self, Error> {
        let Device { label, mode, identity, key } = device;
        if !is_label(&label) {
            return Err(Error::Invalid(LABEL_RULE));
        }
        let credential = NewCredential::new(identity.unwrap_or_else(|| label.clone()), key)?;
        Ok(Self { label, mode: mode.to_string(), credential })
    }
}

impl Store {
    /// Adds a resource of `owner` and returns it with its key.
    pub(crate) async fn add_resource(&self, owner: UserId, device: Device) -> Result<Enrolled, Error> {
        let device = Checked::new(device)?;
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        let enrolled = self.insert_resource(&mut transaction, owner, device).await?;
        transaction.commit().await?;
        Ok(enrolled)
    }

    /// Makes `device` a resource of `owner`, or brings the one that has its label up to date: if its identity or key
    /// is another than before, that is its only credential.
    pub async fn enrol(&self, owner: UserId, device: Device) -> Result<Resource, Error> {
        let device = Checked::new(device)?;
        let store = self.clone();
        to_its_end(async move {
            let (resource, ended) = store.insert_or_update(owner, device).await?;
            store.revoke(ended).await;
            Ok(resource)
        })
        .await
    }

    async fn insert_or_update(
        &self,
        owner: UserId,
        device: Checked,
    ) -> Result<(Resource, Vec<CredentialId>), Error> {
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        let known: Option<i64> =
            sqlx::query_scalar("UPDATE resources SET mode = $1 WHERE owner = $2 AND label = $3 RETURNING id")
                .bind(&device.mode)
                .bind(owner.0)
                .bind(&device.label)
                .fetch_optional(&mut *transaction)
                .await?;
        let Some(id) = known else {
            let enrolled = self.insert_resource(&mut transaction, owner, device).await?;
            transaction.commit().await?;
            return Ok((enrolled.resource, Vec::new()));
        };
        let Checked { label, mode, credential } = device;
        let id = ResourceId(id);
        let mut ended = Vec::new();
        if !credentials::is_current(&mut transaction, &self.master, id, &credential).await? {
            ended = credentials::delete_all(&mut transaction, id).await?;
            credentials::insert(&mut transaction, &self.master, id, &credential).await?;
        }
        transaction.commit().await?;
        Ok((Resource { id, label, mode, identity: Some(credential.identity) }, ended))
    }

    async fn insert_resource(
        &self,
        connection: &mut SqliteConnection,
        owner: UserId,
        device: Checked,
    ) -> Result<Enrolled, Error> {
        let Checked { label, mode, credential } = device;
        let id: Option<i64> = sqlx::query_scalar(
            "INSERT INTO resources (owner, label, mode) VALUES ($1, $2, $3)
             ON CONFLICT (owner, label) DO NOTHING RETURNING id",
        )
        .bind(owner.0)
        .bind(&label)
        .bind(&mode)
        .fetch_optional(&mut *connection)
        .await?;
        let id = ResourceId(id.ok_or(Error::Taken("label"))?);
        credentials::insert(connection, &self.master, id, &credential).await?;
        let NewCredential { identity, key } = credential;
        Ok(Enrolled { resource: Resource { id, label, mode, identity: Some(identity) }, key })
    }

    /// The resources of `owner`.
    pub async fn resources(&self, owner: UserId) -> Result<Vec<Resource>, Error> {
        let rows: Vec<ResourceRow> = sqlx::query_as(
            "SELECT resources.id, label, mode, identity FROM resources
             LEFT JOIN credentials ON credentials.resource = resources.id AND expires IS NULL
             WHERE owner = $1 ORDER BY resources.id",
        )
        .bind(owner.0)
        .fetch_all(&self.readers)
        .await?;
        Ok(rows.into_iter().map(resource).collect())
    }

    /// The resource of `owner` with this id or label.
    pub async fn resource(&self, owner: UserId, id_or_label: &str) -> Result<Option<Resource>, Error> {
        let row: Option<ResourceRow> = sqlx::query_as(
            "SELECT resources.id, label, mode, identity FROM resources
             LEFT JOIN credentials ON credentials.resource = resources.id AND expires IS NULL
             WHERE owner = $1 AND (resources.id = $2 OR label = $3)",
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

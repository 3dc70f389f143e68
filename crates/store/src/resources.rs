//! Resources, which are devices and other sources of data, and their streams.

use serde::Serialize;
use sixlock_base::Security;
use sqlx::Connection;
use sqlx::sqlite::SqliteConnection;
use utoipa::ToSchema;

use crate::accounts::{ADMINISTRATOR, User};
use crate::clock::now_ms;
use crate::credentials::{self, method_of};
use crate::enrolment::CertificateTerms;
use crate::enrolment::{NewCredential, Wanted};
use crate::error::Error;
use crate::ids::{CredentialId, Listing, ResourceId, UserId};
use crate::names::{LABEL_RULE, Reference, is_label};
use crate::poller_rows;
use crate::public_keys::OwnKeys;
use crate::quotas;
use crate::rotation::to_its_end;
use crate::search_words;
use crate::secrets::Secret;
use crate::store::Store;
use crate::streams::check_description;

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
    /// What its owner says about it.
    pub description: String,
}

/// The most resources of one user.
const RESOURCES: i64 = 20_000;

/// A device to be known to the cloud.
#[derive(Clone, Debug)]
pub struct Device {
    /// The resource's label.
    pub label: String,
    /// How the device's traffic is protected.
    pub mode: Security,
    /// The identity that it proves; without one, the label, or with `dtls-rpk` SHA-256 of its public key.
    pub identity: Option<String>,
    /// The pre-shared key; without one, a new key is made. With `dtls-rpk` its public key, in PEM. With `dtls-x509` its public
    /// key, for which a certificate is made, or its certificate; without either, any certificate with its identity is taken
    /// that another authority signed which the cloud trusts.
    pub key: Option<Secret>,
    /// What a certificate says that is made.
    pub certificate: CertificateTerms,
}

impl Device {
    /// A device of this label whose traffic nothing protects that is said here, and whose key is to be made.
    pub fn named(label: impl Into<String>) -> Self {
        let certificate = CertificateTerms::default();
        Self { label: label.into(), mode: Security::default(), identity: None, key: None, certificate }
    }
}

/// A resource just made, and its key.
#[derive(Clone, Debug)]
pub struct Enrolled {
    /// The resource.
    pub resource: Resource,
    /// The pre-shared key; nothing with public keys.
    pub key: Option<Secret>,
    /// Its certificate, if one was made, in DER.
    pub certificate: Option<Vec<u8>>,
}

type ResourceRow = (i64, String, String, Option<String>, String);

/// A resource, and the id and name of whose it is.
type OwnedRow = (i64, String, String, Option<String>, String, i64, String);

fn resource((id, label, mode, identity, description): ResourceRow) -> Resource {
    Resource { id: ResourceId(id), label, mode, identity, description }
}

/// A device whose fields have the form they need.
pub(crate) struct Checked {
    label: String,
    mode: String,
    credential: NewCredential,
}

impl Checked {
    pub(crate) fn new(own: &OwnKeys, device: Device) -> Result<Self, Error> {
        let Device { label, mode, identity, key, certificate } = device;
        if !is_label(&label) {
            return Err(Error::Invalid(LABEL_RULE));
        }
        let wanted = Wanted { method: method_of(mode), identity, name: &label, key, certificate };
        let credential = NewCredential::new(own, wanted, now_ms())?;
        Ok(Self { label, mode: mode.to_string(), credential })
    }
}

impl Store {
    /// Adds a resource of `owner` and returns it with its key.
    pub async fn add_resource(&self, owner: UserId, device: Device) -> Result<Enrolled, Error> {
        let device = Checked::new(&self.own, device)?;
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        let enrolled = self.insert_resource(&mut transaction, owner, device).await?;
        transaction.commit().await?;
        Ok(enrolled)
    }

    /// Makes `device` a resource of `owner`, or brings the one that has its label up to date: if its identity or key
    /// is another than before, that is its only credential.
    pub async fn enrol(&self, owner: UserId, device: Device) -> Result<Enrolled, Error> {
        let device = Checked::new(&self.own, device)?;
        let store = self.clone();
        to_its_end(async move {
            let (enrolled, ended) = store.insert_or_update(owner, device).await?;
            store.revoke(ended).await;
            Ok(enrolled)
        })
        .await
    }

    async fn insert_or_update(
        &self,
        owner: UserId,
        device: Checked,
    ) -> Result<(Enrolled, Vec<CredentialId>), Error> {
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        let known: Option<(i64, String)> = sqlx::query_as(
            "UPDATE resources SET mode = $1 WHERE owner = $2 AND label = $3 RETURNING id, description",
        )
        .bind(&device.mode)
        .bind(owner.0)
        .bind(&device.label)
        .fetch_optional(&mut *transaction)
        .await?;
        let Some((id, description)) = known else {
            let enrolled = self.insert_resource(&mut transaction, owner, device).await?;
            transaction.commit().await?;
            return Ok((enrolled, Vec::new()));
        };
        let Checked { label, mode, credential } = device;
        let id = ResourceId(id);
        let mut ended = Vec::new();
        if !credentials::is_current(&mut transaction, &self.master, id, &credential).await? {
            ended = credentials::delete_all(&mut transaction, id).await?;
            credentials::insert(&mut transaction, &self.master, id, &credential).await?;
        }
        transaction.commit().await?;
        let (identity, key, certificate) = credential.disclose();
        let resource = Resource { id, label, mode, identity: Some(identity), description };
        Ok((Enrolled { resource, key, certificate }, ended))
    }

    pub(crate) async fn insert_resource(
        &self,
        connection: &mut SqliteConnection,
        owner: UserId,
        device: Checked,
    ) -> Result<Enrolled, Error> {
        let Checked { label, mode, credential } = device;
        let resources: i64 = sqlx::query_scalar("SELECT count(*) FROM resources WHERE owner = $1")
            .bind(owner.0)
            .fetch_one(&mut *connection)
            .await?;
        if resources >= RESOURCES {
            return Err(Error::Full("a user has at most 20000 resources"));
        }
        quotas::check_resources(connection, owner, resources).await?;
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
        let (identity, key, certificate) = credential.disclose();
        let resource = Resource { id, label, mode, identity: Some(identity), description: String::new() };
        Ok(Enrolled { resource, key, certificate })
    }

    /// The resources of `owner`, a page of them in the order of their ids: those behind `after`.
    pub async fn resources(&self, owner: UserId, listing: Listing) -> Result<Vec<Resource>, Error> {
        let rows: Vec<ResourceRow> = sqlx::query_as(
            "SELECT resources.id, label, mode, identity, description FROM resources
             LEFT JOIN credentials ON credentials.resource = resources.id AND expires IS NULL
             WHERE owner = $1 AND resources.id > $2 ORDER BY resources.id LIMIT $3",
        )
        .bind(owner.0)
        .bind(listing.after)
        .bind(listing.limit)
        .fetch_all(&self.readers)
        .await?;
        Ok(rows.into_iter().map(resource).collect())
    }

    /// The resources of all users, each with whose it is: a page of them in the order of their ids, those behind `after`.
    pub async fn all_resources(&self, listing: Listing) -> Result<Vec<(Resource, UserId, String)>, Error> {
        let rows: Vec<OwnedRow> = sqlx::query_as(
            "SELECT resources.id, label, mode, identity, description, users.id, users.name FROM resources
             JOIN users ON users.id = resources.owner
             LEFT JOIN credentials ON credentials.resource = resources.id AND expires IS NULL
             WHERE resources.id > $1 ORDER BY resources.id LIMIT $2",
        )
        .bind(listing.after)
        .bind(listing.limit)
        .fetch_all(&self.readers)
        .await?;
        let owned = |(id, label, mode, identity, description, owner, name)| {
            (resource((id, label, mode, identity, description)), UserId(owner), name)
        };
        Ok(rows.into_iter().map(owned).collect())
    }

    /// The resource of `owner` with this id or label.
    pub async fn resource(&self, owner: UserId, id_or_label: &str) -> Result<Option<Resource>, Error> {
        let named = Reference::read(id_or_label);
        let row: Option<ResourceRow> = sqlx::query_as(
            "SELECT resources.id, label, mode, identity, description FROM resources
             LEFT JOIN credentials ON credentials.resource = resources.id AND expires IS NULL
             WHERE owner = $1 AND (resources.id = $2 OR label = $3)",
        )
        .bind(owner.0)
        .bind(named.id())
        .bind(named.name())
        .fetch_optional(&self.readers)
        .await?;
        Ok(row.map(resource))
    }

    /// The resource of this id, whosever it is.
    pub async fn resource_by_id(&self, id: ResourceId) -> Result<Option<Resource>, Error> {
        let row: Option<ResourceRow> = sqlx::query_as(
            "SELECT resources.id, label, mode, identity, description FROM resources
             LEFT JOIN credentials ON credentials.resource = resources.id AND expires IS NULL
             WHERE resources.id = $1",
        )
        .bind(id.0)
        .fetch_optional(&self.readers)
        .await?;
        Ok(row.map(resource))
    }

    /// Whose a resource is.
    pub async fn owner_of(&self, id: ResourceId) -> Result<Option<User>, Error> {
        let owner: Option<i64> = sqlx::query_scalar("SELECT owner FROM resources WHERE id = $1")
            .bind(id.0)
            .fetch_optional(&self.readers)
            .await?;
        match owner {
            Some(owner) => self.user(&owner.to_string()).await,
            None => Ok(None),
        }
    }

    /// Changes what is given of a resource: label, mode and description. If it is to be as in `is_still` and is not,
    /// nothing is changed.
    pub async fn change_resource(
        &self,
        id: ResourceId,
        (label, mode, description): (Option<&str>, Option<Security>, Option<&str>),
        is_still: Option<&Resource>,
    ) -> Result<(), Error> {
        if label.is_some_and(|label| !is_label(label)) {
            return Err(Error::Invalid(LABEL_RULE));
        }
        check_description(description.unwrap_or_default())?;
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        let changed = sqlx::query(
            "UPDATE resources SET label = coalesce($1, label), mode = coalesce($2, mode),
             description = coalesce($3, description) WHERE id = $4 AND NOT EXISTS (SELECT 1 FROM resources AS other
             WHERE other.owner = resources.owner AND other.label = $1 AND other.id <> $4)
             AND ($5 IS NULL OR (label = $5 AND mode = $6 AND description = $7))",
        )
        .bind(label)
        .bind(mode.map(|mode| mode.to_string()))
        .bind(description)
        .bind(id.0)
        .bind(is_still.map(|resource| &*resource.label))
        .bind(is_still.map(|resource| &*resource.mode))
        .bind(is_still.map(|resource| &*resource.description))
        .execute(&mut *transaction)
        .await?;
        if label.is_some() {
            search_words::write_of(&mut transaction, id).await?;
        }
        transaction.commit().await?;
        drop(writer);
        match (changed.rows_affected(), is_still) {
            (0, Some(expected)) if self.resource_by_id(id).await?.as_ref() != Some(expected) => {
                Err(Error::Changed)
            }
            (0, _) => Err(Error::Taken("label")),
            _ => Ok(()),
        }
    }

    /// Deletes a resource with its streams and points, and closes the sessions of its device.
    pub async fn delete_resource(&self, id: ResourceId) -> Result<(), Error> {
        let store = self.clone();
        to_its_end(async move {
            let mut writer = store.writer.lock().await;
            let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
            let ended = credentials::delete_all(&mut transaction, id).await?;
            sqlx::query("DELETE FROM resources WHERE id = $1").bind(id.0).execute(&mut *transaction).await?;
            transaction.commit().await?;
            drop(writer);
            // Tokens that were for this resource only went with it.
            store.access_changed();
            store.revoke(ended).await;
            store.poller_changed(id);
            store.commands.remove(id);
            Ok(())
        })
        .await
    }

    /// Deletes a user with all that is theirs, and closes the sessions of their devices.
    pub async fn delete_user(&self, user: User) -> Result<(), Error> {
        if user.username == ADMINISTRATOR {
            return Err(Error::Invalid("the administrator of the first start stays"));
        }
        let store = self.clone();
        to_its_end(async move {
            let mut writer = store.writer.lock().await;
            let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
            let ended: Vec<i64> = sqlx::query_scalar(
                "DELETE FROM credentials WHERE resource IN (SELECT id FROM resources WHERE owner = $1)
                 RETURNING id",
            )
            .bind(user.id.0)
            .fetch_all(&mut *transaction)
            .await?;
            let pollers = poller_rows::delete_of_user(&mut transaction, user.id).await?;
            sqlx::query("DELETE FROM users WHERE id = $1").bind(user.id.0).execute(&mut *transaction).await?;
            transaction.commit().await?;
            drop(writer);
            store.access_changed();
            store.revoke(ended.into_iter().map(CredentialId).collect()).await;
            pollers.into_iter().for_each(|resource| store.poller_changed(resource));
            store.reload_commands().await
        })
        .await
    }
}

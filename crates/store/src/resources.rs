//! Resources, which are devices and other sources of data, and their streams.

use std::collections::BTreeSet;

use serde::Serialize;
use sixlock_base::Security;
use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, Connection};
use utoipa::ToSchema;

use crate::accounts::{ADMINISTRATOR, User};
use crate::clock::now_ms;
use crate::credentials::{self, method_of};
use crate::enrolment::CertificateTerms;
use crate::enrolment::{NewCredential, Wanted};
use crate::error::Error;
use crate::fleet::check_folder;
use crate::ids::{CredentialId, Listing, ResourceId, UserId};
use crate::location::Location;
use crate::names::{LABEL_RULE, Reference, is_label};
use crate::period::check_period;
use crate::poller_rows;
use crate::profiles::{Profile, Profiles};
use crate::public_keys::OwnKeys;
use crate::quotas;
use crate::rotation::to_its_end;
use crate::search_words;
use crate::secrets::Secret;
use crate::store::Store;
use crate::streams::check_description;
use crate::tags;

/// A device or any other source of data, as its owner sees it. Its key is shown once, when it is made.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
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
    /// By what its owner finds it among others, in the order of the alphabet.
    pub tags: Vec<String>,
    /// The folder that it is in: names with a `/` between two; empty if it is in none.
    pub folder: String,
    /// How often its device reports, in seconds, as its owner says.
    pub period_s: Option<i64>,
    /// Where it is, as its owner says.
    pub place: Option<Location>,
}

/// What is to change of a resource: what is not given stays.
#[derive(Clone, Copy, Debug, Default)]
pub struct ResourceChange<'a> {
    /// The label.
    pub label: Option<&'a str>,
    /// The security mode.
    pub mode: Option<Security>,
    /// What its owner says about it.
    pub description: Option<&'a str>,
    /// All tags that it is to have.
    pub tags: Option<&'a [String]>,
    /// The folder; an empty one is none.
    pub folder: Option<&'a str>,
    /// How often its device reports, in seconds; nothing within: that is not said.
    pub period_s: Option<Option<i64>>,
    /// Where it is; nothing within: that is not said.
    pub place: Option<Option<Location>>,
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
    /// The tags of the resource.
    pub tags: Vec<String>,
    /// The folder that it is in.
    pub folder: String,
    /// How often the device reports, in seconds.
    pub period_s: Option<i64>,
    /// Where it is.
    pub place: Option<Location>,
    /// The label of the profile that says the rest.
    pub profile: Option<String>,
}

impl Device {
    /// A device of this label whose traffic nothing protects that is said here, and whose key is to be made.
    pub fn named(label: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            mode: Security::default(),
            identity: None,
            key: None,
            certificate: CertificateTerms::default(),
            tags: Vec::new(),
            folder: String::new(),
            period_s: None,
            place: None,
            profile: None,
        }
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

/// A resource in the database.
pub(crate) type ResourceRow =
    (i64, String, String, Option<String>, String, String, String, Option<i64>, Option<f64>, Option<f64>);

/// A resource, and the id and name of whose it is.
type OwnedRow = (
    i64,
    String,
    String,
    Option<String>,
    String,
    String,
    String,
    Option<i64>,
    Option<f64>,
    Option<f64>,
    i64,
    String,
);

/// The columns of a [`ResourceRow`].
pub(crate) const COLUMNS: &str = "resources.id, label, mode, credentials.identity, description, tags, folder, resources.period, latitude, longitude";
/// The tables that have them: a resource, and its current credential if it has one.
pub(crate) const TABLES: &str = "resources
    LEFT JOIN credentials ON credentials.resource = resources.id AND expires IS NULL";

pub(crate) fn resource(
    (id, label, mode, identity, description, tags, folder, period_s, latitude, longitude): ResourceRow,
) -> Resource {
    let tags = tags::read(&tags);
    let place = Location::of((latitude, longitude));
    Resource { id: ResourceId(id), label, mode, identity, description, tags, folder, period_s, place }
}

/// A device whose fields have the form they need.
pub(crate) struct Checked {
    label: String,
    mode: String,
    credential: NewCredential,
    tags: BTreeSet<String>,
    folder: String,
    period_s: Option<i64>,
    place: Option<Location>,
    pub(crate) profile: Option<String>,
}

impl Checked {
    pub(crate) fn new(own: &OwnKeys, device: Device) -> Result<Self, Error> {
        let Device { label, mode, identity, key, certificate, tags, folder, period_s, place, profile } =
            device;
        if !is_label(&label) {
            return Err(Error::Invalid(LABEL_RULE));
        }
        let tags = tags::tags_of_one(&tags)?;
        check_folder(&folder)?;
        check_period(period_s)?;
        Location::check(place)?;
        let wanted = Wanted { method: method_of(mode), identity, name: &label, key, certificate };
        let credential = NewCredential::new(own, wanted, now_ms())?;
        Ok(Self { label, mode: mode.to_string(), credential, tags, folder, period_s, place, profile })
    }
}

impl Store {
    /// Adds a resource of `owner` and returns it with its key.
    pub async fn add_resource(&self, owner: UserId, device: Device) -> Result<Enrolled, Error> {
        let device = Checked::new(&self.own, device)?;
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        let labels = device.profile.as_deref().into_iter().collect();
        let profiles = Profiles::named(&mut transaction, owner, labels).await?;
        let profile = profiles.get(device.profile.as_deref())?;
        let streams = profile.map_or(0, |profile| profile.streams.len());
        quotas::check_more_streams(&mut transaction, owner, streams as i64).await?;
        let enrolled = self.insert_resource(&mut transaction, owner, device, profile).await?;
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
        let known: Option<ResourceRow> = sqlx::query_as(
            "UPDATE resources SET mode = $1 WHERE owner = $2 AND label = $3
             RETURNING id, label, mode, NULL AS identity, description, tags, folder, period,
             latitude, longitude",
        )
        .bind(&device.mode)
        .bind(owner.0)
        .bind(&device.label)
        .fetch_optional(&mut *transaction)
        .await?;
        let Some(known) = known.map(resource) else {
            let enrolled = self.insert_resource(&mut transaction, owner, device, None).await?;
            transaction.commit().await?;
            return Ok((enrolled, Vec::new()));
        };
        let (id, credential) = (known.id, device.credential);
        let mut ended = Vec::new();
        if !credentials::is_current(&mut transaction, &self.master, id, &credential).await? {
            ended = credentials::delete_all(&mut transaction, id).await?;
            credentials::insert(&mut transaction, &self.master, id, &credential).await?;
        }
        transaction.commit().await?;
        let (identity, key, certificate) = credential.disclose();
        let resource = Resource { identity: Some(identity), ..known };
        Ok((Enrolled { resource, key, certificate }, ended))
    }

    /// Adds a resource as `profile` says, if there is one, for whose streams there is room.
    pub(crate) async fn insert_resource(
        &self,
        connection: &mut SqliteConnection,
        owner: UserId,
        device: Checked,
        profile: Option<&Profile>,
    ) -> Result<Enrolled, Error> {
        let Checked { label, mode, credential, mut tags, mut folder, mut period_s, place, .. } = device;
        let resources: i64 = sqlx::query_scalar("SELECT count(*) FROM resources WHERE owner = $1")
            .bind(owner.0)
            .fetch_one(&mut *connection)
            .await?;
        if resources >= RESOURCES {
            return Err(Error::Full("a user has at most 20000 resources"));
        }
        quotas::check_resources(connection, owner, resources).await?;
        let mut description = String::new();
        if let Some(profile) = profile {
            tags.extend(tags::tags_of_one(&profile.tags)?);
            if tags.len() > tags::TAGS {
                return Err(Error::Invalid("with those of its profile it has more than 16 tags"));
            }
            if folder.is_empty() {
                folder.clone_from(&profile.folder);
            }
            period_s = period_s.or(profile.period_s);
            description.clone_from(&profile.description);
        }
        let id: Option<i64> = sqlx::query_scalar(
            "INSERT INTO resources (owner, label, mode, tags, folder, period, description, latitude, longitude)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
             ON CONFLICT (owner, label) DO NOTHING RETURNING id",
        )
        .bind(owner.0)
        .bind(&label)
        .bind(&mode)
        .bind(tags::written(&tags))
        .bind(&folder)
        .bind(period_s)
        .bind(&description)
        .bind(place.map(|place| place.latitude))
        .bind(place.map(|place| place.longitude))
        .fetch_optional(&mut *connection)
        .await?;
        let id = ResourceId(id.ok_or(Error::Taken("label"))?);
        credentials::insert(connection, &self.master, id, &credential).await?;
        if let Some(profile) = profile {
            profile.give(connection, id).await?;
        }
        let (identity, key, certificate) = credential.disclose();
        let resource = Resource {
            id,
            label,
            mode,
            identity: Some(identity),
            description,
            tags: tags.into_iter().collect(),
            folder,
            period_s,
            place,
        };
        Ok(Enrolled { resource, key, certificate })
    }

    /// The resources of `owner`, a page of them in the order of their ids: those behind `after`.
    pub async fn resources(&self, owner: UserId, listing: Listing) -> Result<Vec<Resource>, Error> {
        let rows: Vec<ResourceRow> = sqlx::query_as(AssertSqlSafe(format!(
            "SELECT {COLUMNS} FROM {TABLES}
             WHERE owner = $1 AND resources.id > $2 ORDER BY resources.id LIMIT $3"
        )))
        .bind(owner.0)
        .bind(listing.after)
        .bind(listing.limit)
        .fetch_all(&self.readers)
        .await?;
        Ok(rows.into_iter().map(resource).collect())
    }

    /// The resources of all users, each with whose it is: a page of them in the order of their ids, those behind `after`.
    pub async fn all_resources(&self, listing: Listing) -> Result<Vec<(Resource, UserId, String)>, Error> {
        let rows: Vec<OwnedRow> = sqlx::query_as(AssertSqlSafe(format!(
            "SELECT {COLUMNS}, users.id, users.name FROM {TABLES} JOIN users ON users.id = resources.owner
             WHERE resources.id > $1 ORDER BY resources.id LIMIT $2"
        )))
        .bind(listing.after)
        .bind(listing.limit)
        .fetch_all(&self.readers)
        .await?;
        let owned = |row: OwnedRow| {
            let (id, label, mode, identity, description, tags, folder, period, north, east, owner, name) =
                row;
            let row = (id, label, mode, identity, description, tags, folder, period, north, east);
            (resource(row), UserId(owner), name)
        };
        Ok(rows.into_iter().map(owned).collect())
    }

    /// The resource of `owner` with this id or label.
    pub async fn resource(&self, owner: UserId, id_or_label: &str) -> Result<Option<Resource>, Error> {
        let named = Reference::read(id_or_label);
        let row: Option<ResourceRow> = sqlx::query_as(AssertSqlSafe(format!(
            "SELECT {COLUMNS} FROM {TABLES} WHERE owner = $1 AND (resources.id = $2 OR label = $3)"
        )))
        .bind(owner.0)
        .bind(named.id())
        .bind(named.name())
        .fetch_optional(&self.readers)
        .await?;
        Ok(row.map(resource))
    }

    /// The resource of this id, whosever it is.
    pub async fn resource_by_id(&self, id: ResourceId) -> Result<Option<Resource>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM {TABLES} WHERE resources.id = $1");
        let row: Option<ResourceRow> =
            sqlx::query_as(AssertSqlSafe(sql)).bind(id.0).fetch_optional(&self.readers).await?;
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

    /// Changes what is given of a resource. If it is to be as in `is_still` and is not, nothing is changed.
    pub async fn change_resource(
        &self,
        id: ResourceId,
        change: ResourceChange<'_>,
        is_still: Option<&Resource>,
    ) -> Result<(), Error> {
        let ResourceChange { label, mode, description, tags, folder, period_s, place } = change;
        if label.is_some_and(|label| !is_label(label)) {
            return Err(Error::Invalid(LABEL_RULE));
        }
        check_description(description.unwrap_or_default())?;
        let tags = tags.map(tags::tags_of_one).transpose()?;
        check_folder(folder.unwrap_or_default())?;
        check_period(period_s.flatten())?;
        Location::check(place.flatten())?;
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        let changed = sqlx::query(
            "UPDATE resources SET label = coalesce($1, label), mode = coalesce($2, mode),
             description = coalesce($3, description), tags = coalesce($8, tags), folder = coalesce($9, folder),
             period = CASE WHEN $10 THEN $11 ELSE period END,
             latitude = CASE WHEN $12 THEN $13 ELSE latitude END,
             longitude = CASE WHEN $12 THEN $14 ELSE longitude END
             WHERE id = $4 AND NOT EXISTS (SELECT 1 FROM resources AS other
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
        .bind(tags.as_ref().map(tags::written))
        .bind(folder)
        .bind(period_s.is_some())
        .bind(period_s.flatten())
        .bind(place.is_some())
        .bind(place.flatten().map(|place| place.latitude))
        .bind(place.flatten().map(|place| place.longitude))
        .execute(&mut *transaction)
        .await?;
        if label.is_some() || tags.is_some() {
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

    /// Deletes a resource with its streams and points, and closes the sessions of its device, and those of users that are for it alone.
    pub async fn delete_resource(&self, id: ResourceId) -> Result<(), Error> {
        self.delete_resources(vec![id]).await?;
        Ok(())
    }

    /// Deletes these resources, all or none, as [`Store::delete_resource`] does; returns how many there were.
    pub(crate) async fn delete_resources(&self, ids: Vec<ResourceId>) -> Result<u64, Error> {
        let store = self.clone();
        to_its_end(async move {
            let mut writer = store.writer.lock().await;
            let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
            let (mut ended, mut deleted) = (Vec::new(), 0);
            for id in &ids {
                ended.append(&mut credentials::delete_all(&mut transaction, *id).await?);
                ended.append(&mut credentials::delete_those_for(&mut transaction, *id).await?);
                let sql = "DELETE FROM resources WHERE id = $1";
                deleted += sqlx::query(sql).bind(id.0).execute(&mut *transaction).await?.rows_affected();
            }
            transaction.commit().await?;
            drop(writer);
            // Tokens that were for one of these only went with it.
            store.access_changed();
            store.revoke(ended).await;
            store.brokers_have_changed();
            for id in ids {
                store.poller_changed(id);
                store.commands.remove(id);
            }
            Ok(deleted)
        })
        .await
    }

    /// Deletes a user with all that is theirs, and closes their DTLS sessions and those of their devices.
    pub async fn delete_user(&self, user: User) -> Result<(), Error> {
        if user.username == ADMINISTRATOR {
            return Err(Error::Invalid("the administrator of the first start stays"));
        }
        let store = self.clone();
        to_its_end(async move {
            let mut writer = store.writer.lock().await;
            let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
            let ended: Vec<i64> = sqlx::query_scalar(
                "DELETE FROM credentials WHERE holder = $1
                 OR resource IN (SELECT id FROM resources WHERE owner = $1) RETURNING id",
            )
            .bind(user.id.0)
            .fetch_all(&mut *transaction)
            .await?;
            let pollers = poller_rows::delete_of_user(&mut transaction, user.id).await?;
            sqlx::query("DELETE FROM users WHERE id = $1").bind(user.id.0).execute(&mut *transaction).await?;
            transaction.commit().await?;
            drop(writer);
            store.access_changed();
            store.brokers_have_changed();
            store.revoke(ended.into_iter().map(CredentialId).collect()).await;
            pollers.into_iter().for_each(|resource| store.poller_changed(resource));
            store.reload_commands().await
        })
        .await
    }
}

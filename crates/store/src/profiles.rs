//! Profiles: what devices of one kind have in common, given to a resource when it is made. A profile that is changed afterwards
//! changes no resource.

use std::collections::{BTreeSet, HashMap};

use serde::{Deserialize, Serialize};
use sixlock_ingest::{MOST_PARSERS, Specification, ValueType};
use sqlx::Connection;
use sqlx::sqlite::SqliteConnection;
use utoipa::ToSchema;

use crate::error::Error;
use crate::fleet::check_folder;
use crate::ids::{ResourceId, UserId};
use crate::journal::STREAMS_PER_RESOURCE;
use crate::names::{LABEL_RULE, is_label};
use crate::parsers::{self, NewParser};
use crate::period::check_period;
use crate::retention::{check_history_size, check_keep};
use crate::store::Store;
use crate::streams::{check_description, check_new};
use crate::tags;

/// The most profiles of a user.
const PROFILES: i64 = 100;

/// What devices of one kind have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Profile {
    /// What is said about each device.
    #[schema(max_length = 256)]
    pub description: String,
    /// Tags that each gets besides those that are given with it.
    #[schema(max_items = 16)]
    pub tags: Vec<String>,
    /// The folder of those with which none is given.
    #[schema(max_length = 256)]
    pub folder: String,
    /// How often they report, in seconds, if that is not given.
    #[schema(minimum = 1, maximum = 31_622_400)]
    pub period_s: Option<i64>,
    /// Their streams.
    #[schema(max_items = 64)]
    pub streams: Vec<ProfileStream>,
    /// How their payloads are read.
    #[schema(max_items = 64)]
    pub parsers: Vec<NewParser>,
}

/// A stream that each device of a profile has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ProfileStream {
    /// Its label.
    #[schema(min_length = 1, max_length = 128)]
    pub label: String,
    /// Its unit.
    #[serde(default)]
    #[schema(max_length = 32)]
    pub unit: Option<String>,
    /// What is said about it.
    #[serde(default)]
    #[schema(max_length = 256)]
    pub description: String,
    /// What its values are; numbers, unless this says otherwise.
    #[serde(default)]
    #[schema(schema_with = crate::values::type_schema)]
    pub value_type: ValueType,
    /// For how many seconds its points are kept; null: as those of all new streams.
    #[serde(default)]
    #[schema(minimum = 3_600, maximum = 3_162_240_000_i64)]
    pub keep_s: Option<i64>,
    /// How many of its points are kept; null: all.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 1_000_000)]
    pub history_size: Option<i64>,
}

/// A profile and what it is called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct NamedProfile {
    /// The label, unique for its owner.
    pub label: String,
    /// What it says.
    #[serde(flatten)]
    pub profile: Profile,
}

/// The profiles that a request names, as they are now.
#[derive(Default)]
pub(crate) struct Profiles(HashMap<String, Profile>);

fn profile((label, text): (String, String)) -> Result<NamedProfile, Error> {
    let profile =
        serde_json::from_str(&text).map_err(|_| Error::Invalid("a stored profile is none; set it anew"))?;
    Ok(NamedProfile { label, profile })
}

impl Profile {
    /// Refuses what a resource could not be given.
    fn check(&self) -> Result<Vec<Specification>, Error> {
        check_description(&self.description)?;
        tags::tags_of_one(&self.tags)?;
        check_folder(&self.folder)?;
        check_period(self.period_s)?;
        if self.streams.len() as i64 > STREAMS_PER_RESOURCE {
            return Err(Error::Invalid("a profile has at most 64 streams"));
        }
        let mut labels = BTreeSet::new();
        for ProfileStream { label, unit, description, keep_s, history_size, .. } in &self.streams {
            check_new(label, unit.as_deref(), description)?;
            check_keep(*keep_s)?;
            check_history_size(*history_size)?;
            if !labels.insert(label) {
                return Err(Error::Taken("label of a stream"));
            }
        }
        if self.parsers.len() > MOST_PARSERS {
            return Err(Error::Invalid("a profile has at most 64 parsers"));
        }
        let specifications =
            self.parsers.iter().cloned().map(Specification::try_from).collect::<Result<Vec<_>, _>>()?;
        let mut labels = BTreeSet::new();
        for specification in &specifications {
            parsers::check(specification)?;
            if !labels.insert(&specification.label) {
                return Err(Error::Taken("label of a parser"));
            }
        }
        Ok(specifications)
    }

    /// Gives `resource`, which was just made, the streams and parsers.
    pub(crate) async fn give(
        &self,
        connection: &mut SqliteConnection,
        resource: ResourceId,
    ) -> Result<(), Error> {
        for ProfileStream { label, unit, description, value_type, keep_s, history_size } in &self.streams {
            sqlx::query(
                "INSERT INTO streams (resource, label, unit, description, keep, history_size, value_type)
                 VALUES ($1, $2, $3, $4, coalesce($5, (SELECT keep FROM retention_of_new_streams)), $6, $7)",
            )
            .bind(resource.0)
            .bind(label)
            .bind(unit.as_deref().filter(|unit| !unit.is_empty()))
            .bind(description)
            .bind(keep_s.map(|keep| keep * 1_000))
            .bind(history_size)
            .bind(value_type.name())
            .execute(&mut *connection)
            .await?;
        }
        for parser in self.parsers.iter().cloned() {
            parsers::insert(connection, resource, &Specification::try_from(parser)?).await?;
        }
        Ok(())
    }
}

impl Profiles {
    /// Those of `owner` with these labels.
    pub(crate) async fn named(
        connection: &mut SqliteConnection,
        owner: UserId,
        labels: BTreeSet<&str>,
    ) -> Result<Self, Error> {
        let mut profiles = HashMap::new();
        for label in labels {
            let sql = "SELECT label, profile FROM profiles WHERE owner = $1 AND label = $2";
            let row = sqlx::query_as(sql).bind(owner.0).bind(label).fetch_optional(&mut *connection).await?;
            if let Some(NamedProfile { label, profile }) = row.map(profile).transpose()? {
                profiles.insert(label, profile);
            }
        }
        Ok(Self(profiles))
    }

    /// That of this label, if one is given.
    pub(crate) fn get(&self, label: Option<&str>) -> Result<Option<&Profile>, Error> {
        label.map(|label| self.0.get(label).ok_or(Error::Unknown("profile"))).transpose()
    }
}

impl Store {
    /// The profiles of `owner`, by their labels.
    pub async fn profiles(&self, owner: UserId) -> Result<Vec<NamedProfile>, Error> {
        let sql = "SELECT label, profile FROM profiles WHERE owner = $1 ORDER BY label";
        let rows: Vec<(String, String)> = sqlx::query_as(sql).bind(owner.0).fetch_all(&self.readers).await?;
        rows.into_iter().map(profile).collect()
    }

    /// The profile of `owner` with this label.
    pub async fn profile(&self, owner: UserId, label: &str) -> Result<Option<NamedProfile>, Error> {
        let sql = "SELECT label, profile FROM profiles WHERE owner = $1 AND label = $2";
        let row = sqlx::query_as(sql).bind(owner.0).bind(label).fetch_optional(&self.readers).await?;
        row.map(profile).transpose()
    }

    /// Sets the profile of `owner` with this label; true if there was none.
    pub async fn put_profile(&self, owner: UserId, label: &str, profile: &Profile) -> Result<bool, Error> {
        if !is_label(label) {
            return Err(Error::Invalid(LABEL_RULE));
        }
        profile.check()?;
        let text =
            serde_json::to_string(profile).map_err(|_| Error::Invalid("the profile cannot be written"))?;
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        let (known, all): (i64, i64) = sqlx::query_as(
            "SELECT coalesce(sum(CASE WHEN label = $2 THEN 1 ELSE 0 END), 0), count(*) FROM profiles WHERE owner = $1",
        )
        .bind(owner.0)
        .bind(label)
        .fetch_one(&mut *transaction)
        .await?;
        if known == 0 && all >= PROFILES {
            return Err(Error::Full("a user has at most 100 profiles"));
        }
        sqlx::query(
            "INSERT INTO profiles (owner, label, profile) VALUES ($1, $2, $3)
             ON CONFLICT (owner, label) DO UPDATE SET profile = excluded.profile",
        )
        .bind(owner.0)
        .bind(label)
        .bind(text)
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(known == 0)
    }

    /// Removes the profile of `owner` with this label. Resources that were made with it stay as they are.
    pub async fn remove_profile(&self, owner: UserId, label: &str) -> Result<(), Error> {
        let removed = sqlx::query("DELETE FROM profiles WHERE owner = $1 AND label = $2")
            .bind(owner.0)
            .bind(label)
            .execute(&mut *self.writer.lock().await)
            .await?;
        if removed.rows_affected() == 0 { Err(Error::Unknown("profile")) } else { Ok(()) }
    }
}

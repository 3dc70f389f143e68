//! What is set of a broker.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use sqlx::Row;
use sqlx::sqlite::SqliteRow;
use utoipa::ToSchema;

use crate::error::Error;
use crate::ids::{BrokerId, ResourceId, UserId};
use crate::secrets::Secret;

/// The form in which readings are published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum BrokerFormat {
    /// One message a reading, to a topic for each stream: an object of JSON with `time`, `value` and `unit`.
    Json,
    /// SenML in JSON, to a topic for each device.
    Senml,
}

impl BrokerFormat {
    const ALL: [Self; 2] = [Self::Json, Self::Senml];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Senml => "senml",
        }
    }

    pub(crate) fn named(name: &str) -> Result<Self, Error> {
        let named = Self::ALL.into_iter().find(|format| format.name() == name);
        named.ok_or(Error::Unknown("format of a broker"))
    }
}

/// The devices whose readings are published: all are the owner's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BrokerDevices<T> {
    /// All.
    All,
    /// These.
    These(BTreeSet<T>),
    /// Those with this tag.
    Tagged(String),
}

impl<T> BrokerDevices<T> {
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::All => "all",
            Self::These(_) => "these",
            Self::Tagged(_) => "tagged",
        }
    }

    pub(crate) fn tag(&self) -> Option<&str> {
        match self {
            Self::Tagged(tag) => Some(tag),
            _ => None,
        }
    }
}

/// What a user sets, and is shown again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = ShownBrokerSettings)]
pub struct BrokerSettings {
    /// What it is called, unique for its owner.
    pub label: String,
    /// Where it is.
    pub url: String,
    /// As whom the cloud signs in there.
    pub username: Option<String>,
    /// PEM: whose certificates are believed, in place of those whom the system believes.
    pub authority: Option<String>,
    /// What topics begin with; `{user}` in it stands for the name of the owner.
    pub prefix: String,
    /// 1: the broker acknowledges what it takes; 0: it does not.
    pub qos: u8,
    /// Whether the broker keeps the last message of each topic.
    pub retain: bool,
    /// The form of what is published.
    pub format: BrokerFormat,
}

impl BrokerSettings {
    /// Those of a row.
    pub(crate) fn of(row: &SqliteRow) -> Result<Self, Error> {
        let format: String = row.try_get("format")?;
        Ok(Self {
            label: row.try_get("label")?,
            url: row.try_get("url")?,
            username: row.try_get("username")?,
            authority: row.try_get("authority")?,
            prefix: row.try_get("prefix")?,
            qos: row.try_get("qos")?,
            retain: row.try_get("retain")?,
            format: BrokerFormat::named(&format)?,
        })
    }
}

/// What a broker is to be: whoever makes or changes one has checked it.
#[derive(Clone, Debug)]
pub struct NewBroker {
    /// What is shown again.
    pub settings: BrokerSettings,
    /// By what the cloud signs in there. Of a broker that is changed, the one that there is stays without another, if it goes to the same place, in
    /// the name of the same user.
    pub password: Option<Secret>,
    /// What the cloud calls itself there; of a broker that is made, one that no other has without it.
    pub client_id: Option<String>,
    /// The ids or labels of devices.
    pub devices: BrokerDevices<String>,
}

/// A broker as its owner sees it: without what is secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Broker {
    /// The row.
    pub id: BrokerId,
    /// What is set.
    #[serde(flatten)]
    pub settings: BrokerSettings,
    /// Whether the cloud signs in there by a password.
    pub password: bool,
    /// What the cloud calls itself there.
    pub client_id: String,
    /// The devices whose readings are published; null: all, or those with the tag.
    pub resources: Option<Vec<ResourceId>>,
    /// The tag of the devices whose readings are published; null: all, or those listed.
    pub tag: Option<String>,
    /// When it was made, in milliseconds since 1970.
    pub created: i64,
}

/// A broker as it is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokerToServe {
    /// The row.
    pub id: BrokerId,
    /// Grows with each change.
    pub revision: i64,
    /// Whose it is.
    pub owner: UserId,
    /// The name of that user.
    pub owner_name: String,
    /// What is set.
    pub settings: BrokerSettings,
    /// By what the cloud signs in there.
    pub password: Option<Secret>,
    /// What the cloud calls itself there.
    pub client_id: String,
    /// The devices whose readings are published.
    pub devices: BrokerDevices<ResourceId>,
}

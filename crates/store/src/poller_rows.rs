//! Pollers: from where, how often and by which credential the readings of a resource are fetched.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::Serialize;
use sqlx::Connection;
use sqlx::sqlite::SqliteConnection;
use utoipa::ToSchema;

use crate::error::Error;
use crate::ids::{ResourceId, UserId};
use crate::rotation::to_its_end;
use crate::secrets::Secret;
use crate::store::Store;

/// The shortest period, in seconds: what asks more often is better sent by the device itself.
const SHORTEST_PERIOD: i64 = 5;
/// The longest period, in seconds: a week.
const LONGEST_PERIOD: i64 = 7 * 24 * 3600;
/// The most pollers of one owner.
const MOST_OF_ONE_OWNER: i64 = 1000;
/// The longest reason for a failure that is kept.
const LONGEST_ERROR: usize = 500;

/// How the cloud proves who it is to what it polls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PollCredential {
    /// Not at all.
    None,
    /// By a pre-shared key.
    Psk {
        /// Its identity.
        identity: String,
        /// The key.
        key: Secret,
    },
    /// By the value of HTTP's Authorization.
    Authorization(Secret),
}

/// What is polled, and how often.
#[derive(Clone, Debug)]
pub struct NewPoller {
    /// What is polled.
    pub url: String,
    /// How often, in seconds.
    pub period: i64,
    /// Whether the device is to tell what changes, between polls.
    pub observe: bool,
    /// How the cloud proves who it is.
    pub credential: PollCredential,
}

/// A poller as its owner sees it: without what is secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Poller {
    /// What is polled.
    pub url: String,
    /// How often, in seconds.
    pub period: i64,
    /// Whether the device is asked to tell what changes, between polls.
    pub observe: bool,
    /// The identity of the pre-shared key, for coaps.
    pub identity: Option<String>,
    /// Whether an Authorization is sent.
    pub authorization: bool,
    /// Whether it polls no more until it is to again.
    pub paused: bool,
    /// When it was last polled, in milliseconds since 1970.
    pub last_polled: Option<i64>,
    /// Why the last poll gave nothing; nothing if it did.
    pub last_error: Option<String>,
    /// How many polls gave nothing since the last one that did.
    pub failures: i64,
}

/// A poller as the schedule sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The resource.
    pub resource: ResourceId,
    /// Its owner.
    pub owner: UserId,
    /// How often it is polled.
    pub period: Duration,
    /// Whether its device is to tell what changes, between polls.
    pub observe: bool,
    /// When it was last polled, in milliseconds since 1970.
    pub last_polled: Option<i64>,
    /// How many polls have failed since the last one that did not.
    pub failures: u32,
}

/// A poll that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Polled {
    /// The resource.
    pub resource: ResourceId,
    /// Milliseconds since 1970.
    pub time: i64,
    /// Why it gave nothing.
    pub error: Option<String>,
}

type PollerRow = (String, i64, bool, Option<String>, Option<Vec<u8>>, Option<i64>, Option<String>, i64, bool);

fn poller_of(
    (url, period, observe, identity, secret, last_polled, last_error, failures, paused): PollerRow,
) -> Poller {
    let authorization = identity.is_none() && secret.is_some();
    Poller { url, period, observe, identity, authorization, paused, last_polled, last_error, failures }
}

/// What a poller's secret is sealed for. No identity, for which devices' keys are sealed, begins like this.
fn context(resource: ResourceId) -> Vec<u8> {
    [b"\0poller".as_slice(), &resource.0.to_be_bytes()].concat()
}

/// Deletes the pollers of a user and tells of which resources they were.
pub(crate) async fn delete_of_user(
    connection: &mut SqliteConnection,
    owner: UserId,
) -> Result<Vec<ResourceId>, Error> {
    let sql = "DELETE FROM pollers WHERE resource IN (SELECT id FROM resources WHERE owner = $1)
               RETURNING resource";
    let rows: Vec<i64> = sqlx::query_scalar(sql).bind(owner.0).fetch_all(connection).await?;
    Ok(rows.into_iter().map(ResourceId).collect())
}

impl Store {
    /// Sets the poller of `resource`, in place of the one it may have, and returns it as it is then; true if there was none. One that is
    /// paused stays so.
    pub async fn put_poller(&self, resource: ResourceId, poller: NewPoller) -> Result<(Poller, bool), Error> {
        let NewPoller { url, period, observe, credential } = poller;
        if !(SHORTEST_PERIOD..=LONGEST_PERIOD).contains(&period) {
            return Err(Error::Invalid("period is not between 5 and 604800 seconds"));
        }
        let (identity, secret) = match &credential {
            PollCredential::None => (None, None),
            PollCredential::Psk { identity, key } => (Some(identity.as_str()), Some(key)),
            PollCredential::Authorization(value) => (None, Some(value)),
        };
        let sealed = secret.map(|secret| self.master.seal(&context(resource), secret.bytes())).transpose()?;
        let identity = identity.map(str::to_owned);
        let store = self.clone();
        to_its_end(async move {
            let mut writer = store.writer.lock().await;
            let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
            let owner: Option<i64> = sqlx::query_scalar("SELECT owner FROM resources WHERE id = $1")
                .bind(resource.0)
                .fetch_optional(&mut *transaction)
                .await?;
            let (known, pollers): (i64, i64) = sqlx::query_as(
                "SELECT coalesce(sum(CASE WHEN pollers.resource = $1 THEN 1 ELSE 0 END), 0), count(*)
             FROM pollers JOIN resources ON resources.id = pollers.resource WHERE resources.owner = $2",
            )
            .bind(resource.0)
            .bind(owner.ok_or(Error::Unknown("resource"))?)
            .fetch_one(&mut *transaction)
            .await?;
            if known == 0 && pollers >= MOST_OF_ONE_OWNER {
                return Err(Error::Invalid("this user has 1000 pollers already; remove one"));
            }
            let row = sqlx::query_as(
                "INSERT INTO pollers (resource, url, period, observe, identity, secret, failures)
             VALUES ($1, $2, $3, $4, $5, $6, 0)
             ON CONFLICT (resource) DO UPDATE SET url = excluded.url, period = excluded.period,
             observe = excluded.observe, identity = excluded.identity, secret = excluded.secret,
             last_polled = NULL, last_error = NULL, failures = 0
             RETURNING url, period, observe, identity, secret, last_polled, last_error, failures, paused",
            )
            .bind(resource.0)
            .bind(url)
            .bind(period)
            .bind(observe)
            .bind(identity)
            .bind(sealed)
            .fetch_one(&mut *transaction)
            .await?;
            transaction.commit().await?;
            store.poller_changed(resource);
            Ok((poller_of(row), known == 0))
        })
        .await
    }

    /// Removes the poller of `resource`; false if it has none.
    pub async fn remove_poller(&self, resource: ResourceId) -> Result<bool, Error> {
        let store = self.clone();
        to_its_end(async move {
            let mut writer = store.writer.lock().await;
            let removed = sqlx::query("DELETE FROM pollers WHERE resource = $1")
                .bind(resource.0)
                .execute(&mut *writer)
                .await?;
            store.poller_changed(resource);
            Ok(removed.rows_affected() > 0)
        })
        .await
    }

    /// The poller of `resource`.
    pub async fn poller(&self, resource: ResourceId) -> Result<Option<Poller>, Error> {
        Ok(self.poller_row(resource).await?.map(poller_of))
    }

    /// What is to be asked for the readings of `resource`, and by which credential.
    pub async fn to_poll(&self, resource: ResourceId) -> Result<Option<NewPoller>, Error> {
        let Some((url, period, observe, identity, secret, ..)) = self.poller_row(resource).await? else {
            return Ok(None);
        };
        let secret = secret.map(|sealed| self.master.open_sealed(&context(resource), &sealed)).transpose()?;
        let credential = match (identity, secret) {
            (Some(identity), Some(key)) => PollCredential::Psk { identity, key },
            (None, Some(value)) => PollCredential::Authorization(value),
            (_, None) => PollCredential::None,
        };
        Ok(Some(NewPoller { url, period, observe, credential }))
    }

    async fn poller_row(&self, resource: ResourceId) -> Result<Option<PollerRow>, Error> {
        let sql = "SELECT url, period, observe, identity, secret, last_polled, last_error, failures, paused
                   FROM pollers WHERE resource = $1";
        Ok(sqlx::query_as(sql).bind(resource.0).fetch_optional(&self.readers).await?)
    }

    /// All pollers that are not paused, or that of one resource, as the schedule sees them.
    pub async fn turns(&self, resource: Option<ResourceId>) -> Result<Vec<Turn>, Error> {
        let rows: Vec<(i64, i64, i64, bool, Option<i64>, u32)> = sqlx::query_as(
            "SELECT pollers.resource, resources.owner, pollers.period, pollers.observe, pollers.last_polled, pollers.failures
             FROM pollers JOIN resources ON resources.id = pollers.resource
             WHERE NOT paused AND ($1 IS NULL OR pollers.resource = $1)",
        )
        .bind(resource.map(|resource| resource.0))
        .fetch_all(&self.readers)
        .await?;
        let turn = |(resource, owner, period, observe, last_polled, failures): (
            i64,
            i64,
            i64,
            bool,
            Option<i64>,
            u32,
        )| Turn {
            resource: ResourceId(resource),
            owner: UserId(owner),
            period: Duration::from_secs(period.unsigned_abs()),
            observe,
            last_polled,
            failures,
        };
        Ok(rows.into_iter().map(turn).collect())
    }

    /// Notes how polls ended.
    pub async fn polled(&self, polls: &[Polled]) -> Result<(), Error> {
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        for Polled { resource, time, error } in polls {
            let error: Option<String> =
                error.as_ref().map(|error| error.chars().take(LONGEST_ERROR).collect());
            sqlx::query(
                "UPDATE pollers SET last_polled = $1, last_error = $2,
                 failures = CASE WHEN $2 IS NULL THEN 0 ELSE failures + 1 END WHERE resource = $3",
            )
            .bind(time)
            .bind(error)
            .bind(resource.0)
            .execute(&mut *transaction)
            .await?;
        }
        Ok(transaction.commit().await?)
    }

    /// Tells that the poller of `resource` changed, or is gone with it.
    pub(crate) fn poller_changed(&self, resource: ResourceId) {
        self.poller_changes.add(resource);
    }

    /// Waits until pollers were paused or resumed, and tells which.
    pub async fn paused_pollers(&self) -> BTreeSet<ResourceId> {
        self.poller_pauses.wait().await
    }

    /// Waits until pollers have changed or gone, and tells which.
    pub async fn changed_pollers(&self) -> BTreeSet<ResourceId> {
        self.poller_changes.wait().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::Device;

    #[tokio::test]
    async fn what_is_set_is_returned_and_a_resource_that_is_gone_gets_no_poller() {
        let directory = tempfile::tempdir().unwrap();
        let (store, _writer) = Store::open(directory.path()).await.unwrap();
        let user = store.add_user("ann", "", "long enough".into(), false).await.unwrap();
        let resource = store.enrol(user.id, Device::named("node-1")).await.unwrap().resource.id;
        let key = Secret::new(b"0123456789abcdef".to_vec());
        let credential = PollCredential::Psk { identity: "cloud".into(), key };
        let poller = NewPoller { url: "coaps://192.0.2.1/".into(), period: 60, observe: true, credential };
        for is_new in [true, false] {
            let (set, was_none) = store.put_poller(resource, poller.clone()).await.unwrap();
            assert_eq!((Some(set), was_none), (store.poller(resource).await.unwrap(), is_new));
        }
        store.delete_resource(resource).await.unwrap();
        assert!(matches!(store.put_poller(resource, poller).await, Err(Error::Unknown("resource"))));
        // No transaction was left open.
        store.enrol(user.id, Device::named("node-2")).await.unwrap();
    }
}

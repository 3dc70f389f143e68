//! How much each user may have. Administrators have no quotas.

use serde::Serialize;
use sqlx::SqliteConnection;
use utoipa::ToSchema;

use crate::error::Error;
use crate::ids::{ResourceId, UserId};
use crate::store::Store;

/// The greatest quota that can be given.
const GREATEST: i64 = 1_000_000_000_000;
/// Milliseconds of a day, which begins at midnight UTC.
pub const DAY_MS: i64 = 24 * 3_600_000;

/// The quotas of a user of an id, as SQL: no row of an administrator, and nothing for what is as for all.
pub(crate) const OF_USER: &str = "SELECT resources, streams, points_a_day
     FROM users LEFT JOIN quotas ON quotas.owner = users.id
     WHERE users.id = $1 AND users.role <> 'administrator'";
/// How many streams a user of an id has, as SQL.
pub(crate) const STREAMS_OF_USER: &str =
    "SELECT count(*) FROM resources JOIN streams ON streams.resource = resources.id WHERE owner = $1";

/// What the database says of the quotas of a user.
pub(crate) type Row = (Option<i64>, Option<i64>, Option<i64>);

/// How much a user may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Quotas {
    /// Resources.
    pub resources: i64,
    /// Streams of all resources together.
    pub streams: i64,
    /// Points that arrive from midnight to midnight UTC. Points that the cloud computes do not count.
    pub points_a_day: i64,
}

impl Quotas {
    /// Those of users for whom nothing else was said.
    pub const DEFAULT: Self = Self { resources: 5_000, streams: 50_000, points_a_day: 10_000_000 };

    pub(crate) fn read((resources, streams, points_a_day): Row) -> Self {
        Self {
            resources: resources.unwrap_or(Self::DEFAULT.resources),
            streams: streams.unwrap_or(Self::DEFAULT.streams),
            points_a_day: points_a_day.unwrap_or(Self::DEFAULT.points_a_day),
        }
    }
}

/// What a user may have, where it is not [`Quotas::DEFAULT`].
#[derive(Clone, Copy, Debug, Default)]
pub struct OwnQuotas {
    /// Resources.
    pub resources: Option<i64>,
    /// Streams of all resources together.
    pub streams: Option<i64>,
    /// Points a day.
    pub points_a_day: Option<i64>,
}

/// How much a user has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Usage {
    /// Resources.
    pub resources: i64,
    /// Streams of all resources together.
    pub streams: i64,
    /// Points that have arrived since midnight UTC; not counted of those without quotas.
    pub points_today: i64,
}

impl Store {
    /// The quotas of `owner`; `None` of an administrator, who has none.
    pub async fn quotas(&self, owner: UserId) -> Result<Option<Quotas>, Error> {
        let row: Option<Row> = sqlx::query_as(OF_USER).bind(owner.0).fetch_optional(&self.readers).await?;
        Ok(row.map(Quotas::read))
    }

    /// Sets the quotas of `owner`: what is not given is as for all. What they have already stays.
    pub async fn set_quotas(&self, owner: UserId, own: OwnQuotas) -> Result<(), Error> {
        let OwnQuotas { resources, streams, points_a_day } = own;
        let is_quota = |quota: &i64| (0..=GREATEST).contains(quota);
        if ![resources, streams, points_a_day].iter().flatten().all(is_quota) {
            return Err(Error::Invalid("a quota is a whole number from 0 to 1000000000000"));
        }
        sqlx::query(
            "INSERT INTO quotas (owner, resources, streams, points_a_day)
             SELECT id, $2, $3, $4 FROM users WHERE id = $1
             ON CONFLICT (owner) DO UPDATE SET resources = excluded.resources, streams = excluded.streams,
             points_a_day = excluded.points_a_day",
        )
        .bind(owner.0)
        .bind(resources)
        .bind(streams)
        .bind(points_a_day)
        .execute(&mut *self.writer.lock().await)
        .await?;
        Ok(())
    }

    /// How much `owner` has at the time `now`.
    pub async fn usage(&self, owner: UserId, now: i64) -> Result<Usage, Error> {
        let (resources, streams, points_today) = sqlx::query_as(
            "SELECT (SELECT count(*) FROM resources WHERE owner = $1),
             (SELECT count(*) FROM resources JOIN streams ON streams.resource = resources.id WHERE owner = $1),
             coalesce((SELECT points FROM points_of_day WHERE owner = $1 AND day = $2), 0)",
        )
        .bind(owner.0)
        .bind(now.div_euclid(DAY_MS))
        .fetch_one(&self.readers)
        .await?;
        Ok(Usage { resources, streams, points_today })
    }
}

/// Refuses a further resource of `owner`, who has `resources`, if that is one too many.
pub(crate) async fn check_resources(
    connection: &mut SqliteConnection,
    owner: UserId,
    resources: i64,
) -> Result<(), Error> {
    let row: Option<Row> = sqlx::query_as(OF_USER).bind(owner.0).fetch_optional(connection).await?;
    match row.map(Quotas::read) {
        Some(quotas) if resources >= quotas.resources => {
            Err(Error::Quota { what: "resources", most: quotas.resources })
        }
        _ => Ok(()),
    }
}

/// Refuses a further stream of whoever has `resource`, if that is one too many.
pub(crate) async fn check_streams(
    connection: &mut SqliteConnection,
    resource: ResourceId,
) -> Result<(), Error> {
    let owner: Option<i64> = sqlx::query_scalar("SELECT owner FROM resources WHERE id = $1")
        .bind(resource.0)
        .fetch_optional(&mut *connection)
        .await?;
    match owner {
        Some(owner) => check_more_streams(connection, UserId(owner), 1).await,
        None => Ok(()),
    }
}

/// Refuses `more` streams of `owner`, if these are too many.
pub(crate) async fn check_more_streams(
    connection: &mut SqliteConnection,
    owner: UserId,
    more: i64,
) -> Result<(), Error> {
    if more == 0 {
        return Ok(());
    }
    let row: Option<Row> = sqlx::query_as(OF_USER).bind(owner.0).fetch_optional(&mut *connection).await?;
    let Some(quotas) = row.map(Quotas::read) else { return Ok(()) };
    let streams: i64 = sqlx::query_scalar(STREAMS_OF_USER).bind(owner.0).fetch_one(connection).await?;
    if streams + more > quotas.streams {
        return Err(Error::Quota { what: "streams", most: quotas.streams });
    }
    Ok(())
}

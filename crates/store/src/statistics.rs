//! How much a cloud keeps, in figures that cost little, however many points there are.

use serde::Serialize;
use sqlx::SqliteConnection;
use utoipa::ToSchema;

use crate::error::Error;
use crate::quotas::DAY_MS;
use crate::rollup::HOUR_MS;
use crate::store::Store;

/// How many users there are. Each is in one of the roles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct UserCounts {
    /// All of them.
    pub all: i64,
    /// Those whose role is administrator.
    pub administrators: i64,
    /// Those whose role is member.
    pub members: i64,
    /// Those whose role is viewer.
    pub viewers: i64,
    /// Those whose account is disabled.
    pub disabled: i64,
}

/// How many points there are. Those that were computed count, and those that were deleted since.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct PointCounts {
    /// All that were ever stored: the number of the newest.
    pub ever: i64,
    /// Those that arrived within an hour.
    pub last_hour: i64,
    /// Those that arrived within 24 hours.
    pub last_day: i64,
}

/// How much there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct CloudCounts {
    /// Users.
    pub users: UserCounts,
    /// Devices and other resources.
    pub devices: i64,
    /// Streams of all of them, computed ones too.
    pub streams: i64,
    /// Points in all streams.
    pub points: PointCounts,
}

impl Store {
    /// How much there is at the time `now`. Users, resources and streams are counted in their tables; points are not: they are numbered in
    /// the order of their arrival, and the first number of an hour is found in some thirty steps.
    pub async fn counts(&self, now: i64) -> Result<CloudCounts, Error> {
        let mut connection = self.readers.acquire().await?;
        let (all, administrators, members, viewers, disabled) = sqlx::query_as(
            "SELECT count(*), count(CASE WHEN role = 'administrator' THEN 1 END),
             count(CASE WHEN role = 'member' THEN 1 END), count(CASE WHEN role = 'viewer' THEN 1 END),
             count(CASE WHEN disabled THEN 1 END) FROM users",
        )
        .fetch_one(&mut *connection)
        .await?;
        let (devices, streams, first, last) = sqlx::query_as(
            "SELECT (SELECT count(*) FROM resources), (SELECT count(*) FROM streams),
             (SELECT coalesce(min(id), 0) FROM points), (SELECT coalesce(max(id), 0) FROM points)",
        )
        .fetch_one(&mut *connection)
        .await?;
        let numbers = (first, last);
        let hour = last_before(&mut connection, numbers, now.saturating_sub(HOUR_MS)).await?;
        let day = last_before(&mut connection, numbers, now.saturating_sub(DAY_MS)).await?;
        Ok(CloudCounts {
            users: UserCounts { all, administrators, members, viewers, disabled },
            devices,
            streams,
            points: PointCounts { ever: last, last_hour: last - hour, last_day: last - day },
        })
    }
}

/// The number of the last point, of those from `first` to `last`, that arrived before `from`. Times of arrival grow with the numbers, unless
/// the clock of the cloud was set back.
async fn last_before(
    connection: &mut SqliteConnection,
    (first, last): (i64, i64),
    from: i64,
) -> Result<i64, Error> {
    // All up to `before` arrived before, all behind `after` did not.
    let (mut before, mut after) = (first.saturating_sub(1).max(0), last);
    while before < after {
        let middle = before + (after - before) / 2;
        // The point of this number may have been deleted: then the next that is there decides.
        let next: Option<(i64, i64)> =
            sqlx::query_as("SELECT id, time + delay FROM points WHERE id > $1 ORDER BY id LIMIT 1")
                .bind(middle)
                .fetch_optional(&mut *connection)
                .await?;
        match next {
            Some((id, arrived)) if arrived < from => before = id.min(after),
            _ => after = middle,
        }
    }
    Ok(before)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::Device;
    use crate::roles::Role;
    use crate::user_change::UserChange;

    const NOW: i64 = 1_800_000_000_000;

    #[tokio::test]
    async fn points_of_an_hour_and_a_day_go_by_arrival_and_none_is_missed_though_others_are_deleted() {
        let directory = tempfile::tempdir().unwrap();
        let (store, _writer) = Store::open(directory.path()).await.unwrap();
        assert_eq!(store.counts(NOW).await.unwrap(), CloudCounts::default());
        for (name, admin) in [("ann", false), ("bob", false), ("root", true)] {
            store.add_user(name, "", "a long password".into(), admin).await.unwrap();
        }
        let (ann, bob) =
            (store.user("ann").await.unwrap().unwrap(), store.user("bob").await.unwrap().unwrap());
        let viewer = UserChange { role: Some(Role::Viewer), disabled: Some(true), ..UserChange::default() };
        store.change_user(&bob, viewer, None).await.unwrap();
        store.add_resource(ann.id, Device::named("node")).await.unwrap();
        // 100 points a minute apart, the newest of now, each measured long before it arrived.
        {
            let mut writer = store.writer.lock().await;
            for minute in 0..2_000 {
                let arrived = NOW - (1_999 - minute) * 60_000;
                sqlx::query("INSERT INTO points (stream, time, value, delay) VALUES (1, $1, 0, $2)")
                    .bind(arrived - 3 * DAY_MS)
                    .bind(3 * DAY_MS)
                    .execute(&mut *writer)
                    .await
                    .unwrap();
            }
        }
        let users = UserCounts { all: 3, administrators: 1, members: 1, viewers: 1, disabled: 1 };
        // The one that arrived an hour ago belongs to the hour.
        let points = PointCounts { ever: 2_000, last_hour: 61, last_day: 1_441 };
        let expected = CloudCounts { users, devices: 1, streams: 0, points };
        assert_eq!(store.counts(NOW).await.unwrap(), expected);
        assert_eq!(store.counts(NOW + 30 * DAY_MS).await.unwrap().points.last_day, 0);
        assert_eq!(store.counts(NOW - DAY_MS).await.unwrap().points.last_hour, 1_501);
        // What is deleted around the edge moves it by no more than that.
        sqlx::query("DELETE FROM points WHERE id BETWEEN 1930 AND 1939 OR id < 500")
            .execute(&mut *store.writer.lock().await)
            .await
            .unwrap();
        assert_eq!(store.counts(NOW).await.unwrap().points.last_day, 1_441);
        let hour = store.counts(NOW).await.unwrap().points.last_hour;
        assert!((61..=71).contains(&hour), "{hour}");
    }
}

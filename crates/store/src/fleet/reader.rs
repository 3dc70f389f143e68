//! All devices of a user, as the database has them.

use std::collections::HashMap;

use rusqlite::{Row, Transaction};

use super::device::FleetDevice;
use crate::ids::UserId;
use crate::latest_sql::candidates;
use crate::resources::{COLUMNS, ResourceRow, TABLES, resource};

/// What a row says besides what stands in it: its poller's period and whether that is paused, and when its points were deleted last.
type Found = (ResourceRow, Option<(i64, bool)>, (Option<i64>, i64));

fn found(row: &Row<'_>) -> rusqlite::Result<Found> {
    let resource: ResourceRow = row.try_into()?;
    let (period, paused): (Option<i64>, Option<bool>) = (row.get(10)?, row.get(11)?);
    Ok((resource, period.zip(paused), (row.get(12)?, row.get(13)?)))
}

/// All devices of `owner` in the order of their ids, as they are at the time `now`.
pub(super) fn devices(
    transaction: &Transaction<'_>,
    owner: UserId,
    now: i64,
) -> rusqlite::Result<Vec<FleetDevice>> {
    let sql = format!(
        "SELECT {COLUMNS}, pollers.period, paused, heard, heard_point FROM {TABLES}
         LEFT JOIN pollers ON pollers.resource = resources.id WHERE owner = $1 ORDER BY resources.id"
    );
    let all: Vec<Found> =
        transaction.prepare_cached(&sql)?.query_map([owner.0], found)?.collect::<rusqlite::Result<_>>()?;
    let mut heard = HashMap::<i64, (i64, i64)>::with_capacity(all.len());
    {
        let mut latest = transaction.prepare_cached(&candidates("owner = $1"))?;
        let mut rows = latest.query([owner.0])?;
        while let Some(row) = rows.next()? {
            let (resource, point, arrived): (i64, i64, i64) = (row.get(0)?, row.get(2)?, row.get(5)?);
            let known = heard.entry(resource).or_insert((point, arrived));
            // Of its points, the one of the greatest number arrived last.
            *known = (*known).max((point, arrived));
        }
    }
    let alerts: HashMap<i64, i64> = transaction
        .prepare_cached(
            "SELECT rules.resource, count(*) FROM alerts JOIN rules ON rules.id = alerts.rule
             WHERE alerts.owner = $1 AND state IN ('open', 'acknowledged') GROUP BY rules.resource",
        )?
        .query_map([owner.0], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let device = |(row, poller, (deleted, deleted_point)): Found| {
        let resource = resource(row);
        let latest = heard.get(&resource.id.0).copied();
        // That of the greatest number arrived last, whether it is there or was deleted.
        let deleted = deleted.map(|arrived| (deleted_point, arrived));
        let heard = latest.max(deleted).map(|(_, arrived)| arrived);
        let alerts = alerts.get(&resource.id.0).copied().unwrap_or_default();
        FleetDevice::new(resource, heard, poller, alerts, now)
    };
    Ok(all.into_iter().map(device).collect())
}

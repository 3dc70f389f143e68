//! Many devices of one user: in a few numbers, found, in order, a page at a time, and changed together.
//!
//! All that is shown rests on one look at the devices of the user, of whom there are some ten thousand at most; which of them are
//! shown is decided here, not by the database, so that what is found, sorted, counted and changed is the same.

mod changes;
mod chosen;
mod device;
mod folders;
mod natural;
mod selection;
mod summary;

use std::collections::HashMap;

use serde::Serialize;
use sqlx::AssertSqlSafe;
use utoipa::ToSchema;

pub use changes::{FleetChange, FleetChanged};
pub use chosen::{Chosen, MOST_CHOSEN};
pub use device::{DeviceState, FleetDevice};
pub(crate) use folders::check_folder;
use selection::Sought;
pub use selection::{DeviceOrder, Selection};
pub use summary::{FleetSummary, Group};

use crate::error::Error;
use crate::ids::{ResourceId, UserId};
use crate::resources::{COLUMNS, TABLES, resource};
use crate::store::Store;

/// The most devices of one page.
pub const LONGEST_FLEET_PAGE: usize = 1_000;

/// Which devices are asked for, and which page of them.
#[derive(Clone, Debug, Default)]
pub struct FleetQuery {
    /// Which.
    pub selection: Selection,
    /// In which order.
    pub order: DeviceOrder,
    /// How many are left out before the page.
    pub offset: usize,
    /// The most of the page.
    pub limit: usize,
}

/// The devices of a user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Fleet {
    /// All of them in a few numbers.
    pub summary: FleetSummary,
    /// The folders right below the one that is asked for, with all devices below each.
    pub folders: Vec<Group>,
    /// How many devices are found.
    pub found: usize,
    /// The page of them.
    pub devices: Vec<FleetDevice>,
}

/// A resource in the database with its poller.
type Row =
    (i64, String, String, Option<String>, String, String, String, Option<i64>, Option<i64>, Option<bool>);

impl Store {
    /// The devices of `owner` in a few numbers, and those that `query` asks for, as they are at the time `now`.
    pub async fn fleet(&self, owner: UserId, query: FleetQuery, now: i64) -> Result<Fleet, Error> {
        let FleetQuery { selection, order, offset, limit } = query;
        let folder = selection.folder.clone();
        let sought = Sought::new(selection)?;
        let all = self.fleet_devices(owner, now).await?;
        let (summary, folders) = (FleetSummary::of(&all), summary::folders(&all, &folder));
        let mut found: Vec<FleetDevice> = all.into_iter().filter(|device| sought.has(device)).collect();
        found.sort_by(|one, other| order.compare(one, other));
        let limit = limit.min(LONGEST_FLEET_PAGE);
        let number = found.len();
        let devices = found.into_iter().skip(offset).take(limit).collect();
        Ok(Fleet { summary, folders, found: number, devices })
    }

    /// All devices of `owner`.
    pub(crate) async fn fleet_devices(&self, owner: UserId, now: i64) -> Result<Vec<FleetDevice>, Error> {
        let rows: Vec<Row> = sqlx::query_as(AssertSqlSafe(format!(
            "SELECT {COLUMNS}, pollers.period, paused FROM {TABLES}
             LEFT JOIN pollers ON pollers.resource = resources.id WHERE owner = $1 ORDER BY resources.id"
        )))
        .bind(owner.0)
        .fetch_all(&self.readers)
        .await?;
        let heard = self.heard(owner, (ResourceId(0), ResourceId(i64::MAX))).await?;
        let alerts: HashMap<i64, i64> = sqlx::query_as(
            "SELECT rules.resource, count(*) FROM alerts JOIN rules ON rules.id = alerts.rule
             WHERE alerts.owner = $1 AND state IN ('open', 'acknowledged') GROUP BY rules.resource",
        )
        .bind(owner.0)
        .fetch_all(&self.readers)
        .await?
        .into_iter()
        .collect();
        let device = |row: Row| {
            let (id, label, mode, identity, description, tags, folder, period, polled, paused) = row;
            let resource = resource((id, label, mode, identity, description, tags, folder, period));
            let heard = heard.get(&resource.id).copied();
            let alerts = alerts.get(&id).copied().unwrap_or_default();
            FleetDevice::new(resource, heard, polled.zip(paused), alerts, now)
        };
        Ok(rows.into_iter().map(device).collect())
    }
}

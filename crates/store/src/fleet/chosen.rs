//! Which devices a change is to concern.

use sqlx::AssertSqlSafe;
use sqlx::sqlite::SqliteConnection;

use super::device::FleetDevice;
use super::selection::{Selection, Sought};
use crate::error::Error;
use crate::ids::{ResourceId, UserId};
use crate::store::Store;

/// The most devices that one change concerns.
pub const MOST_CHOSEN: usize = 10_000;

/// The devices that a change is to concern.
#[derive(Clone, Debug)]
pub enum Chosen {
    /// These.
    Devices(Vec<ResourceId>),
    /// Those that are found so.
    Matching(Selection),
}

impl Store {
    /// The ids of the chosen devices of `owner` that are there, each once.
    pub(super) async fn chosen(
        &self,
        owner: UserId,
        chosen: Chosen,
        now: i64,
    ) -> Result<Vec<ResourceId>, Error> {
        let ids = match chosen {
            Chosen::Devices(mut ids) => {
                ids.sort_unstable();
                ids.dedup();
                check_number(ids.len())?;
                if ids.is_empty() {
                    return Ok(ids);
                }
                let sql = format!("SELECT id FROM resources WHERE owner = $1 AND id IN ({})", list(&ids));
                let ids: Vec<i64> = sqlx::query_scalar(AssertSqlSafe(sql))
                    .bind(owner.0)
                    .persistent(false)
                    .fetch_all(&self.readers)
                    .await?;
                ids.into_iter().map(ResourceId).collect()
            }
            Chosen::Matching(selection) => {
                let sought = Sought::new(selection)?;
                let make = move |all: Vec<FleetDevice>| {
                    all.iter()
                        .filter(|device| sought.has(device))
                        .map(|device| device.resource.id)
                        .collect::<Vec<_>>()
                };
                self.look(owner, now, make).await?
            }
        };
        check_number(ids.len())?;
        Ok(ids)
    }
}

fn check_number(devices: usize) -> Result<(), Error> {
    if devices > MOST_CHOSEN {
        Err(Error::Invalid("a change concerns at most 10000 devices"))
    } else {
        Ok(())
    }
}

/// Ids as SQL has them in brackets. They are numbers, so nothing in them is SQL of its own.
pub(super) fn list(ids: &[ResourceId]) -> String {
    ids.iter().map(|id| id.0.to_string()).collect::<Vec<_>>().join(",")
}

/// The tags of these resources, of those that are there.
pub(super) async fn tags_of(
    connection: &mut SqliteConnection,
    ids: &[ResourceId],
) -> Result<Vec<(i64, String)>, Error> {
    let sql = format!("SELECT id, tags FROM resources WHERE id IN ({})", list(ids));
    Ok(sqlx::query_as(AssertSqlSafe(sql)).persistent(false).fetch_all(connection).await?)
}

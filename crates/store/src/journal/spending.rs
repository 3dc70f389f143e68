//! What users have stored of what their quotas allow, remembered: an append that comes soon after another asks the database for
//! nothing.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use rusqlite::{Connection, OptionalExtension};

use crate::error::Error;
use crate::ids::{ResourceId, UserId};
use crate::quotas::{DAY_MS, OF_USER, Quotas, STREAMS_OF_USER};

/// Resources whose owners are remembered; when there are more, remembering begins anew.
const REMEMBERED: usize = 65_536;

/// What users may store, and what they have stored today.
#[derive(Default)]
pub(super) struct Spending {
    owners: HashMap<ResourceId, UserId>,
    /// Nothing of those without quotas.
    users: HashMap<UserId, Option<Spent>>,
}

struct Spent {
    quotas: Quotas,
    day: i64,
    points: i64,
    /// How many streams there are, once that was looked up.
    streams: Option<i64>,
    /// Whether the database does not know it yet.
    is_new: bool,
}

impl Spending {
    /// Forgets all, as others may have changed it, or what was remembered was not stored.
    pub(super) fn clear(&mut self) {
        self.owners.clear();
        self.users.clear();
    }

    /// Refuses `points` further points of the owner of `resource`, if these are more than the quota of the day of `now`.
    pub(super) fn check_points(
        &mut self,
        connection: &Connection,
        resource: ResourceId,
        points: usize,
        now: i64,
    ) -> Result<(), Error> {
        let Some(spent) = self.of_owner(connection, resource)? else { return Ok(()) };
        let day = now.div_euclid(DAY_MS);
        if spent.day != day {
            (spent.day, spent.points) = (day, 0);
        }
        let most = spent.quotas.points_a_day;
        if spent.points + points as i64 > most {
            return Err(Error::PointsOfDay { most, again_ms: DAY_MS - now.rem_euclid(DAY_MS) });
        }
        Ok(())
    }

    /// Counts points of the owner of `resource` that were not refused.
    pub(super) fn spend(&mut self, resource: ResourceId, points: usize) {
        let owner = self.owners.get(&resource);
        if let Some(Some(spent)) = owner.and_then(|owner| self.users.get_mut(owner)) {
            spent.points += points as i64;
            spent.is_new = true;
        }
    }

    /// Refuses `new` further streams of the owner of `resource`, if these are too many. Else they are counted, as they are made then.
    pub(super) fn check_streams(
        &mut self,
        connection: &Connection,
        resource: ResourceId,
        new: usize,
    ) -> Result<(), Error> {
        if self.of_owner(connection, resource)?.is_none() {
            return Ok(());
        }
        let Some(owner) = self.owners.get(&resource) else { return Ok(()) };
        let Some(Some(spent)) = self.users.get_mut(owner) else { return Ok(()) };
        let streams = match spent.streams {
            Some(streams) => streams,
            None => connection.prepare_cached(STREAMS_OF_USER)?.query_row([owner.0], |row| row.get(0))?,
        };
        let (most, all) = (spent.quotas.streams, streams + new as i64);
        spent.streams = Some(if all > most { streams } else { all });
        if all > most { Err(Error::Quota { what: "streams", most }) } else { Ok(()) }
    }

    /// Enters what was spent since, in the transaction that stores it.
    pub(super) fn write(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        for (owner, spent) in &mut self.users {
            let Some(spent) = spent.as_mut().filter(|spent| spent.is_new) else { continue };
            let sql = "INSERT INTO points_of_day (owner, day, points) VALUES (?1, ?2, ?3)
                       ON CONFLICT (owner) DO UPDATE SET day = excluded.day, points = excluded.points";
            connection.prepare_cached(sql)?.execute((owner.0, spent.day, spent.points))?;
            spent.is_new = false;
        }
        Ok(())
    }

    /// What the owner of `resource` has spent; nothing of one without quotas, and of no resource.
    fn of_owner(
        &mut self,
        connection: &Connection,
        resource: ResourceId,
    ) -> Result<Option<&mut Spent>, Error> {
        let owner = match self.owners.get(&resource) {
            Some(owner) => *owner,
            None => {
                let sql = "SELECT owner FROM resources WHERE id = ?1";
                let owner: Option<i64> =
                    connection.prepare_cached(sql)?.query_row([resource.0], |row| row.get(0)).optional()?;
                let Some(owner) = owner.map(UserId) else { return Ok(None) };
                if self.owners.len() >= REMEMBERED {
                    self.owners.clear();
                }
                self.owners.insert(resource, owner);
                owner
            }
        };
        let spent = match self.users.entry(owner) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => unknown.insert(read(connection, owner)?),
        };
        Ok(spent.as_mut())
    }
}

fn read(connection: &Connection, owner: UserId) -> rusqlite::Result<Option<Spent>> {
    let quotas = connection
        .prepare_cached(OF_USER)?
        .query_row([owner.0], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    let Some(quotas) = quotas.map(Quotas::read) else { return Ok(None) };
    let sql = "SELECT day, points FROM points_of_day WHERE owner = ?1";
    let known = connection.prepare_cached(sql)?.query_row([owner.0], |row| Ok((row.get(0)?, row.get(1)?)));
    let (day, points) = known.optional()?.unwrap_or((0, 0));
    Ok(Some(Spent { quotas, day, points, streams: None, is_new: false }))
}

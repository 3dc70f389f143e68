//! Alerts and what is to be told of them, in the database.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use rusqlite::{Connection, OptionalExtension};
use sixlock_ingest::Value;

use crate::conditions::text;
use crate::error::Error;
use crate::secrets;

/// The most alerts of one user that are remembered after they were cleared; the oldest is forgotten.
pub(crate) const HISTORY: i64 = 1000;
/// The most messages that wait on one channel. The oldest beyond them is dropped, and counted in the next message that is told.
pub(crate) const WAITING: i64 = 100;

/// A reading, or when the clock decided and no value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cause {
    pub(super) time: i64,
    pub(super) value: Option<Value>,
}

impl Cause {
    /// The value as the database has it: a number, or a text.
    fn columns(&self) -> (Option<f64>, Option<&str>) {
        (self.value.as_ref().and_then(Value::number), self.value.as_ref().and_then(text))
    }
}

/// Something that is told on a channel.
struct Announcement {
    rule: i64,
    alert: i64,
    event: &'static str,
    cause: Cause,
}

/// What is told on a channel because of one transaction: the newest of it.
#[derive(Default)]
struct Announcements {
    newest: VecDeque<Announcement>,
    /// How much there was besides, which is not told.
    untold: i64,
}

/// Writes alerts in one transaction.
pub(super) struct AlertRows<'a> {
    connection: &'a Connection,
    now: i64,
    owners: BTreeSet<i64>,
    channels: BTreeMap<i64, Announcements>,
}

impl<'a> AlertRows<'a> {
    pub(super) fn new(connection: &'a Connection, now: i64) -> Self {
        Self { connection, now, owners: BTreeSet::new(), channels: BTreeMap::new() }
    }

    /// Opens an alert of a rule, which is told on all its channels.
    pub(super) fn open(&mut self, rule: i64, cause: &Cause) -> Result<i64, Error> {
        let (number, text) = cause.columns();
        let sql = "INSERT INTO alerts (owner, rule, label, severity, resource, stream, state, opened, opened_value,
                   opened_text, value_type)
                   SELECT rules.owner, rules.id, rules.label, severity, resources.label, streams.label, 'open', ?2, ?3, ?4,
                   coalesce(streams.value_type, 'number') FROM rules JOIN resources ON resources.id = rules.resource
                   LEFT JOIN streams ON streams.id = rules.stream WHERE rules.id = ?1 RETURNING id, owner";
        let (alert, owner) = self
            .connection
            .prepare_cached(sql)?
            .query_row((rule, cause.time, number, text), |row| Ok((row.get(0)?, row.get(1)?)))?;
        self.owners.insert(owner);
        self.tell(rule, alert, "opened", cause)?;
        Ok(alert)
    }

    /// Clears an alert of a rule, unless it is, which is told on all its channels.
    pub(super) fn clear(&mut self, rule: i64, alert: i64, cause: &Cause) -> Result<(), Error> {
        let (number, text) = cause.columns();
        let sql = "UPDATE alerts SET state = 'cleared', cleared = ?2, cleared_value = ?3, cleared_text = ?4
                   WHERE id = ?1 AND state <> 'cleared' RETURNING owner";
        let owner = self
            .connection
            .prepare_cached(sql)?
            .query_row((alert, cause.time, number, text), |row| row.get(0))
            .optional()?;
        if let Some(owner) = owner {
            self.owners.insert(owner);
            self.tell(rule, alert, "cleared", cause)?;
        }
        Ok(())
    }

    /// Counts so many messages on each channel of a rule that are not told.
    pub(super) fn leave_out(&mut self, rule: i64, messages: i64) -> Result<(), Error> {
        for (channel, _) in self.channels_of(rule)? {
            self.channels.entry(channel).or_default().untold += messages;
        }
        Ok(())
    }

    /// The channels of a rule, and whether they may be told something: an address that its owner has not confirmed may not.
    fn channels_of(&self, rule: i64) -> Result<Vec<(i64, bool)>, Error> {
        let sql = "SELECT channel, code IS NULL FROM rule_channels JOIN channels ON channels.id = channel
                   WHERE rule = ?1 ORDER BY channel";
        let mut channels = self.connection.prepare_cached(sql)?;
        let channels = channels.query_map([rule], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(channels.collect::<rusqlite::Result<_>>()?)
    }

    fn tell(&mut self, rule: i64, alert: i64, event: &'static str, cause: &Cause) -> Result<(), Error> {
        for (channel, may_be_told) in self.channels_of(rule)? {
            let Announcements { newest, untold } = self.channels.entry(channel).or_default();
            if !may_be_told {
                *untold += 1;
                continue;
            }
            newest.push_back(Announcement { rule, alert, event, cause: cause.clone() });
            if newest.len() as i64 > WAITING {
                newest.pop_front();
                *untold += 1;
            }
        }
        Ok(())
    }

    /// Puts what is told on a channel into its outbox.
    fn write(&self, channel: i64, newest: &VecDeque<Announcement>) -> Result<(), Error> {
        let sql = "INSERT INTO outbox
                   (message, channel, event, alert, label, severity, resource, stream, unit, value, time, payload, created,
                    value_text, value_type)
                   SELECT ?4, ?5, ?3, alerts.id, alerts.label, alerts.severity, alerts.resource, alerts.stream, unit, ?6, ?7,
                   payload, ?8, ?9, alerts.value_type FROM alerts JOIN rules ON rules.id = ?1 LEFT JOIN streams ON streams.id = rules.stream
                   WHERE alerts.id = ?2";
        let mut insert = self.connection.prepare_cached(sql)?;
        for Announcement { rule, alert, event, cause } in newest {
            let message = secrets::random::<16>()?;
            let (number, text) = cause.columns();
            insert.execute((rule, alert, event, message, channel, number, cause.time, self.now, text))?;
        }
        Ok(())
    }

    /// Puts into the outbox what is told, forgets what there is too much of, and returns whether anything is to be told.
    pub(super) fn finish(mut self) -> Result<bool, Error> {
        let channels = std::mem::take(&mut self.channels);
        for (channel, Announcements { newest, .. }) in &channels {
            self.write(*channel, newest)?;
        }
        let sql = "DELETE FROM alerts WHERE owner = ?1 AND state = 'cleared' AND id <=
                   (SELECT id FROM alerts WHERE owner = ?1 AND state = 'cleared' ORDER BY id DESC LIMIT 1 OFFSET ?2)";
        for owner in &self.owners {
            self.connection.prepare_cached(sql)?.execute((owner, HISTORY))?;
        }
        let sql = "DELETE FROM outbox WHERE channel = ?1 AND failed IS NULL AND id <=
                   (SELECT id FROM outbox WHERE channel = ?1 AND failed IS NULL ORDER BY id DESC LIMIT 1 OFFSET ?2)";
        for (channel, Announcements { untold, .. }) in &channels {
            let dropped = self.connection.prepare_cached(sql)?.execute((channel, WAITING))?;
            let untold = untold + dropped as i64;
            if untold > 0 {
                let sql = "UPDATE channels SET untold = untold + ?2 WHERE id = ?1";
                self.connection.prepare_cached(sql)?.execute((channel, untold))?;
            }
        }
        Ok(channels.values().any(|announcements| !announcements.newest.is_empty()))
    }
}

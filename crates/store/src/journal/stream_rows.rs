//! Which row each stream has, remembered.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension};

use super::spending::Spending;
use crate::error::Error;
use crate::ids::{ResourceId, StreamId};
use crate::left_out::LeftOutReason;
use crate::rollup::hour_of;
use crate::values;
use sixlock_ingest::{Reading, ValueType};

/// The most streams of one resource: a device that invents names cannot fill the disk with them.
pub const STREAMS_PER_RESOURCE: i64 = 64;
/// Streams whose rows are remembered; when there are more, remembering begins anew.
const REMEMBERED: usize = 65_536;

/// The row of a stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct StreamRow {
    pub(super) id: StreamId,
    value_type: ValueType,
    /// How long points are kept, in milliseconds.
    keep: Option<i64>,
    /// None that is older is kept.
    kept_from: Option<i64>,
    is_frozen: bool,
}

impl StreamRow {
    /// Why a reading is left out that arrives at `now`; nothing if it is taken.
    pub(super) fn refusal(&self, reading: &Reading, now: i64) -> Option<LeftOutReason> {
        if self.is_frozen {
            return Some(LeftOutReason::Frozen);
        }
        let kept_from = self.keep.map(|keep| hour_of(now.saturating_sub(keep))).max(self.kept_from);
        if Some(reading.time) < kept_from {
            return Some(LeftOutReason::TooOld);
        }
        LeftOutReason::of_value(self.value_type, &reading.value)
    }
}

/// The rows of streams seen before.
#[derive(Default)]
pub(super) struct StreamRows {
    rows: HashMap<ResourceId, Vec<(String, StreamRow)>>,
    remembered: usize,
    /// What SQLite says when nobody else has written meanwhile.
    version: Option<i64>,
}

impl StreamRows {
    /// Forgets the rows if others may have changed them, and returns whether they may; to be called in each transaction.
    pub(super) fn begin(&mut self, connection: &Connection) -> rusqlite::Result<bool> {
        let version = connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
        let others_wrote = self.version != Some(version);
        if others_wrote {
            self.clear();
            self.version = Some(version);
        }
        Ok(others_wrote)
    }

    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.remembered = 0;
    }

    /// The row of the stream of each reading; streams are made with the first that they can take, within the quota. If that is refused, none is
    /// made. Nothing for a reading that no stream takes, if there is none of its name: it would settle the type of one. A stream that
    /// `is_computed` takes no readings.
    pub(super) fn rows(
        &mut self,
        connection: &Connection,
        resource: ResourceId,
        readings: &[Reading],
        (spending, is_computed): (&mut Spending, impl Fn(StreamId) -> bool),
    ) -> Result<Vec<Option<StreamRow>>, Error> {
        const COMPUTED: Error = Error::Invalid("a stream that is computed takes no readings");
        if let Some(rows) = self.remembered(resource, readings) {
            return if rows.iter().flatten().any(|row| is_computed(row.id)) {
                Err(COMPUTED)
            } else {
                Ok(rows)
            };
        }
        if self.remembered >= REMEMBERED {
            self.clear();
        }
        let sql = "SELECT label, id, keep, kept_from, frozen IS NOT NULL, value_type FROM streams WHERE resource = ?1";
        let mut streams = connection.prepare_cached(sql)?;
        let mut known = streams
            .query_map([resource.0], |row| Ok((row.get(0)?, read((1, row))?)))?
            .collect::<rusqlite::Result<Vec<(String, StreamRow)>>>()?;
        let mut unknown: Vec<&Reading> = Vec::new();
        for reading in readings {
            let is_named = |label: &str| label == reading.stream;
            match known.iter().find(|(label, _)| is_named(label)) {
                Some((_, row)) if is_computed(row.id) => return Err(COMPUTED),
                Some(_) => {}
                None if is_taken_by_none(reading) => {}
                None if unknown.iter().any(|new| is_named(&new.stream)) => {}
                None => unknown.push(reading),
            }
        }
        if (known.len() + unknown.len()) as i64 > STREAMS_PER_RESOURCE {
            return Err(Error::Invalid("a resource has at most 64 streams"));
        }
        if !unknown.is_empty() {
            spending.check_streams(connection, resource, unknown.len())?;
        }
        for reading in unknown {
            known.push((reading.stream.clone(), make(connection, resource, reading)?));
        }
        self.remembered += known.len();
        let replaced = self.rows.insert(resource, known);
        self.remembered -= replaced.map_or(0, |replaced| replaced.len());
        self.remembered(resource, readings).ok_or(Error::Unknown("stream"))
    }

    fn remembered(&self, resource: ResourceId, readings: &[Reading]) -> Option<Vec<Option<StreamRow>>> {
        let rows = self.rows.get(&resource)?;
        let row = |label: &str| rows.iter().find(|(known, _)| known == label).map(|(_, row)| *row);
        let row_of = |reading: &Reading| match row(&reading.stream) {
            None if !is_taken_by_none(reading) => None,
            row => Some(row),
        };
        readings.iter().map(row_of).collect()
    }
}

/// Whether not even a stream of its own type takes a reading.
fn is_taken_by_none(reading: &Reading) -> bool {
    LeftOutReason::of_value(reading.value.value_type(), &reading.value).is_some()
}

/// The row that is told from the column `first` on.
fn read((first, row): (usize, &rusqlite::Row<'_>)) -> rusqlite::Result<StreamRow> {
    Ok(StreamRow {
        id: StreamId(row.get(first)?),
        keep: row.get(first + 1)?,
        kept_from: row.get(first + 2)?,
        is_frozen: row.get(first + 3)?,
        value_type: values::value_type(row.get_ref(first + 4)?.as_str()?),
    })
}

/// Makes the stream of a reading, of the type of its value.
fn make(connection: &Connection, resource: ResourceId, reading: &Reading) -> Result<StreamRow, Error> {
    let Reading { stream, unit, value, .. } = reading;
    let sql = "INSERT INTO streams (resource, label, unit, value_type, keep)
               SELECT id, ?2, ?3, ?4, (SELECT keep FROM retention_of_new_streams) FROM resources WHERE id = ?1
               RETURNING id, keep, kept_from, frozen IS NOT NULL, value_type";
    let made = connection
        .prepare_cached(sql)?
        .query_row((resource.0, stream, unit, value.value_type().name()), |row| read((0, row)))
        .optional()?;
    made.ok_or(Error::Unknown("resource"))
}

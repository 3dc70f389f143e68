//! What has changed since a position, however long that is ago.

use crate::changes::{Change, Changed};
use crate::cursor::Cursor;
use crate::error::Error;
use crate::ids::StreamId;
use crate::store::Store;

impl Store {
    /// Returns which streams have points behind `after`. This asks the database only if that is too long ago to be remembered.
    pub async fn changes_since(&self, after: Cursor) -> Result<Changed, Error> {
        match self.changes.since(after) {
            Some(changed) => Ok(changed),
            None => self.stored_since(after).await,
        }
    }

    async fn stored_since(&self, after: Cursor) -> Result<Changed, Error> {
        let rows: Vec<(i64, i64, i64)> = sqlx::query_as(
            "SELECT stream, min(id), max(id) FROM points WHERE id > $1 GROUP BY stream ORDER BY stream",
        )
        .bind(after.for_journal() as i64)
        .fetch_all(&self.readers)
        .await?;
        let position = |point: i64| Cursor::from_journal(point.unsigned_abs());
        let newest = rows.iter().map(|&(_, _, last)| last).max();
        let change = |(stream, first, last)| Change {
            stream: StreamId(stream),
            first: position(first),
            last: position(last),
        };
        Ok(Changed { upto: newest.map_or(after, position), streams: rows.into_iter().map(change).collect() })
    }
}

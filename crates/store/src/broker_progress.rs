//! How far publishing to a broker has come.

use sqlx::Connection;

use crate::cursor::Cursor;
use crate::error::Error;
use crate::ids::BrokerId;
use crate::store::Store;

/// How far publishing to a broker has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BrokerProgress {
    /// All points up to here were published, or left out.
    pub cursor: Cursor,
    /// Those from there up to here were counted.
    pub counted: Cursor,
    /// So many of these wait.
    pub waiting: u64,
    /// How many points were published since it was made.
    pub published: u64,
    /// How many were left out.
    pub dropped: u64,
    /// When a point was published last, in milliseconds since 1970.
    pub last_published: Option<i64>,
}

/// A [`BrokerProgress`] as the database has it.
pub(crate) type ProgressRow = (i64, i64, i64, i64, i64, Option<i64>);

pub(crate) fn progress(
    (cursor, counted, waiting, published, dropped, last_published): ProgressRow,
) -> BrokerProgress {
    BrokerProgress {
        cursor: Cursor::from_journal(cursor.unsigned_abs()),
        counted: Cursor::from_journal(counted.unsigned_abs()),
        waiting: waiting.unsigned_abs(),
        published: published.unsigned_abs(),
        dropped: dropped.unsigned_abs(),
        last_published,
    }
}

fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

impl Store {
    /// Notes how far brokers have come, with the settings of these revisions. Of one that has others since, nothing is noted.
    pub async fn note_broker_progress(&self, of: &[(BrokerId, i64, BrokerProgress)]) -> Result<(), Error> {
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        for (broker, revision, progress) in of {
            sqlx::query(
                "UPDATE brokers SET cursor = $3, counted = $4, waiting = $5, published = $6, dropped = $7, last_published = $8
                 WHERE id = $1 AND revision = $2",
            )
            .bind(broker.0)
            .bind(revision)
            .bind(number(progress.cursor.for_journal()))
            .bind(number(progress.counted.for_journal()))
            .bind(number(progress.waiting))
            .bind(number(progress.published))
            .bind(number(progress.dropped))
            .bind(progress.last_published)
            .execute(&mut *transaction)
            .await?;
        }
        Ok(transaction.commit().await?)
    }

    /// How far publishing to `broker` had come when that was noted last.
    pub async fn broker_progress(&self, broker: BrokerId) -> Result<BrokerProgress, Error> {
        let row: Option<ProgressRow> = sqlx::query_as(
            "SELECT cursor, counted, waiting, published, dropped, last_published FROM brokers WHERE id = $1",
        )
        .bind(broker.0)
        .fetch_optional(&self.readers)
        .await?;
        row.map(progress).ok_or(Error::Unknown("broker"))
    }
}

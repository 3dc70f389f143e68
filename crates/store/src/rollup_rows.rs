//! Rollups of hours of which points were deleted.

use sqlx::sqlite::SqliteConnection;

use crate::error::Error;
use crate::ids::StreamId;
use crate::rollup::{HOUR_MS, Rollup, hour_of};

/// What writes the rollup of an hour, in place of one that is there: its stream and beginning, and what [`Rollup`] has, in order.
pub(crate) const WRITE: &str = "INSERT INTO rollups VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
     ON CONFLICT (stream, start) DO UPDATE SET count = excluded.count, sum = excluded.sum,
     remainder = excluded.remainder, lowest = excluded.lowest, highest = excluded.highest,
     first_time = excluded.first_time, first_value = excluded.first_value,
     last_time = excluded.last_time, last_value = excluded.last_value";

/// So many points are in memory at a time.
const PART: i64 = 1_000;

/// Makes the rollups of `stream` true again after points were deleted from `from` on, older than `until`: those of whole hours go, and
/// those of the two hours at the ends are made anew. Where the other points of such an hour are not kept any more, it goes, too: what is
/// deleted leaves no trace.
pub(crate) async fn forget(
    connection: &mut SqliteConnection,
    stream: StreamId,
    (from, until): (i64, i64),
) -> Result<(), Error> {
    if from >= until {
        return Ok(());
    }
    // The hours that have a share in the span, from the first to the last.
    let (first, last) = (hour_of(from), hour_of(until.saturating_sub(1)));
    sqlx::query("DELETE FROM rollups WHERE stream = $1 AND start >= $2 AND start <= $3")
        .bind(stream.0)
        .bind(first)
        .bind(last)
        .execute(&mut *connection)
        .await?;
    let ends: Option<(i64, i64)> = sqlx::query_as(
        "SELECT until, coalesce(kept_from, 0) FROM rolled_up JOIN streams ON streams.id = stream WHERE stream = $1",
    )
    .bind(stream.0)
    .fetch_optional(&mut *connection)
    .await?;
    let Some((rolled_up, kept_from)) = ends else { return Ok(()) };
    let mut hours = vec![first, last];
    hours.dedup();
    for start in hours.into_iter().filter(|start| *start >= kept_from) {
        let until = rolled_up.min(start.saturating_add(HOUR_MS));
        if let Some(rollup) = of_points(connection, stream, (start, until)).await? {
            insert(&mut *connection, stream, start, &rollup).await?;
        }
    }
    Ok(())
}

/// What the sorted points of `stream` from `start` on, older than `until`, amount to, if there are any: they are read a part at a time.
async fn of_points(
    connection: &mut SqliteConnection,
    stream: StreamId,
    (start, until): (i64, i64),
) -> Result<Option<Rollup>, Error> {
    let (mut whole, mut behind): (Option<Rollup>, _) = (None, (start, i64::MIN));
    loop {
        let part: Vec<(i64, i64, f64)> = sqlx::query_as(
            "SELECT time, point, value FROM points_by_stream
             WHERE stream = $1 AND (time, point) > ($2, $3) AND time < $4 ORDER BY time, point LIMIT $5",
        )
        .bind(stream.0)
        .bind(behind.0)
        .bind(behind.1)
        .bind(until)
        .bind(PART)
        .fetch_all(&mut *connection)
        .await?;
        let Some(&(time, point, _)) = part.last() else { return Ok(whole) };
        behind = (time, point);
        for rollup in part.into_iter().map(|(time, _, value)| Rollup::of(time, value)) {
            match &mut whole {
                Some(whole) => whole.merge(&rollup),
                None => whole = Some(rollup),
            }
        }
    }
}

async fn insert(
    connection: &mut SqliteConnection,
    stream: StreamId,
    start: i64,
    rollup: &Rollup,
) -> Result<(), Error> {
    let Rollup { count, sum, lowest, highest, first, last } = rollup;
    sqlx::query(WRITE)
        .bind(stream.0)
        .bind(start)
        .bind(count)
        .bind(sum.sum)
        .bind(sum.remainder)
        .bind(lowest)
        .bind(highest)
        .bind(first.0)
        .bind(first.1)
        .bind(last.0)
        .bind(last.1)
        .execute(connection)
        .await?;
    Ok(())
}

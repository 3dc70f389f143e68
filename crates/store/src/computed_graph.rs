//! Which streams rest on each other.

use sqlx::sqlite::SqliteConnection;

use crate::error::Error;
use crate::ids::StreamId;

/// The most streams that one is computed from, also by way of others, and the most that are computed from one.
const MOST: i64 = 64;

/// Checks that the computed stream `stream` is not computed from itself, and that not too much has to do with it: a post is not to
/// cause more work than can be waited for.
pub(crate) async fn check(connection: &mut SqliteConnection, stream: StreamId) -> Result<(), Error> {
    let below: Vec<i64> = sqlx::query_scalar(
        "WITH RECURSIVE below (id) AS (
             SELECT stream FROM computed_inputs WHERE computed = $1 AND stream IS NOT NULL
             UNION
             SELECT stream FROM computed_inputs JOIN below ON computed = below.id WHERE stream IS NOT NULL
         )
         SELECT id FROM below",
    )
    .bind(stream.0)
    .fetch_all(&mut *connection)
    .await?;
    if below.contains(&stream.0) {
        return Err(Error::Cycle);
    }
    if below.len() as i64 > MOST {
        return Err(Error::Full("a stream is computed from at most 64 others, also by way of others"));
    }
    for input in below {
        let above: i64 = sqlx::query_scalar(
            "WITH RECURSIVE above (id) AS (
                 SELECT computed FROM computed_inputs WHERE stream = $1
                 UNION
                 SELECT computed FROM computed_inputs JOIN above ON stream = above.id
             )
             SELECT count(*) FROM above",
        )
        .bind(input)
        .fetch_one(&mut *connection)
        .await?;
        if above > MOST {
            return Err(Error::Full("at most 64 streams are computed from one, also by way of others"));
        }
    }
    Ok(())
}

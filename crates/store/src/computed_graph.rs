//! Which streams rest on each other.

use sqlx::sqlite::SqliteConnection;

use crate::error::Error;
use crate::ids::StreamId;

/// The most streams that one is computed from, also by way of others, and the most that are computed from one.
const MOST: usize = 64;

/// The streams that one is computed from.
const BELOW: &str = "WITH RECURSIVE below (id) AS (
         SELECT stream FROM computed_inputs WHERE computed = $1 AND stream IS NOT NULL
         UNION
         SELECT stream FROM computed_inputs JOIN below ON computed = below.id WHERE stream IS NOT NULL
     )
     SELECT id FROM below";

/// The streams that are computed from one.
const ABOVE: &str = "WITH RECURSIVE above (id) AS (
         SELECT computed FROM computed_inputs WHERE stream = $1
         UNION
         SELECT computed FROM computed_inputs JOIN above ON stream = above.id
     )
     SELECT id FROM above";

/// Checks that the computed stream `stream` is not computed from itself, and that not too much has to do with it: a post is not to
/// cause more work than can be waited for.
pub(crate) async fn check(connection: &mut SqliteConnection, stream: StreamId) -> Result<(), Error> {
    let below = find(&mut *connection, BELOW, stream.0).await?;
    if below.contains(&stream.0) {
        return Err(Error::Cycle);
    }
    let mut above = find(&mut *connection, ABOVE, stream.0).await?;
    above.push(stream.0);
    for computed in above {
        if find(&mut *connection, BELOW, computed).await?.len() > MOST {
            return Err(Error::Full("a stream is computed from at most 64 others, also by way of others"));
        }
    }
    for input in below {
        if find(&mut *connection, ABOVE, input).await?.len() > MOST {
            return Err(Error::Full("at most 64 streams are computed from one, also by way of others"));
        }
    }
    Ok(())
}

async fn find(connection: &mut SqliteConnection, sql: &'static str, id: i64) -> Result<Vec<i64>, Error> {
    Ok(sqlx::query_scalar(sql).bind(id).fetch_all(connection).await?)
}

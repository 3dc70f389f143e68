//! What the database holds.

use std::collections::HashMap;
use std::path::Path;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, Row};

/// A post of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Post {
    /// Which device, in the order they were enrolled.
    pub device: usize,
    /// Which of its posts.
    pub number: u32,
}

/// The posts in the database of the data folder `data`, and how many readings of each.
///
/// # Errors
/// What SQLite says.
pub fn posts(data: &Path) -> Result<HashMap<Post, u32>, sqlx::Error> {
    tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
        let options = SqliteConnectOptions::new().filename(data.join("sixlock.db"));
        let mut connection = options.connect().await?;
        let sql = "SELECT resources.label, points.value, count(*) FROM points
                   JOIN streams ON streams.id = points.stream JOIN resources ON resources.id = streams.resource
                   GROUP BY resources.label, points.value";
        let mut posts = HashMap::new();
        for row in sqlx::query(sql).fetch_all(&mut connection).await? {
            let (label, number, readings): (String, f64, i64) =
                (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
            if let Some(device) = label.strip_prefix(crate::cloud::LABEL).and_then(|n| n.parse().ok()) {
                posts.insert(Post { device, number: number as u32 }, readings as u32);
            }
        }
        connection.close().await?;
        Ok(posts)
    })
}

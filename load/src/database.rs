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

/// How many posts the tale of differences names.
const NAMED: usize = 10;

/// How `stored` differs from each acknowledged post with each of its `readings` once; nothing if it does not.
pub fn differences(acknowledged: &[Post], stored: &HashMap<Post, u32>, readings: u32) -> Option<String> {
    let expected: HashMap<Post, u32> = acknowledged.iter().map(|&post| (post, readings)).collect();
    let differ = |post: &&Post| expected.get(post) != stored.get(post);
    let mut posts: Vec<&Post> = expected.keys().chain(stored.keys()).filter(differ).collect();
    posts.sort();
    posts.dedup();
    if posts.is_empty() {
        return None;
    }
    let mut tale = format!("{} of {} posts:", posts.len(), expected.len());
    for post in posts.into_iter().take(NAMED) {
        let what = match (expected.get(post), stored.get(post)) {
            (Some(_), None) => "was acknowledged, but is not stored".to_owned(),
            (None, _) => "is stored, but was never acknowledged".to_owned(),
            (Some(expected), Some(stored)) => format!("has {expected} readings, and {stored} are stored"),
        };
        tale += &format!("\npost {} of device {} {what}", post.number, post.device);
    }
    Some(tale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_and_what_is_too_many_are_both_told() {
        let [a, b, c, d] = [1, 2, 3, 4].map(|number| Post { device: 0, number });
        let stored = HashMap::from([(a, 3), (b, 6), (d, 3)]);
        let expected = "3 of 3 posts:\n\
            post 2 of device 0 has 3 readings, and 6 are stored\n\
            post 3 of device 0 was acknowledged, but is not stored\n\
            post 4 of device 0 is stored, but was never acknowledged";
        assert_eq!(differences(&[a, b, c], &stored, 3).as_deref(), Some(expected));
        assert_eq!(differences(&[a], &HashMap::from([(a, 3)]), 3), None);
    }
}

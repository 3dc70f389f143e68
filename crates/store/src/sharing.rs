//! Streams that others than their owners may read: whom a stream is shared with, and how it is found.

use std::collections::HashMap;

use serde::Serialize;
use sixlock_ingest::ValueType;
use sqlx::AssertSqlSafe;
use sqlx::sqlite::SqliteConnection;
use utoipa::ToSchema;

use crate::error::Error;
use crate::ids::{Listing, ResourceId, StreamId, UserId};
use crate::names::Reference;
use crate::search_words::{self, words};
use crate::store::Store;
use crate::tags;
use crate::values;

/// The most streams of one user that others find.
const OF_USER: i64 = 1_000;
/// The most streams that are found, of all users.
const ALL: i64 = 100_000;
/// The most words that streams are looked for by at a time.
const WORDS: usize = 4;
/// The most words that are looked through for those that begin as one of these.
const LOOKED_THROUGH: i64 = 100_000;

/// The columns of what others are told of a stream.
pub(crate) const SHARED: &str =
    "streams.id, streams.label, streams.unit, streams.description, streams.value_type,
    resources.label AS device, users.name AS owner,
    CASE WHEN streams.public_search THEN resources.tags ELSE '' END AS tags";
/// The tables that have them.
pub(crate) const TABLES: &str = "streams JOIN resources ON resources.id = streams.resource
    JOIN users ON users.id = resources.owner";

/// Whom a stream is shared with. Nobody, unless its owner says otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct Sharing {
    /// Whether anyone may read the stream, also without signing in.
    pub public_access: bool,
    /// Whether whoever looks for streams finds it. Then anyone may read it.
    pub public_search: bool,
}

/// What others than its owner are told of a stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct SharedStream {
    /// The row.
    pub id: StreamId,
    /// The label, unique in its device.
    pub label: String,
    /// The unit, if one is stated.
    pub unit: Option<String>,
    /// What its owner says about it.
    pub description: String,
    /// What its values are: `number`, `text` or `boolean`.
    #[schema(schema_with = values::type_schema)]
    pub value_type: ValueType,
    /// The label of the device.
    pub device: String,
    /// The user name of its owner.
    pub owner: String,
    /// The tags of the device, if the stream is public to find.
    pub tags: Vec<String>,
}

/// A stream that somebody wants to read, and on what it depends whether they may.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedStream {
    /// Whose it is.
    pub owner: UserId,
    /// The resource that it belongs to.
    pub resource: ResourceId,
    /// Whether anyone may read it.
    pub is_public: bool,
    /// What others are told of it.
    pub stream: SharedStream,
}

impl Sharing {
    /// This, with what is given changed.
    pub(crate) fn changed(
        self,
        public_access: Option<bool>,
        public_search: Option<bool>,
    ) -> Result<Self, Error> {
        let public_access = public_access.unwrap_or(self.public_access);
        if public_search == Some(true) && !public_access {
            return Err(Error::Invalid(
                "public_search needs public_access: who finds a stream is to read it",
            ));
        }
        let public_search = public_access && public_search.unwrap_or(self.public_search);
        Ok(Self { public_access, public_search })
    }
}

pub(crate) type SharedRow = (i64, String, Option<String>, String, String, String, String, String);

/// The same, and the ids of whose it is and of the resource, and whether it is public.
type WantedRow = (i64, String, Option<String>, String, String, String, String, String, i64, i64, bool);

pub(crate) fn shared(
    (id, label, unit, description, value_type, device, owner, tags): SharedRow,
) -> SharedStream {
    let (value_type, tags) = (values::value_type(&value_type), tags::read(&tags));
    SharedStream { id: StreamId(id), label, unit, description, value_type, device, owner, tags }
}

impl Store {
    /// Whom the streams of `resource` are shared with; those that are not there are shared with nobody.
    pub async fn sharing(&self, resource: ResourceId) -> Result<HashMap<StreamId, Sharing>, Error> {
        let rows: Vec<(i64, bool, bool)> = sqlx::query_as(
            "SELECT id, public_access, public_search FROM streams WHERE resource = $1 AND public_access",
        )
        .bind(resource.0)
        .fetch_all(&self.readers)
        .await?;
        let sharing =
            |(id, public_access, public_search)| (StreamId(id), Sharing { public_access, public_search });
        Ok(rows.into_iter().map(sharing).collect())
    }

    /// The stream of this id, whosever it is. Whoever asks for it may have to be told that there is none.
    pub async fn wanted_stream(&self, id: &str) -> Result<Option<WantedStream>, Error> {
        let row: Option<WantedRow> = sqlx::query_as(AssertSqlSafe(format!(
            "SELECT {SHARED}, resources.owner AS owner_id, streams.resource, streams.public_access
             FROM {TABLES} WHERE streams.id = $1"
        )))
        .bind(Reference::read(id).id())
        .fetch_optional(&self.readers)
        .await?;
        let wanted = |row: WantedRow| {
            let (
                id,
                label,
                unit,
                description,
                value_type,
                device,
                username,
                tags,
                owner,
                resource,
                is_public,
            ) = row;
            let stream = shared((id, label, unit, description, value_type, device, username, tags));
            WantedStream { owner: UserId(owner), resource: ResourceId(resource), is_public, stream }
        };
        Ok(row.map(wanted))
    }

    /// Whether anyone may read `stream`.
    pub async fn is_public(&self, stream: StreamId) -> Result<bool, Error> {
        let row: Option<i64> = sqlx::query_scalar("SELECT 1 FROM streams WHERE id = $1 AND public_access")
            .bind(stream.0)
            .fetch_optional(&self.readers)
            .await?;
        Ok(row.is_some())
    }

    /// The streams that others find by the words in `text`, or without any all of them, of devices that have the tag `tag` if there is
    /// one: a page of them in the order of their ids.
    ///
    /// A stream is found if each word of the text begins one of its label, its description, the label and the tags of its device or its
    /// owner's user name. Of words that more begin with than are looked through, the first in the order of the alphabet count.
    pub async fn find_streams(
        &self,
        text: &str,
        tag: Option<&str>,
        listing: Listing,
    ) -> Result<Vec<SharedStream>, Error> {
        let words = words(text);
        if words.is_empty() && !text.trim().is_empty() {
            return Err(Error::Invalid("search has no letter and no digit"));
        }
        if words.len() > WORDS {
            return Err(Error::Invalid("search has at most 4 different words"));
        }
        let tag = tag.map(tags::tag).transpose()?;
        // Few words begin as a long one does.
        let mut words: Vec<_> = words.into_iter().collect();
        words.sort_by_key(|word| std::cmp::Reverse(word.len()));
        let ranges = tag.iter().map(|tag| search_words::tag_range(tag));
        let ranges: Vec<_> = ranges.chain(words.iter().map(|word| search_words::range(word))).collect();
        let sql = found_sql(ranges.len());
        let mut query =
            sqlx::query_as::<_, SharedRow>(AssertSqlSafe(sql)).bind(listing.after).bind(listing.limit);
        for (from, until) in ranges {
            query = query.bind(from).bind(until);
        }
        let rows = query.fetch_all(&self.readers).await?;
        Ok(rows.into_iter().map(shared).collect())
    }

    /// Of the streams that `user` follows, those that the user may read: public ones, the user's own, and those of groups.
    pub(crate) async fn followed_that_are_shared(
        &self,
        user: UserId,
    ) -> Result<HashMap<StreamId, SharedStream>, Error> {
        let rows: Vec<SharedRow> = sqlx::query_as(AssertSqlSafe(format!(
            "SELECT {SHARED} FROM {TABLES}
             WHERE streams.id IN (SELECT stream FROM followed_streams WHERE owner = $1)
             AND (streams.public_access OR resources.owner = $1
                  OR EXISTS (SELECT 1 FROM given_streams WHERE member = $1 AND stream = streams.id))"
        )))
        .bind(user.0)
        .fetch_all(&self.readers)
        .await?;
        Ok(rows.into_iter().map(shared).map(|stream| (stream.id, stream)).collect())
    }
}

/// The query for the streams behind `$1`, at most `$2`, that as many ranges of words find, each of two further parameters.
fn found_sql(ranges: usize) -> String {
    let page = match ranges {
        0 => {
            "SELECT id AS stream FROM streams WHERE public_search AND id > $1 ORDER BY id LIMIT $2".to_owned()
        }
        ranges => {
            let others = (1..ranges).map(|n| {
                format!(
                    " AND EXISTS (SELECT 1 FROM search_words
                     WHERE stream = begun.stream AND word >= ${} AND word < ${})",
                    3 + 2 * n,
                    4 + 2 * n
                )
            });
            format!(
                "SELECT stream FROM (SELECT DISTINCT stream FROM
                 (SELECT stream FROM search_words WHERE word >= $3 AND word < $4 ORDER BY word, stream
                  LIMIT {LOOKED_THROUGH}) AS looked_through) AS begun
                 WHERE stream > $1{} ORDER BY stream LIMIT $2",
                others.collect::<String>()
            )
        }
    };
    format!(
        "SELECT {SHARED} FROM ({page}) AS page JOIN streams ON streams.id = page.stream
         JOIN resources ON resources.id = streams.resource JOIN users ON users.id = resources.owner ORDER BY streams.id"
    )
}

/// Refuses a further stream that is to be found, of whoever has the stream `id`, if that is one too many.
pub(crate) async fn check_found(connection: &mut SqliteConnection, id: StreamId) -> Result<(), Error> {
    let (all, own): (i64, i64) = sqlx::query_as(
        "SELECT (SELECT count(*) FROM streams WHERE public_search),
         (SELECT count(*) FROM streams JOIN resources ON resources.id = streams.resource
          WHERE public_search AND owner = (SELECT owner FROM streams JOIN resources
              ON resources.id = streams.resource WHERE streams.id = $1))",
    )
    .bind(id.0)
    .fetch_one(connection)
    .await?;
    match (own >= OF_USER, all >= ALL) {
        (true, _) => Err(Error::Full("others find at most 1000 streams of a user")),
        (_, true) => Err(Error::Full("at most 100000 streams of all users are found")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::{Device, ResourceChange};
    use crate::streams::StreamChange;

    const FOUND: StreamChange<'_> =
        StreamChange { unit: None, description: None, public_access: Some(true), public_search: Some(true) };
    const PRIVATE: StreamChange<'_> =
        StreamChange { unit: None, description: None, public_access: Some(false), public_search: None };

    async fn find(store: &Store, text: &str) -> Vec<i64> {
        let listing = Listing { limit: 100, after: 0 };
        store.find_streams(text, None, listing).await.unwrap().into_iter().map(|stream| stream.id.0).collect()
    }

    #[tokio::test]
    async fn a_stream_is_found_by_the_beginnings_of_its_words_while_its_owner_lets_it_be() {
        let directory = tempfile::tempdir().unwrap();
        let (store, _writer) = Store::open(directory.path()).await.unwrap();
        let ann = store.add_user("ann", "", "long enough".into(), false).await.unwrap().id;
        let node = store.add_resource(ann, Device::named("Greenhouse 7")).await.unwrap().resource.id;
        let mut ids = Vec::new();
        for (label, description) in [("air-temperature", "Above the tomatoes"), ("humidity", "")] {
            ids.push(
                store
                    .add_stream(node, (label, Some("Cel"), description), ValueType::Number)
                    .await
                    .unwrap()
                    .id,
            );
        }
        assert_eq!(find(&store, "").await, [0; 0], "nothing is public that nobody has made so");
        let refused = store.change_stream(
            ids[0],
            StreamChange { public_search: Some(true), ..Default::default() },
            None,
        );
        assert!(matches!(refused.await, Err(Error::Invalid(_))));
        for id in &ids {
            store.change_stream(*id, FOUND, None).await.unwrap();
        }
        let [air, humidity] = [ids[0].0, ids[1].0];
        for (text, found) in [
            ("", vec![air, humidity]),
            ("temp", vec![air]),
            ("TOMAT", vec![air]),
            ("ann", vec![air, humidity]),
            ("green 7 ann", vec![air, humidity]),
            ("green hum", vec![humidity]),
            ("green hum temp", vec![]),
            ("omat", vec![]),
            ("%", vec![]),
            ("cel", vec![]),
        ] {
            if text == "%" {
                let refused = store.find_streams(text, None, Listing { limit: 1, after: 0 }).await;
                assert!(matches!(refused, Err(Error::Invalid(_))));
                continue;
            }
            assert_eq!(find(&store, text).await, found, "{text}");
        }
        let too_many = store.find_streams("a b c d e", None, Listing { limit: 1, after: 0 }).await;
        assert!(matches!(too_many, Err(Error::Invalid(_))));

        // What is changed is found as it is now.
        let change = StreamChange { description: Some("Below the melons"), ..Default::default() };
        store.change_stream(ids[0], change, None).await.unwrap();
        store
            .change_resource(node, ResourceChange { label: Some("Shed"), ..Default::default() }, None)
            .await
            .unwrap();
        assert_eq!(find(&store, "tomatoes").await, [0; 0]);
        assert_eq!(find(&store, "greenhouse").await, [0; 0]);
        assert_eq!(find(&store, "shed melons").await, [air]);
        // Who takes away that it is public takes away that it is found.
        let changed = store.change_stream(ids[0], PRIVATE, None).await.unwrap();
        assert_eq!(changed.sharing, Sharing::default());
        assert_eq!(find(&store, "shed").await, [humidity]);
        store.delete_stream(ids[1]).await.unwrap();
        assert_eq!(find(&store, "").await, [0; 0]);
        let left: i64 =
            sqlx::query_scalar("SELECT count(*) FROM search_words").fetch_one(&store.readers).await.unwrap();
        assert_eq!(left, 0);
    }

    #[tokio::test]
    async fn a_stream_is_found_by_the_tags_of_its_device_as_they_are_now() {
        let directory = tempfile::tempdir().unwrap();
        let (store, _writer) = Store::open(directory.path()).await.unwrap();
        let ann = store.add_user("ann", "", "long enough".into(), false).await.unwrap().id;
        let tagged = Device { tags: vec!["Wind Farm".into()], ..Device::named("mast") };
        let node = store.add_resource(ann, tagged).await.unwrap().resource.id;
        let stream = store.add_stream(node, ("speed", None, ""), ValueType::Number).await.unwrap().id;
        let by_tag = async |tag: &str| {
            let listing = Listing { limit: 100, after: 0 };
            let found = store.find_streams("", Some(tag), listing).await.unwrap();
            found.into_iter().map(|stream| stream.tags).collect::<Vec<_>>()
        };
        assert_eq!(by_tag("wind farm").await, [[""; 0]; 0]);
        let readable = StreamChange { public_access: Some(true), ..Default::default() };
        store.change_stream(stream, readable, None).await.unwrap();
        let id = stream.0.to_string();
        let wanted = async || store.wanted_stream(&id).await.unwrap().unwrap().stream.tags;
        assert_eq!((by_tag("wind farm").await.len(), wanted().await), (0, vec![]), "it is not to be found");
        store.change_stream(stream, FOUND, None).await.unwrap();
        assert_eq!(
            (by_tag("Wind farm").await, wanted().await),
            (vec![vec!["wind farm".into()]], vec!["wind farm".to_owned()])
        );
        assert_eq!((by_tag("wind").await.len(), find(&store, "farm").await), (0, vec![stream.0]));
        let all = crate::Chosen::Matching(crate::Selection::default());
        let change = crate::FleetChange::Tag(vec!["north".into()]);
        let written = async || {
            let sql = "SELECT total_changes()";
            sqlx::query_scalar::<_, i64>(sql).fetch_one(&mut *store.writer.lock().await).await.unwrap()
        };
        let before = written().await;
        store.change_fleet(ann, (all, Some(1)), change, 0).await.unwrap();
        assert_eq!(written().await - before, 3, "the device, the tag and its word: the other words stay");
        assert_eq!((by_tag("north").await.len(), by_tag("wind farm").await.len()), (1, 1));
        let change = ResourceChange { tags: Some(&[]), ..Default::default() };
        store.change_resource(node, change, None).await.unwrap();
        assert_eq!((by_tag("north").await.len(), find(&store, "farm").await), (0, vec![]));
    }

    /// Makes `count` streams that are found by "temperature", and every hundredth by "rare".
    async fn many(store: &Store, count: i64) {
        let ann = store.add_user("ann", "", "long enough".into(), false).await.unwrap().id;
        let node = store.add_resource(ann, Device::named("node")).await.unwrap().resource.id;
        let mut writer = store.writer.lock().await;
        for sql in [
            "INSERT INTO streams (resource, label, public_access, public_search) SELECT $1, 'n' || n, TRUE, TRUE FROM numbers",
            "INSERT INTO search_words SELECT id, CAST('temperature' AS BLOB) FROM streams WHERE resource = $1 AND public_search",
            "INSERT INTO search_words SELECT id, CAST('rare' AS BLOB) FROM streams WHERE resource = $1 AND id % 100 = 0",
        ] {
            let sql = format!(
                "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {count}) {sql}"
            );
            sqlx::query(AssertSqlSafe(sql)).bind(node.0).execute(&mut *writer).await.unwrap();
        }
    }

    #[tokio::test]
    async fn thirty_thousand_streams_come_in_pages_of_a_stable_order() {
        let directory = tempfile::tempdir().unwrap();
        let (store, _writer) = Store::open(directory.path()).await.unwrap();
        many(&store, 30_000).await;
        for (text, expected) in
            [("", 30_000), ("temp", 30_000), ("rare", 300), ("temp rar", 300), ("temp n", 0)]
        {
            let (mut found, mut after) = (Vec::new(), 0);
            loop {
                let page = store.find_streams(text, None, Listing { limit: 1_000, after }).await.unwrap();
                let Some(last) = page.last() else { break };
                after = last.id.0;
                found.extend(page.into_iter().map(|stream| stream.id.0));
            }
            assert!(found.is_sorted(), "{text}");
            assert_eq!(found.len(), expected, "{text}");
        }
    }

    #[tokio::test]
    async fn streams_are_found_by_index() {
        let directory = tempfile::tempdir().unwrap();
        let (store, _writer) = Store::open(directory.path()).await.unwrap();
        for words in 0..=WORDS {
            let sql = AssertSqlSafe(format!("EXPLAIN QUERY PLAN {}", found_sql(words)));
            let plan: Vec<(i64, i64, i64, String)> =
                sqlx::query_as(sql).fetch_all(&store.readers).await.unwrap();
            let steps: Vec<&str> = plan.iter().map(|(.., step)| &**step).collect();
            let scans = |table: &str| steps.iter().any(|step| step.starts_with(&format!("SCAN {table}")));
            assert!(!["streams", "search_words", "resources", "users"].into_iter().any(scans), "{steps:?}");
        }
    }

    #[tokio::test]
    async fn others_find_so_many_streams_of_a_user_and_no_more() {
        let directory = tempfile::tempdir().unwrap();
        let (store, _writer) = Store::open(directory.path()).await.unwrap();
        many(&store, OF_USER).await;
        let bob = store.add_user("bob", "", "long enough".into(), false).await.unwrap().id;
        for (owner, fits) in [("ann", false), ("bob", true)] {
            let device = Device::named(format!("shed of {owner}"));
            let owner = if owner == "bob" { bob } else { store.user(owner).await.unwrap().unwrap().id };
            let shed = store.add_resource(owner, device).await.unwrap().resource.id;
            let stream = store.add_stream(shed, ("t", None, ""), ValueType::Number).await.unwrap().id;
            let public = StreamChange { public_access: Some(true), ..Default::default() };
            store.change_stream(stream, public, None).await.unwrap();
            let found = store.change_stream(stream, FOUND, None).await;
            assert_eq!(found.is_ok(), fits, "{found:?}");
        }
    }
}

//! What happened to each resource, for whoever has it: the newest of it. The same again within an hour is one row, which says how often.
//!
//! What strangers do has rows of its own, which push out no others.

use std::collections::{HashMap, HashSet};

use serde::Serialize;
use sixlock_telemetry::{LogEntry, LogSubject};
use sqlx::{AssertSqlSafe, Connection, SqliteConnection};
use utoipa::ToSchema;

use crate::error::Error;
use crate::ids::ResourceId;
use crate::rollup::HOUR_MS;
use crate::store::Store;

/// The most rows of what happened to a resource's device, of what people did to it, and of what strangers did. The oldest go.
const MOST: i64 = 100;
const MOST_ACTIONS: i64 = 50;
const MOST_OF_STRANGERS: i64 = 20;

/// Something that happened to a resource, once or several times.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct LogLine {
    /// What happened, in one word of a fixed list
    pub kind: String,
    /// More about it, in words; empty if there is no more
    pub detail: String,
    /// Whether whoever did it has not proved that they may: anybody can have done it
    pub stranger: bool,
    /// When it happened first, in milliseconds since 1970
    pub first: i64,
    /// When it happened last; what happens again more than an hour later is another line
    pub last: i64,
    /// How often it happened
    pub count: i64,
}

impl Store {
    /// What happened to a resource, the newest first: at most 100 lines of the device, 50 of what people did, and 20 of strangers.
    pub async fn resource_log(&self, resource: ResourceId) -> Result<Vec<LogLine>, Error> {
        let rows = sqlx::query_as(
            "SELECT kind, detail, stranger, first, last, count FROM resource_logs WHERE resource = $1
             ORDER BY last DESC, id DESC",
        );
        let rows: Vec<(String, String, bool, i64, i64, i64)> =
            rows.bind(resource.0).fetch_all(&self.readers).await?;
        let line = |(kind, detail, stranger, first, last, count)| LogLine {
            kind,
            detail,
            stranger,
            first,
            last,
            count,
        };
        Ok(rows.into_iter().map(line).collect())
    }

    /// Enters what happened in the logs of the resources, in one commit. What is about none that there is goes nowhere.
    pub async fn note_in_logs(&self, entries: &[LogEntry]) -> Result<(), Error> {
        // Asked first, so that what is about none does not take the writer from readings.
        let (ids, of_identities) = self.resources_of(entries).await?;
        let of = |entry: &LogEntry| match &entry.subject {
            LogSubject::Resource(resource) => Some(*resource).filter(|resource| ids.contains(resource)),
            LogSubject::Identity(identity) => of_identities.get(identity).copied(),
        };
        let known: Vec<_> = entries.iter().filter_map(|entry| Some((of(entry)?, entry))).collect();
        if known.is_empty() {
            return Ok(());
        }
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        for (resource, entry) in known {
            note(&mut transaction, resource, entry).await?;
        }
        transaction.commit().await?;
        Ok(())
    }

    /// Those of the resources in `entries` that there are, and the resources of the identities in them.
    async fn resources_of(
        &self,
        entries: &[LogEntry],
    ) -> Result<(HashSet<i64>, HashMap<String, i64>), Error> {
        let (mut ids, mut identities) = (Vec::new(), Vec::new());
        for entry in entries {
            match &entry.subject {
                LogSubject::Resource(resource) => ids.push(*resource),
                LogSubject::Identity(identity) => identities.push(identity),
            }
        }
        let sql = format!("SELECT id FROM resources WHERE id IN ({})", places(ids.len()));
        let mut query = sqlx::query_scalar(AssertSqlSafe(sql));
        for id in ids {
            query = query.bind(id);
        }
        let ids: Vec<i64> = query.fetch_all(&self.readers).await?;
        let sql = format!(
            "SELECT identity, resource FROM credentials WHERE resource IS NOT NULL AND identity IN ({})",
            places(identities.len())
        );
        let mut query = sqlx::query_as(AssertSqlSafe(sql));
        for identity in identities {
            query = query.bind(identity);
        }
        let identities: Vec<(String, i64)> = query.fetch_all(&self.readers).await?;
        Ok((ids.into_iter().collect(), identities.into_iter().collect()))
    }
}

/// Places for so many values in SQL.
fn places(count: usize) -> String {
    (1..=count).map(|number| format!("${number}")).collect::<Vec<_>>().join(", ")
}

async fn note(connection: &mut SqliteConnection, resource: i64, entry: &LogEntry) -> Result<(), Error> {
    let LogEntry { kind, detail, stranger, action, first, last, count, .. } = entry;
    let count = i64::try_from(*count).unwrap_or(i64::MAX);
    let again = sqlx::query(
        "UPDATE resource_logs SET last = CASE WHEN last > $6 THEN last ELSE $6 END, count = count + $7 WHERE id =
         (SELECT id FROM resource_logs WHERE resource = $1 AND stranger = $4 AND last >= $5 AND kind = $2 AND detail = $3
         ORDER BY last DESC LIMIT 1)",
    )
    .bind(resource)
    .bind(kind)
    .bind(detail)
    .bind(stranger)
    .bind(first.saturating_sub(HOUR_MS))
    .bind(last)
    .bind(count)
    .execute(&mut *connection)
    .await?;
    if again.rows_affected() > 0 {
        return Ok(());
    }
    let added = sqlx::query(
        "INSERT INTO resource_logs (resource, kind, detail, stranger, action, first, last, count)
         SELECT id, $2, $3, $4, $8, $5, $6, $7 FROM resources WHERE id = $1",
    )
    .bind(resource)
    .bind(kind)
    .bind(detail)
    .bind(stranger)
    .bind(first)
    .bind(last)
    .bind(count)
    .bind(action)
    .execute(&mut *connection)
    .await?;
    if added.rows_affected() == 0 {
        return Ok(());
    }
    let most = match (stranger, action) {
        (true, _) => MOST_OF_STRANGERS,
        (false, true) => MOST_ACTIONS,
        (false, false) => MOST,
    };
    sqlx::query(
        "DELETE FROM resource_logs WHERE id IN (SELECT id FROM resource_logs WHERE resource = $1 AND stranger = $2 AND action = $5
         ORDER BY last DESC, id DESC LIMIT $3 OFFSET $4)",
    )
    .bind(resource)
    .bind(stranger)
    .bind(MOST)
    .bind(most)
    .bind(action)
    .execute(connection)
    .await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::Device;

    fn entry(subject: LogSubject, kind: &'static str, stranger: bool, at: i64) -> LogEntry {
        LogEntry {
            subject,
            kind,
            detail: String::new(),
            stranger,
            action: false,
            first: at,
            last: at,
            count: 1,
        }
    }

    fn identity(name: &str) -> LogSubject {
        LogSubject::Identity(name.into())
    }

    async fn kinds(store: &Store, resource: ResourceId) -> Vec<(String, bool, i64, i64, i64)> {
        let lines = store.resource_log(resource).await.unwrap().into_iter();
        lines.map(|line| (line.kind, line.stranger, line.first, line.last, line.count)).collect()
    }

    #[tokio::test]
    async fn a_log_keeps_the_newest_and_what_strangers_do_pushes_out_nothing_else_and_reaches_no_other() {
        let directory = tempfile::tempdir().unwrap();
        let (store, _writer) = Store::open(directory.path()).await.unwrap();
        let ann = store.add_user("ann", "", "a long password".into(), false).await.unwrap().id;
        let add = async |label: &str| {
            let device = Device { identity: Some(format!("identity of {label}")), ..Device::named(label) };
            store.add_resource(ann, device).await.unwrap().resource.id
        };
        let (node, other) = (add("node").await, add("other").await);
        let subject = LogSubject::Resource(node.0);
        // The same within an hour of the last one is one line, and later another.
        let failed = |at| entry(subject.clone(), "poll_failed", false, at);
        store.note_in_logs(&[failed(0), failed(HOUR_MS), failed(2 * HOUR_MS)]).await.unwrap();
        store.note_in_logs(&[failed(3 * HOUR_MS + 1)]).await.unwrap();
        let line = |first, last, count| ("poll_failed".to_owned(), false, first, last, count);
        let expected = [line(3 * HOUR_MS + 1, 3 * HOUR_MS + 1, 1), line(0, 2 * HOUR_MS, 3)];
        assert_eq!(kinds(&store, node).await, expected);
        // An identity that nobody has, and a resource that is gone, are no trouble.
        let stranger = |at| entry(identity("identity of node"), "handshake_failed", true, at);
        store
            .note_in_logs(&[
                entry(identity("nobody's"), "handshake_failed", true, 0),
                entry(LogSubject::Resource(4711), "poll_failed", false, 0),
                stranger(4 * HOUR_MS),
            ])
            .await
            .unwrap();
        assert_eq!(kinds(&store, node).await.len(), 3);
        // However often a stranger comes back, what was there before stays.
        let flood: Vec<_> = (1..500).map(|number| stranger((4 + 2 * number) * HOUR_MS)).collect();
        store.note_in_logs(&flood).await.unwrap();
        let lines = kinds(&store, node).await;
        assert_eq!(lines.len(), 22);
        assert_eq!(lines[20..], expected);
        assert_eq!(lines[0].3, (4 + 2 * 499) * HOUR_MS);
        // Of the device itself, the newest hundred stay.
        let own: Vec<_> = (2_000..2_200).map(|number| failed(2 * number * HOUR_MS)).collect();
        store.note_in_logs(&own).await.unwrap();
        let lines = kinds(&store, node).await;
        assert_eq!(lines.iter().filter(|(_, stranger, ..)| !stranger).count(), 100);
        assert_eq!((lines.len(), lines[0].3), (120, 2 * 2_199 * HOUR_MS));
        assert_eq!(kinds(&store, other).await, []);
        // It goes with the resource.
        store.delete_resource(node).await.unwrap();
        let left: i64 =
            sqlx::query_scalar("SELECT count(*) FROM resource_logs").fetch_one(&store.readers).await.unwrap();
        assert_eq!(left, 0);
    }
}

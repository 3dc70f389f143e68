//! Databases of other versions: an older one is brought up to date with all that is in it, a newer one is left alone.

use std::borrow::Cow;
use std::path::Path;

use sixlock_crypto::{Hashes, Soft};
use sixlock_store::{
    Append, Error, Idempotency, LONGEST_PAGE, Page, Point, Reading, ResourceId, Store, Transmission,
    create_private,
};
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode};
use sqlx::{Connection, SqlSafeStr, SqliteConnection};

async fn database(directory: &Path) -> SqliteConnection {
    let options = SqliteConnectOptions::new()
        .filename(directory.join("sixlock.db"))
        .create_if_missing(true)
        .foreign_keys(true)
        .journal_mode(SqliteJournalMode::Wal);
    SqliteConnection::connect_with(&options).await.unwrap()
}

/// What the first version told posts and associations by.
fn digest(parts: &[&[u8]]) -> Vec<u8> {
    let mut hash = Soft.sha256();
    for part in parts {
        Soft.sha256_update(&mut hash, &(part.len() as u64).to_be_bytes());
        Soft.sha256_update(&mut hash, part);
    }
    Soft.sha256_finish(hash)[..16].to_vec()
}

fn post(resource: ResourceId, message_id: u16, value: f64) -> Append {
    let transmission = Transmission { association: b"session", message_id, token: b"token" };
    let idempotency = Idempotency::of(resource, transmission, &value.to_be_bytes());
    let reading = Reading { stream: "temperature".into(), unit: None, time: 5_000, value: value.into() };
    Append { resource, idempotency, readings: vec![reading] }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_of_the_first_version_is_brought_up_to_date_with_all_that_is_in_it() {
    let directory = tempfile::tempdir().unwrap();
    let mut first = database(directory.path()).await;
    let sql = include_str!("../migrations/0001_accounts_devices_points.sql");
    let name = Cow::Borrowed("accounts, devices, points");
    let migration = Migration::new(1, name, MigrationType::Simple, sql.into_sql_str(), false);
    Migrator::with_migrations(vec![migration]).run(&mut first).await.unwrap();
    let repeated = post(ResourceId(7), 3, 21.0);
    for sql in [
        "INSERT INTO users VALUES (5, 'ann', 'ann@example.org', 'hash', 0, 1000)",
        // Its key was sealed under the master key of zeros.
        "INSERT INTO resources VALUES (7, 5, 'node-1', 'dtls-psk', 'node-1', \
         x'00000000000000000000000000e549c03e34a0ba5b68575714fdc9ab084f2aa82bf3d48a08e410f8531198a95f')",
        "INSERT INTO streams VALUES (9, 7, 'temperature', 'Cel')",
        "INSERT INTO points VALUES (2, 9, 2000, 20.5), (3, 9, 1000, 20.0), (8, 9, 3000, 21.0)",
        // Its number is not to be given again.
        "DELETE FROM points WHERE id = 8",
        "INSERT INTO points VALUES (4, 9, 1000, 20.25)",
    ] {
        sqlx::query(sql).execute(&mut first).await.unwrap();
    }
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis() as i64;
    let value = 21.0f64.to_be_bytes();
    let post_digest = digest(&[&7i64.to_be_bytes(), b"token", b"", &value]);
    let association = digest(&[b"session"]);
    sqlx::query("INSERT INTO receipts VALUES ($1, $2, 3, $3)")
        .bind(&post_digest[..])
        .bind(&association[..])
        .bind(now)
        .execute(&mut first)
        .await
        .unwrap();
    first.close().await.unwrap();
    let key = directory.path().join("master.key");
    assert!(matches!(Store::open(directory.path()).await, Err(Error::MasterKeyMissing(_))));
    create_private(&key, &"1".repeat(32)).unwrap();
    assert!(matches!(Store::open(directory.path()).await, Err(Error::WrongMasterKey(_))));
    std::fs::remove_file(&key).unwrap();
    create_private(&key, &"0".repeat(32)).unwrap();

    let (store, _writer) = Store::open(directory.path()).await.unwrap();
    let user = store.user("ann").await.unwrap().unwrap();
    let resource = store.resource(user.id, "node-1").await.unwrap().unwrap();
    let stream = store.stream(resource.id, "temperature").await.unwrap().unwrap();
    assert_eq!(
        (user.id.0, resource.id, stream.id.0, stream.unit.as_deref()),
        (5, ResourceId(7), 9, Some("Cel"))
    );
    let all = Page { limit: LONGEST_PAGE, from: None, until: None };
    let mut expected: Vec<Point> = [(1000, 20.0), (1000, 20.25), (2000, 20.5)]
        .map(|(time, value)| Point { time, value: value.into() })
        .into();
    assert_eq!(store.points(stream.id, all).await.unwrap(), expected);
    assert_eq!(store.changes().end().to_string(), "4");
    store.append(repeated).await.unwrap();
    assert_eq!(store.count_points(resource.id).await.unwrap(), 3, "the receipt was lost");
    store.append(post(ResourceId(7), 4, 22.0)).await.unwrap();
    expected.push(Point { time: 5_000, value: 22.0.into() });
    assert_eq!(store.points(stream.id, all).await.unwrap(), expected);
    assert_eq!(store.changes().end().to_string(), "9");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_of_a_newer_version_is_refused_and_left_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let (store, writer) = Store::open(directory.path()).await.unwrap();
    store.close().await;
    writer.ended().await.unwrap();
    drop(store);
    let mut newer = database(directory.path()).await;
    for sql in [
        "INSERT INTO _sqlx_migrations VALUES (9999, 'later', CURRENT_TIMESTAMP, 1, x'00', 0)",
        "ALTER TABLE users ADD COLUMN shoe_size INTEGER",
    ] {
        sqlx::query(sql).execute(&mut newer).await.unwrap();
    }
    let schema = "SELECT group_concat(sql) FROM sqlite_schema";
    let before: String = sqlx::query_scalar(schema).fetch_one(&mut newer).await.unwrap();

    let refused = Store::open(directory.path()).await.err().expect("it is refused");
    assert!(matches!(refused, Error::Schema(_)), "{refused:?}");
    let said = refused.to_string();
    assert!(said.contains("9999") && said.contains("use the version that made it, or newer"), "{said}");
    let after: String = sqlx::query_scalar(schema).fetch_one(&mut newer).await.unwrap();
    assert_eq!(after, before);
}

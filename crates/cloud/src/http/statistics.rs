//! `/statistics`: how the cloud is doing, in figures, for administrators.

use std::fs::Metadata;
use std::io;
use std::path::Path;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use sixlock_store::{CloudCounts, last_backup, now_ms};
use sixlock_telemetry::{Figures, RefusalCount, Scheme};
use utoipa::ToSchema;

use super::app::{Answer, App};
use crate::Error;
use crate::backups::backup_times;

/// How the cloud is doing.
#[derive(Serialize, ToSchema)]
pub(super) struct Statistics {
    /// When these figures were true, in milliseconds since 1970
    time: i64,
    /// What there is, from the database
    counts: CloudCounts,
    /// What has happened since the cloud was started, and what is open now, from its memory
    since_start: SinceStart,
    /// What the files of the data folder take, from the disk
    files: Files,
    /// From the data folder, and the folder of backups
    backups: BackupTimes,
}

/// What has happened since the cloud was started. `/metrics` has more.
#[derive(Serialize, ToSchema)]
struct SinceStart {
    /// When it was started
    started: i64,
    /// DTLS sessions that are open now
    sessions: u64,
    /// Live feeds that are followed now
    live_feeds: usize,
    /// Requests that were answered, of HTTP and CoAP
    requests: u64,
    /// DTLS handshakes that came to their end
    handshakes: u64,
    /// Those that failed, and sessions that a fatal alert ended
    failed_handshakes: u64,
    /// What failed inside: any at all is worth a look at the log
    faults: u64,
    /// Who was refused, and why; `/audit` has each
    refusals: Vec<Refusals>,
}

/// How often requests were refused for a reason.
#[derive(Serialize, ToSchema)]
struct Refusals {
    #[schema(value_type = String)]
    scheme: Scheme,
    reason: &'static str,
    count: u64,
}

/// What files take, in bytes.
#[derive(Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
struct Files {
    /// The database
    database: u64,
    /// What is still to be written into it
    database_log: u64,
    /// The record of refusals and actions
    record: u64,
    /// All other files
    other: u64,
}

/// When backups were taken, in milliseconds since 1970.
#[derive(Serialize, ToSchema)]
struct BackupTimes {
    /// The last one, by the cloud itself or by `sixlock cloud backup`; null if there was none
    last: Option<i64>,
    /// The oldest of those that the cloud takes by itself, as they are in their folder
    oldest: Option<i64>,
    /// How many of these there are; null if it takes none
    count: Option<usize>,
}

/// How the cloud is doing, in figures
///
/// Nothing is looked through for it but the tables of users, resources and streams, so it costs the same however many points there are: these
/// are numbered in the order of their arrival.
#[utoipa::path(get, path = "/statistics", tag = "cloud", responses((status = 200, body = Statistics)))]
pub(super) async fn show(State(app): State<Arc<App>>) -> Answer<Statistics> {
    let time = now_ms();
    let counts = app.store.counts(time).await?;
    let last = last_backup(app.store.directory()).await;
    let (data, backups, store) =
        (app.store.directory().to_owned(), app.backup_folder.clone(), app.store.clone());
    let read = tokio::task::spawn_blocking(move || -> Result<_, Error> {
        let files = files(&data).map_err(|error| Error::file(&data, error))?;
        let taken = backups.map(|folder| backup_times(&store, &folder)).transpose()?;
        Ok((files, taken))
    });
    let (files, taken) = read.await.map_err(|_| Error::Died("reader of the data folder"))??;
    let backups = BackupTimes {
        last,
        oldest: taken.as_ref().and_then(|taken| taken.iter().min().copied()),
        count: taken.map(|taken| taken.len()),
    };
    Ok(Json(Statistics { time, counts, since_start: since_start(&app), files, backups }))
}

fn since_start(app: &App) -> SinceStart {
    let Figures { sessions, requests, handshakes, failed_handshakes, faults, refusals } =
        app.events.figures();
    let refusals = refusals.into_iter();
    SinceStart {
        started: app.started,
        sessions,
        live_feeds: app.live_feeds.count(),
        requests,
        handshakes,
        failed_handshakes,
        faults,
        refusals: refusals
            .map(|RefusalCount { scheme, reason, count }| Refusals { scheme, reason, count })
            .collect(),
    }
}

/// What the files in the folder `data` take. A file that goes meanwhile takes nothing.
fn files(data: &Path) -> io::Result<Files> {
    let mut files = Files::default();
    for entry in std::fs::read_dir(data)? {
        let entry = entry?;
        let Some(size) = entry.metadata().ok().filter(Metadata::is_file).map(|file| file.len()) else {
            continue;
        };
        let name = entry.file_name();
        let sum = match name.to_str().unwrap_or_default() {
            "sixlock.db" => &mut files.database,
            "sixlock.db-wal" | "sixlock.db-shm" => &mut files.database_log,
            "audit.jsonl" | "audit.1.jsonl" | "actions.jsonl" | "actions.1.jsonl" => &mut files.record,
            _ => &mut files.other,
        };
        *sum += size;
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_of_the_data_folder_is_counted_once() {
        let data = tempfile::tempdir().unwrap();
        std::fs::create_dir(data.path().join("folder")).unwrap();
        for (name, size) in [
            ("sixlock.db", 40),
            ("sixlock.db-wal", 20),
            ("sixlock.db-shm", 1),
            ("audit.jsonl", 5),
            ("actions.1.jsonl", 6),
            ("master.key", 3),
        ] {
            std::fs::write(data.path().join(name), vec![0; size]).unwrap();
        }
        let expected = Files { database: 40, database_log: 21, record: 11, other: 3 };
        assert_eq!(files(data.path()).unwrap(), expected);
    }
}

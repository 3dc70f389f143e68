//! Backups that a cloud takes of itself while it runs: one after the other into a folder, in which the newest are kept.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use sixlock_store::{Error, Store, back_up, now_ms};
use sixlock_telemetry::{At, Event, Events};
use tokio::sync::{oneshot, watch};

use crate::public_keys::fingerprint;

/// How long it takes to the next try after one that failed, unless the next backup is due earlier.
const AGAIN: Duration = Duration::from_secs(10 * 60);
/// How names end, and those of files that are not finished.
const ENDING: &str = ".backup";
const UNFINISHED: &str = ".backup.unfinished";
/// The time in a name, which names are ordered by.
const TIME: &str = "%Y%m%dT%H%M%S%.3fZ";

/// The backups that a cloud takes of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backups {
    /// Where they are. Other files there are left alone, also backups of other clouds.
    pub folder: PathBuf,
    /// How long after one the next is taken. The first is taken at once.
    pub every: Duration,
    /// How many there are, at least one: the oldest goes when one more is finished, and none before.
    pub keep: usize,
}

/// Takes backups until the cloud stops. One that is under way then is of no use, and removed by the next cloud.
pub(crate) async fn take_backups(
    backups: Backups,
    store: Store,
    events: Events,
    mut stopping: watch::Receiver<bool>,
) {
    let series = Series::of(&store);
    let mut wait = Duration::ZERO;
    loop {
        let due = match series.taken(&backups.folder) {
            Ok(taken) => wait.max(until_due(&taken, backups.every, now_ms())),
            Err(error) => {
                let error = Error::file(&backups.folder, error);
                events.tell(Event::Fault { at: At::Backups, error: &error });
                backups.every.min(AGAIN)
            }
        };
        tokio::select! {
            () = tokio::time::sleep(due) => {}
            _ = stopping.wait_for(|stopping| *stopping) => return,
        }
        // A thread of its own, which the end of the cloud does not wait for.
        let (tell, taken) = oneshot::channel();
        let (data, of, into) = (store.directory().to_owned(), series.clone(), backups.clone());
        std::thread::spawn(move || tell.send(of.take(&data, &into)));
        let taken = tokio::select! {
            taken = taken => taken,
            _ = stopping.wait_for(|stopping| *stopping) => return,
        };
        wait = match taken {
            Ok(Ok(())) => Duration::ZERO,
            Ok(Err(error)) => {
                events.tell(Event::Fault { at: At::Backups, error: &error });
                backups.every.min(AGAIN)
            }
            Err(_) => backups.every.min(AGAIN),
        };
    }
}

/// When the backups were taken that the cloud of `store` has in `folder`, in milliseconds since 1970.
pub(crate) fn backup_times(store: &Store, folder: &Path) -> Result<Vec<i64>, Error> {
    let taken = Series::of(store).taken(folder).map_err(|error| Error::file(folder, error))?;
    Ok(taken.into_iter().map(|(time, _)| time).collect())
}

/// How long it is until the next backup is due.
fn until_due(taken: &[(i64, PathBuf)], every: Duration, now: i64) -> Duration {
    // One of a time to come was taken by a clock that was ahead.
    let newest = taken.iter().map(|(time, _)| *time).filter(|time| *time <= now).max();
    let passed = newest.map(|newest| Duration::from_millis(now.saturating_sub(newest).unsigned_abs()));
    passed.map_or(Duration::ZERO, |passed| every.saturating_sub(passed))
}

/// The backups of one cloud.
#[derive(Clone, Debug)]
struct Series {
    /// The beginning of their names.
    prefix: String,
}

impl Series {
    /// Clouds are told apart by their own keys, which a backup has, too: so one that was restored goes on with the same series.
    fn of(store: &Store) -> Self {
        let digest = fingerprint(store.own_keys().public_key());
        Self { prefix: format!("sixlock-{}-", digest.get(..8).unwrap_or_default()) }
    }

    fn name(&self, now: i64) -> String {
        let time = Timestamp::from_millisecond(now).unwrap_or(Timestamp::UNIX_EPOCH);
        format!("{}{}{ENDING}", self.prefix, time.strftime(TIME))
    }

    /// When the backup of this name was taken. Returns `None` if it is not a backup of this cloud.
    fn time(&self, name: &str) -> Option<i64> {
        let time = name.strip_prefix(&self.prefix)?.strip_suffix(ENDING)?;
        let time = DateTime::strptime(TIME, time).ok()?.to_zoned(TimeZone::UTC).ok()?;
        Some(time.timestamp().as_millisecond())
    }

    /// Those in `folder`, with their times.
    fn taken(&self, folder: &Path) -> io::Result<Vec<(i64, PathBuf)>> {
        let mut taken = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            if let Some(time) = entry.file_name().to_str().and_then(|name| self.time(name)) {
                taken.push((time, entry.path()));
            }
        }
        Ok(taken)
    }

    /// Takes one, and removes those that are too many then.
    fn take(&self, data: &Path, backups: &Backups) -> Result<(), Error> {
        let folder = &backups.folder;
        let failed = |error| Error::file(folder, error);
        let removed = self.remove_unfinished(folder);
        let now = now_ms();
        back_up(data, &folder.join(self.name(now)))?;
        let taken = self.taken(folder).map_err(failed)?;
        removed.and(superfluous(taken, backups.keep, now).and_then(remove_all))
    }

    /// Removes what a cloud had begun that ended meanwhile: keys are in it.
    fn remove_unfinished(&self, folder: &Path) -> Result<(), Error> {
        let failed = |error| Error::file(folder, error);
        let mut unfinished = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name();
            if name.to_str().is_some_and(|name| name.starts_with(&self.prefix) && name.ends_with(UNFINISHED))
            {
                unfinished.push(entry.path());
            }
        }
        remove_all(unfinished)
    }
}

/// Removes these files; of those that cannot be, the first is told, and the others go all the same.
fn remove_all(files: Vec<PathBuf>) -> Result<(), Error> {
    let remove = |file: PathBuf| std::fs::remove_file(&file).map_err(|error| Error::file(&file, error));
    files.into_iter().map(remove).fold(Ok(()), Result::and)
}

/// Those that are too many: the oldest. While there is one of a time to come, nobody knows which these are: the clock was ahead when it was
/// taken, or is behind now, and then the others are real, too.
fn superfluous(mut taken: Vec<(i64, PathBuf)>, keep: usize, now: i64) -> Result<Vec<PathBuf>, Error> {
    if let Some((_, file)) = taken.iter().find(|(time, _)| *time > now) {
        let why = "this backup is of a time to come, so no backup is removed until then; set the clock right, or move the file away";
        return Err(Error::file(file, io::Error::other(why)));
    }
    taken.sort();
    taken.truncate(taken.len().saturating_sub(keep));
    Ok(taken.into_iter().map(|(_, file)| file).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: i64 = 1_767_268_800_123;

    fn of(times: &[i64]) -> Vec<(i64, PathBuf)> {
        times.iter().map(|time| (*time, PathBuf::from(time.to_string()))).collect()
    }

    #[test]
    fn a_backup_is_known_by_its_name_and_nothing_else_is_taken_for_one() {
        let series = Series { prefix: "sixlock-0a1b2c3d-".to_owned() };
        let name = series.name(NOON);
        assert_eq!(name, "sixlock-0a1b2c3d-20260101T120000.123Z.backup");
        assert_eq!(series.time(&name), Some(NOON));
        for other in [
            "sixlock-ffffffff-20260101T120000.123Z.backup",
            "sixlock-0a1b2c3d-20260101T120000.123Z.backup.unfinished",
            "sixlock-0a1b2c3d-20261301T120000.123Z.backup",
            "sixlock-0a1b2c3d-.backup",
            "sixlock.db",
        ] {
            assert_eq!(series.time(other), None, "{other}");
        }
    }

    #[test]
    fn the_next_is_due_a_period_after_the_newest_whatever_a_clock_that_was_ahead_has_left() {
        let (hour, minute) = (Duration::from_secs(3_600), 60_000);
        assert_eq!(until_due(&[], hour, NOON), Duration::ZERO);
        assert_eq!(until_due(&of(&[NOON - 50 * minute, NOON - 90 * minute]), hour, NOON), hour / 6);
        assert_eq!(until_due(&of(&[NOON - 61 * minute]), hour, NOON), Duration::ZERO);
        assert_eq!(until_due(&of(&[NOON + 1, NOON - 61 * minute]), hour, NOON), Duration::ZERO);
    }

    #[test]
    fn the_oldest_go_and_none_as_long_as_the_clock_is_in_doubt() {
        let gone = |times: &[i64], keep| -> Vec<String> {
            let files = superfluous(of(times), keep, 100).unwrap();
            files.into_iter().map(|file| file.display().to_string()).collect()
        };
        assert_eq!(gone(&[30, 10, 20], 2), ["10"]);
        assert_eq!(gone(&[30, 20], 2), [] as [String; 0]);
        let doubt = superfluous(of(&[30, 500, 20]), 2, 100).unwrap_err().to_string();
        assert!(doubt.starts_with("500: ") && doubt.contains("move the file away"), "{doubt}");
    }

    #[test]
    fn a_file_that_cannot_be_removed_keeps_no_other_and_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let [first, stays, last] = ["a", "b", "c"].map(|name| folder.path().join(name));
        std::fs::create_dir(&stays).unwrap();
        for file in [&first, &last] {
            std::fs::write(file, "").unwrap();
        }
        let told = remove_all(vec![first.clone(), stays.clone(), last.clone()]).unwrap_err().to_string();
        assert!(told.starts_with(&stays.display().to_string()), "{told}");
        assert_eq!([first, stays, last].map(|path| path.exists()), [false, true, false]);
    }
}

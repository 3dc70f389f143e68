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
    // Clouds are told apart by their own keys, which a backup has, too: so one that was restored goes on with the same series.
    let digest = fingerprint(store.own_keys().public_key());
    let series = Series { prefix: format!("sixlock-{}-", digest.get(..8).unwrap_or_default()) };
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
    /// What their names begin with.
    prefix: String,
}

impl Series {
    fn name(&self, now: i64) -> String {
        let time = Timestamp::from_millisecond(now).unwrap_or(Timestamp::UNIX_EPOCH);
        format!("{}{}{ENDING}", self.prefix, time.strftime(TIME))
    }

    /// When the backup of this name was taken; nothing if it is none of this cloud.
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
        self.remove_unfinished(folder).map_err(failed)?;
        let now = now_ms();
        back_up(data, &folder.join(self.name(now)))?;
        let taken = self.taken(folder).map_err(failed)?;
        for file in superfluous(taken, backups.keep, now) {
            std::fs::remove_file(&file).map_err(|error| Error::file(&file, error))?;
        }
        Ok(())
    }

    /// Removes what a cloud had begun that ended meanwhile: keys are in it.
    fn remove_unfinished(&self, folder: &Path) -> io::Result<()> {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name();
            if name.to_str().is_some_and(|name| name.starts_with(&self.prefix) && name.ends_with(UNFINISHED))
            {
                std::fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }
}

/// Those that are too many: the oldest, after those of times to come, which a clock took that was ahead.
fn superfluous(mut taken: Vec<(i64, PathBuf)>, keep: usize, now: i64) -> impl Iterator<Item = PathBuf> {
    taken.sort_by_key(|(time, _)| (*time <= now, *time));
    taken.truncate(taken.len().saturating_sub(keep));
    taken.into_iter().map(|(_, file)| file)
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
    fn the_oldest_go_and_those_of_times_to_come_before_them() {
        let gone = |times: &[i64], keep| -> Vec<String> {
            superfluous(of(times), keep, 100).map(|file| file.display().to_string()).collect()
        };
        assert_eq!(gone(&[30, 10, 20], 2), ["10"]);
        assert_eq!(gone(&[30, 500, 20, 400], 2), ["400", "500"]);
        assert_eq!(gone(&[30, 20], 2), [] as [String; 0]);
    }
}

//! The keys of session tickets, on the disk: so that tickets are good also at a cloud that was started anew.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sixlock_endpoint::{TICKET_KEY, TicketKeys};
use sixlock_store::{MasterKey, Secret, now_ms, secrets, sync_directory};
use sixlock_telemetry::{At, Event, Events};
use tokio::sync::watch;

use crate::Error;
use sixlock_store::sealed::{SealedReader, SealedWriter};

const FILE: &str = "ticket-keys";
const PURPOSE: &str = "keys of session tickets";
/// How often it is looked whether it is time for another key: the system's clock may be set.
const LOOKS: Duration = Duration::from_secs(600);

/// The keys, a new one of which is made when the present one is as old as a ticket gets.
pub(super) struct TicketKeyRing {
    path: PathBuf,
    key: MasterKey,
    /// How old a ticket gets, in milliseconds.
    lifetime: i64,
    current: Key,
    previous: Option<Key>,
}

/// A key, made so many milliseconds after 1970.
struct Key {
    made: i64,
    bytes: Secret,
}

impl Key {
    fn new() -> Result<Self, Error> {
        Ok(Self { made: now_ms(), bytes: Secret::new(secrets::random::<TICKET_KEY>()?.to_vec()) })
    }
}

impl TicketKeyRing {
    /// The keys kept in `directory`; new ones if there are none, or none that are good. What is wrong with the file is told.
    pub(super) fn open(directory: &Path, lifetime: Duration, events: &Events) -> Result<Self, Error> {
        let (path, key) = (directory.join(FILE), MasterKey::open(directory)?);
        let kept = read(&path, &key).unwrap_or_else(|error| {
            events.tell(Event::Fault { at: At::Sessions, error: &error });
            None
        });
        let (current, previous) = match kept {
            Some((current, previous)) => (current, previous),
            None => (Key::new()?, None),
        };
        let lifetime = i64::try_from(lifetime.as_millis()).unwrap_or(i64::MAX);
        let mut ring = Self { path, key, lifetime, current, previous };
        if !ring.renew(events)? {
            ring.keep(events);
        }
        Ok(ring)
    }

    /// What the endpoints need.
    pub(super) fn keys(&self) -> Arc<TicketKeys> {
        let bytes = |key: &Key| key.bytes.bytes().try_into().unwrap_or([0; TICKET_KEY]);
        Arc::new(TicketKeys { current: bytes(&self.current), previous: self.previous.as_ref().map(bytes) })
    }

    /// Makes a new key if it is time; then the one before is good for as long again, if it was not too old already.
    fn renew(&mut self, events: &Events) -> Result<bool, Error> {
        let age = now_ms().saturating_sub(self.current.made);
        // It is no older than the clock says, unless that was set back: then nobody knows.
        if (0..self.lifetime).contains(&age) {
            return Ok(false);
        }
        let old = std::mem::replace(&mut self.current, Key::new()?);
        self.previous = (0..self.lifetime.saturating_mul(2)).contains(&age).then_some(old);
        self.keep(events);
        Ok(true)
    }

    /// Writes the keys. If that fails, they are good until the cloud stops, which is told.
    fn keep(&self, events: &Events) {
        let write = || {
            let new = self.path.with_added_extension("new");
            let mut file = SealedWriter::create(&new, PURPOSE)?;
            for key in [Some(&self.current), self.previous.as_ref()].into_iter().flatten() {
                let block = Secret::new([&key.made.to_be_bytes()[..], key.bytes.bytes()].concat());
                file.append(&self.key, block.bytes())?;
            }
            file.sync()?;
            std::fs::rename(&new, &self.path).map_err(|error| Error::file(&self.path, error))?;
            sync_directory(&self.path).map_err(|error| Error::file(&self.path, error))
        };
        if let Err(error) = write() {
            events.tell(Event::Fault { at: At::Sessions, error: &error });
        }
    }

    /// Replaces keys, and tells the endpoints, until nobody is there to be told.
    pub(super) async fn go_on(mut self, keys: watch::Sender<Arc<TicketKeys>>, events: Events) {
        loop {
            tokio::select! {
                () = tokio::time::sleep(LOOKS) => {}
                () = keys.closed() => return,
            }
            match self.renew(&events) {
                Ok(true) => {
                    keys.send_replace(self.keys());
                }
                Ok(false) => {}
                Err(error) => events.tell(Event::Fault { at: At::Sessions, error: &error }),
            }
        }
    }
}

/// The keys in the file, the newer one first; nothing if there is no file.
fn read(path: &Path, key: &MasterKey) -> Result<Option<(Key, Option<Key>)>, Error> {
    let Some(mut file) = SealedReader::open(path, PURPOSE)? else { return Ok(None) };
    let mut next = || -> Result<Option<Key>, Error> {
        let Some(block) = file.next(key)? else { return Ok(None) };
        let malformed = || Error::Invalid("not a key of tickets");
        let (made, bytes) = block.bytes().split_first_chunk().ok_or_else(malformed)?;
        let bytes: &[u8; TICKET_KEY] = bytes.try_into().map_err(|_| malformed())?;
        Ok(Some(Key { made: i64::from_be_bytes(*made), bytes: Secret::new(bytes.to_vec()) }))
    };
    let Some(current) = next()? else { return Ok(None) };
    Ok(Some((current, next()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_secs(86_400);

    fn open(directory: &Path) -> TicketKeyRing {
        TicketKeyRing::open(directory, DAY, &Events::unheard()).unwrap()
    }

    /// The ring as it would be if its key had been made so long ago.
    fn aged(directory: &Path, age: Duration) -> TicketKeyRing {
        let mut ring = open(directory);
        ring.current.made -= age.as_millis() as i64;
        ring.keep(&Events::unheard());
        open(directory)
    }

    #[test]
    fn keys_outlive_the_cloud_and_go_when_their_tickets_have() {
        let directory = tempfile::tempdir().unwrap();
        MasterKey::create(directory.path()).unwrap();
        let directory = directory.path();
        let first = open(directory).keys();
        assert!(first.previous.is_none() && first.current != [0; TICKET_KEY]);
        assert_eq!(open(directory).keys().current, first.current);
        assert_eq!(aged(directory, DAY / 2).keys().current, first.current);
        let second = aged(directory, DAY / 2).keys();
        assert!(second.current != first.current && second.previous == Some(first.current));
        assert_eq!(open(directory).keys().previous, second.previous, "both are kept");
        let third = aged(directory, DAY).keys();
        assert_eq!(third.previous, Some(second.current));
        assert!(aged(directory, 2 * DAY).keys().previous.is_none(), "nobody can have a ticket of it");
    }

    #[test]
    fn a_file_that_does_not_open_is_replaced() {
        let directory = tempfile::tempdir().unwrap();
        MasterKey::create(directory.path()).unwrap();
        let directory = directory.path();
        let first = open(directory).keys();
        let path = directory.join(FILE);
        let mut bytes = std::fs::read(&path).unwrap();
        assert!(!bytes.windows(TICKET_KEY).any(|window| window == first.current), "it is sealed");
        *bytes.last_mut().unwrap() ^= 1;
        std::fs::write(&path, bytes).unwrap();
        let second = open(directory).keys();
        assert!(second.current != first.current && second.previous.is_none());
        assert_eq!(open(directory).keys().current, second.current);
    }
}

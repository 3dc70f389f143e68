//! What outlives the cloud of its DTLS sessions, in files.

mod ticket_keys;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use sixlock_coap_server::{
    Continuation, CredentialId, Limits, OpenSession, SaveSession, Saving, SessionRecord, SessionStorage,
    StorageError,
};
use sixlock_endpoint::TicketKeys;
use sixlock_store::resumption::{self, Owner, Record, ResumptionFiles, ResumptionWriter};
use sixlock_store::snapshot::{self, Block, Snapshot, SnapshotWriter, skipped_sequence_numbers};
use sixlock_store::{Error, Holder, Secret, Store, now_ms};
use sixlock_telemetry::{At, Event, Events};
use tokio::sync::watch;
use zeroize::Zeroizing;

use crate::identities;
use ticket_keys::TicketKeyRing;

/// The files of sessions.
pub(crate) struct SessionFiles {
    directory: PathBuf,
    events: Events,
    /// The open sessions of the cloud before this one, until they are taken.
    before: Mutex<Option<Snapshot>>,
    /// The credentials that are good, in order, and whose they are.
    good: Vec<(sixlock_store::CredentialId, Holder)>,
    /// Where open sessions go in the end.
    snapshot: SnapshotWriter,
    /// Writes the states of sessions that can be resumed.
    writer: Mutex<Option<JoinHandle<()>>>,
}

impl SessionFiles {
    /// Opens the files in the folder of the store. The open sessions of the cloud before this one are on the disk no more then.
    pub(crate) async fn open(store: &Store, events: Events) -> Result<Self, Error> {
        let directory = store.directory();
        let snapshot = SnapshotWriter::new(directory)?;
        let before = Snapshot::take(directory, store, &events).await;
        let good = match &before {
            Some(_) => store.good_credentials(now_ms()).await?,
            None => Vec::new(),
        };
        let (directory, before, writer) = (directory.to_owned(), Mutex::new(before), Mutex::new(None));
        Ok(Self { directory, events, before, good, snapshot, writer })
    }

    /// Begins to renew the keys of tickets, of which each gets as old as `lifetime`, as long as anyone hears of them.
    pub(crate) fn ticket_keys(
        &self,
        lifetime: std::time::Duration,
    ) -> Result<watch::Receiver<Arc<TicketKeys>>, Error> {
        let ring = TicketKeyRing::open(&self.directory, lifetime, &self.events)?;
        let (tell, keys) = watch::channel(ring.keys());
        tokio::spawn(ring.go_on(tell, self.events.clone()));
        Ok(keys)
    }

    /// Waits until all states are written, when the server has ended.
    pub(crate) fn join(&self) -> Result<(), Error> {
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        writer.map_or(Ok(()), JoinHandle::join).map_err(|_| Error::Died("writer of session states"))
    }

    /// Notes the file of open sessions in the database, when nobody has any of them any more.
    pub(crate) async fn finish(&self, store: &Store) {
        self.snapshot.finish(store, &self.events).await;
    }

    /// How the session that rests on this credential goes on, if that is good and the pause was not too long.
    fn continuation(
        &self,
        credential: sixlock_store::CredentialId,
        pause: Option<sixlock_base::Duration>,
    ) -> Option<Continuation> {
        let pause = pause?;
        let found = self.good.binary_search_by_key(&credential, |(credential, _)| *credential).ok()?;
        let (_, whose) = self.good.get(found)?;
        let holder = identities::holder(*whose);
        Some(Continuation { holder, pause, skipped: skipped_sequence_numbers(pause) })
    }
}

impl SessionStorage for SessionFiles {
    fn load(
        &self,
        Limits { records, milliseconds }: Limits,
        each: &mut dyn FnMut(SessionRecord<&[u8]>),
    ) -> Result<Saving, StorageError> {
        let limits = resumption::Limits { records, milliseconds };
        let files = ResumptionFiles::open(&self.directory, Owner::Server, limits)?;
        let ResumptionWriter { secret, records, thread } =
            files.resume(self.events.clone(), encode, |record| match record {
                Record::Resumable { until, state } => each(SessionRecord::Resumable { until, state }),
                Record::Forgotten { id } => each(SessionRecord::Forgotten { id }),
            })?;
        let secret = secret.bytes().try_into();
        let secret = secret.map_err(|_| Error::Invalid("the file of sessions has no secret"))?;
        *self.writer.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread);
        Ok(Saving { secret, records })
    }

    fn take_open(&self, each: &mut dyn FnMut(&OpenSession<'_>, Option<Continuation>)) {
        let before = self.before.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(before) = before else { return };
        let pause = before.pause;
        let told = before.each(|&snapshot::Record { credential, association, from, idle, session }| {
            let continuation = self.continuation(credential, pause);
            let credential = CredentialId(credential.0);
            each(&OpenSession { credential, association, from, idle, state: session }, continuation);
        });
        if let Err(error) = told {
            self.events.tell(Event::Fault { at: At::Sessions, error: &error });
        }
    }

    fn save_open(&self, give: &mut dyn FnMut(&mut SaveSession<'_>)) {
        let mut block = Block::new(&self.snapshot);
        give(&mut |&OpenSession { credential, association, from, idle, state }| {
            let credential = sixlock_store::CredentialId(credential.0);
            block.add(&snapshot::Record { credential, association, from, idle, session: state })
        });
        block.write();
    }
}

/// A record as it stands in the file.
fn encode(record: SessionRecord<Zeroizing<Vec<u8>>>) -> Secret {
    match record {
        SessionRecord::Resumable { until, state } => Record::Resumable { until, state: &state }.to_bytes(),
        SessionRecord::Forgotten { id } => Record::Forgotten { id }.to_bytes(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    const LIFETIME: i64 = 86_400_000;

    /// The state of a session, as long as that of a device with a long name.
    fn state(n: u32) -> Vec<u8> {
        [&n.to_be_bytes()[..], &[n as u8; 104]].concat()
    }

    async fn files(store: &Store) -> SessionFiles {
        SessionFiles::open(store, Events::unheard()).await.unwrap()
    }

    /// `SIXLOCK_SESSIONS` says how many: `./soak` asks for a million.
    #[tokio::test]
    async fn each_of_many_sessions_survives_a_restart() {
        let sessions = std::env::var("SIXLOCK_SESSIONS").map_or(3_000, |number| number.parse().unwrap());
        let directory = tempfile::tempdir().unwrap();
        let (store, _writer) = Store::open(directory.path()).await.unwrap();
        let limits = Limits { records: sessions.into(), milliseconds: LIFETIME };
        let until = now_ms() + LIFETIME;

        let (began, before) = (Instant::now(), files(&store).await);
        let Saving { secret, records } = before.load(limits, &mut |_| unreachable!()).unwrap();
        for n in 0..sessions {
            let record = SessionRecord::Resumable { until, state: Zeroizing::new(state(n)) };
            records.send(record).await.unwrap();
        }
        drop(records);
        before.join().unwrap();

        let (written, began, mut restored) = (began.elapsed(), Instant::now(), 0);
        let saving = files(&store).await.load(limits, &mut |record| {
            assert_eq!(record, SessionRecord::Resumable { until, state: &state(restored)[..] });
            restored += 1;
        });
        assert_eq!((restored, saving.unwrap().secret), (sessions, secret));
        let length = std::fs::metadata(directory.path().join("sessions")).unwrap().len();
        println!(
            "{sessions} sessions: {} bytes each, written in {written:.2?}, restored in {:.2?}",
            length / u64::from(sessions),
            began.elapsed()
        );
    }
}

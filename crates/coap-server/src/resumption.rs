//! The states of sessions that can be resumed, between the endpoint and the storage.

use sixlock_base::Duration;
use sixlock_dtls::SESSION_ID;
use sixlock_endpoint::{MAX_SESSION_RECORD, SessionUpdate, Shard};
use sixlock_telemetry::{Clock, Event, Events};
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use zeroize::Zeroizing;

use crate::machine::Machine;
use crate::session_storage::{Limits, SessionRecord, SessionStorage, StorageError};
use crate::shard_channel::ShardChannel;

/// A record on its way to the storage.
type Record = SessionRecord<Zeroizing<Vec<u8>>>;

/// The way of session states to the storage.
#[derive(Clone)]
pub(crate) struct ResumptionWriter {
    records: mpsc::Sender<Record>,
    clock: Clock,
}

impl ResumptionWriter {
    /// Gives each machine, of whose shards `shard` is one, its sessions of those that were saved, and saves what comes from now on.
    pub(crate) fn restore(
        storage: &dyn SessionStorage,
        limits: Limits,
        machines: &mut [Machine],
        shard: &Shard,
        (clock, events): (Clock, &Events),
    ) -> Result<Self, StorageError> {
        let now = clock();
        let mut sessions = 0usize;
        let saving = storage.load(limits, &mut |record| match record {
            SessionRecord::Resumable { until, state } => {
                sessions += usize::from(restore(machines, shard, (until, now), state).is_some());
            }
            SessionRecord::Forgotten { id } => {
                let machine = machines.get_mut(usize::from(shard.of_session(&id)));
                sessions -= usize::from(machine.is_some_and(|machine| machine.endpoint.forget(&id)));
            }
        })?;
        for machine in machines {
            machine.endpoint.keep(&saving.secret);
        }
        events.tell(Event::SessionsResumable { sessions });
        Ok(Self { records: saving.records, clock })
    }

    /// Sends session states to the storage, and tells the other shards which sessions can no longer be resumed, as long as storage and
    /// shards take it; the rest waits in the endpoint.
    pub(crate) fn save(&self, machine: &mut Machine, others: &mut ShardChannel) {
        while others.may_forget() {
            let permit = match self.records.try_reserve() {
                Ok(permit) => Some(permit),
                Err(TrySendError::Full(())) => return,
                // The storage takes no more: it must not be waited for.
                Err(TrySendError::Closed(())) => None,
            };
            let Some((record, forgotten)) = self.next(machine) else { return };
            if let Some(id) = forgotten {
                others.forget(id);
            }
            if let Some(permit) = permit {
                permit.send(record);
            }
        }
    }

    /// Sends all session states to the storage.
    pub(crate) async fn finish(self, machine: &mut Machine) {
        while let Ok(permit) = self.records.reserve().await
            && let Some((record, _)) = self.next(machine)
        {
            permit.send(record);
        }
    }

    /// Returns the next record to be saved; if a session is forgotten, its id.
    fn next(&self, machine: &mut Machine) -> Option<(Record, Option<[u8; SESSION_ID]>)> {
        let mut out = Zeroizing::new([0; MAX_SESSION_RECORD]);
        let (endpoint, mut cx) = machine.endpoint();
        match endpoint.poll_session_update(&mut cx, &mut out)? {
            SessionUpdate::Resumable { len, left, .. } => {
                let until = (self.clock)().saturating_add(i64::from(left.millis()));
                let state = Zeroizing::new(out.get(..len)?.to_vec());
                Some((SessionRecord::Resumable { until, state }, None))
            }
            SessionUpdate::Forgotten { id } => Some((SessionRecord::Forgotten { id }, Some(id))),
        }
    }
}

/// Restores a session that can be resumed until `until`, at the machine that it belongs to now: there may be another number of shards
/// than when its state was saved. Returns `None` if its time is up by `now`, or if the state is malformed.
fn restore(machines: &mut [Machine], shard: &Shard, (until, now): (i64, i64), state: &[u8]) -> Option<()> {
    let id = SessionUpdate::session_id(state)?;
    let left = Some(until.saturating_sub(now)).filter(|left| *left > 0)?;
    // More than an endpoint keeps a state for counts as that much.
    let left = Duration::from_millis(u32::try_from(left).unwrap_or(u32::MAX));
    let (endpoint, mut cx) = machines.get_mut(usize::from(shard.of_session(&id)))?.endpoint();
    endpoint.restore(&mut cx, state, left).ok()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Mutex;

    use sixlock_endpoint::{Config, Endpoint, FINGERPRINT_SECRET};

    use super::*;
    use crate::host_context::HostContext;
    use crate::session_storage::{Continuation, OpenSession, SaveSession, Saving};
    use crate::sessions::Sessions;
    use crate::shard_channel::ShardMessage;

    const SESSIONS: u32 = 3_000;
    const LIFETIME: i64 = 86_400_000;
    const LIMITS: Limits = Limits { records: SESSIONS as u64, milliseconds: LIFETIME };

    /// The present time, as these tests have it.
    fn clock() -> i64 {
        1_000
    }

    /// Holds records in memory.
    struct Memory {
        before: Vec<Record>,
        saved: Mutex<Option<mpsc::Receiver<Record>>>,
    }

    impl Memory {
        fn new(before: Vec<Record>) -> Self {
            Self { before, saved: Mutex::new(None) }
        }
    }

    impl SessionStorage for Memory {
        fn load(
            &self,
            limits: Limits,
            each: &mut dyn FnMut(SessionRecord<&[u8]>),
        ) -> Result<Saving, StorageError> {
            for record in &self.before {
                each(match record {
                    SessionRecord::Resumable { until, state } => {
                        SessionRecord::Resumable { until: *until, state }
                    }
                    SessionRecord::Forgotten { id } => SessionRecord::Forgotten { id: *id },
                });
            }
            let (records, saved) = mpsc::channel(limits.records as usize);
            *self.saved.lock().unwrap() = Some(saved);
            Ok(Saving { secret: [7; FINGERPRINT_SECRET], records })
        }

        fn take_open(&self, _: &mut dyn FnMut(&OpenSession<'_>, Option<Continuation>)) {}

        fn save_open(&self, _: &mut dyn FnMut(&mut SaveSession<'_>)) {}
    }

    /// The state of the session number `n`, of a device with a long name, as an endpoint writes it.
    fn state(n: u32) -> ([u8; SESSION_ID], Vec<u8>) {
        let id = [[0; 4], n.reverse_bits().to_be_bytes(), [0; 4], n.to_be_bytes()].concat();
        let identity = format!("urn:dev:mac:{n:016x}");
        let marked = [&[0][..], &[7; 8], &[identity.len() as u8], identity.as_bytes()].concat();
        (id[..].try_into().unwrap(), [&marked[..], &[0xc0, 0xa8], &[n as u8; 48], &id].concat())
    }

    /// A shard that keeps the states of so many sessions.
    fn machine(sessions: u32, shard: &'static Shard) -> Machine {
        let mut lent = HostContext::new();
        let config = Config { max_resumable: sessions, shard: Some(shard), ..Config::default() };
        let endpoint = Endpoint::new(&mut lent.cx(), config);
        Machine { endpoint, lent, sessions: Sessions::new([0; 16]) }
    }

    fn shard(number: u16) -> &'static Shard {
        Box::leak(Box::new(Shard::new(number, 2, [7; 16])))
    }

    fn restore(storage: &Memory, machines: &mut [Machine]) -> ResumptionWriter {
        let told = (clock as Clock, &Events::unheard());
        ResumptionWriter::restore(storage, LIMITS, machines, shard(0), told).unwrap()
    }

    #[tokio::test]
    async fn what_is_forgotten_waits_in_the_endpoint_for_a_shard_that_does_not_hear() {
        let (storage, mut machines) = (Memory::new(Vec::new()), [machine(SESSIONS, shard(0))]);
        let writer = restore(&storage, &mut machines);
        let [mut machine] = machines;
        for (id, state) in (0..SESSIONS).map(state) {
            let (endpoint, mut cx) = machine.endpoint();
            endpoint.restore(&mut cx, &state, Duration::from_secs(60)).unwrap();
            assert!(endpoint.forget(&id));
        }
        let [mut first, mut second] = ShardChannel::all(2).try_into().ok().unwrap();
        writer.save(&mut machine, &mut first);
        assert!(!first.may_forget());
        let mut heard = BTreeSet::new();
        while heard.len() < SESSIONS as usize {
            tokio::select! {
                message = second.next() => {
                    let Some(ShardMessage::Forget { id }) = message else { panic!("nothing else was told") };
                    heard.insert(id);
                }
                _ = first.next() => writer.save(&mut machine, &mut first),
            }
        }
        assert!(heard.into_iter().eq((0..SESSIONS).map(|n| state(n).0).collect::<BTreeSet<_>>()));
        let saved = storage.saved.lock().unwrap().take().unwrap().len();
        assert_eq!(saved, SESSIONS as usize, "the storage is told of each");
    }

    #[test]
    fn each_session_is_restored_at_its_shard_unless_it_was_forgotten_or_its_time_is_up() {
        let record = |n| {
            let until = clock() + if n % 3 == 1 { 0 } else { LIFETIME };
            SessionRecord::Resumable { until, state: Zeroizing::new(state(n).1) }
        };
        let mut before: Vec<_> = (0..SESSIONS).map(record).collect();
        before.extend((2..SESSIONS).step_by(3).map(|n| SessionRecord::Forgotten { id: state(n).0 }));
        let mut machines = [0, 1].map(|number| machine(SESSIONS, shard(number)));
        restore(&Memory::new(before), &mut machines);
        let mut found = [0; 2];
        for n in 0..SESSIONS {
            let id = state(n).0;
            let whose = usize::from(shard(0).of_session(&id));
            assert_eq!(machines[whose].endpoint.forget(&id), n % 3 == 0, "{n}");
            assert!(!machines[1 - whose].endpoint.forget(&id));
            found[whose] += u32::from(n % 3 == 0);
        }
        assert!(found.iter().all(|found| *found > SESSIONS / 9), "{found:?}");
    }
}

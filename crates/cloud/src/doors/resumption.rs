//! The states of sessions that can be resumed, between the endpoint and the disk.

use std::time::Duration;

use sixlock_dtls::SESSION_ID;
use sixlock_endpoint::{LONGEST_KEPT, MARK_SECRET, Shard};
use sixlock_store::{Secret, now_ms};
use sixlock_telemetry::{Event, Events};
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use zeroize::Zeroizing;

use super::machine::Machine;
use super::shard_channel::ShardChannel;
use crate::Error;
use sixlock_store::resumable::{Keeper, Kept, Record};

/// The way of session states to the disk.
#[derive(Clone)]
pub(super) struct ResumptionWriter(mpsc::Sender<Secret>);

impl ResumptionWriter {
    /// Gives each machine, of whose shards `shard` is one, its sessions of those that were saved, and saves what comes from now on. The
    /// thread ends when all is written that there was when the last clone of this was dropped.
    pub(super) fn restore(
        saved: Kept,
        machines: &mut [Machine],
        shard: &Shard,
        events: &Events,
    ) -> Result<(Self, std::thread::JoinHandle<()>), Error> {
        let now = now_ms();
        let mut sessions = 0usize;
        let Keeper { secret, records, thread } = saved.go_on(events.clone(), |record| match record {
            Record::Resumable { until, kept } => {
                sessions += usize::from(restore(machines, shard, (until, now), kept).is_some());
            }
            Record::Forgotten { id } => {
                let machine = machines.get_mut(usize::from(shard.of_session(&id)));
                sessions -= usize::from(machine.is_some_and(|machine| machine.endpoint.forget(&id)));
            }
        })?;
        let marks: &[u8; MARK_SECRET] =
            secret.bytes().try_into().map_err(|_| Error::Invalid("the file of sessions has no secret"))?;
        for machine in machines {
            machine.endpoint.keep(marks);
        }
        events.tell(Event::SessionsResumable { sessions });
        Ok((Self(records), thread))
    }

    /// Sends session states to the disk, and tells the other shards which sessions can no longer be resumed, as long as disk and shards
    /// take it; the rest waits in the endpoint.
    pub(super) fn save(&self, machine: &mut Machine, others: &mut ShardChannel) {
        while others.may_forget() {
            let permit = match self.0.try_reserve() {
                Ok(permit) => Some(permit),
                Err(TrySendError::Full(())) => return,
                // The disk has failed, which was told: nothing is saved any more, and must not be waited for.
                Err(TrySendError::Closed(())) => None,
            };
            let Some((record, forgotten)) = next(machine) else { return };
            if let Some(id) = forgotten {
                others.forget(id);
            }
            if let Some(permit) = permit {
                permit.send(record);
            }
        }
    }

    /// Sends all session states to the disk.
    pub(super) async fn finish(self, machine: &mut Machine) {
        while let Ok(permit) = self.0.reserve().await
            && let Some((record, _)) = next(machine)
        {
            permit.send(record);
        }
    }
}

/// Restores a session that can be resumed until `until`, at the machine that it belongs to now: there may be another number of shards
/// than when its state was saved. Returns `None` if its time is up by `now`, or if the state is malformed.
fn restore(machines: &mut [Machine], shard: &Shard, (until, now): (i64, i64), state: &[u8]) -> Option<()> {
    let id = sixlock_endpoint::Kept::session_id(state)?;
    let left = Record::left(until, now)?;
    let (endpoint, mut cx) = machines.get_mut(usize::from(shard.of_session(&id)))?.endpoint();
    endpoint.restore(&mut cx, state, in_milliseconds(left)).ok()
}

/// Returns the next record to be saved; if a session is forgotten, its id.
fn next(machine: &mut Machine) -> Option<(Secret, Option<[u8; SESSION_ID]>)> {
    let mut out = Zeroizing::new([0; LONGEST_KEPT]);
    let (endpoint, mut cx) = machine.endpoint();
    match endpoint.poll_kept(&mut cx, &mut out)? {
        sixlock_endpoint::Kept::Resumable { len, left, .. } => {
            let until = now_ms().saturating_add(i64::from(left.millis()));
            Some((Record::Resumable { until, kept: out.get(..len)? }.to_bytes(), None))
        }
        sixlock_endpoint::Kept::Forgotten { id } => Some((Record::Forgotten { id }.to_bytes(), Some(id))),
    }
}

/// More than an endpoint keeps a state for counts as that much.
fn in_milliseconds(duration: Duration) -> sixlock_base::Duration {
    sixlock_base::Duration::from_millis(u32::try_from(duration.as_millis()).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::time::Instant;

    use sixlock_endpoint::{Config, Endpoint};

    use super::super::lent::Lent;
    use super::super::sessions::Sessions;
    use super::super::shard_channel::ShardMessage;
    use super::*;
    use sixlock_store::MasterKey;
    use sixlock_store::resumable::{Limits, Whose};

    const LIFETIME: i64 = 86_400_000;

    /// What an endpoint says of the session number `n` of a device with a long name.
    fn left(n: u32) -> ([u8; SESSION_ID], Vec<u8>) {
        let id = [[0; 4], n.reverse_bits().to_be_bytes(), [0; 4], n.to_be_bytes()].concat();
        let identity = format!("urn:dev:mac:{n:016x}");
        let marked = [&[0][..], &[7; 8], &[identity.len() as u8], identity.as_bytes()].concat();
        (id[..].try_into().unwrap(), [&marked[..], &[0xc0, 0xa8], &[n as u8; 48], &id].concat())
    }

    /// A shard that keeps what is left of so many sessions.
    fn machine(sessions: u32, shard: &'static Shard) -> Machine {
        let mut lent = Lent::new();
        let config = Config { max_resumable: sessions, shard: Some(shard), ..Config::default() };
        let endpoint = Endpoint::new(&mut lent.cx(), config);
        Machine { endpoint, lent, sessions: Sessions::new([0; 16]) }
    }

    #[tokio::test]
    async fn what_is_forgotten_waits_in_the_endpoint_for_a_shard_that_does_not_hear() {
        const SESSIONS: u32 = 3_000;
        let directory = tempfile::tempdir().unwrap();
        MasterKey::create(directory.path()).unwrap();
        let limits = Limits { records: SESSIONS.into(), milliseconds: LIFETIME };
        let kept = Kept::open(directory.path(), Whose::Doors, limits).unwrap();
        let shard = &*Box::leak(Box::new(Shard::new(0, 2, [7; 16])));
        let mut machines = [machine(SESSIONS, shard)];
        let (writer, thread) =
            ResumptionWriter::restore(kept, &mut machines, shard, &Events::unheard()).unwrap();
        let [mut machine] = machines;
        for (id, kept) in (0..SESSIONS).map(left) {
            let (endpoint, mut cx) = machine.endpoint();
            endpoint.restore(&mut cx, &kept, sixlock_base::Duration::from_secs(60)).unwrap();
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
        assert!(heard.into_iter().eq((0..SESSIONS).map(|n| left(n).0).collect::<BTreeSet<_>>()));
        drop(writer);
        thread.join().unwrap();
    }

    /// `SIXLOCK_SESSIONS` says how many: `./soak` asks for a million.
    #[test]
    fn each_of_many_sessions_survives_a_restart() {
        let sessions = std::env::var("SIXLOCK_SESSIONS").map_or(3_000, |number| number.parse().unwrap());
        let directory = tempfile::tempdir().unwrap();
        MasterKey::create(directory.path()).unwrap();
        let limits = Limits { records: sessions.into(), milliseconds: LIFETIME };
        let kept = || Kept::open(directory.path(), Whose::Doors, limits).unwrap();

        let began = Instant::now();
        let Keeper { records, thread, .. } = kept().go_on(Events::unheard(), |_| unreachable!()).unwrap();
        let until = now_ms() + LIFETIME;
        for n in 0..sessions {
            let record = Record::Resumable { until, kept: &left(n).1 };
            records.blocking_send(record.to_bytes()).unwrap();
        }
        drop(records);
        thread.join().unwrap();
        let (written, began) = (began.elapsed(), Instant::now());

        // Two shards, of which each has a share.
        let [first, second] = [0, 1].map(|number| &*Box::leak(Box::new(Shard::new(number, 2, [7; 16]))));
        let mut machines = [first, second].map(|shard| machine(sessions, shard));
        let events = Events::unheard();
        let (writer, thread) = ResumptionWriter::restore(kept(), &mut machines, first, &events).unwrap();
        let length = std::fs::metadata(directory.path().join("sessions")).unwrap().len();
        println!(
            "{sessions} sessions: {} bytes each, written in {written:.2?}, restored in {:.2?}",
            length / u64::from(sessions),
            began.elapsed()
        );
        let mut found = [0; 2];
        for n in 0..sessions {
            let id = left(n).0;
            let whose = usize::from(first.of_session(&id));
            assert!(machines[whose].endpoint.forget(&id) && !machines[1 - whose].endpoint.forget(&id));
            found[whose] += 1;
        }
        assert!(found.iter().all(|found| *found > sessions / 3), "{found:?}");
        drop(writer);
        thread.join().unwrap();
    }
}

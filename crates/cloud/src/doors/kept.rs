//! What is left of sessions, between the endpoint and the disk.

use std::time::Duration;

use sixlock_dtls::SESSION_ID;
use sixlock_endpoint::{LONGEST_KEPT, MARK_SECRET, Shard};
use sixlock_store::{Secret, now_ms};
use sixlock_telemetry::{Event, Events};
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use zeroize::Zeroizing;

use super::handover::Handover;
use super::{Lent, Place, Server};
use crate::Error;
use sixlock_store::resumable::{Keeper, Kept, Record};

/// The way of what is left of sessions to the disk.
#[derive(Clone)]
pub(super) struct Keeping(mpsc::Sender<Secret>);

impl Keeping {
    /// Gives each of the endpoints, of which `shard` is one, what was kept of its sessions, and keeps what comes from now on. The thread ends when all of that is written that
    /// there was when the last clone of this was dropped.
    pub(super) fn restore(
        kept: Kept,
        places: &mut [Place],
        shard: &Shard,
        events: &Events,
    ) -> Result<(Self, std::thread::JoinHandle<()>), Error> {
        let now = now_ms();
        let mut sessions = 0usize;
        let Keeper { secret, records, thread } = kept.go_on(events.clone(), |record| {
            let id = match record {
                Record::Resumable { kept, .. } => sixlock_endpoint::Kept::session_id(kept),
                Record::Forgotten { id } => Some(id),
            };
            let Some(id) = id else { return };
            // There may be another number of shards by now than there was when this was written.
            let whose = shard.of_session(&id);
            let Some(Place { endpoint, lent, .. }) = places.get_mut(usize::from(whose)) else { return };
            match record {
                Record::Resumable { until, kept } => {
                    let left = Record::left(until, now);
                    let restored = left
                        .and_then(|left| endpoint.restore(&mut lent.cx(), kept, in_milliseconds(left)).ok());
                    sessions += usize::from(restored.is_some());
                }
                Record::Forgotten { id } => sessions -= usize::from(endpoint.forget(&id)),
            }
        })?;
        let marks: &[u8; MARK_SECRET] =
            secret.bytes().try_into().map_err(|_| Error::Invalid("the file of sessions has no secret"))?;
        for place in places {
            place.endpoint.keep(marks);
        }
        events.tell(Event::SessionsResumable { sessions });
        Ok((Self(records), thread))
    }

    /// Sends to the disk what there is to keep, and tells the other shards which sessions cannot be resumed any more, as long as disk and
    /// shards take it; the rest waits in the endpoint.
    pub(super) fn keep(&self, endpoint: &mut Server, lent: &mut Lent, others: &mut Handover) {
        while others.may_forget() {
            let place = match self.0.try_reserve() {
                Ok(place) => Some(place),
                Err(TrySendError::Full(())) => return,
                // The disk has failed, which was told: nothing is kept any more, and must not be waited for.
                Err(TrySendError::Closed(())) => None,
            };
            let Some((record, id)) = next(endpoint, lent) else { return };
            if let Some(id) = id {
                others.forget(id);
            }
            if let Some(place) = place {
                place.send(record);
            }
        }
    }

    /// Sends to the disk all that there is to keep.
    pub(super) async fn finish(self, endpoint: &mut Server, lent: &mut Lent) {
        while let Ok(place) = self.0.reserve().await
            && let Some((record, _)) = next(endpoint, lent)
        {
            place.send(record);
        }
    }
}

/// The next that there is to keep; if a session is forgotten, which.
fn next(endpoint: &mut Server, lent: &mut Lent) -> Option<(Secret, Option<[u8; SESSION_ID]>)> {
    let mut out = Zeroizing::new([0; LONGEST_KEPT]);
    let mut forgotten = None;
    let record = match endpoint.poll_kept(&mut lent.cx(), &mut out)? {
        sixlock_endpoint::Kept::Resumable { len, left, .. } => {
            let until = now_ms().saturating_add(i64::from(left.millis()));
            Record::Resumable { until, kept: out.get(..len)? }
        }
        sixlock_endpoint::Kept::Forgotten { id } => {
            forgotten = Some(id);
            Record::Forgotten { id }
        }
    };
    Some((record.to_bytes(), forgotten))
}

/// More than an endpoint keeps anything for is as much as it does.
fn in_milliseconds(duration: Duration) -> sixlock_base::Duration {
    sixlock_base::Duration::from_millis(u32::try_from(duration.as_millis()).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::time::Instant;

    use sixlock_endpoint::{Config, Endpoint};

    use super::super::handover::Parcel;
    use super::super::sessions::Sessions;
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
    fn place(sessions: u32, shard: &'static Shard) -> Place {
        let mut lent = Lent::new();
        let config = Config { max_resumable: sessions, shard: Some(shard), ..Config::default() };
        let endpoint = Endpoint::new(&mut lent.cx(), config);
        Place { endpoint, lent, sessions: Sessions::new([0; 16]) }
    }

    #[tokio::test]
    async fn what_is_forgotten_waits_in_the_endpoint_for_a_shard_that_does_not_hear() {
        const SESSIONS: u32 = 3_000;
        let directory = tempfile::tempdir().unwrap();
        MasterKey::create(directory.path()).unwrap();
        let limits = Limits { records: SESSIONS.into(), milliseconds: LIFETIME };
        let kept = Kept::open(directory.path(), Whose::Doors, limits).unwrap();
        let shard = &*Box::leak(Box::new(Shard::new(0, 2, [7; 16])));
        let mut places = [place(SESSIONS, shard)];
        let (keeping, thread) = Keeping::restore(kept, &mut places, shard, &Events::unheard()).unwrap();
        let [Place { mut endpoint, mut lent, .. }] = places;
        for (id, kept) in (0..SESSIONS).map(left) {
            endpoint.restore(&mut lent.cx(), &kept, sixlock_base::Duration::from_secs(60)).unwrap();
            assert!(endpoint.forget(&id));
        }
        let [mut first, mut second] = Handover::all(2).try_into().ok().unwrap();
        keeping.keep(&mut endpoint, &mut lent, &mut first);
        assert!(!first.may_forget());
        let mut heard = BTreeSet::new();
        while heard.len() < SESSIONS as usize {
            tokio::select! {
                parcel = second.next() => {
                    let Some(Parcel::Forget { id }) = parcel else { panic!("nothing else was told") };
                    heard.insert(id);
                }
                _ = first.next() => keeping.keep(&mut endpoint, &mut lent, &mut first),
            }
        }
        assert!(heard.into_iter().eq((0..SESSIONS).map(|n| left(n).0).collect::<BTreeSet<_>>()));
        drop(keeping);
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
        let mut places = [first, second].map(|shard| place(sessions, shard));
        let events = Events::unheard();
        let (keeping, thread) = Keeping::restore(kept(), &mut places, first, &events).unwrap();
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
            assert!(places[whose].endpoint.forget(&id) && !places[1 - whose].endpoint.forget(&id));
            found[whose] += 1;
        }
        assert!(found.iter().all(|found| *found > sessions / 3), "{found:?}");
        drop(keeping);
        thread.join().unwrap();
    }
}

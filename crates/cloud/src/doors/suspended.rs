//! The sessions of shards, when the cloud ends in order and when the next begins.

use std::sync::Arc;

use sixlock_base::Duration;
use sixlock_endpoint::{LONGEST_SUSPENDED, Shard, Suspension};
use sixlock_store::{CredentialId, ResourceId};
use sixlock_telemetry::{At, Event, Events};
use zeroize::Zeroizing;

use super::{Doors, Place};
use sixlock_store::suspended::{Block, Record, Suspended, skipped};

impl Doors {
    /// Suspends the sessions that are connected and were used in the last day, those used longest ago first. When the disk fails, the others stay.
    pub(super) fn suspend(&mut self) {
        let suspending = self.suspending.clone();
        let mut block = Block::new(&suspending);
        // As long as it could be resumed; then its device is taken for gone.
        let within = sixlock_endpoint::Config::default().resumable_for;
        for session in self.endpoint.connected(&mut self.lent.cx(), within) {
            let Some((credential, association)) = self.sessions.connected_by(session) else { continue };
            let mut out = Zeroizing::new([0; LONGEST_SUSPENDED]);
            let cx = &mut self.lent.cx();
            let Some(Suspension { from, idle, len }) = self.endpoint.suspend(cx, session, &mut out) else {
                continue;
            };
            self.sessions.remove(session);
            let session = out.get(..len).unwrap_or_default();
            if !block.add(&Record { credential, association, from, idle, session }) {
                return;
            }
        }
        block.write();
    }
}

/// Goes on with sessions at the shards, of which `shard` is one, that they are for by now. Their credentials are to be among those that are
/// `good`, which are in order.
pub(super) fn wake(
    suspended: Suspended,
    good: &[(CredentialId, ResourceId)],
    places: &mut [Place],
    shard: &Shard,
    events: &Events,
) {
    let (pause, mut sessions, mut others) = (suspended.pause, 0, 0);
    let mut neighbours = Vec::new();
    let told =
        suspended.each(|record| match pause.and_then(|pause| wake_one(record, pause, good, places, shard)) {
            Some((number, is_named)) => {
                sessions += 1;
                if !is_named && places.len() > 1 {
                    neighbours.push((record.from, number));
                }
            }
            None => others += 1,
        });
    if let Err(error) = told {
        events.tell(Event::Fault { at: At::Sessions, error: &error });
    }
    neighbours.sort_unstable();
    let neighbours: Arc<[_]> = neighbours.into();
    for place in places {
        place.endpoint.know_neighbours(neighbours.clone());
    }
    events.tell(Event::SessionsRestored { sessions, others });
}

/// Goes on with a session: at which shard, and whether its device names it in its records.
fn wake_one(
    Record { credential, association, from, idle, session }: &Record<'_>,
    pause: Duration,
    good: &[(CredentialId, ResourceId)],
    places: &mut [Place],
    shard: &Shard,
) -> Option<(u16, bool)> {
    let found = good.binary_search_by_key(credential, |(credential, _)| *credential).ok()?;
    let (credential, resource) = *good.get(found)?;
    let number = shard.of_suspended(session)?;
    let Place { endpoint, lent, sessions } = places.get_mut(usize::from(number))?;
    let idle = Duration::from_millis(idle.millis().saturating_add(pause.millis()));
    let woken = endpoint.wake(&mut lent.cx(), (*from, idle), session, skipped(pause))?;
    sessions.wake(woken, (resource, credential), association);
    Some((number, endpoint.is_named(woken)))
}

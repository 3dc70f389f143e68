//! The open sessions of shards, when the server ends in order and when the next one begins.

use std::sync::Arc;

use sixlock_base::Duration;
use sixlock_endpoint::{LONGEST_SUSPENDED, SessionId, Suspension};
use zeroize::Zeroizing;

use super::machine::Machine;
use super::shard::Shard;
use sixlock_store::suspended::{Block, Record, Suspended, skipped};
use sixlock_store::{CredentialId, ResourceId};
use sixlock_telemetry::{At, Event, Events};

impl Shard {
    /// Suspends the sessions that are connected and were used in the last day, those used longest ago first. When the disk fails, the
    /// others stay.
    pub(super) fn suspend_sessions(&mut self) {
        let snapshot = self.session_store.snapshot.clone();
        let mut block = Block::new(&snapshot);
        // As long as it could be resumed; then its device is taken for gone.
        let within = sixlock_endpoint::Config::default().resumable_for;
        let (endpoint, mut cx) = self.machine.endpoint();
        for session in endpoint.connected(&mut cx, within) {
            if suspend(&mut self.machine, session, &mut block) == Some(false) {
                return;
            }
        }
        block.write();
    }
}

/// Suspends a session, and returns whether the disk takes more; `None` if it cannot be suspended.
fn suspend(machine: &mut Machine, session: SessionId, block: &mut Block<'_>) -> Option<bool> {
    let (credential, association) = machine.sessions.connected_by(session)?;
    let mut out = Zeroizing::new([0; LONGEST_SUSPENDED]);
    let (endpoint, mut cx) = machine.endpoint();
    let Suspension { from, idle, len } = endpoint.suspend(&mut cx, session, &mut out)?;
    machine.sessions.remove(session);
    let session = out.get(..len).unwrap_or_default();
    Some(block.add(&Record { credential, association, from, idle, session }))
}

/// Restores suspended sessions at the machines of the shards, of which `shard` is one, that they belong to now. Their credentials are to be
/// among those that are `good`, which are in order.
pub(super) fn restore_snapshot(
    suspended: Suspended,
    good: &[(CredentialId, ResourceId)],
    machines: &mut [Machine],
    shard: &sixlock_endpoint::Shard,
    events: &Events,
) {
    let (pause, mut sessions, mut others) = (suspended.pause, 0, 0);
    let mut neighbours = Vec::new();
    let told = suspended.each(|record| {
        match pause.and_then(|pause| restore(record, pause, good, machines, shard)) {
            Some((number, is_named)) => {
                sessions += 1;
                if !is_named && machines.len() > 1 {
                    neighbours.push((record.from, number));
                }
            }
            None => others += 1,
        }
    });
    if let Err(error) = told {
        events.tell(Event::Fault { at: At::Sessions, error: &error });
    }
    neighbours.sort_unstable();
    let neighbours: Arc<[_]> = neighbours.into();
    for machine in machines {
        machine.endpoint.know_neighbours(neighbours.clone());
    }
    events.tell(Event::SessionsRestored { sessions, others });
}

/// Restores a session: returns the number of its shard, and whether its device names it in its records.
fn restore(
    Record { credential, association, from, idle, session }: &Record<'_>,
    pause: Duration,
    good: &[(CredentialId, ResourceId)],
    machines: &mut [Machine],
    shard: &sixlock_endpoint::Shard,
) -> Option<(u16, bool)> {
    let found = good.binary_search_by_key(credential, |(credential, _)| *credential).ok()?;
    let (credential, resource) = *good.get(found)?;
    let number = shard.of_suspended(session)?;
    let Machine { endpoint, lent, sessions } = machines.get_mut(usize::from(number))?;
    let idle = Duration::from_millis(idle.millis().saturating_add(pause.millis()));
    let woken = endpoint.wake(&mut lent.cx(), (*from, idle), session, skipped(pause))?;
    sessions.restore(woken, (resource, credential), association);
    Some((number, endpoint.is_named(woken)))
}

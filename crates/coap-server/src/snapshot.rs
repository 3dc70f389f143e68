//! The open sessions of shards, when the server ends in order and when the next one begins.

use std::sync::Arc;

use sixlock_base::Duration;
use sixlock_endpoint::{Config, LONGEST_SUSPENDED, SessionId, Suspension};
use sixlock_telemetry::{Event, Events};
use zeroize::Zeroizing;

use crate::directory::Directory;
use crate::machine::Machine;
use crate::service::Service;
use crate::session_storage::{Continuation, OpenSession, SaveSession, SessionStorage};
use crate::shard::Shard;

impl<S: Service, D: Directory> Shard<S, D> {
    /// Suspends the sessions that are connected and were used in the last day, those used longest ago first. When the storage takes no
    /// more, the others stay.
    pub(crate) fn suspend_sessions(&mut self) {
        // As long as it could be resumed; then its device is taken for gone.
        let within = Config::default().resumable_for;
        let (endpoint, mut cx) = self.machine.endpoint();
        let sessions = endpoint.connected(&mut cx, within);
        let machine = &mut self.machine;
        self.session_store.storage.save_open(&mut |save| {
            for session in &sessions {
                if suspend(machine, *session, save) == Some(false) {
                    return;
                }
            }
        });
    }
}

/// Suspends a session, and returns whether more can be saved; `None` if it cannot be suspended.
fn suspend(machine: &mut Machine, session: SessionId, save: &mut SaveSession<'_>) -> Option<bool> {
    let (credential, association) = machine.sessions.connected_by(session)?;
    let mut out = Zeroizing::new([0; LONGEST_SUSPENDED]);
    let (endpoint, mut cx) = machine.endpoint();
    let Suspension { from, idle, len } = endpoint.suspend(&mut cx, session, &mut out)?;
    machine.sessions.remove(session);
    let state = out.get(..len).unwrap_or_default();
    Some(save(&OpenSession { credential, association, from, idle, state }))
}

/// Restores suspended sessions at the machines of the shards, of which `shard` is one, that they belong to now.
pub(crate) fn restore_snapshot(
    storage: &dyn SessionStorage,
    machines: &mut [Machine],
    shard: &sixlock_endpoint::Shard,
    events: &Events,
) {
    let (mut sessions, mut others, mut neighbours) = (0, 0, Vec::new());
    storage.take_open(&mut |session, continuation| match continuation
        .and_then(|continuation| restore(session, &continuation, machines, shard))
    {
        Some((number, is_named)) => {
            sessions += 1;
            if !is_named && machines.len() > 1 {
                neighbours.push((session.from, number));
            }
        }
        None => others += 1,
    });
    if sessions + others == 0 {
        return;
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
    OpenSession { credential, association, from, idle, state }: &OpenSession<'_>,
    Continuation { holder, pause, skipped }: &Continuation,
    machines: &mut [Machine],
    shard: &sixlock_endpoint::Shard,
) -> Option<(u16, bool)> {
    let number = shard.of_suspended(state)?;
    let Machine { endpoint, lent, sessions } = machines.get_mut(usize::from(number))?;
    let idle = Duration::from_millis(idle.millis().saturating_add(pause.millis()));
    let restored = endpoint.wake(&mut lent.cx(), (*from, idle), state, *skipped)?;
    sessions.restore(restored, (*holder, *credential), association);
    Some((number, endpoint.is_named(restored)))
}

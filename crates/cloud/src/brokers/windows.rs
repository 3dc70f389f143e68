//! The newest points of those who have brokers, read once for all brokers.
//!
//! A broker that keeps up finds what is new here. One that has fallen behind reads for itself, in its turn, so that it neither holds others up nor
//! takes the database's connections from them.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sixlock_store::{BrokerPoint, Cursor, Store, UserId};
use sixlock_telemetry::{At, Event, Events};
use tokio::sync::{Semaphore, watch};

use super::stopping::told_to_stop;
use crate::Error;

/// Windows that are remembered, each of at most 500 points.
const REMEMBERED: usize = 32;
/// How many brokers that have fallen behind read at the same time.
const READERS: usize = 1;
/// The least time between two looks: what is committed meanwhile is read together.
const PACE: Duration = Duration::from_millis(20);
/// When the database fails.
const AGAIN: Duration = Duration::from_secs(10);

/// Points that were stored one after the other, of all who have brokers.
struct Window {
    /// How many were begun before it.
    number: u64,
    after: Cursor,
    upto: Cursor,
    points: Vec<BrokerPoint>,
}

/// The newest points, and where they end.
pub(super) struct Windows {
    store: Store,
    recent: Mutex<VecDeque<Arc<Window>>>,
    newest: watch::Sender<Cursor>,
    turns: Semaphore,
    /// How many look at them; where nobody does, nothing is read.
    watchers: AtomicUsize,
    /// How many windows were begun.
    begun: AtomicU64,
}

/// Somebody who looks at the newest points.
pub(super) struct Watcher {
    windows: Arc<Windows>,
    /// Windows before this one may have been read before the broker was there, and so lack the points of its owner.
    first: u64,
    pub(super) newest: watch::Receiver<Cursor>,
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.windows.watchers.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Windows {
    pub(super) fn new(store: Store) -> Arc<Self> {
        let newest = watch::Sender::new(store.changes().end());
        let (recent, watchers, begun) = Default::default();
        Arc::new(Self { store, recent, newest, turns: Semaphore::new(READERS), watchers, begun })
    }

    /// Another who looks at them.
    pub(super) fn watcher(self: &Arc<Self>) -> Watcher {
        self.watchers.fetch_add(1, Ordering::SeqCst);
        let first = self.begun.load(Ordering::SeqCst);
        Watcher { windows: self.clone(), first, newest: self.newest.subscribe() }
    }

    fn recent(&self) -> MutexGuard<'_, VecDeque<Arc<Window>>> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads what is stored, until the cloud stops.
    pub(super) async fn run(self: Arc<Self>, events: Events, mut stopping: watch::Receiver<bool>) {
        let mut changes = self.store.changes();
        let mut at = *self.newest.borrow();
        loop {
            let end = changes.see_end();
            let wait = if self.watchers.load(Ordering::SeqCst) == 0 {
                // Whoever comes reads by itself what is before this.
                self.recent().clear();
                (at, _) = (end, self.newest.send_replace(end));
                PACE
            } else {
                let read = tokio::select! {
                    biased;
                    () = told_to_stop(&mut stopping) => return,
                    read = self.read(&mut at, end) => read,
                };
                match read {
                    Ok(()) => PACE,
                    Err(error) => {
                        events.tell(Event::Fault { at: At::Brokers, error: &error });
                        AGAIN
                    }
                }
            };
            let next = async {
                tokio::time::sleep(wait).await;
                // After a failure, what was there is still to be read.
                if at == end { changes.changed().await } else { Ok(()) }
            };
            tokio::select! {
                next = next => if next.is_err() { return },
                () = told_to_stop(&mut stopping) => return,
            }
        }
    }

    fn remember(&self, window: Arc<Window>) {
        let mut recent = self.recent();
        recent.push_back(window);
        if recent.len() > REMEMBERED {
            recent.pop_front();
        }
    }

    async fn read(&self, at: &mut Cursor, end: Cursor) -> Result<(), Error> {
        while *at != end {
            let number = self.begun.fetch_add(1, Ordering::SeqCst);
            let window = self.store.broker_points(None, *at, end).await?;
            let upto = window.upto;
            self.remember(Arc::new(Window { number, after: *at, upto, points: window.points }));
            *at = upto;
            self.newest.send_replace(upto);
        }
        Ok(())
    }
}

impl Watcher {
    /// The next points of `owner` behind `after`, and up to where these are all. It is not behind `newest`, which comes from [`Self::newest`].
    pub(super) async fn next(
        &self,
        owner: UserId,
        after: Cursor,
        newest: Cursor,
    ) -> Result<(Vec<BrokerPoint>, Cursor), Error> {
        let found = self
            .windows
            .recent()
            .iter()
            .find(|window| window.number >= self.first && window.spans(after))
            .cloned();
        if let Some(window) = found {
            let is_next = |point: &&BrokerPoint| point.owner == owner && is_behind(point.position, after);
            return Ok((window.points.iter().filter(is_next).cloned().collect(), window.upto));
        }
        let _turn = self.windows.turns.acquire().await;
        let window = self.windows.store.broker_points(Some(owner), after, newest).await?;
        Ok((window.points, window.upto))
    }
}

impl Window {
    /// Whether what comes next behind `position` is in it.
    fn spans(&self, position: Cursor) -> bool {
        !is_behind(self.after, position) && is_behind(self.upto, position)
    }
}

pub(super) fn is_behind(one: Cursor, other: Cursor) -> bool {
    one.for_journal() > other.for_journal()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::brokers::tests::Bench;

    #[tokio::test]
    async fn nothing_is_read_any_more_when_the_cloud_stops() {
        let bench = Bench::new("mqtt://192.0.2.1", 1).await;
        let windows = Windows::new(bench.store.clone());
        let watcher = windows.watcher();
        let begin = *watcher.newest.borrow();
        for time in 0..3 {
            bench.append(time).await;
        }
        assert!(is_behind(bench.store.changes().end(), begin));
        let (_stop, stopping) = watch::channel(true);
        windows.run(Events::unheard(), stopping).await;
        assert_eq!(*watcher.newest.borrow(), begin);
    }
}

//! Which connections are open, and which of them ends when there are too many.
//!
//! A connection is a stranger's until a request on it was signed in, from then on the user's, and a stranger's again after
//! a request that was not. A newcomer always gets a place: where there are too many strangers, that of the oldest connection
//! of the address that has the most, and of several such, of all of theirs. So whoever holds connections open, or opens
//! many, ends their own. A stranger's only connection is ended by others only if they come from as many addresses as there
//! are places for strangers; until a request of a user's new connection was read, it is such a one.
//!
//! Connections of a proxy that is trusted are those of the clients that it names, from the first request on.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sixlock_store::UserId;
use tokio::sync::{Notify, oneshot};

/// How many connections there may be at the same time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionLimits {
    /// In all. Where all are users' or idle ones of proxies, new ones wait in the system's queue.
    pub(crate) all: usize,
    /// Of strangers. Beyond, the oldest of the address that has the most ends.
    pub(crate) strangers: usize,
    /// Of strangers of one address, or /64 of IPv6. Beyond, the oldest of these ends.
    pub(crate) strangers_of_address: usize,
    /// Of one user. Those beyond count as strangers'.
    pub(crate) of_user: usize,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        // A process may have 1024 files open, unless its operator says otherwise: a quarter is for all that is not HTTP.
        Self { all: 768, strangers: 320, strangers_of_address: 128, of_user: 64 }
    }
}

impl ConnectionLimits {
    /// Of all users: what strangers leave.
    const fn users(&self) -> usize {
        self.all.saturating_sub(self.strangers)
    }
}

/// Whose a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holder {
    Stranger(IpAddr),
    User(UserId),
    /// A trusted proxy's, on which nothing was asked yet.
    Proxy,
}

struct Connection {
    holder: Holder,
    /// Ends it.
    end: oneshot::Sender<()>,
}

#[derive(Default)]
struct Table {
    /// By the order in which they came: the first is the oldest.
    connections: BTreeMap<u64, Connection>,
    next: u64,
}

/// The connections that are open. Clones share the table.
#[derive(Clone)]
pub(super) struct Connections {
    table: Arc<Mutex<Table>>,
    limits: ConnectionLimits,
    /// Tells that a connection has ended or has become a stranger's.
    room: Arc<Notify>,
}

/// A connection's place in the table. It is free again when this is dropped.
pub(super) struct Permit {
    connections: Connections,
    number: u64,
}

impl Connections {
    pub(super) fn new(limits: ConnectionLimits) -> Self {
        Self { table: Arc::default(), limits, room: Arc::default() }
    }

    /// Returns when a newcomer can have a place.
    pub(super) async fn room(&self) {
        loop {
            let notified = self.room.notified();
            if self.table().has_room(&self.limits) {
                return;
            }
            notified.await;
        }
    }

    /// A place for a connection from `address`, or for one of a trusted proxy, and what tells that it has to end.
    pub(super) fn enter(&self, address: Option<IpAddr>) -> (Permit, oneshot::Receiver<()>) {
        let (end, ended) = oneshot::channel();
        let mut table = self.table();
        let number = table.next;
        table.next += 1;
        let holder = address.map_or(Holder::Proxy, Holder::Stranger);
        table.connections.insert(number, Connection { holder, end });
        table.keep_to(&self.limits, number);
        (Permit { connections: self.clone(), number }, ended)
    }

    /// Ends a stranger's connection, if there is one: the oldest of the address that has the most.
    pub(super) fn end_one(&self) {
        self.table().end_one_of_most(u64::MAX);
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn has_room(&self, limits: &ConnectionLimits) -> bool {
        self.connections.len() < limits.all || self.oldest_stranger(|_| true, u64::MAX).is_some()
    }

    fn count(&self, which: impl Fn(Holder) -> bool) -> usize {
        self.connections.values().filter(|connection| which(connection.holder)).count()
    }

    /// The stranger's connection that is open longest, of those addresses, but for the one with the number `but`.
    fn oldest_stranger(&self, which: impl Fn(IpAddr) -> bool, but: u64) -> Option<u64> {
        let is_one = |holder| matches!(holder, Holder::Stranger(address) if which(address));
        let mut strangers = self.connections.iter().filter(|(number, _)| **number != but);
        strangers.find(|(_, connection)| is_one(connection.holder)).map(|(number, _)| *number)
    }

    /// Ends what is too much now that the connection with this number has come, or has become a stranger's.
    fn keep_to(&mut self, limits: &ConnectionLimits, number: u64) {
        let Some(holder) = self.connections.get(&number).map(|connection| connection.holder) else { return };
        if let Holder::Stranger(own) = holder {
            let is_own = |holder| holder == Holder::Stranger(own);
            if self.count(is_own) > limits.strangers_of_address {
                self.end_oldest(|address| address == own, number);
            }
            if self.count(|holder| matches!(holder, Holder::Stranger(_))) > limits.strangers {
                self.end_one_of_most(number);
            }
        }
        if self.connections.len() > limits.all {
            self.end_one_of_most(number);
        }
    }

    /// Ends the oldest connection of the addresses that have the most strangers, but for the one with the number `but`.
    fn end_one_of_most(&mut self, but: u64) {
        let counts = self.strangers_by_address();
        let Some(most) = counts.values().max() else { return };
        let has_most = |address| counts.get(&address) == Some(most);
        // If `but` is all that they have, the oldest of all.
        let one = self.oldest_stranger(has_most, but).or_else(|| self.oldest_stranger(|_| true, but));
        one.into_iter().for_each(|one| self.end(one));
    }

    fn strangers_by_address(&self) -> HashMap<IpAddr, usize> {
        let mut counts = HashMap::new();
        for connection in self.connections.values() {
            if let Holder::Stranger(address) = connection.holder {
                *counts.entry(address).or_default() += 1;
            }
        }
        counts
    }

    fn end_oldest(&mut self, which: impl Fn(IpAddr) -> bool, but: u64) {
        if let Some(oldest) = self.oldest_stranger(which, but) {
            self.end(oldest);
        }
    }

    fn end(&mut self, number: u64) {
        if let Some(connection) = self.connections.remove(&number) {
            // It may be about to end by itself.
            let _ = connection.end.send(());
        }
    }
}

impl Permit {
    /// A request on this connection is from `address`, and nobody's so far.
    pub(super) fn is_strangers(&self, address: IpAddr) {
        self.becomes(Holder::Stranger(address));
    }

    /// A request on this connection is of `user`.
    pub(super) fn is_users(&self, user: UserId) {
        let limits = self.connections.limits;
        let mut table = self.connections.table();
        if table.connections.get(&self.number).is_some_and(|known| known.holder == Holder::User(user)) {
            return;
        }
        let own = table.count(|holder| holder == Holder::User(user));
        let all = table.count(|holder| matches!(holder, Holder::User(_)));
        if let Some(connection) = table.connections.get_mut(&self.number)
            && own < limits.of_user
            && all < limits.users()
        {
            connection.holder = Holder::User(user);
        }
    }

    fn becomes(&self, holder: Holder) {
        let mut table = self.connections.table();
        let Some(connection) = table.connections.get_mut(&self.number) else { return };
        if connection.holder != holder {
            connection.holder = holder;
            table.keep_to(&self.connections.limits, self.number);
            self.connections.room.notify_waiters();
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.connections.table().connections.remove(&self.number);
        self.connections.room.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: ConnectionLimits =
        ConnectionLimits { all: 6, strangers: 4, strangers_of_address: 2, of_user: 1 };

    fn address(n: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, n])
    }

    /// The numbers of those that are to end.
    fn ended(open: &mut [(Permit, oneshot::Receiver<()>)]) -> Vec<usize> {
        let ended = open.iter_mut().enumerate().filter_map(|(n, (_, end))| end.try_recv().ok().map(|()| n));
        ended.collect()
    }

    #[test]
    fn an_address_ends_its_own_oldest_connection_and_no_others() {
        let connections = Connections::new(LIMITS);
        let mut open: Vec<_> =
            [1, 2, 1, 1, 1].map(|n| connections.enter(Some(address(n)))).into_iter().collect();
        assert_eq!(ended(&mut open), [0, 2]);
        // Beyond what strangers have in all, the oldest of the address that has the most ends.
        open.extend([3, 4].map(|n| connections.enter(Some(address(n)))));
        assert_eq!(ended(&mut open), [3]);
        // Where all have as many, it is the oldest of all.
        open.push(connections.enter(Some(address(5))));
        assert_eq!(ended(&mut open), [1]);
    }

    #[test]
    fn few_addresses_that_open_many_connections_end_no_others() {
        let limits = ConnectionLimits::default();
        let connections = Connections::new(limits);
        let (_user, mut end) = connections.enter(Some(address(200)));
        let mut open = Vec::new();
        for n in 0..20 * limits.strangers {
            open.push(connections.enter(Some(address((n % 100) as u8))));
            assert!(end.try_recv().is_err(), "{n}");
        }
        assert_eq!(connections.table().connections.len(), limits.strangers);
        // As many addresses as there are places can.
        for n in 0..limits.strangers as u16 {
            let [high, low] = n.to_be_bytes();
            open.push(connections.enter(Some(IpAddr::from([198, 18, high, low]))));
        }
        assert!(end.try_recv().is_ok());
    }

    #[test]
    fn strangers_end_no_connection_of_a_user_and_users_are_served_while_strangers_hang() {
        let connections = Connections::new(LIMITS);
        let mut open = vec![connections.enter(Some(address(1))), connections.enter(Some(address(1)))];
        open[0].0.is_users(UserId(1));
        open[1].0.is_users(UserId(2));
        for n in 0..20 {
            open.push(connections.enter(Some(address(n % 3))));
        }
        assert!(!ended(&mut open).iter().any(|n| *n < 2));
        assert_eq!(connections.table().connections.len(), LIMITS.all);
        // One that signs out is a stranger's again, and the next to end.
        open[0].0.is_strangers(address(7));
        let mut newer: Vec<_> = [8, 9].map(|n| connections.enter(Some(address(n)))).into_iter().collect();
        assert_eq!((ended(&mut open).first(), ended(&mut newer).len()), (Some(&0), 0));
    }

    #[test]
    fn what_a_user_has_beyond_the_limit_is_not_kept_for_them() {
        let connections = Connections::new(LIMITS);
        let open: Vec<_> = (0..3).map(|n| connections.enter(Some(address(n)))).collect();
        open.iter().for_each(|(place, _)| place.is_users(UserId(1)));
        open[0].0.is_users(UserId(1));
        assert_eq!(connections.table().count(|holder| holder == Holder::User(UserId(1))), LIMITS.of_user);
        // Those of all users together are limited, too.
        open[1].0.is_users(UserId(2));
        open[2].0.is_users(UserId(3));
        assert_eq!(connections.table().count(|holder| matches!(holder, Holder::User(_))), LIMITS.users());
    }

    #[test]
    fn connections_of_a_proxy_are_those_of_the_clients_that_it_names() {
        let connections = Connections::new(LIMITS);
        let mut open: Vec<_> = (0..5).map(|_| connections.enter(None)).collect();
        for (place, _) in &open[..3] {
            place.is_strangers(address(1));
        }
        assert_eq!(ended(&mut open), [0]);
    }

    #[tokio::test]
    async fn who_comes_when_no_stranger_is_there_waits_until_one_ends() {
        let connections = Connections::new(ConnectionLimits { all: 2, strangers: 2, ..LIMITS });
        let mut open: Vec<_> = (0..2).map(|_| connections.enter(None)).collect();
        let mut waiting = std::pin::pin!(connections.room());
        let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(waiting.as_mut().poll(&mut cx).is_pending());
        open.pop();
        waiting.await;
    }
}

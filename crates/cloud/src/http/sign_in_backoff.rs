//! How long somebody has to wait who has tried wrong passwords.
//!
//! From the third wrong password for an account from an address on, the next try has to wait: 1 s, and twice as long after
//! each further one, up to 60 s. The same holds for an address alone from its thirtieth wrong password on, whatever the
//! accounts. Nobody else waits: an account can be signed in to from any other address. Tries under way could all be wrong:
//! those beyond what is free are refused until one has ended, and are not counted. Neither is a try that was not looked
//! into, as when too many passwords are being tried. Each minute without a wrong password takes one
//! off the count, and a right password takes all off that of its account and address.

use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Wrong passwords for an account from an address, before the next has to wait.
const OF_PAIR: u32 = 3;
/// Wrong passwords from an address, before the next has to wait.
const OF_ADDRESS: u32 = 30;
/// The longest wait.
const LONGEST_S: u64 = 60;
/// After so long without a wrong password, one is taken off the count.
const FORGET_MS: u64 = 60_000;
/// A table has so many rows of so many entries.
const ROWS: usize = 2048;
const ENTRIES: usize = 8;

/// How often wrong passwords were tried of late.
pub(super) struct Backoff {
    pairs: Mutex<Table>,
    addresses: Mutex<Table>,
    hash: RandomState,
    begun: Instant,
}

/// A try that is under way. Dropped without having been right or wrong, it was not looked into.
pub(super) struct Try<'a> {
    backoff: &'a Backoff,
    pair: u64,
    address: u64,
}

/// Why a try is not made now.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// Too many were wrong: it may be made after so many seconds.
    Seconds(u32),
    /// Others are under way.
    Others,
}

impl Default for Backoff {
    fn default() -> Self {
        Self {
            pairs: Mutex::new(Table::new(OF_PAIR)),
            addresses: Mutex::new(Table::new(OF_ADDRESS)),
            hash: RandomState::new(),
            begun: Instant::now(),
        }
    }
}

impl Backoff {
    /// Begins a try of a password for `account` from `address`, if it need not wait.
    pub(super) fn begin(&self, account: &str, address: IpAddr) -> Result<Try<'_>, Wait> {
        self.begin_at(account, address, self.now())
    }

    fn begin_at(&self, account: &str, address: IpAddr, now: u64) -> Result<Try<'_>, Wait> {
        let pair = self.hash.hash_one((account, address));
        let address = self.hash.hash_one(address);
        let (mut pairs, mut addresses) = (lock(&self.pairs), lock(&self.addresses));
        let wait = pairs.wait(pair, now).max(addresses.wait(address, now));
        if wait > 0 {
            return Err(Wait::Seconds(wait.div_ceil(1000).try_into().unwrap_or(u32::MAX)));
        }
        if pairs.is_taken(pair, now) || addresses.is_taken(address, now) {
            return Err(Wait::Others);
        }
        pairs.begin(pair, now);
        addresses.begin(address, now);
        Ok(Try { backoff: self, pair, address })
    }

    fn now(&self) -> u64 {
        self.begun.elapsed().as_millis() as u64
    }
}

impl Try<'_> {
    /// The password was right.
    pub(super) fn right(self) {
        lock(&self.backoff.pairs).forget(self.pair);
    }

    /// It counts, whether it was right or not.
    pub(super) fn count(self) {
        self.wrong();
    }

    /// The password was wrong.
    pub(super) fn wrong(self) {
        let now = self.backoff.now();
        self.wrong_at(now);
    }

    fn wrong_at(self, now: u64) {
        lock(&self.backoff.pairs).count(self.pair, now);
        lock(&self.backoff.addresses).count(self.address, now);
    }
}

impl Drop for Try<'_> {
    fn drop(&mut self) {
        lock(&self.backoff.pairs).end(self.pair);
        lock(&self.backoff.addresses).end(self.address);
    }
}

fn lock(table: &Mutex<Table>) -> std::sync::MutexGuard<'_, Table> {
    table.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Clone, Copy, Default)]
struct Entry {
    /// The hash of what it is about, under a key that nobody knows.
    key: u64,
    /// Wrong passwords.
    wrong: u32,
    /// Tries under way. An entry with none, and no wrong passwords, is free.
    under_way: u32,
    /// When the latest was tried, in milliseconds.
    latest: u64,
}

impl Entry {
    /// The wrong passwords that are not forgotten at the time `now`.
    fn remembered(&self, now: u64) -> u32 {
        let forgotten = now.saturating_sub(self.latest) / FORGET_MS;
        self.wrong.saturating_sub(forgotten.try_into().unwrap_or(u32::MAX))
    }

    /// The wrong passwords, if all that are under way are wrong.
    fn at_most(&self, now: u64) -> u32 {
        self.remembered(now).saturating_add(self.under_way)
    }
}

/// How many wrong passwords were tried for whom. When the row of a newcomer is full, the entry with the fewest is
/// forgotten, of several the oldest: that lets somebody try sooner and keeps nobody out.
struct Table {
    rows: Box<[[Entry; ENTRIES]]>,
    /// So many wrong ones are free.
    free: u32,
}

impl Table {
    fn new(free: u32) -> Self {
        Self { rows: vec![[Entry::default(); ENTRIES]; ROWS].into(), free }
    }

    fn row(&mut self, key: u64) -> &mut [Entry; ENTRIES] {
        // The upper bits, as the lower ones tell entries of a row apart as well.
        let row = (key >> 32) as usize % self.rows.len();
        &mut self.rows[row]
    }

    fn entry(&mut self, key: u64) -> Option<&mut Entry> {
        self.row(key).iter_mut().find(|entry| entry.key == key && entry.wrong + entry.under_way > 0)
    }

    /// How many milliseconds the next try has to wait.
    fn wait(&mut self, key: u64, now: u64) -> u64 {
        let free = self.free;
        let Some(entry) = self.entry(key) else { return 0 };
        (entry.latest + delay_ms(entry.remembered(now), free)).saturating_sub(now)
    }

    /// Whether tries under way, if they are wrong, make the next one wait.
    fn is_taken(&mut self, key: u64, now: u64) -> bool {
        let free = self.free;
        self.entry(key).is_some_and(|entry| entry.under_way > 0 && entry.at_most(now) >= free)
    }

    /// The entry of `key`, a new one if need be.
    fn entry_or_new(&mut self, key: u64, now: u64) -> Option<&mut Entry> {
        let row = self.row(key);
        let known = row.iter().position(|entry| entry.key == key && entry.wrong + entry.under_way > 0);
        if let Some(known) = known {
            return row.get_mut(known);
        }
        let entry = row.iter_mut().min_by_key(|entry| (entry.at_most(now), entry.latest))?;
        *entry = Entry { key, latest: now, ..Entry::default() };
        Some(entry)
    }

    /// Counts a try that begins.
    fn begin(&mut self, key: u64, now: u64) {
        self.entry_or_new(key, now).into_iter().for_each(|entry| entry.under_way += 1);
    }

    /// A try has ended. Its entry may have been forgotten.
    fn end(&mut self, key: u64) {
        self.entry(key).into_iter().for_each(|entry| entry.under_way = entry.under_way.saturating_sub(1));
    }

    /// Counts a wrong password.
    fn count(&mut self, key: u64, now: u64) {
        if let Some(entry) = self.entry_or_new(key, now) {
            (entry.wrong, entry.latest) = (entry.remembered(now).saturating_add(1), now);
        }
    }

    fn forget(&mut self, key: u64) {
        self.entry(key).into_iter().for_each(|entry| entry.wrong = 0);
    }
}

/// How long the next try waits after so many wrong ones, of which some are free.
fn delay_ms(wrong: u32, free: u32) -> u64 {
    match wrong.checked_sub(free) {
        None => 0,
        Some(beyond) => 1000 * (1u64 << beyond.min(6)).min(LONGEST_S),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(n: u32) -> IpAddr {
        IpAddr::from(n.to_be_bytes())
    }

    /// Tries wrong passwords until it has to wait, and returns how often it tried and how long it has to wait.
    fn tries(backoff: &Backoff, account: &str, from: IpAddr, now: u64) -> (u32, u32) {
        let mut tried = 0;
        loop {
            match backoff.begin_at(account, from, now) {
                Ok(begun) => {
                    begun.wrong_at(now);
                    tried += 1;
                }
                Err(Wait::Seconds(wait)) => return (tried, wait),
                Err(Wait::Others) => unreachable!("none is under way"),
            }
        }
    }

    #[test]
    fn after_three_wrong_passwords_the_wait_begins_and_doubles_up_to_a_minute() {
        let backoff = Backoff::default();
        let mut now = 0;
        assert_eq!(tries(&backoff, "ann", address(1), now), (3, 1));
        for expected in [2, 4, 8, 16, 32, 60, 60, 60] {
            // Not a moment sooner.
            let (_, wait) = tries(&backoff, "ann", address(1), now);
            assert_eq!(tries(&backoff, "ann", address(1), now + 1000 * u64::from(wait) - 1), (0, 1));
            now += 1000 * u64::from(wait);
            assert_eq!(tries(&backoff, "ann", address(1), now), (1, expected));
        }
    }

    #[test]
    fn nobody_locks_another_out() {
        let backoff = Backoff::default();
        assert_eq!(tries(&backoff, "ann", address(1), 0).0, 3);
        // Another account from there, and this one from elsewhere.
        assert!(backoff.begin_at("bob", address(1), 0).is_ok());
        assert!(backoff.begin_at("ann", address(2), 0).is_ok());
    }

    #[test]
    fn an_address_waits_after_thirty_wrong_passwords_for_whatever_accounts() {
        let backoff = Backoff::default();
        for n in 0..30 {
            backoff.begin_at(&format!("user {n}"), address(1), 0).unwrap().wrong_at(0);
        }
        assert_eq!(tries(&backoff, "user 30", address(1), 0), (0, 1));
        assert_eq!(tries(&backoff, "user 30", address(2), 0).0, 3);
    }

    #[test]
    fn a_right_password_takes_the_count_away() {
        let backoff = Backoff::default();
        for _ in 0..100 {
            let first = backoff.begin_at("ann", address(1), 0).unwrap();
            let address_hash = first.address;
            first.wrong_at(0);
            backoff.begin_at("ann", address(1), 0).unwrap().wrong_at(0);
            backoff.begin_at("ann", address(1), 0).unwrap().right();
            // What was wrong stays with the address.
            let mut addresses = lock(&backoff.addresses);
            let entry = addresses.entry(address_hash).unwrap();
            assert_eq!((entry.wrong, entry.under_way), (2, 0));
            entry.wrong = 0;
        }
    }

    #[test]
    fn tries_that_were_not_looked_into_are_not_counted() {
        let backoff = Backoff::default();
        for _ in 0..100 {
            drop(backoff.begin_at("ann", address(1), 0).unwrap());
        }
        assert_eq!(tries(&backoff, "ann", address(1), 0).0, 3);
    }

    #[test]
    fn of_many_tries_at_the_same_time_few_are_under_way_and_right_ones_are_not_counted() {
        let backoff = Backoff::default();
        for _ in 0..10 {
            let mut begun: Vec<_> = (0..10).map(|_| backoff.begin_at("ann", address(1), 0)).collect();
            assert!(begun[3..].iter().all(|begun| matches!(begun, Err(Wait::Others))));
            begun.truncate(3);
            begun.into_iter().for_each(|begun| begun.unwrap().right());
        }
        // Three wrong ones at the same time, and no more, likewise.
        let begun: Vec<_> = (0..10).filter_map(|_| backoff.begin_at("ann", address(1), 0).ok()).collect();
        begun.into_iter().for_each(|begun| begun.wrong_at(0));
        assert_eq!(tries(&backoff, "ann", address(1), 0), (0, 1));
        // When the wait is over, it is one at a time.
        let begun: Vec<_> = (0..10).map(|_| backoff.begin_at("ann", address(1), 1000)).collect();
        assert_eq!(begun.iter().filter(|begun| begun.is_ok()).count(), 1);
    }

    #[test]
    fn counts_are_forgotten_with_time() {
        let backoff = Backoff::default();
        assert_eq!(tries(&backoff, "ann", address(1), 0), (3, 1));
        assert_eq!(tries(&backoff, "ann", address(1), 10 * FORGET_MS).0, 3);
    }

    #[test]
    fn a_full_table_forgets_those_with_the_fewest_and_keeps_nobody_out() {
        let backoff = Backoff::default();
        let mut now = 0;
        while now < 40_000 {
            now += 1000 * u64::from(tries(&backoff, "ann", address(1), now).1);
        }
        let waits = |backoff: &Backoff| tries(backoff, "ann", address(1), now).1;
        let (tried, wait) = tries(&backoff, "ann", address(1), now);
        assert!(wait > 30, "{tried} {wait}");
        for n in 0..4 * (ROWS * ENTRIES) as u32 {
            backoff.begin_at("somebody", address(1000 + n), now).unwrap().wrong_at(now);
        }
        assert_eq!(waits(&backoff), wait);
        let entries = lock(&backoff.pairs).rows.len() * ENTRIES;
        assert_eq!(entries, ROWS * ENTRIES);
    }
}

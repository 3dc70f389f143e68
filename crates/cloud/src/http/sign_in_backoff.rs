//! How long somebody has to wait who has tried wrong passwords.
//!
//! From the third wrong password for an account from an address on, the next try has to wait: 1 s, and twice as long after
//! each further one, up to 60 s. The same holds for an address alone from its thirtieth wrong password on, whatever the
//! accounts. Nobody else waits: an account can be signed in to from any other address. A try counts as wrong until it
//! has turned out to be right, so that many at the same time are counted. Each minute without a wrong password takes one
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

/// A try that is under way.
pub(super) struct Try {
    pair: u64,
    address: u64,
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
    /// Begins a try of a password for `account` from `address`. If it has to wait, after how many seconds it may be made.
    pub(super) fn begin(&self, account: &str, address: IpAddr) -> Result<Try, u32> {
        self.begin_at(account, address, self.now())
    }

    /// The password was right.
    pub(super) fn right(&self, Try { pair, address }: Try) {
        lock(&self.pairs).forget(pair);
        lock(&self.addresses).take_back(address);
    }

    fn begin_at(&self, account: &str, address: IpAddr, now: u64) -> Result<Try, u32> {
        let pair = self.hash.hash_one((account, address));
        let address = self.hash.hash_one(address);
        let (mut pairs, mut addresses) = (lock(&self.pairs), lock(&self.addresses));
        match pairs.wait(pair, now).max(addresses.wait(address, now)) {
            0 => {
                pairs.count(pair, now);
                addresses.count(address, now);
                Ok(Try { pair, address })
            }
            wait => Err(wait.div_ceil(1000).try_into().unwrap_or(u32::MAX)),
        }
    }

    fn now(&self) -> u64 {
        self.begun.elapsed().as_millis() as u64
    }
}

fn lock(table: &Mutex<Table>) -> std::sync::MutexGuard<'_, Table> {
    table.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Clone, Copy, Default)]
struct Entry {
    /// The hash of what it is about, under a key that nobody knows.
    key: u64,
    /// Wrong passwords. 0 is a free entry.
    wrong: u32,
    /// When the latest was tried, in milliseconds.
    latest: u64,
}

impl Entry {
    /// The wrong passwords that are not forgotten at the time `now`.
    fn remembered(&self, now: u64) -> u32 {
        let forgotten = now.saturating_sub(self.latest) / FORGET_MS;
        self.wrong.saturating_sub(forgotten.try_into().unwrap_or(u32::MAX))
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
        self.row(key).iter_mut().find(|entry| entry.key == key && entry.wrong > 0)
    }

    /// How many milliseconds the next try has to wait.
    fn wait(&mut self, key: u64, now: u64) -> u64 {
        let free = self.free;
        let Some(entry) = self.entry(key) else { return 0 };
        (entry.latest + delay_ms(entry.remembered(now), free)).saturating_sub(now)
    }

    /// Counts a wrong password.
    fn count(&mut self, key: u64, now: u64) {
        if let Some(entry) = self.entry(key) {
            *entry = Entry { key, wrong: entry.remembered(now).saturating_add(1), latest: now };
            return;
        }
        let fewest = self.row(key).iter_mut().min_by_key(|entry| (entry.remembered(now), entry.latest));
        fewest.into_iter().for_each(|entry| *entry = Entry { key, wrong: 1, latest: now });
    }

    fn take_back(&mut self, key: u64) {
        self.entry(key).into_iter().for_each(|entry| entry.wrong -= 1);
    }

    fn forget(&mut self, key: u64) {
        self.row(key).iter_mut().filter(|entry| entry.key == key).for_each(|entry| *entry = Entry::default());
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

    /// Tries until it has to wait, and returns how often it tried and how long it has to wait.
    fn tries(backoff: &Backoff, account: &str, from: IpAddr, now: u64) -> (u32, u32) {
        let mut tried = 0;
        loop {
            match backoff.begin_at(account, from, now) {
                Ok(_) => tried += 1,
                Err(wait) => return (tried, wait),
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
            assert!(backoff.begin_at(&format!("user {n}"), address(1), 0).is_ok(), "{n}");
        }
        assert_eq!(tries(&backoff, "user 30", address(1), 0), (0, 1));
        assert_eq!(tries(&backoff, "user 30", address(2), 0).0, 3);
    }

    #[test]
    fn a_right_password_takes_the_count_away() {
        let backoff = Backoff::default();
        for _ in 0..100 {
            let first = backoff.begin_at("ann", address(1), 0).unwrap();
            backoff.begin_at("ann", address(1), 0).unwrap();
            backoff.right(backoff.begin_at("ann", address(1), 0).unwrap());
            // What was wrong stays with the address.
            lock(&backoff.addresses).take_back(first.address);
            lock(&backoff.addresses).take_back(first.address);
        }
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
            assert!(backoff.begin_at("somebody", address(1000 + n), now).is_ok());
        }
        assert_eq!(waits(&backoff), wait);
        let entries = lock(&backoff.pairs).rows.len() * ENTRIES;
        assert_eq!(entries, ROWS * ENTRIES);
    }
}

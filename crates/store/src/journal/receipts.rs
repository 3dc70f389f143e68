//! Posts that were stored, known again for as long as one can be transmitted again.

use std::collections::HashMap;

use super::idempotency::{Idempotency, Latest, Post, RETRANSMISSION_WINDOW_MS};

/// The most receipts of one age. When there are as many they become the old ones early: at 20,000 posts a second, after
/// 50 s, which is still longer than a client goes on sending (MAX_TRANSMIT_SPAN, 45 s).
const MOST: usize = 1_000_000;

/// The receipts. They live as long as the window, and at most twice as long.
pub(crate) struct Receipts {
    young: HashMap<Post, Latest>,
    old: HashMap<Post, Latest>,
    /// When the first of the young ones was made.
    since: i64,
    /// Those of the commit that is being made.
    new: HashMap<Post, Latest>,
    written: Vec<u8>,
}

impl Receipts {
    /// None yet.
    pub(super) fn new(now: i64) -> Self {
        let (young, old, new) = (HashMap::new(), HashMap::new(), HashMap::new());
        Self { young, old, since: now, new, written: Vec::new() }
    }

    /// Adds one that was stored before, later ones last.
    pub(super) fn restore(&mut self, Idempotency { post, latest }: Idempotency) {
        self.young.insert(post, latest);
    }

    /// Whether a post is new.
    pub(super) fn is_unknown(&self, transmitted: &Idempotency) -> bool {
        let Idempotency { post, latest } = transmitted;
        self.known(post).is_none_or(|known| known.association == latest.association && known != latest)
    }

    /// The latest transmission of a post that was stored.
    fn known(&self, post: &Post) -> Option<&Latest> {
        [&self.new, &self.young, &self.old].into_iter().find_map(|receipts| receipts.get(post))
    }

    /// Whether a post is new. It gets a receipt in the commit that is being made, also if it is not, for it was
    /// transmitted once more.
    pub(super) fn is_new(&mut self, transmitted: &Idempotency) -> bool {
        let Idempotency { post, latest } = transmitted;
        let is_new = self.is_unknown(transmitted);
        if self.known(post) != Some(latest) {
            self.new.insert(*post, *latest);
            transmitted.write(&mut self.written);
        }
        is_new
    }

    /// Returns those of the commit that is being made, as they are stored.
    pub(super) fn written(&self) -> &[u8] {
        &self.written
    }

    /// The commit was made.
    pub(super) fn keep(&mut self) {
        self.young.extend(self.new.drain());
        self.written.clear();
    }

    /// The commit was not made.
    pub(super) fn discard(&mut self) {
        self.new.clear();
        self.written.clear();
    }

    /// Whether it is time for [`Receipts::age`].
    pub(super) fn is_aged(&self, now: i64) -> bool {
        now.abs_diff(self.since) >= RETRANSMISSION_WINDOW_MS.unsigned_abs() || self.young.len() >= MOST
    }

    /// When the first of the young ones was made. Those in storage that are older can go.
    pub(super) fn young_since(&self) -> i64 {
        self.since
    }

    /// Forgets the old ones; the young become old.
    pub(super) fn age(&mut self, now: i64) {
        self.old = std::mem::take(&mut self.young);
        self.since = now;
    }
}

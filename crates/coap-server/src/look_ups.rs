//! Handshakes that wait for keys.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;

use sixlock_endpoint::AuthenticationMethod;

use crate::directory::{Known, LookUpFailed};

/// An identity, and how it is proved.
pub(crate) type Claim = (AuthenticationMethod, Vec<u8>);

/// The result of a look-up.
pub(crate) struct LookedUp {
    pub(crate) claim: Claim,
    /// `None` if there is no such identity.
    pub(crate) known: Result<Option<Known>, LookUpFailed>,
    /// How often known keys had been forgotten when it began.
    pub(crate) forgotten: u64,
}

/// The handshakes `S` that wait for keys, by identity: of an identity, one look-up is under way at a time, and it answers
/// those who asked before it began. However slow it is and however often its client comes back, it takes one connection
/// to the database.
pub(crate) struct LookUps<S> {
    /// Of so many identities at the same time.
    limit: usize,
    waiting: HashMap<Claim, Waiting<S>>,
    claims: HashMap<S, Claim>,
}

struct Waiting<S> {
    /// They asked before the look-up began.
    before: Vec<S>,
    /// They asked since: what it finds may be out of date for them.
    since: Vec<S>,
}

/// What is to be done for a handshake that needs a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// Look the key up.
    Begin,
    /// Nothing: that is under way.
    Wait,
    /// Give it up, for there are as many look-ups as there may be; its client begins anew.
    Full,
}

impl<S: Copy + Eq + Hash> LookUps<S> {
    /// None yet, and of at most `limit` identities at the same time.
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, waiting: HashMap::new(), claims: HashMap::new() }
    }

    /// `session` needs to know whose `claim` is.
    pub(crate) fn ask(&mut self, session: S, claim: Claim) -> Asked {
        let full = self.waiting.len() >= self.limit;
        let asked = match self.waiting.entry(claim.clone()) {
            Entry::Occupied(waiting) => {
                waiting.into_mut().since.push(session);
                Asked::Wait
            }
            Entry::Vacant(_) if full => return Asked::Full,
            Entry::Vacant(vacant) => {
                vacant.insert(Waiting { before: vec![session], since: Vec::new() });
                Asked::Begin
            }
        };
        self.claims.insert(session, claim);
        asked
    }

    /// The look-up for `claim` begins again, for all that wait.
    pub(crate) fn again(&mut self, claim: &Claim) {
        if let Some(Waiting { before, since }) = self.waiting.get_mut(claim) {
            before.append(since);
        }
    }

    /// The look-up for `claim` has ended: whom it answers, and whether it is to be made again for others.
    pub(crate) fn ended(&mut self, claim: &Claim) -> (Vec<S>, bool) {
        let Some(waiting) = self.waiting.get_mut(claim) else { return (Vec::new(), false) };
        let since = std::mem::take(&mut waiting.since);
        let again = !since.is_empty();
        let before = std::mem::replace(&mut waiting.before, since);
        if !again {
            self.waiting.remove(claim);
        }
        for session in &before {
            self.claims.remove(session);
        }
        (before, again)
    }

    /// `session` is over and needs no key any more. So no more wait than there are handshakes, which are limited.
    pub(crate) fn leave(&mut self, session: S) {
        let claim = self.claims.remove(&session);
        if let Some(Waiting { before, since }) = claim.and_then(|claim| self.waiting.get_mut(&claim)) {
            before.retain(|other| *other != session);
            since.retain(|other| *other != session);
        }
    }

    /// How many look-ups are under way.
    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(identity: &[u8]) -> Claim {
        (AuthenticationMethod::PreSharedKey, identity.to_vec())
    }

    #[test]
    fn an_identity_is_looked_up_once_at_a_time_and_answers_those_who_asked_before() {
        let mut look_ups = LookUps::new(100);
        assert_eq!(look_ups.ask(1, claim(b"a")), Asked::Begin);
        assert_eq!([2, 3].map(|session| look_ups.ask(session, claim(b"a"))), [Asked::Wait; 2]);
        assert_eq!(look_ups.ask(4, claim(b"b")), Asked::Begin);
        look_ups.leave(3);
        assert_eq!(look_ups.ended(&claim(b"a")), (vec![1], true));
        assert_eq!(look_ups.ask(5, claim(b"a")), Asked::Wait);
        // What it found is no longer true: it begins again for all.
        look_ups.again(&claim(b"a"));
        assert_eq!(look_ups.ended(&claim(b"a")), (vec![2, 5], false));
        look_ups.leave(4);
        assert_eq!(look_ups.len(), 1, "a look-up that nobody waits for is under way all the same");
        assert_eq!(look_ups.ended(&claim(b"b")), (vec![], false));
        assert_eq!(look_ups.len(), 0);
        assert!(look_ups.claims.is_empty());
    }

    #[test]
    fn beyond_the_limit_new_identities_are_given_up_and_known_ones_wait() {
        const LIMIT: usize = 100;
        let mut look_ups = LookUps::new(LIMIT);
        for n in 0..LIMIT {
            assert_eq!(look_ups.ask(n, claim(&n.to_be_bytes())), Asked::Begin);
        }
        assert_eq!(look_ups.ask(0, claim(b"one more")), Asked::Full);
        assert_eq!(look_ups.ask(1, claim(&0usize.to_be_bytes())), Asked::Wait);
        assert_eq!(look_ups.len(), LIMIT);
    }
}

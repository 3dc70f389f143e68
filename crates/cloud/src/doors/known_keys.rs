//! Keys that were looked up lately.

use std::collections::HashMap;

use super::look_ups::Claim;
use crate::store::{CredentialId, Known};

/// As many identities are remembered, and up to twice as many: some 200 bytes each.
const REMEMBERED: usize = 16_384;

/// Whose identities are that were looked up lately, so that whoever comes back does not wait for the database. An identity that
/// is not known is looked up each time. When there are too many, those that were not asked for since there last were too many are forgotten.
///
/// It is to be told of each credential that ends or is given an end, before whoever did that learns that it is done.
#[derive(Default)]
pub(super) struct KnownKeys {
    young: HashMap<Claim, Known>,
    old: HashMap<Claim, Known>,
}

impl KnownKeys {
    /// Remembers what was looked up.
    pub(super) fn insert(&mut self, claim: Claim, known: Known) {
        if self.young.len() >= REMEMBERED {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(claim, known);
    }

    /// Whose the identity is, if that is remembered and it is good at the time `now`.
    pub(super) fn get(&mut self, claim: &Claim, now: i64) -> Option<Known> {
        if !self.young.contains_key(claim) {
            let (claim, known) = self.old.remove_entry(claim)?;
            self.insert(claim, known);
        }
        self.young.get(claim).filter(|known| known.expires.is_none_or(|end| end > now)).cloned()
    }

    /// Forgets these credentials.
    pub(super) fn forget(&mut self, is_meant: impl Fn(CredentialId) -> bool) {
        for remembered in [&mut self.young, &mut self.old] {
            remembered.retain(|_, known| !is_meant(known.credential));
        }
    }
}

#[cfg(test)]
mod tests {
    use sixlock_endpoint::Proof;

    use super::*;
    use crate::Secret;
    use crate::store::ResourceId;

    fn claim(n: usize) -> Claim {
        (Proof::PreSharedKey, n.to_be_bytes().to_vec())
    }

    fn known(n: usize, expires: Option<i64>) -> Known {
        let key = Secret::new(vec![n as u8; 16]);
        Known { credential: CredentialId(n as i64), resource: ResourceId(1), key, expires }
    }

    #[test]
    fn a_key_is_remembered_until_it_ends_or_is_forgotten() {
        let mut keys = KnownKeys::default();
        keys.insert(claim(1), known(1, None));
        keys.insert(claim(2), known(2, Some(100)));
        assert_eq!(keys.get(&claim(1), i64::MAX).map(|known| known.credential), Some(CredentialId(1)));
        assert!(keys.get(&(Proof::Certificate, claim(1).1), 0).is_none(), "it is proved otherwise");
        assert!(keys.get(&claim(2), 99).is_some());
        assert!(keys.get(&claim(2), 100).is_none());
        keys.forget(|credential| credential == CredentialId(1));
        assert!(keys.get(&claim(1), 0).is_none());
        assert!(keys.get(&claim(2), 99).is_some());
    }

    #[test]
    fn those_not_asked_for_are_forgotten_and_what_ends_ends_among_the_old_as_well() {
        let mut keys = KnownKeys::default();
        for n in 0..3 * REMEMBERED {
            keys.insert(claim(n), known(n, None));
            assert!(keys.get(&claim(0), 0).is_some(), "it is asked for");
            assert!(keys.young.len() <= REMEMBERED && keys.old.len() <= REMEMBERED);
        }
        assert!(keys.get(&claim(1), 0).is_none());
        let (claim, credential) =
            keys.old.iter().next().map(|(claim, old)| (claim.clone(), old.credential)).unwrap();
        keys.forget(|other| other == credential);
        assert!(keys.get(&claim, 0).is_none());
    }
}

//! Keys that were looked up lately.

use std::collections::HashMap;
use std::hash::Hash;

use crate::directory::Known;
use crate::ids::CredentialId;

/// As many are remembered, and up to twice as many: some 170 bytes each. A table of 16,384 places is full then.
const REMEMBERED: usize = 14_336;

/// The keys that were looked up lately by a claim `K`, so that whoever comes back does not wait for the database. A claim that
/// is not known is looked up each time. When there are too many, those that were not asked for since there last were too many are forgotten.
///
/// It is to be told of each credential that ends or is given an end, before whoever did that learns that it is done.
pub(crate) struct KnownKeys<K> {
    young: HashMap<K, Known>,
    old: HashMap<K, Known>,
    /// How often something was to be forgotten.
    forgotten: u64,
}

impl<K> Default for KnownKeys<K> {
    fn default() -> Self {
        Self { young: HashMap::new(), old: HashMap::new(), forgotten: 0 }
    }
}

impl<K: Eq + Hash> KnownKeys<K> {
    /// Remembers what was looked up, unless something was to be forgotten since the look-up began, when [`KnownKeys::forgotten`]
    /// said `forgotten`: it may be out of date.
    pub(crate) fn insert(&mut self, claim: K, known: Known, forgotten: u64) {
        if forgotten == self.forgotten {
            self.put(claim, known);
        }
    }

    fn put(&mut self, claim: K, known: Known) {
        if self.young.len() >= REMEMBERED {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(claim, known);
    }

    /// Whose the key is, if that is remembered and it is good at the time `now`.
    pub(crate) fn get(&mut self, claim: &K, now: i64) -> Option<&Known> {
        if !self.young.contains_key(claim) {
            let (claim, known) = self.old.remove_entry(claim)?;
            self.put(claim, known);
        }
        self.young.get(claim).filter(|known| known.expires.is_none_or(|end| end > now))
    }

    /// Forgets these credentials.
    pub(crate) fn forget(&mut self, is_meant: impl Fn(CredentialId) -> bool) {
        self.forgotten += 1;
        for remembered in [&mut self.young, &mut self.old] {
            remembered.retain(|_, known| !is_meant(known.credential));
        }
    }

    /// How often something was to be forgotten.
    pub(crate) fn forgotten(&self) -> u64 {
        self.forgotten
    }
}

#[cfg(test)]
mod tests {
    use zeroize::Zeroizing;

    use super::*;
    use crate::ids::{DeviceId, Holder};

    fn claim(n: usize) -> Vec<u8> {
        n.to_be_bytes().to_vec()
    }

    fn known(n: usize, expires: Option<i64>) -> Known {
        let key = Zeroizing::new(vec![n as u8; 16]);
        let holder = Holder::Device(DeviceId(1));
        Known { credential: CredentialId(n as i64), holder, key, expires }
    }

    #[test]
    fn a_key_is_remembered_until_it_ends_or_is_forgotten() {
        let mut keys = KnownKeys::default();
        keys.insert(claim(1), known(1, None), 0);
        keys.insert(claim(2), known(2, Some(100)), 0);
        assert_eq!(keys.get(&claim(1), i64::MAX).map(|known| known.credential), Some(CredentialId(1)));
        assert!(keys.get(&claim(3), 0).is_none());
        assert!(keys.get(&claim(2), 99).is_some());
        assert!(keys.get(&claim(2), 100).is_none());
        assert_eq!(keys.forgotten(), 0);
        keys.forget(|credential| credential == CredentialId(1));
        assert_eq!(keys.forgotten(), 1);
        assert!(keys.get(&claim(1), 0).is_none());
        assert!(keys.get(&claim(2), 99).is_some());
        keys.insert(claim(1), known(1, None), 0);
        assert!(keys.get(&claim(1), 0).is_none(), "it was looked up before");
        keys.insert(claim(1), known(1, None), 1);
        assert!(keys.get(&claim(1), 0).is_some());
    }

    #[test]
    fn those_not_asked_for_are_forgotten_and_what_ends_ends_among_the_old_as_well() {
        let mut keys = KnownKeys::<Vec<u8>>::default();
        for n in 0..3 * REMEMBERED {
            keys.insert(claim(n), known(n, None), 0);
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

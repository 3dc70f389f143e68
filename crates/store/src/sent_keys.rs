//! The keys that devices have sent with requests lately.

use std::collections::HashMap;

use crate::ids::{CredentialId, ResourceId};
use crate::known::Known;

/// Devices whose keys are remembered, some 170 bytes each; when there are more, remembering begins anew.
const REMEMBERED: usize = 28_672;

/// The key that each device sent last and that was found to be good, so that the next request of the device does not wait for the
/// database.
///
/// It is told of each credential that ends or is given an end before the one who ended it learns that it is done.
#[derive(Default)]
pub(crate) struct SentKeys {
    keys: HashMap<ResourceId, Known>,
    revocations: u64,
}

impl SentKeys {
    /// Returns the key that `resource` sent last, if it is good at the time `now`.
    pub(crate) fn get(&self, resource: ResourceId, now: i64) -> Option<&Known> {
        self.keys.get(&resource).filter(|known| known.expires.is_none_or(|end| end > now))
    }

    /// Remembers a key that was looked up, unless credentials have ended since the look-up began, when [`SentKeys::revocations`]
    /// returned `revocations`: the key may be one of them.
    pub(crate) fn insert(&mut self, resource: ResourceId, known: Known, revocations: u64) {
        if revocations != self.revocations {
            return;
        }
        if self.keys.len() >= REMEMBERED {
            self.keys.clear();
        }
        self.keys.insert(resource, known);
    }

    /// Forgets the credentials for which `is_revoked` holds.
    pub(crate) fn revoke(&mut self, is_revoked: impl Fn(CredentialId) -> bool) {
        self.revocations += 1;
        self.keys.retain(|_, known| !is_revoked(known.credential));
    }

    /// Returns how often credentials have ended.
    pub(crate) fn revocations(&self) -> u64 {
        self.revocations
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::Holder;
    use crate::secrets::Secret;

    fn known(n: i64, expires: Option<i64>) -> Known {
        let key = Secret::new(vec![n as u8; 16]);
        let holder = Holder::Device(ResourceId(n));
        Known { credential: CredentialId(n), holder, key, expires }
    }

    #[test]
    fn a_key_is_remembered_until_it_ends_or_is_revoked() {
        let mut keys = SentKeys::default();
        keys.insert(ResourceId(1), known(1, None), 0);
        keys.insert(ResourceId(2), known(2, Some(100)), 0);
        assert_eq!(keys.get(ResourceId(1), i64::MAX).map(|known| known.credential), Some(CredentialId(1)));
        assert!(keys.get(ResourceId(3), 0).is_none());
        assert!(keys.get(ResourceId(2), 99).is_some());
        assert!(keys.get(ResourceId(2), 100).is_none());
        keys.revoke(|credential| credential == CredentialId(1));
        assert_eq!(keys.revocations(), 1);
        assert!(keys.get(ResourceId(1), 0).is_none());
        assert!(keys.get(ResourceId(2), 99).is_some());
        keys.insert(ResourceId(1), known(1, None), 0);
        assert!(keys.get(ResourceId(1), 0).is_none(), "it was looked up before the credential ended");
        keys.insert(ResourceId(1), known(1, None), 1);
        assert!(keys.get(ResourceId(1), 0).is_some());
    }

    #[test]
    fn no_more_keys_are_remembered_than_stated() {
        let mut keys = SentKeys::default();
        for n in 0..3 * REMEMBERED as i64 {
            keys.insert(ResourceId(n), known(n, None), 0);
            assert!(keys.get(ResourceId(n), 0).is_some());
            assert!(keys.keys.len() <= REMEMBERED);
        }
    }
}

//! The master key, under which device keys and records of sessions are sealed.

use std::io;
use std::path::Path;

use sixlock_crypto::{AES_128_KEY, BlockCiphers, CcmNonce, CcmTag, Hashes, Soft, Tag};
use zeroize::Zeroizing;

use crate::error::Error;
use crate::files::{create_private, read_private};
use crate::secrets::{Secret, hex, random, unhex};

/// The file of the master key, beside the database.
pub(crate) const MASTER_KEY: &str = "master.key";

/// Seals device keys, so that the database alone tells none of them.
pub struct MasterKey(<Soft as BlockCiphers>::Aes128);

const NONCE: usize = 13;
const TAG: CcmTag = CcmTag::Sixteen;

impl MasterKey {
    /// The key of the cloud whose data are in `directory`.
    pub fn open(directory: &Path) -> Result<Self, Error> {
        let key = Zeroizing::new(read_key(&directory.join(MASTER_KEY))?);
        Ok(Self(Soft.aes_128(&key)))
    }

    /// A new key for a cloud whose data will be in `directory`. Fails if there is one.
    pub fn create(directory: &Path) -> Result<Self, Error> {
        let (path, digits) = (directory.join(MASTER_KEY), Zeroizing::new(hex(&random::<AES_128_KEY>()?)));
        create_private(&path, &digits).map_err(|error| Error::file(&path, error))?;
        Self::open(directory)
    }

    /// An empty folder but for a new key.
    #[cfg(test)]
    pub(crate) fn in_new_directory() -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        Self::create(directory.path()).unwrap();
        directory
    }

    /// The key that these hexadecimal digits spell; `None` if there are not 32 of them.
    pub fn parse(digits: &[u8]) -> Option<Self> {
        let key = Zeroizing::new(unhex(digits.trim_ascii())?);
        Some(Self(Soft.aes_128(&key)))
    }

    /// Another key for one purpose, which is the same as long as that one is.
    pub fn derive(directory: &Path, purpose: &[u8]) -> Result<[u8; AES_128_KEY], Error> {
        let key = Zeroizing::new(read_key(&directory.join(MASTER_KEY))?);
        let key = Soft.hmac_key(&*key);
        let mut derived = [0; AES_128_KEY];
        derived.copy_from_slice(&Soft.hmac_sha256(&key, &[purpose])[..AES_128_KEY]);
        Ok(derived)
    }

    /// Seals `secret` for the place that `context` names.
    pub fn seal(&self, context: &[u8], secret: &[u8]) -> Result<Vec<u8>, Error> {
        let nonce = random::<NONCE>()?;
        let mut tag = Tag::empty(TAG);
        let mut sealed = [&nonce, secret].concat();
        Soft.ccm_seal(&self.0, CcmNonce::Thirteen(&nonce), context, &mut sealed[NONCE..], &mut tag);
        sealed.extend_from_slice(tag.bytes());
        Ok(sealed)
    }

    /// Opens what [`MasterKey::seal`] made for the same context.
    pub fn open_sealed(&self, context: &[u8], sealed: &[u8]) -> Result<Secret, Error> {
        let (nonce, rest) = sealed.split_first_chunk::<NONCE>().ok_or(Error::SealedKey)?;
        let (data, tag) =
            rest.split_at_checked(rest.len().saturating_sub(TAG.len())).ok_or(Error::SealedKey)?;
        let tag = Tag::from_bytes(tag).ok_or(Error::SealedKey)?;
        let mut data = data.to_vec();
        Soft.ccm_open(&self.0, CcmNonce::Thirteen(nonce), context, &mut data, &tag)
            .map_err(|_| Error::SealedKey)?;
        Ok(Secret::new(data))
    }
}

/// The master key in `path`.
fn read_key(path: &Path) -> Result<[u8; AES_128_KEY], Error> {
    let digits = read_private(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Error::MasterKeyMissing(path.to_owned()),
        io::ErrorKind::InvalidData => Error::MasterKey(path.to_owned()),
        _ => Error::file(path, error),
    })?;
    let digits = Secret::new(digits.into_bytes());
    unhex(digits.bytes().trim_ascii()).ok_or_else(|| Error::MasterKey(path.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_key_opens_in_its_own_place_and_in_no_other() {
        let directory = tempfile::tempdir().unwrap();
        let sealed = MasterKey::create(directory.path()).unwrap().seal(b"node-1", b"secret").unwrap();
        let reopened = MasterKey::open(directory.path()).unwrap();
        assert_eq!(reopened.open_sealed(b"node-1", &sealed).unwrap().bytes(), b"secret");
        assert!(matches!(reopened.open_sealed(b"node-2", &sealed), Err(Error::SealedKey)));
        assert!(matches!(reopened.open_sealed(b"node-1", &sealed[..20]), Err(Error::SealedKey)));
        for bit in 0..sealed.len() * 8 {
            let mut spoiled = sealed.clone();
            spoiled[bit / 8] ^= 1 << (bit % 8);
            assert!(reopened.open_sealed(b"node-1", &spoiled).is_err());
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_in_the_place_of_the_master_key_is_called_one() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join(MASTER_KEY)).unwrap();
        let said = MasterKey::open(directory.path()).err().unwrap().to_string();
        assert!(said.contains("is a folder") && !said.contains("chmod"), "{said}");
    }

    #[cfg(unix)]
    #[test]
    fn a_master_key_that_others_can_read_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(MASTER_KEY);
        MasterKey::create(directory.path()).unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        assert!(matches!(MasterKey::open(directory.path()), Err(Error::File { .. })));
    }
}

//! Random tokens, files that only their owner reads, and the master key under which device keys are kept.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

use sixlock_crypto::{AES_128_KEY, CcmNonce, CcmTag, Crypto, SHA_256_DIGEST, Soft, Tag, wipe};
use zeroize::Zeroizing;

use crate::Error;

/// Bytes that are wiped when dropped and never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

impl Secret {
    /// Takes `bytes`.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

/// `N` random bytes.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| Error::Entropy)?;
    Ok(bytes)
}

/// A token nobody guesses: 32 random bytes in hexadecimal digits.
pub(crate) fn token() -> Result<String, Error> {
    Ok(hex(&random::<32>()?))
}

/// A new pre-shared key: 32 printable characters whose ASCII bytes are the key.
pub(crate) fn printable_key() -> Result<String, Error> {
    // 64 characters: six bits of each random byte choose one without bias.
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    Ok(random::<32>()?.iter().map(|byte| char::from(ALPHABET[usize::from(byte & 63)])).collect())
}

/// The digest under which a token is kept.
pub(crate) fn digest(parts: &[&[u8]]) -> [u8; SHA_256_DIGEST] {
    let mut crypto = Soft;
    let mut hash = crypto.sha256();
    for part in parts {
        crypto.sha256_update(&mut hash, &(part.len() as u64).to_be_bytes());
        crypto.sha256_update(&mut hash, part);
    }
    crypto.sha256_finish(hash)
}

/// The file of the master key, beside the database.
pub(crate) const MASTER_KEY: &str = "master.key";

/// Seals device keys, so that the database alone tells none of them.
pub(crate) struct MasterKey(<Soft as Crypto>::Aes128);

const NONCE: usize = 13;
const TAG: CcmTag = CcmTag::Sixteen;

impl MasterKey {
    /// The key of the cloud whose data are in `directory`.
    pub(crate) fn open(directory: &Path) -> Result<Self, Error> {
        let key = Zeroizing::new(read_key(&directory.join(MASTER_KEY))?);
        Ok(Self(Soft.aes_128(&key)))
    }

    /// A new key for a cloud whose data will be in `directory`. Fails if there is one.
    pub(crate) fn create(directory: &Path) -> Result<Self, Error> {
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

    /// The key that these hexadecimal digits spell; nothing if they spell none.
    pub(crate) fn parse(digits: &[u8]) -> Option<Self> {
        let key = Zeroizing::new(unhex(digits.trim_ascii())?);
        Some(Self(Soft.aes_128(&key)))
    }

    /// Another key for one purpose, which is the same as long as that one is.
    pub(crate) fn derive(directory: &Path, purpose: &[u8]) -> Result<[u8; AES_128_KEY], Error> {
        let key = Zeroizing::new(read_key(&directory.join(MASTER_KEY))?);
        let key = Soft.hmac_key(&*key);
        let mut derived = [0; AES_128_KEY];
        derived.copy_from_slice(&Soft.hmac_sha256(&key, &[purpose])[..AES_128_KEY]);
        Ok(derived)
    }

    /// Seals `secret` for the place that `context` names.
    pub(crate) fn seal(&self, context: &[u8], secret: &[u8]) -> Result<Vec<u8>, Error> {
        let nonce = random::<NONCE>()?;
        let mut tag = Tag::empty(TAG);
        let mut sealed = [&nonce, secret].concat();
        Soft.ccm_seal(&self.0, CcmNonce::Thirteen(&nonce), context, &mut sealed[NONCE..], &mut tag);
        sealed.extend_from_slice(tag.bytes());
        Ok(sealed)
    }

    /// Opens what [`MasterKey::seal`] made for the same context.
    pub(crate) fn open_sealed(&self, context: &[u8], sealed: &[u8]) -> Result<Secret, Error> {
        let (nonce, rest) = sealed.split_first_chunk::<NONCE>().ok_or(Error::SealedKey)?;
        let (data, tag) =
            rest.split_at_checked(rest.len().saturating_sub(TAG.len())).ok_or(Error::SealedKey)?;
        let tag = Tag::from_bytes(tag).ok_or(Error::SealedKey)?;
        let mut data = data.to_vec();
        Soft.ccm_open(&self.0, CcmNonce::Thirteen(nonce), context, &mut data, &tag)
            .map_err(|_| Error::SealedKey)?;
        Ok(Secret(data))
    }
}

/// The master key in `path`.
fn read_key(path: &Path) -> Result<[u8; AES_128_KEY], Error> {
    let digits = read_private(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Error::MasterKeyMissing(path.to_owned()),
        _ => Error::file(path, error),
    })?;
    let digits = Secret::new(digits.into_bytes());
    unhex(digits.bytes().trim_ascii()).ok_or_else(|| Error::MasterKey(path.to_owned()))
}

/// Creates `path` for its owner's eyes only, durably. Fails if it exists.
pub fn create_private(path: &Path, text: &str) -> io::Result<()> {
    let mut file = new_private(path)?;
    file.write_all(text.as_bytes())?;
    file.write_all(b"\n")?;
    file.sync_all()?;
    sync_directory(path)
}

/// An empty file for its owner's eyes only. Fails if it exists.
pub(crate) fn new_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Replaces `path` by a file with `text` for its owner's eyes only, whole or not at all.
pub fn replace_private(path: &Path, text: &str) -> io::Result<()> {
    let new = path.with_added_extension("new");
    match std::fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    create_private(&new, text)?;
    std::fs::rename(&new, path)?;
    sync_directory(path)
}

/// Makes it last that `path` is in its folder.
pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    match path.parent() {
        // A name alone is one in the present directory.
        Some(directory) if directory.as_os_str().is_empty() => File::open(".")?.sync_all(),
        Some(directory) => File::open(directory)?.sync_all(),
        None => Ok(()),
    }
}

/// Reads a file of secrets, which must not be open to others.
pub fn read_private(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        if file.metadata()?.permissions().mode() & 0o077 != 0 {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "it is open to other users; run chmod 600 on it, and replace the secret if others have read it",
            ));
        }
    }
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    Ok(text)
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect()
}

fn unhex<const N: usize>(digits: &[u8]) -> Option<[u8; N]> {
    if digits.len() != 2 * N {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        let high = char::from(pair[0]).to_digit(16)?;
        let low = char::from(pair[1]).to_digit(16)?;
        *byte = (high << 4 | low) as u8;
    }
    Some(bytes)
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
    fn a_master_key_that_others_can_read_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(MASTER_KEY);
        MasterKey::create(directory.path()).unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        assert!(matches!(MasterKey::open(directory.path()), Err(Error::File { .. })));
    }

    #[test]
    fn digests_depend_on_where_the_parts_end() {
        assert_ne!(digest(&[b"ab", b"c"]), digest(&[b"a", b"bc"]));
    }
}

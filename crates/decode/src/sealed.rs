//! What link security seals of a frame of any version, and the keys that may open it.

use std::collections::BTreeMap;

use sixlock_crypto::{AES_128_KEY, BlockCiphers, CcmNonce, CcmTag, Soft, Tag};
use sixlock_ieee802154::{KeyId, SecurityLevel};

/// Why a frame of whose sender nothing else is known is not opened.
pub(crate) const NO_EXTENDED_SOURCE: &str =
    "its nonce has the extended address of its sender, which it does not carry";

/// Why a frame that ends before its MIC does is refused.
pub(crate) const NO_MIC: &str = "too short for a MIC";

/// A frame with its security taken apart.
pub(crate) struct Sealed<'f> {
    pub(crate) level: SecurityLevel,
    /// What stands in front of its content: never encrypted.
    pub(crate) front: &'f [u8],
    /// What is encrypted, if the level says so.
    pub(crate) content: &'f [u8],
    pub(crate) mic: &'f [u8],
}

impl Sealed<'_> {
    /// The content, if one of `keys` opens it with this nonce.
    pub(crate) fn open(&self, keys: &[&[u8; AES_128_KEY]], nonce: &[u8; 13]) -> Option<Vec<u8>> {
        let mic = Tag::from_bytes(self.mic).unwrap_or(Tag::empty(CcmTag::Zero));
        keys.iter().find_map(|key| {
            let key = Soft.aes_128(key);
            let mut content = self.content.to_vec();
            let (authentic, data) = match self.level.is_encrypted() {
                true => (&[][..], &mut content[..]),
                false => (self.content, &mut [][..]),
            };
            let authentic = [self.front, authentic].concat();
            Soft.ccm_open(&key, CcmNonce::Thirteen(nonce), &authentic, data, &mic).ok()?;
            Some(content)
        })
    }
}

/// Those of `keys` that may be a frame's own, or why there are none.
pub(crate) fn keys(
    keys: &BTreeMap<u8, [u8; AES_128_KEY]>,
    key_id: KeyId,
) -> Result<Vec<&[u8; AES_128_KEY]>, String> {
    match key_index(key_id) {
        None if keys.is_empty() => Err("no key of the links is given".into()),
        None => Ok(keys.values().collect()),
        Some(index) => match keys.get(&index) {
            Some(key) => Ok(vec![key]),
            None => Err(format!("none of the links with index {index} is given")),
        },
    }
}

/// The index of a frame's key, if it tells one.
pub(crate) const fn key_index(key_id: KeyId) -> Option<u8> {
    match key_id {
        KeyId::Implicit => None,
        KeyId::Index(index) | KeyId::ShortSource { index, .. } | KeyId::LongSource { index, .. } => {
            Some(index)
        }
    }
}

/// A level as the standard names it.
pub(crate) const fn level_name(level: SecurityLevel) -> &'static str {
    match level {
        SecurityLevel::None => "NONE",
        SecurityLevel::Mic32 => "MIC-32",
        SecurityLevel::Mic64 => "MIC-64",
        SecurityLevel::Mic128 => "MIC-128",
        SecurityLevel::Enc => "ENC",
        SecurityLevel::EncMic32 => "ENC-MIC-32",
        SecurityLevel::EncMic64 => "ENC-MIC-64",
        SecurityLevel::EncMic128 => "ENC-MIC-128",
    }
}

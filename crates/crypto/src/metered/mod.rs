mod ipsec;
mod p256;

use crate::{AES_128_KEY, AuthenticationFailed, CcmNonce, CcmTag, Crypto, SHA_256_DIGEST, Tag};

/// Bytes in a block of AES.
const AES_BLOCK: usize = 16;
/// Bytes in a block of SHA-256.
const SHA_BLOCK: usize = 64;
/// What SHA-256 puts behind a message at least: a bit, and the length.
const SHA_PADDING: usize = 9;

macro_rules! operations {
    ($($(#[doc = $doc:literal])* $name:ident = $label:literal,)*) => {
        /// A part of what primitives do, of which one takes as long as another on a processor.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Operation {
            $($(#[doc = $doc])* $name,)*
        }

        impl Operation {
            /// Every kind of operation, in order.
            pub const ALL: [Self; [$(Self::$name),*].len()] = [$(Self::$name,)*];

            /// Its name in files of costs.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $label,)* }
            }
        }
    };
}

operations! {
    /// An AES-128 key is prepared.
    Aes128Key = "aes-128-key",
    /// A block is encrypted, within CCM.
    Aes128Block = "aes-128-block",
    /// A message is sealed with CCM: what its blocks and bytes do not take.
    CcmSeal = "ccm-seal",
    /// A message is opened with CCM: the same.
    CcmOpen = "ccm-open",
    /// A byte is authenticated in CCM, whether it is encrypted or not.
    CcmByte = "ccm-byte",
    /// A block is mixed into a SHA-256 computation.
    Sha256Block = "sha-256-block",
    /// A byte of a message is taken into a SHA-256 computation.
    Sha256Byte = "sha-256-byte",
    /// A byte of padding is put behind the message.
    Sha256Padding = "sha-256-padding",
    /// A SHA-256 computation is ended: what its blocks and bytes do not take.
    Sha256 = "sha-256",
    /// A key of HMAC-SHA256 is prepared: what its blocks do not take.
    HmacSha256Key = "hmac-sha-256-key",
    /// An HMAC-SHA256 is computed: what its blocks and bytes do not take.
    HmacSha256 = "hmac-sha-256",
    /// A message is encrypted or decrypted in counter mode: what its blocks and bytes do not take.
    AesCtr = "aes-ctr",
    /// A block of it.
    AesCtrBlock = "aes-ctr-block",
    /// A byte of it.
    AesCtrByte = "aes-ctr-byte",
    /// A message is encrypted with AES-CBC: what its blocks do not take.
    AesCbcEncrypt = "aes-cbc-encrypt",
    /// A block of it.
    AesCbcEncryptBlock = "aes-cbc-encrypt-block",
    /// A message is decrypted with AES-CBC: the same.
    AesCbcDecrypt = "aes-cbc-decrypt",
    /// A block of it.
    AesCbcDecryptBlock = "aes-cbc-decrypt-block",
    /// A key for AES-XCBC-MAC or AES-CMAC is prepared.
    AesMacKey = "aes-mac-key",
    /// A message is authenticated with AES-XCBC-MAC or AES-CMAC: what its blocks and bytes do not take.
    AesMac = "aes-mac",
    /// A block of it.
    AesMacBlock = "aes-mac-block",
    /// A byte of it.
    AesMacByte = "aes-mac-byte",
    /// A block is mixed into a SHA-1 computation.
    Sha1Block = "sha-1-block",
    /// A byte of a message is taken into a SHA-1 computation.
    Sha1Byte = "sha-1-byte",
    /// A byte of padding is put behind the message.
    Sha1Padding = "sha-1-padding",
    /// A key of HMAC-SHA1 is prepared: what its blocks do not take.
    HmacSha1Key = "hmac-sha-1-key",
    /// An HMAC-SHA1 is computed: what its blocks and bytes do not take.
    HmacSha1 = "hmac-sha-1",
    /// A message is sealed or opened with GCM: what its blocks do not take.
    Gcm = "gcm",
    /// A block is multiplied in GCM, whether it is encrypted or not.
    GcmBlock = "gcm-block",
    /// A public key of P-256 is made of a private one.
    P256PublicKey = "p-256-public-key",
    /// A secret is agreed on with P-256, the peer's key checked.
    P256Agree = "p-256-agree",
    /// A digest is signed with P-256.
    P256Sign = "p-256-sign",
    /// A signature with P-256 is verified, the key checked.
    P256Verify = "p-256-verify",
}

/// How many operations were done, by kind; the counts wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operations([u32; Operation::ALL.len()]);

impl Default for Operations {
    fn default() -> Self {
        Self([0; Operation::ALL.len()])
    }
}

impl Operations {
    /// How many of this kind.
    pub fn get(&self, operation: Operation) -> u32 {
        self.0[operation as usize]
    }

    /// Every kind with its count.
    pub fn iter(&self) -> impl Iterator<Item = (Operation, u32)> + '_ {
        Operation::ALL.into_iter().map(|operation| (operation, self.get(operation)))
    }

    fn add(&mut self, operation: Operation, n: usize) {
        let count = &mut self.0[operation as usize];
        *count = count.wrapping_add(n as u32);
    }

    /// Bytes go into a SHA-256 computation that has taken `before`; the length of what it has taken then.
    fn hash(&mut self, kind: Operation, before: usize, bytes: usize) -> usize {
        let after = before.wrapping_add(bytes);
        self.add(kind, bytes);
        self.add(Operation::Sha256Block, (after / SHA_BLOCK).wrapping_sub(before / SHA_BLOCK));
        after
    }

    /// The padding of a SHA-256 computation that has taken `before` bytes.
    fn pad(&mut self, before: usize) {
        let padded = (before + SHA_PADDING).next_multiple_of(SHA_BLOCK);
        self.hash(Operation::Sha256Padding, before, padded - before);
    }

    /// A key of at most a block is prepared for HMAC-SHA256: a block for each of its two computations.
    fn hmac_sha256_key(&mut self) {
        self.add(Operation::HmacSha256Key, 1);
        self.add(Operation::Sha256Block, 2);
    }

    /// An HMAC-SHA256 of `len` bytes: that of the message goes on behind a block of the key, and so does that of its digest.
    fn hmac_sha256(&mut self, len: usize) {
        self.add(Operation::HmacSha256, 1);
        for len in [len, SHA_256_DIGEST] {
            let len = self.hash(Operation::Sha256Byte, SHA_BLOCK, len);
            self.pad(len);
        }
    }

    /// CCM with this tag: without one it encrypts alone.
    fn ccm_with(&mut self, operation: Operation, aad: &[u8], data: &[u8], tag: &Tag) {
        if tag.length == CcmTag::Zero {
            self.add(operation, 1);
            self.add(Operation::Aes128Block, data.len().div_ceil(AES_BLOCK));
        } else {
            self.ccm(operation, aad, data);
        }
    }

    fn ccm(&mut self, operation: Operation, aad: &[u8], data: &[u8]) {
        // The length of what is only authenticated stands before it.
        let aad = if aad.is_empty() { 0 } else { 2 + aad.len() };
        self.add(operation, 1);
        self.add(Operation::CcmByte, aad + data.len());
        // The first block and the tag's key stream; each block of data is authenticated and encrypted.
        let blocks = 2 + aad.div_ceil(AES_BLOCK) + 2 * data.len().div_ceil(AES_BLOCK);
        self.add(Operation::Aes128Block, blocks);
    }
}

/// A backend that counts the operations of another: what they would take on a processor is known from their number.
#[derive(Clone, Debug, Default)]
pub struct Metered<B> {
    backend: B,
    operations: Operations,
}

impl<B> Metered<B> {
    /// Counts what `backend` does from now on.
    pub fn new(backend: B) -> Self {
        Self { backend, operations: Operations::default() }
    }

    /// What was done since this was last called.
    pub fn take(&mut self) -> Operations {
        core::mem::take(&mut self.operations)
    }
}

/// A SHA-256 computation whose length is known.
#[derive(Clone)]
pub struct MeteredHash<H> {
    hash: H,
    len: usize,
}

impl<B: Crypto> Crypto for Metered<B> {
    type Aes128 = B::Aes128;
    type AesGcm = B::AesGcm;
    type Sha256 = MeteredHash<B::Sha256>;
    type HmacKey = B::HmacKey;

    fn aes_128(&mut self, key: &[u8; AES_128_KEY]) -> Self::Aes128 {
        self.operations.add(Operation::Aes128Key, 1);
        self.backend.aes_128(key)
    }

    fn ccm_seal(
        &mut self,
        key: &Self::Aes128,
        nonce: CcmNonce<'_>,
        aad: &[u8],
        data: &mut [u8],
        tag: &mut Tag,
    ) {
        self.operations.ccm_with(Operation::CcmSeal, aad, data, tag);
        self.backend.ccm_seal(key, nonce, aad, data, tag);
    }

    fn ccm_open(
        &mut self,
        key: &Self::Aes128,
        nonce: CcmNonce<'_>,
        aad: &[u8],
        data: &mut [u8],
        tag: &Tag,
    ) -> Result<(), AuthenticationFailed> {
        self.operations.ccm_with(Operation::CcmOpen, aad, data, tag);
        self.backend.ccm_open(key, nonce, aad, data, tag)
    }

    fn aes_gcm(&mut self, key: &Self::Aes128) -> Self::AesGcm {
        // What blocks are multiplied by is a block that was encrypted.
        self.operations.ctr(AES_BLOCK);
        self.backend.aes_gcm(key)
    }

    fn gcm_seal(&mut self, key: &Self::AesGcm, nonce: &[u8; 12], aad: &[u8], data: &mut [u8]) -> [u8; 16] {
        self.operations.gcm(aad, data);
        self.backend.gcm_seal(key, nonce, aad, data)
    }

    fn gcm_open(
        &mut self,
        key: &Self::AesGcm,
        nonce: &[u8; 12],
        aad: &[u8],
        data: &mut [u8],
        tag: &[u8; 16],
    ) -> Result<(), AuthenticationFailed> {
        self.operations.gcm(aad, data);
        self.backend.gcm_open(key, nonce, aad, data, tag)
    }

    fn sha256(&mut self) -> Self::Sha256 {
        MeteredHash { hash: self.backend.sha256(), len: 0 }
    }

    fn sha256_update(&mut self, hash: &mut Self::Sha256, data: &[u8]) {
        hash.len = self.operations.hash(Operation::Sha256Byte, hash.len, data.len());
        self.backend.sha256_update(&mut hash.hash, data);
    }

    fn sha256_finish(&mut self, hash: Self::Sha256) -> [u8; SHA_256_DIGEST] {
        self.operations.add(Operation::Sha256, 1);
        self.operations.pad(hash.len);
        self.backend.sha256_finish(hash.hash)
    }

    fn hmac_key(&mut self, key: &[u8]) -> Self::HmacKey {
        if key.len() > SHA_BLOCK {
            let len = self.operations.hash(Operation::Sha256Byte, 0, key.len());
            self.operations.pad(len);
        }
        self.operations.hmac_sha256_key();
        self.backend.hmac_key(key)
    }

    fn hmac_sha256(&mut self, key: &Self::HmacKey, parts: &[&[u8]]) -> [u8; SHA_256_DIGEST] {
        self.operations.hmac_sha256(parts.iter().map(|part| part.len()).sum());
        self.backend.hmac_sha256(key, parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Soft;

    fn counted(work: impl FnOnce(&mut Metered<Soft>)) -> [u32; 11] {
        let mut metered = Metered::new(Soft);
        work(&mut metered);
        let operations = metered.take();
        assert_eq!(metered.take(), Operations::default(), "what was taken is not taken again");
        let counts = operations.0.first_chunk().unwrap();
        assert_eq!(operations.0[counts.len()..], [0; Operation::ALL.len() - 11], "no others were done");
        *counts
    }

    #[test]
    fn ccm_counts_the_blocks_of_rfc_3610() {
        let seal = |aad: &[u8], len: usize| {
            counted(|crypto| {
                let key = crypto.aes_128(&[0; AES_128_KEY]);
                let mut tag = Tag::empty(CcmTag::Eight);
                crypto.ccm_seal(&key, CcmNonce::Thirteen(&[0; 13]), aad, &mut [0; 64][..len], &mut tag);
            })
        };
        assert_eq!(seal(&[], 0), [1, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(seal(&[0; 14], 16), [1, 5, 1, 0, 32, 0, 0, 0, 0, 0, 0]);
        assert_eq!(seal(&[0; 15], 17), [1, 8, 1, 0, 34, 0, 0, 0, 0, 0, 0]);
        let open = counted(|crypto| {
            let key = crypto.aes_128(&[0; AES_128_KEY]);
            let tag = Tag::empty(CcmTag::Four);
            let _ = crypto.ccm_open(&key, CcmNonce::Twelve(&[0; 12]), &[], &mut [0; 5], &tag);
        });
        assert_eq!(open, [1, 4, 0, 1, 5, 0, 0, 0, 0, 0, 0]);
        let without_tag = counted(|crypto| {
            let key = crypto.aes_128(&[0; AES_128_KEY]);
            let mut tag = Tag::empty(CcmTag::Zero);
            crypto.ccm_seal(&key, CcmNonce::Thirteen(&[0; 13]), &[0; 14], &mut [0; 17], &mut tag);
        });
        assert_eq!(without_tag, [1, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn hashes_count_their_padding_and_what_was_hashed_before_they_were_copied_once() {
        let hash = |len: usize| {
            counted(|crypto| {
                let mut hash = crypto.sha256();
                crypto.sha256_update(&mut hash, &[0; 200][..len]);
                crypto.sha256_finish(hash);
            })
        };
        assert_eq!(hash(0), [0, 0, 0, 0, 0, 1, 0, 64, 1, 0, 0]);
        assert_eq!(hash(55), [0, 0, 0, 0, 0, 1, 55, 9, 1, 0, 0]);
        assert_eq!(hash(56), [0, 0, 0, 0, 0, 2, 56, 72, 1, 0, 0]);
        assert_eq!(hash(64), [0, 0, 0, 0, 0, 2, 64, 64, 1, 0, 0]);
        let copied = counted(|crypto| {
            let mut hash = crypto.sha256();
            crypto.sha256_update(&mut hash, &[0; 60]);
            let copy = hash.clone();
            crypto.sha256_finish(copy);
            crypto.sha256_update(&mut hash, &[0; 10]);
            crypto.sha256_finish(hash);
        });
        assert_eq!(copied, [0, 0, 0, 0, 0, 4, 60 + 10, 68 + 58, 2, 0, 0]);
    }

    #[test]
    fn hmac_counts_both_hashes_and_a_key_once() {
        let hmac = |key: usize, messages: &[&[&[u8]]]| {
            counted(|crypto| {
                let key = crypto.hmac_key(&[0; 100][..key]);
                for parts in messages {
                    crypto.hmac_sha256(&key, parts);
                }
            })
        };
        assert_eq!(hmac(16, &[]), [0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0]);
        assert_eq!(hmac(16, &[&[&[0; 10], &[0; 20]]]), [0, 0, 0, 0, 0, 4, 30 + 32, 34 + 32, 0, 1, 1]);
        assert_eq!(hmac(64, &[&[&[0; 56]]]), [0, 0, 0, 0, 0, 5, 56 + 32, 72 + 32, 0, 1, 1]);
        assert_eq!(hmac(65, &[&[]]), [0, 0, 0, 0, 0, 6, 65 + 32, 63 + 64 + 32, 0, 1, 1]);
        let twice = hmac(16, &[&[&[0; 30]], &[&[0; 56]]]);
        assert_eq!(twice, [0, 0, 0, 0, 0, 2 + 2 + 3, 30 + 56 + 2 * 32, 34 + 72 + 2 * 32, 0, 1, 2]);
    }
}

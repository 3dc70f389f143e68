//! Counts of the operations that primitives consist of.

#[cfg(test)]
mod tests;

use crate::ipsec::{AES_BLOCK, Direction, MacWork};
use crate::{Call, SHA_256_DIGEST};

/// Bytes in a block of SHA-1 and of SHA-256.
const SHA_BLOCK: usize = 64;
/// The least padding of SHA-1 and SHA-256, in bytes: a bit, and the length of the message.
const SHA_PADDING: usize = 9;
/// Length of a SHA-1 digest, in bytes.
const SHA_1_DIGEST: usize = 20;

macro_rules! operations {
    ($($(#[doc = $doc:literal])* $name:ident = $label:literal,)*) => {
        /// A kind of operation, each of which takes the same time on a processor.
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
    /// A message is sealed with CCM, apart from its blocks and bytes.
    CcmSeal = "ccm-seal",
    /// A message is opened with CCM: the same.
    CcmOpen = "ccm-open",
    /// A byte is authenticated in CCM, whether it is encrypted or not.
    CcmByte = "ccm-byte",
    /// A block is mixed into a SHA-256 computation.
    Sha256Block = "sha-256-block",
    /// A byte of a message is taken into a SHA-256 computation.
    Sha256Byte = "sha-256-byte",
    /// A byte of padding is put after the message.
    Sha256Padding = "sha-256-padding",
    /// A SHA-256 computation is ended, apart from its blocks and bytes.
    Sha256 = "sha-256",
    /// A key of HMAC-SHA256 is prepared, apart from its blocks.
    HmacSha256Key = "hmac-sha-256-key",
    /// An HMAC-SHA256 is computed, apart from its blocks and bytes.
    HmacSha256 = "hmac-sha-256",
    /// A message is encrypted or decrypted in counter mode, apart from its blocks and bytes.
    AesCtr = "aes-ctr",
    /// A block of it.
    AesCtrBlock = "aes-ctr-block",
    /// A byte of it.
    AesCtrByte = "aes-ctr-byte",
    /// A message is encrypted with AES-CBC, apart from its blocks.
    AesCbcEncrypt = "aes-cbc-encrypt",
    /// A block of it.
    AesCbcEncryptBlock = "aes-cbc-encrypt-block",
    /// A message is decrypted with AES-CBC: the same.
    AesCbcDecrypt = "aes-cbc-decrypt",
    /// A block of it.
    AesCbcDecryptBlock = "aes-cbc-decrypt-block",
    /// A key for AES-XCBC-MAC or AES-CMAC is prepared.
    AesMacKey = "aes-mac-key",
    /// A message is authenticated with AES-XCBC-MAC or AES-CMAC, apart from its blocks and bytes.
    AesMac = "aes-mac",
    /// A block of it.
    AesMacBlock = "aes-mac-block",
    /// A byte of it.
    AesMacByte = "aes-mac-byte",
    /// A block is mixed into a SHA-1 computation.
    Sha1Block = "sha-1-block",
    /// A byte of a message is taken into a SHA-1 computation.
    Sha1Byte = "sha-1-byte",
    /// A byte of padding is put after the message.
    Sha1Padding = "sha-1-padding",
    /// A key of HMAC-SHA1 is prepared, apart from its blocks.
    HmacSha1Key = "hmac-sha-1-key",
    /// An HMAC-SHA1 is computed, apart from its blocks and bytes.
    HmacSha1 = "hmac-sha-1",
    /// A message is sealed or opened with GCM, apart from its blocks.
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

    /// Counts the operations of a call.
    pub fn count(&mut self, call: Call) {
        match call {
            Call::Aes128Key | Call::CbcKey => self.add(Operation::Aes128Key, 1),
            Call::Ccm { direction, aad, data, tag, .. } => self.ccm(direction, aad, data, tag),
            // Its factor is an encrypted block.
            Call::GcmKey => self.ctr(AES_BLOCK),
            Call::Gcm { aad, data } => self.gcm(aad, data),
            Call::Ctr { data } => self.ctr(data),
            Call::Cbc { direction, blocks } => self.cbc(direction, blocks),
            Call::MacKey(work) => self.mac_key(work),
            Call::Mac { work, message } => self.mac(work, message),
            Call::MacBegin | Call::MacUpdate | Call::Sha256Begin => {}
            Call::Sha256Update { before, data } => _ = self.hash(Operation::Sha256Byte, before, data),
            Call::Sha256Finish { message } => {
                self.add(Operation::Sha256, 1);
                self.pad(message);
            }
            Call::HmacKey { key } => self.hmac_key(key),
            Call::Hmac { message } => self.hmac_sha256(message),
            Call::P256PublicKey => self.add(Operation::P256PublicKey, 1),
            Call::P256Agree => self.add(Operation::P256Agree, 1),
            Call::P256Sign => self.add(Operation::P256Sign, 1),
            Call::P256Verify => self.add(Operation::P256Verify, 1),
        }
    }

    fn add(&mut self, operation: Operation, n: usize) {
        let count = &mut self.0[operation as usize];
        *count = count.wrapping_add(n as u32);
    }

    /// CCM; without a tag it encrypts alone.
    fn ccm(&mut self, direction: Direction, aad: usize, data: usize, tag: usize) {
        self.add(
            match direction {
                Direction::Encrypt => Operation::CcmSeal,
                Direction::Decrypt => Operation::CcmOpen,
            },
            1,
        );
        if tag == 0 {
            return self.add(Operation::Aes128Block, data.div_ceil(AES_BLOCK));
        }
        // The length of the associated data stands before them.
        let aad = if aad == 0 { 0 } else { 2 + aad };
        self.add(Operation::CcmByte, aad + data);
        // The first block and the tag's key stream; each block of data is authenticated and encrypted.
        let blocks = 2 + aad.div_ceil(AES_BLOCK) + 2 * data.div_ceil(AES_BLOCK);
        self.add(Operation::Aes128Block, blocks);
    }

    fn gcm(&mut self, aad: usize, data: usize) {
        self.add(Operation::Gcm, 1);
        // The last multiplied block is that of the lengths; the tag is masked by a block of key stream.
        self.add(Operation::GcmBlock, aad.div_ceil(AES_BLOCK) + data.div_ceil(AES_BLOCK) + 1);
        self.ctr(AES_BLOCK);
        self.ctr(data);
    }

    fn ctr(&mut self, bytes: usize) {
        self.add(Operation::AesCtr, 1);
        self.add(Operation::AesCtrBlock, bytes.div_ceil(AES_BLOCK));
        self.add(Operation::AesCtrByte, bytes);
    }

    fn cbc(&mut self, direction: Direction, blocks: usize) {
        let (message, block) = match direction {
            Direction::Encrypt => (Operation::AesCbcEncrypt, Operation::AesCbcEncryptBlock),
            Direction::Decrypt => (Operation::AesCbcDecrypt, Operation::AesCbcDecryptBlock),
        };
        self.add(message, 1);
        self.add(block, blocks);
    }

    /// The key of a message authentication code is prepared.
    fn mac_key(&mut self, work: MacWork) {
        match work {
            MacWork::Aes => self.add(Operation::AesMacKey, 1),
            MacWork::Sha1 => {
                self.add(Operation::HmacSha1Key, 1);
                self.add(Operation::Sha1Block, 2);
            }
            MacWork::Sha256 => self.hmac_block_key(),
        }
    }

    /// The message authentication code of `length` bytes is computed.
    fn mac(&mut self, work: MacWork, length: usize) {
        match work {
            MacWork::Aes => {
                self.add(Operation::AesMac, 1);
                self.add(Operation::AesMacBlock, length.div_ceil(AES_BLOCK).max(1));
                self.add(Operation::AesMacByte, length);
            }
            MacWork::Sha1 => self.hmac_sha1(length),
            MacWork::Sha256 => self.hmac_sha256(length),
        }
    }

    fn hmac_sha1(&mut self, length: usize) {
        self.add(Operation::HmacSha1, 1);
        for length in [length, SHA_1_DIGEST] {
            let padded = (length + SHA_PADDING).next_multiple_of(SHA_BLOCK);
            self.add(Operation::Sha1Byte, length);
            self.add(Operation::Sha1Padding, padded - length);
            self.add(Operation::Sha1Block, padded / SHA_BLOCK);
        }
    }

    /// A key of any length is prepared for HMAC-SHA256: one longer than a block is hashed.
    fn hmac_key(&mut self, length: usize) {
        if length > SHA_BLOCK {
            let hashed = self.hash(Operation::Sha256Byte, 0, length);
            self.pad(hashed);
        }
        self.hmac_block_key();
    }

    /// A key of at most a block is prepared for HMAC-SHA256: a block for each of its two computations.
    fn hmac_block_key(&mut self) {
        self.add(Operation::HmacSha256Key, 1);
        self.add(Operation::Sha256Block, 2);
    }

    /// An HMAC-SHA256 of `length` bytes: that of the message goes on after a block of the key, and so does that of its digest.
    fn hmac_sha256(&mut self, length: usize) {
        self.add(Operation::HmacSha256, 1);
        for length in [length, SHA_256_DIGEST] {
            let hashed = self.hash(Operation::Sha256Byte, SHA_BLOCK, length);
            self.pad(hashed);
        }
    }

    /// Bytes go into a SHA-256 computation that has taken `before`; returns how many it has taken then.
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
}

use sixlock_crypto::CcmTag;
use sixlock_dtls_msg::CipherSuite;

use crate::record::RECORD_FRONT;

/// How a session proves its key and protects its records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suite {
    /// `TLS_PSK_WITH_AES_128_CCM_8`: the one that every device has
    /// ([RFC 7925 section 4.2](https://www.rfc-editor.org/rfc/rfc7925#section-4.2)).
    PskAes128Ccm8,
    /// `TLS_PSK_WITH_AES_128_CCM`: each record is 8 bytes longer, and a forged one passes once in
    /// 2^128 rather than 2^64 tries.
    PskAes128Ccm,
}

impl Suite {
    /// All of them.
    pub(crate) const ALL: [Self; 2] = [Self::PskAes128Ccm8, Self::PskAes128Ccm];

    /// What the suite adds to each record without a connection id, in bytes.
    pub const fn overhead(self) -> usize {
        RECORD_FRONT + self.tag().len()
    }

    pub(crate) const fn tag(self) -> CcmTag {
        match self {
            Self::PskAes128Ccm8 => CcmTag::Eight,
            Self::PskAes128Ccm => CcmTag::Sixteen,
        }
    }

    /// Its registered number.
    pub(crate) const fn number(self) -> CipherSuite {
        match self {
            Self::PskAes128Ccm8 => CipherSuite::PSK_WITH_AES_128_CCM_8,
            Self::PskAes128Ccm => CipherSuite::PSK_WITH_AES_128_CCM,
        }
    }
}

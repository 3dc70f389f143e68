use sixlock_crypto::CcmTag;
use sixlock_dtls_msg::{CipherSuite, CipherSuites, RECORD_HEADER};

use crate::MAX_CONNECTION_ID;

/// Bytes of a protected record before its content: the header and the explicit nonce.
pub const RECORD_FRONT: usize = RECORD_HEADER + EXPLICIT_NONCE;
/// Bytes of a protected record behind its content, with the shortest tag.
pub const RECORD_TAIL: usize = CcmTag::Eight.len();
/// What protection adds to application data, in bytes, with the shortest tag and no connection id.
pub const RECORD_OVERHEAD: usize = RECORD_FRONT + RECORD_TAIL;
/// The most that protection adds: with the longest tag and connection id, and the content's type.
pub const MAX_RECORD_OVERHEAD: usize = Suite::PskAes128Ccm.overhead() + MAX_CONNECTION_ID + CONTENT_TYPE;

/// Length of the part of a nonce that is sent.
pub(crate) const EXPLICIT_NONCE: usize = 8;
/// Length of the content's type where it is hidden.
pub(crate) const CONTENT_TYPE: usize = 1;

/// How a session proves its key and protects its records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suite {
    /// `TLS_PSK_WITH_AES_128_CCM_8`: the one that every device with pre-shared keys has
    /// ([RFC 7925 section 4.2](https://www.rfc-editor.org/rfc/rfc7925#section-4.2)).
    PskAes128Ccm8,
    /// `TLS_PSK_WITH_AES_128_CCM`: each record is 8 bytes longer, and a forged one passes once in
    /// 2^128 rather than 2^64 tries.
    PskAes128Ccm,
    /// `TLS_PSK_WITH_AES_128_GCM_SHA256`: as long as the one before, and fast where there are instructions for it.
    PskAes128Gcm,
    /// `TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8`: the one that every device with public keys has
    /// ([RFC 7925 section 4.4](https://www.rfc-editor.org/rfc/rfc7925#section-4.4)). Only for a
    /// [`Handshake`](crate::Handshake) that has [`Credentials`](crate::Credentials).
    EcdheEcdsaAes128Ccm8,
    /// `TLS_ECDHE_ECDSA_WITH_AES_128_CCM`: the same with longer records.
    EcdheEcdsaAes128Ccm,
    /// `TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256`: the same with GCM.
    EcdheEcdsaAes128Gcm,
    /// `TLS_ECDHE_PSK_WITH_AES_128_CCM_8_SHA256`: by pre-shared keys, and who learns them later cannot open what was recorded
    /// before. Only for a [`Profile`](crate::Profile) with public keys; it needs no credentials.
    EcdhePskAes128Ccm8,
    /// `TLS_ECDHE_PSK_WITH_AES_128_CCM_SHA256`: the same with longer records.
    EcdhePskAes128Ccm,
    /// `TLS_ECDHE_PSK_WITH_AES_128_GCM_SHA256`: the same with GCM.
    EcdhePskAes128Gcm,
}

impl Suite {
    /// All of them, the most wanted first: who knows ephemeral keys beside pre-shared ones has them, and who wants the longer tag
    /// offers nothing else.
    const ALL: [Self; 9] = [
        Self::EcdhePskAes128Ccm8,
        Self::EcdhePskAes128Ccm,
        Self::EcdhePskAes128Gcm,
        Self::PskAes128Ccm8,
        Self::PskAes128Ccm,
        Self::PskAes128Gcm,
        Self::EcdheEcdsaAes128Ccm8,
        Self::EcdheEcdsaAes128Ccm,
        Self::EcdheEcdsaAes128Gcm,
    ];

    /// What the suite adds to each record without a connection id, in bytes.
    pub const fn overhead(self) -> usize {
        RECORD_FRONT + self.tag().len()
    }

    pub(crate) const fn tag(self) -> CcmTag {
        match self {
            Self::PskAes128Ccm8 | Self::EcdheEcdsaAes128Ccm8 | Self::EcdhePskAes128Ccm8 => CcmTag::Eight,
            _ => CcmTag::Sixteen,
        }
    }

    /// Whether records are protected by GCM rather than CCM.
    pub(crate) const fn is_gcm(self) -> bool {
        matches!(self, Self::PskAes128Gcm | Self::EcdheEcdsaAes128Gcm | Self::EcdhePskAes128Gcm)
    }

    /// Whether the keys that both sides prove are public ones.
    pub const fn has_public_keys(self) -> bool {
        matches!(self, Self::EcdheEcdsaAes128Ccm8 | Self::EcdheEcdsaAes128Ccm | Self::EcdheEcdsaAes128Gcm)
    }

    /// Whether both sides agree on a secret by keys of this handshake alone.
    pub(crate) const fn has_ephemeral_keys(self) -> bool {
        !matches!(self, Self::PskAes128Ccm8 | Self::PskAes128Ccm | Self::PskAes128Gcm)
    }

    /// Its registered number.
    pub(crate) const fn number(self) -> CipherSuite {
        match self {
            Self::PskAes128Ccm8 => CipherSuite::PSK_WITH_AES_128_CCM_8,
            Self::PskAes128Ccm => CipherSuite::PSK_WITH_AES_128_CCM,
            Self::PskAes128Gcm => CipherSuite::PSK_WITH_AES_128_GCM_SHA256,
            Self::EcdheEcdsaAes128Ccm8 => CipherSuite::ECDHE_ECDSA_WITH_AES_128_CCM_8,
            Self::EcdheEcdsaAes128Ccm => CipherSuite::ECDHE_ECDSA_WITH_AES_128_CCM,
            Self::EcdheEcdsaAes128Gcm => CipherSuite::ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
            Self::EcdhePskAes128Ccm8 => CipherSuite::ECDHE_PSK_WITH_AES_128_CCM_8_SHA256,
            Self::EcdhePskAes128Ccm => CipherSuite::ECDHE_PSK_WITH_AES_128_CCM_SHA256,
            Self::EcdhePskAes128Gcm => CipherSuite::ECDHE_PSK_WITH_AES_128_GCM_SHA256,
        }
    }

    /// The suite with this number.
    pub(crate) fn of(number: CipherSuite) -> Option<Self> {
        Self::ALL.into_iter().find(|suite| suite.number() == number)
    }
}

/// Suites, the most wanted first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suites(Option<&'static [Suite]>);

impl Suites {
    /// None, of which no session comes.
    pub(crate) const NONE: Self = Self(None);
    /// All of them.
    pub const ALL: Self = Self::new(&Suite::ALL);
    /// Those with pre-shared keys.
    pub const PRE_SHARED_KEYS: Self = Self::new(Suite::ALL.split_at(6).0);
    /// Those with public keys.
    pub const PUBLIC_KEYS: Self = Self::new(Suite::ALL.split_at(6).1);
    /// Those without ephemeral keys beside pre-shared ones: none of them is a task where there are no credentials.
    pub const WITHOUT_EPHEMERAL_PSK: Self = Self::new(Suite::ALL.split_at(3).1);
    /// The one that every device with pre-shared keys has.
    pub const CCM_8: Self = Self::new(&[Suite::PskAes128Ccm8]);

    /// These suites, each of them once.
    pub const fn new(suites: &'static [Suite]) -> Self {
        Self(Some(suites))
    }

    /// Each of them.
    pub(crate) fn iter(self) -> impl Iterator<Item = Suite> {
        self.0.unwrap_or(&[]).iter().copied()
    }

    /// Whether one of these is offered.
    pub(crate) fn are_offered(self, offered: CipherSuites<'_>) -> bool {
        self.iter().any(|suite| offered.contains(suite.number()))
    }
}

/// The most bytes of a list of suites in a ClientHello.
pub(crate) const OFFER: usize = 2 * (Suite::ALL.len() + 1);

/// A list of suites as it stands in a ClientHello, with the sign behind them that secure renegotiation is known
/// ([RFC 5746 section 3.4](https://www.rfc-editor.org/rfc/rfc5746#section-3.4)).
pub(crate) struct Offer {
    list: [u8; OFFER],
    length: u8,
}

impl Offer {
    /// Offers these, each of them once.
    pub(crate) fn new(suites: impl Iterator<Item = Suite>) -> Self {
        let mut offer = Self { list: [0; OFFER], length: 0 };
        for suite in suites {
            offer.add(suite.number());
        }
        offer.add(CipherSuite::EMPTY_RENEGOTIATION_INFO_SCSV);
        offer
    }

    /// What a ClientHello says that offers this suite alone.
    pub(crate) const fn only(suite: Suite) -> [u8; 4] {
        let ([a, b], [c, d]) =
            (suite.number().0.to_be_bytes(), CipherSuite::EMPTY_RENEGOTIATION_INFO_SCSV.0.to_be_bytes());
        [a, b, c, d]
    }

    fn add(&mut self, number: CipherSuite) {
        let at = usize::from(self.length);
        if let Some(place) = self.list.get_mut(at..at + 2) {
            place.copy_from_slice(&number.0.to_be_bytes());
            self.length += 2;
        }
    }

    /// What a ClientHello says.
    pub(crate) fn suites(&self) -> CipherSuites<'_> {
        CipherSuites(&self.list[..self.length.into()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    extern crate std;
    use std::vec::Vec;

    #[test]
    fn each_list_has_all_of_its_kind_in_one_order() {
        let those =
            |kind: fn(Suite) -> bool| Suites::ALL.iter().filter(|suite| kind(*suite)).collect::<Vec<_>>();
        let list = |suites: Suites| suites.iter().collect::<Vec<_>>();
        assert_eq!(list(Suites::PRE_SHARED_KEYS), those(|suite| !suite.has_public_keys()));
        assert_eq!(list(Suites::PUBLIC_KEYS), those(Suite::has_public_keys));
        let without = those(|suite| suite.has_public_keys() || !suite.has_ephemeral_keys());
        assert_eq!(list(Suites::WITHOUT_EPHEMERAL_PSK), without);
    }
}

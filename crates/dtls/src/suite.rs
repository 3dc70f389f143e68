use sixlock_crypto::CcmTag;
use sixlock_dtls_msg::{CipherSuite, CipherSuites};

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
    const ALL: [Self; 2] = [Self::PskAes128Ccm8, Self::PskAes128Ccm];

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

/// Suites, the most wanted first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suites {
    /// As they stand in a ClientHello, with the sign behind them that secure renegotiation is known
    /// ([RFC 5746 section 3.4](https://www.rfc-editor.org/rfc/rfc5746#section-3.4)).
    list: [u8; 2 * (Suite::ALL.len() + 1)],
    length: u8,
}

impl Suites {
    /// None, of which no session comes.
    pub(crate) const NONE: Self = Self { list: [0; 2 * (Suite::ALL.len() + 1)], length: 0 };
    /// All of them.
    pub const ALL: Self = Self::new(&Suite::ALL);
    /// The one that every device has.
    pub const CCM_8: Self = Self::new(&[Suite::PskAes128Ccm8]);

    /// These suites, each of them once.
    ///
    /// # Panics
    ///
    /// When they are more than there are.
    pub const fn new(suites: &[Suite]) -> Self {
        let mut list = Self::NONE;
        let mut n = 0;
        while n < suites.len() {
            list = list.with(suites[n].number());
            n += 1;
        }
        list.with(CipherSuite::EMPTY_RENEGOTIATION_INFO_SCSV)
    }

    const fn with(mut self, number: CipherSuite) -> Self {
        let at = self.length as usize;
        [self.list[at], self.list[at + 1]] = number.0.to_be_bytes();
        self.length += 2;
        self
    }

    /// What a ClientHello says.
    pub(crate) fn offer(&self) -> CipherSuites<'_> {
        CipherSuites(&self.list[..self.length.into()])
    }

    /// Whether `suite` is one of these.
    pub(crate) fn includes(&self, suite: Suite) -> bool {
        self.offer().contains(suite.number())
    }

    /// The suite with this number, if it is one of these.
    pub(crate) fn find(&self, number: CipherSuite) -> Option<Suite> {
        Suite::ALL.into_iter().find(|&suite| suite.number() == number && self.includes(suite))
    }

    /// The first of these that are offered.
    pub(crate) fn choose(&self, offered: CipherSuites<'_>) -> Option<Suite> {
        let numbers = self.list.as_chunks().0.iter().map(|&number| CipherSuite(u16::from_be_bytes(number)));
        numbers.filter(|&number| offered.contains(number)).find_map(|number| self.find(number))
    }
}

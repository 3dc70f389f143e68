use core::fmt;

use sixlock_base::{Counter, Counters};

/// Why a message is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// It did not parse, or was sent on by a router.
    Malformed,
    /// It is none for this machine: of another role, or about an address that is not its own.
    NotForUs,
    /// It answers what was not asked, or comes from another than was asked.
    Unasked,
    /// It is older than what is known.
    Stale,
    /// There is no room for what it says.
    Full,
    /// There is no room for the answer.
    Busy,
    /// The router is not configured yet.
    NotConfigured,
    /// An address that the message registers is refused; the answer says so.
    Refused,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Malformed => "the message did not parse, or was sent on by a router",
            Self::NotForUs => {
                "the message is for another role, or about an address that is not this machine's"
            }
            Self::Unasked => "the message answers what was not asked, or comes from another than was asked",
            Self::Stale => "the message is older than what is known",
            Self::Full => "there is no room for what the message says",
            Self::Busy => "there is no room for the answer",
            Self::NotConfigured => "the router is not configured yet",
            Self::Refused => "an address that the message registers is refused",
        })
    }
}

impl core::error::Error for Error {}

impl Error {
    /// Counts a message that was refused so.
    pub(super) fn count(self, counters: &mut Counters) {
        counters.count(match self {
            Self::Malformed => Counter::NdMalformed,
            Self::Full | Self::Busy => Counter::NdFull,
            _ => Counter::NdRefused,
        });
    }
}

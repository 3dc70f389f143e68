use core::fmt;

use crate::{Flow, InboundError, InboundId, OutboundError, OutboundId};

/// An association, of either direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssociationId {
    /// One under which packets go out.
    Outbound(OutboundId),
    /// One under which packets come in.
    Inbound(InboundId),
}

/// Why a packet was refused, and in which direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It does not go out.
    Outbound(OutboundError),
    /// It is not let in.
    Inbound(InboundError),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outbound(error) => error.fmt(f),
            Self::Inbound(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for Refusal {}

/// An event for the key exchange and for the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The association has reached a soft limit: it is to be replaced.
    Expiring(AssociationId),
    /// The association has reached a hard limit: it carries nothing more, and is to be removed.
    Expired(AssociationId),
    /// A packet of this flow was to go out, for which policy demands associations that are not there yet.
    Acquire(Flow),
    /// A packet was refused.
    Refused(Refusal),
}

use crate::{Flow, InboundId, OutboundId};

/// An association, of either direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssociationId {
    /// One under which packets go out.
    Outbound(OutboundId),
    /// One under which packets come in.
    Inbound(InboundId),
}

/// An event for the key exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The association has reached a soft limit: it is to be replaced.
    Expiring(AssociationId),
    /// The association has reached a hard limit: it carries nothing more, and is to be removed.
    Expired(AssociationId),
    /// A packet of this flow was to go out, for which policy demands associations that are not there yet.
    Acquire(Flow),
}

/// Why a packet does not go out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutboundError {
    /// Policy says so, or no policy speaks of such packets.
    Discarded,
    /// Policy demands associations that are not there yet.
    NoAssociation,
    /// It is no IPv6 packet, or not of the length that it says.
    Malformed,
    /// It is a fragment: whole packets are protected, and fragmented afterwards.
    Fragment,
    /// It has a routing header whose type nobody can predict at its destination.
    Routing,
    /// There is not enough room before and behind it, or it would be longer than packets can be.
    NoRoom,
    /// All sequence numbers of the association are used.
    SequenceExhausted,
    /// The storage that sequence numbers come from failed.
    Storage,
    /// The association's lifetime is at its end.
    Expired,
}

/// Why a packet is not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InboundError {
    /// It does not parse.
    Malformed,
    /// No association has its protocol and security parameters index.
    NoAssociation,
    /// Its ICV is wrong.
    BadIcv,
    /// Its sequence number is replayed or older than the window.
    Replayed,
    /// The association's lifetime is at its end.
    Expired,
    /// It lacks the protection that policy demands, or came under that of others, or policy discards it.
    PolicyViolated,
    /// There is nothing in it, on purpose ([RFC 4303 section 2.6](https://www.rfc-editor.org/rfc/rfc4303#section-2.6)).
    Dummy,
}

/// Why a policy or an association is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigError {
    /// The table is full.
    Full,
    /// A security parameters index of zero, which is for use inside an implementation.
    ReservedSpi,
    /// An association of the same protocol already has the security parameters index.
    SpiTaken,
    /// An association asks for what is not linked ([`crate::Features`]).
    NotLinked,
    /// There is no such association.
    NoAssociation,
    /// There is no such policy.
    NoPolicy,
    /// A policy names the association.
    InUse,
    /// A policy that does not permit it names an association that does not authenticate packets.
    Unauthenticated,
}

use core::fmt;

/// Why a control message is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// It did not parse.
    Malformed,
    /// It comes from an address from which it may not come, or was sent to one to which it may not be sent.
    Address,
    /// It is of another RPL instance.
    Instance,
    /// It is of another DODAG.
    Dodag,
    /// It is nothing for this node in the DODAG's mode of operation.
    Mode,
    /// Its configuration cannot be kept, or is of an objective function that is not linked.
    Configuration,
    /// Its rank is less than any root's.
    Rank,
    /// It has a constraint that must be kept and is not known here.
    Constraint,
    /// It names no target, or one that is no node of the mesh or not for its sender to name.
    Target,
    /// It is older than what is known, or answers what was not asked.
    Stale,
    /// It comes from this node's parent: a loop of two.
    Loop,
    /// There is no room for what it says.
    Full,
    /// It would be answered, but too often.
    TooOften,
    /// This node is in no DODAG.
    NotJoined,
    /// No durable number is left for the answer, or its storage failed.
    Storage,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Malformed => "the message did not parse",
            Self::Address => "the message comes from an address from which it may not come, or was sent to one to which it may not be sent",
            Self::Instance => "the message is of another RPL instance",
            Self::Dodag => "the message is of another DODAG",
            Self::Mode => "the message is nothing for this node in the DODAG's mode of operation",
            Self::Configuration => "the configuration cannot be kept, or is of an objective function that is not linked",
            Self::Rank => "the rank is less than any root's",
            Self::Constraint => "a constraint must be kept, and is not known here",
            Self::Target => "the message names no target, or one that is no node of the mesh or not for its sender to name",
            Self::Stale => "the message is older than what is known, or answers what was not asked",
            Self::Loop => "the message comes from this node's parent: a loop of two",
            Self::Full => "there is no room for what the message says",
            Self::TooOften => "the message would be answered, but too often",
            Self::NotJoined => "this node is in no DODAG",
            Self::Storage => "no durable number is left for the answer, or its storage failed",
        })
    }
}

impl core::error::Error for Error {}

/// Why a data packet is not sent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataError {
    /// Its headers did not parse: it is dropped.
    Malformed,
    /// Its source route cannot be followed: the answer is an ICMPv6 parameter problem.
    SourceRoute {
        /// Where in the packet the problem is.
        pointer: u16,
    },
    /// Its option is of another RPL instance: it is dropped.
    Instance,
    /// It is on its way in the wrong direction for the second time: it is dropped
    /// ([RFC 6550 section 11.2.2.2](https://www.rfc-editor.org/rfc/rfc6550#section-11.2.2.2)).
    Rank,
    /// No route leads to its destination.
    NoRoute,
    /// There is no room for the headers that it needs.
    NoRoom,
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed => f.write_str("the packet's headers did not parse"),
            Self::SourceRoute { pointer } => {
                write!(f, "the source route cannot be followed from byte {pointer} of the packet on")
            }
            Self::Instance => f.write_str("the packet's option is of another RPL instance"),
            Self::Rank => f.write_str("the packet is on its way in the wrong direction for the second time"),
            Self::NoRoute => f.write_str("no route leads to the packet's destination"),
            Self::NoRoom => f.write_str("the buffer has no room for the headers that the packet needs"),
        }
    }
}

impl core::error::Error for DataError {}

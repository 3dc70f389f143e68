//! What a firewall decides about, and by what.

/// Which way a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Into the mesh.
    In,
    /// Out of it.
    Out,
}

impl Direction {
    /// Both.
    pub const ALL: [Self; 2] = [Self::In, Self::Out];

    pub(super) const fn reversed(self) -> Self {
        match self {
            Self::In => Self::Out,
            Self::Out => Self::In,
        }
    }
}

/// What decided about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The rule at this place, or a flow that it has let through.
    Rule(u16),
    /// The default of this direction, or a flow that it has let through.
    Default(Direction),
    /// Nothing: its headers do not parse, or a routing header names the node that it is really for. It is dropped.
    Unreadable,
}

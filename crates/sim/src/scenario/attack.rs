//! Who attacks a network while it is simulated.

mod checks;
mod read;

use crate::random::Probability;
use crate::time::Span;

pub(super) use checks::check;
pub(super) use read::read;

/// Somebody attacks the network: an `[[attack]]` of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attack {
    /// What the attacker does.
    pub kind: AttackKind,
    /// Who it is.
    pub by: AttackedFrom,
    /// How long after the begin it starts.
    pub start: Span,
    /// How long after the begin it ends; without, it goes on to the end.
    pub end: Option<Span>,
    /// The time between two of its frames or packets, where it sends any of its own accord.
    pub every: Span,
    /// The node that it is about: in whose name it speaks, or to which. Without, it is the last one.
    pub target: Option<u32>,
    /// How far its frames reach and disturb, in millimetres; without, as far as those of nodes.
    pub range: Option<i32>,
}

/// From where a network is attacked, and with what keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttackedFrom {
    /// A stranger without keys.
    Position {
        /// Millimetres east.
        x: i32,
        /// Millimetres north.
        y: i32,
    },
    /// A captured node, whose keys the attacker has: the link key of the network among them.
    Node(u32),
}

/// What an attacker does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttackKind {
    /// Sends noise, whether or not the channel is clear.
    Jam,
    /// Sends each frame that it hears again, once, this long after.
    Replay {
        /// How long after.
        after: Span,
    },
    /// Sends datagrams to the target's echo service.
    Inject,
    /// Sends readings in the target's name.
    Forge,
    /// Sends much of a kind.
    Flood(Flood),
    /// A captured node that sends nothing on.
    BlackHole,
    /// Says that it is as near to the border router as can be, takes what comes, and sends nothing on.
    SinkHole,
    /// Sends frames that it hears here again elsewhere, at once, and the reverse.
    Wormhole {
        /// Millimetres east of the other end.
        x: i32,
        /// Millimetres north of it.
        y: i32,
    },
    /// A captured node that takes part in routing, and drops a share of the packets that it is to send on.
    SelectiveForwarding {
        /// How likely it drops one.
        share: Probability,
    },
}

/// What a flood is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flood {
    /// DIOs that say that their sender, which is louder than nodes are, is next to the border router.
    Hello,
    /// DIOs of nodes that there are not.
    Dio,
    /// DAOs of nodes that there are not.
    Dao,
    /// DISs of nodes that there are not.
    Dis,
    /// The first messages of DTLS handshakes, of nodes that there are not.
    Handshakes,
}

impl AttackKind {
    /// What files and reports call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Jam => "jam",
            Self::Replay { .. } => "replay",
            Self::Inject => "inject",
            Self::Forge => "forge",
            Self::Flood(Flood::Hello) => "hello-flood",
            Self::Flood(Flood::Dio) => "dio-flood",
            Self::Flood(Flood::Dao) => "dao-flood",
            Self::Flood(Flood::Dis) => "dis-flood",
            Self::Flood(Flood::Handshakes) => "handshake-flood",
            Self::BlackHole => "black-hole",
            Self::SinkHole => "sink-hole",
            Self::Wormhole { .. } => "wormhole",
            Self::SelectiveForwarding { .. } => "selective-forwarding",
        }
    }

    /// Whether it is an attack on RPL.
    pub(crate) const fn is_on_rpl(self) -> bool {
        match self {
            Self::SinkHole | Self::Wormhole { .. } => true,
            Self::Flood(flood) => !matches!(flood, Flood::Handshakes),
            _ => false,
        }
    }

    /// Whether a captured node does it, and nobody else can.
    pub(crate) const fn is_of_captured_nodes(self) -> bool {
        matches!(self, Self::BlackHole | Self::SelectiveForwarding { .. })
    }
}

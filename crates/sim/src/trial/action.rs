//! What happens in a trial.

use sixlock_gateway::FlowId;

use crate::outbound::Outbound;

/// What is due in a trial.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// A frame arrives at a station.
    Frame(u32, Vec<u8>),
    /// A datagram arrives at the far end.
    Upward(Outbound),
    /// A datagram arrives at a border router.
    Downward(u32, FlowId, Vec<u8>),
    /// The attacker does something.
    Attack,
    /// The power of a station fails.
    PowerFails(u32),
    /// The far end starts anew.
    FarEndRestarts,
    /// Disturbances end.
    Quiet,
}

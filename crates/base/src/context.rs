use crate::{Counters, Instant};

/// What a machine is lent for one call: the time, the crypto provider `C`, entropy `E`,
/// durable counters `N` and the event counters.
pub struct Cx<'a, C, E, N> {
    /// The time of this call.
    pub now: Instant,
    /// The crypto provider.
    pub crypto: &'a mut C,
    /// The source of random bytes.
    pub entropy: &'a mut E,
    /// Durable counter ranges.
    pub nv: &'a mut N,
    /// Counts of what happened, drops and their reasons among them.
    pub counters: &'a mut Counters,
}

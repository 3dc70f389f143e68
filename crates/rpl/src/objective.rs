//! Objective functions: how nodes choose a parent and reckon their rank.

mod mrhof;
mod of0;

pub use mrhof::{MAX_LINK_METRIC, Mrhof};
pub use of0::Of0;

/// How nodes of a DODAG choose a parent and reckon their rank.
///
/// What is chosen by is a path's cost: [`INFINITE_RANK`](sixlock_ipv6::rpl::INFINITE_RANK) is that of one that may not be used.
pub trait ObjectiveFunction {
    /// Its number in a DODAG's configuration.
    const CODE_POINT: u16;

    /// By how much ranks grow at least from hop to hop, if the root has no other wish.
    const MIN_HOP_RANK_INCREASE: u16;

    /// The cost of a path through a neighbour of that rank, over a link of that ETX.
    fn path_cost(neighbour: u16, etx: u16, min_hop_rank_increase: u16) -> u16;

    /// The rank of a node whose parent has the rank `parent`, and whose path over it has that cost.
    fn rank(parent: u16, path_cost: u16, min_hop_rank_increase: u16) -> u16;

    /// Whether a path of the cost `new` is so much better than one of the cost `current` that the parent is changed for it.
    fn is_better(new: u16, current: u16, min_hop_rank_increase: u16) -> bool;
}

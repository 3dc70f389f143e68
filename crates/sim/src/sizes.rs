//! How large the simulator makes what devices size themselves.

use crate::network::MAX_NODES;

/// No table that counts nodes is ever full.
pub(crate) const NODES: usize = MAX_NODES as usize;
/// The largest IPv6 packet, in bytes: the least that IPv6 demands.
pub(crate) const MTU: usize = 1280;
/// The quantities in a reading.
pub(crate) const READINGS: usize = 3;
/// Who may observe them at a node at a time, and how often in one session with a node that is a server.
pub(crate) const OBSERVERS: usize = 4;

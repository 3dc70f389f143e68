//! How large the simulator makes what devices size themselves.

/// The nodes that share associations of IPsec with the border router, at most.
pub(crate) const PROTECTED: usize = 1000;
/// The neighbours whose frames a station takes, at most.
pub(crate) const NEIGHBOURS: usize = 1000;
/// The neighbours of which a station whose radio sleeps remembers when they wake up.
pub(crate) const PHASES: usize = 32;
/// The nodes of a DODAG to which a border router or another router knows the way, at most.
pub(crate) const MEMBERS: usize = 1000;
/// The flows of a border router: their limit in `sixlock up` as well.
pub(crate) const FLOWS: usize = 1024;
/// The largest IPv6 packet, in bytes: the least that IPv6 demands.
pub(crate) const MTU: usize = 1280;
/// The quantities in a reading.
pub(crate) const READINGS: usize = 3;
/// Who may observe them at a node at a time, and how often in one session with a node that is a server.
pub(crate) const OBSERVERS: usize = 4;

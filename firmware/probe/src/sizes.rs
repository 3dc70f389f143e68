//! How large the tables are: on each target so that they leave room for a stack.
//!
//! The ATmega128's 4 KB hold a node that sends readings; a router needs one of the larger ones.

/// Neighbours whose sequence numbers and frame counters are remembered.
pub const NEIGHBOURS: usize = if SMALL { 2 } else { 8 };
/// Transmit frames.
pub const FRAMES: usize = 2;
/// The largest IPv6 packet, in bytes.
pub const MTU: usize = if SMALL { 256 } else { 640 };
/// IPv6 packets in transmission or reassembly.
pub const POOL: usize = if SMALL { 2 } else { 4 };
/// Static routes.
pub const ROUTES: usize = if SMALL { 2 } else { 8 };
/// The largest CoAP message, in bytes.
pub const MESSAGE: usize = if SMALL { 192 } else { 256 };
/// Requests whose answers are remembered.
pub const EXCHANGES: usize = 2;
/// Flows out of the mesh.
pub const FLOWS: usize = 4;
/// Quantities of the latest reading that are kept for who asks.
pub const READINGS: usize = 3;
/// DTLS sessions of a server, and as many peers without DTLS.
pub const PEERS: usize = if SMALL { 1 } else { 2 };

const SMALL: bool = cfg!(target_arch = "avr");

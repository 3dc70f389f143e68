//! How large the tables are: on each processor so that they leave room for the stack.

/// Neighbours whose sequence numbers and frame counters are remembered.
pub const NEIGHBOURS: usize = if SMALL { 2 } else { 8 };
/// Transmit frames.
pub const FRAMES: usize = if SMALL { 1 } else { 2 };
/// The largest IPv6 packet, in bytes.
pub const MTU: usize = if SMALL { 288 } else { 384 };
/// IPv6 packets in transmission or reassembly.
pub const POOL: usize = if SMALL { 2 } else { 4 };
/// Static routes.
pub const ROUTES: usize = if SMALL { 1 } else { sixlock_lockstep::ROUTES };

const SMALL: bool = cfg!(target_arch = "avr");

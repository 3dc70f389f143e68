//! How large the tables are: on each processor so that they leave room for the stack.

/// Neighbours whose sequence numbers and frame counters are remembered.
pub const NEIGHBOURS: usize = if KILOBYTES < 8 { 2 } else { 8 };
/// Transmit frames.
pub const FRAMES: usize = if KILOBYTES < 8 { 1 } else { 2 };
/// The same in time slots, where those for several neighbours wait for their slots side by side.
pub const SLOTTED_FRAMES: usize = 4;
/// The largest IPv6 packet, in bytes: one that carries a reading in a DTLS record, and where there is room for it the hello
/// of OpenSSL's clients with a cookie, of 281 bytes.
pub const MTU: usize = if KILOBYTES < 8 { 280 } else { 336 };
/// IPv6 packets in transmission or reassembly.
pub const POOL: usize = if KILOBYTES < 10 { 2 } else { 4 };
/// The largest IPv6 packet of a node that speaks RPL, in bytes: in non-storing mode a datagram of a handshake, of 304 with its headers,
/// behind the IPv6 header of the root and a source route over ten routers (RFC 9008, RFC 6554).
pub const RPL_MTU: usize = 432;
/// Neighbours that may be parents of a router that speaks RPL.
pub const PARENTS: usize = 8;
/// The same of a leaf.
pub const LEAF_PARENTS: usize = 3;
/// Neighbours that have registered their addresses, and want to be reached at them by RPL.
pub const HOSTS: usize = 4;
/// Nodes whose way the root of RPL knows: beyond these it refuses the DAO of a new one, to which nothing goes down until there is room.
pub const MEMBERS: usize = if KILOBYTES < 10 { 40 } else { 128 };
/// Neighbours of that root whose sequence numbers and frame counters are remembered: with link security the frames of others are refused,
/// and these nodes go by another parent.
pub const ROOT_NEIGHBOURS: usize = 16;
/// Addresses that neighbours have registered: a node registers two, one of them for its link alone.
pub const REGISTRATIONS: usize = 16;
/// Routers of which a device that looks for one knows, and contexts that they tell.
pub const ROUTERS: usize = 2;
/// Contexts of header compression that routers tell.
pub const CONTEXTS: usize = 1;
/// Static routes.
pub const ROUTES: usize = if KILOBYTES < 8 { 1 } else { sixlock_lockstep::ROUTES };

/// DTLS sessions of a server, handshakes under way included.
pub const SESSIONS: usize = 2;
/// The quantities of its own readings that a server keeps: none where flash has no room for what makes readings.
pub const SERVED: usize = if cfg!(target_arch = "arm") { 3 } else { 0 };
/// The largest IPv6 packet at a border router, in bytes: what hosts may send (RFC 8200 section 5).
pub const BRIDGE_MTU: usize = 1280;
/// IPv6 packets in transmission or reassembly at a border router.
pub const BRIDGE_POOL: usize = 2;
/// The largest IPv6 packet of a node that measures, in bytes: one that carries the longest of its echoes.
pub const METER_MTU: usize = 576;
/// IPv6 packets in transmission or reassembly there.
pub const METER_POOL: usize = 3;

/// The chip's memory: of the smaller MB851, the Tmote Sky, the MicaZ.
const KILOBYTES: usize = if cfg!(target_arch = "arm") {
    8
} else if cfg!(target_arch = "msp430") {
    10
} else {
    4
};

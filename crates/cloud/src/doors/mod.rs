//! The CoAP server: sockets, and the endpoint between them and [`Devices`](crate::coap::Devices).
//!
//! There are several shards, a thread each, of which each has its own sockets and endpoint: what comes from one address comes to
//! one of them.

mod authentication;
mod datagrams;
mod handshake_share;
mod handshakes;
mod key_operations;
mod lent;
mod look_ups;
mod machine;
mod notifications;
mod observed;
mod observers;
mod requests;
mod resumption;
mod serving;
mod session_store;
mod sessions;
mod shard;
mod shard_channel;
mod shard_io;
mod shards;
mod snapshot;
mod sockets;
mod ticket_keys;
mod work;

pub(crate) use lent::Lent;
pub use lent::SystemEntropy;
pub(crate) use shard_io::Sockets;
pub(crate) use shards::Shards;
pub(crate) use sockets::bind_all;

use sixlock_coap_msg::OptionNumber;

use crate::coap;

/// The longest response kept: an answer's payload and what CoAP adds to it.
const LONGEST_RESPONSE: usize = coap::LONGEST_PAYLOAD + 64;
/// The longest datagram sent: a response and what DTLS adds to it.
const LONGEST_SENT: usize = LONGEST_RESPONSE + 64;
/// Peers without security. Of this and what follows, each shard has an equal part.
const PLAIN_PEERS: u32 = 10_000;
/// Requests being answered at the same time; beyond, the answer is 5.03.
const UNDER_WAY: usize = 2048;
/// Identities whose keys are being looked up at the same time.
const LOOK_UPS: usize = 2048;
/// Observations.
const OBSERVATIONS: usize = 4096;

/// The critical options that requests may have.
const CRITICAL_OPTIONS: &[OptionNumber] = &[
    OptionNumber::IF_MATCH,
    OptionNumber::URI_HOST,
    OptionNumber::IF_NONE_MATCH,
    OptionNumber::URI_PORT,
    OptionNumber::URI_PATH,
    OptionNumber::URI_QUERY,
    OptionNumber::ACCEPT,
    OptionNumber::BLOCK2,
    OptionNumber::BLOCK1,
];

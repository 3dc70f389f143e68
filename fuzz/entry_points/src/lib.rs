//! Each entry point, a place where bytes from outside come in, as a function: fuzzing calls it with
//! anything, `tests/replay.rs` with the real inputs in `fuzz/seeds/`.
//!
//! An entry point panics when an input breaks a promise, and returns how much of the input the machine
//! behind it took: real inputs must get somewhere.

mod assembly;
mod bridge;
mod capture;
mod coap;
mod dtls;
mod endpoint;
mod expression;
mod gateway;
mod ingest;
mod input;
mod ipsec;
mod link;
mod rpl;
pub mod seeds;
mod senml;
mod serial;
mod slots;
mod x509;

pub use input::{join, split};

/// The function of an entry point.
pub type EntryPoint = fn(&[u8]) -> usize;

/// Every entry point by its name, which is also that of its fuzz target and of its folder of seeds.
pub const ENTRY_POINTS: &[(&str, EntryPoint)] = &[
    ("frame", link::frame),
    ("compression", link::compression),
    ("fragments", link::fragments),
    ("packet", link::packet),
    ("rpl", rpl::messages),
    ("assembly", assembly::assembly),
    ("ipsec", ipsec::payloads),
    ("interface", link::interface),
    ("gateway", gateway::gateway),
    ("line", bridge::line),
    ("serial", serial::serial),
    ("dtls_message", dtls::message),
    ("dtls_server", dtls::server),
    ("dtls_client", dtls::client),
    ("certificate", x509::chain),
    ("coap_message", coap::message),
    ("coap_server", coap::server),
    ("coap_client", coap::client),
    ("endpoint", endpoint::datagrams),
    ("senml_json", senml::json),
    ("senml_cbor", senml::cbor),
    ("payload", ingest::payload),
    ("parser", ingest::parser),
    ("expression", expression::expression),
    ("capture", capture::capture),
];

/// The entry point called `name`.
///
/// # Panics
///
/// When there is none.
pub fn entry_point(name: &str) -> EntryPoint {
    let found = ENTRY_POINTS.iter().find(|(known, _)| *known == name);
    found.unwrap_or_else(|| panic!("no entry point is called {name}")).1
}

//! What every version of DTLS does: flights, reassembly, epochs, retransmission. It knows no version: which messages there are,
//! what they are made of and how records are protected, [`Version`] and [`HandshakeRole`] say.

pub(crate) mod epochs;
pub(crate) mod flight;
pub(crate) mod handshake;
pub(crate) mod message;
pub(crate) mod message_buffer;
pub(crate) mod reassembly;
pub(crate) mod record;
pub(crate) mod replay;
pub(crate) mod role;
pub(crate) mod round_trip;
#[cfg(test)]
mod tests;
pub(crate) mod transcript;

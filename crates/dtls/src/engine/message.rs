use sixlock_dtls_msg::HandshakeType;

/// A received handshake message.
#[derive(Clone, Copy)]
pub struct Incoming<'a> {
    pub(crate) kind: HandshakeType,
    pub(crate) message_seq: u16,
    pub(crate) body: &'a [u8],
}

/// A message of a flight.
pub trait OutgoingMessage: Copy + 'static {
    /// The handshake message's type; `None` for what is none: [`Version::SIGNAL`](super::role::Version::SIGNAL).
    fn kind(self) -> Option<HandshakeType>;

    /// The epoch of its records.
    fn epoch(self) -> u16;

    /// Whether it is never fragmented, however short datagrams are meant to be.
    fn is_atomic(self) -> bool;
}

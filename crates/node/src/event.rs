use sixlock_base::Eui64;

/// Something that happened at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A reading is due: take one and hand it to [`Node::report`](crate::Node::report).
    Sample,
    /// The cloud has confirmed a reading.
    ReadingConfirmed,
    /// A reading was given up, or the cloud refused it.
    ReadingFailed,
    /// A DTLS session is there; [`Node::key_log`](crate::Node::key_log) says what opens its records.
    Connected,
    /// The DTLS session was lost, or its handshake failed.
    Disconnected,
    /// The device of this address has posted a reading to this one.
    ReadingReceived(Eui64),
}

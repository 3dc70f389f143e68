use sixlock_base::Duration;

use crate::{ConnectionId, Suites};

/// To what a path loses datagrams, which says how flights are sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Losses {
    /// To queues that are full: the flight after one that had to be sent again begins with the wait at which that came through
    /// ([RFC 6347 section 4.2.4.1](https://www.rfc-editor.org/rfc/rfc6347#section-4.2.4.1)).
    Congestion,
    /// To noise, and to others that send at the same time: each wait is lengthened at random, by up to half, so that devices
    /// whose flights have collided do not send them again at the same time; and each flight begins with the first wait.
    Radio,
}

/// How a handshake behaves.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// The wait before a flight is sent again for the first time; it doubles each time. A client that measures ([`Profile::RoundTrip`](crate::Profile::RoundTrip))
    /// waits longer where answers take longer, and never less.
    pub initial_timeout: Duration,
    /// The longest wait.
    pub max_timeout: Duration,
    /// To what datagrams are lost.
    pub losses: Losses,
    /// How often a flight is sent again before the handshake is given up.
    pub retransmissions: u8,
    /// At how many Finished records that do not decrypt the handshake is given up.
    pub bad_records: u8,
    /// The longest datagram a flight is packed into, in bytes; at least
    /// [`Config::MIN_DATAGRAM`]. Only a ClientHello may be longer.
    pub max_datagram: u16,
    /// How long the side that sends the last flight keeps what it needs to send it again, unless
    /// application data shows earlier that the flight arrived.
    pub linger: Duration,
    /// The suites that a client offers or a server takes, the most wanted first: a server takes the
    /// first of its own that the client offers.
    pub suites: Suites,
    /// Whether a server gives its sessions an id, and asks for the session that a client wants to resume, if it wants that
    /// ([`Work::Session`](crate::Work::Session)): only if it keeps each session's
    /// [`SessionState`](crate::SessionState).
    pub resumable: bool,
    /// The id that the peer is to put on its records, if it knows of connection ids; none to do
    /// without them. A client with an unchanging server gives [`ConnectionId::EMPTY`]: its own
    /// records then carry what the server asks for.
    pub connection_id: Option<ConnectionId>,
    /// The longest data that is to come in one record, if the peer knows of such limits; from 64 to 16,384 bytes. A
    /// client asks for it by record_size_limit, and by max_fragment_length if that knows the number (512, 1,024, 2,048
    /// and 4,096 bytes); a server says it to a client that asks.
    pub record_limit: Option<u16>,
}

impl Config {
    /// The smallest sensible value of [`Config::max_datagram`].
    pub const MIN_DATAGRAM: u16 = 64;

    /// That of a handshake which has not begun.
    pub(crate) const NONE: Self = Self {
        initial_timeout: Duration::from_millis(0),
        max_timeout: Duration::from_millis(0),
        losses: Losses::Congestion,
        retransmissions: 0,
        bad_records: 0,
        max_datagram: 0,
        linger: Duration::from_millis(0),
        suites: Suites::NONE,
        resumable: false,
        connection_id: None,
        record_limit: None,
    };

    /// For hosts: the first wait is that of
    /// [RFC 6347 section 4.2.4.1](https://www.rfc-editor.org/rfc/rfc6347#section-4.2.4.1).
    pub const HOST: Self = Self {
        initial_timeout: Duration::from_secs(1),
        max_timeout: Duration::from_secs(60),
        losses: Losses::Congestion,
        retransmissions: 5,
        bad_records: 4,
        max_datagram: 1200,
        // Twice the maximum segment lifetime: RFC 6347 section 4.2.4.
        linger: Duration::from_secs(240),
        suites: Suites::CCM_8,
        resumable: false,
        connection_id: None,
        record_limit: None,
    };

    /// For both ends of a path through a mesh of several slow hops. A flight takes half a second
    /// over six, so that the 9 s of [RFC 7925 section 11](https://www.rfc-editor.org/rfc/rfc7925#section-11)
    /// would mostly be spent waiting for what is lost. A device's buffer may be as small as 336 bytes, those for
    /// the headers of IPv6, UDP and IPsec included, and who has longer ones does not know of those that forward for it.
    pub const MESH: Self = Self {
        initial_timeout: Duration::from_secs(3),
        losses: Losses::Radio,
        retransmissions: 10,
        max_datagram: 256,
        ..Self::HOST
    };
}

impl Default for Config {
    fn default() -> Self {
        Self::HOST
    }
}

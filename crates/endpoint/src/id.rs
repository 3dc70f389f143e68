//! What sessions, peers and requests are told apart by.

use sixlock_coap::ExchangeId;

use crate::table::Slot;

/// Which way datagrams come and go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Transport {
    /// CoAP without protection.
    Udp,
    /// CoAP over DTLS.
    Dtls,
}

/// Which request: no other has the same id, so that a late response finds none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId {
    pub(crate) transport: Transport,
    pub(crate) slot: Slot,
    pub(crate) serial: u32,
    pub(crate) exchange: ExchangeId,
}

impl RequestId {
    /// The transport the request came by.
    pub const fn transport(&self) -> Transport {
        self.transport
    }

    /// Whose request it is.
    pub const fn peer(&self) -> PeerId {
        PeerId { transport: self.transport, slot: self.slot, serial: self.serial }
    }

    /// The session the request came in; `None` over plain CoAP.
    pub const fn session(&self) -> Option<SessionId> {
        self.peer().session()
    }
}

/// The one that asks: a session, or an address that speaks plain CoAP, as long as it is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeerId {
    pub(crate) transport: Transport,
    pub(crate) slot: Slot,
    pub(crate) serial: u32,
}

impl PeerId {
    pub(crate) const fn plain(slot: Slot, serial: u32) -> Self {
        Self { transport: Transport::Udp, slot, serial }
    }

    /// The session, if it is one.
    pub const fn session(self) -> Option<SessionId> {
        match self.transport {
            Transport::Udp => None,
            Transport::Dtls => Some(SessionId { slot: self.slot, serial: self.serial }),
        }
    }
}

impl From<SessionId> for PeerId {
    fn from(SessionId { slot, serial }: SessionId) -> Self {
        Self { transport: Transport::Dtls, slot, serial }
    }
}

/// Which DTLS session of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId {
    pub(crate) slot: Slot,
    /// Tells this session from others that have stood in the slot.
    pub(crate) serial: u32,
}

impl SessionId {
    /// The place where the session stands, alone: the endpoint has no more places than [`Config::max_sessions`](crate::Config::max_sessions), and gives one
    /// to another session when this one is over.
    pub const fn place(self) -> u32 {
        self.slot
    }
}

/// How far a session is: a peer may have one that is connected and another that is to replace it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// The handshake is under way.
    Handshake,
    /// Requests are taken.
    Connected,
}

/// How a client authenticates itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AuthenticationMethod {
    /// A pre-shared key.
    #[default]
    PreSharedKey,
    /// A raw public key.
    RawPublicKey,
    /// A certificate.
    Certificate,
}

impl AuthenticationMethod {
    pub(crate) const ALL: [Self; 3] = [Self::PreSharedKey, Self::RawPublicKey, Self::Certificate];
}

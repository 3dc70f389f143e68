use sixlock_coap::{ByteStore, Inline};
use sixlock_crypto::Crypto;
use sixlock_dtls::{Handshake, HandshakeRoom, MAX_IDENTITY, SESSION_ID};

use crate::{Address, FixedTable, Stage, Table};

/// Where an endpoint keeps its peers.
pub trait Storage<C: Crypto, A: Address> {
    /// What only a handshake needs.
    type Handshake: HandshakeRoom<C>;
    /// A response.
    type Response: ByteStore;
    /// The identity of a client.
    type Identity: ByteStore;
    /// The DTLS sessions.
    type Sessions<V>: Table<(A, Stage), V>;
    /// What is left of sessions, by their ids.
    type Resumptions<V>: Table<[u8; SESSION_ID], V>;
    /// The peers of the plain door.
    type Plain<V>: Table<A, V>;

    /// Room for a handshake.
    fn handshake() -> Self::Handshake;
}

/// Everything in place, for devices: at most `SESSIONS` sessions and as many that can be resumed, `PLAIN` `PLAIN` peers of the plain door, responses of at
/// most `RESPONSE` bytes.
#[derive(Clone, Copy, Debug)]
pub struct InPlace<const SESSIONS: usize, const PLAIN: usize, const RESPONSE: usize>;

impl<C: Crypto, A: Address, const SESSIONS: usize, const PLAIN: usize, const RESPONSE: usize> Storage<C, A>
    for InPlace<SESSIONS, PLAIN, RESPONSE>
{
    type Handshake = Handshake<C>;
    type Response = Inline<RESPONSE>;
    type Identity = Inline<MAX_IDENTITY>;
    type Sessions<V> = FixedTable<(A, Stage), V, SESSIONS>;
    type Resumptions<V> = FixedTable<[u8; SESSION_ID], V, SESSIONS>;
    type Plain<V> = FixedTable<A, V, PLAIN>;

    fn handshake() -> Self::Handshake {
        Handshake::new()
    }
}

/// Everything on the heap, for hosts: as many peers as the configuration allows, responses of at most `RESPONSE` bytes.
#[cfg(feature = "alloc")]
#[derive(Clone, Copy, Debug)]
pub struct OnHeap<const RESPONSE: usize>;

#[cfg(feature = "alloc")]
impl<C: Crypto, A: Address, const RESPONSE: usize> Storage<C, A> for OnHeap<RESPONSE> {
    type Handshake = Option<alloc::boxed::Box<Handshake<C>>>;
    type Response = sixlock_coap::Heap<RESPONSE>;
    type Identity = sixlock_coap::Heap<MAX_IDENTITY>;
    type Sessions<V> = crate::SlabTable<(A, Stage), V>;
    type Resumptions<V> = crate::SlabTable<[u8; SESSION_ID], V>;
    type Plain<V> = crate::SlabTable<A, V>;

    fn handshake() -> Self::Handshake {
        Some(alloc::boxed::Box::new(Handshake::new()))
    }
}

use sixlock_coap::{ByteStore, Inline};
use sixlock_crypto::Crypto;
use sixlock_dtls::{
    Credentials, Full, Handshake, HandshakeSlot, MAX_IDENTITY, OptionalPart, Profile, SESSION_ID, Version12,
};

use crate::{Address, FixedTable, NetworkLoad, Stage, Table, Tickets};

/// Where an endpoint keeps its peers.
pub trait Storage<C: Crypto, A: Address> {
    /// Whether it may be one of several ([`Shard`](crate::Shard)). Where not, none of that is linked.
    const SHARDS: bool;

    /// What its sessions can do.
    type Profile: Profile;
    /// What only a handshake needs.
    type Handshake: HandshakeSlot<C, Version12<<Self::Profile as Profile>::Features>>;
    /// A response.
    type Response: ByteStore;
    /// The identity of a client.
    type Identity: ByteStore;
    /// The DTLS sessions.
    type Sessions<V>: Table<(A, Stage), V>;
    /// What is left of sessions, by their ids.
    type SessionCache<V>: Table<[u8; SESSION_ID], V>;
    /// What makes session tickets: `()` where there are none.
    type Tickets: OptionalPart<Tickets<C>>;
    /// The peers that speak plain CoAP.
    type Plain<V>: Table<A, V>;

    /// Which shards have gone on with sessions of which addresses, if there may be any.
    type Neighbours: AsRef<[(A, u16)]> + Default;

    /// How many handshakes are under way by the prefix of their clients, if that is counted.
    type Prefixes: AsMut<[NetworkLoad]>;

    /// None under way.
    fn prefixes() -> Self::Prefixes;

    /// Room for a handshake, in which these are shown if there are any and the profile knows of public keys.
    fn handshake(credentials: Option<&'static Credentials>) -> Self::Handshake;
}

/// Everything in place, for devices with pre-shared keys: at most `SESSIONS` sessions and as many that can be resumed, `PLAIN` peers that speak plain CoAP, responses of at
/// most `RESPONSE` bytes.
#[derive(Clone, Copy, Debug)]
pub struct InPlace<const SESSIONS: usize, const PLAIN: usize, const RESPONSE: usize>;

impl<C: Crypto, A: Address, const SESSIONS: usize, const PLAIN: usize, const RESPONSE: usize> Storage<C, A>
    for InPlace<SESSIONS, PLAIN, RESPONSE>
{
    const SHARDS: bool = false;
    type Profile = Full;
    type Handshake = Handshake<C>;
    type Response = Inline<RESPONSE>;
    type Identity = Inline<MAX_IDENTITY>;
    type Sessions<V> = FixedTable<(A, Stage), V, SESSIONS>;
    type SessionCache<V> = FixedTable<[u8; SESSION_ID], V, SESSIONS>;
    type Tickets = ();
    type Plain<V> = FixedTable<A, V, PLAIN>;
    type Neighbours = [(A, u16); 0];
    type Prefixes = [NetworkLoad; 0];

    fn prefixes() -> Self::Prefixes {
        []
    }

    fn handshake(_: Option<&'static Credentials>) -> Self::Handshake {
        Handshake::new()
    }
}

/// Counts of handshakes: more than there are handshakes by default.
#[cfg(feature = "alloc")]
const PREFIXES: usize = 4096;

/// What a server on the heap can do: all there is, with room for no other tickets than its own. Nobody sends a server tickets.
#[cfg(feature = "alloc")]
pub type Serving = Full<
    sixlock_dtls::Features<
        sixlock_dtls::Certificates,
        sixlock_dtls::SessionTickets<{ crate::tickets::LONGEST_TICKET }, 0>,
    >,
>;

/// Everything on the heap, for hosts, with public keys and session tickets: as many peers as the configuration allows, responses of at most `RESPONSE` bytes.
#[cfg(feature = "alloc")]
#[derive(Clone, Copy, Debug)]
pub struct OnHeap<const RESPONSE: usize>;

#[cfg(feature = "alloc")]
impl<C: Crypto, A: Address, const RESPONSE: usize> Storage<C, A> for OnHeap<RESPONSE> {
    const SHARDS: bool = true;
    type Profile = Serving;
    type Handshake = Option<alloc::boxed::Box<Handshake<C, <Serving as Profile>::Features>>>;
    type Response = sixlock_coap::Heap<RESPONSE>;
    type Identity = sixlock_coap::Heap<MAX_IDENTITY>;
    type Sessions<V> = crate::SlabTable<(A, Stage), V>;
    type SessionCache<V> = crate::SlabTable<[u8; SESSION_ID], V>;
    type Tickets = Tickets<C>;
    type Plain<V> = crate::SlabTable<A, V>;
    type Neighbours = alloc::sync::Arc<[(A, u16)]>;
    type Prefixes = alloc::boxed::Box<[NetworkLoad]>;

    fn prefixes() -> Self::Prefixes {
        alloc::vec![NetworkLoad::default(); PREFIXES].into()
    }

    fn handshake(credentials: Option<&'static Credentials>) -> Self::Handshake {
        let handshake = credentials.map_or_else(Handshake::new, Handshake::with);
        Some(alloc::boxed::Box::new(handshake))
    }
}

//! Published services behind DTLS: what clients say is opened, and what nodes answer protected.

use std::collections::BTreeMap;

use sixlock_cloud::Secret;
use sixlock_crypto::Soft;
use sixlock_dtls::{MAX_RECORD_OVERHEAD, RECORD_FRONT};
use sixlock_endpoint::{ADDRESS, Address, Config, Datagrams, Event, OnHeap};
use sixlock_router::Client;

use crate::station::Context;

/// Clients of all services at the same time; each counts for each service that it speaks to.
const SESSIONS: u32 = 1024;
/// Of these, those whose handshake is under way.
const HANDSHAKES: u32 = 64;
/// The longest datagram of a handshake.
const LONGEST_FLIGHT: usize = 1280;

/// The identities of clients, and their keys.
pub(crate) type Keys = BTreeMap<String, Secret>;

/// Who speaks to which service.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Peer(Client);

impl Address for Peer {
    fn to_bytes(self) -> [u8; ADDRESS] {
        self.0.address.to_bytes()
    }
}

/// A DTLS server in front of services: who proves that it knows the key of an identity reaches what is behind.
pub(crate) struct SecureServices {
    keys: Keys,
    datagrams: Datagrams<Soft, Peer, OnHeap<0>>,
}

impl SecureServices {
    /// A server for clients with these keys.
    pub(crate) fn new<N>(cx: &mut Context<'_, N>, keys: Keys) -> Self {
        // Answers go to the address that a session is known by, so that it keeps to it.
        let config = Config {
            max_sessions: SESSIONS,
            max_handshakes: HANDSHAKES,
            max_resumable: SESSIONS,
            connection_ids: false,
            ..Config::default()
        };
        Self { keys, datagrams: Datagrams::new(cx, config) }
    }

    /// What a client says in a datagram; nothing if it has no session yet, or something is wrong.
    pub(crate) fn open<N>(
        &mut self,
        cx: &mut Context<'_, N>,
        client: Client,
        mut datagram: Vec<u8>,
    ) -> Vec<Vec<u8>> {
        let (mut said, mut rest) = (Vec::new(), &mut datagram[..]);
        while !rest.is_empty() {
            let opened = self.datagrams.handle(cx, Peer(client), rest);
            said.extend(opened.data.map(|data| data.to_vec()));
            rest = opened.rest;
        }
        said
    }

    /// The datagram that brings `payload` to a client; nothing if its session is over.
    pub(crate) fn seal<N>(
        &mut self,
        cx: &mut Context<'_, N>,
        client: Client,
        payload: &[u8],
    ) -> Option<Vec<u8>> {
        let mut datagram = vec![0; MAX_RECORD_OVERHEAD + payload.len()];
        datagram.get_mut(RECORD_FRONT..)?.get_mut(..payload.len())?.copy_from_slice(payload);
        let length = self.datagrams.seal(cx, Peer(client), &mut datagram, payload.len()).ok()?;
        datagram.truncate(length);
        Some(datagram)
    }

    /// Does what is due, and gives handshakes the keys that they wait for; the next datagram of one, and whom it is for.
    pub(crate) fn poll_transmit<N>(&mut self, cx: &mut Context<'_, N>) -> Option<(Client, Vec<u8>)> {
        let Self { keys, datagrams } = self;
        if datagrams.poll_timeout().is_some_and(|deadline| cx.now.has_reached(deadline)) {
            datagrams.handle_timeout(cx);
        }
        while let Some(event) = datagrams.poll_event() {
            if let Event::Work { session, identity, .. } = event {
                let key = std::str::from_utf8(identity).ok().and_then(|identity| keys.get(identity));
                // It has just asked.
                let _ = datagrams.provide_key(cx, session, key.map(Secret::bytes));
            }
        }
        let mut buffer = [0; LONGEST_FLIGHT];
        let (Peer(client), length) = datagrams.poll_transmit(cx, &mut buffer)?;
        Some((client, buffer.get(..length)?.to_vec()))
    }
}

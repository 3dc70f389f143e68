//! Hellos that name a session which is then not resumed: their client gets nothing of it.

#![cfg(feature = "alloc")]

mod network;

use std::collections::BTreeMap;
use std::net::SocketAddrV6;

use network::{address, key};
use sixlock_base::{Counter, Instant};
use sixlock_crypto::Soft;
use sixlock_crypto::p256::P256 as _;
use sixlock_dtls::{
    CertificateType, ClientSession, Completion, Config as Dtls, Credentials, Event as SessionEvent,
    FeaturesOf, Handshake, SESSION_ID, SessionState, Suite, Suites, Task, Ticketed, Trusted, Work, perform,
};
use sixlock_endpoint::{
    Config, Endpoint, Event, FINGERPRINT_SECRET, OnHeap, TICKET_KEY, TicketKeys, Transport,
};
use sixlock_testing::Rig;

type Server = Endpoint<Soft, SocketAddrV6, OnHeap<1152>, 4>;
type ClientHandshake = Handshake<Soft, FeaturesOf<sixlock_dtls::Client<Ticketed>>>;

const NOW: Instant = Instant::from_millis(7);
const SERVER_SECRET: [u8; 32] = [2; 32];
const CERTIFIED: Suites = Suites::new(&[Suite::EcdheEcdsaAes128Ccm8]);
const LONG_TAGS: Suites = Suites::new(&[Suite::PskAes128Ccm]);

/// What a client begins with, and what it has in the end.
#[derive(Clone, Default)]
struct Client {
    identity: Vec<u8>,
    key: Vec<u8>,
    resumption: Option<SessionState>,
    /// It asks for tickets, and presents this one if it is not empty.
    ticket: Option<Vec<u8>>,
}

/// A server that shows a public key, and asks nobody for one.
struct World {
    server: Server,
    rig: Rig,
    far: Rig,
    keys: BTreeMap<Vec<u8>, Vec<u8>>,
    /// The identities of the clients that have connected.
    connected: Vec<Vec<u8>>,
}

fn public_key() -> [u8; 65] {
    Soft.p256_public_key(&SERVER_SECRET).unwrap()
}

fn credentials(raw_public_key: Option<[u8; 65]>) -> &'static Credentials {
    Box::leak(Box::new(Credentials {
        raw_public_key,
        certificates: &[],
        accepts: &[CertificateType::RawPublicKey],
        mutual: false,
        authorities: &[],
    }))
}

fn enrolled(n: usize) -> Client {
    Client { identity: format!("device {n}").into_bytes(), key: key(n), ..Client::default() }
}

impl World {
    fn new() -> Self {
        let mut rig = Rig::seeded(1);
        let config = Config { credentials: Some(credentials(Some(public_key()))), ..Config::default() };
        let mut server = Server::new(&mut rig.at(NOW), config);
        server.keep(&[7; FINGERPRINT_SECRET]);
        let keys = (0..3).map(|n| (enrolled(n).identity, key(n))).collect();
        Self { server, rig, far: Rig::seeded(2), keys, connected: Vec::new() }
    }

    fn give_tickets(&mut self) {
        let keys = TicketKeys { current: [1; TICKET_KEY], previous: None };
        self.server.give_tickets(&mut self.rig.at(NOW), &keys, 1_800_000_000);
    }

    fn perform(rig: &mut Rig, secret: &[u8; 32], task: Task<'_>) -> sixlock_dtls::Answer {
        let trusted = Trusted { raw_public_keys: &[public_key()], certificates: None };
        perform(&mut Soft, rig.at(NOW).entropy, secret, &trusted, task)
    }

    /// The server does what it has to, until it waits for its client.
    fn serve(&mut self) {
        let Self { server, rig, keys, connected, .. } = self;
        loop {
            let mut done = None;
            let mut look_up = None;
            match server.poll_event() {
                Some(Event::Work { session, identity, .. }) => {
                    look_up = Some((session, keys.get(identity).cloned()));
                }
                Some(Event::Task { session, task }) => {
                    done = Some((session, Self::perform(&mut self.far, &SERVER_SECRET, task)));
                }
                Some(Event::Connected { identity, .. }) => connected.push(identity.to_vec()),
                Some(_) => {}
                None => return,
            }
            if let Some((session, key)) = look_up {
                server.provide_key(&mut rig.at(NOW), session, key.as_deref()).unwrap();
            }
            if let Some((session, answer)) = done {
                server.complete(&mut rig.at(NOW), session, &answer).unwrap();
            }
        }
    }

    /// A handshake of `client` from address `n`, which offers these suites: whether it connects. It keeps what is left of its
    /// session.
    fn connects(&mut self, n: usize, suites: Suites, client: &mut Client) -> bool {
        let mut session = ClientSession::<Soft, Option<Box<ClientHandshake>>, Ticketed>::new(Some(Box::new(
            ClientHandshake::with(credentials(None)),
        )));
        let config = Dtls { suites, ..Dtls::HOST };
        let (left, cx) = (client.resumption.as_ref(), &mut self.far.at(NOW));
        match &client.ticket {
            Some(ticket) => session.connect_by_ticket(cx, &config, left, ticket),
            None => session.connect(cx, &config, left),
        }
        let (mut datagram, mut is_connected) = ([0; 2048], false);
        loop {
            let mut task = None;
            let mut needs_key = false;
            match session.poll_event() {
                Some(SessionEvent::Work(Work::Psk { .. })) => needs_key = true,
                Some(SessionEvent::Work(Work::Task(asked))) => {
                    task = Some(Self::perform(&mut self.rig, &[1; 32], asked));
                }
                Some(SessionEvent::Connected) => {
                    is_connected = true;
                    let ticket = session.new_ticket().map(|new| new.ticket.to_vec());
                    client.ticket = ticket.or(client.ticket.take());
                    client.resumption = session.session_state();
                }
                _ => {}
            }
            if needs_key {
                session
                    .complete(
                        &mut self.far.at(NOW),
                        Completion::Psk { identity: &client.identity, key: &client.key },
                    )
                    .unwrap();
            } else if let Some(answer) = task {
                session.complete(&mut self.far.at(NOW), Completion::Task(&answer)).unwrap();
            } else if let Some(length) = session.poll_transmit(&mut self.far.at(NOW), &mut datagram) {
                let mut rest = &mut datagram[..length];
                while !rest.is_empty() {
                    rest = self.server.handle(&mut self.rig.at(NOW), Transport::Dtls, address(n), rest).rest;
                }
                self.serve();
            } else if let Some(sent) = self.server.poll_transmit(&mut self.rig.at(NOW), &mut datagram) {
                session.handle_all(&mut self.far.at(NOW), &mut datagram[..sent.len], |_| ());
            } else {
                return is_connected;
            }
        }
    }

    fn resumptions(&self) -> u32 {
        self.rig.count(Counter::DtlsResumptions)
    }
}

/// What anybody can make of a session id that went over the air: it names that session, of another suite.
fn overheard(id: &[u8], suite: u16) -> SessionState {
    let bytes = [&suite.to_be_bytes()[..], &[9; 48], id].concat();
    SessionState::from_bytes(&bytes).unwrap()
}

/// `TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8` and `TLS_PSK_WITH_AES_128_CCM`.
const ECDSA: u16 = 0xc0ae;
const PSK_CCM: u16 = 0xc0a4;

/// [RFC 5246 section 7.3](https://www.rfc-editor.org/rfc/rfc5246#section-7.3)
#[test]
fn a_stranger_who_names_a_session_and_offers_other_suites_has_no_identity() {
    let mut world = World::new();
    let mut device = enrolled(1);
    assert!(world.connects(1, Suites::CCM_8, &mut device));
    let id = device.resumption.clone().unwrap().session_id().to_vec();
    assert_eq!(id.len(), SESSION_ID);
    let mut stranger = Client { resumption: Some(overheard(&id, ECDSA)), ..Client::default() };
    assert!(world.connects(2, CERTIFIED, &mut stranger));
    assert_eq!(world.connected, [b"device 1".to_vec(), Vec::new()]);
    // Nor has the session that it was given in place of that.
    world.connects(3, CERTIFIED, &mut stranger);
    assert!(world.connected[2..].iter().all(Vec::is_empty), "{:?}", world.connected);
    // The one whose session it is resumes it.
    let before = world.resumptions();
    assert!(world.connects(4, Suites::CCM_8, &mut device));
    assert_eq!(world.resumptions(), before + 1);
    assert_eq!(world.connected.last().unwrap(), b"device 1");
}

#[test]
fn whose_ticket_is_not_taken_has_no_identity() {
    let mut world = World::new();
    world.give_tickets();
    let mut device = enrolled(1);
    device.ticket = Some(Vec::new());
    assert!(world.connects(1, Suites::CCM_8, &mut device));
    let bytes = |resumption: &SessionState| {
        let mut bytes = [0; sixlock_dtls::SESSION_STATE];
        let length = resumption.to_bytes(&mut bytes);
        bytes[..length].to_vec()
    };
    let mut other = bytes(device.resumption.as_ref().unwrap());
    other[..2].copy_from_slice(&ECDSA.to_be_bytes());
    let offers_other_suites = Client { resumption: SessionState::from_bytes(&other), ..device.clone() };
    // Its key is still good; then it is revoked.
    for n in 2..4 {
        assert!(world.connects(n, CERTIFIED, &mut offers_other_suites.clone()));
        assert_eq!(world.connected.last().unwrap(), b"", "{n}");
        world.keys.remove(&b"device 1"[..]);
    }
    assert_eq!(world.resumptions(), 0);
}

#[test]
fn who_names_another_s_session_and_connects_as_itself_resumes_its_own() {
    let mut world = World::new();
    let [mut first, mut second] = [1, 2].map(enrolled);
    assert!(world.connects(1, Suites::CCM_8, &mut first));
    let id = first.resumption.clone().unwrap().session_id().to_vec();
    second.resumption = Some(overheard(&id, PSK_CCM));
    assert!(world.connects(2, LONG_TAGS, &mut second));
    assert_ne!(second.resumption.as_ref().unwrap().session_id(), id);
    assert_eq!(world.connected, [b"device 1", b"device 2"]);
    assert!(world.connects(3, LONG_TAGS, &mut second));
    assert_eq!((world.resumptions(), &world.connected[2][..]), (1, &b"device 2"[..]));
}

//! Sessions that are resumed by tickets, of which the endpoint keeps nothing.

#![cfg(feature = "alloc")]

mod network;

use std::collections::BTreeMap;
use std::net::SocketAddrV6;

use network::{address, key};
use sixlock_base::{Counter, Instant};
use sixlock_crypto::Soft;
use sixlock_dtls::{
    ClientSession, Completion, Config as Dtls, Event as SessionEvent, FeaturesOf, Handshake, SessionState,
    Ticketed, Work,
};
use sixlock_endpoint::{
    AuthenticationMethod, Config, Endpoint, Event, FINGERPRINT_SECRET, OnHeap, TICKET_KEY, TicketKeys,
    Transport,
};
use sixlock_testing::Rig;

type Server = Endpoint<Soft, SocketAddrV6, OnHeap<1152>, 4>;
type ClientHandshake = Handshake<Soft, FeaturesOf<sixlock_dtls::Client<Ticketed>>>;

const DAY: u32 = 86_400;
const MARKS: [u8; FINGERPRINT_SECRET] = [7; FINGERPRINT_SECRET];
/// Seconds after 1970.
const BEGIN: u32 = 1_800_000_000;

/// The key of the day number `n`, and that of the day before.
fn keys(n: u8) -> TicketKeys {
    TicketKeys { current: [n; TICKET_KEY], previous: n.checked_sub(1).map(|n| [n; TICKET_KEY]) }
}

/// A server, and a client that keeps what is left of its last session and a ticket.
struct World {
    now: Instant,
    rig: Rig,
    server: Server,
    config: Config,
    keys: BTreeMap<Vec<u8>, Vec<u8>>,
    client: Rig,
    left: Option<SessionState>,
    ticket: Vec<u8>,
    lifetime: u32,
    /// Whose sessions were made, and by what they proved it.
    connected: Vec<Vec<u8>>,
    asked: Vec<(Vec<u8>, AuthenticationMethod)>,
}

impl World {
    fn new(config: Config) -> Self {
        let now = Instant::from_millis(u32::MAX - 10_000);
        let mut rig = Rig::seeded(1);
        let server = Server::new(&mut rig.at(now), config);
        let mut world = Self {
            now,
            rig,
            server,
            config,
            keys: BTreeMap::new(),
            client: Rig::seeded(2),
            left: None,
            ticket: Vec::new(),
            lifetime: 0,
            connected: Vec::new(),
            asked: Vec::new(),
        };
        world.keys.insert(b"device".to_vec(), key(1));
        world.start(1, BEGIN);
        world
    }

    /// A new server, that knows nothing but the keys of a day.
    fn restart(&mut self, day: u8, time: u32) {
        self.server = Server::new(&mut self.rig.at(self.now), self.config);
        self.start(day, time);
    }

    fn start(&mut self, day: u8, time: u32) {
        self.server.keep(&MARKS);
        self.server.give_tickets(&mut self.rig.at(self.now), &keys(day), time);
    }

    /// The client makes a handshake as number `n`, by which it resumes its session if it can: whether it did.
    fn connects(&mut self, n: usize) -> bool {
        let Self { now, rig, server, keys, client, left, ticket, lifetime, connected, asked, .. } = self;
        let before = rig.count(Counter::DtlsResumptions);
        let mut session = ClientSession::<Soft, Option<Box<ClientHandshake>>, Ticketed>::new(Some(Box::new(
            ClientHandshake::new(),
        )));
        session.connect_by_ticket(&mut client.at(*now), &Dtls::HOST, left.as_ref(), ticket);
        let mut datagram = [0; 2048];
        loop {
            while let Some(event) = session.poll_event() {
                match event {
                    SessionEvent::Work(Work::Psk { .. }) => {
                        session
                            .complete(
                                &mut client.at(*now),
                                Completion::Psk { identity: b"device", key: &key(1) },
                            )
                            .unwrap();
                    }
                    SessionEvent::Connected => {
                        if let Some(new) = session.new_ticket() {
                            (*ticket, *lifetime) = (new.ticket.to_vec(), new.lifetime_hint);
                            *left = session.session_state();
                        }
                    }
                    _ => panic!("the handshake succeeds"),
                }
            }
            while let Some(event) = server.poll_event() {
                match event {
                    Event::Work { session, identity, method } => {
                        asked.push((identity.to_vec(), method));
                        let key = keys.get(identity).cloned();
                        server.provide_key(&mut rig.at(*now), session, key.as_deref()).unwrap();
                    }
                    Event::Connected { identity, .. } => connected.push(identity.to_vec()),
                    _ => {}
                }
            }
            if let Some(length) = session.poll_transmit(&mut client.at(*now), &mut datagram) {
                let mut rest = &mut datagram[..length];
                while !rest.is_empty() {
                    rest = server.handle(&mut rig.at(*now), Transport::Dtls, address(n), rest).rest;
                }
            } else if let Some(sent) = server.poll_transmit(&mut rig.at(*now), &mut datagram) {
                session.handle_all(&mut client.at(*now), &mut datagram[..sent.len], |_| ());
            } else {
                break;
            }
        }
        rig.count(Counter::DtlsResumptions) > before
    }
}

#[test]
fn a_server_that_keeps_nothing_resumes_whoever_has_a_ticket() {
    // There is room for what is left of one session, which others have.
    let mut world = World::new(Config { max_resumable: 1, ..Config::default() });
    assert!(!world.connects(0));
    assert_eq!(world.lifetime, DAY);
    println!("a ticket for {} bytes of identity: {} bytes", b"device".len(), world.ticket.len());
    let ticket = world.ticket.clone();
    assert!(world.connects(1));
    assert_eq!(world.ticket, ticket, "it is as good as it was");
    world.restart(1, BEGIN + 60);
    assert!(world.connects(2));
    assert_eq!(world.connected, [b"device"; 3]);
    assert!(
        world.asked.iter().all(|asked| *asked == (b"device".to_vec(), AuthenticationMethod::PreSharedKey))
    );
}

#[test]
fn a_ticket_is_good_for_a_day_and_replaced_when_its_key_is() {
    let mut world = World::new(Config::default());
    assert!(!world.connects(0));
    let first = world.ticket.clone();
    world.restart(2, BEGIN + 3600);
    assert!(world.connects(1));
    assert_ne!(world.ticket, first, "its key is about to go");
    assert_eq!(world.lifetime, DAY - 3600, "its session gets no older than it was to");
    // The new one is of the new key.
    world.restart(3, BEGIN + DAY - 2);
    assert!(world.connects(2));
    world.restart(3, BEGIN + DAY);
    assert!(!world.connects(3), "its time is up");
    // That was a full handshake.
    world.restart(3, BEGIN + 2 * DAY - 10);
    assert!(world.connects(4));
    world.restart(5, BEGIN + 2 * DAY - 10);
    assert!(!world.connects(5), "its key is gone");
}

#[test]
fn a_ticket_is_good_as_long_as_the_clock_that_runs_says() {
    let mut world = World::new(Config::default());
    assert!(!world.connects(0));
    world.now = world.now + sixlock_base::Duration::from_secs(DAY - 1);
    assert!(world.connects(1));
    world.now = world.now + sixlock_base::Duration::from_secs(1);
    assert!(!world.connects(2));
}

#[test]
fn a_key_that_is_gone_or_another_makes_a_ticket_void() {
    let mut world = World::new(Config::default());
    assert!(!world.connects(0));
    world.keys.insert(b"device".to_vec(), key(2));
    // Whoever has the ticket has the old key only, and the handshake in its place fails.
    world.connects(1);
    assert_eq!(world.connected.len(), 1);
    world.keys.clear();
    world.connects(2);
    assert_eq!(world.connected.len(), 1);
    world.keys.insert(b"device".to_vec(), key(1));
    assert!(world.connects(3), "it is the key that it was made with");
}

#[test]
fn what_is_no_good_ticket_is_followed_by_a_full_handshake() {
    let mut world = World::new(Config::default());
    assert!(!world.connects(0));
    let (good, left) = (world.ticket.clone(), world.left.clone());
    let mut bad: Vec<Vec<u8>> = (0..good.len()).step_by(7).map(|length| good[..length].to_vec()).collect();
    bad.extend((0..good.len()).map(|at| {
        let mut altered = good.clone();
        altered[at] ^= 0x10;
        altered
    }));
    bad.extend([[&good[..], &[0]].concat(), vec![9; 1024], vec![9; 1500]]);
    for (n, ticket) in bad.into_iter().enumerate() {
        (world.ticket, world.left) = (ticket, left.clone());
        assert!(!world.connects(1 + n), "{n}");
    }
    (world.ticket, world.left) = (good, left);
    assert!(world.connects(1000));
}

#[test]
fn a_server_without_keys_of_tickets_gives_ids() {
    let mut world = World::new(Config::default());
    world.server = Server::new(&mut world.rig.at(world.now), world.config);
    assert!(!world.connects(0));
    assert!(world.ticket.is_empty() && world.left.is_none());
}

//! A DTLS server for datagrams of any kind, and clients of it.

mod network;

use std::net::SocketAddrV6;

use sixlock_base::{Counter, Instant};
use sixlock_crypto::Soft;
use sixlock_dtls::{ClientSession, Completion, Error, Handshake, MAX_RECORD_OVERHEAD, RECORD_FRONT};
use sixlock_endpoint::{Config, Datagrams, Event, InPlace, Storage};
use sixlock_testing::Rig;

use network::{Small, address, key};

const NOW: Instant = Instant::from_millis(7);

struct Server<S: Storage<Soft, SocketAddrV6>> {
    datagrams: Datagrams<Soft, SocketAddrV6, S>,
    rig: Rig,
    /// What clients have said.
    heard: Vec<(SocketAddrV6, Vec<u8>)>,
}

impl<S: Storage<Soft, SocketAddrV6>> Server<S> {
    fn new() -> Self {
        let mut rig = Rig::seeded(1);
        let config = Config { max_sessions: 2, ..Config::default() };
        Self { datagrams: Datagrams::new(&mut rig.at(NOW), config), rig, heard: Vec::new() }
    }

    /// Takes a datagram; what it answers, to whom.
    fn take(&mut self, from: SocketAddrV6, datagram: &[u8]) -> Vec<(SocketAddrV6, Vec<u8>)> {
        let mut datagram = datagram.to_vec();
        let mut rest = &mut datagram[..];
        while !rest.is_empty() {
            let opened = self.datagrams.handle(&mut self.rig.at(NOW), from, rest);
            self.heard.extend(opened.data.map(|data| (from, data.to_vec())));
            rest = opened.rest;
        }
        while let Some(event) = self.datagrams.poll_event() {
            if let Event::Work { session, identity, .. } = event {
                let key = (identity == b"known").then(|| key(1));
                self.datagrams.provide_key(&mut self.rig.at(NOW), session, key.as_deref()).unwrap();
            }
        }
        let mut out = [0; 1500];
        let mut sent = Vec::new();
        while let Some((to, len)) = self.datagrams.poll_transmit(&mut self.rig.at(NOW), &mut out) {
            sent.push((to, out[..len].to_vec()));
        }
        sent
    }

    fn say(&mut self, to: SocketAddrV6, data: &[u8]) -> Result<Vec<u8>, Error> {
        let mut buffer = vec![0; MAX_RECORD_OVERHEAD + data.len()];
        buffer[RECORD_FRONT..][..data.len()].copy_from_slice(data);
        let len = self.datagrams.seal(&mut self.rig.at(NOW), to, &mut buffer, data.len())?;
        Ok(buffer[..len].to_vec())
    }
}

struct Client {
    address: SocketAddrV6,
    session: ClientSession<Soft, Option<Box<Handshake<Soft>>>>,
    rig: Rig,
}

impl Client {
    /// One that has shaken hands with the server, if it is let.
    fn connect<S: Storage<Soft, SocketAddrV6>>(
        n: usize,
        identity: &[u8],
        key: &[u8],
        server: &mut Server<S>,
    ) -> Self {
        let mut rig = Rig::seeded(n as u32 + 1);
        let room = Some(Box::new(Handshake::new()));
        let session = ClientSession::client(&mut rig.at(NOW), sixlock_dtls::Config::HOST, None, room);
        let mut client = Self { address: address(n), session, rig };
        let mut out = [0; 1500];
        loop {
            let mut work = false;
            while let Some(event) = client.session.poll_event() {
                work |= matches!(event, sixlock_dtls::Event::Work(_));
            }
            if work {
                client.session.complete(&mut client.rig.at(NOW), Completion::Psk { identity, key }).unwrap();
            }
            let Some(len) = client.session.poll_transmit(&mut client.rig.at(NOW), &mut out) else {
                return client;
            };
            for (to, datagram) in server.take(client.address, &out[..len]) {
                assert_eq!(to, client.address);
                assert_eq!(client.hear(&datagram), None);
            }
        }
    }

    fn say(&mut self, data: &[u8]) -> Vec<u8> {
        let mut buffer = vec![0; MAX_RECORD_OVERHEAD + data.len()];
        buffer[RECORD_FRONT..][..data.len()].copy_from_slice(data);
        let len = self.session.seal(&mut self.rig.at(NOW), &mut buffer, data.len()).unwrap();
        buffer[..len].to_vec()
    }

    fn hear(&mut self, datagram: &[u8]) -> Option<Vec<u8>> {
        let mut datagram = datagram.to_vec();
        let (mut rest, mut heard) = (&mut datagram[..], None);
        while !rest.is_empty() {
            let received = self.session.handle(&mut self.rig.at(NOW), rest);
            heard = received.data.map(|data| data.to_vec()).or(heard);
            rest = received.rest;
        }
        heard
    }
}

#[test]
fn what_clients_say_comes_out_and_what_is_said_to_each_only_that_one_opens() {
    let mut server = Server::<Small>::new();
    let mut clients = [1, 2].map(|n| Client::connect(n, b"known", &key(1), &mut server));
    for (n, client) in clients.iter_mut().enumerate() {
        let said = vec![n as u8; 1 + 300 * n];
        let datagram = client.say(&said);
        assert!(server.take(client.address, &datagram).is_empty());
        // Nothing is opened twice.
        server.take(client.address, &datagram);
        assert_eq!(server.heard, [(client.address, said)]);
        server.heard.clear();
    }
    assert_eq!(server.rig.count(Counter::DtlsReplayed), 2);
    let [first, second] = &mut clients;
    let datagram = server.say(first.address, b"to the first").unwrap();
    assert_eq!(second.hear(&datagram), None);
    assert_eq!(first.hear(&datagram).as_deref(), Some(&b"to the first"[..]));
}

#[test]
fn who_proves_no_identity_is_not_heard_nor_spoken_to() {
    let mut server = Server::<InPlace<2, 0, 0>>::new();
    for (n, identity, of) in [(1, &b"known"[..], 2), (2, b"unknown", 1)] {
        let client = Client::connect(n, identity, &key(of), &mut server);
        assert!(!client.session.is_connected());
        assert_eq!(server.say(client.address, b"secret"), Err(Error::NotConnected));
    }
    server.take(address(3), b"in the clear");
    assert_eq!(server.say(address(3), b"secret"), Err(Error::NotConnected));
    assert!(server.heard.is_empty());
}

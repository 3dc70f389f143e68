//! A node's servers behind DTLS, and clients that talk to it.

use core::net::Ipv6Addr;

use proptest::collection::vec;
use proptest::prelude::*;
use sixlock_base::{Counter, Duration, Eui64, Instant, MESH_PREFIX, Packet};
use sixlock_coap_msg::{BuildError, Builder, Code, ContentFormat, Message, OptionNumber, Type, empty};
use sixlock_crypto::Soft;
use sixlock_dtls::{ClientSession, Completion, Config, Event as SessionEvent, Handshake, RECORD_FRONT};
use sixlock_node::{
    Access, Application, AskedSensor, COAPS_PORT, Cloud, Datagram, DeviceName, EchoServer, Event, Identity,
    Measurement, PreShared, Resource, Server,
};
use sixlock_testing::Rig;

const IDENTITY: &[u8] = b"node-1";
const ASKED: &[u8] = b"ask.node-1";
const KEY: &[u8] = b"a key of sixteen";
const NODE: Eui64 = Eui64::of_node(1);
const READING: &[u8] = br#"[{"bn":"urn:dev:mac:0212740000000002:","n":"temperature","u":"Cel","v":21.4}]"#;

/// A server, and what both ends are lent.
struct Bench<A = Server<Soft, PreShared, 2, 3, 1>> {
    server: Box<A>,
    /// At which port it is asked.
    port: u16,
    rig: Rig,
}

/// A device that talks to it.
struct Client {
    address: Eui64,
    session: ClientSession<Soft, Option<Box<Handshake<Soft>>>>,
    identity: &'static [u8],
    key: &'static [u8],
    answers: Vec<Vec<u8>>,
}

impl<A: for<'a> Application<Soft, Access<'a> = Identity<'a>>> Bench<A> {
    fn of(server: A) -> Self {
        let port = server.port();
        Self::asked_at(port, server, Identity { name: IDENTITY, key: KEY })
    }
}

impl<A: Application<Soft>> Bench<A> {
    fn asked_at(port: u16, server: A, access: A::Access<'_>) -> Self {
        let mut server = Box::new(server);
        let cloud = Cloud {
            address: NODE.with_prefix(MESH_PREFIX),
            port,
            access,
            period: Duration::from_secs(60),
            first: Duration::from_secs(5),
        };
        let now = Instant::from_millis(1000);
        server.start(now, &cloud).unwrap();
        Self { server, port, rig: Rig { now, ..Rig::seeded(1) } }
    }

    fn client(&mut self, id: u32, key: &'static [u8]) -> Client {
        let handshake = Some(Box::new(Handshake::new()));
        let mut cx = self.rig.cx();
        let session = ClientSession::client(&mut cx, Config::MESH, None, handshake);
        Client { address: Eui64::of_node(id), session, identity: IDENTITY, key, answers: Vec::new() }
    }

    /// Lets datagrams through until there are no more, of the client's `first`, if it has one sealed.
    fn exchange(&mut self, client: &mut Client, first: Option<Vec<u8>>) {
        let Self { server, rig, port } = self;
        let mut cx = rig.cx();
        let mut buffer = [0; 512];
        let mut next = first.or_else(|| {
            let len = client.session.poll_transmit(&mut cx, &mut buffer)?;
            Some(buffer[..len].to_vec())
        });
        while let Some(mut sent) = next.take() {
            let datagram = Datagram {
                source: client.address.with_prefix(MESH_PREFIX),
                source_port: 4000,
                destination: NODE.with_prefix(MESH_PREFIX),
                destination_port: *port,
                payload: &mut sent,
            };
            assert!(server.takes(&datagram));
            let mut came_back = Vec::new();
            let mut packet = Packet::<[u8; 320]>::new();
            if server.handle(&mut cx, NODE, datagram, &mut packet) {
                assert_eq!(server.port(), *port);
                came_back.push(packet.bytes().to_vec());
            }
            loop {
                packet.reset(0);
                let Some((to, to_port)) = server.poll_transmit(&mut cx, &mut packet) else { break };
                if server.port() != *port {
                    // What it posts elsewhere.
                    continue;
                }
                assert_eq!((to, to_port), (client.address.with_prefix(MESH_PREFIX), 4000));
                came_back.push(packet.bytes().to_vec());
            }
            for mut datagram in came_back {
                let mut rest = &mut datagram[..];
                while !rest.is_empty() {
                    let received = client.session.handle(&mut cx, rest);
                    client.answers.extend(received.data.map(|data| data.to_vec()));
                    rest = received.rest;
                }
            }
            while let Some(event) = client.session.poll_event() {
                if let SessionEvent::Work(_) = event {
                    client
                        .session
                        .complete(&mut cx, Completion::Psk { identity: client.identity, key: client.key })
                        .unwrap();
                }
            }
            next = client.session.poll_transmit(&mut cx, &mut buffer).map(|len| buffer[..len].to_vec());
        }
    }

    /// Sends a message in a record.
    fn send(&mut self, client: &mut Client, message: &[u8]) {
        let mut cx = self.rig.cx();
        let mut buffer = vec![0; message.len() + client.session.overhead()];
        buffer[RECORD_FRONT..][..message.len()].copy_from_slice(message);
        let len = client.session.seal(&mut cx, &mut buffer, message.len()).unwrap();
        self.exchange(client, Some(buffer[..len].to_vec()));
    }
}

impl Bench {
    fn new() -> Self {
        Self::of(Server::NEW)
    }
}

impl<A: Application<Soft>> Bench<A> {
    /// The answer to a request: its code and payload.
    fn ask(
        &mut self,
        client: &mut Client,
        code: Code,
        id: u16,
        path: &[&str],
        body: impl FnOnce(Builder<'_>) -> Result<usize, BuildError>,
    ) -> (Code, Vec<u8>) {
        let mut buffer = [0; 512];
        let mut builder =
            Builder::new(&mut buffer[RECORD_FRONT..], Type::Confirmable, code, id, b"t").unwrap();
        builder.path(path).unwrap();
        let len = body(builder).unwrap();
        self.send(client, &buffer[RECORD_FRONT..RECORD_FRONT + len]);
        let answer = client.answers.pop().expect("an answer");
        let answer = Message::parse(&answer).unwrap();
        assert_eq!((answer.id(), answer.token()), (id, &b"t"[..]));
        (answer.code(), answer.payload().to_vec())
    }

    fn post(&mut self, client: &mut Client, id: u16, reading: &[u8]) -> Code {
        let (code, payload) = self.ask(client, Code::POST, id, &["resources", "data"], |mut builder| {
            builder.content_format(ContentFormat::SENML_JSON)?;
            builder.finish_with(reading)
        });
        assert!(payload.is_empty());
        code
    }

    fn get(&mut self, client: &mut Client, id: u16, path: &[&str]) -> (Code, Vec<u8>) {
        self.ask(client, Code::GET, id, path, |builder| Ok(builder.finish()))
    }
}

#[test]
fn a_reading_is_taken_in_once_and_told() {
    let mut place = Bench::new();
    let mut client = place.client(2, KEY);
    place.exchange(&mut client, None);
    assert!(client.session.is_connected());
    assert_eq!(place.server.poll_event(place.rig.now), Some(Event::Connected));
    let data = ["resources", "data"];
    assert_eq!(place.get(&mut client, 1, &data), (Code::SERVICE_UNAVAILABLE, Vec::new()));
    assert_eq!(place.post(&mut client, 2, READING), Code::CHANGED);
    assert_eq!(place.server.poll_event(place.rig.now), Some(Event::ReadingReceived(client.address)));
    assert_eq!(place.post(&mut client, 2, READING), Code::CHANGED, "its answer was lost");
    assert_eq!(place.server.poll_event(place.rig.now), None);
    assert_eq!(place.get(&mut client, 3, &data), (Code::CONTENT, READING.to_vec()));
    assert_eq!(place.post(&mut client, 4, &[b' '; 193]), Code::REQUEST_ENTITY_TOO_LARGE);
    let text = place.ask(&mut client, Code::POST, 5, &data, |builder| builder.finish_with(b"21.4"));
    assert_eq!(text.0, Code::UNSUPPORTED_CONTENT_FORMAT);
    assert_eq!(place.ask(&mut client, Code::PUT, 6, &data, |b| Ok(b.finish())).0, Code::METHOD_NOT_ALLOWED);
    assert_eq!(place.get(&mut client, 7, &["nothing"]).0, Code::NOT_FOUND);
    assert_eq!(place.get(&mut client, 8, &data).1, READING, "what was refused is not kept");
}

#[test]
fn its_own_readings_are_told_and_made_by_its_schedule() {
    let mut place = Bench::new();
    assert_eq!(place.server.poll_event(place.rig.now), None);
    assert_eq!(place.server.poll_timeout(), Some(place.rig.now + Duration::from_secs(5)));
    place.rig.now = place.rig.now + Duration::from_secs(5);
    assert_eq!(place.server.poll_event(place.rig.now), Some(Event::Sample));
    assert_eq!(place.server.poll_timeout(), Some(place.rig.now + Duration::from_secs(60)));
    let mut client = place.client(2, KEY);
    place.exchange(&mut client, None);
    assert_eq!(place.get(&mut client, 1, &["sensors"]).0, Code::SERVICE_UNAVAILABLE);
    let Bench { server, rig, .. } = &mut place;
    let mut cx = rig.cx();
    server.report(&mut cx, &DeviceName::new(NODE), &Measurement::of_sensors(214, 431, 310));
    let (code, payload) = place.get(&mut client, 2, &["sensors"]);
    let expected = br#"[{"bn":"urn:dev:mac:0212740000000001:","n":"temperature","u":"Cel","v":21.4},{"n":"humidity","u":"%RH","v":43.1},{"n":"light","u":"lx","v":310}]"#;
    assert_eq!((code, payload.as_slice()), (Code::CONTENT, &expected[..]));
    let links = place.get(&mut client, 3, &[".well-known", "core"]).1;
    assert_eq!(links, b"</sensors>;ct=110;obs,</resources/data>;ct=110");
}

impl Bench {
    /// Makes a reading.
    fn report(&mut self) {
        let Self { server, rig, .. } = self;
        let mut cx = rig.cx();
        server.report(&mut cx, &DeviceName::new(NODE), &Measurement::of_sensors(214, 431, 310));
    }

    /// Whom the server notifies next, and the datagram.
    fn notification(&mut self) -> Option<(Ipv6Addr, Vec<u8>)> {
        let Self { server, rig, .. } = self;
        let mut cx = rig.cx();
        let mut packet = Packet::<[u8; 320]>::new();
        let (to, _) = server.poll_notification(&mut cx, NODE, &mut packet)?;
        Some((to, packet.bytes().to_vec()))
    }

    /// What a client reads that the server notifies now.
    fn read_notification(&mut self, client: &mut Client) -> Option<Vec<u8>> {
        let (to, mut datagram) = self.notification()?;
        assert_eq!(to, client.address.with_prefix(MESH_PREFIX));
        let mut cx = self.rig.cx();
        client.session.handle(&mut cx, &mut datagram).data.map(|data| data.to_vec())
    }

    /// Asks for the server's readings with this Observe option; the one in the answer.
    fn observe(&mut self, client: &mut Client, id: u16, observe: u32) -> Option<u32> {
        let mut buffer = [0; 64];
        let mut builder = Builder::new(&mut buffer, Type::Confirmable, Code::GET, id, b"t").unwrap();
        builder.option_uint(OptionNumber::OBSERVE, observe).unwrap();
        builder.path(&["sensors"]).unwrap();
        let length = builder.finish();
        self.send(client, &buffer[..length]);
        let answer = client.answers.pop().expect("an answer");
        let answer = Message::parse(&answer).unwrap();
        assert_eq!(answer.code(), Code::CONTENT);
        answer.value(OptionNumber::OBSERVE).map(|number| number.uint().unwrap())
    }
}

#[test]
fn readings_are_told_in_the_session_in_which_they_are_observed() {
    let mut place = Bench::new();
    place.report();
    let [mut first, mut second] = [2, 3].map(|id| place.client(id, KEY));
    for client in [&mut first, &mut second] {
        place.exchange(client, None);
    }
    assert_eq!(place.observe(&mut first, 1, 0), Some(0));
    assert_eq!(place.notification(), None);
    place.report();
    let told = place.read_notification(&mut first).unwrap();
    let message = Message::parse(&told).unwrap();
    assert_eq!((message.message_type(), message.code()), (Type::Confirmable, Code::CONTENT));
    assert_eq!(message.token(), b"t");
    assert_eq!(message.value(OptionNumber::OBSERVE).unwrap().uint(), Some(1));
    assert_eq!(message.value(OptionNumber::MAX_AGE).unwrap().uint(), Some(120), "a reading a minute");
    assert!(message.payload().starts_with(b"[{\"bn\":\"urn:dev:mac:0212740000000001:\""));
    assert_eq!(place.notification(), None, "the other observes nothing");
    // An acknowledgement of the other, in its own session, says nothing about this one.
    let acknowledgement = empty(Type::Acknowledgement, message.id());
    place.send(&mut second, &acknowledgement);
    assert!(place.server.poll_timeout().is_some_and(|due| due != place.rig.now + Duration::from_secs(5)));
    place.send(&mut first, &acknowledgement);
    assert!(first.answers.is_empty());
    // The room of a session is for one.
    assert_eq!(place.observe(&mut first, 2, 1), None);
    place.rig.now = place.rig.now + Duration::from_secs(60);
    place.report();
    assert_eq!(place.notification(), None);
}

#[test]
fn a_rejected_notification_ends_its_observation() {
    let mut place = Bench::new();
    place.report();
    let mut client = place.client(2, KEY);
    place.exchange(&mut client, None);
    assert_eq!(place.observe(&mut client, 1, 0), Some(0));
    place.report();
    let told = place.read_notification(&mut client).unwrap();
    let id = Message::parse(&told).unwrap().id();
    place.send(&mut client, &empty(Type::Reset, id));
    place.rig.now = place.rig.now + Duration::from_secs(60);
    place.report();
    assert_eq!(place.notification(), None);
}

#[test]
fn an_observation_ends_with_its_session() {
    for closes in [true, false] {
        let mut place = Bench::new();
        place.report();
        let mut client = place.client(2, KEY);
        place.exchange(&mut client, None);
        assert_eq!(place.observe(&mut client, 1, 0), Some(0));
        if closes {
            client.session.close();
            place.exchange(&mut client, None);
        } else {
            // It begins anew, and has its place again.
            client = place.client(2, KEY);
            place.exchange(&mut client, None);
            assert!(client.session.is_connected());
        }
        place.report();
        assert_eq!(place.notification(), None, "{closes}");
    }
}

#[test]
fn a_server_without_room_for_readings_makes_none() {
    let mut server = Box::new(Server::<Soft, PreShared, 1, 0>::NEW);
    let access = Identity { name: IDENTITY, key: KEY };
    let (now, period) = (Instant::from_millis(0), Duration::from_secs(1));
    let address = NODE.with_prefix(MESH_PREFIX);
    server.start(now, &Cloud { address, port: COAPS_PORT, access, period, first: period }).unwrap();
    assert_eq!((server.poll_timeout(), server.poll_event(now + period + period)), (None, None));
}

#[test]
fn an_echo_server_sends_back_what_it_gets() {
    let mut place = Bench::of(EchoServer::<Soft, PreShared, 1>::NEW);
    let mut client = place.client(2, KEY);
    place.exchange(&mut client, None);
    assert!(client.session.is_connected());
    assert_eq!(place.server.poll_event(place.rig.now), Some(Event::Connected));
    assert_eq!(place.server.poll_event(place.rig.now), None);
    for message in [&b"a message"[..], &[7; 200]] {
        place.send(&mut client, message);
        assert_eq!(client.answers.pop().as_deref(), Some(message));
    }
    place.send(&mut client, &[7; 300]);
    assert_eq!(client.answers, Vec::<Vec<u8>>::new(), "it would not fit");
    let mut stranger = place.client(3, KEY);
    stranger.key = b"another key than";
    place.exchange(&mut stranger, None);
    assert!(!stranger.session.is_connected());
}

#[test]
fn another_key_opens_nothing() {
    let mut place = Bench::new();
    let mut client = place.client(2, b"another key than");
    place.exchange(&mut client, None);
    assert!(!client.session.is_connected());
    assert!(place.rig.count(Counter::DtlsBadRecord) > 0);
}

#[test]
fn a_client_that_finds_no_place_gets_one_when_another_was_silent_for_long() {
    let mut place = Bench::new();
    let [mut first, mut second, mut third] = [2, 3, 4].map(|id| place.client(id, KEY));
    for client in [&mut first, &mut second] {
        place.exchange(client, None);
        assert!(client.session.is_connected());
    }
    place.exchange(&mut third, None);
    assert!(!third.session.is_connected());
    assert_eq!(place.rig.count(Counter::DtlsSessionsFull), 1);
    place.rig.now = place.rig.now + Duration::from_secs(30);
    assert_eq!(place.post(&mut second, 1, READING), Code::CHANGED);
    place.rig.now = place.rig.now + Duration::from_secs(31);
    let mut third = place.client(4, KEY);
    place.exchange(&mut third, None);
    assert!(third.session.is_connected(), "in the place of the first");
    assert_eq!(place.post(&mut second, 2, READING), Code::CHANGED);
    // A client that has forgotten its session gets its own place.
    let mut again = place.client(3, KEY);
    place.exchange(&mut again, None);
    assert!(again.session.is_connected());
    assert_eq!(place.post(&mut third, 1, READING), Code::CHANGED);
}

impl Bench {
    /// A handshake that `client` begins with a cookie, and does not go on with; whether it got a place.
    fn begin(&mut self, client: &mut Client) -> bool {
        let full = self.rig.count(Counter::DtlsSessionsFull);
        for _ in 0..2 {
            let Self { server, rig, .. } = self;
            let mut cx = rig.cx();
            let mut buffer = [0; 512];
            let len = client.session.poll_transmit(&mut cx, &mut buffer).unwrap();
            let datagram = Datagram {
                source: client.address.with_prefix(MESH_PREFIX),
                source_port: 4000,
                destination: NODE.with_prefix(MESH_PREFIX),
                destination_port: COAPS_PORT,
                payload: &mut buffer[..len],
            };
            let mut packet = Packet::<[u8; 320]>::new();
            if server.handle(&mut cx, NODE, datagram, &mut packet) {
                client.session.handle_all(&mut cx, packet.bytes_mut(), |_| ());
            }
            packet.reset(0);
            // Its flight is lost.
            while server.poll_transmit(&mut cx, &mut packet).is_some() {
                packet.reset(0);
            }
        }
        self.rig.count(Counter::DtlsSessionsFull) == full
    }

    /// A datagram that is nothing of a session, in the name of a client.
    fn forge(&mut self, client: &Client) {
        for mut junk in [vec![0], vec![23, 0xfe, 0xfd, 0, 1, 0, 0, 0, 0, 0, 9, 0, 17], vec![22; 40]] {
            junk.resize(junk.len() + 17, 7);
            let Self { server, rig, .. } = self;
            let mut cx = rig.cx();
            let datagram = Datagram {
                source: client.address.with_prefix(MESH_PREFIX),
                source_port: 4000,
                destination: NODE.with_prefix(MESH_PREFIX),
                destination_port: COAPS_PORT,
                payload: &mut junk,
            };
            assert!(!server.handle(&mut cx, NODE, datagram, &mut Packet::<[u8; 320]>::new()));
        }
    }

    /// How many hellos it takes, one now and one every `step`, until a new client is let in: at most `most`.
    fn hellos(&mut self, step: Duration, most: u32) -> Option<u32> {
        (1..=most).find(|&n| {
            let mut client = self.client(100 + n, KEY);
            self.exchange(&mut client, None);
            self.rig.now = self.rig.now + step;
            client.session.is_connected()
        })
    }
}

#[test]
fn what_does_not_authenticate_keeps_no_place() {
    let mut place = Bench::new();
    let mut gone = [2, 3].map(|id| place.client(id, KEY));
    for client in &mut gone {
        place.exchange(client, None);
        assert!(client.session.is_connected());
    }
    for _ in 0..4 {
        place.rig.now = place.rig.now + Duration::from_secs(30);
        gone.iter().for_each(|client| place.forge(client));
    }
    assert_eq!(place.hellos(Duration::from_secs(1), 1), Some(1));
}

#[test]
fn a_replayed_record_keeps_no_place() {
    let mut place = Bench::new();
    let mut gone = [2, 3].map(|id| place.client(id, KEY));
    for client in &mut gone {
        place.exchange(client, None);
    }
    let mut cx = place.rig.cx();
    let mut record = vec![0; 1 + gone[0].session.overhead()];
    gone[0].session.seal(&mut cx, &mut record, 1).unwrap();
    for _ in 0..4 {
        place.exchange(&mut gone[0], Some(record.clone()));
        place.rig.now = place.rig.now + Duration::from_secs(30);
    }
    assert_eq!(place.hellos(Duration::from_secs(1), 1), Some(1));
}

#[test]
fn handshakes_that_nobody_completes_do_not_shut_others_out() {
    let mut place = Bench::new();
    let mut strangers = [2, 3].map(|id| place.client(id, KEY));
    for stranger in &mut strangers {
        assert!(place.begin(stranger));
    }
    assert_eq!(place.hellos(Duration::from_millis(1), 50), None, "a handshake has three seconds for itself");
    place.rig.now = place.rig.now + Duration::from_millis(3000);
    assert!(
        place.hellos(Duration::from_millis(1), 50).is_some(),
        "and one of four hellos gets its place then"
    );
    // Junk in their names does not keep it either, and after a minute the first hello does.
    place = Bench::new();
    let mut strangers = [2, 3].map(|id| place.client(id, KEY));
    for stranger in &mut strangers {
        assert!(place.begin(stranger));
    }
    for _ in 0..3 {
        place.rig.now = place.rig.now + Duration::from_millis(20_001);
        strangers.iter().for_each(|stranger| place.forge(stranger));
    }
    assert_eq!(place.hellos(Duration::from_millis(1), 1), Some(1));
}

#[test]
fn strangers_that_begin_anew_again_and_again_do_not_shut_others_out() {
    let mut place = Bench::new();
    let mut let_in = 0;
    // Each of the two hellos comes before the three seconds are over that a handshake has for itself.
    for round in 0..100 {
        for id in [2, 3] {
            let mut stranger = place.client(id, KEY);
            place.begin(&mut stranger);
        }
        for n in 0..4 {
            place.rig.now = place.rig.now + Duration::from_millis(725);
            let mut client = place.client(100 + 4 * round + n, KEY);
            place.exchange(&mut client, None);
            let_in += u32::from(client.session.is_connected());
        }
    }
    assert!(let_in > 0, "of 400 hellos");
}

#[test]
fn hellos_of_strangers_end_no_session_that_is_in_use() {
    let mut place = Bench::new();
    let [mut first, mut second] = [2, 3].map(|id| place.client(id, KEY));
    for client in [&mut first, &mut second] {
        place.exchange(client, None);
    }
    for id in 1..200 {
        if id % 40 == 0 {
            assert_eq!(place.post(&mut first, id, READING), Code::CHANGED);
            assert_eq!(place.post(&mut second, id, READING), Code::CHANGED);
        }
        let mut stranger = place.client(1000 + u32::from(id), KEY);
        assert!(!place.begin(&mut stranger));
        place.rig.now = place.rig.now + Duration::from_secs(1);
    }
}

#[test]
fn what_comes_to_everybody_is_not_taken() {
    let place = Bench::new();
    let datagram = |destination, destination_port| {
        let source = Ipv6Addr::LOCALHOST;
        place.server.takes(&Datagram {
            source,
            source_port: 1,
            destination,
            destination_port,
            payload: &mut [],
        })
    };
    assert!(datagram(NODE.with_prefix(MESH_PREFIX), COAPS_PORT));
    assert!(!datagram(NODE.with_prefix(MESH_PREFIX), 5683));
    assert!(!datagram(Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1), COAPS_PORT));
}

proptest! {
    #[test]
    fn any_datagrams_panic_nowhere(datagrams in vec(vec(any::<u8>(), 0..300), 1..8)) {
        let mut place = Bench::new();
        let mut client = place.client(2, KEY);
        for mut datagram in datagrams {
            // Chance would hardly find the beginning of a record.
            for (byte, begins) in datagram.iter_mut().zip([22, 0xfe, 0xfd, 0, 0]) {
                *byte = begins;
            }
            place.exchange(&mut client, Some(datagram));
        }
    }

    #[test]
    fn any_requests_of_a_client_with_the_key_panic_nowhere(requests in vec(vec(any::<u8>(), 0..250), 1..8)) {
        let mut place = Bench::new();
        let mut client = place.client(2, KEY);
        place.exchange(&mut client, None);
        for request in requests {
            place.send(&mut client, &request);
        }
        let data = ["resources", "data"];
        prop_assert!([Code::CONTENT, Code::SERVICE_UNAVAILABLE].contains(&place.get(&mut client, 7, &data).0));
    }
}

/// A sensor of a cloud that is elsewhere, which is asked by who has its key.
#[test]
fn a_sensor_posts_from_one_port_and_is_asked_at_another() {
    let access = Access::DtlsPsk(Identity { name: IDENTITY, key: KEY });
    let mut place = Bench::asked_at(COAPS_PORT, AskedSensor::<Soft, 2, 3, 1>::NEW, access);
    let Bench { server, rig, .. } = &mut place;
    assert_eq!(server.poll_event(rig.now), None);
    server.report(&mut rig.cx(), &DeviceName::new(NODE), &Measurement::of_sensors(214, 431, 310));
    // The hello of its own session.
    let mut packet = Packet::<[u8; 320]>::new();
    let (to, port) = server.poll_transmit(&mut rig.cx(), &mut packet).unwrap();
    assert_eq!((to, port, server.port()), (NODE.with_prefix(MESH_PREFIX), COAPS_PORT, 49_152));

    let mut client = Client { identity: ASKED, ..place.client(2, KEY) };
    place.exchange(&mut client, None);
    assert!(client.session.is_connected());
    assert_eq!(place.server.poll_event(place.rig.now), None, "who asks is no news");
    let (code, reading) = place.get(&mut client, 1, &["sensors"]);
    assert_eq!(code, Code::CONTENT);
    assert!(reading.starts_with(b"[{\"bn\":\"urn:dev:mac:0212740000000001:\""), "{reading:?}");
    assert_eq!(
        place.get(&mut client, 2, &[".well-known", "core"]).1,
        b"</sensors>;ct=110;obs,</actuators/led>;ct=110,</actuators/valve>;ct=110"
    );
    assert_eq!(place.get(&mut client, 3, &["resources", "data"]).0, Code::NOT_FOUND, "it takes in nobody's");
    // Another key, and the identity under which it posts itself.
    for stranger in [Client { identity: ASKED, ..place.client(3, b"another key than") }, place.client(4, KEY)]
    {
        let mut stranger = stranger;
        place.exchange(&mut stranger, None);
        assert!(!stranger.session.is_connected());
    }
}

#[test]
fn what_a_sensor_has_is_set_and_told_with_its_readings() {
    let access = Access::DtlsPsk(Identity { name: IDENTITY, key: KEY });
    let mut place = Bench::asked_at(COAPS_PORT, AskedSensor::<Soft, 2, 5, 1>::NEW, access);
    let mut client = Client { identity: ASKED, ..place.client(2, KEY) };
    place.exchange(&mut client, None);
    let mut id = 0;
    let mut set = |place: &mut Bench<AskedSensor<Soft, 2, 5, 1>>, code, name, pack: &[u8]| {
        id += 1;
        let body = |mut builder: Builder<'_>| {
            builder.content_format(ContentFormat::SENML_JSON)?;
            builder.finish_with(pack)
        };
        place.ask(&mut client, code, id, &["actuators", name], body)
    };
    let reading = Measurement::of_sensors(214, 431, 310);
    let told = |answer: (Code, Vec<u8>)| (answer.0, String::from_utf8(answer.1).unwrap());
    assert_eq!(
        told(set(&mut place, Code::GET, "valve", b"")),
        (Code::CONTENT, r#"[{"bn":"urn:dev:mac:0212740000000001:","n":"valve","u":"/100","v":0}]"#.into())
    );
    assert_eq!(set(&mut place, Code::PUT, "led", br#"[{"n":"led","vb":true}]"#), (Code::CHANGED, Vec::new()));
    assert_eq!(place.server.poll_set(), Some(("led", 1)));
    assert_eq!(place.server.poll_set(), None, "it is told once");
    let named = br#"[{"bn":"urn:dev:mac:0212740000000001:","n":"valve","v":100}]"#;
    assert_eq!(set(&mut place, Code::PUT, "valve", named).0, Code::CHANGED);
    assert_eq!(place.server.poll_set(), Some(("valve", 100)));
    for (name, pack) in [
        ("valve", &br#"[{"n":"valve","v":101}]"#[..]),
        ("valve", br#"[{"n":"valve","v":-1}]"#),
        ("valve", br#"[{"n":"valve","v":0.5}]"#),
        ("valve", br#"[{"n":"valve","vb":true}]"#),
        ("valve", br#"[{"n":"led","v":1}]"#),
        ("valve", br#"[{"n":"valve","v":1},{"n":"valve","v":2}]"#),
        ("valve", br#"[{"bv":9223372036854775807,"n":"valve","v":1}]"#),
        ("valve", br#"[{"n":"valve","v":99999999999999999999}]"#),
        ("led", br#"[{"n":"led","v":2}]"#),
        ("led", b"true"),
        ("led", b""),
    ] {
        let text = String::from_utf8_lossy(pack);
        assert_eq!(set(&mut place, Code::PUT, name, pack), (Code::BAD_REQUEST, Vec::new()), "{text}");
    }
    assert_eq!(set(&mut place, Code::PUT, "engine", br#"[{"n":"engine","v":1}]"#).0, Code::NOT_FOUND);
    assert_eq!(set(&mut place, Code::DELETE, "led", b"").0, Code::METHOD_NOT_ALLOWED);
    assert_eq!(place.server.poll_set(), None, "what is refused sets nothing");
    place.server.report(&mut place.rig.cx(), &DeviceName::new(NODE), &reading);
    let (code, pack) = told(place.get(&mut client, 99, &["sensors"]));
    assert_eq!(code, Code::CONTENT);
    assert!(pack.ends_with(r#"{"n":"led","v":1},{"n":"valve","u":"/100","v":100}]"#), "{pack}");
}

#[test]
fn a_sensor_without_dtls_is_asked_by_nobody() {
    let mut sensor = AskedSensor::<Soft, 2, 3, 1>::NEW;
    let access = Access::Plain(Resource { id: b"1", key: KEY });
    let cloud = Cloud {
        address: NODE.with_prefix(MESH_PREFIX),
        port: COAPS_PORT,
        access,
        period: Duration::from_secs(60),
        first: Duration::from_secs(5),
    };
    sensor.start(Instant::from_millis(0), &cloud).unwrap();
    let address = NODE.with_prefix(MESH_PREFIX);
    let hello = Datagram {
        source: address,
        source_port: 4000,
        destination: address,
        destination_port: COAPS_PORT,
        payload: &mut [22],
    };
    assert!(!sensor.takes(&hello));
}

/// A sensor that is asked, which makes a reading.
type Observed = Bench<AskedSensor<Soft, 4, 3, 4>>;

impl Observed {
    fn observed() -> Self {
        let access = Access::DtlsPsk(Identity { name: IDENTITY, key: KEY });
        let mut place = Self::asked_at(COAPS_PORT, AskedSensor::NEW, access);
        place.measure();
        place
    }

    fn measure(&mut self) {
        let Self { server, rig, .. } = self;
        server.report(&mut rig.cx(), &DeviceName::new(NODE), &Measurement::of_sensors(214, 431, 310));
    }

    /// What it tells an observer next.
    fn notification_of_reading(&mut self) -> Option<Vec<u8>> {
        let Self { server, rig, .. } = self;
        let mut packet = Packet::<[u8; 320]>::new();
        server.poll_notification(&mut rig.cx(), NODE, &mut packet).map(|_| packet.bytes().to_vec())
    }

    /// A stranger shows where it is, and says nothing more.
    fn hello(&mut self, id: u32) {
        let mut stranger = self.client(id, KEY);
        for _ in 0..2 {
            let mut buffer = [0; 512];
            let Some(len) = stranger.session.poll_transmit(&mut self.rig.cx(), &mut buffer) else { break };
            let datagram = Datagram {
                source: stranger.address.with_prefix(MESH_PREFIX),
                source_port: 4000,
                destination: NODE.with_prefix(MESH_PREFIX),
                destination_port: COAPS_PORT,
                payload: &mut buffer[..len],
            };
            let mut packet = Packet::<[u8; 320]>::new();
            if self.server.handle(&mut self.rig.cx(), NODE, datagram, &mut packet) {
                stranger.session.handle_all(&mut self.rig.cx(), packet.bytes_mut(), |_| ());
            }
            packet.reset(0);
            while self.server.poll_transmit(&mut self.rig.cx(), &mut packet).is_some() {
                packet.reset(0);
            }
        }
    }
}

/// Seven of eight notifications are not acknowledged: of who observes nothing comes for long.
#[test]
fn hellos_of_strangers_end_no_observation() {
    let mut place = Observed::observed();
    let mut cloud = Client { identity: ASKED, ..place.client(2, KEY) };
    place.exchange(&mut cloud, None);
    let mut buffer = [0; 64];
    let mut builder = Builder::new(&mut buffer, Type::Confirmable, Code::GET, 1, b"t").unwrap();
    builder.option_uint(OptionNumber::OBSERVE, 0).unwrap();
    builder.path(&["sensors"]).unwrap();
    let length = builder.finish();
    place.send(&mut cloud, &buffer[..length]);
    let answer = cloud.answers.pop().unwrap();
    assert!(Message::parse(&answer).unwrap().value(OptionNumber::OBSERVE).is_some());
    for _ in 0..3 {
        place.rig.now = place.rig.now + Duration::from_secs(61);
        place.measure();
        let mut datagram = place.notification_of_reading().expect("it is told");
        let data = cloud.session.handle(&mut place.rig.cx(), &mut datagram).data.unwrap().to_vec();
        let message = Message::parse(&data).unwrap();
        if message.message_type() == Type::Confirmable {
            let acknowledgement = empty(Type::Acknowledgement, message.id());
            place.send(&mut cloud, &acknowledgement);
        }
    }
    for id in 10..40 {
        place.hello(id);
    }
    place.rig.now = place.rig.now + Duration::from_secs(4);
    place.measure();
    assert!(place.notification_of_reading().is_some());
}

/// The cloud's place at the other end is taken by the sensor's own server: both have the same key.
#[test]
fn a_sensor_does_not_take_itself_for_its_cloud() {
    let mut place = Observed::observed();
    let Bench { server, rig, .. } = &mut place;
    let address = NODE.with_prefix(MESH_PREFIX);
    let mut packet = Packet::<[u8; 512]>::new();
    let mut datagrams = 0;
    for _ in 0..40 {
        packet.reset(0);
        let Some(_) = server.poll_transmit(&mut rig.cx(), &mut packet) else { break };
        let mut sent = vec![(server.port(), packet.bytes().to_vec())];
        while let Some((from, mut bytes)) = sent.pop() {
            datagrams += 1;
            let datagram = Datagram {
                source: address,
                source_port: from,
                destination: address,
                destination_port: if from == COAPS_PORT { 49_152 } else { COAPS_PORT },
                payload: &mut bytes,
            };
            packet.reset(0);
            if server.takes(&datagram) && server.handle(&mut rig.cx(), NODE, datagram, &mut packet) {
                sent.push((server.port(), packet.bytes().to_vec()));
            }
        }
        while let Some(event) = server.poll_event(rig.now) {
            assert_ne!(event, Event::Connected);
        }
    }
    assert!(datagrams > 4, "the handshake went as far as the key: {datagrams}");
}

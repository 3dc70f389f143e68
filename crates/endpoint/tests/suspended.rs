//! Sessions that are suspended with their endpoints and gone on with by others, of which there may be another number.

#![cfg(feature = "alloc")]

use std::net::{Ipv6Addr, SocketAddrV6};
use std::sync::Arc;

use sixlock_base::{Counter, Duration};
use sixlock_coap_msg::{Builder, Code, Type};
use sixlock_crypto::{SmallKeys, Soft};
use sixlock_dtls::{
    ClientSession, Completion, ConnectionId, Handshake, MAX_RECORD_OVERHEAD, RECORD_FRONT, Work,
};
use sixlock_endpoint::{
    Answer, Config, Endpoint, Event, LONGEST_SUSPENDED, OnHeap, SessionId, Shard, Token, Transport,
};
use sixlock_testing::{Random, Rig};

type Server = Endpoint<SmallKeys, SocketAddrV6, OnHeap<256>, 4>;
type Client = ClientSession<Soft, Option<Box<Handshake<Soft>>>>;

const KEY: &[u8] = b"0123456789abcdef";
const DAY: Duration = Duration::from_secs(86_400);

/// Endpoints that share a port. What comes from an address comes to any of them.
struct Cloud {
    shards: Vec<(Server, Rig<SmallKeys>, &'static Shard)>,
}

/// What outlives a cloud of each session.
type Suspensions = Vec<((SocketAddrV6, Duration), Vec<u8>)>;

impl Cloud {
    fn start(count: u16, max_sessions: u32) -> Self {
        let shards = (0..count).map(|number| {
            let shard: &Shard = Box::leak(Box::new(Shard::new(number, count, *b"a key for names!")));
            let mut rig = Rig::new(SmallKeys::default(), Random::new(number.into()));
            let max_sessions = max_sessions / u32::from(count);
            let config = Config { max_sessions, shard: Some(shard), ..Config::default() };
            (Server::new(&mut rig.cx(), config), rig, shard)
        });
        Self { shards: shards.collect() }
    }

    /// Takes a datagram that `number` hears; whose request was in it, and what is to be sent.
    fn take(
        &mut self,
        number: usize,
        from: SocketAddrV6,
        datagram: &[u8],
    ) -> (Option<Vec<u8>>, Vec<Vec<u8>>) {
        let (server, rig, _) = &mut self.shards[number];
        let mut datagram = datagram.to_vec();
        let received = server.handle(&mut rig.cx(), Transport::Dtls, from, &mut datagram);
        if let Some(other) = received.elsewhere {
            let rest = received.rest.to_vec();
            assert_ne!(usize::from(other), number, "nobody hands over to itself");
            return self.take(other.into(), from, &rest);
        }
        let id = received.request.map(|request| request.id);
        let whose = id.and_then(|id| server.identity(id).map(<[u8]>::to_vec));
        if let Some(id) = id {
            server.respond(&mut rig.cx(), id, Code::CHANGED.into()).unwrap();
        }
        let mut waits = None;
        while let Some(event) = server.poll_event() {
            if let Event::Work { session, .. } = event {
                waits = Some(session);
            }
        }
        if let Some(session) = waits {
            server.provide_key(&mut rig.cx(), session, Some(KEY)).unwrap();
            while server.poll_event().is_some() {}
        }
        let mut sent = Vec::new();
        let mut out = [0; 512];
        while let Some(transmit) = server.poll_transmit(&mut rig.cx(), &mut out) {
            sent.push(out[..transmit.len].to_vec());
        }
        (whose, sent)
    }

    /// Ends in order.
    fn stop(mut self) -> Suspensions {
        let mut suspensions = Vec::new();
        for (server, rig, _) in &mut self.shards {
            for session in server.connected(&mut rig.cx(), DAY) {
                let mut out = [0; LONGEST_SUSPENDED];
                let suspension = server.suspend(&mut rig.cx(), session, &mut out).unwrap();
                assert!(server.suspend(&mut rig.cx(), session, &mut out).is_none());
                suspensions.push(((suspension.from, suspension.idle), out[..suspension.len].to_vec()));
            }
            assert!(server.connected(&mut rig.cx(), DAY).is_empty());
        }
        suspensions
    }

    /// Goes on with them; how many it could.
    fn wake(&mut self, suspensions: &Suspensions) -> usize {
        let (mut neighbours, mut woken) = (Vec::new(), 0);
        for (heard, bytes) in suspensions {
            let number = self.shards[0].2.of_suspended(bytes).unwrap();
            let (server, rig, _) = &mut self.shards[usize::from(number)];
            if let Some(session) = server.wake(&mut rig.cx(), *heard, bytes, 0) {
                if !server.is_named(session) {
                    neighbours.push((heard.0, number));
                }
                woken += 1;
            }
        }
        neighbours.sort_unstable();
        let neighbours: Arc<[_]> = neighbours.into();
        for (server, ..) in &mut self.shards {
            server.know_neighbours(neighbours.clone());
        }
        woken
    }

    fn wakes(&mut self, heard: (SocketAddrV6, Duration), bytes: &[u8]) -> bool {
        let woken = |(server, rig, _): &mut (Server, Rig<_>, _)| server.wake(&mut rig.cx(), heard, bytes, 0);
        self.shards.iter_mut().filter_map(woken).count() > 0
    }

    fn count(&self, counter: Counter) -> u32 {
        self.shards.iter().map(|(_, rig, _)| rig.count(counter)).sum()
    }
}

struct Device {
    address: SocketAddrV6,
    identity: Vec<u8>,
    session: Client,
    rig: Rig,
    message_id: u16,
}

impl Device {
    /// A device that has made its handshake with a shard, and gives or takes connection ids if it is to.
    fn connect(cloud: &mut Cloud, number: usize, n: u16, roams: bool) -> Self {
        let device = Self::begin(cloud, number, n, roams);
        assert!(device.session.is_connected());
        device
    }

    /// A device that has made its handshake, if it is let.
    fn begin(cloud: &mut Cloud, number: usize, n: u16, roams: bool) -> Self {
        let mut rig = Rig::seeded(1_000 + u32::from(n));
        let connection_id = roams.then_some(ConnectionId::EMPTY);
        let config = sixlock_dtls::Config { connection_id, max_datagram: 512, ..sixlock_dtls::Config::HOST };
        let session = Client::client(&mut rig.cx(), config, None, Some(Box::new(Handshake::new())));
        let address = SocketAddrV6::new(Ipv6Addr::LOCALHOST, 10_000 + n, 0, 0);
        let mut device =
            Self { address, identity: format!("device {n}").into_bytes(), session, rig, message_id: 0 };
        for _ in 0..10 {
            let Self { session, rig, identity, .. } = &mut device;
            if let Some(sixlock_dtls::Event::Work(Work::Psk { .. })) = session.poll_event() {
                session.complete(&mut rig.cx(), Completion::Psk { identity, key: KEY }).unwrap();
            }
            let mut out = [0; 512];
            while let Some(length) = session.poll_transmit(&mut rig.cx(), &mut out) {
                for mut answer in cloud.take(number, address, &out[..length]).1 {
                    session.handle_all(&mut rig.cx(), &mut answer, |_| ());
                }
            }
        }
        device
    }

    /// A record with a request.
    fn post(&mut self) -> Vec<u8> {
        self.message_id += 1;
        let mut message = [0; 32];
        let builder =
            Builder::new(&mut message, Type::Confirmable, Code::POST, self.message_id, b"t").unwrap();
        let length = builder.finish();
        let mut record = vec![0; length + MAX_RECORD_OVERHEAD];
        record[RECORD_FRONT..RECORD_FRONT + length].copy_from_slice(&message[..length]);
        let Self { session, rig, .. } = self;
        let length = session.seal(&mut rig.cx(), &mut record, length).unwrap();
        record.truncate(length);
        record
    }

    /// It posts, and the shard that hears it, or the one that it hands over to, answers.
    fn goes_on(&mut self, cloud: &mut Cloud, number: usize) -> bool {
        let record = self.post();
        let (whose, answers) = cloud.take(number, self.address, &record);
        assert!(cloud.take(number, self.address, &record).0.is_none(), "a repeated record is refused");
        let Self { session, rig, .. } = self;
        let heard =
            answers.into_iter().any(|mut answer| session.handle(&mut rig.cx(), &mut answer).data.is_some());
        assert_eq!(whose.is_some(), heard);
        whose.is_some_and(|whose| whose == self.identity)
    }
}

const MAX_SESSIONS: u32 = 600;

/// Devices of which each third knows of no connection ids, connected to three shards.
fn devices(cloud: &mut Cloud, count: u16) -> Vec<Device> {
    let shards = cloud.shards.len();
    (0..count).map(|n| Device::connect(cloud, usize::from(n) % shards, n, n % 3 != 0)).collect()
}

#[test]
fn sessions_go_on_however_many_shards_there_are_by_now_and_whichever_hears_them() {
    let mut cloud = Cloud::start(3, MAX_SESSIONS);
    let mut devices = devices(&mut cloud, 40);
    for count in [3, 1, 2, 5, 3] {
        let suspensions = cloud.stop();
        cloud = Cloud::start(count, MAX_SESSIONS);
        assert_eq!(cloud.wake(&suspensions), devices.len());
        // None is there twice.
        assert!(suspensions.iter().all(|(heard, bytes)| !cloud.wakes(*heard, bytes)));
        for (n, device) in devices.iter_mut().enumerate() {
            for hears in 0..usize::from(count) {
                assert!(device.goes_on(&mut cloud, hears), "device {n} at {hears} of {count}");
            }
        }
        // New ones take other places.
        let handshakes = cloud.count(Counter::DtlsHandshakes);
        let new = Device::connect(&mut cloud, 0, devices.len() as u16, true);
        assert_eq!((handshakes, cloud.count(Counter::DtlsHandshakes)), (0, 1));
        devices.push(new);
        assert!(devices.iter_mut().all(|device| device.goes_on(&mut cloud, 0)));
        assert_eq!(cloud.count(Counter::DtlsNoSession), 0);
    }
}

#[test]
fn a_device_goes_on_at_another_address_if_it_names_its_session() {
    let mut cloud = Cloud::start(2, MAX_SESSIONS);
    let mut devices = devices(&mut cloud, 6);
    let suspensions = cloud.stop();
    let mut cloud = Cloud::start(3, MAX_SESSIONS);
    cloud.wake(&suspensions);
    for (n, device) in devices.iter_mut().enumerate() {
        device.address.set_port(20_000 + n as u16);
        for hears in 0..3 {
            assert_eq!(device.goes_on(&mut cloud, hears), n % 3 != 0);
        }
    }
}

#[test]
fn records_of_before_are_refused_and_those_under_way_are_taken() {
    let mut cloud = Cloud::start(1, MAX_SESSIONS);
    let mut devices = devices(&mut cloud, 3);
    for device in &mut devices {
        let (before, under_way) = (device.post(), device.post());
        assert!(cloud.take(0, device.address, &before).0.is_some());
        let suspensions = cloud.stop();
        cloud = Cloud::start(2, MAX_SESSIONS);
        cloud.wake(&suspensions);
        assert!(cloud.take(1, device.address, &before).0.is_none());
        assert_eq!(cloud.count(Counter::DtlsReplayed), 1);
        assert!(cloud.take(1, device.address, &under_way).0.is_some());
    }
}

#[test]
fn what_is_behind_the_last_place_or_no_session_is_left_out() {
    let mut cloud = Cloud::start(2, MAX_SESSIONS);
    let devices = devices(&mut cloud, 20);
    let suspensions = cloud.stop();
    let mut small = Cloud::start(2, 10);
    // Names are shorter there, and of those without one there is room for these.
    assert_eq!(small.wake(&suspensions), [0, 3, 6, 9].len());
    let mut other = Cloud::start(2, MAX_SESSIONS);
    let mut spoiled = suspensions.clone();
    for (n, (_, bytes)) in spoiled.iter_mut().enumerate() {
        match n % 3 {
            0 => bytes.truncate(bytes.len() - 1),
            1 => bytes.push(0),
            // The form of what is written.
            _ => bytes[6] ^= 0x10,
        }
    }
    assert_eq!(other.wake(&spoiled), 0);
    assert_eq!(other.wake(&suspensions), devices.len());
}

#[test]
fn those_used_longest_ago_come_first_and_only_those_that_are_connected() {
    let mut cloud = Cloud::start(1, MAX_SESSIONS);
    let mut devices = devices(&mut cloud, 4);
    for n in [2, 0, 3, 1] {
        assert!(devices[n].goes_on(&mut cloud, 0));
    }
    let (server, rig, _) = &mut cloud.shards[0];
    let sessions: Vec<SessionId> = server.connected(&mut rig.cx(), DAY);
    server.close(&mut rig.cx(), sessions[0]);
    let out = &mut [0; LONGEST_SUSPENDED];
    assert!(server.suspend(&mut rig.cx(), sessions[0], out).is_none(), "it is closed");
    let addresses: Vec<_> = cloud.stop().into_iter().map(|((from, _), _)| from).collect();
    assert_eq!(addresses, [0, 3, 1].map(|n| devices[n].address));
}

#[test]
fn what_was_unused_for_long_before_makes_room_after() {
    const SESSIONS: u32 = 4;
    for (idle, makes_room) in [(30, false), (90, true)] {
        let mut cloud = Cloud::start(1, SESSIONS);
        devices(&mut cloud, SESSIONS as u16);
        let mut suspensions = cloud.stop();
        suspensions.iter_mut().for_each(|((_, unused), _)| *unused = Duration::from_secs(idle));
        let mut cloud = Cloud::start(1, SESSIONS);
        assert_eq!(cloud.wake(&suspensions), SESSIONS as usize);
        assert!(cloud.stop().iter().all(|((_, unused), _)| *unused == Duration::from_secs(idle)));
        let mut cloud = Cloud::start(1, SESSIONS);
        cloud.wake(&suspensions);
        let (server, rig, _) = &mut cloud.shards[0];
        let used = server.connected(&mut rig.cx(), Duration::from_secs(60));
        assert_eq!(used.is_empty(), makes_room);
        let new = Device::begin(&mut cloud, 0, 100, true);
        assert_eq!(new.session.is_connected(), makes_room, "unused for {idle} s");
    }
}

/// As much as three times what comes from there: nobody knows whether its client still is where it was.
#[test]
fn a_session_that_may_have_moved_meanwhile_is_sent_nothing_before_its_client_is_heard() {
    for roams in [true, false] {
        let mut cloud = Cloud::start(1, MAX_SESSIONS);
        let mut device = Device::connect(&mut cloud, 0, 1, roams);
        let suspensions = cloud.stop();
        let mut cloud = Cloud::start(1, MAX_SESSIONS);
        let (server, rig, _) = &mut cloud.shards[0];
        let (heard, bytes) = &suspensions[0];
        let session = server.wake(&mut rig.cx(), *heard, bytes, 0).unwrap();
        let answer = Answer { payload: &[7; 100], ..Code::CONTENT.into() };
        server.notify(&mut rig.cx(), session.into(), Token::default(), false, answer).unwrap();
        let mut out = [0; 512];
        let sent = server.poll_transmit(&mut rig.cx(), &mut out);
        assert_eq!(sent.is_some(), !roams);
        assert!(device.goes_on(&mut cloud, 0));
    }
}

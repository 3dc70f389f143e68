//! An endpoint and devices in virtual time, with a network between them that loses datagrams.

#![allow(dead_code, reason = "every test file uses its part of this")]

use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv6Addr, SocketAddrV6};

use sixlock_base::{Counter, Instant};
use sixlock_coap::{Answer, Client};
use sixlock_coap_msg::{Builder, Code, Type};
use sixlock_crypto::Soft;
use sixlock_dtls::{
    ClientSession, Completion, Failure, Handshake, MAX_RECORD_OVERHEAD, RECORD_FRONT, Refusal, SESSION_ID,
    SessionState,
};
use sixlock_endpoint::{
    Config, Endpoint, Event, FINGERPRINT_SECRET, InPlace, MAX_SESSION_RECORD, RequestId, RespondError,
    SessionId, SessionUpdate, Storage, Transport,
};
use sixlock_testing::{Random, Rig};

/// Room for what the tests need, on a device.
pub(crate) type Small = InPlace<4, 2, 64>;
/// The endpoint under test.
pub(crate) type Server<S> = Endpoint<Soft, SocketAddrV6, S, 4>;

/// By what the server tells keys apart whose sessions are kept.
const MARKS: [u8; FINGERPRINT_SECRET] = [7; FINGERPRINT_SECRET];

/// What is left of sessions, by their ids, with the moments until which they can be resumed.
type Disk = BTreeMap<[u8; SESSION_ID], (Vec<u8>, Instant)>;

/// A client with its session.
pub(crate) struct Device {
    pub(crate) address: SocketAddrV6,
    pub(crate) identity: Vec<u8>,
    pub(crate) key: Vec<u8>,
    pub(crate) session: Option<ClientSession<Soft, Option<Box<Handshake<Soft>>>>>,
    pub(crate) coap: Client<128>,
    pub(crate) rig: Rig,
    /// What is left of its last session.
    pub(crate) resumption: Option<SessionState>,
    /// The responses it got.
    pub(crate) responses: Vec<(Code, Vec<u8>)>,
    /// How many of its requests nobody answered.
    pub(crate) unanswered: u32,
    /// How its sessions failed.
    pub(crate) failures: Vec<Failure>,
    /// How often its sessions were closed by the server.
    pub(crate) closed: u32,
    pub(crate) connected: u32,
    /// The master secret of its last session.
    pub(crate) secret: Vec<u8>,
}

/// What the endpoint told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SessionEvent {
    Connected(Vec<u8>),
    Closed(Vec<u8>),
    Failed(Vec<u8>, Failure),
}

enum Hop {
    ToServer(Transport, SocketAddrV6),
    ToDevice(SocketAddrV6),
}

/// Something that takes the server's application a while.
enum Task {
    Key(SessionId, Vec<u8>),
    Answer(RequestId, Vec<u8>),
}

pub(crate) struct Network<S: Storage<Soft, SocketAddrV6>> {
    pub(crate) now: Instant,
    pub(crate) server: Server<S>,
    pub(crate) rig: Rig,
    pub(crate) config: Config,
    pub(crate) devices: Vec<Device>,
    /// Of the devices' handshakes.
    pub(crate) dtls: sixlock_dtls::Config,
    /// In thousandths.
    pub(crate) loss: u32,
    /// Whose datagrams are lost, if not everybody's.
    pub(crate) lossy: Option<SocketAddrV6>,
    /// How long the look-up of a key takes, by identity; 5 ms for those not named.
    pub(crate) lookup: BTreeMap<Vec<u8>, u32>,
    /// The keys of identities that have another than they had, or none.
    pub(crate) keys: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
    /// The identities whose keys cannot be looked up at present.
    pub(crate) failing: BTreeSet<Vec<u8>>,
    /// How long an answer takes.
    pub(crate) processing: u32,
    pub(crate) events: Vec<SessionEvent>,
    /// Why DTLS has refused something, and of whom.
    pub(crate) refusals: Vec<(SocketAddrV6, Refusal)>,
    /// Each request the application was lent: whose, and its payload.
    pub(crate) done: Vec<(Option<Vec<u8>>, Vec<u8>)>,
    /// What became of the answers.
    pub(crate) late: u32,
    pub(crate) key_log: Vec<(Vec<u8>, Vec<u8>)>,
    /// What either side sent, lost or not.
    pub(crate) sent: Vec<Vec<u8>>,
    /// What came to addresses that no device has.
    pub(crate) stray: Vec<(SocketAddrV6, Vec<u8>)>,
    /// What is kept of the server's sessions, if anything is to be.
    pub(crate) disk: Option<Disk>,
    random: Random,
    link: Vec<(Instant, Hop, Vec<u8>)>,
    tasks: Vec<(Instant, Task)>,
}

pub(crate) fn address(n: usize) -> SocketAddrV6 {
    SocketAddrV6::new(Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, n as u16), 5684, 0, 0)
}

pub(crate) fn key(n: usize) -> Vec<u8> {
    format!("key of the device number {n:08}").into_bytes()
}

fn identity(n: usize) -> Vec<u8> {
    format!("device {n}").into_bytes()
}

impl<S: Storage<Soft, SocketAddrV6>> Network<S> {
    pub(crate) fn new(seed: u32, devices: usize, config: Config) -> Self {
        // Not at zero, so that time wraps within the tests.
        let now = Instant::from_millis(u32::MAX - 10_000);
        let mut rig = Rig::seeded(seed);
        let devices = (0..devices).map(|n| Device::new(n, seed)).collect();
        Self {
            now,
            server: Server::new(&mut rig.at(now), config),
            rig,
            config,
            devices,
            dtls: sixlock_dtls::Config::HOST,
            loss: 0,
            lossy: None,
            lookup: BTreeMap::new(),
            keys: BTreeMap::new(),
            failing: BTreeSet::new(),
            processing: 10,
            events: Vec::new(),
            refusals: Vec::new(),
            done: Vec::new(),
            late: 0,
            key_log: Vec::new(),
            sent: Vec::new(),
            stray: Vec::new(),
            disk: None,
            random: Random::new(seed ^ 0x5eed),
            link: Vec::new(),
            tasks: Vec::new(),
        }
    }

    pub(crate) fn count(&self, counter: Counter) -> u32 {
        self.rig.count(counter)
    }

    /// Begins a handshake.
    pub(crate) fn connect(&mut self, n: usize) {
        self.devices[n].resumption = None;
        self.reconnect(n);
    }

    /// Begins a handshake to resume the last session.
    pub(crate) fn reconnect(&mut self, n: usize) {
        let device = &mut self.devices[n];
        let handshake = Some(Box::new(Handshake::new()));
        let config = self.dtls;
        device.session = Some(ClientSession::client(
            &mut device.rig.at(self.now),
            config,
            device.resumption.as_ref(),
            handshake,
        ));
    }

    /// Posts a reading.
    pub(crate) fn post(&mut self, n: usize, payload: &[u8]) {
        let device = &mut self.devices[n];
        let build = |request: Builder<'_>| request.finish_with(payload);
        device.coap.request(&mut device.rig.at(self.now), true, Code::POST, build).unwrap();
    }

    /// What is left of the server's sessions is kept from now on.
    pub(crate) fn keep(&mut self) {
        self.server.keep(&MARKS);
        self.disk = Some(BTreeMap::new());
    }

    /// The server loses all it knows, but for what is kept.
    pub(crate) fn restart(&mut self) {
        let cx = &mut self.rig.at(self.now);
        self.server = Server::new(cx, self.config);
        if let Some(disk) = &self.disk {
            self.server.keep(&MARKS);
            for (kept, until) in disk.values().filter(|(_, until)| !self.now.has_reached(*until)) {
                self.server.restore(cx, kept, until.since(self.now)).unwrap();
            }
        }
    }

    pub(crate) fn send(&mut self, transport: Transport, from: SocketAddrV6, datagram: &[u8]) {
        self.link.push((self.now, Hop::ToServer(transport, from), datagram.to_vec()));
    }

    /// Lets so many milliseconds pass.
    pub(crate) fn run(&mut self, millis: u32) {
        let end = self.now + sixlock_base::Duration::from_millis(millis);
        loop {
            self.drain();
            let timers = self.devices.iter_mut().flat_map(|device| {
                [
                    device.coap.poll_timeout(),
                    device.session.as_mut().and_then(|session| session.poll_timeout()),
                ]
            });
            let next = timers
                .flatten()
                .chain(self.server.poll_timeout())
                .chain(self.link.iter().map(|datagram| datagram.0))
                .chain(self.tasks.iter().map(|task| task.0))
                .reduce(|a, b| if b.has_reached(a) { a } else { b });
            let Some(next) = next.filter(|next| end.has_reached(*next)) else { break };
            if next.has_reached(self.now) {
                self.now = next;
            }
            self.step();
        }
        self.now = end;
    }

    fn step(&mut self) {
        let now = self.now;
        self.server.handle_timeout(&mut self.rig.at(now));
        for device in &mut self.devices {
            device.coap.handle_timeout(&mut device.rig.at(now));
            if let Some(session) = &mut device.session {
                session.handle_timeout(&mut device.rig.at(now));
            }
        }
        if let Some(at) = self.tasks.iter().position(|(at, _)| now.has_reached(*at)) {
            self.finish_task(at);
        }
        if let Some(at) = self.link.iter().position(|(at, ..)| now.has_reached(*at)) {
            let (_, hop, datagram) = self.link.remove(at);
            match hop {
                Hop::ToServer(transport, from) => self.arrive(transport, from, datagram),
                Hop::ToDevice(to) => match self.devices.iter_mut().find(|device| device.address == to) {
                    Some(device) => device.handle(now, datagram),
                    None => self.stray.push((to, datagram)),
                },
            }
        }
    }

    /// A datagram is at the server now.
    pub(crate) fn arrive(&mut self, transport: Transport, from: SocketAddrV6, mut datagram: Vec<u8>) {
        let mut rest = &mut datagram[..];
        while !rest.is_empty() {
            let received = self.server.handle(&mut self.rig.at(self.now), transport, from, rest);
            rest = received.rest;
            if let Some(request) = received.request {
                let identity = self.server.identity(request.id).map(<[u8]>::to_vec);
                assert_eq!((request.from, request.id.transport()), (from, transport));
                let payload = request.message.payload().to_vec();
                self.done.push((identity, payload.clone()));
                let at = self.now + sixlock_base::Duration::from_millis(self.processing);
                self.tasks.push((at, Task::Answer(request.id, payload)));
            }
        }
    }

    fn finish_task(&mut self, at: usize) {
        match self.tasks.remove(at).1 {
            Task::Key(session, identity) => {
                let number =
                    identity.strip_prefix(b"device ").and_then(|n| str::from_utf8(n).ok()?.parse().ok());
                let key = self.keys.get(&identity).cloned().unwrap_or_else(|| number.map(key));
                let cx = &mut self.rig.at(self.now);
                let _ = match self.failing.contains(&identity) {
                    true => self.server.look_up_failed(cx, session),
                    false => self.server.provide_key(cx, session, key.as_deref()),
                };
            }
            Task::Answer(request, payload) => {
                let format = (!payload.is_empty()).then_some(sixlock_coap_msg::ContentFormat::TEXT);
                match self.server.respond(
                    &mut self.rig.at(self.now),
                    request,
                    Answer { format, payload: &payload, ..Code::CHANGED.into() },
                ) {
                    Err(RespondError::NotWaiting) => self.late += 1,
                    // A device keeps no answer as long as a request may be.
                    Err(RespondError::TooLarge) => {
                        let (cx, code) = (&mut self.rig.at(self.now), Code::INTERNAL_SERVER_ERROR);
                        self.server.respond(cx, request, code.into()).unwrap();
                    }
                    responded => responded.unwrap(),
                }
            }
        }
    }

    fn drain(&mut self) {
        let mut out = [0; 1500];
        while let Some(event) = self.server.poll_event() {
            match event {
                Event::Task { .. } | Event::Elsewhere { .. } => unreachable!("without credentials or shards"),
                Event::Work { session, identity, .. } => {
                    let lookup = self.lookup.get(identity).copied().unwrap_or(5);
                    let at = self.now + sixlock_base::Duration::from_millis(lookup);
                    self.tasks.push((at, Task::Key(session, identity.to_vec())));
                }
                Event::Connected { identity, key_log, .. } => {
                    self.events.push(SessionEvent::Connected(identity.to_vec()));
                    self.key_log.extend(key_log.map(|log| (identity.to_vec(), log.master_secret.to_vec())));
                }
                Event::Closed { identity, .. } => self.events.push(SessionEvent::Closed(identity.to_vec())),
                Event::Ended { .. } => {}
                Event::Refused { from, refusal } => self.refusals.push((from, refusal)),
                Event::Failed { identity, failure, .. } => {
                    self.events.push(SessionEvent::Failed(identity.to_vec(), failure))
                }
            }
        }
        let mut kept = [0; MAX_SESSION_RECORD];
        while let Some(change) = self.server.poll_session_update(&mut self.rig.at(self.now), &mut kept) {
            let disk = self.disk.as_mut().unwrap();
            match change {
                SessionUpdate::Resumable { id, len, left } => {
                    disk.insert(id, (kept[..len].to_vec(), self.now + left));
                }
                SessionUpdate::Forgotten { id } => {
                    disk.remove(&id);
                }
            }
        }
        while let Some(transmit) = self.server.poll_transmit(&mut self.rig.at(self.now), &mut out) {
            self.put(Hop::ToDevice(transmit.to), out[..transmit.len].to_vec());
        }
        for n in 0..self.devices.len() {
            for datagram in self.devices[n].drain(self.now) {
                let from = self.devices[n].address;
                self.put(Hop::ToServer(Transport::Dtls, from), datagram);
            }
        }
    }

    fn put(&mut self, hop: Hop, datagram: Vec<u8>) {
        self.sent.push(datagram.clone());
        let (Hop::ToServer(_, device) | Hop::ToDevice(device)) = hop;
        let is_lossy = self.lossy.is_none_or(|lossy| lossy == device);
        if self.random.below(1000) >= self.loss || !is_lossy {
            let at = self.now + sixlock_base::Duration::from_millis(20 + self.random.below(20));
            self.link.push((at, hop, datagram));
        }
    }
}

impl Device {
    fn new(n: usize, seed: u32) -> Self {
        Self {
            address: address(n),
            identity: identity(n),
            key: key(n),
            session: None,
            resumption: None,
            coap: Client::new(),
            rig: Rig::seeded(seed.wrapping_mul(1000) + n as u32 + 1),
            responses: Vec::new(),
            unanswered: 0,
            failures: Vec::new(),
            closed: 0,
            connected: 0,
            secret: Vec::new(),
        }
    }

    fn handle(&mut self, now: Instant, mut datagram: Vec<u8>) {
        let Some(session) = &mut self.session else { return };
        let mut rest = &mut datagram[..];
        while !rest.is_empty() {
            let received = session.handle(&mut self.rig.at(now), rest);
            rest = received.rest;
            if let Some(data) = received.data
                && let Some(response) = self.coap.handle(&mut self.rig.at(now), data)
            {
                self.responses.push((response.code(), response.payload().to_vec()));
            }
        }
    }

    /// What the device has to send. As a node does, it begins a new handshake when nobody answers.
    fn drain(&mut self, now: Instant) -> Vec<Vec<u8>> {
        let mut sent = Vec::new();
        let Some(session) = &mut self.session else { return sent };
        let mut begin_anew = false;
        if self.coap.poll_event().is_some() {
            self.unanswered += 1;
            begin_anew = true;
        }
        let mut work = false;
        while let Some(event) = session.poll_event() {
            match event {
                sixlock_dtls::Event::Work(_) => work = true,
                sixlock_dtls::Event::Connected => {
                    self.connected += 1;
                    self.secret = session.key_log().unwrap().master_secret.to_vec();
                    self.resumption = session.session_state();
                    self.coap.restart(&mut self.rig.at(now));
                }
                sixlock_dtls::Event::Closed => self.closed += 1,
                sixlock_dtls::Event::Failed(failure) => self.failures.push(failure),
            }
        }
        if work {
            session
                .complete(&mut self.rig.at(now), Completion::Psk { identity: &self.identity, key: &self.key })
                .unwrap();
        }
        let mut out = [0; 1500];
        while let Some(len) = session.poll_transmit(&mut self.rig.at(now), &mut out) {
            sent.push(out[..len].to_vec());
        }
        if session.is_connected() {
            let mut out = [0; 128 + MAX_RECORD_OVERHEAD];
            while let Some(len) = self.coap.poll_transmit(&mut self.rig.at(now), &mut out[RECORD_FRONT..]) {
                let len = session.seal(&mut self.rig.at(now), &mut out, len).unwrap();
                sent.push(out[..len].to_vec());
            }
        }
        if begin_anew {
            let handshake = Some(Box::new(Handshake::new()));
            let cx = &mut self.rig.at(now);
            let config = sixlock_dtls::Config::HOST;
            *session = ClientSession::client(cx, config, self.resumption.as_ref(), handshake);
            sent.extend(self.drain(now));
        }
        sent
    }
}

/// A plain request of the given message id.
pub(crate) fn plain_request(kind: Type, id: u16, payload: &[u8]) -> Vec<u8> {
    let mut out = [0; 128];
    let len = Builder::new(&mut out, kind, Code::POST, id, &[7]).unwrap().finish_with(payload).unwrap();
    out[..len].to_vec()
}

impl<S: Storage<Soft, SocketAddrV6>> Network<S> {
    /// The request that is being worked on.
    pub(crate) fn working_on(&self) -> RequestId {
        self.tasks
            .iter()
            .find_map(|(_, task)| if let Task::Answer(request, _) = task { Some(*request) } else { None })
            .unwrap()
    }
}

use std::collections::VecDeque;
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use sixlock_base::{Counter, Cx, Entropy};
use sixlock_crypto::p256::P256;
use sixlock_crypto::{Hashes, Soft};
use sixlock_dtls::{
    Answer, Certified, Client, Completion, Config, CookieSecrets, Credentials, Event, Failure, FeatureSet,
    FeaturesOf, Full, Handshake, Listen, MAX_RECORD_OVERHEAD, Plain, Profile, Role, Server, Session,
    SessionState, Task, TicketOffer, Ticketed, Trusted, Work, is_client_hello, listen, perform,
};
use sixlock_testing::{Ranges, Rig, System};
use sixlock_x509::{Clock, Purpose, Time, Trust};

/// An identity and its key.
#[derive(Clone, Debug)]
pub struct Credential {
    /// The key's name.
    pub identity: Vec<u8>,
    /// The key.
    pub key: Vec<u8>,
}

/// Public keys, and whom to trust.
#[derive(Clone, Debug)]
pub struct Keys {
    /// What is shown and taken.
    pub credentials: &'static Credentials,
    /// The private key.
    pub secret: [u8; 32],
    /// The raw public keys that are known.
    pub raw_public_keys: Vec<[u8; 65]>,
    /// The certificates of the authorities that are trusted.
    pub authorities: Vec<&'static [u8]>,
}

impl Keys {
    /// None but those that are made for a handshake.
    const EPHEMERAL: &Self = &Self {
        credentials: &Credentials {
            raw_public_key: None,
            certificates: &[],
            accepts: &[],
            mutual: false,
            authorities: &[],
        },
        secret: [0; 32],
        raw_public_keys: Vec::new(),
        authorities: Vec::new(),
    };

    /// Does a task of a handshake whose peer shows its certificate for `purpose`.
    pub fn answer(
        &self,
        crypto: &mut (impl Hashes + P256),
        entropy: &mut impl Entropy,
        purpose: Purpose,
        task: Task<'_>,
    ) -> Answer {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("1970 is over").as_secs();
        let clock = Clock::At(Time::new((now / 86_400) as u32, (now % 86_400) as u32));
        let trust = Trust { authorities: &self.authorities, clock, purpose, name: None };
        let trusted = Trusted { raw_public_keys: &self.raw_public_keys, certificates: Some(trust) };
        perform(crypto, entropy, &self.secret, &trusted, task)
    }
}

/// What a session told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// Data flows.
    Connected,
    /// Either side closed it.
    Closed,
    /// It failed.
    Failed(Failure),
}

/// Our client on a socket.
pub type SecureClient = SecureSocket<Client>;
/// Our client that can do no more than it must, on a socket.
pub type PlainClient = SecureSocket<Client<Plain>>;
/// Our server on a socket, for one peer at a time.
pub type SecureServer = SecureSocket<Server<Full>>;
/// Our client with public keys, on a socket.
pub type CertifiedClient = SecureSocket<Client<Certified>>;
/// Our server with public keys, on a socket.
pub type CertifiedServer = SecureSocket<Server<Certified>>;

/// Our client with public keys that asks for tickets, on a socket.
pub type TicketClient = SecureSocket<Client<Ticketed>>;

type BoxedSession<R> = Session<Soft, R, Option<Box<Handshake<Soft, FeaturesOf<R>>>>>;

/// One of our sessions on a loopback socket.
pub struct SecureSocket<R: Role> {
    socket: UdpSocket,
    place: Environment,
    config: Config,
    credential: Credential,
    keys: Option<Keys>,
    secrets: CookieSecrets,
    session: Option<(SocketAddr, BoxedSession<R>)>,
    kept: Vec<SessionState>,
    /// The tickets that it was given.
    tickets: Vec<Vec<u8>>,
    sent: Vec<usize>,
    received: VecDeque<Vec<u8>>,
    seen: Vec<Seen>,
}

/// What a role does with sockets and keys.
pub trait Endpoint: Role {
    /// As what its peer shows its certificate.
    const PEER: Purpose;

    /// Takes a datagram that begins a session; false if it belongs to the one there is.
    fn begin(socket: &mut SecureSocket<Self>, from: SocketAddr, datagram: &[u8]) -> bool
    where
        Self: Sized;

    /// Gives a session what it asked for.
    fn resume(
        session: &mut BoxedSession<Self>,
        place: &mut Environment,
        asked: Asked,
        credential: &Credential,
        kept: &[SessionState],
    ) where
        Self: Sized;
}

/// What a session asks for.
pub enum Asked {
    /// The key of an identity.
    Key(Vec<u8>),
    /// What is left of the session with this id.
    Session(Vec<u8>),
}

/// What our sessions are lent.
pub struct Environment {
    rig: Rig<Soft, System>,
    start: Instant,
}

impl Environment {
    fn new() -> Self {
        Self { rig: Rig::new(Soft, System), start: Instant::now() }
    }

    fn now(&self) -> sixlock_base::Instant {
        sixlock_base::Instant::from_millis(self.start.elapsed().as_millis() as u32)
    }

    fn cx(&mut self) -> Cx<'_, Soft, System, Ranges> {
        let now = self.now();
        self.rig.at(now)
    }
}

impl<P: Profile> SecureSocket<Client<P>> {
    /// Begins a session with the server at `peer`.
    pub fn connect(peer: SocketAddr, credential: Credential, config: Config) -> Self {
        let mut socket = Self::new(credential, config);
        socket.reconnect(peer);
        socket
    }

    /// Begins a session with the server at `peer` by public keys.
    pub fn connect_with(peer: SocketAddr, keys: Keys, config: Config) -> Self {
        let mut socket = Self::new(Credential { identity: Vec::new(), key: Vec::new() }, config);
        socket.keys = Some(keys);
        socket.reconnect(peer);
        socket
    }

    /// The tickets that it was given.
    pub fn tickets(&self) -> &[Vec<u8>] {
        &self.tickets
    }

    /// Goes on from another port.
    pub fn change_address(&mut self) {
        self.socket = UdpSocket::bind("127.0.0.1:0").expect("loopback has a free port");
    }

    /// Begins a session anew, and resumes the last one if the server does; by a ticket, if the client knows of them and has one.
    pub fn reconnect(&mut self, peer: SocketAddr) {
        self.seen.clear();
        self.sent.clear();
        let handshake = Some(self.handshake());
        let (config, cx) = (&self.config, &mut self.place.cx());
        let mut session = Session::new(handshake);
        if <FeaturesOf<Client<P>> as FeatureSet>::TICKETS {
            let ticket = self.tickets.last().map_or(&[][..], Vec::as_slice);
            session.connect_by_ticket(cx, config, self.kept.last(), ticket);
        } else {
            session.connect(cx, config, self.kept.last());
        }
        self.session = Some((peer, session));
    }
}

impl<P: Profile> SecureSocket<Server<P>> {
    /// Waits for clients that know `credential` on a free port of the loopback.
    pub fn bind(credential: Credential, config: Config) -> Self {
        Self::new(credential, config)
    }

    /// Waits for clients with public keys on a free port of the loopback.
    pub fn bind_with(keys: Keys, config: Config) -> Self {
        let mut socket = Self::new(Credential { identity: Vec::new(), key: Vec::new() }, config);
        socket.keys = Some(keys);
        socket
    }

    /// Is ready for the next client.
    pub fn next(&mut self) {
        self.seen.clear();
        self.session = None;
    }
}

impl<P: Profile> Endpoint for Client<P> {
    const PEER: Purpose = Purpose::Server;

    fn begin(_: &mut SecureSocket<Self>, _: SocketAddr, _: &[u8]) -> bool {
        false
    }

    fn resume(
        session: &mut BoxedSession<Self>,
        place: &mut Environment,
        _: Asked,
        credential: &Credential,
        _: &[SessionState],
    ) {
        session
            .complete(
                &mut place.cx(),
                Completion::Psk { identity: &credential.identity, key: &credential.key },
            )
            .expect("the session asked");
    }
}

impl<P: Profile> Endpoint for Server<P> {
    const PEER: Purpose = Purpose::Client;

    fn begin(socket: &mut SecureSocket<Self>, from: SocketAddr, datagram: &[u8]) -> bool {
        if !is_client_hello(datagram) {
            return false;
        }
        let handshake = Some(socket.handshake());
        let SecureSocket { place, secrets, config, session, .. } = socket;
        let mut out = [0; 128];
        match listen(&mut place.cx(), secrets, from.to_string().as_bytes(), datagram, &mut out) {
            Listen::Reply(length) | Listen::Refuse(length, _) => {
                socket.socket.send_to(&out[..length], from).expect("loopback takes datagrams");
                true
            }
            Listen::Drop(_) => true,
            Listen::Accept(hello) => match session {
                Some((peer, session)) if *peer == from && session.began_with(&hello) => false,
                _ => {
                    *session = Some((from, Session::server(&mut place.cx(), &hello, *config, handshake)));
                    true
                }
            },
        }
    }

    fn resume(
        session: &mut BoxedSession<Self>,
        place: &mut Environment,
        asked: Asked,
        credential: &Credential,
        kept: &[SessionState],
    ) {
        let cx = &mut place.cx();
        match asked {
            Asked::Key(identity) => {
                let key = (identity == credential.identity).then_some(&credential.key[..]);
                session.complete(cx, Completion::psk(key))
            }
            Asked::Session(id) => session.complete(
                cx,
                Completion::Session {
                    state: kept.iter().find(|session| session.session_id() == id),
                    id: None,
                    ticket: TicketOffer::None,
                },
            ),
        }
        .expect("the session asked");
    }
}

impl<R: Endpoint> SecureSocket<R> {
    fn new(credential: Credential, config: Config) -> Self {
        let mut place = Environment::new();
        Self {
            socket: UdpSocket::bind("127.0.0.1:0").expect("loopback has a free port"),
            secrets: CookieSecrets::new(&mut place.rig.entropy),
            place,
            config,
            credential,
            keys: None,
            session: None,
            kept: Vec::new(),
            tickets: Vec::new(),
            sent: Vec::new(),
            received: VecDeque::new(),
            seen: Vec::new(),
        }
    }

    /// A handshake that has not begun.
    fn handshake(&self) -> Box<Handshake<Soft, FeaturesOf<R>>> {
        Box::new(self.keys.as_ref().map_or_else(Handshake::new, |keys| Handshake::with(keys.credentials)))
    }

    /// The socket's address.
    pub fn address(&self) -> SocketAddr {
        self.socket.local_addr().expect("a bound socket has an address")
    }

    /// What the session told so far.
    pub fn seen(&self) -> &[Seen] {
        &self.seen
    }

    /// The most data that the session sends at once.
    pub fn max_data(&self) -> usize {
        self.session.as_ref().map_or(0, |(_, session)| session.max_data())
    }

    /// How many handshakes resumed an earlier session.
    pub fn resumptions(&self) -> u32 {
        self.place.rig.count(Counter::DtlsResumptions)
    }

    /// How long each datagram of the handshakes was that this side has sent.
    pub fn sent(&self) -> &[usize] {
        &self.sent
    }

    /// Goes on until the session has told `what`, at most for `limit`.
    pub fn until(&mut self, what: Seen, limit: Duration) -> bool {
        self.go_on(limit, |socket| socket.seen.contains(&what).then_some(())).is_some()
    }

    /// What the session tells first, waited for at most for `limit`.
    pub fn first(&mut self, limit: Duration) -> Option<Seen> {
        self.go_on(limit, |socket| socket.seen.first().copied())
    }

    /// The next application data, waited for at most for `limit`.
    pub fn receive(&mut self, limit: Duration) -> Option<Vec<u8>> {
        self.go_on(limit, |socket| socket.received.pop_front())
    }

    /// Sends application data.
    pub fn send(&mut self, data: &[u8]) {
        let (peer, session) = self.session.as_mut().expect("there is a session");
        let mut buffer = vec![0; data.len() + MAX_RECORD_OVERHEAD];
        let length =
            session.seal_into(&mut self.place.cx(), data, &mut buffer).expect("the session is connected");
        self.socket.send_to(&buffer[..length], *peer).expect("loopback takes datagrams");
    }

    /// Closes the session.
    pub fn close(&mut self) {
        self.session.as_mut().expect("there is a session").1.close();
        self.drain();
    }

    fn go_on<T>(&mut self, limit: Duration, mut result: impl FnMut(&mut Self) -> Option<T>) -> Option<T> {
        let end = Instant::now() + limit;
        loop {
            self.drain();
            if let Some(result) = result(self) {
                return Some(result);
            }
            let left = end.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())?;
            self.wait(left);
        }
    }

    /// Waits for a datagram or a deadline.
    fn wait(&mut self, limit: Duration) {
        let now = self.place.now();
        let deadline = self.session.as_mut().and_then(|(_, session)| session.poll_timeout());
        let wait = deadline
            .map_or(limit, |deadline| limit.min(Duration::from_millis(now.until(deadline).millis().into())));
        self.socket.set_read_timeout(Some(wait.max(Duration::from_millis(1)))).expect("a wait is not zero");
        let mut buffer = [0; 4096];
        // A refused datagram shows up here as an error, too: the peer is not there yet or any more.
        if let Ok((length, from)) = self.socket.recv_from(&mut buffer) {
            let datagram = &mut buffer[..length];
            if !R::begin(self, from, datagram) {
                self.handle(from, datagram);
            }
        }
        // What is left of a handshake is told before it is dropped.
        self.drain();
        if let Some((_, session)) = &mut self.session {
            session.handle_timeout(&mut self.place.cx());
        }
    }

    fn handle(&mut self, from: SocketAddr, datagram: &mut [u8]) {
        let Some((peer, session)) = &mut self.session else { return };
        // A session with connection ids is found by those; here there is one.
        let received = &mut self.received;
        if session.handle_all(&mut self.place.cx(), datagram, |data| received.push_back(data.to_vec())) {
            *peer = from;
        }
    }

    fn drain(&mut self) {
        let Some((peer, session)) = &mut self.session else { return };
        loop {
            while let Some(event) = session.poll_event() {
                match event {
                    Event::Work(work) => {
                        let asked = match work {
                            Work::Psk { identity } => Asked::Key(identity.to_vec()),
                            Work::Session { id } => Asked::Session(id.to_vec()),
                            Work::Ticket => unreachable!("nobody promised any"),
                            Work::Task(task) => {
                                let keys = self.keys.as_ref().unwrap_or(Keys::EPHEMERAL);
                                let answer =
                                    keys.answer(&mut Soft, &mut self.place.rig.entropy, R::PEER, task);
                                session
                                    .complete(&mut self.place.cx(), Completion::Task(&answer))
                                    .expect("the session asked");
                                continue;
                            }
                        };
                        R::resume(session, &mut self.place, asked, &self.credential, &self.kept);
                    }
                    Event::Connected => {
                        self.seen.push(Seen::Connected);
                        self.kept.extend(session.session_state());
                        self.tickets.extend(session.new_ticket().map(|new| new.ticket.to_vec()));
                    }
                    Event::Closed => self.seen.push(Seen::Closed),
                    Event::Failed(failure) => self.seen.push(Seen::Failed(failure)),
                }
            }
            let mut out = [0; 2048];
            let Some(length) = session.poll_transmit(&mut self.place.cx(), &mut out) else { return };
            self.sent.push(length);
            self.socket.send_to(&out[..length], *peer).expect("loopback takes datagrams");
        }
    }
}

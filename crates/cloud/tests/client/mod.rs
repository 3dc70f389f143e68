//! A device at the CoAP server: real datagrams and the DTLS client that devices run.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::time::{Duration, SystemTime};

use sixlock_base::Counter;
use sixlock_cloud::public_keys::{CLOUD_NAME, KeyPair, OwnKeys};
use sixlock_coap_msg::{Code, Message};
use sixlock_crypto::Soft;
use sixlock_dtls::{
    CertificateType, ClientSession, Completion, Config, ConnectionId, Credentials, Event, Failure,
    FeaturesOf, Handshake, MAX_RECORD_OVERHEAD, RECORD_FRONT, SessionState, Suite, Suites, Ticketed, Trusted,
    Work, perform,
};
use sixlock_testing::{Rig, System};
use sixlock_x509::{Clock, Purpose, Time, Trust};

/// How long a client waits before it sends again.
const WAIT: Duration = Duration::from_millis(100);
/// How often, before it gives up.
const TRIES: usize = 1_200;
/// How often in a handshake: whatever ends that, it goes on until then.
const RETRANSMISSIONS: u8 = 250;

/// How a handshake ended that did not connect, and what came from the cloud: content type and length of each datagram,
/// so that one that was sent again because somebody was slow counts once.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) failure: Failure,
    pub(crate) heard: BTreeSet<(u8, usize)>,
}

type ClientHandshake = Handshake<Soft, FeaturesOf<sixlock_dtls::Client<Ticketed>>>;

/// By what a device proves who it is.
enum Authentication<'a> {
    PreSharedKey {
        identity: &'a str,
        key: &'a [u8],
    },
    /// A public key, raw or in this certificate, to the cloud that has these of the same kind.
    PublicKey(&'a KeyPair, Option<&'a [u8]>, &'a OwnKeys),
}

impl Authentication<'_> {
    /// What it shows in a handshake.
    fn handshake(&self) -> Box<ClientHandshake> {
        Box::new(match self {
            Self::PreSharedKey { .. } => Handshake::new(),
            Self::PublicKey(pair, certificate, _) => {
                let certificates: Vec<&'static [u8]> =
                    certificate.iter().map(|certificate| &*certificate.to_vec().leak()).collect();
                Handshake::with(Box::leak(Box::new(Credentials {
                    raw_public_key: certificate.is_none().then_some(pair.point),
                    certificates: certificates.leak(),
                    accepts: match certificate {
                        Some(_) => &[CertificateType::X509],
                        None => &[CertificateType::RawPublicKey],
                    },
                    mutual: true,
                    authorities: &[],
                })))
            }
        })
    }

    fn suites(&self) -> Suites {
        match self {
            Self::PreSharedKey { .. } => Config::HOST.suites,
            Self::PublicKey(..) => const { Suites::new(&[Suite::EcdheEcdsaAes128Ccm8]) },
        }
    }
}

/// A device with a session.
pub(crate) struct Client {
    socket: UdpSocket,
    session: ClientSession<Soft, Option<Box<ClientHandshake>>, Ticketed>,
    rig: Rig<Soft, System>,
    /// What is left of the session when it is over.
    pub(crate) left: Option<SessionState>,
    /// The ticket that it was given.
    pub(crate) ticket: Option<Vec<u8>>,
}

pub(crate) fn socket(address: SocketAddr) -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(address).unwrap();
    socket.set_read_timeout(Some(WAIT)).unwrap();
    socket
}

impl Client {
    pub(crate) fn connect(address: SocketAddr, identity: &str, key: &[u8]) -> Result<Self, Refused> {
        Self::resume(address, identity, key, None)
    }

    /// Connects, and resumes what is left of a session if the cloud does.
    pub(crate) fn resume(
        address: SocketAddr,
        identity: &str,
        key: &[u8],
        left: Option<&SessionState>,
    ) -> Result<Self, Refused> {
        Self::begin(address, &Authentication::PreSharedKey { identity, key }, (left, None), None)
    }

    /// Connects, asks for a ticket, and resumes what is left of a session if the cloud does by the one that there is.
    pub(crate) fn resume_by_ticket(
        address: SocketAddr,
        identity: &str,
        key: &[u8],
        left: Option<(&SessionState, &[u8])>,
    ) -> Result<Self, Refused> {
        let ticket = Some(left.map_or(&[][..], |(_, ticket)| ticket));
        let left = left.map(|(left, _)| left);
        Self::begin(address, &Authentication::PreSharedKey { identity, key }, (left, ticket), None)
    }

    /// Connects with connection ids, so that it may [move](Self::moves).
    pub(crate) fn roam(address: SocketAddr, identity: &str, key: &[u8]) -> Result<Self, Refused> {
        Self::begin(
            address,
            &Authentication::PreSharedKey { identity, key },
            (None, None),
            Some(ConnectionId::EMPTY),
        )
    }

    /// Connects by a public key, raw or in a certificate, to the cloud that has these.
    pub(crate) fn with_key(
        address: SocketAddr,
        pair: &KeyPair,
        certificate: Option<&[u8]>,
        cloud: &OwnKeys,
    ) -> Result<Self, Refused> {
        Self::begin(address, &Authentication::PublicKey(pair, certificate, cloud), (None, None), None)
    }

    fn begin(
        address: SocketAddr,
        authentication: &Authentication<'_>,
        (left, ticket): (Option<&SessionState>, Option<&[u8]>),
        connection_id: Option<ConnectionId>,
    ) -> Result<Self, Refused> {
        let mut heard = BTreeSet::new();
        let mut rig = Rig::new(Soft, System);
        let suites = authentication.suites();
        let config = Config { retransmissions: RETRANSMISSIONS, connection_id, suites, ..Config::HOST };
        let mut session = ClientSession::new(Some(authentication.handshake()));
        match ticket {
            None => session.connect(&mut rig.cx(), &config, left),
            Some(ticket) => session.connect_by_ticket(&mut rig.cx(), &config, left, ticket),
        }
        let mut client = Self { socket: socket(address), session, rig, left: None, ticket: None };
        let mut datagram = [0; 2048];
        loop {
            let Self { socket, session, rig, .. } = &mut client;
            let event = session.poll_event();
            match event {
                Some(Event::Work(work)) => {
                    let answer = match (work, authentication) {
                        (Work::Task(task), Authentication::PublicKey(pair, _, cloud)) => {
                            let now = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs();
                            let trusted = Trusted {
                                raw_public_keys: &[*cloud.public_key()],
                                certificates: Some(Trust {
                                    authorities: &[cloud.authority()],
                                    clock: Clock::At(Time::new((now / 86_400) as u32, (now % 86_400) as u32)),
                                    purpose: Purpose::Server,
                                    name: Some(CLOUD_NAME.as_bytes()),
                                }),
                            };
                            Some(perform(&mut Soft, &mut System, &pair.secret, &trusted, task))
                        }
                        _ => None,
                    };
                    let completion = match (&answer, authentication) {
                        (Some(answer), _) => Completion::Task(answer),
                        (None, Authentication::PreSharedKey { identity, key }) => {
                            Completion::Psk { identity: identity.as_bytes(), key }
                        }
                        (None, _) => panic!("the cloud asks for another proof"),
                    };
                    session.complete(&mut rig.cx(), completion).unwrap();
                }
                Some(Event::Connected) => {
                    let new = session.new_ticket().map(|new| new.ticket.to_vec());
                    // Who resumes has the last word.
                    while let Some(len) = session.poll_transmit(&mut rig.cx(), &mut datagram) {
                        socket.send(&datagram[..len]).unwrap();
                    }
                    client.left = client.session.session_state();
                    client.ticket = new;
                    return Ok(client);
                }
                Some(Event::Failed(failure)) => return Err(Refused { failure, heard }),
                Some(Event::Closed) => panic!("closed before it was connected"),
                None => {}
            }
            while let Some(len) = session.poll_transmit(&mut rig.cx(), &mut datagram) {
                socket.send(&datagram[..len]).unwrap();
            }
            match socket.recv(&mut datagram) {
                Ok(len) => {
                    heard.insert((datagram[0], len));
                    let mut rest = &mut datagram[..len];
                    while !rest.is_empty() {
                        rest = session.handle(&mut rig.cx(), rest).rest;
                    }
                }
                // Nothing came: the client's clock moves on to its next retransmission.
                Err(_) => {
                    rig.now = session.poll_timeout().unwrap_or(rig.now);
                    session.handle_timeout(&mut rig.cx());
                }
            }
        }
    }

    /// Begins a handshake, shows where it is, and says nothing more, whatever the cloud answers.
    pub(crate) fn falls_silent(address: SocketAddr) -> UdpSocket {
        let (socket, mut rig, mut datagram) = (socket(address), Rig::new(Soft, System), [0; 2048]);
        let mut session: ClientSession<_, _, Ticketed> =
            ClientSession::new(Some(Box::new(ClientHandshake::new())));
        session.connect(&mut rig.cx(), &Config::HOST, None);
        // The hello, and once more with the cookie that it is answered with.
        for _ in 0..2 {
            let len = session.poll_transmit(&mut rig.cx(), &mut datagram).unwrap();
            socket.send(&datagram[..len]).unwrap();
            let answer = (0..TRIES).find_map(|_| socket.recv(&mut datagram).ok()).unwrap();
            session.handle_all(&mut rig.cx(), &mut datagram[..answer], |_| ());
        }
        socket
    }

    /// Whether the handshake resumed a session.
    pub(crate) fn has_resumed(&self) -> bool {
        self.rig.count(Counter::DtlsResumptions) > 0
    }

    /// Goes on at another port.
    pub(crate) fn moves(&mut self) {
        self.socket = socket(self.socket.peer_addr().unwrap());
    }

    /// Whether the cloud has closed the session.
    pub(crate) fn is_closed(&self) -> bool {
        !self.session.is_connected()
    }

    /// A record with `message`; nothing if the session is over.
    pub(crate) fn seal(&mut self, message: &[u8]) -> Option<Vec<u8>> {
        let Self { session, rig, .. } = self;
        let mut record = vec![0; message.len() + MAX_RECORD_OVERHEAD];
        record[RECORD_FRONT..RECORD_FRONT + message.len()].copy_from_slice(message);
        let len = session.seal(&mut rig.cx(), &mut record, message.len()).ok()?;
        record.truncate(len);
        Some(record)
    }

    /// Sends bytes as they are.
    pub(crate) fn send(&self, datagram: &[u8]) {
        self.socket.send(datagram).unwrap();
    }

    /// Sends a message until it is answered; nothing if it never is, or the session is over.
    pub(crate) fn ask(&mut self, message: &[u8]) -> Option<Code> {
        let mut datagram = [0; 2048];
        for _ in 0..TRIES {
            let record = self.seal(message)?;
            let Self { socket, session, rig, .. } = self;
            socket.send(&record).ok()?;
            while let Ok(len) = socket.recv(&mut datagram) {
                let mut rest = &mut datagram[..len];
                while !rest.is_empty() {
                    let received = session.handle(&mut rig.cx(), rest);
                    rest = received.rest;
                    let answer = received.data.and_then(|data| answer_to(message, data));
                    if answer.is_some() {
                        return answer;
                    }
                }
            }
        }
        None
    }
}

impl Client {
    /// Sends a message once.
    pub(crate) fn tell(&mut self, message: &[u8]) {
        let record = self.seal(message).expect("the session is over");
        self.send(&record);
    }

    /// Waits for what the cloud says next; nothing if it says nothing for long.
    pub(crate) fn hear(&mut self) -> Option<Vec<u8>> {
        (0..TRIES).find_map(|_| self.hear_now())
    }

    /// What the cloud says next, if that comes at once.
    pub(crate) fn hear_now(&mut self) -> Option<Vec<u8>> {
        let mut datagram = [0; 2048];
        let Self { socket, session, rig, .. } = self;
        let len = socket.recv(&mut datagram).ok()?;
        session.handle(&mut rig.cx(), &mut datagram[..len]).data.map(|data| data.to_vec())
    }
}

/// The code of `datagram`, if it answers `message`.
fn answer_to(message: &[u8], datagram: &[u8]) -> Option<Code> {
    let (asked, answer) = (Message::parse(message).unwrap(), Message::parse(datagram).ok()?);
    (answer.code().is_response() && answer.token() == asked.token()).then_some(answer.code())
}

/// Sends a message without protection until it is answered, from a socket of its own.
pub(crate) fn ask_plain(address: SocketAddr, message: &[u8]) -> (UdpSocket, Option<Code>) {
    let (socket, mut datagram) = (socket(address), [0; 2048]);
    for _ in 0..TRIES {
        socket.send(message).unwrap();
        while let Ok(len) = socket.recv(&mut datagram) {
            let answer = answer_to(message, &datagram[..len]);
            if answer.is_some() {
                return (socket, answer);
            }
        }
    }
    (socket, None)
}

/// What a metric of the cloud says.
pub(crate) fn metric(http: SocketAddr, name: &str) -> Option<u64> {
    let mut stream = TcpStream::connect(http).unwrap();
    write!(stream, "GET /metrics HTTP/1.1\r\nHost: {http}\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
}

//! What a device and its server share: a DTLS session, by a pre-shared or a public key, or nothing but the addresses.

use std::ops::Range;
use std::time::Instant;

use sixlock_base::Cx;
use sixlock_cloud::Fast;
use sixlock_crypto::Soft;
use sixlock_dtls::{
    Answer, Certificates, Certified, ClientSession, Completion, Config, Event, Features, Handshake,
    RECORD_FRONT, Suite, Suites, Task, Work,
};
use sixlock_dtls_msg::Certificate as Shown;
use sixlock_interop::Keys;
use sixlock_testing::{Ranges, Rig, System};
use sixlock_x509::{Certificate, Purpose, public_key};
use zeroize::Zeroizing;

/// Servers that were started again are to be found soon.
const DTLS: Config = Config {
    initial_timeout: sixlock_base::Duration::from_millis(500),
    max_timeout: sixlock_base::Duration::from_millis(2_000),
    losses: sixlock_dtls::Losses::Radio,
    retransmissions: 20,
    suites: Suites::CCM_8,
    ..Config::HOST
};
/// With public keys.
const WITH_PUBLIC_KEYS: Suites = Suites::new(&[Suite::EcdheEcdsaAes128Ccm8]);

/// Whom a device says to be, and how it proves it.
#[derive(Clone, Debug)]
pub struct Credential {
    /// Its DTLS identity.
    pub identity: String,
    /// Its key.
    pub key: Vec<u8>,
}

/// By what a device proves who it is.
#[derive(Clone)]
pub enum Authentication {
    /// By this in the query of each request: without protection.
    Query(Vec<String>),
    /// By a pre-shared key.
    PreSharedKey(Credential),
    /// By a public key, raw or in a certificate, and what signs with the private one.
    PublicKey(Keys, Fast),
}

impl Authentication {
    /// What stands in the query of a request for it.
    pub(crate) fn query(&self) -> impl Iterator<Item = &str> {
        let arguments = match self {
            Self::Query(arguments) => &arguments[..],
            Self::PreSharedKey(_) | Self::PublicKey(..) => &[],
        };
        arguments.iter().map(String::as_str)
    }
}

impl From<&Credential> for Authentication {
    fn from(credential: &Credential) -> Self {
        Self::PreSharedKey(credential.clone())
    }
}

impl From<&Self> for Authentication {
    fn from(authentication: &Self) -> Self {
        authentication.clone()
    }
}

/// What the devices lend their sessions.
pub(crate) struct Environment {
    rig: Rig<Soft, System>,
    started: Instant,
    /// The ephemeral keys of all handshakes.
    ephemeral: Option<([u8; 32], [u8; 65])>,
}

impl Environment {
    pub(crate) fn new() -> Self {
        Self { rig: Rig::new(Soft, System), started: Instant::now(), ephemeral: None }
    }

    fn cx(&mut self) -> Cx<'_, Soft, System, Ranges> {
        let now = self.started.elapsed().as_millis() as u32;
        self.rig.at(sixlock_base::Instant::from_millis(now))
    }

    /// Does what a handshake asks for. The server is what is measured, and is to be kept busy: devices believe what it shows, and have ephemeral keys made
    /// once.
    fn answer(&mut self, keys: &Keys, crypto: &mut Fast, task: Task<'_>) -> Answer {
        let believed = match task {
            Task::Generate => {
                self.ephemeral.map(|(secret, point)| Answer::KeyPair(Zeroizing::new(secret), point))
            }
            Task::Verify { .. } => Some(Answer::Verified),
            Task::Chain { certificate: Shown::RawPublicKey(info) } => {
                public_key(info).ok().map(|key| Answer::Peer(*key))
            }
            Task::Chain { certificate: Shown::X509(chain) } => {
                let own = chain.iter().next().and_then(|own| Certificate::parse(own).ok());
                own.map(|own| Answer::Peer(*own.public_key()))
            }
            Task::Sign { .. } | Task::Agree { .. } => None,
        };
        let answer = believed.unwrap_or_else(|| keys.answer(crypto, &mut System, Purpose::Server, task));
        if let Answer::KeyPair(secret, point) = &answer {
            self.ephemeral = Some((**secret, *point));
        }
        answer
    }
}

type Session = ClientSession<Soft, Option<Box<Handshake<Soft, Features<Certificates>>>>, Certified>;

/// What stands between a device and its server.
pub(crate) enum Association {
    Plain,
    Secure(Box<Session>),
}

/// What happened to an association.
pub(crate) enum Happened {
    /// Data can be sent.
    Connected,
    /// It is over.
    Ended,
}

impl Association {
    /// A new one: the first to say something is the device.
    pub(crate) fn new(place: &mut Environment, authentication: &Authentication) -> Self {
        let (handshake, suites) = match authentication {
            Authentication::Query(_) => return Self::Plain,
            Authentication::PreSharedKey(_) => (Handshake::new(), DTLS.suites),
            Authentication::PublicKey(keys, _) => (Handshake::with(keys.credentials), WITH_PUBLIC_KEYS),
        };
        let (config, handshake) = (Config { suites, ..DTLS }, Some(Box::new(handshake)));
        Self::Secure(Box::new(ClientSession::client(&mut place.cx(), config, None, handshake)))
    }

    pub(crate) fn is_connected(&self) -> bool {
        match self {
            Self::Plain => true,
            Self::Secure(session) => session.is_connected(),
        }
    }

    /// Says that it is over.
    pub(crate) fn close(&mut self) {
        if let Self::Secure(session) = self {
            session.close();
        }
    }

    /// The first data in a datagram, and what is to be handed in again.
    pub(crate) fn handle<'d>(
        &mut self,
        place: &mut Environment,
        datagram: &'d mut [u8],
    ) -> (Option<&'d mut [u8]>, &'d mut [u8]) {
        match self {
            Self::Plain => (Some(datagram), &mut []),
            Self::Secure(session) => {
                let received = session.handle(&mut place.cx(), datagram);
                (received.data, received.rest)
            }
        }
    }

    /// Does what the handshake asks for; tells what came of it.
    pub(crate) fn poll_event(
        &mut self,
        place: &mut Environment,
        authentication: &Authentication,
    ) -> Option<Happened> {
        let Self::Secure(session) = self else { return None };
        loop {
            match (session.poll_event()?, authentication) {
                (Event::Connected, _) => return Some(Happened::Connected),
                (
                    Event::Work(Work::Psk { .. }),
                    Authentication::PreSharedKey(Credential { identity, key }),
                ) => session
                    .complete(&mut place.cx(), Completion::Psk { identity: identity.as_bytes(), key })
                    .expect("the session asked for a key, and this one is not too long"),
                (Event::Work(Work::Task(task)), Authentication::PublicKey(keys, crypto)) => {
                    let answer = place.answer(keys, &mut crypto.clone(), task);
                    session
                        .complete(&mut place.cx(), Completion::Task(&answer))
                        .expect("the session asked for this");
                }
                // The server wants another proof than there is.
                (Event::Work(_), _) => session.close(),
                (Event::Closed | Event::Failed(_), _) => return Some(Happened::Ended),
            }
        }
    }

    pub(crate) fn poll_transmit(&mut self, place: &mut Environment, out: &mut [u8]) -> Option<usize> {
        match self {
            Self::Plain => None,
            Self::Secure(session) => session.poll_transmit(&mut place.cx(), out),
        }
    }

    /// Does what is due.
    pub(crate) fn handle_timeout(&mut self, place: &mut Environment) {
        if let Self::Secure(session) = self {
            session.handle_timeout(&mut place.cx());
        }
    }

    /// Protects `length` bytes from [`RECORD_FRONT`] on; where the datagram is then.
    pub(crate) fn seal(
        &mut self,
        place: &mut Environment,
        buffer: &mut [u8],
        length: usize,
    ) -> Option<Range<usize>> {
        match self {
            Self::Plain => Some(RECORD_FRONT..RECORD_FRONT + length),
            Self::Secure(session) => {
                session.seal(&mut place.cx(), buffer, length).ok().map(|length| 0..length)
            }
        }
    }
}

//! A DTLS session with a device, and what is kept of it.

use std::time::{Duration, Instant};

use sixlock_crypto::SmallKeys;
use sixlock_dtls::{
    Answer, CertificateType, Certificates, Certified, ClientSession, Config, Credentials, Event, Handshake,
    Resumption, Suite, Suites, Work, certificate_alert,
};
use sixlock_endpoint::Proof;
use sixlock_x509::{Error, Purpose};

use super::failure::{Failure, Unproved};
use super::target::Target;
use crate::doors::Lent;
use crate::public_keys::{self, Done, Performer};
use crate::secrets::Secret;
use crate::store::KnownKey;

/// How handshakes behave: patient with devices behind a mesh of several hops, and at an end, with what is to be
/// said about it, well before the poll is.
const HANDSHAKE: Config = Config {
    initial_timeout: sixlock_base::Duration::from_secs(2),
    spread: true,
    retransmissions: 3,
    ..Config::HOST
};
/// The suites by which devices prove pre-shared keys: with ephemeral ones beside them, where they know of those.
const PRE_SHARED_KEY_SUITES: Suites = Suites::new(&[
    Suite::EcdhePskAes128Ccm8,
    Suite::EcdhePskAes128Ccm,
    Suite::EcdhePskAes128Gcm,
    Suite::PskAes128Ccm8,
    Suite::PskAes128Ccm,
    Suite::PskAes128Gcm,
]);
/// The suites by which devices prove public keys.
const PUBLIC_KEY_SUITES: Suites =
    Suites::new(&[Suite::EcdheEcdsaAes128Ccm8, Suite::EcdheEcdsaAes128Ccm, Suite::EcdheEcdsaAes128Gcm]);
/// How long a session is resumed after its full handshake.
const RESUMABLE_FOR: Duration = Duration::from_secs(24 * 3600);

/// By what the cloud and a device prove to each other who they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    /// By a key that both have.
    Psk { identity: String, key: Secret },
    /// The device by one of these, which are of one kind, and the cloud by its own of that kind.
    PublicKeys(Vec<KnownKey>),
}

/// Which device it is, and by what that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Peer {
    host: String,
    port: u16,
    trust: Trust,
}

impl Peer {
    pub(super) fn new(target: &Target, trust: Trust) -> Self {
        Self { host: target.host().to_owned(), port: target.port(), trust }
    }
}

/// What is kept of a device between polls, besides its session.
pub(super) struct Device {
    peer: Peer,
    /// What the session is resumed by when it is gone, and when its full handshake was.
    left: Option<(Resumption, Instant)>,
}

impl Device {
    /// One that was not met yet.
    pub(super) const fn new(peer: Peer) -> Self {
        Self { peer, left: None }
    }

    /// Whether it is this device, known by the same.
    pub(super) fn is_of(&self, peer: &Peer) -> bool {
        self.peer == *peer
    }

    /// Keeps what its session is resumed by.
    pub(super) fn keep(&mut self, resumption: Resumption) {
        let before = self.left.take().filter(|(left, _)| left.session_id() == resumption.session_id());
        self.left = Some((resumption, before.map_or_else(Instant::now, |(_, since)| since)));
    }

    /// Forgets what its session would be resumed by.
    pub(super) fn forget(&mut self) {
        self.left = None;
    }

    fn resumption(&self) -> Option<&Resumption> {
        self.left.as_ref().filter(|(_, since)| since.elapsed() < RESUMABLE_FOR).map(|(left, _)| left)
    }
}

/// The cloud as devices are shown it.
#[derive(Clone)]
pub(super) struct Prover {
    performer: Performer,
    raw: &'static Credentials,
    certified: &'static Credentials,
}

impl Prover {
    pub(super) fn new(performer: Performer) -> Self {
        let own = performer.own();
        let [raw, certified] =
            [CertificateType::RawPublicKey, CertificateType::X509].map(|kind| own.credentials_of(kind));
        Self { performer, raw, certified }
    }
}

/// A session with a device, under way or connected.
pub(super) struct Secured {
    pub(super) session: ClientSession<SmallKeys, Option<Box<Handshake<SmallKeys, Certificates>>>, Certified>,
    trust: Trust,
    performer: Performer,
    /// What is to be kept of the session since it is connected.
    resumption: Option<Resumption>,
    /// Why what the device has shown proves nothing.
    unproved: Option<Unproved>,
}

impl Secured {
    /// Begins one with `device`, which resumes the one before if something is left of that.
    pub(super) fn begin(lent: &mut Lent, prover: &Prover, device: &Device) -> Self {
        let (trust, performer) = (device.peer.trust.clone(), prover.performer.clone());
        let (handshake, suites) = match &trust {
            Trust::Psk { .. } => (Handshake::new(), PRE_SHARED_KEY_SUITES),
            Trust::PublicKeys(known) => {
                let is_raw = known.iter().any(|known| known.proof == Proof::RawPublicKey);
                (Handshake::with(if is_raw { prover.raw } else { prover.certified }), PUBLIC_KEY_SUITES)
            }
        };
        let config = Config { suites, ..HANDSHAKE };
        let handshake = Some(Box::new(handshake));
        let session = ClientSession::client(&mut lent.cx(), config, device.resumption(), handshake);
        Self { session, trust, performer, resumption: None, unproved: None }
    }

    /// Does what the session asks for.
    pub(super) async fn settle(&mut self, lent: &mut Lent) -> Result<(), Failure> {
        loop {
            let work = match self.session.poll_event() {
                None => return Ok(()),
                // Only servers are asked for sessions.
                Some(Event::Work(Work::Session { .. })) => continue,
                Some(Event::Work(Work::Psk { .. })) => {
                    if let Trust::Psk { identity, key } = &self.trust {
                        // Both are shorter than a handshake takes: the store saw to that.
                        let _ = self.session.resume(&mut lent.cx(), identity.as_bytes(), key.bytes());
                    }
                    continue;
                }
                Some(Event::Work(Work::Task(task))) => self.performer.perform(Purpose::Server, task),
                Some(Event::Connected) => {
                    self.resumption = self.session.resumption();
                    continue;
                }
                Some(Event::Closed) => return Err(Failure::Closed),
                Some(Event::Failed(failure)) => {
                    return Err(self.unproved.take().map_or(Failure::Dtls(failure), Failure::Unproved));
                }
            };
            let answer = match work.await {
                Done::Answer(answer) => answer,
                Done::Judged(peer, judged) => match self.judge(&peer, judged) {
                    Ok(()) => Answer::Peer(peer.key),
                    Err((unproved, error)) => {
                        self.unproved = Some(unproved);
                        Answer::Refused(certificate_alert(error))
                    }
                },
            };
            // A session that is over by now asks for nothing.
            let _ = self.session.go_on(&mut lent.cx(), &answer);
        }
    }

    /// Whether who has shown this may be the device; else why not, for its owner and for itself.
    fn judge(&self, peer: &public_keys::Peer, judged: Result<(), Error>) -> Result<(), (Unproved, Error)> {
        judged.map_err(|error| (Unproved::Certificate(error), error))?;
        let Trust::PublicKeys(known) = &self.trust else {
            return Err((Unproved::Name, Error::UnknownAuthority));
        };
        let is_named = |known: &&KnownKey| {
            known.proof == peer.proof && (known.identity == peer.identity || peer.is_named(&known.identity))
        };
        let mut named = known.iter().filter(is_named).peekable();
        if named.peek().is_none() {
            return Err(match peer.proof {
                Proof::RawPublicKey => (Unproved::Key, Error::UnknownAuthority),
                _ => (Unproved::Name, Error::Name),
            });
        }
        match named.any(|known| peer.has_key(known.key.bytes())) {
            true => Ok(()),
            false => Err((Unproved::Key, Error::UnknownAuthority)),
        }
    }

    /// What is to be kept of the session, once.
    pub(super) fn take_resumption(&mut self) -> Option<Resumption> {
        self.resumption.take()
    }

    pub(super) fn is_connected(&self) -> bool {
        self.session.is_connected()
    }
}

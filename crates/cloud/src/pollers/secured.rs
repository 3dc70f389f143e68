//! A DTLS session with a device, and what is kept of it.

use std::sync::Arc;
use std::time::Duration;

use sixlock_base::Instant;
use sixlock_coap_server::{HostContext, PeerKey, Performed};
use sixlock_crypto::{Hashes, SHA_256_DIGEST, SmallKeys, Soft, constant_time_eq};
use sixlock_dtls::{
    Answer, CertificateType, Certificates, ClientSession, Completion, Config, Credentials, Event, Features,
    Full, Handshake, Refusal, RoundTrip, ServerName, SessionState, SessionTickets, Suites, Work,
    certificate_alert,
};
use sixlock_endpoint::AuthenticationMethod;
use sixlock_store::{KnownKey, Secret, now_ms, resumption::Record};
use sixlock_x509::{Certificate, Error, Purpose};
use tokio::task::spawn_blocking;

use super::failure::{Failure, Unproved};
use super::target::Target;
use crate::fast::Ephemeral;
use crate::public_keys::KeyRing;

/// How handshakes behave: as those of devices behind a mesh of several hops, but with who does not answer at an end before the poll
/// is, and with what is to be said about it: after 30 to 45 seconds, unless its answers took longer before.
const HANDSHAKE: Config = Config {
    initial_timeout: sixlock_base::Duration::from_secs(2),
    max_timeout: sixlock_base::Duration::from_secs(16),
    retransmissions: 3,
    ..Config::MESH
};
/// How long a device may take to say whether it resumes a session: time for the hello and two retransmissions. One that knows nothing of
/// the session is to make another ([RFC 5246 section 7.4.1.3](https://www.rfc-editor.org/rfc/rfc5246#section-7.4.1.3)), but there are
/// those that refuse the hello, which an alert that anyone may have sent does not prove, and those to which a ticket does not come through.
const OFFER_PATIENCE: sixlock_base::Duration = sixlock_base::Duration::from_secs(12);
/// How long a session is resumed after its full handshake.
pub(super) const RESUMABLE_FOR: Duration = Duration::from_secs(24 * 3600);

/// By what the cloud and a device prove to each other who they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    /// By a key that both have.
    Psk { identity: String, key: Secret },
    /// The device by one of these, which are of one kind, and the cloud by its own of that kind.
    PublicKeys(Vec<KnownKey>),
}

impl Trust {
    /// What tells who is asked so at `target` from others, to those who know the secret only.
    fn mark(&self, secret: &Secret, target: &Target) -> Fingerprint {
        let port = target.port().to_be_bytes();
        let mut fields: Vec<Vec<u8>> = vec![target.host().into(), port.into()];
        let mut keys = Vec::new();
        match self {
            Self::Psk { identity, key } => {
                fields.push(identity.clone().into_bytes());
                keys.push(key);
            }
            Self::PublicKeys(known) => {
                for KnownKey { credential, identity, method, key } in known {
                    fields.push(
                        [&credential.0.to_be_bytes()[..], &[*method as u8], identity.as_bytes()].concat(),
                    );
                    keys.push(key);
                }
            }
        }
        let all = || fields.iter().map(Vec::as_slice).chain(keys.iter().map(|key| key.bytes()));
        let lengths: Vec<_> = all().map(|field| (field.len() as u64).to_be_bytes()).collect();
        let parts: Vec<&[u8]> = lengths.iter().map(|length| &length[..]).chain(all()).collect();
        let secret = Soft.hmac_key(secret.bytes());
        Soft.hmac_sha256(&secret, &parts)
    }
}

/// Tells a device that is known by one thing from others, and from itself when it is known by another.
pub(super) type Fingerprint = [u8; SHA_256_DIGEST];

/// What a session is resumed by.
#[derive(Clone)]
pub(super) struct SavedSession {
    pub(super) resumption: SessionState,
    /// Empty if the resumption has an id.
    pub(super) ticket: Vec<u8>,
    /// Until when, in milliseconds since 1970.
    pub(super) until: i64,
}

/// What is kept of a device between polls, besides its session.
pub(super) struct Device {
    mark: Fingerprint,
    left: Option<SavedSession>,
    /// What is left has changed.
    untold: bool,
    /// It would have none of what was left of a session, since the cloud was started.
    refuses: bool,
    /// How long it took to answer in handshakes, since the cloud was started.
    round_trip: RoundTrip,
}

impl Device {
    /// One that was not met yet.
    fn new(mark: Fingerprint) -> Self {
        Self { mark, left: None, untold: false, refuses: false, round_trip: RoundTrip::default() }
    }

    /// One that was met before the cloud was started.
    pub(super) fn restored(mark: Fingerprint, left: SavedSession) -> Self {
        Self { left: Some(left), ..Self::new(mark) }
    }

    /// What tells it from others.
    pub(super) const fn mark(&self) -> &Fingerprint {
        &self.mark
    }

    /// Keeps what its session is resumed by from now on, if it is by anything.
    pub(super) fn keep(&mut self, left: Option<SavedSession>) {
        let left = left.filter(|_| !self.refuses);
        self.untold |= left.is_some() || self.left.is_some();
        self.left = left;
    }

    /// It has refused what it was offered to resume, as OpenSSL does where its user has named no context of sessions. Whether there
    /// was anything; there will be nothing.
    pub(super) fn refuse(&mut self) -> bool {
        self.refuses = self.left.is_some();
        self.forget();
        self.refuses
    }

    /// Keeps how long it took to answer.
    pub(super) const fn measured(&mut self, round_trip: RoundTrip) {
        self.round_trip = round_trip;
    }

    /// Forgets what its session would be resumed by.
    pub(super) fn forget(&mut self) {
        self.keep(None);
    }

    /// What is left of its session, if that was not told since it has changed.
    pub(super) fn take_untold(&mut self) -> Option<Option<SavedSession>> {
        std::mem::take(&mut self.untold).then(|| self.left.clone())
    }

    /// What its session can be resumed by.
    pub(super) fn left(&self) -> Option<&SavedSession> {
        self.left.as_ref().filter(|left| Record::remaining(left.until, now_ms()).is_some())
    }
}

/// The cloud as devices are shown it.
#[derive(Clone)]
pub(super) struct Prover {
    keys: Arc<KeyRing>,
    raw: &'static Credentials,
    certified: &'static Credentials,
    /// By which devices are marked.
    secret: Secret,
}

impl Prover {
    pub(super) fn new(keys: Arc<KeyRing>, secret: Secret) -> Self {
        let [raw, certified] = [CertificateType::RawPublicKey, CertificateType::X509]
            .map(|kind| keys.own().credentials_of(kind));
        Self { keys, raw, certified, secret }
    }

    /// Whether what is kept of a device is that of who is asked at `target` and trusted so.
    pub(super) fn is_of(&self, device: &Device, target: &Target, trust: &Trust) -> bool {
        constant_time_eq(&device.mark, &trust.mark(&self.secret, target))
    }

    /// A device that was not met yet.
    pub(super) fn device(&self, target: &Target, trust: &Trust) -> Device {
        Device::new(trust.mark(&self.secret, target))
    }
}

/// What a poller's handshakes have memory for.
type PollerFeatures = Features<Certificates, SessionTickets, ServerName>;

/// A handshake, while it is needed.
type HandshakeBox = Option<Box<Handshake<SmallKeys, PollerFeatures>>>;

/// A session with a device, under way or connected.
pub(super) struct Secured {
    pub(super) session: ClientSession<SmallKeys, HandshakeBox, Full<PollerFeatures>>,
    trust: Trust,
    keys: Arc<KeyRing>,
    /// The key pair that was made for the handshake and waits for the device's.
    made: Option<Ephemeral>,
    /// Until when it is waited for what the device says to the offer to resume a session.
    offer: Option<Instant>,
    /// The device has said nothing to it.
    in_vain: bool,
    /// Until when the session can be resumed that it resumes.
    until: Option<i64>,
    /// What is to be kept of it since it is connected, in place of what was.
    left: Option<Option<SavedSession>>,
    /// Why what the device has shown proves nothing.
    unproved: Option<Unproved>,
    /// Why DTLS has last refused something that came.
    refusal: Option<Refusal>,
}

impl Secured {
    /// Begins one with `device`, to which it offers to resume what is `left` of the one before.
    pub(super) fn begin(
        lent: &mut HostContext,
        prover: &Prover,
        target: &Target,
        trust: &Trust,
        device: &Device,
        left: Option<&SavedSession>,
    ) -> Self {
        let (trust, keys) = (trust.clone(), prover.keys.clone());
        let (mut handshake, suites) = match &trust {
            Trust::Psk { .. } => (Handshake::new(), Suites::PRE_SHARED_KEYS),
            Trust::PublicKeys(known) => {
                let is_raw = known.iter().any(|known| known.method == AuthenticationMethod::RawPublicKey);
                (Handshake::with(if is_raw { prover.raw } else { prover.certified }), Suites::PUBLIC_KEYS)
            }
        };
        let config = Config { suites, ..HANDSHAKE };
        handshake.set_server_name(target.host());
        let mut session = ClientSession::new(Some(Box::new(handshake)));
        session.set_round_trip(device.round_trip);
        let (resumption, until) = (left.map(|left| &left.resumption), left.map(|left| left.until));
        let ticket = left.map_or(&[][..], |left| &left.ticket);
        let cx = &mut lent.cx();
        session.connect_by_ticket(cx, &config, resumption, ticket);
        let offer = left.map(|_| cx.now + OFFER_PATIENCE);
        Self {
            session,
            trust,
            keys,
            made: None,
            offer,
            in_vain: false,
            until,
            left: None,
            unproved: None,
            refusal: None,
        }
    }

    /// When to call [`Secured::handle_timeout`].
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        Instant::earliest(self.session.poll_timeout(), self.offer)
    }

    /// Does what is due now.
    pub(super) fn handle_timeout(&mut self, lent: &mut HostContext) {
        let cx = &mut lent.cx();
        if self.offer.take_if(|until| cx.now.has_reached(*until)).is_some() && self.session.awaits_hello() {
            self.in_vain = true;
            self.session.give_up(cx);
        }
        self.session.handle_timeout(cx);
    }

    /// Whether it was given up as the device has said nothing to the offer to resume a session.
    pub(super) const fn was_offered_in_vain(&self) -> bool {
        self.in_vain
    }

    /// Does what the session asks for.
    pub(super) async fn settle(&mut self, lent: &mut HostContext) -> Result<(), Failure> {
        self.refusal = self.session.poll_refusal().or(self.refusal);
        loop {
            let work = match self.session.poll_event() {
                None => return Ok(()),
                // Only servers are asked for these.
                Some(Event::Work(Work::Session { .. } | Work::Ticket)) => continue,
                Some(Event::Work(Work::Psk { .. })) => {
                    if let Trust::Psk { identity, key } = &self.trust {
                        // Both are shorter than a handshake takes: the store saw to that.
                        let _ = self.session.complete(
                            &mut lent.cx(),
                            Completion::Psk { identity: identity.as_bytes(), key: key.bytes() },
                        );
                    }
                    continue;
                }
                Some(Event::Work(Work::Task(task))) => {
                    let (keys, task, mut made) = (self.keys.clone(), task.into(), self.made.take());
                    spawn_blocking(move || (keys.perform(&task, Purpose::Server, &mut made), made))
                }
                Some(Event::Connected) => {
                    self.left = self.saved_session();
                    continue;
                }
                Some(Event::Closed) => return Err(Failure::Closed),
                Some(Event::Failed(failure)) => {
                    let failure = Failure::Dtls(failure, self.refusal.take());
                    return Err(self.unproved.take().map_or(failure, Failure::Unproved));
                }
            };
            let (done, made) = work.await.unwrap_or((Performed::REFUSED, None));
            self.made = made;
            let answer = match done {
                Performed::Answer(answer) => answer,
                Performed::Judged(peer, judged) => match self.judge(&peer, judged) {
                    Ok(()) => Answer::Peer(peer.key),
                    Err((unproved, error)) => {
                        self.unproved = Some(unproved);
                        Answer::Refused(certificate_alert(error))
                    }
                },
            };
            // A session that is over by now asks for nothing.
            let _ = self.session.complete(&mut lent.cx(), Completion::Task(&answer));
        }
    }

    /// Whether who has shown this may be the device; else why not, for its owner and for itself.
    fn judge(&self, peer: &PeerKey, judged: Result<(), Error>) -> Result<(), (Unproved, Error)> {
        judged.map_err(|error| (Unproved::Certificate(error), error))?;
        let Trust::PublicKeys(known) = &self.trust else {
            return Err((Unproved::Name, Error::UnknownAuthority));
        };
        let is_named = |known: &&KnownKey| {
            known.method == peer.method
                && (known.identity == peer.identity || is_named(peer, &known.identity))
        };
        let mut named = known.iter().filter(is_named).peekable();
        if named.peek().is_none() {
            return Err(match peer.method {
                AuthenticationMethod::RawPublicKey => (Unproved::Key, Error::UnknownAuthority),
                _ => (Unproved::Name, Error::Name),
            });
        }
        match named.any(|known| peer.is_admitted(known.key.bytes())) {
            true => Ok(()),
            false => Err((Unproved::Key, Error::UnknownAuthority)),
        }
    }

    /// What is left of the session that has just connected; none if that is what was left of the one that it resumes.
    fn saved_session(&self) -> Option<Option<SavedSession>> {
        let new = self.session.new_ticket();
        let before = self.until.filter(|_| self.session.is_resumed());
        if before.is_some() && new.is_none() {
            return None;
        }
        let until = until(now_ms(), before, new.map_or(0, |new| new.lifetime_hint));
        let ticket = new.map_or(&[][..], |new| new.ticket).to_vec();
        Some(self.session.session_state().map(|resumption| SavedSession { resumption, ticket, until }))
    }

    /// What is to be kept in place of what was, once.
    pub(super) fn take_saved(&mut self) -> Option<Option<SavedSession>> {
        self.left.take()
    }

    pub(super) fn is_connected(&self) -> bool {
        self.session.is_connected()
    }
}

/// Until when a session can be resumed whose ticket, if there is one, is good for so many seconds from `now` on; of 0 seconds the
/// server knows nothing ([RFC 5077 section 3.3](https://www.rfc-editor.org/rfc/rfc5077#section-3.3)). Another ticket for one that
/// was resumed, as it could be until `before`, makes it no younger.
fn until(now: i64, before: Option<i64>, lifetime_hint: u32) -> i64 {
    let until = before.unwrap_or(now.saturating_add(RESUMABLE_FOR.as_millis() as i64));
    match lifetime_hint {
        0 => until,
        seconds => until.min(now.saturating_add(i64::from(seconds) * 1000)),
    }
}

/// Returns whether the certificate of a peer bears this name as one of several.
fn is_named(peer: &PeerKey, name: &str) -> bool {
    Certificate::parse(&peer.certificate).is_ok_and(|certificate| certificate.is_named(name.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::until;

    #[test]
    fn a_ticket_is_kept_for_a_day_or_as_long_as_its_server_says() {
        let day = 86_400_000;
        for (before, hint, expected) in [
            (None, 0, 5 + day),
            (None, 7200, 5 + 7_200_000),
            (None, u32::MAX, 5 + day),
            (Some(9000), 0, 9000),
            (Some(9000), 7200, 9000),
            (Some(9000), 1, 1005),
        ] {
            assert_eq!(until(5, before, hint), expected, "{before:?} {hint}");
        }
    }
}

use core::mem::take;

use sixlock_base::{Cx, Duration, Entropy, Instant, Slot};
use sixlock_crypto::Crypto;
use sixlock_dtls::{
    Answer, ClientSession, Config, Credentials, Event, Features, Handshake, KeptRefusal, KeyFeature,
    KeyLogEntry, RECORD_FRONT, Refusal, Resuming, SessionState, Task,
};

use super::{Channel, ChannelEvent};
use crate::config::TooLong;

/// The pause after the first handshake that failed; it doubles with each further one.
const FIRST_PAUSE: Duration = Duration::from_secs(5);
/// The longest pause after a handshake that failed.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);

/// How long no session is given up for want of answers after one was; it doubles with each further one.
const FIRST_REST: Duration = Duration::from_secs(60);
/// The longest time of that.
const LONGEST_REST: Duration = Duration::from_secs(4 * 3600);
/// So many requests in a row that were answered at once show that the network is calm: nobody needs to rest.
const CALM: u8 = 8;

/// The session of a device that has such keys, and room for its handshake.
pub type DeviceSession<C, K> = ClientSession<C, Handshake<C, Features<K>>, Resuming<Features<K>>>;

/// How a device authenticates itself and its peer in a handshake: as a client the cloud, as a server its clients.
pub trait Authenticator<C: Crypto> {
    /// The keys, as the device is given them.
    type Access<'a>;
    /// Its public keys, if it has any.
    type Keys: KeyFeature;

    /// One without keys. It is all zero bytes.
    const NEW: Self;

    /// Takes its keys; to be called first, and once.
    fn start(&mut self, access: &Self::Access<'_>) -> Result<(), TooLong>;

    /// What its sessions show and ask for, if they have public keys.
    fn credentials(&self) -> Option<&'static Credentials> {
        None
    }

    /// Does what a handshake as a client waits for.
    fn work<E: Entropy, N>(&self, cx: &mut Cx<'_, C, E, N>, session: &mut DeviceSession<C, Self::Keys>);

    /// The key of a client that gives this identity, if it is known.
    fn key(&self, _identity: &[u8]) -> Option<&[u8]> {
        None
    }

    /// Does a task with P-256, if it has public keys.
    fn perform<E: Entropy, N>(&self, _: &mut Cx<'_, C, E, N>, _: Task<'_>) -> Option<Answer> {
        None
    }
}

/// Through a DTLS session that is made anew whenever there is none.
pub struct Dtls<C: Crypto, P: Authenticator<C>> {
    proof: P,
    /// It is idle while there is none.
    session: DeviceSession<C, P::Keys>,
    /// What is left of the last session, to begin the next with.
    resumption: Slot<SessionState>,
    /// No handshake is begun before this.
    not_before: Option<Instant>,
    /// The last pause, if the last handshake failed.
    pause: Option<Duration>,
    /// No session is given up for want of answers before this, and the time of which that is the end.
    rests_until: Option<Instant>,
    rest: Option<Duration>,
    /// How many requests in a row were answered at once since one was given up so.
    calm: u8,
    event: Slot<ChannelEvent>,
    /// There is a session that was not told of yet.
    renewed: bool,
    refusal: KeptRefusal,
}

impl<C: Crypto, P: Authenticator<C>> Channel<C> for Dtls<C, P> {
    type Access<'a> = P::Access<'a>;

    const NEW: Self = Self {
        proof: P::NEW,
        session: ClientSession::new(Handshake::new()),
        resumption: Slot::Empty,
        not_before: None,
        pause: None,
        rests_until: None,
        rest: None,
        calm: 0,
        event: Slot::Empty,
        renewed: false,
        refusal: KeptRefusal::NONE,
    };

    fn start(&mut self, access: &P::Access<'_>) -> Result<(), TooLong> {
        self.proof.start(access)?;
        if let Some(credentials) = self.proof.credentials() {
            self.session.set_credentials(credentials);
        }
        Ok(())
    }

    fn is_secured(&self) -> bool {
        true
    }

    fn key_log(&self) -> Option<KeyLogEntry<'_>> {
        self.session.key_log()
    }

    fn poll_refusal(&mut self) -> Option<Refusal> {
        self.refusal.take().map(|(_, refusal)| refusal)
    }

    fn is_open(&self) -> bool {
        self.session.is_connected()
    }

    fn has_handshake(&self) -> bool {
        self.session.has_handshake()
    }

    fn open<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        // As times wrap, one that is past does not stay.
        self.rests_until = self.rests_until.filter(|&instant| !cx.now.has_reached(instant));
        let early = self.not_before.is_some_and(|instant| !cx.now.has_reached(instant));
        if self.session.is_idle() && !early {
            self.connect(cx);
        }
    }

    fn reopen<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>) -> bool {
        if self.rests_until.is_some_and(|instant| !cx.now.has_reached(instant)) {
            return false;
        }
        let rest = self.rest.map_or(FIRST_REST, |last| last.doubled().min(LONGEST_REST));
        (self.rest, self.rests_until, self.calm) = (Some(rest), Some(cx.now + rest), 0);
        self.connect(cx);
        true
    }

    fn renew<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        self.connect(cx);
    }

    fn answered(&mut self, at_once: bool) {
        self.calm = if at_once { self.calm.saturating_add(1) } else { 0 };
        if self.calm >= CALM {
            (self.rest, self.rests_until) = (None, None);
        }
    }

    fn front(&self) -> usize {
        RECORD_FRONT
    }

    fn seal<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>, buffer: &mut [u8], length: usize) -> Option<usize> {
        self.session.seal(cx, buffer, length).ok()
    }

    fn sealed_len(&self, length: usize) -> usize {
        length + self.session.overhead()
    }

    fn handle<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        datagram: &mut [u8],
        mut message: impl FnMut(&mut Cx<'_, C, E, N>, &[u8]),
    ) {
        let mut rest = datagram;
        while !rest.is_empty() {
            let received = self.session.handle(cx, rest);
            if let Some(data) = received.data {
                message(cx, data);
            }
            rest = received.rest;
            self.settle(cx);
        }
    }

    fn poll_transmit<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>, out: &mut [u8]) -> Option<usize> {
        self.session.poll_transmit(cx, out)
    }

    fn has_flights(&self) -> bool {
        P::Keys::SUITE.has_public_keys()
    }

    fn poll_renewed(&mut self) -> bool {
        take(&mut self.renewed)
    }

    fn poll_event(&mut self) -> Option<ChannelEvent> {
        self.event.take()
    }

    fn poll_timeout(&mut self) -> Option<Instant> {
        if self.session.is_idle() { self.not_before } else { self.session.poll_timeout() }
    }

    fn handle_timeout<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        if !self.session.is_idle() {
            self.session.handle_timeout(cx);
            self.settle(cx);
        } else if self.not_before.is_some_and(|instant| cx.now.has_reached(instant)) {
            self.not_before = None;
        }
    }
}

impl<C: Crypto, P: Authenticator<C>> Dtls<C, P> {
    fn connect<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        self.session.connect(cx, &Config::MESH, self.resumption.get());
    }

    /// Does what the session asks for and notes what became of it.
    fn settle<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        let session = &mut self.session;
        if let Some(refusal) = session.poll_refusal() {
            self.refusal.note((), refusal);
        }
        while let Some(event) = session.poll_event() {
            match event {
                Event::Work(_) => self.proof.work(cx, session),
                Event::Connected => {
                    self.event = Slot::Full(ChannelEvent::Opened);
                    self.renewed = true;
                    self.resumption = session.session_state().into();
                    (self.pause, self.not_before) = (None, None);
                }
                Event::Closed => {
                    self.event = Slot::Full(ChannelEvent::Lost);
                }
                Event::Failed(failure) => {
                    if let Some(refusal) = failure.refusal() {
                        self.refusal.note((), refusal);
                    }
                    // It may be the reason, or the server says that it is void.
                    self.resumption = Slot::Empty;
                    self.event = Slot::Full(ChannelEvent::Lost);
                    let pause = self.pause.map_or(FIRST_PAUSE, |last| last.doubled().min(LONGEST_PAUSE));
                    (self.pause, self.not_before) = (Some(pause), Some(cx.now + pause));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::{DtlsPsk, DtlsPublicKey, KeyPair, PreShared};
    use crate::config::{Identity, KeyRing};
    use sixlock_base::Counter;
    use sixlock_crypto::Soft;
    use sixlock_crypto::p256::P256 as _;
    use sixlock_dtls::{
        CertificateType, Certificates, Certified, Completion, CookieSecrets, Credentials, Listen,
        RawPublicKeys, ServerSession, Suites, TicketOffer, Trusted, Work, is_client_hello, listen, perform,
    };
    use sixlock_testing::{Authority, Rig};
    use sixlock_x509::{Clock, Purpose, Time, Trust};
    extern crate std;
    use std::boxed::Box;
    use std::vec;

    const KEY: &[u8] = b"0123456789abcdef";
    const DEVICE: [u8; 32] = [1; 32];
    const CLOUD: [u8; 32] = [2; 32];
    const AUTHORITY: [u8; 32] = [3; 32];

    fn point(secret: &[u8; 32]) -> [u8; 65] {
        Soft.p256_public_key(secret).unwrap()
    }

    /// The keys of the one with this private key, and that the other with that one is trusted: raw, or in certificates.
    fn keys(kind: CertificateType, secret: &'static [u8; 32], other: &[u8; 32], purpose: Purpose) -> KeyRing {
        let authority = Authority::new(AUTHORITY);
        let authorities = vec![&*authority.certificate().leak()].leak();
        let clock = Clock::At(Time::new(20_100, 0));
        KeyRing {
            secret,
            credentials: Credentials {
                raw_public_key: Some(point(secret)),
                certificates: vec![&*authority.issue(2, "own", &point(secret)).leak()].leak(),
                accepts: vec![kind].leak(),
                mutual: true,
                authorities: &[],
            },
            trusted: Trusted {
                raw_public_keys: vec![point(other)].leak(),
                certificates: Some(Trust { authorities, clock, purpose, name: None }),
            },
        }
    }

    type CloudSession = ServerSession<Soft, Option<Box<Handshake<Soft, Features<Certificates>>>>, Certified>;

    /// A device's way to a cloud that keeps one session.
    struct CloudConnection<P: Authenticator<Soft>> {
        channel: Dtls<Soft, P>,
        keys: &'static KeyRing,
        cloud: Option<CloudSession>,
        secrets: CookieSecrets,
        kept: Option<SessionState>,
        rig: Rig,
    }

    impl CloudConnection<PreShared> {
        fn psk() -> Self {
            let mut channel = DtlsPsk::NEW;
            channel.start(&Identity { name: b"device", key: KEY }).unwrap();
            Self::new(channel, CertificateType::RawPublicKey, &DEVICE)
        }
    }

    impl<K: KeyFeature> CloudConnection<KeyPair<K>> {
        /// With public keys of this kind; the cloud knows the device with the private key `known`.
        fn public(kind: CertificateType, known: &[u8; 32]) -> Self {
            let mut channel = DtlsPublicKey::NEW;
            let keys = Box::leak(Box::new(keys(kind, &DEVICE, &CLOUD, Purpose::Server)));
            channel.start(&&*keys).unwrap();
            Self::new(channel, kind, known)
        }
    }

    impl<P: Authenticator<Soft>> CloudConnection<P> {
        fn new(channel: Dtls<Soft, P>, kind: CertificateType, known: &[u8; 32]) -> Self {
            let mut rig = Rig::seeded(0);
            Self {
                channel,
                keys: Box::leak(Box::new(keys(kind, &CLOUD, known, Purpose::Client))),
                cloud: None,
                secrets: CookieSecrets::new(&mut rig.entropy),
                kept: None,
                rig,
            }
        }

        /// Opens the way and lets datagrams through until there are no more.
        fn open(&mut self) {
            let Self { channel, keys, cloud, secrets, kept, rig } = self;
            let cx = &mut rig.cx();
            channel.open(cx);
            let mut datagram = [0; 1280];
            while let Some(length) = channel.poll_transmit(cx, &mut datagram) {
                let datagram = &mut datagram[..length];
                let mut answer = [0; 1280];
                let answered = match is_client_hello(datagram)
                    .then(|| listen(cx, secrets, b"", datagram, &mut answer))
                {
                    Some(Listen::Reply(length) | Listen::Refuse(length, _)) => Some(length),
                    Some(Listen::Accept(hello)) => {
                        let config = Config { resumable: true, suites: Suites::ALL, ..Config::MESH };
                        let handshake = Some(Box::new(Handshake::with(&keys.credentials)));
                        *cloud = Some(ServerSession::server(cx, &hello, config, handshake));
                        None
                    }
                    Some(Listen::Drop(_)) => panic!("the device says hello as it should"),
                    None => {
                        cloud.as_mut().unwrap().handle_all(cx, datagram, |_| ());
                        None
                    }
                };
                let mut answered = answered.or_else(|| {
                    let session = cloud.as_mut()?;
                    if session.awaits_session() {
                        session
                            .complete(
                                cx,
                                Completion::Session {
                                    state: kept.as_ref(),
                                    id: None,
                                    ticket: TicketOffer::None,
                                },
                            )
                            .unwrap();
                    }
                    while let Some(Event::Work(work)) = session.poll_event() {
                        match work {
                            Work::Task(task) => {
                                let answer = perform(cx.crypto, cx.entropy, keys.secret, &keys.trusted, task);
                                session.complete(cx, Completion::Task(&answer)).unwrap();
                            }
                            _ => session.complete(cx, Completion::psk(Some(KEY))).unwrap(),
                        }
                    }
                    *kept = session.session_state().or(kept.take());
                    session.poll_transmit(cx, &mut answer)
                });
                while let Some(length) = answered {
                    channel.handle(cx, &mut answer[..length], |_, _| {});
                    answered = cloud.as_mut().and_then(|session| session.poll_transmit(cx, &mut answer));
                }
            }
        }

        /// The cloud closes the session.
        fn close(&mut self) {
            let Self { channel, cloud, rig, .. } = self;
            let cx = &mut rig.cx();
            let mut close = [0; 64];
            cloud.as_mut().unwrap().close();
            let length = cloud.as_mut().unwrap().poll_transmit(cx, &mut close).unwrap();
            channel.handle(cx, &mut close[..length], |_, _| {});
        }

        fn resumptions(&self) -> u32 {
            // Both ends count in the same place.
            self.rig.count(Counter::DtlsResumptions) / 2
        }

        fn lose_and_resume(mut self) {
            self.open();
            assert_eq!((self.channel.is_open(), self.resumptions()), (true, 0));
            for times in 1..4 {
                self.close();
                assert!(!self.channel.is_open());
                self.open();
                assert_eq!((self.channel.is_open(), self.resumptions()), (true, times));
            }
        }
    }

    /// Tries once a second to begin anew, as no answer comes; after how many seconds it does.
    fn rests(way: &mut CloudConnection<PreShared>) -> u32 {
        for second in 0.. {
            let begins = way.channel.reopen(&mut way.rig.cx());
            way.open();
            assert!(way.channel.is_open());
            if begins {
                return second;
            }
            way.rig.now = way.rig.now + Duration::from_secs(1);
        }
        unreachable!()
    }

    #[test]
    fn sessions_are_given_up_for_want_of_answers_ever_more_rarely_until_the_network_is_calm() {
        let mut way = CloudConnection::psk();
        way.open();
        assert_eq!(rests(&mut way), 0, "the cloud may have lost it");
        let doubling = [60, 120, 240, 480, 960, 1920, 3840, 7680, 14_400, 14_400];
        assert_eq!(doubling.map(|_| rests(&mut way)), doubling);
        // Some answers come at once also where many are lost.
        for at_once in
            [true, true, true, true, true, true, true, false, true, true, true, true, true, true, true]
        {
            way.channel.answered(at_once);
        }
        assert_eq!(rests(&mut way), 14_400);
        for _ in 0..CALM {
            way.channel.answered(true);
        }
        assert_eq!([rests(&mut way), rests(&mut way)], [0, 60]);
    }

    #[test]
    fn a_rest_that_is_over_does_not_begin_again_when_times_wrap() {
        let mut way = CloudConnection::psk();
        way.open();
        assert_eq!(rests(&mut way), 0);
        for days in [1, 20, 20] {
            way.rig.now = way.rig.now + Duration::from_secs(days * 86_400);
            way.channel.open(&mut way.rig.cx());
        }
        assert_eq!(rests(&mut way), 0);
    }

    #[test]
    fn a_lost_session_is_resumed() {
        CloudConnection::psk().lose_and_resume();
        CloudConnection::<KeyPair<RawPublicKeys>>::public(CertificateType::RawPublicKey, &DEVICE)
            .lose_and_resume();
        for kind in [CertificateType::RawPublicKey, CertificateType::X509] {
            CloudConnection::<KeyPair<Certificates>>::public(kind, &DEVICE).lose_and_resume();
        }
    }

    #[test]
    fn a_key_that_the_cloud_does_not_know_opens_nothing() {
        let mut way =
            CloudConnection::<KeyPair<RawPublicKeys>>::public(CertificateType::RawPublicKey, &AUTHORITY);
        way.open();
        assert!(!way.channel.is_open());
    }

    #[test]
    fn a_cloud_that_has_forgotten_the_session_gets_a_new_one() {
        let mut way = CloudConnection::psk();
        way.open();
        way.close();
        way.kept = None;
        way.open();
        assert_eq!((way.channel.is_open(), way.resumptions()), (true, 0));
    }
}

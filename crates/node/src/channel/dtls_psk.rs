use core::mem::take;

use heapless::Vec;
use sixlock_base::{Cx, Duration, Entropy, Instant, Slot};
use sixlock_crypto::{Crypto, wipe};
use sixlock_dtls::{
    ClientSession, Config, Event, Handshake, KeyLogEntry, MAX_PSK, Profile, RECORD_FRONT, Resuming,
    Resumption,
};

use super::{Channel, ChannelEvent};
use crate::config::{Identity, MAX_NAME, TooLong};

/// The pause after the first handshake that failed; it doubles with each further one.
const FIRST_PAUSE: Duration = Duration::from_secs(5);
/// The longest pause after a handshake that failed.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);

/// Through a DTLS session that is made anew whenever there is none, and can do what `P` says.
pub struct DtlsPsk<C: Crypto, P: Profile = Resuming> {
    identity: Vec<u8, MAX_NAME>,
    key: PreSharedKey,
    /// It is idle while there is none.
    session: ClientSession<C, Handshake<C, P::PublicKeys>, P>,
    /// What is left of the last session, to begin the next with.
    resumption: Slot<Resumption>,
    /// No handshake is begun before this.
    not_before: Option<Instant>,
    /// The last pause, if the last handshake failed.
    pause: Option<Duration>,
    event: Slot<ChannelEvent>,
    /// There is a session that was not told of yet.
    renewed: bool,
}

/// Wiped when dropped.
pub(crate) struct PreSharedKey(pub(crate) Vec<u8, MAX_PSK>);

impl Drop for PreSharedKey {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

impl<C: Crypto, P: Profile> Channel<C> for DtlsPsk<C, P> {
    type Access<'a> = Identity<'a>;

    const NEW: Self = Self {
        identity: Vec::new(),
        key: PreSharedKey(Vec::new()),
        session: ClientSession::new(Handshake::new()),
        resumption: Slot::Empty,
        not_before: None,
        pause: None,
        event: Slot::Empty,
        renewed: false,
    };

    fn start(&mut self, access: &Identity<'_>) -> Result<(), TooLong> {
        self.identity.extend_from_slice(access.name).map_err(|_| TooLong)?;
        self.key.0.extend_from_slice(access.key).map_err(|_| TooLong)
    }

    fn key_log(&self) -> Option<KeyLogEntry<'_>> {
        self.session.key_log()
    }

    fn is_open(&self) -> bool {
        self.session.is_connected()
    }

    fn open<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        let early = self.not_before.is_some_and(|instant| !cx.now.has_reached(instant));
        if self.session.is_idle() && !early {
            self.connect(cx);
        }
    }

    fn reopen<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        self.connect(cx);
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

    fn handle<E, N>(
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

    fn poll_renewed(&mut self) -> bool {
        take(&mut self.renewed)
    }

    fn poll_event(&mut self) -> Option<ChannelEvent> {
        self.event.take()
    }

    fn poll_timeout(&mut self) -> Option<Instant> {
        if self.session.is_idle() { self.not_before } else { self.session.poll_timeout() }
    }

    fn handle_timeout<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        if !self.session.is_idle() {
            self.session.handle_timeout(cx);
            self.settle(cx);
        } else if self.not_before.is_some_and(|instant| cx.now.has_reached(instant)) {
            self.not_before = None;
        }
    }
}

impl<C: Crypto, P: Profile> DtlsPsk<C, P> {
    fn connect<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        self.session.connect(cx, &Config::MESH, self.resumption.get());
    }

    /// Does what the session asks for and notes what became of it.
    fn settle<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        let session = &mut self.session;
        while let Some(event) = session.poll_event() {
            match event {
                Event::Work(_) => {
                    // A device has one key. Its names fit: they are bounded by less than what a handshake holds.
                    let _ = session.resume(cx, &self.identity, &self.key.0);
                }
                Event::Connected => {
                    self.event = Slot::Full(ChannelEvent::Opened);
                    self.renewed = true;
                    self.resumption = session.resumption().into();
                    (self.pause, self.not_before) = (None, None);
                }
                Event::Closed => {
                    self.event = Slot::Full(ChannelEvent::Lost);
                }
                Event::Failed(_) => {
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
    use sixlock_base::{Counter, Counters};
    use sixlock_crypto::Soft;
    use sixlock_dtls::{CookieSecrets, Listen, ServerSession, is_client_hello, listen};
    extern crate std;
    use std::boxed::Box;

    struct Counting(u8);

    impl Entropy for Counting {
        fn fill(&mut self, out: &mut [u8]) {
            out.iter_mut().for_each(|byte| {
                self.0 = self.0.wrapping_add(1);
                *byte = self.0;
            });
        }
    }

    const KEY: &[u8] = b"0123456789abcdef";

    /// A device's way to a cloud that keeps one session.
    struct Way {
        channel: DtlsPsk<Soft>,
        cloud: Option<ServerSession<Soft, Option<Box<Handshake<Soft>>>>>,
        secrets: CookieSecrets,
        kept: Option<Resumption>,
        entropy: Counting,
        counters: Counters,
    }

    impl Way {
        fn new() -> Self {
            let mut channel = DtlsPsk::NEW;
            channel.start(&Identity { name: b"device", key: KEY }).unwrap();
            let mut entropy = Counting(0);
            Self {
                channel,
                cloud: None,
                secrets: CookieSecrets::new(&mut entropy),
                kept: None,
                entropy,
                counters: Counters::new(),
            }
        }

        /// Opens the way and lets datagrams through until there are no more.
        fn open(&mut self) {
            let Self { channel, cloud, secrets, kept, entropy, counters } = self;
            let cx =
                &mut Cx { now: Instant::from_millis(0), crypto: &mut Soft, entropy, nv: &mut (), counters };
            channel.open(cx);
            let mut datagram = [0; 512];
            while let Some(length) = channel.poll_transmit(cx, &mut datagram) {
                let datagram = &mut datagram[..length];
                let mut answer = [0; 512];
                let answered = match is_client_hello(datagram)
                    .then(|| listen(cx, secrets, b"", datagram, &mut answer))
                {
                    Some(Listen::Reply(length)) => Some(length),
                    Some(Listen::Accept(hello)) => {
                        let config = Config { resumable: true, ..Config::MESH };
                        let handshake = Some(Box::new(Handshake::new()));
                        *cloud = Some(ServerSession::server(cx, &hello, config, handshake));
                        None
                    }
                    Some(Listen::Drop) => panic!("the device says hello as it should"),
                    None => {
                        cloud.as_mut().unwrap().handle(cx, datagram);
                        None
                    }
                };
                let answered = answered.or_else(|| {
                    let session = cloud.as_mut()?;
                    if session.awaits_session() {
                        session.resume_session(cx, kept.as_ref()).unwrap();
                    } else if let Some(Event::Work(_)) = session.poll_event() {
                        session.resume(cx, Some(KEY)).unwrap();
                    }
                    *kept = session.resumption().or(kept.take());
                    session.poll_transmit(cx, &mut answer)
                });
                if let Some(length) = answered {
                    channel.handle(cx, &mut answer[..length], |_, _| {});
                }
            }
        }

        /// The cloud closes the session.
        fn close(&mut self) {
            let Self { channel, cloud, entropy, counters, .. } = self;
            let cx =
                &mut Cx { now: Instant::from_millis(0), crypto: &mut Soft, entropy, nv: &mut (), counters };
            let mut close = [0; 64];
            cloud.as_mut().unwrap().close();
            let length = cloud.as_mut().unwrap().poll_transmit(cx, &mut close).unwrap();
            channel.handle(cx, &mut close[..length], |_, _| {});
        }

        fn resumptions(&self) -> u32 {
            // Both ends count in the same place.
            self.counters.get(Counter::DtlsResumptions) / 2
        }
    }

    #[test]
    fn a_lost_session_is_resumed() {
        let mut way = Way::new();
        way.open();
        assert_eq!((way.channel.is_open(), way.resumptions()), (true, 0));
        for times in 1..4 {
            way.close();
            assert!(!way.channel.is_open());
            way.open();
            assert_eq!((way.channel.is_open(), way.resumptions()), (true, times));
        }
    }

    #[test]
    fn a_cloud_that_has_forgotten_the_session_gets_a_new_one() {
        let mut way = Way::new();
        way.open();
        way.close();
        way.kept = None;
        way.open();
        assert_eq!((way.channel.is_open(), way.resumptions()), (true, 0));
    }
}

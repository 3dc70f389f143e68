//! The way to the cloud: in the clear, or through a DTLS session that is made anew whenever
//! there is none.

use sixlock_base::{Cx, Duration, Entropy, Instant};
use sixlock_crypto::{Crypto, wipe};
use sixlock_dtls::{
    ClientSession, Config, Event, Handshake, MASTER_SECRET, RECORD_FRONT, RECORD_OVERHEAD, Work,
};

use crate::config::{Access, PreSharedKey};

/// The pause after the first handshake that failed; it doubles with each further one.
const FIRST_PAUSE: Duration = Duration::from_secs(5);
/// The longest pause after a handshake that failed.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);

/// What opens the records of a session, for a key log; wiped when dropped.
pub struct SessionKeys {
    /// The random value that names the session.
    pub client_random: [u8; 32],
    /// Its master secret.
    pub master_secret: [u8; MASTER_SECRET],
}

impl Drop for SessionKeys {
    fn drop(&mut self) {
        wipe(&mut self.master_secret);
    }
}

/// What became of the way to the cloud.
pub(crate) enum ChannelEvent {
    /// It is open, newly.
    Opened(SessionKeys),
    /// It was open and no longer is.
    Lost,
}

/// The way to the cloud.
#[expect(clippy::large_enum_variant, reason = "a device has one, and no heap to box it on")]
pub(crate) enum Channel<C: Crypto> {
    Plain,
    DtlsPsk(Secured<C>),
}

pub(crate) struct Secured<C: Crypto> {
    identity: heapless::Vec<u8, { crate::config::MAX_NAME }>,
    key: PreSharedKey,
    config: Config,
    session: Option<ClientSession<C, Handshake<C>>>,
    /// No handshake is begun before this.
    not_before: Option<Instant>,
    pause: Duration,
    event: Option<ChannelEvent>,
}

impl<C: Crypto> Channel<C> {
    pub(crate) fn new(access: &Access, config: Config) -> Self {
        match access {
            Access::Plain { .. } => Self::Plain,
            Access::DtlsPsk { identity, key } => Self::DtlsPsk(Secured {
                identity: identity.clone(),
                key: key.clone(),
                config,
                session: None,
                not_before: None,
                pause: FIRST_PAUSE,
                event: None,
            }),
        }
    }

    /// Whether messages can be sent.
    pub(crate) fn is_open(&self) -> bool {
        match self {
            Self::Plain => true,
            Self::DtlsPsk(secured) => secured.session.as_ref().is_some_and(ClientSession::is_connected),
        }
    }

    /// Begins a handshake if there is no session and the pause after a failure is over.
    pub(crate) fn open<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        let Self::DtlsPsk(secured) = self else { return };
        let early = secured.not_before.is_some_and(|instant| !cx.now.has_reached(instant));
        if secured.session.is_none() && !early {
            secured.connect(cx);
        }
    }

    /// Gives the session up, which the cloud seems to have forgotten, and begins a new one.
    pub(crate) fn reopen<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        if let Self::DtlsPsk(secured) = self {
            secured.connect(cx);
        }
    }

    /// The room that protection needs before a message.
    pub(crate) fn front(&self) -> usize {
        match self {
            Self::Plain => 0,
            Self::DtlsPsk(_) => RECORD_FRONT,
        }
    }

    /// Protects the message of `length` bytes at `buffer[self.front()..]` in place; returns the datagram's length.
    pub(crate) fn seal<E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        buffer: &mut [u8],
        length: usize,
    ) -> Option<usize> {
        match self {
            Self::Plain => Some(length),
            Self::DtlsPsk(secured) => secured.session.as_mut()?.seal(cx, buffer, length).ok(),
        }
    }

    /// The length of the datagram that carries a message of `length` bytes.
    pub(crate) fn sealed_len(&self, length: usize) -> usize {
        match self {
            Self::Plain => length,
            Self::DtlsPsk(_) => length + RECORD_OVERHEAD,
        }
    }

    /// Takes a datagram and gives each message in it to `message`.
    pub(crate) fn handle<E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        datagram: &mut [u8],
        mut message: impl FnMut(&mut Cx<'_, C, E, N>, &[u8]),
    ) {
        let secured = match self {
            Self::Plain => return message(cx, datagram),
            Self::DtlsPsk(secured) => secured,
        };
        let mut rest = datagram;
        while let Some(session) = &mut secured.session
            && !rest.is_empty()
        {
            let received = session.handle(cx, rest);
            if let Some(data) = received.data {
                message(cx, data);
            }
            rest = received.rest;
            secured.settle(cx);
        }
    }

    /// Writes the next datagram of a handshake, or an alert; returns its length.
    pub(crate) fn poll_transmit<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        out: &mut [u8],
    ) -> Option<usize> {
        match self {
            Self::Plain => None,
            Self::DtlsPsk(secured) => secured.session.as_mut()?.poll_transmit(cx, out),
        }
    }

    /// What became of the session.
    pub(crate) fn poll_event(&mut self) -> Option<ChannelEvent> {
        match self {
            Self::Plain => None,
            Self::DtlsPsk(secured) => secured.event.take(),
        }
    }

    pub(crate) fn poll_timeout(&mut self) -> Option<Instant> {
        match self {
            Self::Plain => None,
            Self::DtlsPsk(Secured { session: Some(session), .. }) => session.poll_timeout(),
            Self::DtlsPsk(secured) => secured.not_before,
        }
    }

    pub(crate) fn handle_timeout<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        let Self::DtlsPsk(secured) = self else { return };
        if let Some(session) = &mut secured.session {
            session.handle_timeout(cx);
            secured.settle(cx);
        } else if secured.not_before.is_some_and(|instant| cx.now.has_reached(instant)) {
            secured.not_before = None;
        }
    }
}

impl<C: Crypto> Secured<C> {
    fn connect<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        let handshake = Handshake::new(cx.crypto);
        self.session = Some(ClientSession::client(cx, self.config, handshake));
    }

    /// Does what the session asks for and notes what became of it.
    fn settle<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        while let Some(session) = &mut self.session {
            match session.poll_event() {
                None => return,
                Some(Event::Work(Work::Psk { .. })) => {
                    // A device has one key. Its names fit: they are bounded by less than what a handshake holds.
                    let _ = session.resume(cx, &self.identity, self.key.bytes());
                }
                Some(Event::Connected) => {
                    let keys = session.key_log().map(|entry| SessionKeys {
                        client_random: *entry.client_random,
                        master_secret: *entry.master_secret,
                    });
                    self.event = keys.map(ChannelEvent::Opened);
                    (self.pause, self.not_before) = (FIRST_PAUSE, None);
                }
                Some(Event::Closed) => {
                    self.session = None;
                    self.event = Some(ChannelEvent::Lost);
                }
                Some(Event::Failed(_)) => {
                    self.session = None;
                    self.event = Some(ChannelEvent::Lost);
                    self.not_before = Some(cx.now + self.pause);
                    self.pause = self.pause.doubled().min(LONGEST_PAUSE);
                }
            }
        }
    }
}

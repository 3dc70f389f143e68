mod receive;
mod transmit;
mod work;

use core::mem::take;

use sixlock_base::{Counter, Cx, Instant, Slot};
use sixlock_crypto::Crypto;
use sixlock_dtls_msg::{Alert, AlertDescription};

use crate::engine::epochs::Epochs;
use crate::engine::flight::TimeoutAction;
use crate::engine::handshake::HandshakeSlot;
use crate::engine::record::{PLAIN, RecordCodec};
use crate::engine::role::{EpochsOf, HandshakeContext, HandshakeRole, Outcome, Parameters};
use crate::engine::round_trip::RoundTrips;
use crate::limit::MAX_CONTENT;
use crate::{ConnectionId, Event, Failure, KeptRefusal, Refusal};

/// How often a handshake starts over from a checkpoint because messages contradict each other.
const MAX_REWINDS: u8 = 4;
/// How much of the client's random value a session remembers to know its own hello by.
pub(crate) const RANDOM_PREFIX: usize = 8;

/// What a datagram held.
#[derive(Debug)]
#[must_use = "`rest` holds the records that were not looked at yet"]
pub struct Received<'d> {
    /// The application data of one record.
    pub data: Option<&'d mut [u8]>,
    /// Whether that record is newer than all before it: if it carries a connection id, the address that it came from is
    /// now the peer's ([RFC 9146 section 6](https://www.rfc-editor.org/rfc/rfc9146#section-6)).
    pub newest: bool,
    /// What was not looked at yet: hand it in again.
    pub rest: &'d mut [u8],
}

/// A session with one peer, of role `R`, whose handshake is in an `H`.
///
/// Its methods, in the order in which they are called:
///
/// 1. **Begin**, once: [`Session::connect`] of a client, [`Session::server`] of a server; then go on with 3.
/// 2. **Feed**, whenever something comes: a datagram by [`Session::handle_all`], or record by record by [`Session::handle`]; the time by
///    [`Session::handle_timeout`]; the answer to an event by [`Session::complete`]; data to send by [`Session::seal_into`] or
///    [`Session::seal`], and the end by [`Session::close`].
/// 3. **Poll**, after each of these: [`Session::poll_event`] until there is none, then [`Session::poll_transmit`] until there is none, and
///    [`Session::poll_timeout`] for when to call [`Session::handle_timeout`].
/// 4. **Ask**, at any time: [`Session::is_connected`], [`Session::is_over`], [`Session::max_data`], [`Session::overhead`]. A session that is over is
///    dropped, and another begins.
pub struct Session<C: Crypto, R: HandshakeRole, H> {
    pub(crate) role: R,
    pub(crate) handshake: H,
    pub(crate) phase: Phase,
    pub(crate) epochs: EpochsOf<C, R>,
    /// What stands in the peer's protected records.
    pub(crate) own_id: ConnectionId,
    /// The longest content that may be sent, and the longest that may come.
    pub(crate) send_limit: u16,
    pub(crate) receive_limit: u16,
    /// An alert to be sent, and in which epoch.
    pub(crate) alert: Option<(Alert, u16)>,
    pub(crate) pending: Pending,
    pub(crate) refusal: KeptRefusal,
    pub(crate) random_prefix: [u8; RANDOM_PREFIX],
    pub(crate) round_trip: R::RoundTrip,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    Over,
    Handshake,
    Connected,
}

/// Events not yet polled, in the order they are told.
pub(crate) struct Pending {
    pub(crate) work: bool,
    connected: bool,
    end: Slot<End>,
}

enum End {
    Closed,
    Failed(Failure),
}

impl<C: Crypto, R: HandshakeRole, H> Session<C, R, H> {
    /// A session that has not begun, and so is over. It is all zero bytes if `handshake` is.
    pub const fn new(handshake: H) -> Self {
        Self {
            role: R::OVER,
            handshake,
            phase: Phase::Over,
            epochs: Epochs::NONE,
            own_id: ConnectionId::EMPTY,
            send_limit: 0,
            receive_limit: 0,
            alert: None,
            pending: Pending { work: false, connected: false, end: Slot::Empty },
            refusal: KeptRefusal::NONE,
            random_prefix: [0; RANDOM_PREFIX],
            round_trip: R::RoundTrip::UNKNOWN,
        }
    }
}

impl<C: Crypto, R: HandshakeRole, H: HandshakeSlot<C, R::Version>> Session<C, R, H> {
    /// Begins the session's own part of a handshake that has begun.
    pub(crate) fn begin(&mut self, role: R) {
        self.role = role;
        self.phase = Phase::Handshake;
        self.epochs.begin();
        self.own_id = ConnectionId::EMPTY;
        (self.send_limit, self.receive_limit) = (MAX_CONTENT, MAX_CONTENT);
        self.alert = None;
        self.pending = Pending { work: false, connected: false, end: Slot::Empty };
        if let Some(handshake) = self.handshake.get() {
            self.random_prefix.copy_from_slice(&handshake.state.parameters.client_random()[..RANDOM_PREFIX]);
        }
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<Event<'_>> {
        if take(&mut self.pending.work)
            && let Some(handshake) = self.handshake.get()
            && let Some(work) = self.role.work(&handshake.state.parameters)
        {
            return Some(Event::Work(work));
        }
        if take(&mut self.pending.connected) {
            return Some(Event::Connected);
        }
        self.pending.end.take().map(|end| match end {
            End::Closed => Event::Closed,
            End::Failed(failure) => Event::Failed(failure),
        })
    }

    /// Why something that came was refused: the first since this was asked last. What ends the session stands in
    /// [`Event::Failed`] only. Small processors keep no reasons.
    pub fn poll_refusal(&mut self) -> Option<Refusal> {
        self.refusal.take().map(|(_, refusal)| refusal)
    }

    /// Whether data can be sent and received.
    pub fn is_connected(&self) -> bool {
        self.phase == Phase::Connected
    }

    /// Whether there is neither a connection nor a handshake: it has not begun, or it has ended.
    pub fn is_idle(&self) -> bool {
        self.phase == Phase::Over
    }

    /// Whether it holds what only handshakes need: its own, or that of a session before it.
    pub fn has_handshake(&self) -> bool {
        self.handshake.get().is_some()
    }

    /// Whether the session is over and has nothing more to send: it may be dropped.
    pub fn is_over(&self) -> bool {
        self.phase == Phase::Over && self.alert.is_none()
    }

    /// Protects the records from now on by the keys that can be derived now.
    fn protect(&mut self, crypto: &mut C) {
        let Some(handshake) = self.handshake.get() else { return };
        let parameters = &handshake.state.parameters;
        if R::CONNECTION_IDS {
            self.own_id = parameters.own_id();
        }
        if R::RECORD_LIMITS {
            (self.send_limit, self.receive_limit) = parameters.limits();
        }
        R::protect(crypto, parameters, &mut self.epochs);
    }

    /// Wipes the keys.
    #[inline(never)]
    fn unprotect(&mut self) {
        self.epochs.unprotect();
    }

    /// What stands in the peer's protected records.
    pub(crate) fn own_id(&self) -> &[u8] {
        if R::CONNECTION_IDS { self.own_id.bytes() } else { &[] }
    }

    /// The longest content that may be sent, and the longest that may come.
    fn limits(&self) -> (u16, u16) {
        if R::RECORD_LIMITS { (self.send_limit, self.receive_limit) } else { (MAX_CONTENT, MAX_CONTENT) }
    }

    /// The most data that [`Session::seal`] takes: what the peer asked for, or 16,384 bytes.
    pub fn max_data(&self) -> usize {
        self.limits().0.into()
    }

    /// What [`Session::seal`] adds to the data, in bytes.
    pub fn overhead(&self) -> usize {
        self.overhead_in(self.epochs.sending())
    }

    /// What protection adds to the content of a record of this epoch, in bytes.
    fn overhead_in(&self, epoch: u16) -> usize {
        let codec = self.epochs.get(epoch).and_then(|epoch| epoch.codec.get());
        codec.map_or(R::Codec::<C>::LEAST_OVERHEAD, RecordCodec::overhead)
    }

    /// Closes the session and says so to the peer.
    pub fn close(&mut self) {
        if self.phase == Phase::Connected {
            self.alert = Some((Alert::CLOSE_NOTIFY, self.epochs.sending()));
        }
        if self.phase != Phase::Over {
            self.end(End::Closed);
        }
    }

    /// When to call [`Session::handle_timeout`].
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.handshake.get()?.state.outgoing.deadline()
    }

    /// Does what is due now.
    pub fn handle_timeout<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        let Some(parts) = self.handshake.get_mut() else { return };
        if !parts.state.outgoing.deadline().is_some_and(|deadline| cx.now.has_reached(deadline)) {
            return;
        }
        if self.phase != Phase::Handshake {
            self.handshake.free();
            return;
        }
        match parts.state.outgoing.expire(&parts.state.config) {
            TimeoutAction::GiveUp => self.give_up(cx),
            TimeoutAction::Again => {
                cx.counters.count(Counter::DtlsRetransmissions);
                let outcome = self
                    .role
                    .retransmit(&mut HandshakeContext { crypto: cx.crypto, state: &mut parts.state });
                if let Outcome::Rewound(message_seq) = outcome {
                    parts.rewind(message_seq);
                }
            }
        }
    }

    /// Ends a handshake under way as when its time is up: the failure is what there is a clue of.
    pub fn give_up<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        let Some(parts) = self.handshake.get_mut().filter(|_| self.phase == Phase::Handshake) else { return };
        if parts.state.bad_records > 0 {
            return self.fail_authentication(cx);
        }
        let failure = *parts.state.clue.get().unwrap_or(&Failure::TimedOut);
        self.fail(cx, failure);
    }

    /// Ends the handshake because the peer does not know the key
    /// ([RFC 4279 section 2](https://www.rfc-editor.org/rfc/rfc4279#section-2)), or proves none.
    #[inline(never)]
    fn fail_authentication<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        let Some(handshake) = self.handshake.get() else { return };
        let (description, epoch) = handshake.state.parameters.alert(R::ALERT_EPOCH);
        let refusal = handshake.state.doubt.get().unwrap_or(Refusal::WrongKey);
        self.alert = Some((Alert::fatal(description), epoch));
        self.fail(cx, Failure::Authentication(refusal));
    }

    /// Ends a handshake that cannot go on, and tells the peer why.
    #[inline(never)]
    pub(crate) fn refuse<E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        description: AlertDescription,
        failure: Failure,
    ) {
        self.alert = Some((Alert::fatal(description), R::ALERT_EPOCH));
        self.fail(cx, failure);
    }

    fn fail<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>, failure: Failure) {
        if self.phase == Phase::Handshake {
            cx.counters.count(Counter::DtlsHandshakesFailed);
        }
        self.end(End::Failed(failure));
    }

    /// How much of the peer's part of the handshake was taken: 8 for each message, and one for each full eighth that is there of
    /// the message that is awaited. Nothing counts that was taken before, is not awaited or does not authenticate. It goes back if
    /// the handshake does. Zero without a handshake.
    pub fn progress(&self) -> u8 {
        let Some(parts) = self.handshake.get() else { return 0 };
        let next = parts.state.next_receive;
        let eighths =
            parts.state.parameters.eighths(next).or_else(|| parts.reassembly.eighths(next)).unwrap_or(0);
        u8::try_from(next).map_or(u8::MAX, |messages| messages.saturating_mul(8).saturating_add(eighths))
    }

    fn end(&mut self, end: End) {
        self.phase = Phase::Over;
        self.role = R::OVER;
        self.pending.work = false;
        self.pending.end = Slot::Full(end);
        if let Some(handshake) = self.handshake.get_mut() {
            handshake.state.outgoing.stop();
        }
        self.release();
    }

    /// Drops what a session that is over needs no longer.
    fn release(&mut self) {
        match self.alert {
            None => {
                self.handshake.free();
                self.unprotect();
            }
            Some((_, PLAIN)) => {}
            Some(_) => self.handshake.free(),
        }
    }
}

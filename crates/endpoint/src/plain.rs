//! CoAP without protection.

use sixlock_base::{Counter, Cx, Entropy, Instant};
use sixlock_coap::{Answer, Ended, ExchangeId, Exchanges, Request, RespondError, Token};
use sixlock_coap_msg::{Code, Message, OptionNumber, reset_for};
use sixlock_crypto::{Crypto, constant_time_eq};

use crate::id::PeerId;
use crate::reply::Reply;
use crate::table::{Queue, Slot, Table};
use crate::{Address, Config, Storage};

/// What a client repeats to show that it is where it says.
type Echo = [u8; 8];

struct Peer<C: Crypto, A: Address, S: Storage<C, A>, const RING: usize> {
    serial: u32,
    address: A,
    verified: bool,
    echo: Option<Echo>,
    exchanges: Exchanges<S::Response, RING>,
}

/// The peers that have sent a request lately.
pub(crate) struct Plain<C: Crypto, A: Address, S: Storage<C, A>, const RING: usize> {
    peers: S::Plain<Peer<C, A, S, RING>>,
    serial: u32,
    reply: Reply<A>,
}

/// Which peer, and which of its requests.
pub(crate) type PlainRequest<'d> = (Slot, u32, Request<'d>);

impl<C: Crypto, A: Address, S: Storage<C, A>, const RING: usize> Plain<C, A, S, RING> {
    pub(crate) fn new(config: &Config) -> Self {
        Self { peers: S::Plain::with_limit(config.max_plain), serial: 0, reply: Reply::none() }
    }

    pub(crate) fn handle<'d, E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        config: &Config,
        from: A,
        datagram: &'d [u8],
    ) -> Option<PlainRequest<'d>> {
        if config.max_plain == 0 {
            return None;
        }
        let slot = match self.peers.find(&from) {
            Some(slot) => slot,
            None => self.admit(cx, from, datagram)?,
        };
        let peer = self.peers.get_mut(slot)?;
        let request = peer.exchanges.handle(cx, &config.coap, datagram);
        let repeated = request.and_then(|request| request.message.value(OptionNumber::ECHO));
        if let (Some(echo), Some(repeated)) = (peer.echo, repeated) {
            peer.verified |= constant_time_eq(repeated.value, &echo);
        }
        let serial = peer.serial;
        self.peers.touch(slot, cx.now);
        self.settle(cx, slot);
        request.map(|request| (slot, serial, request))
    }

    /// Remembers whoever sent a request; rejects anything else without remembering anyone.
    fn admit<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>, from: A, datagram: &[u8]) -> Option<Slot> {
        let message = Message::parse(datagram);
        if message.is_err() {
            cx.counters.count(Counter::CoapMalformed);
        }
        if !message.is_ok_and(|message| message.code().is_request()) {
            let reset = reset_for(datagram)?;
            self.reply.room().get_mut(..reset.len())?.copy_from_slice(&reset);
            self.reply.set(from, reset.len());
            return None;
        }
        if self.peers.is_full() {
            let oldest = self.peers.least_recent(cx.now).map(|(slot, _)| slot);
            let idle =
                oldest.filter(|&slot| self.peers.get(slot).is_some_and(|peer| peer.exchanges.is_idle()));
            let Some(slot) = idle else {
                cx.counters.count(Counter::CoapExchangesFull);
                return None;
            };
            self.peers.remove(slot);
        }
        self.serial = self.serial.wrapping_add(1);
        let exchanges = Exchanges::new();
        let peer = Peer { serial: self.serial, address: from, verified: false, echo: None, exchanges };
        self.peers.insert(from, peer, cx.now)
    }

    fn settle<E, N>(&mut self, cx: &Cx<'_, C, E, N>, slot: Slot) {
        let Some(peer) = self.peers.get(slot) else { return };
        let (deadline, has_ended) = (peer.exchanges.poll_timeout(), peer.exchanges.has_ended());
        self.peers.set_deadline(slot, deadline, cx.now);
        self.peers.mark(slot, Queue::Transmit);
        if has_ended {
            self.peers.mark(slot, Queue::Event);
        }
    }

    pub(crate) fn poll_transmit<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        config: &Config,
        out: &mut [u8],
    ) -> Option<(A, usize)> {
        if let Some(reply) = self.reply.take(out) {
            return Some(reply);
        }
        while let Some(slot) = self.peers.take_marked(Queue::Transmit) {
            let Some(peer) = self.peers.get_mut(slot) else { continue };
            if let Some(len) = peer.exchanges.poll_transmit(cx, &config.coap, out) {
                let address = peer.address;
                self.settle(cx, slot);
                return Some((address, len));
            }
        }
        None
    }

    pub(crate) fn respond<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        slot: Slot,
        serial: u32,
        exchange: ExchangeId,
        answer: Answer<'_>,
    ) -> Result<(), RespondError> {
        let peer =
            self.peers.get_mut(slot).filter(|peer| peer.serial == serial).ok_or(RespondError::NotWaiting)?;
        let responded = peer.exchanges.respond(cx, exchange, answer);
        self.settle(cx, slot);
        responded
    }

    /// Asks the client to show that it is where it says
    /// ([RFC 9175 section 2.3](https://www.rfc-editor.org/rfc/rfc9175#section-2.3)).
    pub(crate) fn challenge<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        slot: Slot,
        serial: u32,
        exchange: ExchangeId,
        diagnostic: &[u8],
    ) -> Result<(), RespondError> {
        let peer =
            self.peers.get_mut(slot).filter(|peer| peer.serial == serial).ok_or(RespondError::NotWaiting)?;
        let echo = peer.echo.get_or_insert_with(|| {
            let mut echo = Echo::default();
            cx.entropy.fill(&mut echo);
            echo
        });
        let echo = *echo;
        let answer = Answer { echo: Some(&echo), payload: diagnostic, ..Code::UNAUTHORIZED.into() };
        self.respond(cx, slot, serial, exchange, answer)
    }

    /// Whether the client has shown that it is where it says.
    pub(crate) fn is_verified(&self, slot: Slot) -> bool {
        self.peers.get(slot).is_some_and(|peer| peer.verified)
    }

    pub(crate) fn notify<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        config: &Config,
        (slot, serial): (Slot, u32),
        token: Token,
        confirmable: bool,
        answer: Answer<'_>,
    ) -> Result<(), RespondError> {
        let peer =
            self.peers.get_mut(slot).filter(|peer| peer.serial == serial).ok_or(RespondError::NotWaiting)?;
        let notified = peer.exchanges.notify(cx, &config.coap, token, confirmable, answer);
        self.settle(cx, slot);
        notified
    }

    /// What became of a message that was sent unasked.
    pub(crate) fn poll_ended(&mut self) -> Option<(PeerId, Ended)> {
        while let Some(slot) = self.peers.take_marked(Queue::Event) {
            let Some(peer) = self.peers.get_mut(slot) else { continue };
            if let Some(ended) = peer.exchanges.poll_ended() {
                return Some((PeerId::plain(slot, peer.serial), ended));
            }
        }
        None
    }

    /// How many peers have exchanges under way.
    pub(crate) fn exchanges_under_way(&self) -> usize {
        self.peers.values().filter(|peer| !peer.exchanges.is_idle()).count()
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.peers.next_deadline()
    }

    pub(crate) fn handle_timeout<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        while let Some(slot) = self.peers.take_due(cx.now) {
            if let Some(peer) = self.peers.get_mut(slot) {
                peer.exchanges.handle_timeout(cx);
                self.settle(cx, slot);
            }
        }
    }
}

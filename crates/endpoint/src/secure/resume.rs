//! Sessions that are resumed: whose they are, and what is left of them.

use sixlock_base::{Cx, Duration, Entropy};
use sixlock_coap::ByteStore;
use sixlock_crypto::Crypto;
use sixlock_dtls::{Completion, Error, OptionalPart, ServerSession, SessionState, TicketOffer};

use super::{Peer, Secure};
use crate::id::{AuthenticationMethod, SessionId, Stage};
use crate::session_cache::SessionCache;
use crate::session_record::SessionIdentifier;
use crate::table::{Slot, Table};
use crate::tickets::{LONGEST_TICKET, OpenedTicket, Tickets};
use crate::traffic::Traffic;
use crate::{Address, Shard, Storage};

impl<C: Crypto, A: Address, S: Storage<C, A>, X: Traffic> Secure<C, A, S, X> {
    /// Looks for what is left of the session that the client at `slot` wants to resume, of which it says the `name` or has a ticket; without
    /// any it gets a new one.
    pub(super) fn look_for<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        slot: Slot,
        name: Option<SessionIdentifier>,
    ) {
        let own = self.shard();
        let Some(peer) = self.sessions.get_mut(slot) else { return };
        if let Some((name, identity, method)) = name.and_then(|name| self.session_cache.find(&name)) {
            peer.client.name(identity, method, Some(name));
            peer.pending.work = true;
        } else if let (Some(own), Some(name)) = (own, name)
            && let shard = own.of_session(&name)
            && shard != own.number()
        {
            peer.client.name_elsewhere(name);
            peer.pending.elsewhere = Some(shard);
        } else if let Some(opened) = presented(cx, &self.tickets, &self.session_cache, &peer.session) {
            let opened: OpenedTicket<S::Identity> = opened;
            peer.client.name(opened.left.identity.bytes(), opened.left.method, None);
            peer.pending.work = true;
        } else {
            // It has just asked.
            let _ = answer_hello(cx, own, promise(&self.tickets), peer, None);
        }
    }

    /// Gives the client at `slot` what is left of its session as a ticket.
    pub(super) fn give_ticket<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>, slot: Slot) {
        let Some(peer) = self.sessions.get_mut(slot) else { return };
        let (Some(tickets), Some(resumption)) = (self.tickets.get(), peer.session.session_state()) else {
            return;
        };
        let left = self.session_cache.left(resumption, peer.client.owner());
        let mut ticket = [0; LONGEST_TICKET];
        let length = tickets.seal(cx, &left, None, &mut ticket);
        let lifetime = self.session_cache.lifetime().millis() / 1000;
        // It has just asked.
        let _ = peer
            .session
            .complete(cx, Completion::Ticket { lifetime, ticket: ticket.get(..length).unwrap_or_default() });
    }

    pub(crate) fn provide_key<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        id: SessionId,
        key: Option<&[u8]>,
    ) -> Result<(), Error> {
        let own = self.shard();
        let peer = self.sessions.get_mut(id.slot).filter(|peer| peer.serial == id.serial);
        let peer = peer.ok_or(Error::NoWork)?;
        let resumed = if peer.session.awaits_session() {
            let named = peer.client.named();
            let opened: Option<OpenedTicket<S::Identity>> = match named {
                None => presented(cx, &self.tickets, &self.session_cache, &peer.session),
                Some(_) => None,
            };
            let opened = opened.filter(|opened| self.session_cache.is_key(cx, key, &opened.left.key));
            if let (Some(tickets), Some(opened)) = (self.tickets.get(), &opened) {
                let mut ticket = [0; LONGEST_TICKET];
                let mut offer = promise(&self.tickets);
                if opened.is_old {
                    let length = tickets.seal(cx, &opened.left, Some(opened), &mut ticket);
                    let ticket = ticket.get(..length).unwrap_or_default();
                    offer = TicketOffer::Renew { lifetime: opened.lifetime, ticket };
                }
                answer_hello(cx, own, offer, peer, Some(&opened.left.resumption))
            } else {
                let left = named.and_then(|name| self.session_cache.get(cx, &name, key));
                answer_hello(cx, own, promise(&self.tickets), peer, left)
            }
        } else {
            let resumed = peer.session.complete(cx, Completion::psk(key));
            if let (Ok(()), Some(key)) = (resumed, key) {
                peer.client.set_key(self.session_cache.fingerprint(cx, key));
            }
            resumed
        };
        self.settle(cx, id.slot);
        resumed
    }

    /// Nothing is said to a client that wants to resume a session: it says hello again, and perhaps the key is found then.
    pub(crate) fn look_up_failed<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        id: SessionId,
    ) -> Result<(), Error> {
        let peer = self.get_mut(id).ok_or(Error::NoWork)?;
        let gone_on = if peer.session.awaits_session() {
            peer.session.close();
            Ok(())
        } else {
            peer.session.complete(cx, Completion::NoPsk)
        };
        self.settle(cx, id.slot);
        gone_on
    }

    pub(crate) fn borrow<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        id: SessionId,
        lent: Option<(&[u8], Duration)>,
    ) -> Result<(), Error> {
        let own = self.shard();
        let peer = self.sessions.get_mut(id.slot).filter(|peer| peer.serial == id.serial);
        let peer = peer.filter(|peer| peer.session.awaits_session()).ok_or(Error::NoWork)?;
        if let Some((kept, left)) = lent {
            // What is malformed is not found.
            let _ = self.session_cache.restore(cx.now, kept, left);
        }
        let named = peer.client.named();
        if let Some((name, identity, method)) = named.and_then(|name| self.session_cache.find(&name)) {
            peer.client.name(identity, method, Some(name));
            peer.pending.work = true;
        } else {
            let _ = answer_hello(cx, own, promise(&self.tickets), peer, None);
        }
        self.settle(cx, id.slot);
        Ok(())
    }

    pub(crate) fn identify<E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        id: SessionId,
        (identity, method): (&[u8], AuthenticationMethod),
        key: &[u8],
    ) {
        let key = self.session_cache.fingerprint(cx, key);
        if let Some(peer) = self.get_mut(id).filter(|peer| peer.stage == Some(Stage::Handshake)) {
            peer.client.identify(identity, method);
            peer.client.set_key(key);
        }
    }
}

/// What the ticket says that a client presents, if it does and the ticket is good.
fn presented<C, A, S, E, N>(
    cx: &mut Cx<'_, C, E, N>,
    tickets: &S::Tickets,
    cache: &SessionCache<C, A, S>,
    session: &ServerSession<C, S::Handshake, S::Profile>,
) -> Option<OpenedTicket<S::Identity>>
where
    C: Crypto,
    A: Address,
    S: Storage<C, A>,
{
    tickets.get()?.open(cx, session.presented_ticket()?, cache.lifetime())
}

/// A ticket, for whoever takes one, where tickets are given.
fn promise<C: Crypto>(tickets: &impl OptionalPart<Tickets<C>>) -> TicketOffer<'static> {
    if tickets.get().is_some_and(Tickets::are_given) { TicketOffer::Promise } else { TicketOffer::None }
}

/// Answers a hello by what is left of the session that it names, or by a new session: also if DTLS does not take what is left.
fn answer_hello<C: Crypto, A: Address, S: Storage<C, A>, X, E: Entropy, N>(
    cx: &mut Cx<'_, C, E, N>,
    shard: Option<&Shard>,
    ticket: TicketOffer<'_>,
    peer: &mut Peer<C, A, S, X>,
    left: Option<&SessionState>,
) -> Result<(), Error> {
    let id = shard.map(|shard| shard.session_id(cx.entropy));
    let answered = peer.session.complete(cx, Completion::Session { state: left, id: id.as_ref(), ticket });
    peer.client.answered(peer.session.is_resuming());
    answered
}

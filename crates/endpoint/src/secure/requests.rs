//! Requests that came through sessions, and what is sent unasked: notifications, and requests.

use sixlock_base::{Cx, Entropy};
use sixlock_coap::{Answer, ExchangeId, Exchanges, OutgoingRequest, RespondError, Token};
use sixlock_coap_msg::Code;
use sixlock_crypto::Crypto;

use super::Secure;
use crate::id::{SessionId, Stage};
use crate::table::Table;
use crate::{Address, Config, Storage, UnderWay};

impl<C: Crypto, A: Address, S: Storage<C, A>, const RING: usize>
    Secure<C, A, S, Exchanges<S::Response, RING>>
{
    pub(crate) fn respond<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        id: SessionId,
        exchange: ExchangeId,
        answer: Answer<'_>,
    ) -> Result<(), RespondError> {
        let peer = self.get_mut(id).filter(|peer| peer.stage.is_some()).ok_or(RespondError::NotWaiting)?;
        // A client that takes short records only gets a short answer.
        let fits = answer.max_len() <= peer.session.max_data();
        let answer = if fits { answer } else { Code::INTERNAL_SERVER_ERROR.into() };
        let responded = peer.traffic.respond(cx, exchange, answer);
        self.settle(cx, id.slot);
        responded
    }

    pub(crate) fn notify<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        config: &Config,
        id: SessionId,
        token: Token,
        confirmable: bool,
        answer: Answer<'_>,
    ) -> Result<(), RespondError> {
        let traffic = self.traffic_for(id, answer.max_len())?;
        let notified = traffic.notify(cx, &config.coap, token, confirmable, answer);
        self.settle(cx, id.slot);
        notified
    }

    pub(crate) fn request<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        config: &Config,
        id: SessionId,
        token: Token,
        request: OutgoingRequest<'_>,
    ) -> Result<(), RespondError> {
        let traffic = self.traffic_for(id, request.max_len())?;
        let requested = traffic.request(cx, &config.coap, token, request);
        self.settle(cx, id.slot);
        requested
    }

    /// The exchanges of a session in which a message of this length may be sent unasked.
    fn traffic_for(
        &mut self,
        id: SessionId,
        length: usize,
    ) -> Result<&mut Exchanges<S::Response, RING>, RespondError> {
        let peer = self.get_mut(id).filter(|peer| peer.stage == Some(Stage::Connected));
        let peer = peer.ok_or(RespondError::NotWaiting)?;
        if length > peer.session.max_data() { Err(RespondError::TooLarge) } else { Ok(&mut peer.traffic) }
    }

    /// What is under way.
    pub(crate) fn under_way(&self) -> UnderWay {
        let all = || self.sessions.values();
        UnderWay {
            handshakes: self.handshakes as usize,
            buffers: all().filter(|peer| peer.session.has_handshake()).count(),
            exchanges: all().filter(|peer| !peer.traffic.is_idle()).count(),
        }
    }

    /// How long a message the client of a session takes.
    pub(crate) fn longest_answer(&self, id: SessionId) -> usize {
        let peer = self.sessions.get(id.slot).filter(|peer| peer.serial == id.serial);
        peer.map_or(0, |peer| peer.session.max_data())
    }
}

//! Requests, and their answers.

use std::net::SocketAddr;

use futures_util::FutureExt;
use sixlock_coap_msg::{Code, Message, OptionNumber};
use sixlock_endpoint::{Request, RequestId, Token};
use sixlock_telemetry::{Event, Scheme};

use crate::answer::Answer;
use crate::directory::Directory;
use crate::observation_id::ObservationId;
use crate::peer::Peer;
use crate::service::{Answering, Service};
use crate::serving::{Pending, Serving, ServingEvent};
use crate::sessions::Sessions;
use crate::shard::Shard;

/// What is said to people whose program does not show by itself that it is where it says, if it fits so many bytes.
fn diagnostic(longest: usize) -> &'static [u8] {
    const DIAGNOSTIC: &[u8] = b"repeat with Echo (RFC 9175)";
    let (echo, code) = (Some(&[0; 8][..]), Code::UNAUTHORIZED);
    let answer = sixlock_coap::Answer { echo, payload: DIAGNOSTIC, ..code.into() };
    if answer.max_len() <= longest { DIAGNOSTIC } else { &[] }
}

/// Returns who asks; `None` if it is a session of an identity that is not known.
fn peer_of(sessions: &Sessions, id: RequestId, from: SocketAddr) -> Option<Peer> {
    let Some(session) = id.session() else { return Some(Peer::plain(from)) };
    let (whose, association) = sessions.of(session)?;
    let (holder, credential) = whose?;
    let (holder, credential) = (Some(holder), Some(credential));
    Some(Peer { scheme: Scheme::Coaps, from, holder, credential, association })
}

impl<S: Service> Serving<S> {
    /// Begins to answer a request of `peer`, and returns the answer if it is there at once.
    fn begin(
        &mut self,
        now: sixlock_base::Instant,
        peer: Option<Peer>,
        Request { id, message, longest_answer, unverified, .. }: Request<'_, SocketAddr>,
    ) -> Option<(Pending, Answer)> {
        let refused = Pending { id, scheme: None, observes: None, longest: None };
        let Some(peer) = peer else {
            return Some((refused, Answer::new(Code::UNAUTHORIZED)));
        };
        if self.answers.len() >= self.most_under_way {
            return Some((refused, Answer::new(Code::SERVICE_UNAVAILABLE)));
        }
        let request = self.service.read(&message, longest_answer);
        let longest = unverified.filter(|_| message.code() == Code::GET);
        let observes = self.observe(now, id, &message, &peer, &request);
        let pending = Pending { id, scheme: Some(peer.scheme), observes, longest };
        match self.service.clone().answer(peer, request) {
            Answering::Now(answer) => Some((pending, answer)),
            Answering::Later(answer) => self.answers.begin_or_finish(async move { (pending, answer.await) }),
        }
    }

    /// Begins or ends an observation, if the request asks for it. Returns the one that it begins.
    fn observe(
        &mut self,
        now: sixlock_base::Instant,
        id: RequestId,
        message: &Message<'_>,
        peer: &Peer,
        request: &S::Request,
    ) -> Option<ObservationId> {
        let observe = message.value(OptionNumber::OBSERVE)?.uint()?;
        let key = (id.peer(), Token::of(message));
        match (observe, self.service.topic(request)) {
            (0, Some(topic)) => {
                self.skip_changes();
                let observes = self.observers.register(now, key, topic, peer, request);
                self.wait_for_changes();
                observes
            }
            (1, _) => {
                self.observers.remove(key.0, key.1);
                None
            }
            _ => None,
        }
    }
}

impl<S: Service, D: Directory> Shard<S, D> {
    /// Takes a request.
    pub(crate) fn on_request(&mut self, request: Request<'_, SocketAddr>) {
        let now = self.machine.lent.cx().now;
        let peer = peer_of(&self.machine.sessions, request.id, request.from);
        if let Some(answer) = self.serving.begin(now, peer, request) {
            self.on_answer(answer);
        }
    }

    /// Takes what there is for peers.
    pub(crate) fn on_serving(&mut self, event: ServingEvent<S>) {
        match event {
            ServingEvent::Answered(answer) => {
                answer.into_iter().for_each(|answer| self.on_answer(answer));
                // Posts that were stored together are answered together.
                while let Some(answer) = self.serving.answers.next().now_or_never() {
                    answer.into_iter().for_each(|answer| self.on_answer(answer));
                }
            }
            ServingEvent::Notification(Some((id, answer))) => self.on_notification(id, &answer),
            // Finding it panicked: the next change is told.
            ServingEvent::Notification(None) => {}
            ServingEvent::Changed(changed) => self.on_changed(changed),
        }
    }

    /// Finishes the requests under way. Handshakes under way begin anew with the next server.
    pub(crate) async fn finish_requests(&mut self) {
        while self.serving.under_way() > 0 {
            tokio::select! {
                answer = self.serving.answers.next() => {
                    answer.into_iter().for_each(|answer| self.on_answer(answer));
                    self.drain().await;
                }
                // A request that ends credentials is answered when each shard has closed what rests on them.
                revocation = self.authentication.revoked() => self.on_revoked(revocation).await,
            }
        }
    }

    /// Hands the endpoint an answer.
    fn on_answer(&mut self, (pending, answer): (Pending, Answer)) {
        let Pending { id, scheme, observes, longest } = pending;
        if let Some(scheme) = scheme {
            self.events.tell(Event::Answered { scheme, status: answer.status() });
        }
        let lent = answer.lend();
        let challenge = longest.filter(|longest| lent.max_len() > *longest);
        let is_observed = answer.code.is_success() && challenge.is_none();
        let observe = self.serving.settle(observes, is_observed, answer.about);
        let (endpoint, mut cx) = self.machine.endpoint();
        // If the peer is gone, so is the one that waits for the answer.
        let _ = match challenge {
            Some(longest) => endpoint.challenge(&mut cx, id, diagnostic(longest)),
            None => endpoint.respond(&mut cx, id, sixlock_coap::Answer { observe, ..lent }),
        };
        if let Some(ObservationId { peer, token, .. }) = observes {
            self.on_notified(peer, token);
        }
        if let Some(session) = id.session().filter(|_| answer.code.is_success()) {
            self.on_heard(session);
        }
    }
}

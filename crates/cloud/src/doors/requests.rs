//! Requests, and their answers.

use std::net::SocketAddr;

use futures_util::FutureExt;
use sixlock_coap_msg::{Code, OptionNumber};
use sixlock_endpoint::{Request, RequestId, Token};

use super::observers;
use super::serving::{Serving, ServingEvent};
use super::sessions::Sessions;
use super::shard::Shard;
use crate::coap::{self, Answer, Peer};
use sixlock_telemetry::Scheme;

/// A request that is being answered.
pub(super) struct Pending {
    id: RequestId,
    /// What it begins to observe.
    observes: Option<observers::Id>,
    /// How long an answer may be, if its client is not known to be where it says and may be asked.
    longest: Option<usize>,
}

impl Pending {
    const fn new(id: RequestId) -> Self {
        Self { id, observes: None, longest: None }
    }
}

/// What is said to people whose program does not show by itself that it is where it says, if it fits so many bytes.
fn diagnostic(longest: usize) -> &'static [u8] {
    const DIAGNOSTIC: &[u8] = b"repeat with Echo (RFC 9175)";
    let (echo, code) = (Some(&[0; 8][..]), Code::UNAUTHORIZED);
    let answer = sixlock_coap::Answer { echo, payload: DIAGNOSTIC, ..code.into() };
    if answer.max_len() <= longest { DIAGNOSTIC } else { &[] }
}

/// Returns who asks; `None` if it is a session of an identity that is not known.
fn peer_of(sessions: &Sessions, id: RequestId, from: SocketAddr) -> Option<Peer> {
    let Some(session) = id.session() else {
        let association = coap::association_of(from);
        return Some(Peer { scheme: Scheme::Coap, from, resource: None, association });
    };
    let (resource, association) = sessions.of(session)?;
    Some(Peer { scheme: Scheme::Coaps, from, resource: Some(resource?), association })
}

impl Serving {
    /// Begins to answer a request of `peer`, and returns the answer if it is there at once.
    fn begin(
        &mut self,
        now: sixlock_base::Instant,
        peer: Option<Peer>,
        Request { id, message, longest_answer, unverified, .. }: Request<'_, SocketAddr>,
    ) -> Option<(Pending, Answer)> {
        let pending = Pending::new(id);
        let Some(peer) = peer else {
            return Some((pending, Answer::bare(Code::UNAUTHORIZED)));
        };
        if self.answers.len() >= self.most_under_way {
            return Some((pending, Answer::bare(Code::SERVICE_UNAVAILABLE)));
        }
        let request = coap::Request::read(&message, longest_answer);
        let longest = unverified.filter(|_| request.is_get());
        if let Some(answer) = self.devices.answer_at_once(peer.scheme, &request) {
            return Some((Pending { longest, ..pending }, answer));
        }
        let observe = message.value(OptionNumber::OBSERVE).and_then(|observe| observe.uint());
        let key = (id.peer(), Token::of(&message));
        let observes = match (observe, request.observable()) {
            (Some(0), Some(stream)) => self.observers.register(now, key, stream, &peer, &request),
            (Some(1), _) => {
                self.observers.remove(key.0, key.1);
                None
            }
            _ => None,
        };
        let (pending, devices) = (Pending { id, observes, longest }, self.devices.clone());
        self.answers.begin_or_finish(async move { (pending, devices.answer(peer, request).await) })
    }
}

impl Shard {
    /// Takes a request.
    pub(super) fn on_request(&mut self, request: Request<'_, SocketAddr>) {
        let now = self.machine.lent.cx().now;
        if request.message.value(OptionNumber::OBSERVE).is_some() && self.serving.observers.is_empty() {
            // Observers are told of what is newer than the answer that they get now.
            self.serving.skip_changes();
        }
        let peer = peer_of(&self.machine.sessions, request.id, request.from);
        if let Some(answer) = self.serving.begin(now, peer, request) {
            self.on_answer(answer);
        }
    }

    /// Takes what there is for peers.
    pub(super) fn on_serving(&mut self, event: ServingEvent) {
        match event {
            ServingEvent::Answered(answer) => {
                answer.into_iter().for_each(|answer| self.on_answer(answer));
                // Posts that were stored together are answered together.
                while let Some(answer) = self.serving.answers.next().now_or_never() {
                    answer.into_iter().for_each(|answer| self.on_answer(answer));
                }
            }
            ServingEvent::Notification(Some((id, answer))) => self.on_notification(id, &answer),
            ServingEvent::StreamsChanged(Some(changed)) => self.on_streams_changed(&changed),
            ServingEvent::PointsAdded => self.serving.look_for_changes(),
            // It panicked. A client that gets no answer asks again.
            ServingEvent::Notification(None) | ServingEvent::StreamsChanged(None) => {}
        }
    }

    /// Finishes the requests under way. Handshakes under way begin anew with the next server.
    pub(super) async fn finish_requests(&mut self) {
        while self.serving.under_way() > 0 {
            let answer = self.serving.answers.next().await;
            answer.into_iter().for_each(|answer| self.on_answer(answer));
            self.drain().await;
        }
    }

    /// Hands the endpoint an answer.
    fn on_answer(&mut self, (Pending { id, observes, longest }, answer): (Pending, Answer)) {
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
        if let Some(observers::Id { peer, token, .. }) = observes {
            self.on_told(peer, token);
        }
    }
}

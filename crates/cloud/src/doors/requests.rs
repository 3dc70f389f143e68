//! Requests, and their answers.

use std::net::SocketAddr;
use std::sync::Arc;

use sixlock_coap_msg::{Code, OptionNumber};
use sixlock_endpoint::{Request, RequestId, Token};
use sixlock_telemetry::Scheme;

use super::Doors;
use super::observers::{self, Observers};
use super::sessions::Sessions;
use super::work::Work;
use crate::coap::{self, Answer, Devices, Peer};

/// A request that is being answered.
pub(super) struct Asked {
    id: RequestId,
    /// What it begins to observe.
    observes: Option<observers::Id>,
    /// How long an answer may be, if its client is not known to be where it says and may be asked.
    longest: Option<usize>,
}

/// Begins to answer `request`, and tells the answer if it is there at once.
pub(super) fn ask(
    (answers, most): (&mut Work<(Asked, Answer)>, usize),
    devices: &Arc<Devices>,
    sessions: &Sessions,
    observers: &mut Observers,
    now: sixlock_base::Instant,
    Request { id, from, message, longest_answer, unverified }: Request<'_, SocketAddr>,
) -> Option<(Asked, Answer)> {
    let peer = match id.session() {
        None => {
            let association = coap::association_of(from);
            Some(Peer { scheme: Scheme::Coap, from, resource: None, association })
        }
        Some(session) => sessions.of(session).and_then(|(resource, association)| {
            Some(Peer { scheme: Scheme::Coaps, from, resource: Some(resource?), association })
        }),
    };
    let bare = Asked { id, observes: None, longest: None };
    let Some(peer) = peer else {
        return Some((bare, Answer::bare(Code::UNAUTHORIZED)));
    };
    if answers.len() >= most {
        return Some((bare, Answer::bare(Code::SERVICE_UNAVAILABLE)));
    }
    let request = coap::Request::read(&message, longest_answer);
    let longest = unverified.filter(|_| request.is_get());
    if let Some(answer) = devices.answer_at_once(peer.scheme, &request) {
        return Some((Asked { longest, ..bare }, answer));
    }
    let observe = message.value(OptionNumber::OBSERVE).and_then(|observe| observe.uint());
    let key = (id.peer(), Token::of(&message));
    let observes = match (observe, request.observable()) {
        (Some(0), Some(stream)) => observers.register(now, key, stream, &peer, &request),
        (Some(1), _) => {
            observers.remove(key.0, key.1);
            None
        }
        _ => None,
    };
    let (asked, devices) = (Asked { id, observes, longest }, devices.clone());
    answers.begin_or_finish(async move { (asked, devices.answer(peer, request).await) })
}

/// What is said to people whose program does not show by itself that it is where it says, if it fits so many bytes.
fn diagnostic(longest: usize) -> &'static [u8] {
    const DIAGNOSTIC: &[u8] = b"repeat with Echo (RFC 9175)";
    let (echo, code) = (Some(&[0; 8][..]), Code::UNAUTHORIZED);
    let answer = sixlock_coap::Answer { echo, payload: DIAGNOSTIC, ..code.into() };
    if answer.max_len() <= longest { DIAGNOSTIC } else { &[] }
}

impl Doors {
    /// Hands the endpoint an answer; nothing, if finding it panicked: then its client asks again.
    pub(super) fn answered(&mut self, answer: Option<(Asked, Answer)>) {
        let Some((Asked { id, observes, longest }, answer)) = answer else { return };
        let lent = answer.lend();
        let challenge = longest.filter(|longest| lent.max_len() > *longest);
        let observe = match observes {
            Some(id) if challenge.is_some() || !answer.code.is_success() => {
                self.observers.end(id);
                None
            }
            observes => observes.map(|_| 0),
        };
        if let (Some(id), Some(_), Some(resource)) = (observes, observe, answer.about) {
            self.observers.admit(id, resource);
        }
        // If the peer is gone, so is the one that waits for the answer.
        let _ = match challenge {
            Some(longest) => self.endpoint.challenge(&mut self.lent.cx(), id, diagnostic(longest)),
            None => self.endpoint.respond(&mut self.lent.cx(), id, sixlock_coap::Answer { observe, ..lent }),
        };
        if let Some(observers::Id { peer, token, .. }) = observes {
            self.told(peer, token);
        }
    }
}

//! What the cloud keeps of accepted requests: see decision 2.

use core::net::SocketAddrV6;
use std::collections::VecDeque;

use sixlock_coap_msg::Message;
use sixlock_endpoint::{RequestId, SessionId};

use crate::time::{Span, Time};

/// How long a request is known again: EXCHANGE_LIFETIME
/// ([RFC 7252 section 4.8.2](https://www.rfc-editor.org/rfc/rfc7252#section-4.8.2)).
const KEPT: Span = Span::from_secs(247);

/// In which session, or from which address, a request came.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Association {
    Session(SessionId),
    Address(SocketAddrV6),
    /// In a session that the endpoint has forgotten, which may give its id to another.
    Forgotten,
}

/// A request that was accepted, as it came last.
struct Receipt {
    time: Time,
    association: Association,
    message_id: u16,
    token: Vec<u8>,
    payload: Vec<u8>,
}

/// What a request is to who keeps receipts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Novelty {
    /// It was not accepted before.
    New,
    /// It was accepted before, and has been sent anew in another session.
    SentAnew,
    /// It was accepted before, in the same message: whoever handed it out should have known.
    HandedOutAgain,
}

/// The receipts of one node's requests.
#[derive(Default)]
pub(crate) struct Receipts(VecDeque<Receipt>);

impl Receipts {
    /// The endpoint forgets its sessions.
    pub(crate) fn forget_sessions(&mut self) {
        for receipt in &mut self.0 {
            if let Association::Session(_) = receipt.association {
                receipt.association = Association::Forgotten;
            }
        }
    }

    /// Keeps a receipt of a request, and says whether it was accepted before.
    pub(crate) fn insert(
        &mut self,
        now: Time,
        id: RequestId,
        from: SocketAddrV6,
        message: &Message<'_>,
    ) -> Novelty {
        while self.0.front().is_some_and(|oldest| now.since(oldest.time) > KEPT) {
            self.0.pop_front();
        }
        let association = id.session().map_or(Association::Address(from), Association::Session);
        let receipt = Receipt {
            time: now,
            association,
            message_id: message.id(),
            token: message.token().to_vec(),
            payload: message.payload().to_vec(),
        };
        let known = self
            .0
            .iter()
            .position(|known| (&known.token, &known.payload) == (&receipt.token, &receipt.payload));
        let Some(known) = known.and_then(|at| self.0.remove(at)) else {
            self.0.push_back(receipt);
            return Novelty::New;
        };
        let novelty = match (known.association == association, known.message_id == receipt.message_id) {
            (true, true) => Novelty::HandedOutAgain,
            (true, false) => Novelty::New,
            (false, _) => Novelty::SentAnew,
        };
        self.0.push_back(receipt);
        novelty
    }
}

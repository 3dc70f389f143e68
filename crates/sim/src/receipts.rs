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
}

/// A request that was accepted, as it came last.
struct Receipt {
    time: Time,
    association: Association,
    message_id: u16,
    token: Vec<u8>,
    payload: Vec<u8>,
}

/// The receipts of one node's requests.
#[derive(Default)]
pub(crate) struct Receipts(VecDeque<Receipt>);

impl Receipts {
    /// Keeps a receipt of a request. Returns false if the request was accepted before: it is the same message, or it has been sent
    /// anew in another session.
    pub(crate) fn insert(
        &mut self,
        now: Time,
        id: RequestId,
        from: SocketAddrV6,
        message: &Message<'_>,
    ) -> bool {
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
            return true;
        };
        let is_new = known.association == association && known.message_id != receipt.message_id;
        self.0.push_back(receipt);
        is_new
    }
}

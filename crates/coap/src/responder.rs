use sixlock_base::{Counter, Cx, Entropy};
use sixlock_coap_msg::{BuildError, Builder, Code, Message, OptionNumber, Type, reset_for};

use crate::reliability::MessageIds;
use crate::server::refusal;

/// Answers requests of any number of peers at once, and remembers none of them: for requests that may be done twice,
/// because they change nothing
/// ([RFC 7252 section 4.5](https://www.rfc-editor.org/rfc/rfc7252#section-4.5)).
///
/// Every response travels with the acknowledgement of its request, so there is nothing to be sent again either.
#[derive(Debug)]
pub struct Responder {
    ids: MessageIds,
}

impl Responder {
    /// A server that has answered nothing yet.
    pub const fn new() -> Self {
        Self { ids: MessageIds::new() }
    }

    /// Takes a datagram and fills `out` with what to send back, if anything; returns its length. The response to a
    /// request is what `answer` makes of it: its code, before the options and the payload are written.
    /// `critical_options` are those that `answer` knows: a request with another one is refused.
    pub fn handle<C, E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        critical_options: &[OptionNumber],
        datagram: &[u8],
        out: &mut [u8],
        answer: impl FnOnce(&Message<'_>, Response<'_>) -> Result<usize, BuildError>,
    ) -> Option<usize> {
        let Ok(message) = Message::parse(datagram) else {
            cx.counters.count(Counter::CoapMalformed);
            return reset(datagram, out);
        };
        let confirmable = message.message_type() == Type::Confirmable;
        if !message.code().is_request() || !confirmable && message.message_type() != Type::NonConfirmable {
            // A confirmable message that asks nothing is a ping; the rest answers to nothing that was asked.
            return reset(datagram, out);
        }
        let refused = refusal(&message, critical_options);
        if refused.is_some() && !confirmable {
            cx.counters.count(Counter::CoapMalformed);
            return None;
        }
        let (kind, id) = match confirmable {
            true => (Type::Acknowledgement, message.id()),
            false => (Type::NonConfirmable, self.ids.next(cx)),
        };
        let response = Response::new(kind, id, message.token(), out);
        match refused {
            Some(code) => response.with_code(code).map(Builder::finish),
            None => answer(&message, response),
        }
        .ok()
    }

    /// The id of a message that answers nothing.
    pub(crate) fn next_id<C, E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>) -> u16 {
        self.ids.next(cx)
    }
}

impl Default for Responder {
    fn default() -> Self {
        Self::new()
    }
}

/// The response to a request, or a notification of its resource, to be begun with its code.
#[derive(Debug)]
pub struct Response<'a> {
    kind: Type,
    id: u16,
    token: &'a [u8],
    out: &'a mut [u8],
}

impl<'a> Response<'a> {
    pub(crate) const fn new(kind: Type, id: u16, token: &'a [u8], out: &'a mut [u8]) -> Self {
        Self { kind, id, token, out }
    }

    /// Begins the response: options and payload follow.
    pub fn with_code(self, code: Code) -> Result<Builder<'a>, BuildError> {
        Builder::new(self.out, self.kind, code, self.id, self.token)
    }
}

fn reset(datagram: &[u8], out: &mut [u8]) -> Option<usize> {
    let reset = reset_for(datagram)?;
    out.get_mut(..reset.len())?.copy_from_slice(&reset);
    Some(reset.len())
}

use sixlock_base::{Duration, Instant};
use sixlock_coap_msg::{HEADER, Message, OptionNumber, Type, empty};

use crate::client::TOKEN;

/// How long the numbers of notifications tell their order
/// ([RFC 7641 section 3.4](https://www.rfc-editor.org/rfc/rfc7641#section-3.4)).
const ORDERED_FOR: Duration = Duration::from_secs(128);
/// Half of the numbers that there are.
const HALF: u32 = 1 << 23;

/// The notifications of a resource that a client observes: which messages they are, and in which order.
#[derive(Clone, Copy, Debug)]
pub struct Notifications {
    token: [u8; TOKEN],
    number: u32,
    at: Instant,
}

impl Notifications {
    /// Those that follow `response`, which answers a request with this token at the time `now`; `None` if it says that the server tells of no
    /// changes.
    pub fn after(response: &Message<'_>, token: [u8; TOKEN], now: Instant) -> Option<Self> {
        Some(Self { token, number: number(response)?, at: now })
    }

    /// The token of the request that they answer.
    pub const fn token(&self) -> [u8; TOKEN] {
        self.token
    }

    /// Whether a message is one of them. One that is confirmable is to be answered with [`Notifications::acknowledgement`].
    pub fn include(&self, message: &Message<'_>) -> bool {
        let kind = matches!(message.message_type(), Type::Confirmable | Type::NonConfirmable);
        kind && message.code().is_response() && message.token() == self.token
    }

    /// The acknowledgement of a notification, if it is to be acknowledged.
    pub fn acknowledgement(message: &Message<'_>) -> Option<[u8; HEADER]> {
        (message.message_type() == Type::Confirmable).then(|| empty(Type::Acknowledgement, message.id()))
    }

    /// Whether a notification that comes at the time `now` tells of a later state than those before, which it is noted as then. One without
    /// a number is the last.
    pub fn is_newer(&mut self, notification: &Message<'_>, now: Instant) -> bool {
        let Some(number) = number(notification) else { return true };
        let ahead = number.wrapping_sub(self.number) & (2 * HALF - 1);
        let is_newer = (1..HALF).contains(&ahead) || now.since(self.at) > ORDERED_FOR;
        if is_newer {
            (self.number, self.at) = (number, now);
        }
        is_newer
    }
}

/// The value of a message's Observe option.
fn number(message: &Message<'_>) -> Option<u32> {
    message.value(OptionNumber::OBSERVE)?.uint()
}

use sixlock_base::{Cx, Duration, Entropy, Instant};

/// When confirmable messages are sent again
/// ([RFC 7252 section 4.8](https://www.rfc-editor.org/rfc/rfc7252#section-4.8)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// The least time to the first retransmission: ACK_TIMEOUT.
    pub ack_timeout: Duration,
    /// The most that is randomly added to it: ACK_TIMEOUT × (ACK_RANDOM_FACTOR - 1).
    pub ack_random: Duration,
    /// How often a message is sent again: MAX_RETRANSMIT.
    pub max_retransmit: u8,
}

impl Transmission {
    /// The defaults of RFC 7252.
    pub const DEFAULT: Self =
        Self { ack_timeout: Duration::from_secs(2), ack_random: Duration::from_secs(1), max_retransmit: 4 };
}

impl Default for Transmission {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// When one confirmable message is sent again. A server has several for each of its peers, so it takes 8 bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schedule {
    pub(crate) deadline: Instant,
    /// In milliseconds, the lowest byte first: no wait is longer than 4.6 hours.
    timeout: [u8; 3],
    left: u8,
}

const _: () = assert!(size_of::<Schedule>() == 8);

impl Schedule {
    /// That of no message.
    pub(crate) const fn none(now: Instant) -> Self {
        Self { deadline: now, timeout: [0; 3], left: 0 }
    }

    /// The schedule of a message sent now.
    pub(crate) fn start<C, E: Entropy, N>(cx: &mut Cx<'_, C, E, N>, transmission: &Transmission) -> Self {
        let random = match transmission.ack_random.millis() {
            0 => 0,
            span => cx.entropy.next_u32() % span,
        };
        let timeout = Duration::from_millis(transmission.ack_timeout.millis().saturating_add(random));
        Self { deadline: cx.now + timeout, timeout: to_bytes(timeout), left: transmission.max_retransmit }
    }

    /// Moves on at the deadline: whether the message is to be sent again.
    pub(crate) fn advance(&mut self, now: Instant) -> bool {
        let Some(left) = self.left.checked_sub(1) else { return false };
        self.left = left;
        let [a, b, c] = self.timeout;
        let timeout = Duration::from_millis(u32::from_le_bytes([a, b, c, 0])).doubled();
        (self.deadline, self.timeout) = (now + timeout, to_bytes(timeout));
        true
    }
}

/// A wait in milliseconds, or the longest that three bytes hold.
const fn to_bytes(timeout: Duration) -> [u8; 3] {
    match timeout.millis().to_le_bytes() {
        [a, b, c, 0] => [a, b, c],
        _ => [u8::MAX; 3],
    }
}

/// Message ids, from a random one on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MessageIds(Option<u16>);

impl MessageIds {
    pub(crate) const fn new() -> Self {
        Self(None)
    }

    /// The last one that was given.
    pub(crate) const fn last(self) -> Option<u16> {
        self.0
    }

    pub(crate) fn next<C, E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>) -> u16 {
        let id = match self.0 {
            Some(last) => last.wrapping_add(1),
            None => cx.entropy.next_u32() as u16,
        };
        self.0 = Some(id);
        id
    }
}

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

/// When one confirmable message is sent again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schedule {
    timeout: Duration,
    pub(crate) deadline: Instant,
    left: u8,
}

impl Schedule {
    /// The schedule of a message sent now.
    pub(crate) fn start<C, E: Entropy, N>(cx: &mut Cx<'_, C, E, N>, transmission: &Transmission) -> Self {
        let random = match transmission.ack_random.millis() {
            0 => 0,
            span => cx.entropy.next_u32() % span,
        };
        let timeout = Duration::from_millis(transmission.ack_timeout.millis().saturating_add(random));
        Self { timeout, deadline: cx.now + timeout, left: transmission.max_retransmit }
    }

    /// Moves on at the deadline: whether the message is to be sent again.
    pub(crate) fn advance(&mut self, now: Instant) -> bool {
        let Some(left) = self.left.checked_sub(1) else { return false };
        self.left = left;
        self.timeout = self.timeout.doubled();
        self.deadline = now + self.timeout;
        true
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

//! How much may be sent to where a client is.

/// How many times as many bytes as came from an address may be sent there, before its client has shown that it receives there.
pub(crate) const AMPLIFICATION: usize = 3;

/// The way to the client of a session. When the client's address has changed, anyone on the path may have changed it, so that a
/// stranger is sent what the client asked for: until something that was sent there has been answered, no more than
/// [`AMPLIFICATION`] times the bytes of UDP's payload that came from there with data of the session.
#[derive(Clone, Copy)]
pub(crate) struct Path {
    /// How many bytes may be sent, or [`Path::PROVED`]'s number. Two bytes are enough: no datagram is longer.
    limit: u16,
}

impl Path {
    /// The client receives: it has returned a cookie, or answered.
    pub(crate) const PROVED: Self = Self { limit: u16::MAX };
    /// Nobody knows whether it does, and nothing has come from there yet.
    pub(crate) const UNPROVED: Self = Self { limit: 0 };

    pub(super) const fn is_proved(self) -> bool {
        self.limit == Self::PROVED.limit
    }

    /// So many bytes have come from there.
    pub(super) fn received(&mut self, bytes: usize) {
        if !self.is_proved() {
            let limit = usize::from(self.limit).saturating_add(bytes.saturating_mul(AMPLIFICATION));
            self.limit = u16::try_from(limit).unwrap_or(u16::MAX).min(u16::MAX - 1);
        }
    }

    /// How many of `room` bytes a datagram may have now.
    pub(super) fn room(self, room: usize) -> usize {
        if self.is_proved() { room } else { room.min(self.limit.into()) }
    }

    /// Takes note of a datagram of so many bytes that is to be sent; false if it may not be.
    pub(super) fn admits(&mut self, bytes: usize) -> bool {
        if self.is_proved() {
            return true;
        }
        let left = u16::try_from(bytes).ok().and_then(|bytes| self.limit.checked_sub(bytes));
        self.limit = left.unwrap_or(self.limit);
        left.is_some()
    }
}

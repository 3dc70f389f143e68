//! How much may be sent to where a client is.

/// How many times as many bytes as came from an address may be sent there, before its client has shown that it receives there.
pub(crate) const AMPLIFICATION: usize = 3;

/// The way to the client of a session. When the client's address has changed, anyone on the path may have changed it, so that a
/// stranger is sent what the client asked for: until something that was sent there has been answered, no more than
/// [`AMPLIFICATION`] times the bytes of UDP's payload that came from there with data of the session.
#[derive(Clone, Copy)]
pub(crate) struct Path {
    /// How many bytes may be sent; as many as there are if the client is known to receive.
    limit: Option<u32>,
}

impl Path {
    /// The client receives: it has returned a cookie, or answered.
    pub(crate) const PROVED: Self = Self { limit: None };
    /// Nobody knows whether it does, and nothing has come from there yet.
    pub(crate) const UNPROVED: Self = Self { limit: Some(0) };

    pub(super) const fn is_proved(self) -> bool {
        self.limit.is_none()
    }

    /// So many bytes have come from there.
    pub(super) fn received(&mut self, bytes: usize) {
        if let Some(limit) = &mut self.limit {
            let more = u32::try_from(bytes.saturating_mul(AMPLIFICATION)).unwrap_or(u32::MAX);
            *limit = limit.saturating_add(more);
        }
    }

    /// How many of `room` bytes a datagram may have now.
    pub(super) fn room(self, room: usize) -> usize {
        self.limit.map_or(room, |limit| room.min(usize::try_from(limit).unwrap_or(room)))
    }

    /// Takes note of a datagram of so many bytes that is to be sent; false if it may not be.
    pub(super) fn admits(&mut self, bytes: usize) -> bool {
        let Some(limit) = &mut self.limit else { return true };
        let left = u32::try_from(bytes).ok().and_then(|bytes| limit.checked_sub(bytes));
        *limit = left.unwrap_or(*limit);
        left.is_some()
    }
}

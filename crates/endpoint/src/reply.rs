/// Room for the longest answer that needs no peer: a request for a cookie, an alert or a reset.
const LONGEST: usize = sixlock_dtls::Config::MIN_DATAGRAM as usize;

/// An answer to someone nothing is remembered of. There is one: a younger one takes its place, and the other asks again.
#[derive(Debug)]
pub(crate) struct Reply<A> {
    to: Option<A>,
    bytes: [u8; LONGEST],
    len: usize,
}

impl<A> Reply<A> {
    pub(crate) const fn none() -> Self {
        Self { to: None, bytes: [0; LONGEST], len: 0 }
    }

    /// Room to write an answer; [`Reply::set`] then says that there is one.
    pub(crate) fn room(&mut self) -> &mut [u8] {
        self.to = None;
        &mut self.bytes
    }

    /// The first `len` bytes of the room are an answer to `to`.
    pub(crate) fn set(&mut self, to: A, len: usize) {
        (self.to, self.len) = (Some(to), len);
    }

    /// Moves the answer, if there is one, into `out`.
    pub(crate) fn take(&mut self, out: &mut [u8]) -> Option<(A, usize)> {
        let to = self.to.take()?;
        out.get_mut(..self.len)?.copy_from_slice(self.bytes.get(..self.len)?);
        Some((to, self.len))
    }
}

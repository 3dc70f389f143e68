/// Where bytes are kept whose number is known late: a response, for duplicates of its request and until it is
/// acknowledged.
pub trait ByteStore: Default {
    /// Empties the store and lends its room: `len` bytes, or fewer if that is all there can be.
    fn room(&mut self, len: usize) -> &mut [u8];

    /// Keeps the first `len` bytes of the room.
    fn keep(&mut self, len: usize);

    /// What is kept.
    fn bytes(&self) -> &[u8];
}

/// Room for at most `N` bytes, in place.
#[derive(Clone, Debug)]
pub struct Inline<const N: usize> {
    bytes: [u8; N],
    len: usize,
}

impl<const N: usize> Default for Inline<N> {
    fn default() -> Self {
        Self { bytes: [0; N], len: 0 }
    }
}

impl<const N: usize> ByteStore for Inline<N> {
    fn room(&mut self, len: usize) -> &mut [u8] {
        self.len = 0;
        &mut self.bytes[..len.min(N)]
    }

    fn keep(&mut self, len: usize) {
        self.len = len.min(N);
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// Room on the heap, as much as is kept and at most `MAX` bytes.
#[cfg(feature = "alloc")]
#[derive(Clone, Debug, Default)]
pub struct Heap<const MAX: usize>(alloc::boxed::Box<[u8]>);

#[cfg(feature = "alloc")]
impl<const MAX: usize> ByteStore for Heap<MAX> {
    fn room(&mut self, len: usize) -> &mut [u8] {
        self.resize(len.min(MAX));
        &mut self.0
    }

    fn keep(&mut self, len: usize) {
        self.resize(len.min(self.0.len()));
    }

    fn bytes(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(feature = "alloc")]
impl<const MAX: usize> Heap<MAX> {
    /// There are many of these, and most are empty: a vector would take as much again as its capacity for each.
    fn resize(&mut self, len: usize) {
        let mut bytes = core::mem::take(&mut self.0).into_vec();
        bytes.resize(len, 0);
        self.0 = bytes.into_boxed_slice();
    }
}

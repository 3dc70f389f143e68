/// Where bytes are kept whose number is known late: a response, for duplicates of its request and until it is
/// acknowledged.
pub trait ByteStore: Default {
    /// Lends `write` room for `max` bytes, or fewer if that is all there can be, and keeps as many as that says to have written;
    /// nothing, or what was kept before, if it fails.
    fn write<E>(&mut self, max: usize, write: impl FnOnce(&mut [u8]) -> Result<usize, E>) -> Result<(), E>;

    /// Keeps `bytes`, or as many of them as there is room for.
    fn store(&mut self, bytes: &[u8]);

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
    fn write<E>(&mut self, max: usize, write: impl FnOnce(&mut [u8]) -> Result<usize, E>) -> Result<(), E> {
        self.len = 0;
        self.len = write(&mut self.bytes[..max.min(N)])?.min(N);
        Ok(())
    }

    fn store(&mut self, bytes: &[u8]) {
        self.len = bytes.len().min(N);
        self.bytes[..self.len].copy_from_slice(&bytes[..self.len]);
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// Room on the heap, as much as is kept and at most `MAX` bytes. There are many of these, and most are empty: a vector would take as much
/// again as its capacity for each.
#[cfg(feature = "alloc")]
#[derive(Clone, Debug, Default)]
pub struct Heap<const MAX: usize>(alloc::boxed::Box<[u8]>);

#[cfg(feature = "alloc")]
impl<const MAX: usize> ByteStore for Heap<MAX> {
    fn write<E>(&mut self, max: usize, write: impl FnOnce(&mut [u8]) -> Result<usize, E>) -> Result<(), E> {
        let mut room = [0; MAX];
        let len = write(&mut room[..max.min(MAX)])?;
        self.store(&room[..len.min(MAX)]);
        Ok(())
    }

    fn store(&mut self, bytes: &[u8]) {
        let bytes = &bytes[..bytes.len().min(MAX)];
        // What is as long as what was before, as answers often are, takes its place.
        if self.0.len() != bytes.len() {
            self.0 = bytes.into();
        }
        self.0.copy_from_slice(bytes);
    }

    fn bytes(&self) -> &[u8] {
        &self.0
    }
}

//! Tables and buffers of stations on the heap: a network of many nodes takes memory for what they hold, not for what they could.

use sixlock_base::{Array, New};

/// A table of at most `LEN` entries that takes memory for those that it has had.
pub(crate) struct Table<T, const LEN: usize>(Vec<T>);

impl<T, const LEN: usize> New for Table<T, LEN> {
    const NEW: Self = Self(Vec::new());
}

impl<T, const LEN: usize> AsRef<[T]> for Table<T, LEN> {
    fn as_ref(&self) -> &[T] {
        &self.0
    }
}

impl<T, const LEN: usize> AsMut<[T]> for Table<T, LEN> {
    fn as_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T: New, const LEN: usize> Array<T> for Table<T, LEN> {
    const LEN: usize = LEN;

    fn make_room(&mut self, len: usize) {
        if self.0.len() < len.min(LEN) {
            self.0.resize_with(len.min(LEN), || T::NEW);
        }
    }
}

/// A buffer of `LEN` bytes that takes memory once it is written to.
pub(crate) struct Buffer<const LEN: usize>(Vec<u8>);

impl<const LEN: usize> New for Buffer<LEN> {
    const NEW: Self = Self(Vec::new());
}

impl<const LEN: usize> AsRef<[u8]> for Buffer<LEN> {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl<const LEN: usize> AsMut<[u8]> for Buffer<LEN> {
    fn as_mut(&mut self) -> &mut [u8] {
        if self.0.is_empty() {
            self.0 = vec![0; LEN];
        }
        &mut self.0
    }
}

impl<const LEN: usize> Array<u8> for Buffer<LEN> {
    const LEN: usize = LEN;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_grows_to_its_limit_and_no_further() {
        let mut table = Table::<u8, 3>::NEW;
        assert!(table.as_ref().is_empty());
        table.make_room(2);
        table.as_mut()[1] = 7;
        table.make_room(1);
        assert_eq!(table.as_ref(), [0, 7]);
        table.make_room(4);
        assert_eq!(table.as_ref(), [0, 7, 0]);
    }

    #[test]
    fn a_buffer_is_there_as_a_whole_once_it_is_written_to() {
        let mut buffer = Buffer::<3>::NEW;
        assert!(buffer.as_ref().is_empty());
        buffer.as_mut()[1] = 7;
        assert_eq!(buffer.as_ref(), [0, 7, 0]);
    }
}

/// Where a message is emitted to, piece by piece and in order. It keeps one range of it: what comes after the first `skip`
/// bytes, as far as it fits.
#[derive(Debug)]
pub struct Window<'a> {
    skip: u16,
    out: &'a mut [u8],
    filled: usize,
    length: u16,
}

impl<'a> Window<'a> {
    /// A window onto the bytes from `skip` on that fills `out`.
    pub fn new(skip: u16, out: &'a mut [u8]) -> Self {
        Self { skip, out, filled: 0, length: 0 }
    }

    /// The bytes kept so far.
    pub fn filled(&self) -> usize {
        self.filled
    }

    /// The length of the message so far, of which the window is but a part; 65,535 stands for that many bytes or more.
    pub fn length(&self) -> u16 {
        self.length
    }

    /// Takes the next bytes of the message.
    pub fn put(&mut self, bytes: &[u8]) {
        self.length = self.length.saturating_add(bytes.len().min(u16::MAX.into()) as u16);
        let skipped = bytes.len().min(self.skip.into());
        self.skip -= skipped as u16;
        let room = &mut self.out[self.filled..];
        let kept = (bytes.len() - skipped).min(room.len());
        room[..kept].copy_from_slice(&bytes[skipped..skipped + kept]);
        self.filled += kept;
    }

    /// Takes `bytes`, at most 255, behind their 8-bit length; more are cut off.
    pub fn put_vector8(&mut self, bytes: &[u8]) {
        let length = bytes.len().min(u8::MAX.into());
        self.put(&[length as u8]);
        self.put(&bytes[..length]);
    }

    /// Takes `bytes`, at most 65,535, behind their 16-bit length; more are cut off.
    pub fn put_vector16(&mut self, bytes: &[u8]) {
        let length = bytes.len().min(u16::MAX.into());
        self.put(&(length as u16).to_be_bytes());
        self.put(&bytes[..length]);
    }

    /// Takes the lower 24 bits of a length.
    pub fn put_u24(&mut self, length: u32) {
        self.put(&length.to_be_bytes()[1..]);
    }

    /// Takes `bytes`, at most 65,535, behind their 24-bit length; more are cut off.
    pub fn put_vector24(&mut self, bytes: &[u8]) {
        let length = bytes.len().min(u16::MAX.into());
        self.put_u24(length as u32);
        self.put(&bytes[..length]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    extern crate std;
    use std::vec;
    use std::vec::Vec;

    proptest! {
        #[test]
        fn a_window_keeps_exactly_its_range(pieces: Vec<Vec<u8>>, skip in 0u16..300, room in 0usize..300) {
            let whole = pieces.concat();
            let expected: Vec<u8> = whole.iter().copied().skip(skip.into()).take(room).collect();
            let mut out = vec![0; room];
            let mut window = Window::new(skip, &mut out);
            pieces.iter().for_each(|piece| window.put(piece));
            let filled = window.filled();
            prop_assert_eq!(usize::from(window.length()), whole.len());
            prop_assert_eq!(&out[..filled], &expected[..]);
        }
    }
}

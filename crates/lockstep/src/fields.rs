/// Takes fixed-size fields off the front of bytes of which there are enough: behind the last, zeros.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn bytes(&mut self, n: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at_checked(n).unwrap_or_default();
        self.0 = rest;
        taken
    }

    pub(crate) fn array<const N: usize>(&mut self) -> [u8; N] {
        self.bytes(N).try_into().unwrap_or([0; N])
    }

    pub(crate) fn u8(&mut self) -> u8 {
        let [byte] = self.array();
        byte
    }
}

/// Puts fields at the front of a buffer, as far as they fit.
pub(crate) struct Writer<'a>(pub(crate) &'a mut [u8]);

impl Writer<'_> {
    pub(crate) fn put(&mut self, field: &[u8]) {
        if let Some((place, rest)) = core::mem::take(&mut self.0).split_at_mut_checked(field.len()) {
            place.copy_from_slice(field);
            self.0 = rest;
        }
    }

    /// Leaves `n` bytes as they are.
    pub(crate) fn skip(&mut self, n: usize) {
        self.0 = core::mem::take(&mut self.0).get_mut(n..).unwrap_or_default();
    }
}

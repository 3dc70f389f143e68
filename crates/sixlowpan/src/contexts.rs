use sixlock_base::MESH_PREFIX;

/// The contexts of addresses that both ends of a link share, by their ids, 0 to 15. Each stands for a prefix of 64 bits.
pub trait AddressContexts: Copy {
    /// Whether there may be others than context 0.
    const MANY: bool;

    /// Writes the prefix of a context, by which addresses are decompressed, to the 8 bytes of `prefix`; whether there is such a context.
    fn put_prefix(self, id: u8, prefix: &mut [u8]) -> bool;

    /// The context by which addresses with these first 64 bits are compressed.
    fn context_of(self, prefix: &[u8]) -> Option<u8>;
}

/// Context 0 is [`MESH_PREFIX`], and there is no other.
#[derive(Clone, Copy, Debug)]
pub struct MeshContext;

impl AddressContexts for MeshContext {
    const MANY: bool = false;

    // As small as what it stands for.
    #[inline(always)]
    fn put_prefix(self, id: u8, prefix: &mut [u8]) -> bool {
        if id == 0 {
            prefix.copy_from_slice(&MESH_PREFIX);
        }
        id == 0
    }

    #[inline(always)]
    fn context_of(self, prefix: &[u8]) -> Option<u8> {
        (prefix == MESH_PREFIX).then_some(0)
    }
}

/// Context 0 is this prefix, and there is no other.
#[derive(Clone, Copy, Debug)]
pub struct OneContext(pub [u8; 8]);

impl AddressContexts for OneContext {
    const MANY: bool = false;

    fn put_prefix(self, id: u8, prefix: &mut [u8]) -> bool {
        if id == 0 {
            prefix.copy_from_slice(&self.0);
        }
        id == 0
    }

    fn context_of(self, prefix: &[u8]) -> Option<u8> {
        (prefix == self.0).then_some(0)
    }
}

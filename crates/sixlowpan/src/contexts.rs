use sixlock_base::MESH_PREFIX;

/// The contexts of addresses that both ends of a link share, by their ids, 0 to 15. Each stands for a prefix of 64 bits.
pub trait AddressContexts: Copy {
    /// Whether there may be others than context 0.
    const MANY: bool;

    /// The prefix of a context, by which addresses are decompressed, if there is such a context.
    fn prefix_of(self, id: u8) -> Option<[u8; 8]>;

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
    fn prefix_of(self, id: u8) -> Option<[u8; 8]> {
        (id == 0).then_some(MESH_PREFIX)
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

    fn prefix_of(self, id: u8) -> Option<[u8; 8]> {
        (id == 0).then_some(self.0)
    }

    fn context_of(self, prefix: &[u8]) -> Option<u8> {
        (prefix == self.0).then_some(0)
    }
}

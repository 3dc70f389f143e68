use sixlock_base::MESH_PREFIX;

/// The contexts of addresses that both ends of a link share, by their ids, 0 to 15. Each stands for a prefix of 64 bits.
pub trait AddressContexts: Copy {
    /// The prefix of a context, by which addresses are decompressed.
    fn prefix(self, id: u8) -> Option<[u8; 8]>;

    /// The context by which addresses with these first 64 bits are compressed.
    fn context_of(self, prefix: &[u8]) -> Option<u8>;
}

/// Context 0 is [`MESH_PREFIX`], and there is no other.
#[derive(Clone, Copy, Debug)]
pub struct MeshContext;

impl AddressContexts for MeshContext {
    fn prefix(self, id: u8) -> Option<[u8; 8]> {
        (id == 0).then_some(MESH_PREFIX)
    }

    fn context_of(self, prefix: &[u8]) -> Option<u8> {
        (prefix == MESH_PREFIX).then_some(0)
    }
}

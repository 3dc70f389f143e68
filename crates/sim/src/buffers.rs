//! The buffers of packets that a node on a board has.

/// Which buffers of packets a node has: but for a parent those of images of its processor (`firmware/app/src/sizes.rs`).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Buffers {
    /// A node's that has its routes from a list.
    Listed,
    /// A node's that speaks RPL.
    Rpl,
    /// Those of a node that holds packets for leaves which sleep, three of them at most. No image does.
    Parent,
    /// A border router's: of 1,280 bytes.
    Long,
}

//! The rounds of AES-128, and the constants of their keys.

/// How many rounds there are.
pub(super) const ROUNDS: u8 = 10;

/// The constant of the round after that of `constant`.
pub(in crate::tiny) fn next_constant(constant: u8) -> u8 {
    (constant << 1) ^ (0x1b & (constant >> 7).wrapping_neg())
}

/// The constant of the round before that of `constant`.
pub(in crate::tiny) fn previous_constant(constant: u8) -> u8 {
    (constant >> 1) ^ (0x8d & (constant & 1).wrapping_neg())
}

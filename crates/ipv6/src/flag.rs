/// The bit `bit` if it is set.
pub(crate) const fn flag(is_set: bool, bit: u8) -> u8 {
    if is_set { bit } else { 0 }
}

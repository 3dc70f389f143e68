use sixlock_base::Eui64;

/// The base name of a device, `urn:dev:mac:` and its EUI-64 in hexadecimal digits
/// ([RFC 9039 section 4.1](https://www.rfc-editor.org/rfc/rfc9039#section-4.1)), closed by a colon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceName([u8; DeviceName::LEN]);

impl DeviceName {
    const PREFIX: &'static [u8] = b"urn:dev:mac:";
    const LEN: usize = Self::PREFIX.len() + 16 + 1;

    /// The name of the device with this address.
    pub fn new(address: Eui64) -> Self {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut name = [b':'; Self::LEN];
        let (prefix, rest) = name.split_at_mut(Self::PREFIX.len());
        prefix.copy_from_slice(Self::PREFIX);
        for (pair, byte) in rest.chunks_exact_mut(2).zip(address.0) {
            pair.copy_from_slice(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 0xf)]]);
        }
        Self(name)
    }

    /// The name as ASCII.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        // Only ASCII is put in, so this never is the empty default.
        core::str::from_utf8(&self.0).unwrap_or_default()
    }
}

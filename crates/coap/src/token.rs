use sixlock_coap_msg::{MAX_TOKEN, Message};

/// A token of a peer, which tells its requests and observations apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token {
    // The bytes behind the length are zero.
    bytes: [u8; MAX_TOKEN],
    len: u8,
}

impl Token {
    /// The token of `message`.
    pub fn of(message: &Message<'_>) -> Self {
        let mut bytes = [0; MAX_TOKEN];
        let len = message.token().len().min(MAX_TOKEN);
        for (byte, &from) in bytes.iter_mut().zip(message.token()) {
            *byte = from;
        }
        Self { bytes, len: len as u8 }
    }

    /// The token of a message of one's own.
    pub const fn new(bytes: [u8; MAX_TOKEN]) -> Self {
        Self { bytes, len: MAX_TOKEN as u8 }
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.len)).unwrap_or_default()
    }
}

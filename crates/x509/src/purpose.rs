/// As what a peer shows its certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// As a client.
    Client,
    /// As a server.
    Server,
}

/// Any purpose.
const ANY: &[u8] = &[0x55, 0x1d, 0x25, 0x00];
const SERVER: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01];
const CLIENT: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x02];

impl Purpose {
    pub(crate) const fn identifier(self) -> &'static [u8] {
        match self {
            Self::Client => CLIENT,
            Self::Server => SERVER,
        }
    }

    pub(crate) fn is(self, identifier: &[u8]) -> bool {
        identifier == self.identifier() || identifier == ANY
    }
}

use crate::{Error, reader::Reader};

/// Length of a handshake message header, in bytes.
pub const HANDSHAKE_HEADER: usize = 12;

/// The type of a handshake message, by its registered number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandshakeType(pub u8);

impl HandshakeType {
    /// The server asks for a renegotiation.
    pub const HELLO_REQUEST: Self = Self(0);
    /// The client's offer.
    pub const CLIENT_HELLO: Self = Self(1);
    /// The server's choice.
    pub const SERVER_HELLO: Self = Self(2);
    /// The server's cookie.
    pub const HELLO_VERIFY_REQUEST: Self = Self(3);
    /// What the client is to keep of the session, to resume it.
    pub const NEW_SESSION_TICKET: Self = Self(4);
    /// What proves whose key its sender has.
    pub const CERTIFICATE: Self = Self(11);
    /// The server's key exchange: with a pre-shared key, its identity hint; else its ephemeral key.
    pub const SERVER_KEY_EXCHANGE: Self = Self(12);
    /// The server asks for the client's certificate.
    pub const CERTIFICATE_REQUEST: Self = Self(13);
    /// The end of the server's first flight.
    pub const SERVER_HELLO_DONE: Self = Self(14);
    /// The client proves that it has its certificate's key.
    pub const CERTIFICATE_VERIFY: Self = Self(15);
    /// The client's key exchange: with a pre-shared key, its identity; else its ephemeral key.
    pub const CLIENT_KEY_EXCHANGE: Self = Self(16);
    /// The proof of the key and of everything said before.
    pub const FINISHED: Self = Self(20);
}

/// The header of a handshake message or of a fragment of one
/// ([RFC 6347 section 4.2.2](https://www.rfc-editor.org/rfc/rfc6347#section-4.2.2)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandshakeHeader {
    /// The message's type.
    pub kind: HandshakeType,
    /// Length of the whole message's body, in bytes.
    pub length: u32,
    /// The message's number among those of its sender.
    pub message_seq: u16,
    /// Where in the body the fragment begins.
    pub fragment_offset: u32,
    /// Length of the fragment, in bytes.
    pub fragment_length: u32,
}

impl HandshakeHeader {
    /// The header of a message in one piece.
    pub const fn whole(kind: HandshakeType, message_seq: u16, length: u16) -> Self {
        let length = length as u32;
        Self { kind, length, message_seq, fragment_offset: 0, fragment_length: length }
    }

    /// Whether the fragment is the whole message.
    pub const fn is_whole(&self) -> bool {
        self.fragment_length == self.length
    }

    /// Splits the first fragment off `bytes`: its header, its bytes and what follows.
    pub fn parse(bytes: &[u8]) -> Result<(Self, &[u8], &[u8]), Error> {
        let mut reader = Reader::new(bytes);
        let header = Self {
            kind: HandshakeType(reader.u8()?),
            length: reader.u24()?,
            message_seq: reader.u16()?,
            fragment_offset: reader.u24()?,
            fragment_length: reader.u24()?,
        };
        if header.fragment_offset + header.fragment_length > header.length {
            return Err(Error::Length);
        }
        let length = usize::try_from(header.fragment_length).map_err(|_| Error::Truncated)?;
        let fragment = reader.bytes(length)?;
        Ok((header, fragment, reader.rest()))
    }

    /// The header's bytes.
    pub fn to_bytes(self) -> [u8; HANDSHAKE_HEADER] {
        let mut bytes = [0; HANDSHAKE_HEADER];
        bytes[0] = self.kind.0;
        bytes[1..4].copy_from_slice(&self.length.to_be_bytes()[1..]);
        bytes[4..6].copy_from_slice(&self.message_seq.to_be_bytes());
        bytes[6..9].copy_from_slice(&self.fragment_offset.to_be_bytes()[1..]);
        bytes[9..].copy_from_slice(&self.fragment_length.to_be_bytes()[1..]);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    extern crate std;

    #[test]
    fn a_fragment_never_leaves_its_message() {
        let header = HandshakeHeader {
            kind: HandshakeType::FINISHED,
            length: 12,
            message_seq: 3,
            fragment_offset: 10,
            fragment_length: 2,
        };
        let mut bytes = [0; 15];
        bytes[..12].copy_from_slice(&header.to_bytes());
        assert_eq!(HandshakeHeader::parse(&bytes), Ok((header, &[0, 0][..], &[0][..])));
        assert!(!header.is_whole());
        bytes[8] = 11;
        assert_eq!(HandshakeHeader::parse(&bytes), Err(Error::Length));
    }

    proptest! {
        #[test]
        fn what_parses_is_emitted_again(
            kind: u8, length in 0u32..40, message_seq: u16, offset in 0u32..40, bytes in prop::collection::vec(any::<u8>(), 0..40)
        ) {
            let header = HandshakeHeader {
                kind: HandshakeType(kind), length, message_seq,
                fragment_offset: offset, fragment_length: bytes.len() as u32,
            };
            let wire = [&header.to_bytes()[..], &bytes].concat();
            let parsed = HandshakeHeader::parse(&wire);
            if offset + bytes.len() as u32 <= length {
                prop_assert_eq!(parsed, Ok((header, &bytes[..], &[][..])));
            } else {
                prop_assert_eq!(parsed, Err(Error::Length));
            }
        }
    }
}

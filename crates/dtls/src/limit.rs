//! How long a record may be, as the two sides agree on it.

use sixlock_dtls_msg::{ExtensionType, Extensions};

/// The longest content of a record, in bytes
/// ([RFC 5246 section 6.2.1](https://www.rfc-editor.org/rfc/rfc5246#section-6.2.1)).
pub(crate) const MAX_CONTENT: u16 = 1 << 14;
/// The least that a side may ask for.
const LEAST: u16 = 64;

/// What a hello says about the length of records, and what follows from both hellos.
pub(crate) struct Limits {
    /// What our hello says in record_size_limit.
    pub(crate) size: Option<u16>,
    /// What our hello says in max_fragment_length: a number from 1 to 4.
    pub(crate) fragment: Option<u8>,
    /// The longest content that we may send.
    pub(crate) send: u16,
    /// The longest content that the peer may send.
    pub(crate) receive: u16,
}

/// What the peer's hello says.
enum Said {
    Nothing,
    Size(u16),
    Fragment(u8),
}

/// The peer's hello says something that it may not.
pub(crate) struct Illegal;

impl Limits {
    /// Without limits.
    pub(crate) const NONE: Self =
        Self { size: None, fragment: None, send: MAX_CONTENT, receive: MAX_CONTENT };

    /// Before there is a hello.
    pub(crate) const UNKNOWN: Self = Self { size: None, fragment: None, send: 0, receive: 0 };

    /// What a client says that takes at most `limit` bytes.
    pub(crate) fn client(limit: Option<u16>) -> Self {
        let size = limit.map(|limit| limit.clamp(LEAST, MAX_CONTENT));
        let fragment = (1..=4).find(|&number| size == Some(fragment_length(number)));
        Self { size, fragment, ..Self::NONE }
    }

    /// What a server says, that takes at most `limit` bytes, to a client with these extensions.
    pub(crate) fn server(limit: Option<u16>, client: Extensions<'_>) -> Result<Self, Illegal> {
        // A client may say both; then this is the one that counts: https://www.rfc-editor.org/rfc/rfc8449#section-5
        Ok(match said(client)? {
            Said::Nothing => Self::NONE,
            Said::Size(send) => {
                let receive = limit.map_or(MAX_CONTENT, |limit| limit.clamp(LEAST, MAX_CONTENT));
                Self { size: Some(receive), fragment: None, send, receive }
            }
            // https://www.rfc-editor.org/rfc/rfc6066#section-4
            Said::Fragment(number) => {
                let length = fragment_length(number);
                Self { size: None, fragment: Some(number), send: length, receive: length }
            }
        })
    }

    /// What follows from both hellos, as the client takes it.
    pub(crate) fn between(client: Extensions<'_>, server: Extensions<'_>) -> Result<Self, Illegal> {
        let size = client.find(ExtensionType::RECORD_SIZE_LIMIT).and_then(|size| size.try_into().ok());
        let fragment = client.find(ExtensionType::MAX_FRAGMENT_LENGTH).and_then(<[u8]>::first).copied();
        let mut limits = Self { size: size.map(u16::from_be_bytes), fragment, ..Self::NONE };
        limits.answered(server)?;
        Ok(limits)
    }

    /// Takes note of what the server says to us.
    pub(crate) fn answered(&mut self, server: Extensions<'_>) -> Result<(), Illegal> {
        let both = [ExtensionType::RECORD_SIZE_LIMIT, ExtensionType::MAX_FRAGMENT_LENGTH];
        if both.iter().all(|&kind| server.find(kind).is_some()) {
            return Err(Illegal);
        }
        (self.send, self.receive) = match (said(server)?, self.size, self.fragment) {
            (Said::Nothing, ..) => (MAX_CONTENT, MAX_CONTENT),
            (Said::Size(send), Some(receive), _) => (send, receive),
            (Said::Fragment(number), _, Some(asked)) if number == asked => {
                (fragment_length(number), fragment_length(number))
            }
            _ => return Err(Illegal),
        };
        Ok(())
    }
}

fn fragment_length(number: u8) -> u16 {
    1 << (8 + number)
}

fn said(extensions: Extensions<'_>) -> Result<Said, Illegal> {
    if let Some(size) = extensions.find(ExtensionType::RECORD_SIZE_LIMIT) {
        let size = size.try_into().map(u16::from_be_bytes).map_err(|_| Illegal)?;
        // https://www.rfc-editor.org/rfc/rfc8449#section-4
        return if size < LEAST { Err(Illegal) } else { Ok(Said::Size(size.min(MAX_CONTENT))) };
    }
    match extensions.find(ExtensionType::MAX_FRAGMENT_LENGTH) {
        None => Ok(Said::Nothing),
        Some(&[number @ 1..=4]) => Ok(Said::Fragment(number)),
        Some(_) => Err(Illegal),
    }
}

use sixlock_dtls_msg::{HandshakeHeader, HandshakeType};

use super::Place;
use crate::reliability::{is_complete, put};
use crate::v12::Incoming;

/// The longest Certificate message, in bytes, that a session takes: a few certificates of P-256.
pub const MAX_CERTIFICATES: usize = 1024;

/// The peer's Certificate message: it comes in pieces, and stays until it was judged. A longer one is dropped.
pub struct CertificateRoom {
    /// The number and length of the message that is there.
    message: Option<(u16, u16)>,
    /// It was taken by the handshake: nothing replaces it.
    kept: bool,
    received: [u8; MAX_CERTIFICATES / 8],
    bytes: [u8; MAX_CERTIFICATES],
}

impl Place<Self> for CertificateRoom {
    const EMPTY: Self = Self {
        message: None,
        kept: false,
        received: [0; MAX_CERTIFICATES / 8],
        bytes: [0; MAX_CERTIFICATES],
    };

    fn get(&self) -> Option<&Self> {
        Some(self)
    }

    fn get_mut(&mut self) -> Option<&mut Self> {
        Some(self)
    }
}

impl CertificateRoom {
    /// Forgets what is there.
    pub(crate) fn clear(&mut self) {
        (self.message, self.kept) = (None, false);
        self.received.fill(0);
    }

    /// Keeps what is there until it is cleared.
    pub(crate) fn keep(&mut self) {
        self.kept = true;
    }

    /// Adds a fragment; false if there is no room for it. One whose message looks different from what is there begins anew.
    /// Fragments of a message that is not the next are added only if no other message is there.
    pub(crate) fn add(&mut self, header: &HandshakeHeader, fragment: &[u8], is_next: bool) -> bool {
        if header.length > MAX_CERTIFICATES as u32 || self.kept {
            return false;
        }
        let message = Some((header.message_seq, header.length as u16));
        if self.message != message {
            if self.message.is_some() && !is_next {
                return false;
            }
            self.clear();
            self.message = message;
        }
        put(&mut self.bytes, &mut self.received, header.fragment_offset as usize, fragment)
    }

    /// The message, if it is the one expected and complete.
    pub(crate) fn message(&self, expected_seq: u16) -> Option<Incoming<'_>> {
        let (message_seq, length) = self.message?;
        let expected = message_seq == expected_seq && is_complete(&self.received, length);
        expected.then_some(Incoming { kind: HandshakeType::CERTIFICATE, message_seq, body: self.body() })
    }

    /// What is there.
    pub(crate) fn body(&self) -> &[u8] {
        let length = self.message.map_or(0, |(_, length)| length);
        self.bytes.get(..length.into()).unwrap_or_default()
    }
}

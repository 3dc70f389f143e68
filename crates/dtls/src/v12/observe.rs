//! Sessions of others, opened with what their key log says.

use sixlock_crypto::{AuthenticationFailed, Crypto};
use sixlock_dtls_msg::{CipherSuite, ContentType, Extensions, RANDOM, RecordHeader};

use super::record::Protection;
use super::schedule::keys;
use super::session::KeyLogEntry;
use super::session_state::MASTER_SECRET;
use crate::engine::record::RecordCodec;
use crate::engine::role::Side;
use crate::limit::{Limits, MAX_CONTENT};
use crate::{ConnectionId, Full, Refusal, Suite};

/// The keys of a session between two others.
pub struct Observer<C: Crypto> {
    of_client: Protection<C, Full>,
    of_server: Protection<C, Full>,
    /// The longest content that the client may send, and the server.
    limits: (u16, u16),
}

impl<C: Crypto> Observer<C> {
    /// The keys of the session that the client's and the server's random values began; none if `suite` is not one of ours.
    pub fn new(
        crypto: &mut C,
        entry: KeyLogEntry<'_>,
        server_random: &[u8; RANDOM],
        suite: CipherSuite,
    ) -> Option<Self> {
        let suite = Suite::of(suite)?;
        let KeyLogEntry { client_random, master_secret } = entry;
        let master_secret: &[u8; MASTER_SECRET] = master_secret;
        let mut read_by = |side| {
            let keys = keys(crypto, side, master_secret, client_random, server_random);
            Protection::new(keys, suite, ConnectionId::EMPTY)
        };
        let (of_client, of_server) = (read_by(Side::Server), read_by(Side::Client));
        Some(Self { of_client, of_server, limits: (MAX_CONTENT, MAX_CONTENT) })
    }

    /// Takes note of how long the client's and the server's hellos let records be.
    pub fn limit(&mut self, client: Extensions<'_>, server: Extensions<'_>) {
        if let Ok(Limits { send, receive, .. }) = Limits::between(client, server) {
            self.limits = (send, receive);
        }
    }

    /// Why the one that gets a record with such a content from the client, or from the server, refuses it, though it is authentic.
    pub fn refusal(&self, from_client: bool, content_type: ContentType, length: usize) -> Option<Refusal> {
        let limit = if from_client { self.limits.0 } else { self.limits.1 };
        match content_type {
            _ if length > limit.into() => Some(Refusal::RecordLimit),
            ContentType::Handshake | ContentType::Alert | ContentType::ApplicationData => None,
            ContentType::ChangeCipherSpec | ContentType::ConnectionId => Some(Refusal::ContentType),
        }
    }

    /// Opens the body of a record that the client sent, or the server, in place, and lends its content with its type. A
    /// record that carries a connection id carries `id`.
    pub fn open<'d>(
        &self,
        crypto: &mut C,
        from_client: bool,
        header: &RecordHeader,
        id: &[u8],
        body: &'d mut [u8],
    ) -> Result<(ContentType, &'d mut [u8]), AuthenticationFailed> {
        let protection = if from_client { &self.of_client } else { &self.of_server };
        protection.open(crypto, header, id, body)
    }
}

//! What tells a retransmission of a post from a new post.

use crate::error::Error;
use crate::ids::ResourceId;
use crate::secrets;

/// For how long a post is known again, at least: EXCHANGE_LIFETIME
/// ([RFC 7252 section 4.8.2](https://www.rfc-editor.org/rfc/rfc7252#section-4.8.2)).
pub const RETRANSMISSION_WINDOW_MS: i64 = 247_000;

/// How a post came.
#[derive(Clone, Copy, Debug)]
pub struct Transmission<'a> {
    /// What nobody else has: a name of the DTLS session that no other session is ever given, or the address of a
    /// peer without one.
    pub association: &'a [u8],
    /// The message id.
    pub message_id: u16,
    /// The token.
    pub token: &'a [u8],
}

/// What tells a post that is sent again from a new one, also when the cloud was restarted in between.
///
/// Within one association, the message id does. When the association is lost, the client sends its request anew as
/// another message in the next one, but with the same token
/// ([RFC 7252 section 9.1.1](https://www.rfc-editor.org/rfc/rfc7252#section-9.1.1)). A client that uses one token
/// for all its posts, or a short one, may send the same payload as another message and mean another reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Idempotency {
    pub(super) post: Post,
    pub(super) latest: Latest,
}

/// A digest of what all transmissions of a post have in common.
pub(super) type Post = [u8; 16];

/// The latest transmission of a post: in which session or from where, and as which message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Latest {
    pub(super) association: [u8; 8],
    pub(super) message_id: u16,
}

impl Idempotency {
    /// The shortest token that is taken to name a request by itself.
    const NAMING_TOKEN: usize = 4;
    /// The length of a receipt in the database.
    pub(super) const STORED: usize = 26;

    /// Of a post of `payload` by `resource`.
    pub fn of(resource: ResourceId, transmission: Transmission<'_>, payload: &[u8]) -> Self {
        let Transmission { association, message_id, token } = transmission;
        let id = message_id.to_be_bytes();
        let id = if token.len() < Self::NAMING_TOKEN { &id[..] } else { &[] };
        let post = short_digest(&[&resource.0.to_be_bytes(), token, id, payload]);
        Self { post, latest: Latest { association: short_digest(&[association]), message_id } }
    }

    /// Of a post of `payload` to `resource` that its sender has named `key`, to send it again under that name.
    pub fn named(resource: ResourceId, key: &[u8], payload: &[u8]) -> Self {
        // A token has at most 8 bytes, so no post of a device is taken for one that was named.
        let post = short_digest(&[&resource.0.to_be_bytes(), b"named post", key, payload]);
        Self { post, latest: Latest { association: [0; 8], message_id: 0 } }
    }

    /// Of a post like no other.
    pub fn unique() -> Result<Self, Error> {
        Ok(Self { post: secrets::random()?, latest: Latest { association: [0; 8], message_id: 0 } })
    }

    pub(super) fn write(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(&self.post);
        to.extend_from_slice(&self.latest.association);
        to.extend_from_slice(&self.latest.message_id.to_be_bytes());
    }

    pub(super) fn read(stored: &[u8]) -> Option<Self> {
        let (post, rest) = stored.split_first_chunk()?;
        let (association, rest) = rest.split_first_chunk()?;
        let message_id = u16::from_be_bytes(rest.try_into().ok()?);
        Some(Self { post: *post, latest: Latest { association: *association, message_id } })
    }
}

fn short_digest<const N: usize>(parts: &[&[u8]]) -> [u8; N] {
    let mut short = [0; N];
    short.copy_from_slice(&secrets::digest(parts)[..N]);
    short
}

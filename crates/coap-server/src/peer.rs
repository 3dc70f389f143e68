//! Who asks.

use std::net::SocketAddr;

use sixlock_telemetry::Scheme;

use crate::ids::{CredentialId, Holder};

/// Tells a DTLS session, or the address and port of a peer without one, from all others. No two sessions have the same one, also
/// after a restart.
pub type Association = [u8; 24];

/// Who asks.
#[derive(Clone, Debug)]
pub struct Peer {
    /// [`Scheme::Coaps`], or [`Scheme::Coap`] without DTLS.
    pub scheme: Scheme,
    /// The peer's address.
    pub from: SocketAddr,
    /// What or who has proved an identity by DTLS; `None` without DTLS.
    pub holder: Option<Holder>,
    /// The credential that proved it; `None` without DTLS.
    pub credential: Option<CredentialId>,
    /// The association of the request.
    pub association: Association,
}

impl Peer {
    /// A peer without DTLS.
    pub fn plain(from: SocketAddr) -> Self {
        let association = association_of(from);
        Self { scheme: Scheme::Coap, from, holder: None, credential: None, association }
    }
}

fn association_of(from: SocketAddr) -> Association {
    let (ip, scope) = match from {
        SocketAddr::V4(from) => (from.ip().to_ipv6_mapped(), 0),
        SocketAddr::V6(from) => (*from.ip(), from.scope_id()),
    };
    let mut association = Association::default();
    association[..16].copy_from_slice(&ip.octets());
    association[16..20].copy_from_slice(&scope.to_be_bytes());
    association[20..22].copy_from_slice(&from.port().to_be_bytes());
    association
}

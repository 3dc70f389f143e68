use core::net::Ipv6Addr;

use heapless::Vec;
use sixlock_base::Duration;
use sixlock_coap::ClientConfig;
use sixlock_crypto::wipe;
use sixlock_dtls::{Config as DtlsConfig, MAX_PSK};
use sixlock_interface::Config as InterfaceConfig;

/// The UDP port at which a node sends back what it gets
/// ([RFC 862](https://www.rfc-editor.org/rfc/rfc862)).
pub const ECHO_PORT: u16 = 7;

/// The UDP port at which a node tells its latest reading by CoAP
/// ([RFC 7252 section 12.6](https://www.rfc-editor.org/rfc/rfc7252#section-12.6)).
pub const COAP_PORT: u16 = 5683;

/// The longest identity, resource id or resource key of a device, in bytes.
pub const MAX_NAME: usize = 64;

/// What a node is told at its start.
#[derive(Clone)]
pub struct Config<A = Access> {
    /// Addresses, MAC and link security.
    pub interface: InterfaceConfig,
    /// Where readings go, if the node makes any.
    pub cloud: Option<Cloud<A>>,
    /// Whether everybody may ask for the latest reading at [`COAP_PORT`], in the clear.
    pub serves: bool,
}

/// Where readings go, and when.
#[derive(Clone)]
pub struct Cloud<A = Access> {
    /// The cloud's address.
    pub address: Ipv6Addr,
    /// The cloud's port.
    pub port: u16,
    /// How the node proves whose readings they are.
    pub access: A,
    /// From one reading to the next.
    pub period: Duration,
    /// From the start to the first reading.
    pub first: Duration,
    /// How requests are sent again.
    pub coap: ClientConfig,
    /// How handshakes are sent again.
    pub dtls: DtlsConfig,
}

/// How a node proves whose readings they are.
#[derive(Clone)]
pub enum Access {
    /// By a resource id and key in each request, in the clear.
    Plain(Resource),
    /// By a DTLS session with a pre-shared key.
    DtlsPsk(Identity),
}

/// An identity, resource id or resource key.
pub type Name = Vec<u8, MAX_NAME>;

/// What a request in the clear says.
#[derive(Clone)]
pub struct Resource {
    /// The resource's id.
    pub id: Name,
    /// The resource's key.
    pub key: Name,
}

/// What a DTLS handshake with a pre-shared key proves.
#[derive(Clone)]
pub struct Identity {
    /// The identity that names the key.
    pub name: Name,
    /// The key.
    pub key: PreSharedKey,
}

/// A key or name is longer than a device has room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

/// A pre-shared key, wiped when dropped.
#[derive(Clone)]
pub struct PreSharedKey(Vec<u8, MAX_PSK>);

impl PreSharedKey {
    /// The key with these bytes, at most 64.
    pub fn new(key: &[u8]) -> Result<Self, TooLong> {
        Vec::from_slice(key).map(Self).map_err(|_| TooLong)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for PreSharedKey {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

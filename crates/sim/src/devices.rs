//! What the nodes are known by at the far end.

use sixlock_node::KeyRing;

use crate::random::{Purpose, Stream};

/// What one node is known by at the far end.
#[derive(Clone)]
pub struct Device {
    /// The resource its readings go to, where it says so itself: without DTLS.
    pub resource: String,
    /// The identity it gives in a DTLS handshake.
    pub identity: String,
    /// Its key: the pre-shared key of DTLS, or what goes with the resource.
    pub key: String,
    /// Its public key, where it proves by that who it is, and whom it trusts.
    pub keys: Option<&'static KeyRing>,
}

impl Device {
    /// The device that `seed` makes of node `id`, with a key of 32 printable characters.
    pub fn of_node(seed: u64, id: u32) -> Self {
        const CHARACTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        let mut stream = Stream::new(seed, id, Purpose::Keys);
        let key = (0..32).map(|_| char::from(CHARACTERS[stream.below(64) as usize])).collect();
        let name = format!("node-{id}");
        Self { resource: name.clone(), identity: name, key, keys: None }
    }
}

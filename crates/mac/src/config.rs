use sixlock_base::{Eui64, LinkSuite};
use sixlock_crypto::{AES_128_KEY, wipe};

/// What a MAC is told at its start.
#[derive(Clone)]
pub struct Config {
    /// Its own address.
    pub address: Eui64,
    /// Its PAN.
    pub pan_id: u16,
    /// How it contends for the channel.
    pub csma: Csma,
    /// Whether it asks for acknowledgements; without, a frame is sent once.
    pub ack: bool,
    /// How it protects its frames.
    pub security: Option<LinkSecurity>,
}

impl Config {
    /// Whether it takes CSMA-CA or acknowledgements to do as it says.
    pub fn contends(&self) -> bool {
        self.ack || self.csma != Csma::NONE
    }
}

/// The parameters of unslotted CSMA-CA (7.4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Csma {
    /// The first backoff exponent (macMinBE).
    pub min_be: u8,
    /// The largest backoff exponent (macMaxBE), at most 8.
    pub max_be: u8,
    /// Backoffs after the first before the channel counts as busy (macMaxCSMABackoffs).
    pub max_backoffs: u8,
    /// Transmissions after the first before a frame counts as not acknowledged
    /// (macMaxFrameRetries).
    pub max_retries: u8,
}

impl Csma {
    /// No CSMA-CA at all, as with the NullMAC of Contiki: each frame is sent once, at once, if the one assessment of the
    /// channel before it finds it clear. With [`Config::ack`] false, nothing is awaited after it either.
    pub const NONE: Self = Self { min_be: 0, max_be: 0, max_backoffs: 0, max_retries: 0 };
}

impl Default for Csma {
    /// The defaults of the standard.
    fn default() -> Self {
        Self { min_be: 3, max_be: 5, max_backoffs: 4, max_retries: 3 }
    }
}

/// Link security: one key that a whole PAN shares.
///
/// Its key is wiped when it is dropped.
#[derive(Clone)]
pub struct LinkSecurity {
    /// The suite of outgoing frames, and the only one accepted.
    pub suite: LinkSuite,
    /// The key.
    pub key: [u8; AES_128_KEY],
    /// The key's index, by which frames name it.
    pub key_index: u8,
}

impl Drop for LinkSecurity {
    fn drop(&mut self) {
        wipe(&mut self.key);
    }
}

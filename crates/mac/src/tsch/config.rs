use sixlock_base::Eui64;
use sixlock_ieee802154::enhanced::Timeslot;

use super::Slotframes;
use crate::LinkSecurity;

/// What a [`Tsch`](super::Tsch) is told at its start.
#[derive(Clone)]
pub struct TschConfig {
    /// Its own address.
    pub address: Eui64,
    /// Its PAN.
    pub pan_id: u16,
    /// Whether it is the network's coordinator, whose clock is the network's.
    pub is_coordinator: bool,
    /// The slotframes. A device that joins takes the length of the shared one from the beacon that it hears.
    pub slotframes: Slotframes,
    /// The times inside a slot, which a coordinator's network has. A device that joins takes those of the beacon.
    pub timeslot: Timeslot,
    /// From one beacon to the next, in slots; each is up to a quarter earlier, by chance.
    pub beacon_period: u16,
    /// The exponents of the back-off in links that several send in (macMinBe, macMaxBe).
    pub backoff: (u8, u8),
    /// Transmissions after the first before a frame counts as not acknowledged (macMaxFrameRetries).
    pub max_retries: u8,
    /// How it protects its frames. A suite without a MIC is none for TSCH
    /// ([RFC 8180 section 4.6](https://www.rfc-editor.org/rfc/rfc8180#section-4.6)).
    pub security: Option<LinkSecurity>,
}

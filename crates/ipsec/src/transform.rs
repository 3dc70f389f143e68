use core::ops::Range;

use sixlock_base::Entropy;
use sixlock_ipv6::extension::Upper;

use crate::{InboundError, Mode, OutboundError, PacketBuffer, Protocol, SequenceNumber};

/// Optional parts of IPsec that associations may use. The others are not linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    /// Tunnel mode.
    pub tunnels: bool,
    /// Protection within another.
    pub nesting: bool,
}

impl Features {
    /// Everything there is.
    pub const ALL: Self = Self { tunnels: true, nesting: true };
    /// Transport mode, one association a packet.
    pub const NONE: Self = Self { tunnels: false, nesting: false };
}

/// AH or ESP, with algorithms and keys.
pub trait Transform<C> {
    /// What its associations may use.
    const FEATURES: Features = Features::ALL;

    /// AH or ESP.
    fn protocol(&self) -> Protocol;

    /// Length of the ICV in bytes; zero if it does not authenticate packets.
    fn icv_len(&self) -> usize;

    /// Protects the packet in `room`.
    fn protect<E: Entropy>(
        &self,
        crypto: &mut C,
        entropy: &mut E,
        sending: &Sending,
        buffer: &mut PacketBuffer<'_>,
    ) -> Result<(), OutboundError>;

    /// Checks, and decrypts in place, the packet whose header of this protocol stands at `found`.
    fn open(
        &self,
        crypto: &mut C,
        packet: &mut [u8],
        found: &Upper,
        number: SequenceNumber,
        extended: bool,
    ) -> Result<Opened, InboundError>;
}

/// The parameters of an outbound packet.
pub struct Sending {
    /// The security parameters index.
    pub spi: u32,
    /// The packet's sequence number.
    pub number: SequenceNumber,
    /// Whether the high half of the sequence number is authenticated.
    pub extended: bool,
    /// Transport or tunnel.
    pub mode: Mode,
}

/// A packet that was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// Where in the packet the payload is.
    pub payload: Range<usize>,
    /// The protocol of the payload.
    pub next_header: u8,
}

/// A transform without optional parts ([`Features::NONE`]), for devices.
pub struct Basic<T>(pub T);

impl<C, T: Transform<C>> Transform<C> for Basic<T> {
    const FEATURES: Features = Features::NONE;

    fn protocol(&self) -> Protocol {
        self.0.protocol()
    }

    fn icv_len(&self) -> usize {
        self.0.icv_len()
    }

    fn protect<E: Entropy>(
        &self,
        crypto: &mut C,
        entropy: &mut E,
        sending: &Sending,
        buffer: &mut PacketBuffer<'_>,
    ) -> Result<(), OutboundError> {
        self.0.protect(crypto, entropy, sending, buffer)
    }

    fn open(
        &self,
        crypto: &mut C,
        packet: &mut [u8],
        found: &Upper,
        number: SequenceNumber,
        extended: bool,
    ) -> Result<Opened, InboundError> {
        self.0.open(crypto, packet, found, number, extended)
    }
}

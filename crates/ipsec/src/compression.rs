//! State shared by the ends of a link, by which AH and ESP headers are compressed.

use sixlock_base::{Eui64, New, Slot};
use sixlock_sixlowpan::ipsec::{Context, Flow, Format, Kind, Known};
use sixlock_sixlowpan::{PayloadCompression, Payloads};

use crate::Protocol;
use crate::layout::{self, Layout};

/// One packet of this many carries its whole sequence number.
const TOLD_EVERY: u8 = 64;

/// A number so little behind the highest belongs to a packet that came late. One that is further behind was carried whole, and the next ones
/// follow it. With 8 bits [`Context::known`] restores numbers up to here behind the highest.
const LATE: u32 = 64;

/// The state of a flow. All zeros if there is none.
#[derive(Clone, Copy)]
struct Entry {
    ends: [u8; 32],
    spi: u32,
    /// The highest sequence number received, or the last that was carried whole and is no late one.
    heard: u32,
    /// The last sequence number sent.
    last_sent: u32,
    kind: Kind,
    /// Length of AH in bytes.
    ah_len: u16,
    /// Whether a sequence number was received.
    is_heard: bool,
    /// How many of the next packets carry the last bits of their sequence number only.
    short: u8,
    /// When it was last used, in uses of the table; zero if it never was.
    used: u16,
}

impl Entry {
    const NONE: Self = Self {
        ends: [0; 32],
        spi: 0,
        heard: 0,
        last_sent: 0,
        kind: Kind::Ah,
        ah_len: 0,
        is_heard: false,
        short: 0,
        used: 0,
    };

    fn is_of(&self, flow: &Flow<'_>) -> bool {
        self.used != 0 && self.spi == flow.spi && self.kind == flow.kind && self.ends == *flow.ends
    }
}

/// The soft state of at most `FLOWS` flows, by addresses, protocol and security parameters index: the sequence numbers
/// received and sent. Forwarders and gateways need no keys for it.
///
/// It is learnt from packets that are not authenticated here. A forged one that this end's neighbour sends does no harm, as the next
/// packet carries its whole number. After one that a stranger sends on the link, the next packet is lost, and its sender asked for whole
/// numbers; or, if the forged number ends nearly as the true ones do, packets are lost up to the next that carries its whole number.
/// When the table is full, the least recently used flow is replaced.
///
/// `P` says how payloads are compressed. Without `DRAFTS`, the format of the drafts is not linked: where it is chosen, headers are not
/// compressed.
pub struct Contexts<const FLOWS: usize, const DRAFTS: bool = true, P = ()> {
    /// How payloads are compressed.
    pub payloads: P,
    format: Slot<Format>,
    default_spi: u32,
    entries: [Entry; FLOWS],
    uses: u16,
    ask: Slot<Eui64>,
}

impl<const FLOWS: usize, const DRAFTS: bool, P: Payloads> Contexts<FLOWS, DRAFTS, P> {
    /// Knows no flow; AH and ESP headers are not compressed. It is all zero bytes.
    pub const fn new() -> Self {
        Self {
            payloads: P::NEW,
            format: Slot::Empty,
            default_spi: 0,
            entries: [Entry::NONE; FLOWS],
            uses: 0,
            ask: Slot::Empty,
        }
    }

    /// Compresses headers in this format, which all nodes of the link use. Packets do not carry the security parameters index
    /// `default_spi`.
    pub fn start(&mut self, format: Format, default_spi: u32) {
        (self.format, self.default_spi) = (Slot::Full(format), default_spi);
    }

    fn find(&self, flow: &Flow<'_>) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.is_of(flow))
    }

    /// The entry of the packet's outermost AH or ESP, and the packet's number; a new entry may take the place of another.
    fn entry(&mut self, packet: &[u8]) -> Option<(&mut Entry, u32)> {
        let found = Layout::of(packet)?.visible;
        let (protocol, spi, number) = layout::numbers(packet, &found)?;
        let (kind, ah_len) = match protocol {
            Protocol::Ah => (Kind::Ah, (u16::from(*packet.get(found.at + 1)?) + 2) * 4),
            Protocol::Esp => (Kind::Esp, 0),
        };
        let flow = Flow { ends: packet.get(8..)?.first_chunk()?, kind, spi };
        self.uses = self.uses.checked_add(1).unwrap_or(1);
        let uses = self.uses;
        let mut oldest = 0;
        let mut place = None;
        for entry in &mut self.entries {
            if entry.is_of(&flow) {
                place = Some(entry);
                break;
            }
            let unused = if entry.used == 0 { u16::MAX } else { uses.wrapping_sub(entry.used) };
            if unused >= oldest {
                (oldest, place) = (unused, Some(entry));
            }
        }
        let entry = place?;
        if !entry.is_of(&flow) {
            *entry = Entry::NONE;
            (entry.ends, entry.kind, entry.spi) = (*flow.ends, kind, spi);
        }
        if entry.ah_len != ah_len {
            (entry.ah_len, entry.short) = (ah_len, 0);
        }
        entry.used = uses;
        Some((entry, number))
    }
}

impl<const FLOWS: usize, const DRAFTS: bool, P: Payloads> New for Contexts<FLOWS, DRAFTS, P> {
    const NEW: Self = Self::new();
}

impl<const FLOWS: usize, const DRAFTS: bool, P: Payloads> Context for Contexts<FLOWS, DRAFTS, P> {
    fn payloads(&self) -> Option<PayloadCompression> {
        self.payloads.compression()
    }

    fn format(&self) -> Option<Format> {
        self.format.get().copied().filter(|format| DRAFTS || *format == Format::Paper2012)
    }

    fn default_spi(&self) -> u32 {
        self.default_spi
    }

    fn is_known_to_receiver(&self, flow: &Flow<'_>, sequence: u32, ah_len: usize) -> bool {
        self.find(flow).is_some_and(|entry| {
            entry.short > 0
                && entry.last_sent.wrapping_add(1) == sequence
                && usize::from(entry.ah_len) == ah_len
        })
    }

    fn known(&self, flow: &Flow<'_>) -> Option<Known> {
        let entry = self.find(flow).filter(|entry| entry.is_heard)?;
        Some(Known { highest: entry.heard, ah_len: entry.ah_len.into() })
    }

    fn received(&mut self, packet: &[u8]) {
        if let Some((entry, number)) = self.entry(packet)
            && (!entry.is_heard || entry.heard.wrapping_sub(number) > LATE)
        {
            (entry.heard, entry.is_heard) = (number, true);
        }
    }

    fn sent(&mut self, packet: &[u8]) {
        if let Some((entry, number)) = self.entry(packet) {
            // Whole numbers are sent at the start, after a gap and every `TOLD_EVERY` packets.
            let follows = entry.last_sent.wrapping_add(1) == number;
            entry.short = entry.short.checked_sub(1).filter(|_| follows).unwrap_or(TOLD_EVERY - 1);
            entry.last_sent = number;
        }
    }

    fn widen(&mut self) {
        for entry in &mut self.entries {
            entry.short = 0;
        }
    }

    fn ask(&mut self, neighbour: Eui64) {
        self.ask = Slot::Full(neighbour);
    }

    fn poll_ask(&mut self) -> Option<Eui64> {
        self.ask.take()
    }
}

impl<const FLOWS: usize, const DRAFTS: bool, P: Payloads> Default for Contexts<FLOWS, DRAFTS, P> {
    fn default() -> Self {
        Self::new()
    }
}

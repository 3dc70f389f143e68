//! What a link's ends know of AH and ESP headers, so that these can be sent short.

use sixlock_base::{Eui64, Slot};
use sixlock_sixlowpan::ipsec::{Context, Flow, Format, Kind, Known};

use crate::{Protocol, place};

/// A sender tells a whole sequence number with every so many packets.
const TOLD_EVERY: u8 = 64;

/// What is known of a flow.
#[derive(Clone, Copy)]
struct Entry {
    ends: [u8; 32],
    kind: Kind,
    spi: u32,
    heard: Option<Known>,
    /// The last packet that its receivers were told of.
    told: Option<Known>,
    /// How many more packets say to them the end of their number only.
    short: u8,
    /// When it was last used, in uses of the table.
    used: u16,
}

impl Entry {
    fn is_of(&self, flow: &Flow<'_>) -> bool {
        self.spi == flow.spi && self.kind == flow.kind && self.ends == *flow.ends
    }
}

/// The soft state of at most `FLOWS` flows, by addresses, protocol and security parameters index: what was heard of them, and
/// what others were told. Nodes on the way and gateways need no keys for it.
///
/// It is learnt from packets that nobody here authenticates: what is forged costs the packets up to the next that says its
/// number whole. When the table is full, the flow that was not used for longest makes room.
///
/// Unless it knows the `DRAFTS`, their format is not linked, and where it is to be used, nothing is compressed.
pub struct Contexts<const FLOWS: usize, const DRAFTS: bool = true> {
    format: Slot<Format>,
    default_spi: u32,
    entries: [Slot<Entry>; FLOWS],
    uses: u16,
    ask: Slot<Eui64>,
}

impl<const FLOWS: usize, const DRAFTS: bool> Contexts<FLOWS, DRAFTS> {
    /// Knows nothing yet, and AH and ESP are carried as they are. It is all zero bytes.
    pub const fn new() -> Self {
        Self { format: Slot::Empty, default_spi: 0, entries: [Slot::Empty; FLOWS], uses: 0, ask: Slot::Empty }
    }

    /// Lets headers be compressed so, as all nodes of the link do; to be called first. Packets do not carry the index
    /// `default_spi`.
    pub fn start(&mut self, format: Format, default_spi: u32) {
        (self.format, self.default_spi) = (Slot::Full(format), default_spi);
    }

    fn find(&self, flow: &Flow<'_>) -> Option<&Entry> {
        self.entries.iter().filter_map(Slot::get).find(|entry| entry.is_of(flow))
    }

    /// The entry of the packet's outermost AH or ESP, and what the packet tells; a new entry may take the place of another.
    fn entry(&mut self, packet: &[u8]) -> Option<(&mut Entry, Known)> {
        let found = place::outermost(packet)?;
        let (protocol, spi, highest) = place::numbers(packet, &found)?;
        let (kind, ah_len) = match protocol {
            Protocol::Ah => (Kind::Ah, (usize::from(*packet.get(found.at + 1)?) + 2) * 4),
            Protocol::Esp => (Kind::Esp, 0),
        };
        let flow = Flow { ends: packet.get(8..)?.first_chunk()?, kind, spi };
        self.uses = self.uses.wrapping_add(1);
        let used = self.uses;
        let unused = |place: &Slot<Entry>| match place.get() {
            Some(entry) if entry.is_of(&flow) => (2, 0),
            None => (1, 0),
            Some(entry) => (0, used.wrapping_sub(entry.used)),
        };
        let place = self.entries.iter_mut().max_by_key(|place| unused(place))?;
        if place.get().is_none_or(|entry| !entry.is_of(&flow)) {
            *place =
                Slot::Full(Entry { ends: *flow.ends, kind, spi, heard: None, told: None, short: 0, used });
        }
        let entry = place.get_mut()?;
        entry.used = used;
        Some((entry, Known { highest, ah_len }))
    }
}

impl<const FLOWS: usize, const DRAFTS: bool> Context for Contexts<FLOWS, DRAFTS> {
    fn format(&self) -> Option<Format> {
        self.format.get().copied().filter(|format| DRAFTS || *format == Format::Paper2012)
    }

    fn default_spi(&self) -> u32 {
        self.default_spi
    }

    fn known_to_receiver(&self, flow: &Flow<'_>, sequence: u32) -> Option<Known> {
        let entry = self.find(flow)?;
        entry.told.filter(|told| entry.short > 0 && told.highest.wrapping_add(1) == sequence)
    }

    fn known(&self, flow: &Flow<'_>) -> Option<Known> {
        self.find(flow)?.heard
    }

    fn received(&mut self, packet: &[u8]) {
        if let Some((entry, mut told)) = self.entry(packet) {
            if let Some(Known { highest, .. }) = entry.heard {
                // Serial numbers: half of them are after the highest (RFC 1982).
                if told.highest.wrapping_sub(highest) > u32::MAX / 2 {
                    told.highest = highest;
                }
            }
            entry.heard = Some(told);
        }
    }

    fn sent(&mut self, packet: &[u8]) {
        if let Some((entry, told)) = self.entry(packet) {
            // Numbers are told whole at the start, after a gap and every so often.
            let follows = entry.told.is_some_and(|last| {
                last.ah_len == told.ah_len && last.highest.wrapping_add(1) == told.highest
            });
            entry.short = entry.short.checked_sub(1).filter(|_| follows).unwrap_or(TOLD_EVERY - 1);
            entry.told = Some(told);
        }
    }

    fn widen(&mut self) {
        for entry in self.entries.iter_mut().filter_map(Slot::get_mut) {
            entry.told = None;
        }
    }

    fn ask(&mut self, neighbour: Eui64) {
        self.ask = Slot::Full(neighbour);
    }

    fn poll_ask(&mut self) -> Option<Eui64> {
        self.ask.take()
    }
}

impl<const FLOWS: usize, const DRAFTS: bool> Default for Contexts<FLOWS, DRAFTS> {
    fn default() -> Self {
        Self::new()
    }
}

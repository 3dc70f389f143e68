//! What a link's ends know of AH and ESP headers, so that these can be sent short.

use sixlock_base::{Eui64, Slot};
use sixlock_ipv6::ah;
use sixlock_ipv6::esp;
use sixlock_ipv6::extension::Upper;
use sixlock_sixlowpan::ipsec::{Context, Flow, Format, Kind, Known};

use crate::{Protocol, place};

/// A sender tells a whole sequence number with every so many packets.
const TOLD_EVERY: u8 = 64;

/// What is known of a flow.
#[derive(Clone, Copy)]
struct Entry {
    flow: Flow,
    heard: Option<Known>,
    told: Option<Told>,
    /// When it was last used, in uses of the table.
    used: u32,
}

/// What the receivers of a flow were told.
#[derive(Clone, Copy)]
struct Told {
    last: u32,
    ah_len: usize,
    /// Packets since it was told whole.
    short: u8,
}

/// The soft state of at most `FLOWS` flows, by addresses, protocol and security parameters index: what was heard of them, and
/// what others were told. Nodes on the way and gateways need no keys for it.
///
/// It is learnt from packets that nobody here authenticates: what is forged costs the packets up to the next that says its
/// number whole. When the table is full, the flow that was not used for longest makes room.
pub struct Contexts<const FLOWS: usize> {
    format: Slot<Format>,
    default_spi: u32,
    entries: [Slot<Entry>; FLOWS],
    uses: u32,
    ask: Slot<Eui64>,
}

impl<const FLOWS: usize> Contexts<FLOWS> {
    /// Knows nothing yet, and AH and ESP are carried as they are. It is all zero bytes.
    pub const fn new() -> Self {
        Self { format: Slot::Empty, default_spi: 0, entries: [Slot::Empty; FLOWS], uses: 0, ask: Slot::Empty }
    }

    /// Lets headers be compressed so, as all nodes of the link do; to be called first. Packets do not carry the index
    /// `default_spi`.
    pub fn start(&mut self, format: Format, default_spi: u32) {
        (self.format, self.default_spi) = (Slot::Full(format), default_spi);
    }

    fn find(&self, flow: &Flow) -> Option<&Entry> {
        self.entries.iter().filter_map(Slot::get).find(|entry| entry.flow == *flow)
    }

    /// The entry of `flow`; a new one may take the place of another.
    fn entry(&mut self, flow: Flow) -> Option<&mut Entry> {
        let used = self.uses.wrapping_add(1);
        self.uses = used;
        let age = |place: &Slot<Entry>| match place.get() {
            Some(entry) if entry.flow == flow => (2, 0),
            None => (1, 0),
            Some(entry) => (0, used.wrapping_sub(entry.used)),
        };
        let place = self.entries.iter_mut().max_by_key(|place| age(place))?;
        let entry = match place.take() {
            Some(entry) if entry.flow == flow => Entry { used, ..entry },
            _ => Entry { flow, heard: None, told: None, used },
        };
        *place = Slot::Full(entry);
        place.get_mut()
    }
}

/// The outermost AH or ESP of a packet: its flow, its sequence number, and its length if it is AH.
fn seen(packet: &[u8]) -> Option<(Flow, u32, usize)> {
    let found = place::outermost(packet)?;
    let ends = *packet.get(8..)?.first_chunk()?;
    let Upper { protocol, at, .. } = found;
    let bytes = packet.get(at..)?;
    Some(match Protocol::named(protocol)? {
        Protocol::Ah => {
            let (ah::Header { spi, sequence, .. }, icv) = ah::Header::parse(bytes).ok()?;
            (Flow { ends, kind: Kind::Ah, spi }, sequence, ah::Header::LEN + icv.len())
        }
        Protocol::Esp => {
            let (esp::Header { spi, sequence }, _) = esp::Header::parse(bytes).ok()?;
            (Flow { ends, kind: Kind::Esp, spi }, sequence, 0)
        }
    })
}

impl<const FLOWS: usize> Context for Contexts<FLOWS> {
    fn format(&self) -> Option<Format> {
        self.format.get().copied()
    }

    fn default_spi(&self) -> u32 {
        self.default_spi
    }

    fn known_to_receiver(&self, flow: &Flow, sequence: u32) -> Option<Known> {
        let Told { last, ah_len, short } = self.find(flow)?.told?;
        // Numbers are told whole at the start, after a gap and every so often.
        let follows = sequence == last.wrapping_add(1);
        (follows && short < TOLD_EVERY - 1).then_some(Known { highest: last, ah_len })
    }

    fn known(&self, flow: &Flow) -> Option<Known> {
        self.find(flow)?.heard
    }

    fn received(&mut self, packet: &[u8]) {
        let Some((flow, sequence, ah_len)) = seen(packet) else { return };
        if let Some(entry) = self.entry(flow) {
            // Serial numbers: half of them are after the highest (RFC 1982).
            let highest = match entry.heard {
                Some(Known { highest, .. }) if sequence.wrapping_sub(highest) > u32::MAX / 2 => highest,
                _ => sequence,
            };
            entry.heard = Some(Known { highest, ah_len });
        }
    }

    fn sent(&mut self, packet: &[u8]) {
        let Some((flow, sequence, ah_len)) = seen(packet) else { return };
        let is_short = self.known_to_receiver(&flow, sequence).is_some_and(|known| known.ah_len == ah_len);
        if let Some(entry) = self.entry(flow) {
            let short = match entry.told {
                Some(told) if is_short => told.short.saturating_add(1),
                _ => 0,
            };
            entry.told = Some(Told { last: sequence, ah_len, short });
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

impl<const FLOWS: usize> Default for Contexts<FLOWS> {
    fn default() -> Self {
        Self::new()
    }
}

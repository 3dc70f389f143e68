//! What every attacker has, and what it is asked, whatever it does.

use core::net::Ipv6Addr;

use sixlock_base::{Entropy, Eui64, LinkSuite, Security};
use sixlock_ieee802154::ack;
use sixlock_lowpan::LinkAddresses;

use crate::discovery::{Addressing, DiscoveryKind};
use crate::random::Stream;
use crate::routing::RoutingKind;
use crate::time::Span;

use super::frames::{self, FrameFields, LinkKey};

/// Frame counters and sequence numbers from this one on are new to whoever checks them: no node has sent so many.
pub(super) const UNUSED: u32 = 1 << 31;
/// From the end of a frame to its acknowledgement: 12 symbols.
const TURNAROUND: Span = Span::from_micros(192);

/// A frame that an attacker sends.
pub(super) struct Sending {
    /// How much later.
    pub(super) after: Span,
    /// By which of its antennas.
    pub(super) antenna: usize,
    pub(super) frame: Vec<u8>,
    /// Whether it waits until the channel is clear.
    pub(super) is_polite: bool,
}

impl Sending {
    /// At the next clear moment, by the only antenna.
    pub(super) fn soon(frame: Vec<u8>) -> Self {
        Self { after: Span::ZERO, antenna: 0, frame, is_polite: true }
    }

    /// An acknowledgement of a frame that has just ended.
    pub(super) fn ack(antenna: usize, sequence: u8) -> Self {
        let frame = ack(sequence).to_vec();
        Self { after: TURNAROUND, antenna, frame, is_polite: false }
    }
}

/// How an attacker behaves.
pub(super) trait Behaviour: Send {
    /// It is time to do something of its own accord.
    fn act(&mut self, _context: &mut AttackerContext) -> Vec<Sending> {
        Vec::new()
    }

    /// One of the attacker's antennas has heard a frame, at whatever time: the attacker learns from it, and does nothing.
    fn overhear(&mut self, _context: &AttackerContext, _frame: &[u8]) {}

    /// A frame has ended that one of the attacker's antennas has heard while it attacks.
    fn hear(&mut self, _context: &mut AttackerContext, _antenna: usize, _frame: &[u8]) -> Vec<Sending> {
        Vec::new()
    }
}

/// What an attacker has, whatever it does.
pub(super) struct AttackerContext {
    /// What it calls itself.
    pub(super) own: Eui64,
    /// The station next to it.
    pub(super) next: Eui64,
    pub(super) target: Eui64,
    /// The key of links, if it has that.
    pub(super) link: Option<LinkKey>,
    pub(super) security: Security,
    pub(super) routing: RoutingKind,
    pub(super) addressing: Addressing,
    pub(super) stream: Stream,
    pub(super) sequence: u8,
    pub(super) frame_counter: u32,
    /// Packets that it has sent under a key that it has guessed: nobody reads them.
    pub(super) guessed: u32,
}

impl AttackerContext {
    /// The frames that carry a packet in somebody's name: to a neighbour, or to all.
    pub(super) fn frames(
        &mut self,
        source: Eui64,
        destination: Option<Eui64>,
        packet: &[u8],
    ) -> Vec<Sending> {
        self.frames_under((self.link, 0), (source, destination), packet)
    }

    /// Those that carry it to the station next to it, sealed under a key that is guessed. Their counters are beyond all that were used.
    pub(super) fn guessed_frames(&mut self, suite: LinkSuite, source: Eui64, packet: &[u8]) -> Vec<Sending> {
        let mut key = [0; 16];
        self.stream.fill(&mut key);
        self.guessed += 1;
        self.frames_under((Some((suite, key)), UNUSED), (source, Some(self.next)), packet)
    }

    fn frames_under(
        &mut self,
        (key, first_counter): (Option<LinkKey>, u32),
        (source, destination): (Eui64, Option<Eui64>),
        packet: &[u8],
    ) -> Vec<Sending> {
        let link = LinkAddresses { source, destination: destination.unwrap_or(Eui64([0xff; 8])) };
        let tag = self.stream.below(1 << 16) as u16;
        let payloads = frames::payloads(packet, link, tag, self.context());
        let frame = |payload: &Vec<u8>| {
            self.sequence = self.sequence.wrapping_add(1);
            self.frame_counter = self.frame_counter.wrapping_add(1);
            let fields = FrameFields {
                source,
                destination,
                sequence: self.sequence,
                wants_ack: destination.is_some(),
                frame_counter: first_counter.wrapping_add(self.frame_counter),
            };
            Sending::soon(frames::write(fields, key, payload))
        };
        payloads.iter().map(frame).collect()
    }

    /// The prefix that is context 0 of header compression, if nodes know it.
    fn context(&self) -> Option<[u8; 8]> {
        Some(self.addressing.prefix).filter(|_| self.addressing.discovery != DiscoveryKind::Rpl)
    }

    /// The address of a node in the mesh.
    pub(super) fn global(&self, node: Eui64) -> Ipv6Addr {
        self.addressing.of(node)
    }

    /// A node that there is not.
    pub(super) fn nobody(&mut self) -> Eui64 {
        Eui64::of_node((1 << 20) + self.stream.below(1 << 20) as u32)
    }
}

//! What a captured node does not send on.

use sixlock_ipv6::{extension, next_header};

use crate::random::{Probability, Purpose, Stream};

/// Decides which packets a captured node drops in place of sending them on.
#[derive(Clone, Debug)]
pub(crate) struct Dropping {
    /// How likely it drops a packet.
    share: Probability,
    /// Whether it drops the control messages of routing, too.
    drops_control: bool,
    /// The station number of the attacker who has captured the node.
    attacker: u32,
    /// How many it has dropped since that was last asked.
    dropped: u32,
    stream: Stream,
}

impl Dropping {
    /// Everything.
    pub(crate) fn all(seed: u64, node: u32, attacker: u32) -> Self {
        Self {
            share: Probability::ALWAYS,
            drops_control: true,
            attacker,
            dropped: 0,
            stream: Stream::new(seed, node, Purpose::Attack),
        }
    }

    /// This share of what others send, but for control messages.
    pub(crate) fn some(seed: u64, node: u32, attacker: u32, share: Probability) -> Self {
        Self { share, drops_control: false, ..Self::all(seed, node, attacker) }
    }

    /// Whether it drops this packet.
    pub(crate) fn drops(&mut self, packet: &[u8]) -> bool {
        let is_control = extension::skip(packet).is_some_and(|upper| upper.protocol == next_header::ICMPV6);
        let drops = (self.drops_control || !is_control) && self.share.happens(&mut self.stream);
        self.dropped += u32::from(drops);
        drops
    }

    /// How many it has dropped since this was last called, and for which attacker.
    pub(crate) fn take_dropped(&mut self) -> (u32, u32) {
        (self.attacker, core::mem::take(&mut self.dropped))
    }
}

//! How far the packets of attackers travel.

use core::net::Ipv6Addr;
use std::collections::{BTreeMap, VecDeque};

use sixlock_ipv6::{extension, next_header};

/// Packets of attackers that are remembered.
const PACKETS: usize = 4096;
/// Bytes behind the headers that change on the way: those of UDP with its checksum, or of AH and ESP with their numbers.
const FINGERPRINT: usize = 12;

/// Where a header of IPv6 says whom the packet is for.
const DESTINATION: usize = 24;

/// What tells a packet from others, wherever on its way it is seen.
pub(crate) type PacketFingerprint = (u8, [u8; FINGERPRINT]);

/// The fingerprint of a packet of which the beginning is there; none if it stays on its link.
pub(crate) fn fingerprint(packet: &[u8]) -> Option<PacketFingerprint> {
    let destination = Ipv6Addr::from(*packet.get(DESTINATION..)?.first_chunk::<16>()?);
    if destination.is_multicast() || destination.is_unicast_link_local() {
        return None;
    }
    let mut at = 0;
    loop {
        let upper = extension::skip(packet.get(at..)?)?;
        at += upper.at;
        if upper.protocol != next_header::IPV6 {
            let mut bytes = [0; FINGERPRINT];
            let rest = packet.get(at..)?;
            let length = rest.len().min(FINGERPRINT);
            bytes[..length].copy_from_slice(&rest[..length]);
            return Some((upper.protocol, bytes));
        }
    }
}

/// A packet on its way.
#[derive(Clone, Copy)]
struct Travelled {
    attacker: u32,
    hops: u32,
}

/// What has come of the packets of an attacker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Travels {
    pub(crate) packets: u32,
    /// How often stations of the network have sent them on, all together.
    pub(crate) hops: u32,
    /// The same of the one that they have sent on most often.
    pub(crate) most: u32,
}

/// The packets of attackers, seen on the air: how many stations send them on.
#[derive(Default)]
pub(crate) struct Trail {
    packets: BTreeMap<PacketFingerprint, Travelled>,
    oldest: VecDeque<PacketFingerprint>,
    travels: BTreeMap<u32, Travels>,
}

impl Trail {
    /// An attacker sends a packet.
    pub(crate) fn begin(&mut self, fingerprint: PacketFingerprint, attacker: u32) {
        if self.packets.insert(fingerprint, Travelled { attacker, hops: 0 }).is_none() {
            self.oldest.push_back(fingerprint);
        }
        self.travels.entry(attacker).or_default().packets += 1;
        if self.oldest.len() > PACKETS
            && let Some(oldest) = self.oldest.pop_front()
        {
            self.packets.remove(&oldest);
        }
    }

    /// A station of the network sends a packet, for the first time.
    pub(crate) fn pass(&mut self, fingerprint: PacketFingerprint) {
        let Some(packet) = self.packets.get_mut(&fingerprint) else { return };
        packet.hops += 1;
        let travels = self.travels.entry(packet.attacker).or_default();
        travels.hops += 1;
        travels.most = travels.most.max(packet.hops);
    }

    /// What has come of those of an attacker.
    pub(crate) fn travels(&self, attacker: u32) -> Travels {
        self.travels.get(&attacker).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(destination: Ipv6Addr, hop_limit: u8, checksum: u8) -> Vec<u8> {
        let source = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1);
        crate::attack::ipv6(
            (source, destination),
            next_header::UDP,
            hop_limit,
            &[0, 7, 0, 8, 0, 8, checksum, 0],
        )
    }

    #[test]
    fn a_packet_is_known_again_at_each_hop_and_counted_there() {
        let cloud = crate::network::CLOUD;
        let (mut trail, sent) = (Trail::default(), fingerprint(&packet(cloud, 64, 1)).unwrap());
        trail.begin(sent, 5);
        trail.pass(fingerprint(&packet(cloud, 63, 1)).unwrap());
        trail.pass(fingerprint(&packet(cloud, 62, 1)).unwrap());
        trail.pass(fingerprint(&packet(cloud, 63, 2)).unwrap());
        assert_eq!(trail.travels(5), Travels { packets: 1, hops: 2, most: 2 });
        assert_eq!(trail.travels(6), Travels::default());
    }

    #[test]
    fn what_stays_on_its_link_has_no_mark() {
        assert_eq!(fingerprint(&packet("fe80::1".parse().unwrap(), 64, 1)), None);
        assert_eq!(fingerprint(&packet("ff02::1a".parse().unwrap(), 64, 1)), None);
        assert_eq!(fingerprint(&[0x60; 30]), None);
    }

    #[test]
    fn no_more_packets_are_remembered_than_there_is_room_for() {
        let mut trail = Trail::default();
        for number in 0..5000_u16 {
            let mut bytes = [0; FINGERPRINT];
            bytes[..2].copy_from_slice(&number.to_be_bytes());
            trail.begin((next_header::UDP, bytes), 5);
        }
        assert_eq!((trail.packets.len(), trail.oldest.len()), (PACKETS, PACKETS));
    }
}

use core::net::Ipv6Addr;

use proptest::prelude::*;
use sixlock_ipv6::udp;
use sixlock_testing::Rig;
extern crate std;
use std::vec::Vec;

use super::*;
use crate::fragment;

type Host = Reassembler<1792, 2>;

/// A packet whose extension headers are `chain`, of which the first is `first`, and behind which `length` bytes of UDP stand.
fn packet(first: u8, chain: &[u8], length: usize) -> Vec<u8> {
    let mut packet = std::vec![0; Header::LEN];
    packet.extend(chain);
    packet.extend(std::vec![0; udp::Header::LEN]);
    packet.extend((0..length).map(|n| ((n * 7) >> 3) as u8));
    let header = Header {
        traffic_class: 0,
        flow_label: 0,
        payload_length: (packet.len() - Header::LEN) as u16,
        next_header: first,
        hop_limit: 64,
        source: Ipv6Addr::LOCALHOST,
        destination: Ipv6Addr::LOCALHOST,
    };
    header.emit(&mut packet).unwrap();
    packet
}

fn fragments(packet: &[u8], limit: usize, identification: u32) -> Vec<Vec<u8>> {
    let mut fragments = Vec::new();
    assert!(fragment(packet, limit, identification, |fragment| {
        fragments.push(fragment.to_vec());
        true
    }));
    fragments
}

/// A host and its rig.
struct Bench {
    host: Host,
    rig: Rig,
}

impl Bench {
    fn new() -> Self {
        Self { host: Host::default(), rig: Rig::seeded(0) }
    }

    fn handle(&mut self, packet: &[u8]) -> Result<Option<Whole>, Refusal> {
        self.host.handle(&mut self.rig.cx(), packet, false)
    }

    /// The packet that this fragment completes.
    fn complete(&mut self, packet: &[u8]) -> Option<Vec<u8>> {
        let whole = self.handle(packet).unwrap()?;
        let (buffer, len) = self.host.buffer_mut(&whole);
        let packet = buffer[..len].to_vec();
        self.host.release(whole);
        Some(packet)
    }

    fn counts(&self) -> [u32; 3] {
        [Counter::Ipv6ReassemblyFull, Counter::Ipv6ReassemblyTimeout, Counter::Ipv6ReassemblyConflict]
            .map(|counter| self.rig.count(counter))
    }
}

const RPL: [u8; 8] = [17, 0, 0x23, 4, 0, 0, 0, 0];

#[test]
fn fragments_begin_behind_what_nodes_on_the_way_read_and_are_as_long_as_they_may_be() {
    let whole = packet(0, &RPL, 1300);
    let pieces = fragments(&whole, 1280, 0x0102_0304);
    assert_eq!(pieces.iter().map(Vec::len).collect::<Vec<_>>(), [1280, 140]);
    let (first, last) = (&pieces[0], &pieces[1]);
    assert_eq!(first[40..56], [44, 0, 0x23, 4, 0, 0, 0, 0, 17, 0, 0, 1, 1, 2, 3, 4]);
    assert_eq!(last[48..56], [17, 0, 0x04, 0xc8, 1, 2, 3, 4]);
    // One fragment after the other: `send` ends it.
    let mut sent = 0;
    assert!(!fragment(&whole, 1280, 1, |_| {
        sent += 1;
        false
    }));
    assert_eq!(sent, 1);
    assert!(!fragment(&whole, 63, 1, |_| true), "no room for eight bytes");
}

#[test]
fn a_packet_is_whole_in_whatever_order_its_fragments_come_even_twice() {
    let whole = packet(0, &RPL, 1400);
    let pieces = fragments(&whole, 600, 9);
    assert_eq!(pieces.len(), 3);
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let mut bench = Bench::new();
        for n in &order[..2] {
            assert_eq!(bench.complete(&pieces[*n]), None);
            assert_eq!(bench.complete(&pieces[*n]), None, "the network made two of it");
        }
        assert_eq!(bench.complete(&pieces[order[2]]).as_ref(), Some(&whole));
        assert_eq!((bench.counts(), bench.host.poll_timeout()), ([0; 3], None));
    }
}

#[test]
fn fragments_that_overlap_or_disagree_end_their_packet() {
    let pieces = fragments(&packet(17, &[], 1400), 600, 9);
    let altered = |n: usize, at: usize, value: u8| {
        let mut piece = pieces[n].clone();
        piece[at] = value;
        piece
    };
    // Another content at the same place; a later beginning; a second end; one beyond the end; an end before what is here.
    let shifted = altered(1, 43, pieces[1][43] - 8);
    let ends = altered(1, 43, pieces[1][43] & 0xf8);
    let beyond = {
        let mut piece = pieces[1].clone();
        piece[42..44].copy_from_slice(&(1096u16 | 1).to_be_bytes());
        piece
    };
    for (come, wrong) in [
        (&[1usize][..], altered(1, 90, 0xff)),
        (&[0], shifted.clone()),
        (&[1], shifted),
        (&[2], ends.clone()),
        (&[2], beyond),
        (&[0, 2], ends),
    ] {
        let mut bench = Bench::new();
        for n in come {
            assert_eq!(bench.complete(&pieces[*n]), None);
        }
        assert_eq!(bench.complete(&wrong), None);
        assert_eq!((bench.counts(), bench.host.poll_timeout()), ([0, 0, 1], None));
    }
    // A first fragment that ends before the ports.
    let mut bench = Bench::new();
    let mut cut = pieces[0][..Header::LEN + 8].to_vec();
    cut[Header::LEN] = 60;
    cut[Header::PAYLOAD_LENGTH_AT..][..2].copy_from_slice(&16u16.to_be_bytes());
    cut.extend([17, 0, 1, 4, 0, 0, 0, 0]);
    assert_eq!(bench.complete(&cut), None);
    assert_eq!(bench.counts(), [0, 0, 1]);
}

#[test]
fn a_fragment_that_cannot_be_is_answered_where_it_says_so() {
    let mut bench = Bench::new();
    let pieces = fragments(&packet(17, &[], 1400), 600, 9);
    let mut odd = pieces[0].clone();
    odd.pop();
    let length = (odd.len() - Header::LEN) as u16;
    odd[Header::PAYLOAD_LENGTH_AT..][..2].copy_from_slice(&length.to_be_bytes());
    let problem = |pointer| Err(Refusal::Problem { problem: Problem::Field, pointer });
    assert_eq!(bench.handle(&odd), problem(4));
    let mut far = pieces[1].clone();
    far[42..44].copy_from_slice(&[0xff, 0xf9]);
    assert_eq!(bench.handle(&far), problem(42));
    let mut empty = pieces[2][..48].to_vec();
    empty[Header::PAYLOAD_LENGTH_AT..][..2].copy_from_slice(&8u16.to_be_bytes());
    assert_eq!(bench.handle(&empty), Err(Refusal::Silent));
    assert_eq!(bench.host.poll_timeout(), None);
}

#[test]
fn what_is_not_whole_is_given_up_after_a_minute_or_for_another() {
    let mut bench = Bench::new();
    let packets = [1, 2, 3].map(|identification| fragments(&packet(17, &[], 1400), 1280, identification));
    for (n, pieces) in packets.iter().enumerate() {
        bench.rig.now = Instant::from_millis(n as u32 * 1000);
        assert_eq!(bench.complete(&pieces[0]), None);
    }
    // The first had made room for the third.
    assert_eq!(bench.counts(), [1, 0, 0]);
    assert_eq!(bench.host.poll_timeout(), Some(Instant::from_millis(61_000)));
    bench.rig.now = Instant::from_millis(61_000);
    while let Some(first) = bench.host.handle_timeout(&mut bench.rig.cx()) {
        bench.host.release(first);
    }
    assert_eq!(bench.counts(), [1, 1, 0]);
    assert!(bench.complete(&packets[2][1]).is_some());
    // Too long for a buffer, in its front and as a whole.
    let chain: Vec<u8> = (0..8).flat_map(|n| [if n < 7 { 43 } else { 17 }, 0, 0, 0, 0, 0, 0, 0]).collect();
    let mut long = fragments(&packet(43, &chain, 1400), 1280, 4);
    long.extend(fragments(&packet(17, &[], 1800), 1280, 5).pop());
    for piece in [&long[0], &long[2]] {
        assert_eq!(bench.complete(piece), None);
    }
    assert_eq!((bench.counts(), bench.host.poll_timeout()), ([3, 1, 0], None));
}

#[test]
fn what_ipsec_has_opened_is_not_mixed_with_what_anybody_sends() {
    let mut bench = Bench::new();
    let whole = packet(17, &[], 1400);
    let pieces = fragments(&whole, 1280, 1);
    let opened = bench.host.handle(&mut bench.rig.cx(), &pieces[0], true).unwrap();
    assert_eq!(opened, None);
    assert_eq!(bench.handle(&pieces[1]), Ok(None), "it joins nothing");
    let opened = bench.host.handle(&mut bench.rig.cx(), &pieces[1], true).unwrap().unwrap();
    assert!(bench.host.is_opened(&opened));
    assert_eq!(bench.host.buffer_mut(&opened).1, whole.len());
}

#[test]
fn fragments_of_a_packet_come_in_fragments_of_those_around_it() {
    let mut bench = Bench::new();
    let inner = packet(17, &[], 1400);
    let mut came = None;
    for (identification, piece) in (1..).zip(fragments(&inner, 1280, 77)) {
        // Whatever is around it, a tunnel takes it off in place.
        let outer = packet(17, &[], piece.len());
        for fragment in fragments(&outer, 250, identification) {
            let Some(whole) = bench.handle(&fragment).unwrap() else { continue };
            let (buffer, _) = bench.host.buffer_mut(&whole);
            buffer[..piece.len()].copy_from_slice(&piece);
            bench.host.truncate(&whole, piece.len());
            came = bench.host.handle_again(&mut bench.rig.cx(), whole, true);
        }
    }
    let whole = came.unwrap();
    let (buffer, len) = bench.host.buffer_mut(&whole);
    assert_eq!(buffer[..len], inner);
    assert!(bench.host.is_opened(&whole));
}

proptest! {
    #[test]
    fn whatever_is_taken_apart_comes_together(
        length in 1300usize..1600, limit in 300usize..1300, identification: u32,
        order in proptest::collection::vec(any::<proptest::sample::Index>(), 8),
    ) {
        let whole = packet(0, &RPL, length);
        let mut pieces = fragments(&whole, limit, identification);
        prop_assert!(pieces.iter().all(|piece| piece.len() <= limit.min(1280)));
        let mut bench = Bench::new();
        for index in order {
            let n = index.index(pieces.len());
            let piece = pieces.remove(n);
            let came = bench.complete(&piece);
            prop_assert_eq!(came.is_some(), pieces.is_empty());
            if let Some(came) = came {
                prop_assert_eq!(&came, &whole);
                break;
            }
        }
    }

    #[test]
    fn any_fragments_are_put_together_or_refused(
        packets in proptest::collection::vec((0u16..300, any::<bool>(), 0usize..300, any::<u8>()), 0..20),
    ) {
        let mut bench = Bench::new();
        for (units, more, length, byte) in packets {
            let mut piece = packet(44, &[], 0);
            piece.extend(std::iter::repeat_n(byte, length));
            let header = fragment::Header { next_header: 17, offset: units * 8, more, identification: 1 };
            header.emit(&mut piece[Header::LEN..]).unwrap();
            let payload = (piece.len() - Header::LEN) as u16;
            piece[Header::PAYLOAD_LENGTH_AT..][..2].copy_from_slice(&payload.to_be_bytes());
            if let Ok(Some(whole)) = bench.handle(&piece) {
                let (buffer, len) = bench.host.buffer_mut(&whole);
                prop_assert!(Header::parse(&buffer[..len]).is_ok());
                bench.host.release(whole);
            }
        }
    }
}

#[test]
fn of_a_packet_that_is_given_up_the_first_fragment_is_left_as_it_came() {
    for (first, chain) in [(17, &[][..]), (0, &RPL[..])] {
        let pieces = fragments(&packet(first, chain, 1300), 600, 9);
        for present in [&[0][..], &[0, 1], &[1, 0], &[1], &[2, 1]] {
            let mut bench = Bench::new();
            for &piece in present {
                assert_eq!(bench.handle(&pieces[piece]), Ok(None));
            }
            assert_eq!(bench.host.handle_timeout(&mut bench.rig.cx()), None, "its time is not over");
            bench.rig.now = bench.host.poll_timeout().unwrap();
            let left = bench.host.handle_timeout(&mut bench.rig.cx());
            let left = left.map(|whole| {
                let (buffer, len) = bench.host.buffer_mut(&whole);
                let left = buffer[..len].to_vec();
                bench.host.release(whole);
                left
            });
            assert_eq!(left.as_ref(), present.contains(&0).then_some(&pieces[0]), "{present:?}");
            assert_eq!(bench.host.handle_timeout(&mut bench.rig.cx()), None);
            assert_eq!((bench.counts(), bench.host.poll_timeout()), ([0, 1, 0], None));
        }
    }
}

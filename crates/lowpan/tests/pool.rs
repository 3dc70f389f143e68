//! Two pools exchange frames over a link that a test plays.

use std::net::Ipv6Addr;

use proptest::collection::vec;
use proptest::prelude::*;
use sixlock_base::{Counter, Duration, Eui64, Instant};
use sixlock_ipv6::{Header, udp};
use sixlock_lowpan::{Datagrams, LinkAddresses, Lowpan, Received, SendError, fragment_sizes};
use sixlock_sixlowpan::PayloadCompression;
use sixlock_sixlowpan::ipsec::Context;
use sixlock_testing::{Fixed, Rig, packets};

const TIMEOUT: Duration = Duration::from_secs(8);
const CAPACITY: usize = 90;
const START: Instant = Instant::from_millis(0);

fn link(source: u32, destination: u32) -> LinkAddresses {
    LinkAddresses { source: Eui64::of_node(source), destination: Eui64::of_node(destination) }
}

/// A UDP packet between two nodes with `payload` bytes of payload.
fn packet(payload: usize, seed: u8) -> Vec<u8> {
    let address = |id| Eui64::of_node(id).with_prefix(sixlock_base::MESH_PREFIX);
    udp_packet(address(1), address(2), &(0..payload).map(|n| n as u8 ^ seed).collect::<Vec<_>>())
}

fn udp_packet(source: Ipv6Addr, destination: Ipv6Addr, payload: &[u8]) -> Vec<u8> {
    packets::udp(source, destination, 64, udp::Header { source_port: 5683, destination_port: 5684 }, payload)
}

fn pool_from<const MTU: usize, const POOL: usize>(first_tag: u16) -> Lowpan<Datagrams<MTU, POOL>> {
    let mut pool = Lowpan::new();
    pool.start(&mut Fixed(first_tag.to_le_bytes()));
    pool
}

fn pool<const MTU: usize, const POOL: usize>() -> Lowpan<Datagrams<MTU, POOL>> {
    pool_from(0xfffe)
}

/// The frame payloads that carry everything queued at `sender`.
fn drain<const MTU: usize, const POOL: usize>(
    sender: &mut Lowpan<Datagrams<MTU, POOL>>,
    capacity: usize,
) -> Vec<Vec<u8>> {
    drain_with(&mut (), sender, capacity)
}

fn drain_with<const MTU: usize, const POOL: usize>(
    context: &mut impl Context,
    sender: &mut Lowpan<Datagrams<MTU, POOL>>,
    capacity: usize,
) -> Vec<Vec<u8>> {
    let mut frame = [0; 127];
    std::iter::from_fn(|| {
        sender
            .poll_transmit(START, context, |_| false, capacity, &mut frame)
            .map(|it| frame[..it.len].to_vec())
    })
    .collect()
}

fn frames(rig: &mut Rig, packet: &[u8], capacity: usize) -> Vec<Vec<u8>> {
    let mut sender = pool::<2047, 2>();
    sender.send(&mut rig.cx(), link(1, 2), packet).unwrap();
    drain(&mut sender, capacity)
}

/// Hands `payloads` over and returns the packets that they complete.
fn deliver<const MTU: usize, const POOL: usize>(
    rig: &mut Rig,
    receiver: &mut Lowpan<Datagrams<MTU, POOL>>,
    from: u32,
    payloads: &[Vec<u8>],
) -> Vec<Vec<u8>> {
    deliver_with(&mut (), rig, receiver, from, payloads)
}

fn deliver_with<const MTU: usize, const POOL: usize>(
    context: &mut impl Context,
    rig: &mut Rig,
    receiver: &mut Lowpan<Datagrams<MTU, POOL>>,
    from: u32,
    payloads: &[Vec<u8>],
) -> Vec<Vec<u8>> {
    let mut packets = Vec::new();
    for payload in payloads {
        if let Some(received) = receiver.handle(&mut rig.cx(), context, link(from, 2), payload) {
            packets.push(receiver.packet(&received).to_vec());
            receiver.release(received);
        }
    }
    packets
}

/// A record of the handshake, of which the first 40 bytes are no noise.
fn record(length: u16) -> Vec<u8> {
    let noise = (0..length).map(|n| (n ^ n >> 3) as u8 | u8::from(n > 40));
    let message = [&[11, 0][..], &length.to_be_bytes(), &[0, 1, 0, 0, 0, 0], &length.to_be_bytes()].concat();
    let header = [&[22, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 0, 1][..], &(12 + length).to_be_bytes()].concat();
    header.into_iter().chain(message).chain(noise).collect()
}

#[test]
fn compressed_payloads_go_on_in_further_fragments() {
    let address = |id| Eui64::of_node(id).with_prefix(sixlock_base::MESH_PREFIX);
    for payloads in [PayloadCompression::Lithe, PayloadCompression::Ghc] {
        let mut rig = Rig::seeded(0);
        for length in 0..300 {
            let packet = udp_packet(address(1), address(2), &record(length));
            let [plain, compressed] = [None, Some(payloads)].map(|payloads| {
                let mut sender = pool::<2047, 2>();
                sender.send(&mut rig.cx(), link(1, 2), &packet).unwrap();
                match payloads {
                    Some(payloads) => drain_with(&mut Some(payloads), &mut sender, CAPACITY),
                    None => drain(&mut sender, CAPACITY),
                }
            });
            let bytes = |frames: &[Vec<u8>]| frames.iter().map(Vec::len).sum::<usize>();
            assert!(compressed.len() <= plain.len());
            assert!(bytes(&compressed) < bytes(&plain), "{payloads:?} {length}");
            let mut receiver = pool::<1280, 2>();
            let mut backwards = compressed;
            backwards.reverse();
            let received = deliver_with(&mut Some(payloads), &mut rig, &mut receiver, 1, &backwards);
            assert_eq!(received, [packet], "{payloads:?} {length}");
        }
    }
}

#[test]
fn a_small_packet_takes_one_frame_without_a_fragment_header() {
    let mut rig = Rig::seeded(0);
    let packet = packet(10, 0);
    let sent = frames(&mut rig, &packet, CAPACITY);
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0][..3], [0x7e, 0x77, 0xf0]);
    assert_eq!(sent[0].len(), 3 + 4 + 2 + 10);
    assert_eq!(deliver(&mut rig, &mut pool::<1280, 2>(), 1, &sent), [packet]);
}

#[test]
fn fragments_are_those_of_the_rfc() {
    let mut rig = Rig::seeded(0);
    let sent = frames(&mut rig, &packet(200, 0), CAPACITY);
    // 248 bytes: the first frame holds 13 bytes of headers that stand for 48, and 72 of payload.
    assert_eq!(sent[0][..7], [0xc0, 248, 0xff, 0xfe, 0x7e, 0x77, 0xf0]);
    assert_eq!(sent[0].len(), 4 + 9 + 72);
    assert_eq!(sent[1][..5], [0xe0, 248, 0xff, 0xfe, 120 / 8]);
    assert_eq!(sent[1].len(), 5 + 80);
    assert_eq!(sent[2][..5], [0xe0, 248, 0xff, 0xfe, 200 / 8]);
    assert_eq!(sent[2].len(), 5 + 48);
    assert_eq!(sent.len(), 3);
    let sizes: Vec<usize> = fragment_sizes((), &packet(200, 0), link(1, 2), CAPACITY).collect();
    assert_eq!(sizes, sent.iter().map(Vec::len).collect::<Vec<_>>());
}

#[test]
fn packets_leave_in_the_order_they_came_each_with_its_tag() {
    let mut rig = Rig::seeded(0);
    let mut sender = pool::<1280, 4>();
    for seed in 0..3 {
        sender.send(&mut rig.cx(), link(1, 2), &packet(100, seed)).unwrap();
    }
    let sent = drain(&mut sender, CAPACITY);
    let tags: Vec<[u8; 2]> = sent.iter().map(|frame| [frame[2], frame[3]]).collect();
    assert_eq!(tags, [[0xff, 0xfe], [0xff, 0xfe], [0xff, 0xff], [0xff, 0xff], [0, 0], [0, 0]]);
    let received = deliver(&mut rig, &mut pool::<1280, 2>(), 1, &sent);
    assert_eq!(received, [packet(100, 0), packet(100, 1), packet(100, 2)]);
}

/// A link on which packets of fewer bytes are not compressed.
struct Threshold(usize);

impl Context for Threshold {
    fn compress_from(&self) -> usize {
        self.0
    }
}

#[test]
fn packets_shorter_than_is_said_go_as_they_are_and_longer_ones_compressed() {
    let mut rig = Rig::seeded(0);
    let packet = packet(10, 0);
    for (from, capacity, sizes) in [
        (0, CAPACITY, &[19][..]),
        (58, CAPACITY, &[19]),
        (59, CAPACITY, &[59]),
        // Where it does not fit a frame, it goes in fragments, and is not compressed either.
        (59, 46, &[4 + 1 + 40, 5 + 18]),
    ] {
        let mut sender = pool::<1280, 2>();
        sender.send(&mut rig.cx(), link(1, 2), &packet).unwrap();
        let sent = drain_with(&mut Threshold(from), &mut sender, capacity);
        assert_eq!(sent.iter().map(Vec::len).collect::<Vec<_>>(), sizes, "{from} {capacity}");
        assert_eq!(fragment_sizes(Threshold(from), &packet, link(1, 2), capacity).collect::<Vec<_>>(), sizes);
        let begins_uncompressed = [0, 4].map(|at| sent[0][at..at + 2] == [0x41, packet[0]]);
        assert_eq!(begins_uncompressed, [sizes == [59], sizes.len() == 2]);
        assert_eq!(deliver(&mut rig, &mut pool::<1280, 2>(), 1, &sent), [&packet[..]], "{from} {capacity}");
    }
}

#[test]
fn headers_too_long_for_a_frame_go_uncompressed() {
    let mut rig = Rig::seeded(0);
    let elsewhere = |last| Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 1, 2, 3, last);
    let packet = udp_packet(elsewhere(1), elsewhere(2), &[7; 20]);
    let sent = frames(&mut rig, &packet, 32);
    assert_eq!(sent[0][..6], [0xc0, 68, 0xff, 0xfe, 0x41, 0x60]);
    assert_eq!(deliver(&mut rig, &mut pool::<1280, 2>(), 1, &sent), [packet]);
}

#[test]
fn what_is_not_a_whole_packet_is_not_sent() {
    let mut rig = Rig::seeded(0);
    let mut sender = pool::<100, 2>();
    let good = packet(10, 0);
    let mut send = |packet: &[u8]| sender.send(&mut rig.cx(), link(1, 2), packet);
    assert_eq!(send(&good[..50]), Err(SendError::NotIpv6));
    assert_eq!(send(&[&good[..], &[0]].concat()), Err(SendError::NotIpv6));
    assert_eq!(send(&packet(53, 0)), Err(SendError::TooLong));
    assert_eq!(send(&packet(52, 0)), Ok(()));
}

#[test]
fn too_little_capacity_sends_nothing_and_loses_nothing() {
    let mut rig = Rig::seeded(0);
    let mut sender = pool::<1280, 2>();
    sender.send(&mut rig.cx(), link(1, 2), &packet(100, 0)).unwrap();
    assert_eq!(sender.poll_transmit(START, &mut (), |_| false, 12, &mut [0; 127]), None);
    assert_eq!(sender.poll_transmit(START, &mut (), |_| false, 90, &mut [0; 12]), None);
    assert_eq!(deliver(&mut rig, &mut pool::<1280, 2>(), 1, &drain(&mut sender, 13)), [packet(100, 0)]);
}

#[test]
fn a_received_packet_is_changed_in_place_and_forwarded() {
    let mut rig = Rig::seeded(0);
    let mut router = pool::<1280, 3>();
    let sent = frames(&mut rig, &packet(200, 0), CAPACITY);
    let mut received = None;
    for payload in &sent {
        received = received.or(router.handle(&mut rig.cx(), &mut (), link(1, 2), payload));
    }
    let received = received.unwrap();
    let (buffer, len) = router.buffer_mut(&received);
    assert_eq!((buffer.len(), len), (1280, 248));
    buffer[Header::HOP_LIMIT_AT] -= 1;
    router.forward(&mut rig.cx(), received, link(2, 3), len).unwrap();
    let mut frame = [0; 127];
    let first = router.poll_transmit(START, &mut (), |_| false, CAPACITY, &mut frame).unwrap();
    assert_eq!(first.destination, Eui64::of_node(3));
    let rest = drain(&mut router, CAPACITY);
    let mut expected = packet(200, 0);
    expected[Header::HOP_LIMIT_AT] = 63;
    let mut far = pool::<1280, 2>();
    let mut arrived = None;
    for payload in [&frame[..first.len]].into_iter().chain(rest.iter().map(Vec::as_slice)) {
        arrived = arrived.or(far.handle(&mut rig.cx(), &mut (), link(2, 3), payload));
    }
    assert_eq!(far.packet(&arrived.unwrap()), expected);
}

#[test]
fn reassembly_and_transmission_leave_each_other_one_datagram() {
    let mut rig = Rig::seeded(0);
    let mut node = pool::<1280, 3>();
    // Two neighbours begin datagrams, a third finds no room.
    let first = frames(&mut rig, &packet(200, 0), CAPACITY).remove(0);
    for neighbour in 10..13 {
        assert_eq!(deliver(&mut rig, &mut node, neighbour, std::slice::from_ref(&first)).len(), 0);
    }
    assert_eq!(rig.count(Counter::LowpanReassemblyFull), 1);
    let mut send = |rig: &mut Rig| node.send(&mut rig.cx(), link(2, 1), &packet(10, 0));
    assert_eq!(send(&mut rig), Ok(()));
    assert_eq!(send(&mut rig), Err(SendError::Full));
    assert_eq!(rig.count(Counter::LowpanTransmitFull), 1);

    let mut node = pool::<1280, 3>();
    let mut send = |rig: &mut Rig| node.send(&mut rig.cx(), link(2, 1), &packet(10, 0));
    assert_eq!([send(&mut rig), send(&mut rig), send(&mut rig)], [Ok(()), Ok(()), Err(SendError::Full)]);
    // The last datagram still receives, and what is received is forwarded when there is room again.
    let whole = frames(&mut rig, &packet(10, 0), CAPACITY);
    let received = node.handle(&mut rig.cx(), &mut (), link(1, 2), &whole[0]).unwrap();
    assert_eq!(node.forward(&mut rig.cx(), received, link(2, 3), 58), Err(SendError::Full));
    node.poll_transmit(START, &mut (), |_| false, CAPACITY, &mut [0; 127]).unwrap();
    let received = node.handle(&mut rig.cx(), &mut (), link(1, 2), &whole[0]).unwrap();
    assert_eq!(node.forward(&mut rig.cx(), received, link(2, 3), 58), Ok(()));
    assert_eq!(drain(&mut node, CAPACITY).len(), 2);
}

/// How many frames leave `node` at `millis`.
fn leaving(node: &mut Lowpan<Datagrams<1280, 8>>, millis: u32) -> usize {
    let now = Instant::from_millis(millis);
    std::iter::from_fn(|| node.poll_transmit(now, &mut (), |_| false, CAPACITY, &mut [0; 127])).count()
}

#[test]
fn datagrams_in_fragments_for_a_host_beyond_a_neighbour_leave_each_other_time_to_move_on() {
    let mut rig = Rig::seeded(0);
    let mut node = pool::<1280, 8>();
    // Both are for node 2, which stands behind node 9.
    for seed in 0..2 {
        node.send(&mut rig.cx(), link(1, 9), &packet(200, seed)).unwrap();
    }
    let sent = leaving(&mut node, 5);
    assert_eq!(sent, frames(&mut rig, &packet(200, 0), CAPACITY).len());
    assert_eq!(node.poll_timeout(), Some(Instant::from_millis(205)));
    assert_eq!(leaving(&mut node, 204), 0);
    rig.pass(205);
    node.handle_timeout(&mut rig.cx());
    assert_eq!(node.poll_timeout(), None);
    assert_eq!(leaving(&mut node, 205), sent);
    // The next pause is on. It is for this host's own datagrams beyond a neighbour only, and for those to the same host.
    node.send(&mut rig.cx(), link(1, 9), &packet(10, 0)).unwrap();
    assert_eq!(leaving(&mut node, 206), 0);
    let elsewhere = Eui64::of_node(3).with_prefix(sixlock_base::MESH_PREFIX);
    node.send(&mut rig.cx(), link(1, 9), &udp_packet(elsewhere, elsewhere, &[0; 10])).unwrap();
    assert_eq!(leaving(&mut node, 206), 1);
    let whole = frames(&mut rig, &packet(10, 0), CAPACITY);
    let received = node.handle(&mut rig.cx(), &mut (), link(1, 2), &whole[0]).unwrap();
    node.forward(&mut rig.cx(), received, link(1, 9), 58).unwrap();
    assert_eq!(leaving(&mut node, 206), 1);
    assert_eq!(leaving(&mut node, 405), 1);
    for seed in 0..2 {
        node.send(&mut rig.cx(), link(1, 2), &packet(200, seed)).unwrap();
    }
    assert_eq!(leaving(&mut node, 406), 2 * sent);
}

/// The seeds of the packets that are left of those that wait in a pool, where one may wait for a neighbour that is asleep. Of the first
/// packet `sent` fragments have gone before.
fn left(rig: &mut Rig, sent: usize, seeds: &[u8]) -> Vec<u8> {
    let mut parent = pool::<1280, 4>();
    let mut frame = [0; 127];
    let mut part = vec![];
    for &seed in seeds {
        parent.send(&mut rig.cx(), link(1, 2), &packet(200, seed)).unwrap();
        if part.is_empty() {
            let next = || parent.poll_transmit(START, &mut (), |_| false, CAPACITY, &mut frame).unwrap();
            part = std::iter::repeat_with(next).take(sent).collect();
        }
    }
    parent.limit_held(&mut rig.cx(), |neighbour| neighbour == Eui64::of_node(3));
    assert_eq!(rig.count(Counter::LowpanHeldFull), 0, "its neighbour is awake");
    parent.limit_held(&mut rig.cx(), |neighbour| neighbour == Eui64::of_node(2));
    assert_eq!(rig.count(Counter::LowpanHeldFull) as usize, seeds.len() - 1);
    let frames = drain(&mut parent, CAPACITY);
    let whole = deliver(&mut Rig::seeded(0), &mut pool::<1280, 4>(), 1, &frames);
    match whole.is_empty() {
        // The rest of the one of which the other end has had the first fragments.
        true => vec![seeds[0]],
        false => whole.iter().map(|packet| *packet.last().unwrap() ^ 199).collect(),
    }
}

#[test]
fn what_waits_for_a_sleeping_neighbour_is_dropped_by_chance_unless_a_part_was_sent() {
    let mut survivors = [0; 2];
    for seed in 0..100 {
        let left = left(&mut Rig::seeded(seed), 0, &[0, 1]);
        assert_eq!(left.len(), 1);
        survivors[usize::from(left[0])] += 1;
    }
    // Each datagram of a flight that is sent again and again comes through.
    assert!(survivors.iter().all(|&times| times > 20), "{survivors:?}");
    for seed in 0..20 {
        assert_eq!(left(&mut Rig::seeded(seed), 1, &[0, 1, 2]), [0]);
    }
}

#[test]
fn neighbours_that_fell_asleep_in_the_middle_of_a_packet_do_not_keep_others_from_theirs() {
    let mut survivors = 0;
    for seed in 0..100 {
        let (mut rig, mut parent, mut frame) = (Rig::seeded(seed), pool::<1280, 4>(), [0; 127]);
        parent.send(&mut rig.cx(), link(1, 2), &packet(200, 0)).unwrap();
        parent.poll_transmit(START, &mut (), |_| false, CAPACITY, &mut frame).unwrap();
        parent.send(&mut rig.cx(), link(1, 3), &packet(200, 1)).unwrap();
        parent.limit_held(&mut rig.cx(), |_| true);
        survivors += u32::from(parent.waits_for(Eui64::of_node(3)));
    }
    assert!((20..80).contains(&survivors), "{survivors}");
}

#[test]
fn one_neighbour_cannot_take_every_buffer() {
    let mut rig = Rig::seeded(0);
    let mut node = pool::<1280, 5>();
    // Its share is two; beyond, its own oldest makes room.
    let datagrams: Vec<_> = (0..3)
        .map(|seed| {
            let mut sender: Lowpan<Datagrams<1280, 2>> = pool_from(u16::from(seed));
            sender.send(&mut rig.cx(), link(1, 2), &packet(200, seed)).unwrap();
            drain(&mut sender, CAPACITY)
        })
        .collect();
    for datagram in &datagrams {
        rig.pass(1);
        deliver(&mut rig, &mut node, 9, &datagram[..1]);
    }
    assert_eq!(rig.count(Counter::LowpanReassemblyFull), 1);
    for seed in [1, 2] {
        let received = deliver(&mut rig, &mut node, 9, &datagrams[usize::from(seed)][1..]);
        assert_eq!(received.len(), 1);
        // Its address is derived from the neighbour's; the rest is as it was sent.
        assert_eq!(received[0][48..], packet(200, seed)[48..]);
    }
    // Another neighbour was never in the way.
    assert_eq!(deliver(&mut rig, &mut node, 1, &datagrams[0]), [packet(200, 0)]);
}

#[test]
fn a_reassembly_is_given_up_in_time() {
    let mut rig = Rig::seeded(0);
    let mut node = pool::<1280, 2>();
    let sent = frames(&mut rig, &packet(200, 0), CAPACITY);
    assert_eq!(node.poll_timeout(), None);
    rig.now = Instant::from_millis(u32::MAX - 1000);
    deliver(&mut rig, &mut node, 1, &sent[..1]);
    assert_eq!(node.poll_timeout(), Some(rig.now + TIMEOUT));
    rig.pass(7999);
    node.handle_timeout(&mut rig.cx());
    deliver(&mut rig, &mut node, 1, &sent[1..2]);
    // Later fragments give no more time.
    rig.pass(1);
    node.handle_timeout(&mut rig.cx());
    assert_eq!(rig.count(Counter::LowpanReassemblyTimeout), 1);
    assert_eq!(node.poll_timeout(), None);
    assert_eq!(deliver(&mut rig, &mut node, 1, &sent[2..]).len(), 0);
}

#[test]
fn overlaps_throw_the_reassembly_away_and_repetitions_do_not() {
    let mut rig = Rig::seeded(0);
    let good = frames(&mut rig, &packet(200, 0), CAPACITY);
    let mut shifted = good[1].clone();
    shifted[4] -= 1;
    let mut shorter = good[1].clone();
    shorter.truncate(5 + 72);
    let mut altered = good[1].clone();
    altered[20] ^= 1;
    let mut shorter_first = good[0].clone();
    shorter_first.truncate(4 + 9 + 64);
    let mut longer_first = good[0].clone();
    longer_first.extend([0; 8]);
    for (what, overlap) in
        [("shifted", shifted), ("shorter", shorter), ("altered", altered), ("longer first", longer_first)]
    {
        let mut node = pool::<1280, 2>();
        let before = rig.count(Counter::LowpanReassemblyConflict);
        assert_eq!(deliver(&mut rig, &mut node, 1, &[good[1].clone(), overlap]).len(), 0, "{what}");
        assert_eq!(rig.count(Counter::LowpanReassemblyConflict), before + 1, "{what}");
        // The first of the two is gone: the datagram is not complete without it.
        let rest = [good[2].clone()];
        assert_eq!(deliver(&mut rig, &mut node, 1, &rest).len(), 0, "{what}");
    }
    // A first fragment that differs from the one that is here.
    let mut node = pool::<1280, 2>();
    let before = rig.count(Counter::LowpanReassemblyConflict);
    deliver(&mut rig, &mut node, 1, &[good[0].clone(), shorter_first]);
    assert_eq!(rig.count(Counter::LowpanReassemblyConflict), before + 1);
    // One fragment in the place of two that are here.
    let mut node = pool::<1280, 2>();
    let merged = [&good[1][..], &good[2][5..]].concat();
    deliver(&mut rig, &mut node, 1, &[good[1].clone(), good[2].clone(), merged]);
    assert_eq!(rig.count(Counter::LowpanReassemblyConflict), before + 2);
    // Repetitions are no conflict.
    let before = rig.count(Counter::LowpanReassemblyConflict);
    let mut node = pool::<1280, 2>();
    let twice = [&good[..2], &good[..2], &good[2..]].concat();
    assert_eq!(deliver(&mut rig, &mut node, 1, &twice), [packet(200, 0)]);
    assert_eq!(rig.count(Counter::LowpanReassemblyConflict), before);
}

#[test]
fn an_elided_udp_checksum_is_restored_when_the_packet_is_complete() {
    let mut rig = Rig::seeded(0);
    for payload in [10, 200] {
        let sent: Vec<Vec<u8>> = frames(&mut rig, &packet(payload, 0), CAPACITY)
            .into_iter()
            .map(|frame| match frame.iter().position(|&byte| byte == 0xf0).filter(|&at| at < 8) {
                // 7e77 f0 ports(4) checksum(2)
                Some(at) => [&frame[..at], &[0xf4], &frame[at + 1..at + 5], &frame[at + 7..]].concat(),
                None => frame,
            })
            .collect();
        let reversed: Vec<_> = sent.into_iter().rev().collect();
        assert_eq!(deliver(&mut rig, &mut pool::<1280, 2>(), 1, &reversed), [packet(payload, 0)]);
    }
}

#[test]
fn what_makes_no_sense_is_dropped_and_counted() {
    let mut rig = Rig::seeded(0);
    let mut node = pool::<256, 2>();
    let good = frames(&mut rig, &packet(200, 0), CAPACITY);
    deliver(&mut rig, &mut node, 1, &good[..1]);
    let malformed = [
        vec![],
        vec![0x41],
        vec![0x3f, 0, 0],
        // Fragments of this datagram: empty, not a multiple of 8 long, and beyond its end.
        good[1][..5].to_vec(),
        good[1][..12].to_vec(),
        [&good[2][..], &[0; 8]].concat(),
        // An uncompressed packet longer than it says.
        [&[0x41], &packet(5, 0)[..], &[0]].concat(),
    ];
    deliver(&mut rig, &mut node, 1, &malformed);
    assert_eq!(rig.count(Counter::LowpanMalformed), malformed.len() as u32);
    // A first fragment that is not a multiple of 8 long.
    let uneven = good[0][..good[0].len() - 3].to_vec();
    deliver(&mut rig, &mut pool::<256, 2>(), 1, &[uneven]);
    assert_eq!(rig.count(Counter::LowpanMalformed), malformed.len() as u32 + 1);
    // Longer than a datagram of this pool.
    deliver(&mut rig, &mut node, 3, &[vec![0xc1, 1, 0, 0, 0x41, 0x60]]);
    assert_eq!(rig.count(Counter::LowpanReassemblyFull), 1);
    // The datagram under way is none the worse for it.
    assert_eq!(deliver(&mut rig, &mut node, 1, &good[1..]), [packet(200, 0)]);
}

proptest! {
    #[test]
    fn packets_survive_reordering_duplication_and_loss(
        payload in vec(any::<u8>(), 0..600), capacity in 13usize..=110, order in any::<u64>(), lost in vec(0usize..40, 0..2),
        addresses in any::<[bool; 2]>(),
    ) {
        let mut rig = Rig::seeded(0);
        let address = |near: bool, id| if near { Eui64::of_node(id).with_prefix(sixlock_base::MESH_PREFIX) } else { Ipv6Addr::new(0x2001, 1, 2, 3, 4, 5, 6, id as u16) };
        let packet = udp_packet(address(addresses[0], 1), address(addresses[1], 2), &payload);
        let sent = frames(&mut rig, &packet, capacity);
        prop_assert!(sent.iter().all(|frame| frame.len() <= capacity));
        let sizes: Vec<usize> = fragment_sizes((), &packet, link(1, 2), capacity).collect();
        prop_assert_eq!(sizes, sent.iter().map(Vec::len).collect::<Vec<_>>());

        // Every frame twice, in an order drawn from a small generator, without the lost ones.
        let kept: Vec<usize> = (0..sent.len()).filter(|n| !lost.contains(n)).collect();
        let mut arriving: Vec<Vec<u8>> = kept.iter().chain(&kept).map(|&n| sent[n].clone()).collect();
        let mut state = order;
        for n in (1..arriving.len()).rev() {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            arriving.swap(n, (state >> 33) as usize % (n + 1));
        }
        let mut node = pool::<1280, 2>();
        let received = deliver(&mut rig, &mut node, 1, &arriving);
        if kept.len() == sent.len() {
            prop_assert!(!received.is_empty());
        } else {
            prop_assert!(received.is_empty());
            // The sender tries again as a whole, with another tag.
            let mut again: Lowpan<Datagrams<1280, 2>> = pool_from(7);
            again.send(&mut rig.cx(), link(1, 2), &packet).unwrap();
            prop_assert_eq!(deliver(&mut rig, &mut node, 1, &drain(&mut again, capacity)), [packet.clone()]);
        }
        for arrived in received {
            prop_assert_eq!(&arrived, &packet);
        }
        prop_assert_eq!(rig.count(Counter::LowpanReassemblyConflict), 0);
        prop_assert_eq!(rig.count(Counter::LowpanMalformed), 0);
    }

    #[test]
    fn any_frames_are_taken_or_dropped_and_the_pool_stays_usable(
        payloads in vec((prop_oneof![Just(0xc0u8), Just(0xe0), any::<u8>()], 0u8..80, vec(any::<u8>(), 0..60), 1u32..4), 0..40),
    ) {
        let mut rig = Rig::seeded(0);
        let mut node = pool::<128, 3>();
        for (first, size, rest, from) in payloads {
            rig.pass(100);
            // Few tags and sizes, so that fragments meet.
            let payload = [&[first, size & 0x50, 0, size & 1, size >> 3][..], &rest].concat();
            let received: Option<Received> = node.handle(&mut rig.cx(), &mut (), link(from, 2), &payload);
            if let Some(received) = received {
                prop_assert!(Header::parse(node.packet(&received)).is_ok());
                let (_, len) = node.buffer_mut(&received);
                let _ = node.forward(&mut rig.cx(), received, link(2, 9), len);
                let _ = drain(&mut node, 60);
            }
        }
        rig.pass(TIMEOUT.millis());
        node.handle_timeout(&mut rig.cx());
        prop_assert_eq!(node.poll_timeout(), None);
        let sent = frames(&mut rig, &packet(80, 3), CAPACITY);
        prop_assert_eq!(deliver(&mut rig, &mut node, 1, &sent), [packet(80, 3)]);
    }
}

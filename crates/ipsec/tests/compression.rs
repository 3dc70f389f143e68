//! Headers over a link whose ends learn about their flows.

use proptest::prelude::*;
use sixlock_base::Eui64;
use sixlock_ipsec::Contexts;
use sixlock_sixlowpan::ipsec::{Context, Format};
use sixlock_sixlowpan::{Error, LinkAddresses, compress_with, decompress_with};
use sixlock_testing::ipsec::*;

const LINK: LinkAddresses = LinkAddresses {
    source: Eui64([0x02, 0x12, 0x74, 0, 0, 0, 0, 1]),
    destination: Eui64([0x02, 0x12, 0x74, 0, 0, 0, 0, 2]),
};

/// An end of a link that keeps the state of four flows.
struct End(Contexts<4>);

impl End {
    fn new(format: Format) -> Self {
        let mut contexts = Contexts::new();
        contexts.start(format, 0x2002);
        Self(contexts)
    }

    fn send(&mut self, packet: &[u8]) -> Vec<u8> {
        let mut out = vec![0; packet.len() + 20];
        let headers = compress_with(&self.0, packet, LINK, &mut out).unwrap();
        self.0.sent(packet);
        out.truncate(headers.written);
        out.extend(&packet[headers.consumed..]);
        out
    }

    fn receive(&mut self, payload: &[u8]) -> Result<Vec<u8>, Error> {
        let mut out = vec![0; payload.len() + 200];
        let headers = decompress_with(&self.0, payload, LINK, None, &mut out)?;
        out.truncate(headers.written);
        out.extend(&payload[headers.consumed..]);
        self.0.received(&out);
        Ok(out)
    }
}

#[test]
fn the_number_is_whole_at_the_start_and_with_every_64th_packet() {
    for (format, suite) in [
        (Format::Paper2012, "ah:xcbc"),
        (Format::Paper2012, "esp:ctr-xcbc"),
        (Format::Drafts, "ah:xcbc"),
        (Format::Drafts, "esp:ccm-8"),
    ] {
        let (mut alice, mut bob) = pair::<8>(suite, ModeKind::Transport, false);
        let (mut near, mut far) = (End::new(format), End::new(format));
        let lengths: Vec<usize> = (0..200)
            .map(|_| {
                let protected = alice.send(&udp_packet(b"reading")).unwrap();
                let payload = near.send(&protected);
                assert_eq!(far.receive(&payload).as_ref(), Ok(&protected));
                bob.receive(&protected).unwrap();
                payload.len()
            })
            .collect();
        let whole: Vec<usize> = (0..200).filter(|&n| lengths[n] > lengths[1]).collect();
        assert_eq!(whole, [0, 64, 128, 192], "{format:?} {suite}");
    }
}

#[test]
fn after_a_gap_the_number_is_whole() {
    let (mut alice, _) = pair::<8>("esp:gcm", ModeKind::Transport, false);
    let mut near = End::new(Format::Paper2012);
    let mut lengths = Vec::new();
    for n in 0..6 {
        if n == 3 {
            alice.send(&udp_packet(b"another way")).unwrap();
        }
        lengths.push(near.send(&alice.send(&udp_packet(b"reading")).unwrap()).len());
    }
    let short = lengths[1];
    assert_eq!(lengths, [short + 2, short, short, short + 2, short, short]);
}

#[test]
fn a_receiver_that_has_forgotten_refuses_short_numbers_until_it_is_told_one() {
    let (mut alice, _) = pair::<8>("ah:xcbc", ModeKind::Transport, false);
    let (mut near, mut far) = (End::new(Format::Paper2012), End::new(Format::Paper2012));
    let mut send = |near: &mut End| {
        let packet = alice.send(&udp_packet(b"reading")).unwrap();
        (near.send(&packet), packet)
    };
    for _ in 0..10 {
        let (payload, packet) = send(&mut near);
        assert_eq!(far.receive(&payload), Ok(packet));
    }
    // It reboots, and says so when it has to.
    far = End::new(Format::Paper2012);
    assert_eq!(far.receive(&send(&mut near).0), Err(Error::UnknownSequence));
    near.0.widen();
    for _ in 0..10 {
        let (payload, packet) = send(&mut near);
        assert_eq!(far.receive(&payload), Ok(packet));
    }
    // If nobody hears it, it waits for at most 64 packets.
    far = End::new(Format::Paper2012);
    let lost = (0..100).take_while(|_| far.receive(&send(&mut near).0).is_err()).count();
    assert!((1..64).contains(&lost), "{lost}");
    let (payload, packet) = send(&mut near);
    assert_eq!(far.receive(&payload), Ok(packet));
}

#[test]
fn a_forged_number_misleads_nobody_about_those_that_follow() {
    for (format, suite) in [(Format::Paper2012, "ah:xcbc"), (Format::Drafts, "esp:ccm-8")] {
        // Half of all numbers are ahead of the flow's, and half are behind.
        for forged in [10_u32, 300, 5_000, 0x0100_0000, 0x7fff_ffff, 0x8000_0000, 0xffff_0000] {
            let (mut alice, _) = pair::<8>(suite, ModeKind::Transport, false);
            let (mut near, mut far) = (End::new(format), End::new(format));
            for n in 0..2_100 {
                let packet = alice.send(&udp_packet(b"reading")).unwrap();
                if n == 2_000 {
                    let mut other = packet.clone();
                    let at = 40 + if suite.starts_with("ah") { 8 } else { 4 };
                    other[at..at + 4].copy_from_slice(&forged.to_be_bytes());
                    assert_eq!(far.receive(&near.send(&other)), Ok(other), "{suite} {forged}");
                }
                assert_eq!(far.receive(&near.send(&packet)), Ok(packet), "{suite} {forged} {n}");
            }
        }
    }
}

#[test]
fn a_forged_number_of_a_stranger_costs_the_packet_by_which_it_shows() {
    for format in [Format::Paper2012, Format::Drafts] {
        for forged in [5_000_u32, 40_000, 0x0100_8000, 0x8000_8000] {
            let (mut alice, _) = pair::<8>("ah:xcbc", ModeKind::Transport, false);
            let (mut near, mut far) = (End::new(format), End::new(format));
            let mut send = |near: &mut End| {
                let packet = alice.send(&udp_packet(b"reading")).unwrap();
                (near.send(&packet), packet)
            };
            let (payload, packet) = send(&mut near);
            assert_eq!(far.receive(&payload).as_ref(), Ok(&packet));
            let mut other = packet;
            other[48..52].copy_from_slice(&forged.to_be_bytes());
            assert_eq!(far.receive(&End::new(format).send(&other)), Ok(other));
            assert_eq!(far.receive(&send(&mut near).0), Err(Error::UnknownSequence), "{forged}");
            near.0.widen();
            for _ in 0..10 {
                let (payload, packet) = send(&mut near);
                assert_eq!(far.receive(&payload), Ok(packet), "{forged}");
            }
        }
    }
}

#[test]
fn what_comes_late_behind_a_gap_misleads_nobody_about_what_follows() {
    let (mut alice, _) = pair::<8>("esp:ccm-8", ModeKind::Transport, false);
    let (mut near, mut far) = (End::new(Format::Paper2012), End::new(Format::Paper2012));
    let send = |alice: &mut Machine<8>, near: &mut End| {
        let packet = alice.send(&udp_packet(b"reading")).unwrap();
        (near.send(&packet), packet)
    };
    let (payload, packet) = send(&mut alice, &mut near);
    assert_eq!(far.receive(&payload), Ok(packet));
    let (late, _) = send(&mut alice, &mut near);
    // It reboots, and goes on with another block of numbers.
    (alice, _) = pair::<8>("esp:ccm-8", ModeKind::Transport, false);
    alice.skip_to(2);
    let (payload, packet) = send(&mut alice, &mut near);
    assert_eq!(far.receive(&payload), Ok(packet));
    assert_eq!(far.receive(&late), Err(Error::UnknownSequence));
    for _ in 0..10 {
        let (payload, packet) = send(&mut alice, &mut near);
        assert_eq!(far.receive(&payload), Ok(packet));
    }
}

#[test]
fn numbers_cross_2_to_the_16_and_2_to_the_32() {
    for block in [63, (1 << 22) - 1] {
        let (mut alice, mut bob) = pair::<8>("esp:gcm-implicit", ModeKind::Transport, true);
        alice.skip_to(block);
        let (mut near, mut far) = (End::new(Format::Paper2012), End::new(Format::Paper2012));
        for n in 0..2000u32 {
            let plain = udp_packet(&n.to_be_bytes());
            let protected = alice.send(&plain).unwrap();
            let restored = far.receive(&near.send(&protected)).unwrap();
            assert_eq!(bob.receive(&restored), Ok(plain));
        }
    }
}

#[test]
fn the_flow_that_was_not_used_for_longest_makes_room() {
    let mut far = End::new(Format::Paper2012);
    let mut near = End::new(Format::Paper2012);
    // Five flows, of which four find room.
    let flow = |n: u8, sequence: u32| {
        let mut esp = vec![0, 0, 0x20, 0x02];
        esp.extend(sequence.to_be_bytes());
        esp.extend([0xaa; 20]);
        let mut source = alice().octets();
        source[15] = n;
        packet(source.into(), bob(), 50, &[], &esp)
    };
    for n in 0..4 {
        far.receive(&near.send(&flow(n, 1))).unwrap();
    }
    far.receive(&near.send(&flow(0, 2))).unwrap();
    far.receive(&near.send(&flow(4, 1))).unwrap();
    let known: Vec<bool> = (0..5)
        .map(|n| {
            let mut sender = End::new(Format::Paper2012);
            sender.send(&flow(n, 2));
            far.receive(&sender.send(&flow(n, 3))).is_ok()
        })
        .collect();
    assert_eq!(known, [true, false, true, true, true]);
}

proptest! {
    #[test]
    fn whatever_is_lost_what_is_restored_is_what_was_sent(
        lost in prop::collection::vec(any::<bool>(), 1..300), start in 0..70u32, drafts: bool,
        suite in prop::sample::select(vec!["ah:xcbc", "esp:ctr-xcbc"]),
    ) {
        let format = if drafts { Format::Drafts } else { Format::Paper2012 };
        let (mut alice, _) = pair::<8>(suite, ModeKind::Transport, true);
        alice.skip_to(start);
        let (mut near, mut far) = (End::new(format), End::new(format));
        for lost in lost {
            let protected = alice.send(&udp_packet(b"reading")).unwrap();
            let payload = near.send(&protected);
            if !lost {
                match far.receive(&payload) {
                    Ok(restored) => prop_assert_eq!(restored, protected),
                    Err(error) => prop_assert_eq!(error, Error::UnknownSequence),
                }
            }
        }
    }

    #[test]
    fn any_packets_are_learnt_from_or_not(packets in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..80), 0..10)) {
        let mut contexts = Contexts::<2>::new();
        contexts.start(Format::Paper2012, 1);
        for mut packet in packets {
            if packet.len() > 40 {
                packet[6] = 50 + packet[6] % 2;
            }
            contexts.received(&packet);
            contexts.sent(&packet);
        }
    }
}

//! IPsec with the Linux kernel on the other side: each takes what the other has protected, and refuses what was altered. And its
//! IEEE 802.15.4 and 6LoWPAN beside ours.
//!
//! The kernel is Debian's, in a virtual machine for each test. `SIXLOCK_LENGTHS` says how many lengths of packets are
//! tried with each suite, `SIXLOCK_NETWORK_LENGTHS` how many through a network, and `SIXLOCK_LOWPAN_LENGTHS` how many over the air
//! with a suite of link security: two or more.
#![cfg(target_arch = "x86_64")]

mod example;
mod network;
mod pair;
mod peer;
mod radio;
mod security_gateway;
mod tcp;

use std::collections::BTreeMap;
use std::net::Ipv6Addr;

use sixlock_base::Counter;
use sixlock_ipsec::InboundError;
use sixlock_ipv6::{Header, extension, next_header};

use pair::{Pair, common};
use peer::{Kernel, outside};
use sixlock_testing::ipsec::*;

/// A hop-by-hop header with the option of RPL, as one is sent that may leave the mesh
/// (<https://www.rfc-editor.org/rfc/rfc9008#section-4.2>), before a header of `next`. Routers change its last four bytes.
fn rpl_option(next: u8) -> [u8; 8] {
    [next, 0, 0x23, 4, 0x80, 0, 1, 0]
}

/// Destination options, of a kind that is skipped where it is unknown, before a header of `next`.
fn destination_options(next: u8) -> [u8; 16] {
    [next, 1, 0x1e, 12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
}

/// Associations for each of `modes`, in transport and in tunnel mode.
fn pairs(modes: impl IntoIterator<Item: AsRef<str>>) -> Vec<Pair> {
    let cases = modes.into_iter().flat_map(|mode| ModeKind::BOTH.map(|way| (mode.as_ref().to_owned(), way)));
    (1..).zip(cases).map(|(number, (mode, way))| Pair::new(number, &[&mode], way)).collect()
}

/// A kernel that has its ends of `pairs`, and `more` to do.
fn boot(pairs: &[Pair], more: &str) -> Kernel {
    Kernel::boot(&(pairs.iter().map(Pair::commands).collect::<String>() + more))
}

/// Bytes that are not alike.
fn bytes(count: u32) -> Vec<u8> {
    (0..count).map(|n| ((n * 31) >> 8) as u8).collect()
}

/// Lengths from 1 to `longest`, both among them: as many as `variable` says, or `few`.
fn lengths(longest: usize, variable: &str, few: usize) -> impl Iterator<Item = usize> {
    let count = std::env::var(variable).map_or(few, |count| count.parse().unwrap());
    (0..count).map(move |n| 1 + n * (longest - 1) / (count - 1))
}

#[test]
fn every_suite_that_the_kernel_has_carries_datagrams_and_echoes_in_both_modes() {
    let modes = common().chain(["esp:ctr", "esp:cbc"].map(String::from));
    let mut pairs = pairs(modes);
    let ah_around_esp = ["esp:ctr-xcbc", "ah:hmac-sha1"];
    pairs.push(Pair::new(pairs.len() as u16 + 1, &ah_around_esp, ModeKind::Transport));
    let kernel = boot(&pairs, "");
    let mut exchanges = 0;
    for pair in &pairs {
        let mut host = pair.host();
        for length in lengths(1280, "SIXLOCK_LENGTHS", 3) {
            pair.converse(&kernel, &mut host, &vec![length as u8; length]);
            exchanges += 2;
        }
    }
    assert_eq!(kernel.counts(), BTreeMap::new());
    println!("{} pairs of associations, {exchanges} answers", pairs.len());
}

#[test]
fn cleartext_replays_and_altered_packets_are_refused_at_both_ends() {
    let modes = ["ah:xcbc", "ah:hmac-sha256", "esp:ctr-xcbc", "esp:cbc-hmac-sha1", "esp:gcm", "esp:ccm-8"];
    let pairs = pairs(modes);
    let strangers = ModeKind::BOTH.map(|way| Pair::new(100 + way as u16, &["ah:xcbc"], way));
    let kernel = boot(&pairs, &strangers.each_ref().map(Pair::commands).concat());
    let mut strangers = strangers.map(|stranger| stranger.host());
    let mut expected = BTreeMap::<String, u32>::new();
    let mut refused = |counter: &str, times| *expected.entry(counter.into()).or_default() += times;
    for (pair, stranger) in pairs.iter().zip((0..2).cycle()) {
        let stranger = &mut strangers[stranger];
        let mut host = pair.host();
        let question = host.send(&pair.question(b"once")).unwrap();
        kernel.send(&question);
        let answer = kernel.hear(pair.outside());
        let opened = host.receive(&answer).unwrap();

        // None of these is answered: the answer to the question behind them is the next packet that comes.
        kernel.send(&question);
        refused("XfrmInStateSeqError", 1);
        kernel.send(&pair.question(b"in the clear"));
        refused("XfrmInTmplMismatch", 1);
        let altered = host.send(&pair.question(b"altered")).unwrap();
        for at in spi_at(&altered)..altered.len() {
            let mut altered = altered.clone();
            altered[at] ^= 0x80;
            kernel.send(&altered);
        }
        refused("XfrmInNoStates", 4);
        refused("XfrmInStateProtoError", (altered.len() - spi_at(&altered)) as u32 - 4);
        kernel.send(&stranger.send(&pair.question(b"another's")).unwrap());
        refused("XfrmInTmplMismatch", 1);
        kernel.send(&host.send(&pair.question(b"again")).unwrap());
        pair.expect_answer(&kernel, &mut host, b"again");

        assert_eq!(host.receive(&answer), Err(InboundError::Replayed));
        assert_eq!(host.receive(&opened), Err(InboundError::Unprotected));
        kernel.send(&host.send(&pair.question(b"altered")).unwrap());
        let altered = kernel.hear(pair.outside());
        for at in spi_at(&altered)..altered.len() {
            let mut altered = altered.clone();
            altered[at] ^= 0x80;
            let unknown = at < spi_at(&altered) + 4;
            let expected = if unknown { InboundError::NoAssociation } else { InboundError::BadIcv };
            assert_eq!(host.receive(&altered), Err(expected), "byte {at}");
        }
        pair.expect_in(&mut host, &altered, b"altered");
        let counted = [Counter::IpsecReplayed, Counter::IpsecPolicyViolated, Counter::IpsecNoAssociation];
        assert_eq!(counted.map(|counter| host.count(counter)), [1, 1, 4]);
        assert_eq!(host.count(Counter::IpsecBadIcv) as usize, altered.len() - spi_at(&altered) - 4);
    }
    assert_eq!(kernel.counts(), expected);
}

/// Where the security parameters index of a protected packet stands.
fn spi_at(protected: &[u8]) -> usize {
    match protected[Header::NEXT_HEADER_AT] {
        next_header::AH => Header::LEN + 4,
        _ => Header::LEN,
    }
}

#[test]
fn extension_headers_and_what_routers_do_to_them_are_seen_alike() {
    let modes = ["ah:xcbc", "ah:hmac-sha256", "esp:ctr-xcbc", "esp:gcm"];
    let pairs = pairs(modes);
    let kernel = boot(&pairs, "");
    for pair in &pairs {
        let mut host = pair.host();
        let chain = [&rpl_option(60)[..], &destination_options(17)].concat();
        let mut protected = host.send(&pair.question_behind(0, &chain, b"options")).unwrap();
        // On the way: class, label, hop limit, and the rank that the option tells.
        protected[..4].copy_from_slice(&[0x6f, 0xff, 0xff, 0xff]);
        protected[7] -= 7;
        if pair.ends().0 == pair.outside() {
            protected[44..48].fill(0xee);
        }
        kernel.send(&protected);
        pair.expect_answer(&kernel, &mut host, b"options");

        let (near, far) = pair.ends();
        if near != pair.outside() {
            continue;
        }
        // A source route by way of another node, behind options for each node on it.
        let hop: Ipv6Addr = "fd0e::1".parse().unwrap();
        let mut chain = [&destination_options(43)[..], &[17, 2, 0, 1, 0, 0, 0, 0]].concat();
        chain.extend(far.octets());
        let datagram = &pair.question(b"a route")[Header::LEN..];
        let mut protected = host.send(&packet(near, hop, 60, &chain, datagram)).unwrap();
        protected[24..40].copy_from_slice(&far.octets());
        let route = Header::LEN + 16;
        assert_eq!(protected[route + 3], 1);
        protected[route + 3] = 0;
        protected[route + 8..route + 24].copy_from_slice(&hop.octets());
        kernel.send(&protected);
        pair.expect_answer(&kernel, &mut host, b"a route");
    }
    assert_eq!(kernel.counts(), BTreeMap::new());
}

#[test]
fn what_a_router_adds_stands_in_a_packet_around_that_of_the_node() {
    let modes = ["ah:xcbc", "esp:ctr-xcbc"];
    let pairs = pairs(modes);
    let router: Ipv6Addr = "fd0c::1".parse().unwrap();
    let mut commands = format!(
        "link add rpl type ip6tnl mode ip6ip6 local {} remote {router} dev eth0\n\
         link set rpl addrgenmode none\n\
         link set rpl up\n",
        outside()
    );
    for pair in &pairs {
        commands += &format!("route add {}/128 dev rpl\n", pair.outside());
    }
    let kernel = boot(&pairs, &commands);
    for pair in &pairs {
        let mut host = pair.host();
        let protected = host.send(&pair.question(b"around")).unwrap();
        kernel.send(&packet(router, outside(), 0, &rpl_option(41), &protected));
        let answer = kernel.hear(router);
        // The kernel adds an option of its own: how often others may do the same.
        let inner = extension::skip(&answer).unwrap();
        assert_eq!((answer[Header::NEXT_HEADER_AT], inner.protocol), (60, 41));
        pair.expect_in(&mut host, &answer[inner.at..], b"around");

        // A header that is put into the node's own packet alters what AH covers.
        let mut protected = host.send(&pair.question(b"within")).unwrap();
        if protected[Header::NEXT_HEADER_AT] == next_header::AH {
            protected.splice(Header::LEN..Header::LEN, rpl_option(next_header::AH));
            protected[Header::NEXT_HEADER_AT] = next_header::HOP_BY_HOP;
            protected[Header::PAYLOAD_LENGTH_AT + 1] += 8;
            kernel.send(&protected);
        }
    }
    assert_eq!(kernel.counts(), BTreeMap::from([("XfrmInStateProtoError".into(), 2)]));
}

#[test]
fn sequence_numbers_go_on_beyond_32_bits_at_both_ends() {
    let modes = ["ah:xcbc", "ah:hmac-sha256", "esp:ctr-xcbc", "esp:cbc-hmac-sha256", "esp:gcm", "esp:ccm-8"];
    // A window of 64 that has seen nothing takes what is more than 64 below 2^32.
    const SENT: u32 = u32::MAX - 100;
    let pairs: Vec<Pair> = pairs(modes).into_iter().map(|pair| pair.extended(SENT)).collect();
    let kernel = boot(&pairs, "");
    for pair in &pairs {
        let mut host = pair.host();
        let mut last = None;
        for n in 0..200u8 {
            let question = host.send(&pair.question(&[n])).unwrap();
            kernel.send(&question);
            let answer = kernel.hear(pair.outside());
            pair.expect_in(&mut host, &answer, &[n]);
            assert_eq!([number(&question), number(&answer)], [SENT.wrapping_add(1 + u32::from(n)); 2]);
            match number(&answer) {
                u32::MAX => last = Some((question, answer)),
                10 => {
                    // The last of those before is replayed.
                    let (question, answer) = last.take().unwrap();
                    kernel.send(&question);
                    assert_eq!(host.receive(&answer), Err(InboundError::Replayed));
                }
                _ => {}
            }
        }
    }
    assert_eq!(kernel.counts(), BTreeMap::from([("XfrmInStateSeqError".into(), pairs.len() as u32)]));
}

/// Where the sequence number of a protected packet stands.
fn number_at(protected: &[u8]) -> usize {
    spi_at(protected) + 4
}

/// The sequence number that a protected packet carries.
fn number(protected: &[u8]) -> u32 {
    let (_, number) = protected.split_at(number_at(protected));
    u32::from_be_bytes(*number.first_chunk().unwrap())
}

#[test]
fn tcp_above_our_ipsec_speaks_to_the_kernels() {
    let cases = [
        ("ah:hmac-sha1", ModeKind::Transport),
        ("ah:xcbc", ModeKind::Tunnel),
        ("esp:cbc-hmac-sha256", ModeKind::Transport),
        ("esp:ctr-xcbc", ModeKind::Tunnel),
        ("esp:gcm", ModeKind::Transport),
    ];
    let pairs = (1..).zip(cases).map(|(number, (mode, way))| Pair::new(number, &[mode], way));
    let pairs: Vec<Pair> = pairs.collect();
    let kernel = boot(&pairs, "");
    let data = bytes(100_000);
    for pair in &pairs {
        assert!(tcp::echo_directly(&kernel, pair, &data) == data, "not what was sent");
    }
    assert_eq!(kernel.counts(), BTreeMap::new());
}

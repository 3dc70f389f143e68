//! From the radio to UDP.

use sixlock_base::{Eui64, LinkSuite, Symbols};
use sixlock_crypto::Soft;
use sixlock_ieee802154::{FCS, Header, MAX_FRAME, enhanced, fcs};
use sixlock_interface::{Arrival, Config, Csma, Interface, Link, LinkSecurity, Stack, Uplink};
use sixlock_lowpan::{Datagrams, LinkAddresses, Lowpan};
use sixlock_mac::{Config as MacConfig, Mac};
use sixlock_net::{Net, Route, Routes, Verdict};
use sixlock_sixlowpan::{PayloadCompression, compress_with, decompress_with};
use sixlock_testing::Rig;

use crate::split;

/// The node that is attacked.
pub(crate) const OWN: Eui64 = Eui64::of_node(1);
/// The neighbour that the inputs come from.
pub(crate) const NEIGHBOUR: Eui64 = Eui64::of_node(2);
const UPLINK: Eui64 = Eui64::of_node(0);
pub(crate) const LINK: LinkAddresses = LinkAddresses { source: NEIGHBOUR, destination: OWN };

pub(crate) const PAN: u16 = 0xabcd;
/// The key of the links, and its index.
pub(crate) const KEY: &[u8; 16] = b"a key of a PAN..";
pub(crate) const KEY_INDEX: u8 = 1;
pub(crate) const MTU: usize = 1280;
/// The layers of a node or border router.
pub(crate) type Layers = Stack<Link<true, 4, 2>, Datagrams<MTU, 4>, Routes<[Route; 4]>>;

/// How far radio time moves from one frame to the next: longer than any acknowledgement takes.
pub(crate) const STEP: u32 = 1000;

fn security(suite: u8) -> Option<LinkSecurity> {
    let suite = match suite {
        1 => LinkSuite::Ccm32,
        2 => LinkSuite::Ccm64,
        3 => LinkSuite::Ccm128,
        4 => LinkSuite::CbcMac32,
        5 => LinkSuite::CbcMac64,
        6 => LinkSuite::CbcMac128,
        _ => return None,
    };
    Some(LinkSecurity { suite, key: *KEY, key_index: KEY_INDEX })
}

/// The frame with a right FCS behind it: chance would hardly find one.
pub(crate) fn with_fcs(body: &[u8]) -> Vec<u8> {
    let mut frame = body[..body.len().min(MAX_FRAME - FCS)].to_vec();
    frame.extend(fcs(&frame).to_le_bytes());
    frame
}

/// A MAC behind the link security that the first byte of an input chooses.
pub(crate) fn mac_config(address: Eui64, suite: u8, ack: bool) -> MacConfig {
    MacConfig { address, pan_id: PAN, csma: Csma::default(), ack, security: security(suite) }
}

/// Frames at the MAC: the first byte chooses the link security, then frames without FCS.
pub(crate) fn frame(input: &[u8]) -> usize {
    let Some((&suite, frames)) = input.split_first() else { return 0 };
    let mut rig = Rig::seeded(1);
    let mut mac = Mac::<Soft, Link<true, 2, 2>>::new();
    mac.start(&mac_config(OWN, suite, true), &mut Soft);
    let mut at = Symbols::new(0);
    let mut taken = 0;
    for body in split(frames) {
        if let Ok((header, _)) = Header::parse(body) {
            // What was understood can be said again, and is then understood in the same way.
            let mut again = [0; MAX_FRAME];
            if let Ok(length) = header.emit(&mut again) {
                assert_eq!(Header::parse(&again[..length]), Ok((header, length)));
            }
        }
        if let Ok((header, length)) = enhanced::Header::parse(body) {
            let mut again = [0; MAX_FRAME];
            let emitted = header.emit(&mut again).unwrap_or_default();
            assert_eq!(enhanced::Header::parse(&again[..emitted]), Ok((header, emitted)));
            let mut headers = enhanced::HeaderElements::new(&body[length..]);
            let of_headers = headers.by_ref().count();
            let rest = headers.follows().map_or(&[][..], |(_, rest)| rest);
            let nested: usize = enhanced::PayloadElements::new(rest)
                .flatten()
                .map(|element| enhanced::NestedElements::new(element.content).count())
                .sum();
            assert!(of_headers + nested <= body.len());
        }
        at = at.after(STEP);
        let mut frame = with_fcs(body);
        taken += usize::from(mac.handle_frame(&mut rig.cx(), at, &mut frame).is_some());
        while mac.poll_radio().is_some() {
            assert!(mac.transmit_frame().len() <= MAX_FRAME);
            mac.handle_transmitted(&mut rig.cx(), at);
        }
        mac.handle_timeout(&mut rig.cx(), at);
    }
    taken
}

/// Compressed headers, and with them payloads, and their compression again, on each kind of link.
pub(crate) fn compression(input: &[u8]) -> usize {
    [None, Some(PayloadCompression::Lithe), Some(PayloadCompression::Ghc)]
        .map(|payloads| compression_on(payloads, input))
        .iter()
        .sum()
}

fn compression_on(payloads: Option<PayloadCompression>, input: &[u8]) -> usize {
    let mut packet = [0; MTU];
    let Ok(headers) = decompress_with(&payloads, input, LINK, None, &mut packet) else { return 0 };
    assert!(headers.consumed <= input.len() && headers.written <= packet.len());
    let verbatim = &input[headers.consumed..];
    let length = headers.written + verbatim.len();
    let Some(room) = packet.get_mut(headers.written..length) else { return 0 };
    room.copy_from_slice(verbatim);
    let packet = &packet[..length];

    // A packet that compresses comes out of it as it went in.
    let mut compressed = [0; MTU + 16];
    let Ok(again) = compress_with(&payloads, packet, LINK, &mut compressed) else { return 0 };
    let rest = &packet[again.consumed..];
    assert!(!again.is_closed || rest.is_empty(), "there was room for all of it");
    compressed[again.written..][..rest.len()].copy_from_slice(rest);
    let compressed = &compressed[..again.written + rest.len()];
    let mut restored = [0; MTU];
    let headers = decompress_with(&payloads, compressed, LINK, None, &mut restored)
        .expect("what was compressed is restored");
    let verbatim = &compressed[headers.consumed..];
    restored[headers.written..][..verbatim.len()].copy_from_slice(verbatim);
    assert_eq!(&restored[..headers.written + verbatim.len()], packet);
    1
}

/// 6LoWPAN payloads of two neighbours: the first byte of each says whose, and how much time passes.
pub(crate) fn fragments(input: &[u8]) -> usize {
    let mut rig = Rig::seeded(2);
    let mut lowpan = Lowpan::<Datagrams<MTU, 3>>::new();
    lowpan.start(rig.cx().entropy);
    let mut taken = 0;
    for payload in split(input) {
        let Some((&choice, payload)) = payload.split_first() else { continue };
        let source = if choice & 1 == 0 { NEIGHBOUR } else { UPLINK };
        rig.pass(u32::from(choice >> 1) * 100);
        lowpan.handle_timeout(&mut rig.cx());
        let link = LinkAddresses { source, destination: OWN };
        let Some(received) = lowpan.handle(&mut rig.cx(), &mut (), link, payload) else { continue };
        taken += 1;
        let length = lowpan.packet(&received).len();
        assert!(length <= MTU);
        let onward = LinkAddresses { source: OWN, destination: UPLINK };
        if choice & 2 == 0 || lowpan.forward(&mut rig.cx(), received, onward, length).is_err() {
            // A refused packet has given its buffer back, as a released one does.
            continue;
        }
        let mut out = [0; MAX_FRAME];
        while let Some(fragment) = lowpan.poll_transmit(rig.now, &mut (), |_| false, 100, &mut out) {
            assert!(fragment.len <= 100);
        }
    }
    taken
}

/// IPv6 packets at a router.
pub(crate) fn packet(input: &[u8]) -> usize {
    let mut rig = Rig::seeded(3);
    let mut net = Net::<Routes<[Route; 2]>>::new();
    net.start(OWN, Uplink::External);
    net.router_mut().add(Eui64::of_node(9), NEIGHBOUR).expect("the table has room");
    let mut taken = 0;
    for datagram in split(input) {
        let mut buffer = [0; MTU];
        let length = datagram.len().min(MTU);
        buffer[..length].copy_from_slice(&datagram[..length]);
        rig.pass(100);
        match net.handle(&mut rig.cx(), NEIGHBOUR, &mut buffer, length) {
            Verdict::Udp(datagram) => {
                assert!(datagram.payload.end <= length);
                net.port_unreachable(&mut rig.cx(), &mut buffer, length);
            }
            Verdict::Forward { len, .. } | Verdict::External { len } => assert!(len <= MTU),
            Verdict::Dropped => continue,
        }
        taken += 1;
    }
    taken
}

/// Frames at a whole interface: the first byte chooses the link security, then frames without FCS.
pub(crate) fn interface(input: &[u8]) -> usize {
    let Some((&suite, frames)) = input.split_first() else { return 0 };
    let mut rig = Rig::seeded(4);
    let config = Config { mac: mac_config(OWN, suite, true), uplink: Uplink::NextHop(UPLINK) };
    let mut interface = Interface::<Soft, Layers>::new();
    interface.start(&mut rig.cx(), &config);
    let mut at = Symbols::new(0);
    let mut taken = 0;
    for body in split(frames) {
        at = at.after(STEP);
        rig.pass(16);
        let mut frame = with_fcs(body);
        match interface.handle_frame(&mut rig.cx(), at, &mut frame) {
            Some(Arrival::Datagram(delivered)) => {
                taken += 1;
                match interface.datagram(&delivered).destination_port {
                    7 => interface.echo(&mut rig.cx(), at, delivered),
                    5683 => interface.release(delivered),
                    _ => interface.port_unreachable(&mut rig.cx(), at, delivered),
                }
            }
            Some(Arrival::External(_)) => panic!("a node is no border router"),
            None => {}
        }
        interface.handle_radio_timeout(&mut rig.cx(), at);
        while interface.poll_radio().is_some() {
            interface.handle_cca(&mut rig.cx(), at, true);
            at = at.after(STEP);
            interface.handle_radio_timeout(&mut rig.cx(), at);
            interface.handle_transmitted(&mut rig.cx(), at);
        }
        interface.handle_timeout(&mut rig.cx(), at);
    }
    taken
}

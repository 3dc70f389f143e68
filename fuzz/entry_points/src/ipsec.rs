//! Protected packets, their headers compressed.

use sixlock_base::{AhSuite, EspSuite, Packet};
use sixlock_crypto::Soft;
use sixlock_ipsec::{
    Action, AnyTransform, Association, Contexts, Flow, Ipsec, Mode, Policy, Protection, Selector,
};
use sixlock_sixlowpan::ipsec::{Context, Format};
use sixlock_sixlowpan::{compress_with, decompress_with};
use sixlock_testing::Rig;

use crate::link::{LINK, MTU};
use crate::split;

type Host = Ipsec<Soft, AnyTransform<Soft>, 1, 1, 8>;

/// How many suites there are to choose from.
pub(crate) const SUITES: u8 = 5;

fn transform(suite: u8) -> AnyTransform<Soft> {
    const KEY: &[u8; 40] = b"a key that both sides know, and only us.";
    let transform = match suite % SUITES {
        0 => AnyTransform::ah(&mut Soft, AhSuite::Xcbc, &KEY[..16]),
        1 => AnyTransform::esp(&mut Soft, EspSuite::CtrXcbc, &KEY[..36]),
        2 => AnyTransform::esp(&mut Soft, EspSuite::NullHmacSha1, &KEY[..20]),
        3 => AnyTransform::esp(&mut Soft, EspSuite::GcmImplicit, &KEY[..20]),
        _ => AnyTransform::esp(&mut Soft, EspSuite::Ccm8, &KEY[..19]),
    };
    transform.expect("the key has its length")
}

/// A host whose packets go out, and come in, under the same association.
fn host(choice: u8) -> Host {
    let association = || Association {
        spi: 1,
        mode: Mode::Transport,
        extended: choice & 0x40 != 0,
        lifetime: (),
        address: None,
        transform: transform(choice & 0x3f),
    };
    let mut host = Host::new();
    let outbound = host.add_outbound(association()).expect("there is room for one");
    let inbound = host.add_inbound(association()).expect("there is room for one");
    let action = Action::Protect(Protection::by(outbound, inbound));
    host.add_policy(Policy { selector: Selector::ANY, action }).expect("there is room for one");
    host
}

fn contexts(choice: u8) -> Contexts<2> {
    let format = if choice & 0x80 == 0 { Format::Paper2012 } else { Format::Drafts };
    let mut contexts = Contexts::new();
    contexts.start(format, 1);
    contexts
}

/// The packet that `headers_of` compressed or restored, with what is behind its headers.
fn with_rest(headers: &[u8], rest: &[u8]) -> Vec<u8> {
    [headers, rest].concat()
}

/// 6LoWPAN payloads: the first byte chooses the suite, the encoding and how long sequence numbers are.
pub(crate) fn payloads(input: &[u8]) -> usize {
    let Some((&choice, payloads)) = input.split_first() else { return 0 };
    let (mut rig, mut host, mut contexts) = (Rig::seeded(4), host(choice), contexts(choice));
    let mut taken = 0;
    for payload in split(payloads) {
        let mut out = [0; MTU];
        let Ok(headers) = decompress_with(&contexts, payload, LINK, None, &mut out) else { continue };
        let packet = with_rest(&out[..headers.written], &payload[headers.consumed..]);
        contexts.received(&packet);

        // A packet that compresses comes out of it as it went in, at a receiver that knows what the sender assumes.
        let mut sender = self::contexts(choice);
        for _ in 0..2 {
            let Ok(again) = compress_with(&sender, &packet, LINK, &mut out) else { break };
            sender.sent(&packet);
            let compressed = with_rest(&out[..again.written], &packet[again.consumed..]);
            let mut restored = [0; 2 * MTU];
            let headers = decompress_with(&contexts, &compressed, LINK, None, &mut restored)
                .expect("what was compressed is restored");
            let restored = with_rest(&restored[..headers.written], &compressed[headers.consumed..]);
            assert_eq!(restored, packet);
        }

        let mut buffer = packet.clone();
        if let Ok(length) = host.inbound(&mut rig.cx(), &mut buffer, packet.len()) {
            assert!(length < packet.len(), "it was protected");
            assert!(Flow::inbound(&buffer[..length]).is_some());
            let mut again = packet.clone();
            assert!(host.inbound(&mut rig.cx(), &mut again, packet.len()).is_err(), "a replay");
            taken += 1;
        }
    }
    taken
}

/// What a peer sends for `packets`, as the entry point takes it.
pub(crate) fn sealed(choice: u8, packets: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let (mut rig, mut host, mut contexts) = (Rig::seeded(5), host(choice), contexts(choice));
    let seal = |packet: &Vec<u8>| {
        let mut sealed = Packet::<[u8; 2 * MTU]>::new();
        sealed.reset(64);
        sealed.extend(packet).expect("there is room");
        host.outbound(&mut rig.cx(), &mut sealed).expect("there is room");
        let mut out = [0; MTU];
        let headers = compress_with(&contexts, sealed.bytes(), LINK, &mut out).expect("it is a packet");
        contexts.sent(sealed.bytes());
        with_rest(&out[..headers.written], &sealed.bytes()[headers.consumed..])
    };
    packets.iter().map(seal).collect()
}

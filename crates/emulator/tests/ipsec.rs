//! Images with IPsec answer the host that they share keys with, and nobody else. Left out unless it is asked for
//! (`-- --ignored`): `./test` sees to emulators and images.

mod built;

use core::net::Ipv6Addr;
use core::ops::ControlFlow;

use sixlock_base::{AhSuite, Entropy, EspSuite, Eui64, Instant, MESH_PREFIX, NetworkSuite, Symbols};
use sixlock_crypto::Soft;
use sixlock_emulator::{Image, Lockstep, Outcome, Request, Task};
use sixlock_ieee802154::{Address, Endpoint, FCS, FrameType, Header, Version, fcs};
use sixlock_interface::Format;
use sixlock_interface::ipsec::{
    Action, Addresses, AnyTransform, Association, Contexts, Ipsec, Mode, Policy, Protection, Selector,
};
use sixlock_ipv6::icmpv6::{Echo, Message};
use sixlock_lockstep::{Command, Device, DeviceEvent, NetworkKeys};
use sixlock_sixlowpan::ipsec::Context;
use sixlock_sixlowpan::{LinkAddresses, UNCOMPRESSED, decompress_with};
use sixlock_testing::packets::icmpv6;
use sixlock_testing::{Random, Rig};

const NODE: Eui64 = Eui64::of_node(1);
const ROUTER: Eui64 = Eui64::of_node(0);
const HOST: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xc, 0, 0, 0, 0, 0, 1);
const PAN_ID: u16 = 0xabcd;
/// The index of all associations.
const SPI: u32 = 1;
const KEY: [u8; 36] = *b"a key of AES-CTR, and one of AES-MAC";
const OTHER: [u8; 36] = *b"keys for the other way, as long too.";
/// How long a node has for its answer, in microseconds.
const PATIENCE: u64 = 1_000_000;

fn node() -> Ipv6Addr {
    NODE.with_prefix(MESH_PREFIX)
}

/// A node in an emulator, and when it is.
struct Node {
    lockstep: Lockstep,
    entropy: Random,
    storage: [u8; 64],
    micros: u64,
    sequence: u8,
}

impl Node {
    /// The node that has written `storage` so far.
    fn boot(image: &Image, suite: NetworkSuite, storage: [u8; 64]) -> Self {
        let device = Device {
            address: NODE,
            pan_id: PAN_ID,
            channel: 26,
            min_be: 3,
            max_be: 5,
            max_backoffs: 4,
            max_retries: 3,
            ack: false,
            link: None,
            parent: ROUTER,
            routes: &[],
            cloud: None,
            identity: &[],
            key: &[],
            serves: false,
            echoes: false,
        };
        let len = suite.key_len();
        let keys = NetworkKeys { suite, host: HOST, outbound: &KEY[..len], inbound: &OTHER[..len] };
        let mut image = image.clone();
        image.patch("NETWORK", &keys.emit().unwrap()).unwrap();
        let lockstep = Lockstep::start(image, &device).unwrap_or_else(|error| panic!("{error}"));
        let mut node = Self { lockstep, entropy: Random::new(3), storage, micros: 0, sequence: 0 };
        node.run(DeviceEvent::Start, &[]);
        node
    }

    fn run(&mut self, event: DeviceEvent, frame: &[u8]) -> Outcome {
        let Self { lockstep, entropy, storage, micros, .. } = self;
        let now = Instant::from_millis((*micros / 1000) as u32);
        let task = Task::in_no_time(event, now, Symbols::new((*micros / 16) as u32), frame);
        let ran = lockstep.run(&task, |request| {
            match request {
                Request::Entropy(bytes) => entropy.fill(bytes),
                Request::Restore(address, bytes) => {
                    bytes.copy_from_slice(&storage[address.into()..][..bytes.len()]);
                }
                Request::Persist(address, bytes) => {
                    storage[address.into()..][..bytes.len()].copy_from_slice(bytes);
                }
                Request::Serial(bytes) => panic!("{bytes:?} for a serial port that it has not"),
            }
            ControlFlow::Continue(())
        });
        ran.unwrap_or_else(|error| panic!("{error}")).expect("power")
    }

    /// What it sends when `packet` has come in from the router: payloads of frames.
    fn answers(&mut self, packet: &[u8]) -> Vec<Vec<u8>> {
        let endpoint = |address| Some(Endpoint { pan_id: PAN_ID, address: Address::Extended(address) });
        self.sequence = self.sequence.wrapping_add(1);
        let header = Header {
            frame_type: FrameType::Data,
            pending: false,
            ack_request: false,
            version: Version::V2003,
            sequence: self.sequence,
            destination: endpoint(NODE),
            source: endpoint(ROUTER),
            security: None,
        };
        let mut frame = vec![0; header.emitted_len()];
        header.emit(&mut frame).unwrap();
        frame.push(UNCOMPRESSED);
        frame.extend(packet);
        frame.extend(fcs(&frame).to_le_bytes());
        let mut outcome = self.run(DeviceEvent::Frame, &frame);
        let end = self.micros + PATIENCE;
        let mut sent = Vec::new();
        loop {
            let exchange = &outcome.exchange;
            let (event, at) = match outcome.command {
                Command::Cca => (DeviceEvent::CcaClear, self.micros + 8 * 16),
                Command::Transmit => {
                    let frame = exchange.frame();
                    let (_, len) = Header::parse(frame).unwrap();
                    sent.push(frame[len..frame.len() - FCS].to_vec());
                    (DeviceEvent::Transmitted, self.micros + 4000)
                }
                _ => {
                    let radio = exchange.radio_timer().map(|at| u64::from(at.count()) * 16);
                    let timer = exchange.timer().map(|at| u64::from(at.millis()) * 1000);
                    let timers = [(radio, DeviceEvent::RadioTimer), (timer, DeviceEvent::Timer)];
                    let next = timers.into_iter().filter_map(|(at, event)| Some((at?, event)));
                    match next.min_by_key(|(at, _)| *at) {
                        Some((at, event)) if at <= end => (event, at.max(self.micros)),
                        _ => break,
                    }
                }
            };
            self.micros = at;
            outcome = self.run(event, &[]);
        }
        self.micros = end;
        sent
    }
}

/// The host, which reads what a node sends to the router.
struct Host {
    ipsec: Ipsec<Soft, AnyTransform<Soft>, 1, 1, 8>,
    contexts: Contexts<1>,
    rig: Rig,
}

impl Host {
    /// One that sends under a key that begins like `key`.
    fn new(suite: NetworkSuite, key: &[u8]) -> Self {
        let mut ipsec = Ipsec::new();
        let association = |key: &[u8]| Association {
            spi: SPI,
            mode: Mode::Transport,
            extended: true,
            lifetime: (),
            address: None,
            transform: AnyTransform::new(&mut Soft, suite, &key[..suite.key_len()]).unwrap(),
        };
        let outbound = ipsec.add_outbound(association(key)).unwrap();
        let inbound = ipsec.add_inbound(association(&KEY)).unwrap();
        let selector = Selector { remote: Addresses::one(node()), ..Selector::ANY };
        let action = Action::Protect(Protection::by(outbound, inbound));
        ipsec.add_policy(Policy { selector, action }).unwrap();
        let mut contexts = Contexts::new();
        contexts.start(Format::default(), SPI);
        Self { ipsec, contexts, rig: Rig::seeded(7) }
    }

    fn protect(&mut self, packet: &[u8]) -> Vec<u8> {
        let mut buffer = [packet, &[0; 64]].concat();
        let cx = &mut self.rig.cx();
        let len = self.ipsec.outbound_in(cx, &mut buffer, packet.len()).unwrap();
        buffer.truncate(len);
        buffer
    }

    /// The packet whose compressed headers `payload` begins with, as it is and opened.
    fn open(&mut self, payload: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let link = LinkAddresses { source: NODE, destination: ROUTER };
        let mut packet = vec![0; 200];
        let headers = decompress_with(&self.contexts, payload, link, None, &mut packet).unwrap();
        packet.truncate(headers.written);
        packet.extend(&payload[headers.consumed..]);
        self.contexts.received(&packet);
        let mut opened = packet.clone();
        let cx = &mut self.rig.cx();
        let len = self.ipsec.inbound(cx, &mut opened, packet.len()).unwrap();
        opened.truncate(len);
        (packet, opened)
    }
}

fn answers_its_host_alone(target: &str) {
    for (name, suite, sequence_at) in [
        ("udp-ah-xcbc", NetworkSuite::Ah(AhSuite::Xcbc), 48),
        ("udp-esp-ctr-xcbc", NetworkSuite::Esp(EspSuite::CtrXcbc), 44),
    ] {
        let case = format!("{name} for {target}");
        let path = built::image(target, name);
        let image = Image::read(&path)
            .unwrap_or_else(|error| panic!("{error}: scripts/firmware.sh images builds it"));
        let (mut device, mut host) = (Node::boot(&image, suite, [0xff; 64]), Host::new(suite, &OTHER));
        let ping = |sequence| {
            let (echo, body) = (Echo { identifier: 0x6c6f, sequence }, b"who goes there?");
            let packet =
                |source, destination, hops, message| icmpv6(source, destination, hops, message, body);
            [
                packet(HOST, node(), 64, Message::EchoRequest(echo)),
                packet(node(), HOST, 64, Message::EchoReply(echo)),
            ]
        };
        let is_answered = |device: &mut Node, host: &mut Host, n| {
            let [request, reply] = ping(n);
            let protected = host.protect(&request);
            let [answer] = &device.answers(&protected)[..] else { panic!("{case}: no one answer") };
            let (packet, opened) = host.open(answer);
            assert_eq!(opened, reply, "{case}");
            assert_ne!(packet, reply, "{case}");
            let sequence = u32::from_be_bytes(*packet[sequence_at..].first_chunk().unwrap());
            (protected, sequence)
        };
        let (protected, first) = is_answered(&mut device, &mut host, 1);

        let nothing: [&[u8]; 0] = [];
        assert_eq!(device.answers(&protected), nothing, "{case}: a replay");
        let [request, _] = ping(2);
        assert_eq!(device.answers(&request), nothing, "{case}: in the clear");
        let mut stranger = Host::new(suite, b"keys that the node has never heard of");
        for n in 1..=3 {
            assert_eq!(device.answers(&stranger.protect(&ping(n)[0])), nothing, "{case}: another key");
        }
        let protected = host.protect(&request);
        for at in (8..24).chain(40..protected.len()) {
            let mut flipped = protected.clone();
            flipped[at] ^= 1 << (at % 8);
            assert_eq!(device.answers(&flipped), nothing, "{case}: bit {} of byte {at} is wrong", at % 8);
        }
        assert_eq!(device.answers(&protected).len(), 1, "{case}: none of this has closed the window");
        let (_, last) = is_answered(&mut device, &mut host, 3);
        assert_eq!(last, first + 2, "{case}");

        let mut device = Node::boot(&image, suite, device.storage);
        let (_, sequence) = is_answered(&mut device, &mut host, 4);
        assert!(
            sequence > last,
            "{case}: {sequence} comes after {last}, which it forgot when it lost its power"
        );
    }
}

#[test]
#[ignore = "needs QEMU and the images"]
fn a_cortex_m3_answers_the_host_that_it_shares_keys_with_and_nobody_else() {
    answers_its_host_alone("thumbv7m-none-eabi");
}

#[test]
#[ignore = "needs mspdebug and the images"]
fn an_msp430_answers_the_host_that_it_shares_keys_with_and_nobody_else() {
    answers_its_host_alone("msp430-none-elf");
}

#[test]
#[ignore = "needs simavr and the images"]
fn an_atmega128_answers_the_host_that_it_shares_keys_with_and_nobody_else() {
    answers_its_host_alone("avr-none");
}

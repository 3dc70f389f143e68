//! Real inputs for every entry point, made by the machines on the other side of it.

use core::net::Ipv6Addr;

use sixlock_base::{Eui64, MESH_PREFIX, Packet, Symbols};
use sixlock_coap_msg::{BuildError, Builder, Code, ContentFormat, OptionNumber, Type};
use sixlock_crypto::Soft;
use sixlock_ieee802154::{FCS, MAX_SAFE_PAYLOAD};
use sixlock_ipv6::{Header, next_header, udp};
use sixlock_lowpan::{Datagrams, Lowpan};
use sixlock_mac::{Link, Mac, RadioCommand};
use sixlock_net::{Net, Route, Routes, Uplink, fragment};
use sixlock_senml::cbor::PackWriter;
use sixlock_senml::{Decimal, DeviceName, Reading};
use sixlock_sixlowpan::{PayloadCompression, compress_with};
use sixlock_testing::{Rig, packets};

use crate::gateway::{PACKET, PACKETS};
use crate::link::{LINK, MTU, NEIGHBOUR, OWN, mac_config};
use crate::{bridge, capture, dtls, endpoint, ipsec, join, rpl as rpl_messages, slots};

/// An input for an entry point.
pub struct Seed {
    /// The name of the entry point.
    pub entry_point: &'static str,
    /// What the input is.
    pub name: String,
    /// The input.
    pub input: Vec<u8>,
}

/// A reading as devices send it.
const READING: &[u8] = br#"[{"bn":"urn:dev:mac:0212740000000001:","n":"temperature","u":"Cel","v":21.4},{"n":"humidity","u":"%RH","v":43.1},{"n":"light","u":"lx","v":310}]"#;

/// A pack of every kind of value and number that CBOR has, and of fields that nobody knows.
const CBOR_KINDS: &[u8] =
    b"\x9f\xbf\x21\x61a\x22\xfb\x41\xd3\x03\xa1\x5b\x00\x10\x62\x23\x61V\x20\x05\x02\xf9\x3e\x00\xff\
    \xa2\x03\x61b\x24\x21\xa2\x04\xf5\x06\xc4\x82\x20\x18\xd6\xa1\x08\x42\x01\x02\xa1\x05\xfa\x47\xc3\x50\x00\
    \xa2\x02\x00\x61x\x82\xbf\x01\x7f\x61p\xff\xff\xc1\xf6\xff";

/// The seeds of every entry point.
///
/// # Panics
///
/// When a machine does not make of ordinary data what it should.
pub fn all() -> Vec<Seed> {
    let mut seeds = Vec::new();
    let mut add =
        |entry_point, name: &str, input: Vec<u8>| seeds.push(Seed { entry_point, name: name.into(), input });
    for (name, input) in rpl_messages::seeds() {
        add("rpl", name, input);
    }
    let packets = packets();
    let plain: Vec<_> = packets.iter().map(|(_, packet)| packet.clone()).collect();
    for choice in (0..ipsec::SUITES).flat_map(|suite| [suite, suite | 0xc0]) {
        let sealed = ipsec::sealed(choice, &plain);
        let input = [&[choice][..], &join(sealed.iter().map(|payload| &payload[..]))].concat();
        add("ipsec", &format!("suite-{choice:02x}"), input);
        let sealed: Vec<_> = sealed.into_iter().filter(|payload| payload.len() <= MAX_SAFE_PAYLOAD).collect();
        let frames = frames(0, &sealed);
        add("capture", &format!("ipsec-{choice:02x}"), capture::of(frames.iter().map(|frame| &frame[..])));
    }
    for (name, packet) in &packets {
        add("packet", name, join([&packet[..]]));
        add("serial", name, [vec![0], marked(1, &[bridge::on_the_line(packet)])].concat());
        add("compression", name, compressed(None, packet));
        let pieces = taken_apart(&wrapped(packet), 0);
        add("assembly", name, marked(2, &pieces));
        // Each fragment in a header of a router, and in fragments with it.
        let pieces = taken_apart(packet, 0);
        let pieces = (1..).zip(&pieces).flat_map(|(n, piece)| taken_apart(&wrapped(piece), n));
        add("assembly", &format!("{name}-twice"), marked(2, &pieces.collect::<Vec<_>>()));
        let fragments = fragments(packet);
        add("fragments", name, marked(2, &fragments));
        let backwards: Vec<_> = fragments.iter().rev().cloned().collect();
        add("fragments", &format!("{name}-backwards"), marked(2, &backwards));
        for suite in 0..4 {
            let frames = frames(suite, &fragments);
            let input = [vec![suite], join(frames.iter().map(|frame| &frame[..]))].concat();
            for entry_point in ["frame", "interface"] {
                add(entry_point, &format!("{name}-suite-{suite}"), input.clone());
            }
            if suite % 2 == 1 {
                continue;
            }
            add(
                "capture",
                &format!("{name}-suite-{suite}"),
                capture::of(frames.iter().map(|frame| &frame[..])),
            );
            if let [payload] = &fragments[..] {
                let in_slots = slots::frames(suite != 0, payload);
                let file = capture::of(in_slots.iter().map(|frame| &frame[..]));
                add("capture", &format!("{name}-in-slots-suite-{suite}"), file);
                let padded = [&[0, payload.len() as u8][..], payload, &[0; 4]].concat();
                let strobed = self::frames(suite, &[padded]);
                let file = capture::of(strobed.iter().map(|frame| &frame[..]));
                add("capture", &format!("{name}-contikimac-suite-{suite}"), file);
            }
            for exit in [0, PACKETS] {
                let input = [vec![suite | exit], marked(1, &frames)].concat();
                add("gateway", &format!("{name}-suite-{suite}-exit-{exit}"), input);
            }
        }
    }

    for (name, packet) in packets_from_outside() {
        let marked = [&[PACKET], &packet[..]].concat();
        add("gateway", name, [vec![PACKETS], join([&marked[..]])].concat());
        add("line", name, bridge::on_the_line(&packet));
        add("serial", &format!("{name}-in"), [vec![3], join([&marked[..]])].concat());
    }

    let (from_client, from_server) = dtls::handshake(0);
    for (side, flights) in [("client", &from_client), ("server", &from_server)] {
        for (n, datagram) in flights.iter().enumerate() {
            add("dtls_message", &format!("{side}-{n}"), datagram.clone());
            for payloads in [PayloadCompression::Lithe, PayloadCompression::Ghc] {
                let packet = between(side == "client", datagram);
                add("compression", &format!("{side}-{n}-{payloads:?}"), compressed(Some(payloads), &packet));
            }
        }
    }
    let conversation = from_client.iter().zip(&from_server);
    let packets = conversation.flat_map(|(sent, answer)| [between(true, sent), between(false, answer)]);
    let payloads: Vec<_> = packets.flat_map(|packet| fragments(&packet)).collect();
    add("capture", "handshake", capture::of(frames(0, &payloads).iter().map(|frame| &frame[..])));
    let handshakes = [
        ("after", 0),
        ("resumed-after", dtls::RESUMES),
        ("named-after", dtls::NAMED),
        ("ticket-after", dtls::TICKETS),
        ("resumed-by-ticket-after", dtls::RESUMES | dtls::TICKETS),
    ];
    for (name, first) in handshakes {
        let (from_client, from_server) = dtls::handshake(first);
        for before in [0, 1, 2, 4, 6, 31] {
            let input = |flights: &[Vec<u8>]| {
                [vec![first | before], join(flights.iter().map(|datagram| &datagram[..]))].concat()
            };
            add("dtls_server", &format!("{name}-{before}"), input(&from_client));
            add("dtls_client", &format!("{name}-{before}"), input(&from_server));
        }
    }

    let requests =
        [request(Type::Confirmable, 1), request(Type::NonConfirmable, 2), request(Type::Confirmable, 1)];
    let answers = [
        message(Type::Acknowledgement, Code::CHANGED, 1, |builder| Ok(builder.finish())),
        message(Type::Acknowledgement, Code::EMPTY, 1, |builder| Ok(builder.finish())),
        message(Type::Confirmable, Code::CONTENT, 7, |mut builder| {
            builder.content_format(ContentFormat::SENML_JSON)?;
            builder.finish_with(READING)
        }),
    ];
    for (n, datagram) in requests.iter().chain(&answers).enumerate() {
        add("coap_message", &n.to_string(), datagram.clone());
    }
    add("coap_server", "answered", marked(1, &requests));
    add("coap_server", "left-waiting", marked(20, &requests));
    add("coap_client", "answered", marked(0, &answers));
    add("coap_client", "unrelated", marked(2, &answers));

    let chosen = |choice: u8, datagrams: &[Vec<u8>]| {
        let datagrams: Vec<_> =
            datagrams.iter().map(|datagram| [&[choice, 1], &datagram[..]].concat()).collect();
        join(datagrams.iter().map(|datagram| &datagram[..]))
    };
    add("endpoint", "secure", chosen(0, &endpoint::conversation(&requests[0])));
    add("endpoint", "plain", chosen(5, &requests));

    add("senml_json", "reading", READING.to_vec());
    add("senml_json", "kinds", br#"[{"bn":"a","bt":1.5e3,"bu":"V","bv":-2,"n":"b","v":1E-3},{"n":"c","vs":"\u00e9\n"},{"n":"d","vb":true},{"n":"e","vd":"AQ"},{"n":"f","s":2}]"#.to_vec());
    add("senml_cbor", "reading", cbor_pack());
    add("senml_cbor", "kinds", CBOR_KINDS.to_vec());

    let payload = |format: u8, payload: &[u8]| [&[format], payload].concat();
    add("payload", "senml-json", payload(0, READING));
    add("payload", "senml-cbor", payload(1, &cbor_pack()));
    add(
        "payload",
        "json",
        payload(2, br#"{"id":"node","sensors":[{"t":21.5},{"t":-3e1,"a/b~c":1}],"on":true,"none":null}"#),
    );
    add(
        "payload",
        "points",
        payload(2, br#"[{"value":1,"time":1700000000000},{"value":2,"time":1700000000000}]"#),
    );
    add(
        "payload",
        "cbor",
        payload(3, b"\xa3\x61t\xf9\x4d\x60\x01\x82\x02\xc4\x82\x20\x18\xd6\x63raw\x42\x01\x02"),
    );
    add("payload", "text", payload(4, b"20261121 21.5"));
    let points: Vec<u8> = (0..40u8).flat_map(|n| [n, 7, 5 * n]).collect();
    let expression = |source: &str, zone: &str| join([source.as_bytes(), zone.as_bytes(), &points[..]]);
    add(
        "expression",
        "windows",
        expression("mean(t, '10s') - median(u, \"5 points\") + count(t, 'day')", "UTC"),
    );
    add(
        "expression",
        "functions",
        expression("if(t > u && !(rate(t) < 0), smooth(t), sqrt(abs(u)))", "-03:30"),
    );
    add(
        "expression",
        "zone",
        expression("max(t, u, 'day') % 7 + pow(age(u), 2) / coalesce(delta(t), 1)", "Europe/Stockholm"),
    );
    let parser = |parts: [&str; 3]| join(parts.map(str::as_bytes));
    let object = r#"{"time":"2026-11-21T16:45:00Z","data":[{"id":"t","v":"21.5"},{"id":"h","v":40}]}"#;
    add("parser", "path", parser(["$.data[?@.id=='t' && @.v].v", "rfc3339", object]));
    add("parser", "descendants", parser(["$..[0:2]['v']", "", object]));
    add(
        "parser",
        "regex",
        parser([r"(?<time>\S+Z) t=(?<value>[-+.\d]+)", "rfc3339", "2026-11-21T16:45:00Z t=21.5"]),
    );
    add("parser", "pattern", parser([r"(?<time>.{16}) (.*)", "%d.%m.%Y %H:%M", "21.11.2026 16:45 -3"]));
    seeds
}

/// The first two values of [`READING`] in CBOR.
fn cbor_pack() -> Vec<u8> {
    let mut pack = [0; 128];
    let device = DeviceName::new(Eui64::of_node(1));
    let mut writer = PackWriter::new(&mut pack, device.as_str());
    for (name, unit, mantissa) in [("temperature", "Cel", 214), ("humidity", "%RH", 431)] {
        let reading = Reading::Number(Decimal::new(mantissa, -1));
        writer.record(name, unit, reading).expect("there is room");
    }
    let len = writer.finish().expect("there is room");
    pack[..len].to_vec()
}

fn packets() -> Vec<(&'static str, Vec<u8>)> {
    let mut net = Net::<Routes<[Route; 2]>>::new();
    net.start(NEIGHBOUR, Uplink::NextHop(OWN));
    let udp = |destination: Ipv6Addr, port: u16, length: usize| {
        let mut packet = Packet::<[u8; MTU]>::new();
        packet.reset(Header::LEN + 8);
        packet.extend(&READING.repeat(4)[..length]).expect("there is room");
        net.udp(&mut packet, 61_616, destination, port).expect("a route");
        packet.bytes().to_vec()
    };
    let mesh = |node| Eui64::of_node(node).with_prefix(MESH_PREFIX);
    let cloud = Ipv6Addr::new(0xfd00, 0xc, 0, 0, 0, 0, 0, 1);
    vec![
        ("udp-here", udp(mesh(1), 5683, 20)),
        ("udp-echo", udp(mesh(1), 7, 400)),
        ("udp-no-port", udp(mesh(1), 99, 20)),
        ("udp-forward", udp(mesh(9), 5683, 200)),
        ("udp-cloud", udp(cloud, 5684, 144)),
        ("udp-link-local", udp(Eui64::of_node(1).with_prefix(sixlock_base::LINK_LOCAL_PREFIX), 5683, 20)),
        ("udp-multicast", udp(Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1), 5683, 20)),
    ]
}

/// A UDP datagram from a client to a server, or back.
fn between(to_server: bool, payload: &[u8]) -> Vec<u8> {
    let client = (NEIGHBOUR.with_prefix(MESH_PREFIX), 61_616);
    let server = (Ipv6Addr::new(0xfd00, 0xc, 0, 0, 0, 0, 0, 1), 5684);
    let ((source, source_port), (destination, destination_port)) =
        if to_server { (client, server) } else { (server, client) };
    packets::udp(source, destination, 64, udp::Header { source_port, destination_port }, payload)
}

/// What a border router gets from outside.
fn packets_from_outside() -> [(&'static str, Vec<u8>); 3] {
    let mut net = Net::<Routes<[Route; 2]>>::new();
    net.start(OWN, Uplink::External);
    net.router_mut().add(Eui64::of_node(9), NEIGHBOUR).expect("the table has room");
    let udp = |node, hop_limit| {
        let mut packet = Packet::<[u8; MTU]>::new();
        packet.reset(Header::LEN + 8);
        packet.extend(READING).expect("there is room");
        let destination = Eui64::of_node(node).with_prefix(MESH_PREFIX);
        let host = Ipv6Addr::new(0xfd00, 0, 0, 1, 0, 0, 0, 1);
        net.udp_from(&mut packet, host, 1000, destination, 7).expect("a route");
        let mut bytes = packet.bytes().to_vec();
        bytes[Header::HOP_LIMIT_AT] = hop_limit;
        bytes
    };
    let mut elsewhere = udp(9, 64);
    elsewhere[Header::LEN - 1] = 99;
    [("outside-forward", udp(9, 64)), ("outside-hop-limit", udp(9, 1)), ("outside-no-route", elsewhere)]
}

/// IPv6 fragments of a packet.
fn taken_apart(packet: &[u8], identification: u32) -> Vec<Vec<u8>> {
    let mut pieces = Vec::new();
    fragment(packet, 128, identification, |piece| {
        pieces.push(piece.to_vec());
        true
    });
    pieces
}

/// A packet with a header of a router around it.
fn wrapped(packet: &[u8]) -> Vec<u8> {
    let (inner, _) = Header::parse(packet).expect("a packet");
    let outer = Header {
        payload_length: packet.len() as u16,
        next_header: next_header::IPV6,
        source: Ipv6Addr::LOCALHOST,
        ..inner
    };
    let mut wrapped = [&[0; Header::LEN], packet].concat();
    outer.emit(&mut wrapped).expect("there is room");
    wrapped
}

/// The input of these, with a byte before each.
fn marked(mark: u8, datagrams: &[Vec<u8>]) -> Vec<u8> {
    let marked: Vec<_> = datagrams.iter().map(|datagram| [&[mark], &datagram[..]].concat()).collect();
    join(marked.iter().map(|datagram| &datagram[..]))
}

fn compressed(payloads: Option<PayloadCompression>, packet: &[u8]) -> Vec<u8> {
    let mut out = [0; MTU];
    let headers = compress_with(&payloads, packet, LINK, &mut out).expect("an ordinary packet");
    [&out[..headers.written], &packet[headers.consumed..]].concat()
}

fn fragments(packet: &[u8]) -> Vec<Vec<u8>> {
    let mut rig = Rig::seeded(10);
    let mut lowpan = Lowpan::<Datagrams<MTU, 2>>::new();
    lowpan.start(rig.cx().entropy);
    lowpan.send(&mut rig.cx(), LINK, packet).expect("a free buffer");
    let mut out = [0; 127];
    std::iter::from_fn(|| {
        lowpan
            .poll_transmit(rig.now, &mut (), |_| false, 80, &mut out)
            .map(|fragment| out[..fragment.len].to_vec())
    })
    .collect()
}

/// The frames that carry `payloads`, without FCS.
fn frames(suite: u8, payloads: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut rig = Rig::seeded(11);
    let mut mac = Mac::<Soft, Link<true, 2, 2>>::new();
    mac.start(&mac_config(NEIGHBOUR, suite, false), &mut Soft);
    let mut at = Symbols::new(0);
    let mut frames = Vec::new();
    for payload in payloads {
        mac.send(&mut rig.cx(), at, OWN, payload).expect("a free frame");
        let sent = frames.len();
        while frames.len() == sent {
            at = mac.poll_timeout().unwrap_or(at);
            mac.handle_timeout(&mut rig.cx(), at);
            if let Some(RadioCommand::Send { .. }) = mac.poll_radio_due() {
                let frame = mac.transmit_frame();
                frames.push(frame[..frame.len() - FCS].to_vec());
                mac.handle_transmitted(&mut rig.cx(), at);
            }
        }
        while mac.poll_event().is_some() {}
    }
    frames
}

fn request(kind: Type, id: u16) -> Vec<u8> {
    message(kind, Code::POST, id, |mut builder| {
        builder.path(&["resources", "data"])?;
        builder.content_format(ContentFormat::SENML_JSON)?;
        builder.option(OptionNumber::URI_QUERY, b"id=1")?;
        builder.finish_with(READING)
    })
}

fn message(
    kind: Type,
    code: Code,
    id: u16,
    build: impl FnOnce(Builder<'_>) -> Result<usize, BuildError>,
) -> Vec<u8> {
    let mut out = [0; 512];
    let token: &[u8] = if code == Code::EMPTY { &[] } else { b"tokn" };
    let length = Builder::new(&mut out, kind, code, id, token).and_then(build).expect("an ordinary message");
    out[..length].to_vec()
}

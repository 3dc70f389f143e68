//! Frames of a node whose packets go under AH or ESP, their headers compressed, or carry DTLS.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::net::Ipv6Addr;
use std::path::{Path, PathBuf};
use std::process::Command;

use sixlock_base::{Eui64, MESH_PREFIX, Security};
use sixlock_crypto::Soft;
use sixlock_decode::{Decoder, Keys, Layer, Record};
use sixlock_ieee802154::fcs;
use sixlock_ipsec::{AnyTransform, Contexts, Mode, PacketBuffer, Sending, SequenceNumber, Transform};
use sixlock_ipv6::udp;
use sixlock_pcap::{HEADER, Timestamp, record};
use sixlock_sixlowpan::ipsec::{Context, Format};
use sixlock_sixlowpan::{FragmentHeader, LinkAddresses, PayloadCompression, compress_with};
use sixlock_testing::{Random, packets};

pub(crate) const LINK: LinkAddresses =
    LinkAddresses { source: Eui64::of_node(2), destination: Eui64::of_node(1) };

/// The index of all associations.
pub(crate) const SPI: u32 = 1;

/// What most of a frame's payload may be.
const CAPACITY: usize = 96;

pub(crate) fn ends() -> [Ipv6Addr; 2] {
    [LINK.source, LINK.destination].map(|node| node.with_prefix(MESH_PREFIX))
}

/// A data frame from node 2 to node 1, without FCS.
pub(crate) fn data(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x41, 0xcc, sequence, 0xcd, 0xab];
    for node in [LINK.destination, LINK.source] {
        frame.extend(node.0.iter().rev());
    }
    frame.extend(payload);
    frame
}

/// A UDP datagram from node 2 to node 1.
pub(crate) fn packet(port: u16, payload: &[u8]) -> Vec<u8> {
    let [source, destination] = ends();
    let ports = udp::Header { source_port: 61_616, destination_port: port };
    packets::udp(source, destination, 64, ports, payload)
}

/// A CoAP request, `POST /x`, with a payload of `length` bytes.
pub(crate) fn request(length: usize) -> Vec<u8> {
    packet(5683, &[&[0x41, 2, 0x12, 0x34, 0xab, 0xb1, b'x', 0xff][..], &vec![b'1'; length]].concat())
}

/// A record with ClientHello, whose number is 7.
pub(crate) fn hello() -> Vec<u8> {
    let body = [&[0xfe, 0xfd][..], &[0x5a; 32], &[0, 0, 0, 2, 0xc0, 0xae, 1, 0]].concat();
    let length = [0, 0, body.len() as u8];
    let message = [&[1][..], &length, &[0, 0, 0, 0, 0], &length, &body].concat();
    [&[22, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 0, 7, 0, message.len() as u8][..], &message].concat()
}

/// A record of application data, whose number is 9 and whose explicit nonce says so.
pub(crate) fn content() -> Vec<u8> {
    let nonce = [0, 1, 0, 0, 0, 0, 0, 9];
    [&[23, 0xfe, 0xfd][..], &nonce, &[0, 22], &nonce, b"all of it sure"].concat()
}

/// The key of `mode`, and the same in hexadecimal.
pub(crate) fn key(mode: &str) -> (Vec<u8>, String) {
    let length = match mode {
        "esp:ctr-xcbc" | "esp:joint-ctr-xcbc" => 36,
        "esp:cbc-hmac-sha1" => 36,
        "esp:gcm" => 20,
        _ => 16,
    };
    let key: Vec<u8> = (1..=length).collect();
    let hex = key.iter().map(|byte| format!("{byte:02x}")).collect();
    (key, hex)
}

/// The node that sends.
pub(crate) struct Node {
    transform: AnyTransform<Soft>,
    mode: Mode,
    pub(crate) contexts: Contexts<4, true, Option<PayloadCompression>>,
    number: u32,
    sequence: u8,
    frames: Vec<Vec<u8>>,
}

impl Node {
    /// One whose first packet has `number`.
    pub(crate) fn new(suite: &str, mode: Mode, format: Format, number: u32) -> Self {
        let (key, _) = key(suite);
        let suite = Security::any(suite).unwrap().network.unwrap();
        let transform = AnyTransform::new(&mut Soft, suite, &key).expect("a key of the suite's length");
        let mut contexts = Contexts::new();
        contexts.start(format, SPI);
        Self { transform, mode, contexts, number, sequence: 0, frames: Vec::new() }
    }

    /// Protects `packet` and sends it.
    pub(crate) fn send(&mut self, packet: &[u8]) {
        let mut buffer = [&[0; 64][..], packet, &[0; 64]].concat();
        let mut room = PacketBuffer::new(&mut buffer, 64, 64 + packet.len()).unwrap();
        let sending = Sending {
            spi: SPI,
            number: SequenceNumber::new(0, self.number),
            extended: false,
            mode: self.mode,
        };
        self.number += 1;
        self.transform.protect(&mut Soft, &mut Random::new(7), &sending, &mut room).unwrap();
        let packet = room.packet().to_vec();
        self.send_plain(&packet);
    }

    /// Compresses `packet`, and sends it in as many frames as it needs.
    pub(crate) fn send_plain(&mut self, packet: &[u8]) {
        let mut out = [0; 256];
        let headers = compress_with(&self.contexts, packet, LINK, &mut out).unwrap();
        self.contexts.sent(packet);
        assert!(!headers.is_closed || headers.consumed == packet.len(), "a short one");
        let (front, mut at) = (out[..headers.written].to_vec(), headers.consumed);
        if front.len() + packet.len() - at <= CAPACITY {
            return self.frame(&[&front[..], &packet[at..]].concat());
        }
        let mut header = FragmentHeader { datagram_size: packet.len() as u16, tag: 0x1234, offset: 0 };
        let mut payload = front;
        while at < packet.len() {
            // All but the last end at a multiple of 8.
            let room = (at + CAPACITY - 5 - payload.len()) / 8 * 8;
            let end = room.min(packet.len());
            payload.extend(&packet[at..end]);
            let mut fragment = [0; 5];
            let length = header.emit(&mut fragment).unwrap();
            self.frame(&[&fragment[..length], &payload].concat());
            (at, header.offset, payload) = (end, end as u16, Vec::new());
        }
    }

    /// Sends a frame with this payload.
    pub(crate) fn frame(&mut self, payload: &[u8]) {
        self.sequence += 1;
        let mut frame = data(self.sequence, payload);
        frame.extend(fcs(&frame).to_le_bytes());
        self.frames.push(frame);
    }

    /// Lets the first frame be as if it had not been sent.
    pub(crate) fn forget_first(&mut self) {
        self.frames.remove(0);
    }

    /// What was sent, as it is read from a capture.
    pub(crate) fn records(&self) -> Vec<Record> {
        let record = |frame: &Vec<u8>| Record { us: 0, frame: frame.clone(), fcs: true, missing: 0 };
        self.frames.iter().map(record).collect()
    }

    /// What was sent, as a capture.
    pub(crate) fn capture(&self) -> Vec<u8> {
        let mut file = HEADER.to_vec();
        for (frame, seconds) in self.frames.iter().zip(0..) {
            file.extend(record(Timestamp { seconds, micros: 0 }, frame.len() as u32));
            file.extend(frame);
        }
        file
    }
}

/// Frames in hexadecimal, FCS included, with when they begin in microseconds.
pub(crate) fn records(frames: &[(u64, &str)]) -> Vec<Record> {
    let record = |&(us, hex): &(u64, &str)| Record { us, frame: unhex(hex), fcs: true, missing: 0 };
    frames.iter().map(record).collect()
}

/// The bytes that `text` writes in hexadecimal.
pub(crate) fn unhex(text: &str) -> Vec<u8> {
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    text.as_bytes().chunks(2).map(byte).collect()
}

/// The layers of each of `records`.
pub(crate) fn decoded(keys: Keys, records: &[Record]) -> Vec<Vec<Layer>> {
    let mut decoder = Decoder::new(keys);
    records.iter().map(|record| decoder.decode(record)).collect()
}

/// The layers of frames as they are shown.
pub(crate) fn shown(frames: &[Vec<Layer>]) -> Vec<Vec<String>> {
    frames.iter().map(|layers| layers.iter().map(Layer::to_string).collect()).collect()
}

/// A capture, removed when dropped.
struct File(PathBuf);

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// The values of `fields` in each frame of a capture, as tshark finds them, with a script if there is one; at last what it has to say
/// against the frame.
pub(crate) fn tshark(
    name: &str,
    capture: &[u8],
    script: Option<&Path>,
    options: &[&str],
    fields: &[&str],
) -> Vec<Vec<String>> {
    let file = File(std::env::temp_dir().join(format!("sixlock-{}-{name}.pcap", std::process::id())));
    std::fs::write(&file.0, capture).unwrap();
    let mut command = Command::new("tshark");
    if let Some(script) = script {
        command.arg("-X").arg(format!("lua_script:{}", script.display()));
    }
    command.arg("-r").arg(&file.0).args(["-T", "fields"]);
    for field in fields.iter().chain(&["_ws.malformed", "_ws.expert.message"]) {
        command.args(["-e", field]);
    }
    for option in options {
        command.args(["-o", option]);
    }
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("tshark: {error}. Install it with: apt-get install tshark"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(!said.contains("Lua"), "{said}");
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

//! Why DTLS refuses a record or a message is told, as far as it shows to who only listens.

use std::net::Ipv6Addr;

use sixlock_base::{Eui64, MESH_PREFIX};
use sixlock_crypto::{BlockCiphers as _, CcmNonce, CcmTag, Soft, Tag, prf_sha256};
use sixlock_decode::{Decoder, Keys, Layer, Record};
use sixlock_dtls_msg::{ContentType, HandshakeHeader, HandshakeType as Kind, RECORD_HEADER};
use sixlock_ipv6::udp;
use sixlock_sixlowpan::{LinkAddresses, compress};
use sixlock_testing::packets;

const CLIENT_RANDOM: [u8; 32] = [1; 32];
const SERVER_RANDOM: [u8; 32] = [2; 32];
const MASTER_SECRET: [u8; 48] = [3; 48];
const PSK: [u8; 2] = [0xc0, 0xa8];
const ECDHE_PSK: [u8; 2] = [0xd0, 0x03];
const ECDSA: [u8; 2] = [0xc0, 0xae];

/// What a capture of a client and its server says.
struct Capture {
    decoder: Decoder,
    sequence: u8,
}

impl Capture {
    fn new() -> Self {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let mut keys = Keys::default();
        keys.add(&format!("CLIENT_RANDOM {} {}", hex(&CLIENT_RANDOM), hex(&MASTER_SECRET))).unwrap();
        Self { decoder: Decoder::new(keys), sequence: 0 }
    }

    /// One with hellos that agree on this suite, and have these extensions.
    fn agreed(suite: [u8; 2], client: &[u8], server: &[u8]) -> Self {
        let mut capture = Self::new();
        let hellos = [
            (true, message(Kind::CLIENT_HELLO, &client_hello(&suite, client))),
            (false, message(Kind::SERVER_HELLO, &server_hello(suite, server))),
        ];
        for (from_client, hello) in hellos {
            let told = capture.plain(from_client, ContentType::Handshake, &hello);
            assert!(!told.contains("refused"), "{told}");
        }
        capture
    }

    /// What is said of a datagram.
    fn datagram(&mut self, from_client: bool, datagram: &[u8]) -> String {
        let mut nodes = [Eui64::of_node(2), Eui64::of_node(1)];
        let mut ports = [61_616, 5684];
        if !from_client {
            nodes.reverse();
            ports.reverse();
        }
        let [source, destination]: [Ipv6Addr; 2] = nodes.map(|node| node.with_prefix(MESH_PREFIX));
        let ports = udp::Header { source_port: ports[0], destination_port: ports[1] };
        let packet = packets::udp(source, destination, 64, ports, datagram);
        let mut out = [0; 127];
        let link = LinkAddresses { source: nodes[0], destination: nodes[1] };
        let headers = compress(&packet, link, &mut out).unwrap();
        self.sequence += 1;
        let mut frame = vec![0x41, 0xcc, self.sequence, 0xcd, 0xab];
        for node in [nodes[1], nodes[0]] {
            frame.extend(node.0.iter().rev());
        }
        frame.extend(&out[..headers.written]);
        frame.extend(&packet[headers.consumed..]);
        let layers = self.decoder.decode(&Record { us: 0, frame, fcs: false, missing: 0 });
        let shown: Vec<_> =
            layers.iter().map(Layer::to_string).skip_while(|layer| !layer.starts_with("UDP")).collect();
        shown[1..].join("; ")
    }

    /// What is said of a record with this content, without protection.
    fn plain(&mut self, from_client: bool, content_type: ContentType, content: &[u8]) -> String {
        self.datagram(from_client, &record(content_type, 0, content))
    }

    /// What is said of a handshake message without protection, of either side.
    fn message(&mut self, from_client: bool, kind: Kind, body: &[u8]) -> String {
        self.plain(from_client, ContentType::Handshake, &message(kind, body))
    }

    /// What is said of a protected record.
    fn sealed(&mut self, from_client: bool, content_type: ContentType, content: &[u8]) -> String {
        self.datagram(from_client, &sealed(from_client, content_type, content))
    }
}

fn record(content_type: ContentType, epoch: u8, content: &[u8]) -> Vec<u8> {
    let front = [content_type as u8, 0xfe, 0xfd, 0, epoch, 0, 0, 0, 0, 0, 9];
    [&front[..], &(content.len() as u16).to_be_bytes(), content].concat()
}

fn sealed(from_client: bool, content_type: ContentType, content: &[u8]) -> Vec<u8> {
    let mut keys = [0; 40];
    prf_sha256(&mut Soft, &MASTER_SECRET, "key expansion", [&SERVER_RANDOM, &CLIENT_RANDOM], &mut keys);
    let (key, iv) = if from_client { (&keys[..16], &keys[32..36]) } else { (&keys[16..32], &keys[36..]) };
    let explicit = [0, 1, 0, 0, 0, 0, 0, 9];
    let nonce: [u8; 12] = [iv, &explicit].concat().try_into().unwrap();
    let length = (content.len() as u16).to_be_bytes();
    let associated = [&explicit[..], &[content_type as u8, 0xfe, 0xfd], &length].concat();
    let (mut content, mut tag) = (content.to_vec(), Tag::empty(CcmTag::Eight));
    let key = Soft.aes_128(key.first_chunk().unwrap());
    Soft.ccm_seal(&key, CcmNonce::Twelve(&nonce), &associated, &mut content, &mut tag);
    record(content_type, 1, &[&explicit[..], &content, tag.bytes()].concat())
}

fn message(kind: Kind, body: &[u8]) -> Vec<u8> {
    [&HandshakeHeader::whole(kind, 1, body.len() as u16).to_bytes()[..], body].concat()
}

fn client_hello(suites: &[u8], extensions: &[u8]) -> Vec<u8> {
    let front = [&[0xfe, 0xfd][..], &CLIENT_RANDOM, &[0, 0, 0, suites.len() as u8]].concat();
    [&front, suites, &[1, 0], &(extensions.len() as u16).to_be_bytes(), extensions].concat()
}

fn server_hello(suite: [u8; 2], extensions: &[u8]) -> Vec<u8> {
    let front = [&[0xfe, 0xfd][..], &SERVER_RANDOM, &[0]].concat();
    [&front, &suite[..], &[0], &(extensions.len() as u16).to_be_bytes(), extensions].concat()
}

/// A signed ephemeral key, by this algorithm.
fn signed_key(algorithm: [u8; 2]) -> Vec<u8> {
    [&[3, 0, 23, 65, 4][..], &[5; 64], &algorithm, &[0, 8, 0x30, 6, 2, 1, 1, 2, 1, 1]].concat()
}

#[track_caller]
fn says(told: String, expected: &str) {
    assert_eq!(told, expected);
}

#[test]
fn records_that_every_session_refuses_are_told_with_the_reason() {
    let mut capture = Capture::agreed(PSK, &[], &[]);
    let plain = |capture: &mut Capture, content_type, content| capture.plain(true, content_type, content);
    let alert = plain(&mut capture, ContentType::Alert, &[2, 40]);
    says(alert, "DTLS 0.9 fatal alert: handshake failure refused for unprotected-alert");
    let alert = plain(&mut capture, ContentType::Alert, &[2]);
    says(alert, "DTLS 0.9 alert refused for unprotected-alert; ! alert: malformed, alert (1 bytes)");
    let data = plain(&mut capture, ContentType::ApplicationData, &[0x40, 0, 1, 1]);
    says(data, "DTLS 0.9 application-data refused for unprotected-content; CoAP CON empty id 257");
    let change = plain(&mut capture, ContentType::ChangeCipherSpec, &[1]);
    says(change, "DTLS 0.9 change-cipher-spec");
    let named = capture.datagram(true, &record(ContentType::ConnectionId, 1, &[7; 20]));
    says(named, "! DTLS record: malformed, connection-id (33 bytes)");
    says(capture.datagram(true, &[9; 20]), "! DTLS record: malformed, record-header (20 bytes)");
    let later = capture.datagram(true, &record(ContentType::ApplicationData, 2, &[7; 20]));
    says(later, "DTLS 2.9 application-data; ! content: malformed, epoch (20 bytes)");

    let mut changed = sealed(true, ContentType::Alert, &[1, 0]);
    changed[RECORD_HEADER + 9] ^= 1;
    let changed = capture.datagram(true, &changed);
    says(changed, "DTLS 1.9 alert; ! content: bad MIC, bad-record (18 bytes)");
    says(capture.sealed(true, ContentType::Alert, &[1, 0]), "DTLS 1.9 close notify");
    let alert = capture.sealed(false, ContentType::Alert, &[1]);
    says(alert, "DTLS 1.9 alert; ! alert: malformed, alert (1 bytes)");
    let change = capture.sealed(false, ContentType::ChangeCipherSpec, &[1]);
    says(change, "DTLS 1.9 change-cipher-spec refused for content-type");
}

#[test]
fn records_that_are_longer_than_the_hellos_let_them_be_are_told() {
    // The client takes 80 bytes at most, the server 64.
    let mut capture = Capture::agreed(PSK, &[0, 0x1c, 0, 2, 0, 80], &[0, 0x1c, 0, 2, 0, 64]);
    let alert = [&[1, 0][..], &[0; 63]].concat();
    let told = capture.sealed(true, ContentType::Alert, &alert);
    assert!(told.starts_with("DTLS 1.9 alert refused for record-limit"), "{told}");
    let told = capture.sealed(false, ContentType::Alert, &alert);
    assert!(!told.contains("record-limit"), "{told}");
}

#[test]
fn records_with_a_connection_id_are_told_by_the_sessions_own() {
    let mut capture = Capture::agreed(PSK, &[0, 0x36, 0, 2, 1, 7], &[0, 0x36, 0, 2, 1, 8]);
    let told = capture.sealed(true, ContentType::Alert, &[1, 0]);
    says(told, "DTLS 1.9 alert; ! content: malformed, connection-id-use (18 bytes)");
}

#[test]
fn messages_that_every_session_refuses_are_told_with_the_reason() {
    let refused = |told: String, reason: &str| {
        assert!(told.contains(&format!(" refused for {reason}")), "{reason}: {told}");
    };
    let taken = |told: String| assert!(!told.contains("refused") && !told.contains('!'), "{told}");
    let identity = [&[0, 4][..], b"node"].concat();
    let point = [&[65, 4][..], &[5; 64]].concat();
    let ephemeral = [&identity[..], &point].concat();

    let mut psk = Capture::agreed(PSK, &[], &[]);
    refused(psk.message(true, Kind::CLIENT_HELLO, &[7; 20]), "client-hello");
    refused(
        psk.message(true, Kind::CLIENT_HELLO, &client_hello(&[0x12, 0x34], &[])),
        "no-common-cipher-suite",
    );
    taken(psk.message(true, Kind::CLIENT_HELLO, &client_hello(&PSK, &[])));
    refused(psk.message(false, Kind::HELLO_VERIFY_REQUEST, &[0]), "hello-verify-request");
    refused(psk.message(false, Kind::HELLO_VERIFY_REQUEST, &[3, 3, 0]), "hello-verify-request");
    taken(psk.message(false, Kind::HELLO_VERIFY_REQUEST, &[0xfe, 0xff, 1, 7]));
    refused(psk.message(false, Kind::SERVER_KEY_EXCHANGE, &signed_key([4, 3])), "server-key-exchange");
    taken(psk.message(false, Kind::SERVER_KEY_EXCHANGE, &identity));
    refused(psk.message(false, Kind::SERVER_HELLO_DONE, &[7]), "server-hello-done");
    taken(psk.message(false, Kind::SERVER_HELLO_DONE, &[]));
    refused(psk.message(true, Kind::CLIENT_KEY_EXCHANGE, &point), "client-key-exchange");
    let long = [&[0, 200][..], &[7; 200]].concat();
    refused(psk.message(true, Kind::CLIENT_KEY_EXCHANGE, &long), "identity-length");
    taken(psk.message(true, Kind::CLIENT_KEY_EXCHANGE, &identity));
    refused(psk.message(false, Kind::NEW_SESSION_TICKET, &[7; 5]), "new-session-ticket");
    refused(psk.message(true, Kind::FINISHED, &[7; 12]), "message-epoch");
    refused(psk.message(false, Kind::HELLO_REQUEST, &[]), "unexpected-message");
    refused(psk.message(false, Kind(99), &[]), "unexpected-message");

    let mut ephemeral_psk = Capture::agreed(ECDHE_PSK, &[], &[]);
    refused(ephemeral_psk.message(false, Kind::SERVER_KEY_EXCHANGE, &identity), "server-key-exchange");
    refused(ephemeral_psk.message(true, Kind::CLIENT_KEY_EXCHANGE, &identity), "client-key-exchange");
    taken(ephemeral_psk.message(true, Kind::CLIENT_KEY_EXCHANGE, &ephemeral));

    let mut certified = Capture::agreed(ECDSA, &[], &[]);
    refused(certified.message(false, Kind::CERTIFICATE, &[0, 0, 1]), "certificate");
    refused(certified.message(false, Kind::CERTIFICATE, &[0; 3]), "no-certificate");
    taken(certified.message(false, Kind::CERTIFICATE, &[0, 0, 1, 7]));
    refused(certified.message(false, Kind::SERVER_KEY_EXCHANGE, &identity), "server-key-exchange");
    refused(certified.message(false, Kind::SERVER_KEY_EXCHANGE, &signed_key([4, 1])), "server-signature");
    taken(certified.message(false, Kind::SERVER_KEY_EXCHANGE, &signed_key([4, 3])));
    refused(certified.message(false, Kind::CERTIFICATE_REQUEST, &[9]), "certificate-request");
    refused(certified.message(true, Kind::CLIENT_KEY_EXCHANGE, &identity), "client-key-exchange");
    taken(certified.message(true, Kind::CLIENT_KEY_EXCHANGE, &point));
    refused(certified.message(true, Kind::CERTIFICATE_VERIFY, &[4, 1, 0, 0]), "certificate-verify");

    for (client, suite, server, reason) in [
        (&[][..], [0x12, 0x34], &[][..], "server-cipher-suite"),
        (&[], ECDSA, &[], "server-cipher-suite"),
        (&[], PSK, &[0, 0x17, 0, 0, 0, 0x17, 0, 0], "server-extension-repeated"),
        (&[], PSK, &[0x7f, 0, 0, 0], "server-extension"),
        (&[], PSK, &[0, 0x36, 0, 2, 1, 7], "server-extension"),
        (&[0, 0x36, 0, 1, 0], PSK, &[0, 0x36, 0, 2, 9, 7], "server-extension-content"),
        (&[], PSK, &[0xff, 1, 0, 1, 1], "server-renegotiation-info"),
        (&[0, 0x1c, 0, 2, 0, 80], PSK, &[0, 0x1c, 0, 2, 0, 63], "server-record-limit"),
    ] {
        let mut capture = Capture::new();
        taken(capture.message(true, Kind::CLIENT_HELLO, &client_hello(&PSK, client)));
        refused(capture.message(false, Kind::SERVER_HELLO, &server_hello(suite, server)), reason);
    }
    let mut other = server_hello(PSK, &[]);
    other[1] = 0xff;
    refused(Capture::new().message(false, Kind::SERVER_HELLO, &other), "server-version");
    let mut other = server_hello(PSK, &[]);
    other[37] = 1;
    refused(Capture::new().message(false, Kind::SERVER_HELLO, &other), "server-compression");
    refused(Capture::new().message(false, Kind::SERVER_HELLO, &[7; 4]), "server-hello");
}

#[test]
fn protected_messages_and_fragments_that_every_session_refuses_are_told() {
    let mut capture = Capture::agreed(PSK, &[], &[]);
    for (kind, body, expected) in [
        (Kind::FINISHED, &[7; 12][..], "Finished"),
        (Kind::FINISHED, &[7; 4], "Finished refused for finished"),
        (Kind::CLIENT_HELLO, &[], "ClientHello refused for renegotiation"),
        (Kind::SERVER_HELLO_DONE, &[], "ServerHelloDone refused for unexpected-message"),
    ] {
        let told = capture.sealed(true, ContentType::Handshake, &message(kind, body));
        says(told, &format!("DTLS 1.9 {expected}"));
    }
    for (kind, length, expected) in [
        (Kind::CLIENT_HELLO, 90, "ClientHello at 0 refused for client-hello-fragmented"),
        (Kind::SERVER_HELLO, 300, "ServerHello at 0 refused for message-length"),
        (Kind::SERVER_HELLO, 90, "ServerHello at 0"),
        (Kind::CERTIFICATE, 300, "Certificate at 0"),
    ] {
        let header = HandshakeHeader { kind, length, message_seq: 1, fragment_offset: 0, fragment_length: 4 };
        let content = [&header.to_bytes()[..], &[7; 4]].concat();
        says(capture.plain(true, ContentType::Handshake, &content), &format!("DTLS 0.9 {expected}"));
    }
}

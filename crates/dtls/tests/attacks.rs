//! What an attacker sends who can watch, forge, repeat and alter, but does not know the key.

mod pair;

use pair::{DELAY, IDENTITY, Pair, Seen, Side};
use proptest::prelude::*;
use sixlock_base::{Counter, Instant};
use sixlock_crypto::{Metered, Operation, Soft};
use sixlock_dtls::{
    COOKIE, ClientSession, Completion, Config, CookieSecrets, Failure, Handshake, Listen, Refusal,
    is_client_hello, listen,
};
use sixlock_dtls_msg::{
    CipherSuite, CipherSuites, ClientHello, ClientKeyExchange, ContentType, Extensions, HandshakeHeader,
    HandshakeType, HelloVerifyRequest, NULL_COMPRESSION, RecordHeader, SequenceNumber, ServerHello, Version,
    Window,
};
use sixlock_testing::{Random, Rig};

const BOTH_CONNECTED: [(Side, Seen); 2] = [(Side::Server, Seen::Connected), (Side::Client, Seen::Connected)];

fn record(content_type: ContentType, epoch: u16, content: &[u8]) -> Vec<u8> {
    let header = RecordHeader {
        content_type,
        version: Version::DTLS_1_2,
        epoch,
        sequence_number: SequenceNumber::new(0, 77),
        length: content.len() as u16,
    };
    [&header.to_bytes()[..], content].concat()
}

fn message(kind: HandshakeType, message_seq: u16, emit: impl FnOnce(&mut Window<'_>)) -> Vec<u8> {
    let mut body = [0; 512];
    let mut window = Window::new(0, &mut body);
    emit(&mut window);
    let filled = window.filled();
    let body = &body[..filled];
    let header = HandshakeHeader::whole(kind, message_seq, body.len() as u16);
    record(ContentType::Handshake, 0, &[&header.to_bytes()[..], body].concat())
}

/// Everything a forger can put together that parses.
fn forgeries() -> Vec<Vec<u8>> {
    let mut forged = vec![
        record(ContentType::Alert, 0, &[2, 40]),
        record(ContentType::Alert, 0, &[1, 0]),
        record(ContentType::Alert, 1, &[2, 40]),
        record(ContentType::Alert, 1, &[7; 26]),
        record(ContentType::Handshake, 1, &[7; 40]),
        record(ContentType::ApplicationData, 0, b"forged"),
        record(ContentType::ApplicationData, 1, &[7; 40]),
        record(ContentType::ApplicationData, 2, &[7; 40]),
        record(ContentType::ChangeCipherSpec, 0, &[1]),
    ];
    for message_seq in 0..4 {
        let random = &[7; 32];
        let extensions = Extensions(&[]);
        let version = Version::DTLS_1_2;
        let cookie = &[7; 16];
        forged.extend([
            message(HandshakeType::HELLO_REQUEST, message_seq, |_| {}),
            message(HandshakeType::HELLO_VERIFY_REQUEST, message_seq, |sink| {
                HelloVerifyRequest { version, cookie }.emit(sink);
            }),
            message(HandshakeType::SERVER_HELLO, message_seq, |sink| {
                let cipher_suite = CipherSuite::PSK_WITH_AES_128_CCM_8;
                ServerHello {
                    version,
                    random,
                    session_id: &[],
                    cipher_suite,
                    compression_method: 0,
                    extensions,
                }
                .emit(sink);
            }),
            message(HandshakeType::SERVER_HELLO, message_seq, |sink| {
                let cipher_suite = CipherSuite(0x1234);
                ServerHello {
                    version,
                    random,
                    session_id: &[],
                    cipher_suite,
                    compression_method: 0,
                    extensions,
                }
                .emit(sink);
            }),
            message(HandshakeType::SERVER_HELLO_DONE, message_seq, |_| {}),
            message(HandshakeType::CLIENT_KEY_EXCHANGE, message_seq, |sink| {
                ClientKeyExchange { identity: b"forged" }.emit(sink);
            }),
            message(HandshakeType::FINISHED, message_seq, |sink| {
                sixlock_dtls_msg::Finished { verify_data: &[7; 12] }.emit(sink);
            }),
        ]);
        // The beginning of a message that is longer than the true one.
        let fragment = HandshakeHeader {
            kind: HandshakeType::CLIENT_KEY_EXCHANGE,
            length: 200,
            message_seq,
            fragment_offset: 0,
            fragment_length: 3,
        };
        forged.push(record(ContentType::Handshake, 0, &[&fragment.to_bytes()[..], &[7; 3]].concat()));
    }
    forged
}

#[test]
fn no_forged_record_ends_a_handshake() {
    for (number, forged) in forgeries().into_iter().enumerate() {
        for to in [Side::Client, Side::Server] {
            for before in 0..6 {
                let mut pair = Pair::new(1, Config::HOST);
                let genuine = DELAY * before + DELAY / 2;
                pair.inject(to, genuine, forged.clone());
                pair.run(20_000);
                assert_eq!(pair.seen, BOTH_CONNECTED, "forgery {number} to {to:?} before datagram {before}");
            }
        }
    }
}

#[test]
fn no_forged_record_ends_a_resumption() {
    let config = Config { resumable: true, ..Config::HOST };
    let mut first = Pair::new(11, config);
    first.run(1000);
    let mut forged = forgeries();
    forged.extend((0..3).map(|message_seq| {
        message(HandshakeType::SERVER_HELLO, message_seq, |sink| {
            ServerHello {
                version: Version::DTLS_1_2,
                random: &[7; 32],
                session_id: first.kept[0][0].session_id(),
                cipher_suite: CipherSuite::PSK_WITH_AES_128_CCM_8,
                compression_method: 0,
                extensions: Extensions(&[0, 0x17, 0, 0]),
            }
            .emit(sink);
        })
    }));
    for (number, forged) in forged.into_iter().enumerate() {
        for to in [Side::Client, Side::Server] {
            for before in 0..5 {
                let mut pair = Pair::resuming(12, config, first.kept.clone());
                pair.inject(to, DELAY * before + DELAY / 2, forged.clone());
                pair.run(20_000);
                assert!(
                    pair.connected(),
                    "forgery {number} to {to:?} before datagram {before}: {:?}",
                    pair.seen
                );
                let resumed = [&pair.here, &pair.there].map(|rig| rig.count(Counter::DtlsResumptions));
                assert_eq!(
                    (resumed, pair.seen.len()),
                    ([1, 1], 2),
                    "forgery {number} to {to:?} before {before}"
                );
            }
        }
    }
}

#[test]
fn no_forged_record_ends_a_session() {
    let mut pair = Pair::new(2, Config::HOST);
    pair.run(1000);
    for forged in forgeries() {
        pair.inject(Side::Client, 1, forged.clone());
        pair.inject(Side::Server, 1, forged);
    }
    pair.run(1000);
    pair.send(Side::Client, b"still here");
    pair.send(Side::Server, b"still here");
    pair.run(1000);
    assert_eq!(pair.data.len(), 2);
    assert_eq!(pair.seen, BOTH_CONNECTED);
}

#[test]
fn a_record_is_taken_once() {
    let mut pair = Pair::new(3, Config::HOST);
    pair.run(1000);
    pair.fate =
        Box::new(|_, _, datagram| vec![(1, datagram.clone()), (2, datagram.clone()), (300, datagram)]);
    for n in 0..100u8 {
        pair.send(Side::Client, &[n]);
    }
    pair.run(1000);
    assert_eq!(pair.data.len(), 100);
    assert_eq!(pair.there.count(Counter::DtlsReplayed), 200);
    // The whole handshake again changes nothing, either.
    let sent: Vec<_> =
        pair.sent.iter().filter(|sent| sent.1 == Side::Client).map(|sent| sent.2.clone()).collect();
    for datagram in sent {
        pair.inject(Side::Server, 1, datagram);
    }
    pair.run(1000);
    assert_eq!((pair.data.len(), pair.connected()), (100, true));
}

#[test]
fn an_altered_record_is_dropped_and_counted() {
    let mut pair = Pair::new(4, Config::HOST);
    pair.run(1000);
    pair.fate = Box::new(|_, _, _| vec![]);
    pair.send(Side::Client, b"reading");
    let genuine = pair.sent.last().unwrap().2.clone();
    for bit in 0..genuine.len() * 8 {
        let mut altered = genuine.clone();
        altered[bit / 8] ^= 1 << (bit % 8);
        pair.inject(Side::Server, 1, altered);
    }
    pair.run(10);
    assert_eq!((pair.data.len(), pair.connected()), (0, true));
    let counted = [Counter::DtlsBadRecord, Counter::DtlsMalformed].map(|counter| pair.there.count(counter));
    assert!(counted.iter().sum::<u32>() >= genuine.len() as u32 * 8, "{counted:?}");
    pair.inject(Side::Server, 1, genuine);
    pair.run(10);
    assert_eq!(pair.data, [(Side::Server, b"reading".to_vec())]);
}

#[test]
fn an_altered_handshake_still_connects_or_does_not_but_never_with_two_minds() {
    for seed in 0..400 {
        let mut pair = Pair::new(seed, Config { retransmissions: 3, ..Config::HOST });
        let mut random = Random::new(seed);
        pair.fate = Box::new(move |_, _, mut datagram| {
            if random.below(3) == 0 {
                let at = random.below(datagram.len() as u32) as usize;
                datagram[at] ^= 1 << random.below(8);
            }
            vec![(DELAY, datagram)]
        });
        pair.run(60_000);
        if pair.client.is_connected() {
            assert!(pair.connected(), "seed {seed}");
            pair.fate = Box::new(|_, _, datagram| vec![(DELAY, datagram)]);
            pair.send(Side::Client, b"same keys");
            pair.run(1000);
            assert_eq!(pair.data, [(Side::Server, b"same keys".to_vec())]);
        }
    }
}

fn hello(cookie: &[u8], random: &[u8; 32]) -> Vec<u8> {
    message(HandshakeType::CLIENT_HELLO, 0, |sink| {
        ClientHello {
            version: Version::DTLS_1_2,
            random,
            session_id: &[],
            cookie,
            cipher_suites: CipherSuites(&[0xc0, 0xa8]),
            compression_methods: &[NULL_COMPRESSION],
            extensions: Extensions(&[]),
        }
        .emit(sink);
    })
}

fn asked(rig: &mut Rig, secrets: &CookieSecrets, peer: &[u8], hello: &[u8]) -> Option<Vec<u8>> {
    let mut out = [0; 256];
    match listen(&mut rig.cx(), secrets, peer, hello, &mut out) {
        Listen::Reply(length) | Listen::Refuse(length, _) => Some(out[..length].to_vec()),
        Listen::Accept(_) => None,
        Listen::Drop(_) => panic!("a hello is answered"),
    }
}

#[test]
fn a_cookie_is_good_for_its_address_and_hello_until_the_second_rotation() {
    let mut rig = Rig::seeded(5);
    let mut secrets = CookieSecrets::new(&mut rig.entropy);
    let random = &[1; 32];
    let reply = asked(&mut rig, &secrets, b"peer", &hello(&[], random)).expect("a cookie comes first");
    assert!(reply.len() < hello(&[], random).len(), "the answer is shorter than the question");
    let cookie = &reply[reply.len() - COOKIE..];
    assert!(asked(&mut rig, &secrets, b"peer", &hello(cookie, random)).is_none());
    assert!(asked(&mut rig, &secrets, b"elsewhere", &hello(cookie, random)).is_some());
    assert!(asked(&mut rig, &secrets, b"peer", &hello(cookie, &[2; 32])).is_some());
    assert!(asked(&mut rig, &secrets, b"peer", &hello(&cookie[1..], random)).is_some());
    secrets.rotate(&mut rig.entropy);
    assert!(asked(&mut rig, &secrets, b"peer", &hello(cookie, random)).is_none());
    secrets.rotate(&mut rig.entropy);
    assert!(asked(&mut rig, &secrets, b"peer", &hello(cookie, random)).is_some());
}

#[test]
fn a_first_hello_costs_one_code_and_only_what_looks_like_a_cookie_two() {
    let mut rig = Rig::seeded(7);
    let mut secrets = CookieSecrets::new(&mut rig.entropy);
    let random = &[1; 32];
    let reply = asked(&mut rig, &secrets, b"peer", &hello(&[], random)).unwrap();
    let cookie = &reply[reply.len() - COOKIE..];
    let codes = |secrets: &CookieSecrets, cookie: &[u8]| {
        let mut rig = Rig::new(Metered::new(Soft), ());
        listen(&mut rig.cx(), secrets, b"peer", &hello(cookie, random), &mut [0; 256]);
        rig.crypto.take().get(Operation::HmacSha256)
    };
    assert_eq!(codes(&secrets, &[]), 1);
    assert_eq!(codes(&secrets, cookie), 1);
    assert_eq!(codes(&secrets, &[0; COOKIE]), 2);
    secrets.rotate(&mut rig.entropy);
    assert_eq!(codes(&secrets, cookie), 2);
}

#[test]
fn a_hello_that_cannot_be_met_is_refused_by_an_alert() {
    let mut rig = Rig::seeded(6);
    let secrets = CookieSecrets::new(&mut rig.entropy);
    let offer = |cookie: &[u8], version, suites: &[u8], extensions: &[u8]| {
        message(HandshakeType::CLIENT_HELLO, 0, |sink| {
            ClientHello {
                version,
                random: &[1; 32],
                session_id: &[],
                cookie,
                cipher_suites: CipherSuites(suites),
                compression_methods: &[NULL_COMPRESSION],
                extensions: Extensions(extensions),
            }
            .emit(sink);
        })
    };
    let ours: &[u8] = &[0xc0, 0xa8];
    for (version, suites, extensions, alert) in [
        (Version::DTLS_1_0, ours, &[][..], 70),
        (Version::DTLS_1_2, &[0xc0, 0xa9], &[], 40),
        (Version::DTLS_1_2, ours, &[0xff, 0x01, 0, 2, 1, 9], 40),
        // Twice the same extension, or one with a content that it does not have.
        (Version::DTLS_1_2, ours, &[0, 0x17, 0, 0, 0, 0x17, 0, 0], 47),
        (Version::DTLS_1_2, ours, &[0, 0x36, 0, 1, 0, 0, 0x36, 0, 1, 0], 47),
        (Version::DTLS_1_2, ours, &[0, 0x17, 0, 1, 0], 47),
        // Limits that nobody may have.
        (Version::DTLS_1_2, ours, &[0, 0x1c, 0, 2, 0, 63], 47),
        (Version::DTLS_1_2, ours, &[0, 0x1c, 0, 1, 200], 47),
        (Version::DTLS_1_2, ours, &[0, 1, 0, 1, 5], 47),
    ] {
        let reply = asked(&mut rig, &secrets, b"peer", &offer(&[], version, suites, extensions)).unwrap();
        let cookie = &reply[reply.len() - COOKIE..];
        let reply = asked(&mut rig, &secrets, b"peer", &offer(cookie, version, suites, extensions)).unwrap();
        assert_eq!(reply[13..], [2, alert]);
    }
}

#[test]
fn nobody_compresses() {
    let mut rig = Rig::seeded(14);
    let secrets = CookieSecrets::new(&mut rig.entropy);
    let offer = |cookie: &[u8]| {
        message(HandshakeType::CLIENT_HELLO, 0, |sink| {
            ClientHello {
                version: Version::DTLS_1_2,
                random: &[1; 32],
                session_id: &[],
                cookie,
                cipher_suites: CipherSuites(&[0xc0, 0xa8]),
                compression_methods: &[1],
                extensions: Extensions(&[]),
            }
            .emit(sink);
        })
    };
    let reply = asked(&mut rig, &secrets, b"peer", &offer(&[])).unwrap();
    let reply = asked(&mut rig, &secrets, b"peer", &offer(&reply[reply.len() - COOKIE..])).unwrap();
    assert_eq!(reply[13..], [2, 40]);

    // A server that chooses to: its method stands behind the suite.
    let mut pair = Pair::new(15, Config::HOST);
    pair.fate = Box::new(|_, side, mut datagram| {
        let at = datagram.windows(3).position(|window| window == [0xc0, 0xa8, 0]);
        if let (Side::Server, Some(at)) = (side, at) {
            datagram[at + 2] = 1;
        }
        vec![(DELAY, datagram)]
    });
    pair.run(200_000);
    assert!(
        pair.seen.contains(&(Side::Client, Seen::Failed(Failure::Negotiation(Refusal::ServerCompression)))),
        "{:?}",
        pair.seen
    );
}

#[test]
fn a_server_that_takes_an_extension_up_twice_is_not_followed() {
    let mut pair = Pair::new(13, Config::HOST);
    pair.fate = Box::new(|_, side, mut datagram| {
        if (side, datagram[13]) == (Side::Server, HandshakeType::SERVER_HELLO.0) {
            let extension = [0, 0x17, 0, 0];
            let at = datagram.windows(4).position(|window| window == extension).unwrap();
            datagram.splice(at..at, extension);
            // The lengths of the record, the message, its fragment and the extensions; none is longer than 255.
            for length in [12, 16, 24, at - 1] {
                datagram[length] += 4;
            }
        }
        vec![(DELAY, datagram)]
    });
    pair.run(200_000);
    assert!(
        pair.seen
            .contains(&(Side::Client, Seen::Failed(Failure::Negotiation(Refusal::ServerExtensionRepeated)))),
        "{:?}",
        pair.seen
    );
}

#[test]
fn a_repeated_flight_is_answered_once_a_timeout() {
    let mut pair = Pair::new(7, Config::HOST);
    // The client's answer never comes: an attacker repeats its hello.
    pair.fate = Box::new(|index, _, datagram| if index < 4 { vec![(DELAY, datagram)] } else { vec![] });
    pair.run(4 * DELAY);
    let hello = pair.sent[2].2.clone();
    let before = pair.bytes(Side::Server);
    for n in 0..100 {
        pair.inject(Side::Server, n, hello.clone());
    }
    pair.run(500);
    assert!(pair.bytes(Side::Server) - before <= 99, "one flight for all of them");
}

fn phases() -> impl Strategy<Value = u32> {
    0..8 * DELAY
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_bytes_do_harm(
        phase in phases(), datagrams in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..120), 1..10), plain: bool
    ) {
        let mut pair = Pair::new(8, Config::HOST);
        pair.run(phase);
        for mut datagram in datagrams {
            // Half of them get far enough to be looked at.
            if plain && datagram.len() > 25 {
                let (epoch, kind) = (datagram[0] % 2, 20 + datagram[1] % 4);
                let length = (datagram.len() - 13) as u16;
                datagram[..5].copy_from_slice(&[kind, 0xfe, 0xfd, 0, epoch]);
                datagram[11..13].copy_from_slice(&length.to_be_bytes());
                datagram[13] %= 24;
                datagram[17] = 0;
                datagram[18] %= 5;
                datagram[19..21].fill(0);
                datagram[22..24].fill(0);
            }
            pair.inject(Side::Client, 1, datagram.clone());
            pair.inject(Side::Server, 1, datagram.clone());
            let _ = is_client_hello(&datagram);
        }
        pair.run(30_000);
        let connected = pair.seen.iter().filter(|(_, seen)| *seen == Seen::Connected).count();
        prop_assert!(connected <= 2);
        prop_assert!(pair.data.is_empty());
    }

    #[test]
    fn fragments_in_any_order_and_overlap_make_the_message(cuts in prop::collection::vec((0u32..40, 1u32..40), 0..12), step in 1u32..9) {
        // The client's key exchange arrives in pieces: some at random, then all of them, backwards.
        let mut pair = Pair::new(9, Config::HOST);
        pair.fate = Box::new(move |_, side, datagram| {
            let is_exchange = side == Side::Client && datagram.get(13) == Some(&HandshakeType::CLIENT_KEY_EXCHANGE.0);
            if !is_exchange {
                return vec![(DELAY, datagram)];
            }
            let end = 25 + 2 + IDENTITY.len();
            let (exchange, rest) = datagram.split_at(end);
            let length = (end - 25) as u32;
            let whole = (0..length).step_by(step as usize).map(|offset| (offset, step)).rev();
            let pieces = cuts.iter().copied().filter(|(offset, _)| *offset < length).chain(whole);
            let mut arrivals: Vec<_> = pieces.enumerate().map(|(n, (offset, size))| {
                let size = size.min(length - offset);
                let header = HandshakeHeader {
                    kind: HandshakeType::CLIENT_KEY_EXCHANGE, length, message_seq: 2, fragment_offset: offset, fragment_length: size,
                };
                let bytes = &exchange[25 + offset as usize..][..size as usize];
                (DELAY + n as u32, record(ContentType::Handshake, 0, &[&header.to_bytes()[..], bytes].concat()))
            }).collect();
            arrivals.push((DELAY + 200, rest.to_vec()));
            arrivals
        });
        pair.run(900);
        prop_assert_eq!(&pair.seen[..], &BOTH_CONNECTED[..]);
    }
}

#[test]
fn a_session_that_nothing_reaches_takes_any_call() {
    let mut rig = Rig::seeded(10);
    let handshake = Some(Box::new(Handshake::<Soft>::new()));
    let mut client: ClientSession<Soft, _> =
        ClientSession::client(&mut rig.cx(), Config::HOST, None, handshake);
    assert!(client.seal(&mut rig.cx(), &mut [0; 64], 8).is_err());
    assert!(client.complete(&mut rig.cx(), Completion::Psk { identity: b"identity", key: b"key" }).is_err());
    assert!(client.poll_transmit(&mut rig.cx(), &mut [0; 8]).is_none());
    client.close();
    client.handle_timeout(&mut rig.at(Instant::from_millis(u32::MAX / 4)));
    assert!(client.is_over() && client.poll_timeout().is_none());
}

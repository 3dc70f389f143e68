//! Why DTLS refuses: something for each reason.

mod pair;

use pair::{DELAY, Ends, IDENTITY, KEY, LIFETIME, Pair, Party, Public, Seen, Side, certified, raw};
use sixlock_base::Counter;
use sixlock_crypto::{BlockCiphers as _, CcmNonce, CcmTag, Soft, Tag, prf_sha256};
use sixlock_dtls::{
    Answer, COOKIE, Certified, ClientSession, Completion, Config, ConnectionId, CookieSecrets, Event,
    Failure, Features, Full, Handshake, Listen, Profile, RECORD_FRONT, RECORD_TAIL, Refusal, Refusal12,
    ServerSession, SessionState, SessionTickets, Suite, Suites, TicketOffer, Work, listen,
};
use sixlock_dtls_msg::{
    CipherSuite, CipherSuites, ClientHello, ContentType, Extensions, HANDSHAKE_HEADER, HandshakeHeader,
    HandshakeType, HelloVerifyRequest, RECORD_HEADER, RecordHeader, SequenceNumber, ServerHello, Version,
    Window,
};
use sixlock_testing::Rig;

/// Those that only an endpoint has: its tests have something for them.
const OF_ENDPOINTS: [Refusal; 2] = [Refusal::SessionsFull, Refusal::Superseded];

const EXTENDED_MASTER_SECRET: [u8; 4] = [0, 0x17, 0, 0];
/// The two suites that every device has, with pre-shared keys and with public ones.
const PSK: CipherSuite = CipherSuite::PSK_WITH_AES_128_CCM_8;
const ECDSA: CipherSuite = CipherSuite(0xc0ae);
const CERTIFIED: Config =
    Config { suites: Suites::new(&[Suite::EcdheEcdsaAes128Ccm8, Suite::PskAes128Ccm8]), ..Config::HOST };
const RESUMABLE: Config = Config { resumable: true, ..Config::HOST };

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

/// A record with so much of a message of `length` bytes from `offset` on.
fn fragment(kind: HandshakeType, message_seq: u16, length: u32, offset: u32, content: &[u8]) -> Vec<u8> {
    let fragment_length = content.len() as u32;
    let header = HandshakeHeader { kind, length, message_seq, fragment_offset: offset, fragment_length };
    record(ContentType::Handshake, 0, &[&header.to_bytes()[..], content].concat())
}

fn message(kind: HandshakeType, message_seq: u16, body: &[u8]) -> Vec<u8> {
    fragment(kind, message_seq, body.len() as u32, 0, body)
}

fn written(emit: impl FnOnce(&mut Window<'_>)) -> Vec<u8> {
    let mut body = [0; 1024];
    let mut window = Window::new(0, &mut body);
    emit(&mut window);
    let filled = window.filled();
    body[..filled].to_vec()
}

/// Makes a machine with what `rig` lends do something for which it may refuse something, and says what: it is counted, too.
fn refusing(rig: &mut Rig, act: impl FnOnce(&mut Rig) -> Option<Refusal>) -> Option<Refusal> {
    let before = rig.counters.clone();
    let refusal = act(rig)?;
    let counter = refusal.counter();
    assert!(rig.count(counter) > before.get(counter), "{refusal:?} is not counted");
    Some(refusal)
}

// What sessions say that are handed records.

/// What a client refuses of these records, which come one after the other.
fn client_refuses<P: Profile>(
    config: Config,
    party: Option<&Party>,
    kept: Option<&SessionState>,
    records: &[Vec<u8>],
) -> Vec<Refusal> {
    let mut rig = Rig::seeded(1);
    let handshake = party.map_or_else(Handshake::new, |party| Handshake::with(party.credentials));
    let mut client: ClientSession<Soft, _, P> =
        ClientSession::client(&mut rig.cx(), config, kept, Some(Box::new(handshake)));
    let mut refused = Vec::new();
    for record in records {
        refused.extend(refusing(&mut rig, |rig| {
            client.handle_all(&mut rig.cx(), &mut record.clone(), |_| ());
            client.poll_refusal()
        }));
        while let Some(event) = client.poll_event() {
            if let Event::Work(Work::Psk { .. }) = event {
                let psk = Completion::Psk { identity: IDENTITY, key: KEY };
                client.complete(&mut rig.cx(), psk).unwrap();
            }
        }
    }
    refused
}

/// The same, of a client that has pre-shared keys only.
fn client(records: &[Vec<u8>]) -> Vec<Refusal> {
    client_refuses::<Full>(Config::HOST, None, None, records)
}

/// The same, of one with certificates.
fn certified_client(records: &[Vec<u8>]) -> Vec<Refusal> {
    client_refuses::<Certified>(CERTIFIED, Some(&certified()[0]), None, records)
}

fn server_hello(message_seq: u16, suite: CipherSuite, extensions: &[u8]) -> Vec<u8> {
    hello_of_server(message_seq, Version::DTLS_1_2, suite, 0, &[], extensions)
}

fn hello_of_server(
    message_seq: u16,
    version: Version,
    cipher_suite: CipherSuite,
    compression_method: u8,
    session_id: &[u8],
    extensions: &[u8],
) -> Vec<u8> {
    let extensions = Extensions(extensions);
    let hello =
        ServerHello { version, random: &[7; 32], session_id, cipher_suite, compression_method, extensions };
    message(HandshakeType::SERVER_HELLO, message_seq, &written(|window| hello.emit(window)))
}

fn verify_request(message_seq: u16, version: Version, cookie: &[u8]) -> Vec<u8> {
    let body = written(|window| HelloVerifyRequest { version, cookie }.emit(window));
    message(HandshakeType::HELLO_VERIFY_REQUEST, message_seq, &body)
}

/// A server's first messages, up to its certificate, and so many of its ServerKeyExchange.
fn certified_flight(key_exchange: &[u8]) -> Vec<Vec<u8>> {
    vec![
        server_hello(0, ECDSA, &EXTENDED_MASTER_SECRET),
        message(HandshakeType::CERTIFICATE, 1, &certificate_list(&certified()[1])),
        message(HandshakeType::SERVER_KEY_EXCHANGE, 2, key_exchange),
    ]
}

fn certificate_list(party: &Party) -> Vec<u8> {
    let chain = party.credentials.certificates[0];
    let length = |bytes: usize| (bytes as u32).to_be_bytes()[1..].to_vec();
    [length(chain.len() + 3), length(chain.len()), chain.to_vec()].concat()
}

/// A key on no curve, signed by nobody, by this algorithm.
fn signed_key(algorithm: [u8; 2]) -> Vec<u8> {
    let signature = [0x30, 6, 2, 1, 1, 2, 1, 1];
    [&[3, 0, 23, 65, 4][..], &[5; 64], &algorithm, &[0, 8], &signature].concat()
}

fn client_hello(version: Version, cookie: &[u8], suites: &[u8], compression: u8, more: &[u8]) -> Vec<u8> {
    let hello = ClientHello {
        version,
        random: &[7; 32],
        session_id: &[],
        cookie,
        cipher_suites: CipherSuites(suites),
        compression_methods: &[compression],
        extensions: Extensions(more),
    };
    message(HandshakeType::CLIENT_HELLO, 1, &written(|window| hello.emit(window)))
}

/// What a listening server says to a datagram.
fn listening(datagram: &[u8]) -> Vec<Refusal> {
    let mut rig = Rig::seeded(2);
    let secrets = CookieSecrets::new(&mut rig.entropy);
    answering(&mut rig, &secrets, datagram, &mut [0; 256])
}

/// The same, with so much room for its answer.
fn answering(rig: &mut Rig, secrets: &CookieSecrets, datagram: &[u8], out: &mut [u8]) -> Vec<Refusal> {
    let refused = refusing(rig, |rig| match listen(&mut rig.cx(), secrets, b"peer", datagram, out) {
        Listen::Drop(refusal) | Listen::Refuse(_, refusal) => Some(refusal),
        Listen::Reply(_) | Listen::Accept(_) => None,
    });
    refused.into_iter().collect()
}

/// What it says to a hello that shows its cookie.
fn to_hello(version: Version, suites: &[u8], compression: u8, extensions: &[u8]) -> Vec<Refusal> {
    let mut rig = Rig::seeded(2);
    let secrets = CookieSecrets::new(&mut rig.entropy);
    let mut out = [0; 256];
    let first = client_hello(version, &[], suites, compression, extensions);
    let Listen::Reply(length) = listen(&mut rig.cx(), &secrets, b"peer", &first, &mut out) else {
        panic!("a cookie comes first")
    };
    let hello = client_hello(version, &out[length - COOKIE..length], suites, compression, extensions);
    answering(&mut rig, &secrets, &hello, &mut out)
}

/// What a server refuses after a hello with these suites and extensions, of these records, or ends with. It answers no work after
/// `answers` of them.
fn server_refuses<P: Profile>(
    config: Config,
    party: Option<&Party>,
    kept: Option<&SessionState>,
    (suites, extensions): (&[u8], &[u8]),
    answers: usize,
    records: &[Vec<u8>],
) -> Vec<Refusal> {
    let mut rig = Rig::seeded(3);
    let secrets = CookieSecrets::new(&mut rig.entropy);
    let mut out = [0; 256];
    let first = client_hello(Version::DTLS_1_2, &[], suites, 0, extensions);
    let Listen::Reply(length) = listen(&mut rig.cx(), &secrets, b"peer", &first, &mut out) else {
        panic!("a cookie comes first")
    };
    let hello = client_hello(Version::DTLS_1_2, &out[length - COOKIE..length], suites, 0, extensions);
    let Listen::Accept(hello) = listen(&mut rig.cx(), &secrets, b"peer", &hello, &mut out) else {
        panic!("the cookie is good")
    };
    let handshake = party.map_or_else(Handshake::new, |party| Handshake::with(party.credentials));
    let mut server: ServerSession<Soft, _, P> =
        ServerSession::server(&mut rig.cx(), &hello, config, Some(Box::new(handshake)));
    let mut refused = Vec::new();
    let mut answered = 0;
    for record in [&[Vec::new()][..], records].concat() {
        refused.extend(refusing(&mut rig, |rig| {
            server.handle_all(&mut rig.cx(), &mut record.clone(), |_| ());
            server.poll_refusal()
        }));
        while let Some(event) = server.poll_event() {
            let answer: Answer;
            let completion = match event {
                Event::Failed(failure) => {
                    refused.extend(failure.refusal());
                    continue;
                }
                Event::Work(_) if answered == answers => continue,
                Event::Work(Work::Task(task)) => {
                    answer = party.unwrap().answer(Side::Server, &mut Rig::seeded(4), task);
                    Completion::Task(&answer)
                }
                Event::Work(Work::Session { .. }) => {
                    Completion::Session { state: kept, id: None, ticket: TicketOffer::None }
                }
                Event::Work(_) => Completion::Psk { identity: &[], key: KEY },
                Event::Connected | Event::Closed => continue,
            };
            answered += 1;
            server.complete(&mut rig.cx(), completion).unwrap();
        }
    }
    refused
}

/// The same, of a server that has pre-shared keys only.
fn server(records: &[Vec<u8>]) -> Vec<Refusal> {
    let hello = (&PSK.0.to_be_bytes()[..], &EXTENDED_MASTER_SECRET[..]);
    server_refuses::<Full>(Config::HOST, None, None, hello, 0, records)
}

/// What a server with certificates says to a hello.
fn chosen(suite: CipherSuite, extensions: &[u8]) -> Vec<Refusal> {
    let hello = (&suite.0.to_be_bytes()[..], extensions);
    server_refuses::<Certified>(CERTIFIED, Some(&certified()[1]), None, hello, 0, &[])
}

/// What a server with certificates, which asks for the client's, refuses of these records.
fn certified_server(records: &[Vec<u8>]) -> Vec<Refusal> {
    let algorithms = [0, 13, 0, 4, 0, 2, 4, 3];
    let hello = (&ECDSA.0.to_be_bytes()[..], &algorithms[..]);
    server_refuses::<Certified>(CERTIFIED, Some(&certified()[1]), None, hello, usize::MAX, records)
}

// What sessions say that are connected.

/// A pair that is connected, and what its server refuses of that which `made` makes.
fn connected(config: Config, made: impl FnOnce(&mut Pair) -> Vec<u8>) -> Vec<Refusal> {
    let mut pair = Pair::new(5, config);
    pair.run(1000);
    assert!(pair.connected());
    pair.refusals.clear();
    let datagram = made(&mut pair);
    let before = pair.there.counters.clone();
    pair.inject(Side::Server, 0, datagram);
    pair.run(1000);
    let refused = refused(&pair);
    for counter in refused.iter().map(|refusal| refusal.counter()) {
        assert!(pair.there.count(counter) > before.get(counter), "{refused:?} is not counted");
    }
    refused
}

/// What both refused, and what their sessions ended for.
fn refused<C: Profile, S: Profile>(pair: &Ends<C, S>) -> Vec<Refusal> {
    let ended = pair.seen.iter().filter_map(|(_, seen)| match seen {
        Seen::Failed(failure) => failure.refusal(),
        _ => None,
    });
    pair.refusals.iter().map(|(_, refusal)| *refusal).chain(ended).collect()
}

/// A record that the client could send.
fn sealed(pair: &Pair, number: u32, content_type: ContentType, content: &[u8]) -> Vec<u8> {
    let (client_random, master_secret) = pair.key_log[0];
    let hello = pair.sent.iter().find(|(_, from, datagram)| {
        (*from, datagram[RECORD_HEADER]) == (Side::Server, HandshakeType::SERVER_HELLO.0)
    });
    let server_random = &hello.unwrap().2[RECORD_HEADER + HANDSHAKE_HEADER + 2..][..32];
    let mut keys = [0; 40];
    let seed = [server_random, &client_random];
    prf_sha256(&mut Soft, &master_secret, "key expansion", seed, &mut keys);
    let header = RecordHeader {
        content_type,
        version: Version::DTLS_1_2,
        epoch: 1,
        sequence_number: SequenceNumber::new(0, number),
        length: (content.len() + RECORD_FRONT - RECORD_HEADER + RECORD_TAIL) as u16,
    };
    let explicit = [&[0, 1, 0, 0][..], &number.to_be_bytes()].concat();
    let nonce: [u8; 12] = [&keys[32..36], &explicit].concat().try_into().unwrap();
    let associated =
        [&explicit[..], &[content_type as u8, 0xfe, 0xfd], &(content.len() as u16).to_be_bytes()].concat();
    let mut content = content.to_vec();
    let mut tag = Tag::empty(CcmTag::Eight);
    let key = Soft.aes_128(keys.first_chunk().unwrap());
    Soft.ccm_seal(&key, CcmNonce::Twelve(&nonce), &associated, &mut content, &mut tag);
    [&header.to_bytes()[..], &explicit, &content, tag.bytes()].concat()
}

// What ends handshakes.

/// Changes the body of each unprotected message of this type from `side`.
fn changing<C: Profile, S: Profile>(
    pair: &mut Ends<C, S>,
    side: Side,
    kind: HandshakeType,
    change: impl Fn(&mut [u8]) + 'static,
) {
    pair.fate = Box::new(move |_, from, mut datagram| {
        let mut rest = &mut datagram[..];
        while rest.len() > RECORD_HEADER + HANDSHAKE_HEADER {
            let header = RecordHeader::parse(rest).unwrap();
            let (record, behind) = rest.split_at_mut(RECORD_HEADER + usize::from(header.length));
            if (from, header.epoch, header.content_type) == (side, 0, ContentType::Handshake)
                && record[RECORD_HEADER] == kind.0
            {
                change(&mut record[RECORD_HEADER + HANDSHAKE_HEADER..]);
            }
            rest = behind;
        }
        vec![(DELAY, datagram)]
    });
}

/// What ends a handshake of these parties, of which messages are changed.
fn ended(
    parties: [Party; 2],
    side: Side,
    kind: HandshakeType,
    change: impl Fn(&mut [u8]) + 'static,
) -> Vec<Refusal> {
    let mut pair = Public::with_public_keys(6, CERTIFIED, parties);
    changing(&mut pair, side, kind, change);
    pair.run(300_000);
    authentication(&pair)
}

/// What a handshake of these parties ends for.
fn untrusted(mut parties: [Party; 2], change: impl FnOnce(&mut [Party; 2])) -> Vec<Refusal> {
    change(&mut parties);
    ended(parties, Side::Client, HandshakeType::HELLO_REQUEST, |_| {})
}

/// Why a side was not who it said that it is.
fn authentication<C: Profile, S: Profile>(pair: &Ends<C, S>) -> Vec<Refusal> {
    let failed = pair.seen.iter().filter_map(|(_, seen)| match seen {
        Seen::Failed(Failure::Authentication(refusal)) => Some(*refusal),
        _ => None,
    });
    failed.collect()
}

/// What a handshake with this identity and key ends for.
fn by_key(identity: &[u8], key: &[u8]) -> Vec<Refusal> {
    let mut pair = Pair::new(7, Config::HOST);
    pair.credential = (identity.to_vec(), key.to_vec());
    pair.run(300_000);
    authentication(&pair)
}

/// A handshake whose hello someone has changed, so that both sides know other messages.
fn downgraded() -> Vec<Refusal> {
    let mut pair = Pair::new(8, Config::HOST);
    changing(&mut pair, Side::Client, HandshakeType::CLIENT_HELLO, |body| {
        let at = body.windows(4).position(|window| window == EXTENDED_MASTER_SECRET).unwrap();
        body[at] = 0x7f;
    });
    pair.run(300_000);
    authentication(&pair)
}

/// A handshake whose ticket someone has changed.
fn with_ticket() -> Vec<Refusal> {
    type Ticketed = Full<Features<(), SessionTickets>>;
    let mut pair = Ends::<Ticketed, Ticketed>::by_ticket(9, RESUMABLE, Some(40), Default::default());
    changing(&mut pair, Side::Server, HandshakeType::NEW_SESSION_TICKET, |body| {
        assert_eq!(body[..4], LIFETIME.to_be_bytes());
        body[5] -= 1;
    });
    pair.run(1000);
    pair.refusals.truncate(1);
    refused(&pair)
}

/// The state of a session, at its client and at its server, that was made with one of these suites.
fn kept(suites: &'static [Suite]) -> [SessionState; 2] {
    let mut pair = Pair::new(10, Config { suites: Suites::new(suites), ..RESUMABLE });
    pair.run(1000);
    pair.kept.each_ref().map(|kept| kept[0].clone())
}

/// What a client that offers to resume a session of AES-CCM says to this answer.
fn resuming(suite: CipherSuite, extensions: &[u8]) -> Vec<Refusal> {
    let [kept, _] = kept(&[Suite::PskAes128Ccm]);
    let hello = hello_of_server(0, Version::DTLS_1_2, suite, 0, kept.session_id(), extensions);
    let suites = Suites::new(&[Suite::PskAes128Ccm8, Suite::PskAes128Ccm]);
    client_refuses::<Full>(Config { suites, ..RESUMABLE }, None, Some(&kept), &[hello])
}

/// What each reason is told for.
fn provoked() -> Vec<(Refusal, Vec<Refusal>)> {
    use HandshakeType as Kind;
    use Refusal as R;
    use Refusal12 as R12;
    let handshake = |content: &[u8]| record(ContentType::Handshake, 0, content);
    let known = || server_hello(0, PSK, &EXTENDED_MASTER_SECRET);
    let certified_hello = || server_hello(0, ECDSA, &EXTENDED_MASTER_SECRET);
    let psk = PSK.0.to_be_bytes();
    let data = |epoch| record(ContentType::ApplicationData, epoch, &[7; 40]);
    let with_id = Config { connection_id: ConnectionId::new(b"id"), ..Config::HOST };
    let limited = Config { record_limit: Some(64), ..Config::HOST };
    let key_exchange = |body: &[u8]| message(Kind::CLIENT_KEY_EXCHANGE, 2, body);
    let changed_version = |mut record: Vec<u8>| {
        record[1] = 3;
        record
    };
    let hello = || client_hello(Version::DTLS_1_2, &[], &psk, 0, &[]);
    vec![
        (R::RecordHeader, client(&[vec![99; 40]])),
        (R::RecordVersion, client(&[changed_version(data(1))])),
        (R::RecordLength, client(&[data(1)[..30].to_vec()])),
        (R::ConnectionId, client(&[record(ContentType::ConnectionId, 1, &[7; 40])])),
        (R::HandshakeHeader, client(&[handshake(&[2, 0, 0])])),
        (R::FragmentLength, client(&[fragment(Kind::SERVER_HELLO, 0, 4, 1, &[7; 4])])),
        (R::UnexpectedMessage, client(&[message(Kind::SERVER_HELLO_DONE, 0, &[])])),
        (
            R::Renegotiation,
            connected(Config::HOST, |pair| {
                let hello = HandshakeHeader::whole(Kind::CLIENT_HELLO, 9, 0).to_bytes();
                sealed(pair, 50, ContentType::Handshake, &hello)
            }),
        ),
        (
            R::HandshakeHeader,
            connected(Config::HOST, |pair| sealed(pair, 50, ContentType::Handshake, &[2, 0])),
        ),
        (
            R::UnexpectedMessage,
            connected(Config::HOST, |pair| {
                let request = HandshakeHeader::whole(Kind::CERTIFICATE, 9, 0).to_bytes();
                sealed(pair, 50, ContentType::Handshake, &request)
            }),
        ),
        (
            R::Renegotiation,
            connected(Config::HOST, |pair| {
                // Twice in one record: one alert answers both.
                let hello = HandshakeHeader::whole(Kind::CLIENT_HELLO, 9, 0).to_bytes();
                sealed(pair, 50, ContentType::Handshake, &[hello, hello].concat())
            }),
        ),
        (R::Alert, connected(Config::HOST, |pair| sealed(pair, 50, ContentType::Alert, &[1]))),
        (R::NoClientHello, listening(&data(0))),
        (R::ClientHelloFragmented, listening(&fragment(Kind::CLIENT_HELLO, 0, 90, 0, &[7; 40]))),
        (R::ClientHello, listening(&message(Kind::CLIENT_HELLO, 0, &[7; 40]))),
        (R::ClientHelloVersion, listening(&client_hello(Version(0x0303), &[], &psk, 0, &[]))),
        (R::RecordVersion, listening(&changed_version(hello()))),
        (R::RecordLength, listening(&hello()[..50])),
        (R::FragmentLength, listening(&fragment(Kind::CLIENT_HELLO, 0, 4, 1, &[7; 4]))),
        (R12::HelloVerifyRequest.into(), client(&[message(Kind::HELLO_VERIFY_REQUEST, 0, &[0])])),
        (R12::HelloVerifyRequest.into(), client(&[verify_request(0, Version(0x0303), &[7; 16])])),
        (
            R12::Cookie.into(),
            client(&[
                verify_request(0, Version::DTLS_1_0, &[7; 16]),
                verify_request(1, Version::DTLS_1_0, &[8; 16]),
            ]),
        ),
        (R::ServerHello, client(&[message(Kind::SERVER_HELLO, 0, &[7; 4])])),
        (R::ServerVersion, client(&[hello_of_server(0, Version::DTLS_1_0, PSK, 0, &[], &[])])),
        (R::ServerCompression, client(&[hello_of_server(0, Version::DTLS_1_2, PSK, 1, &[], &[])])),
        (R::ServerCipherSuite, client(&[server_hello(0, CipherSuite(0x1234), &[])])),
        (R::ServerExtensionRepeated, client(&[server_hello(0, PSK, &[EXTENDED_MASTER_SECRET; 2].concat())])),
        (R::ServerExtension, client(&[server_hello(0, PSK, &[0x7f, 0, 0, 0])])),
        (R::ServerExtension, client(&[server_hello(0, PSK, &[0, 0x36, 0, 2, 1, 7])])),
        (R::ServerExtensionContent, client(&[server_hello(0, PSK, &[0, 0x17, 0, 1, 7])])),
        (R::ServerExtensionContent, {
            let hello = server_hello(0, PSK, &[0, 0x36, 0, 2, 9, 7]);
            client_refuses::<Full>(with_id, None, None, &[hello])
        }),
        (R12::ServerRenegotiationInfo.into(), client(&[server_hello(0, PSK, &[0xff, 1, 0, 1, 1])])),
        (R::ServerRecordLimit, client(&[server_hello(0, PSK, &[0, 0x1c, 0, 2, 0, 64])])),
        (R::ResumedCipherSuite, resuming(PSK, &EXTENDED_MASTER_SECRET)),
        (R12::ResumedMasterSecret.into(), resuming(CipherSuite::PSK_WITH_AES_128_CCM, &[])),
        (R::CertificateType, certified_client(&[server_hello(0, ECDSA, &[0, 0x14, 0, 1, 2])])),
        (R::Certificate, certified_client(&[certified_hello(), message(Kind::CERTIFICATE, 1, &[0, 0, 1])])),
        (R::NoCertificate, certified_client(&[certified_hello(), message(Kind::CERTIFICATE, 1, &[0; 3])])),
        (R::NoCertificate, certified_server(&[message(Kind::CERTIFICATE, 2, &[0; 3])])),
        (R12::ServerKeyExchange.into(), client(&[known(), message(Kind::SERVER_KEY_EXCHANGE, 1, &[9, 9])])),
        (R12::ServerKeyExchange.into(), certified_client(&certified_flight(&[3, 0, 24]))),
        (R12::ServerSignature.into(), certified_client(&certified_flight(&signed_key([4, 1])))),
        (R::CertificateRequest, {
            let mut flight = certified_flight(&signed_key([4, 3]));
            flight.push(message(Kind::CERTIFICATE_REQUEST, 3, &[9]));
            certified_client(&flight)
        }),
        (R12::ServerHelloDone.into(), client(&[known(), message(Kind::SERVER_HELLO_DONE, 1, &[7])])),
        (R12::NewSessionTicket.into(), with_ticket()),
        (R12::ClientKeyExchange.into(), server(&[key_exchange(&[0, 9])])),
        (R::IdentityLength, server(&[key_exchange(&[&[0, 200][..], &[7; 200]].concat())])),
        (
            R::CertificateVerify,
            certified_server(&[
                message(Kind::CERTIFICATE, 2, &certificate_list(&certified()[0])),
                message(Kind::CLIENT_KEY_EXCHANGE, 3, &[&[65, 4][..], &[5; 64]].concat()),
                message(Kind::CERTIFICATE_VERIFY, 4, &[4, 1, 0, 0]),
            ]),
        ),
        (R::BadRecord, connected(Config::HOST, |_| data(1))),
        (R::Epoch, client(&[data(2)])),
        (R::Unprotected, connected(Config::HOST, |_| data(0))),
        (R::UnprotectedAlert, client(&[record(ContentType::Alert, 0, &[2, 40])])),
        (R::UnprotectedAlert, client(&[record(ContentType::Alert, 0, &[2])])),
        (R::UnprotectedContent, client(&[data(0)])),
        (R::ConnectionIdUse, connected(with_id, |pair| sealed(pair, 50, ContentType::Alert, &[1, 0]))),
        (R::NoKeys, client(&[data(1)])),
        (R::RecordLimit, connected(limited, |pair| sealed(pair, 50, ContentType::ApplicationData, &[7; 65]))),
        (
            R::ContentType,
            connected(Config::HOST, |pair| sealed(pair, 50, ContentType::ChangeCipherSpec, &[1])),
        ),
        (
            R::MessageEpoch,
            client(&[
                known(),
                message(Kind::SERVER_HELLO_DONE, 1, &[]),
                message(Kind::FINISHED, 2, &[7; 12]),
            ]),
        ),
        (
            R::Replayed,
            connected(Config::HOST, |pair| {
                pair.send(Side::Client, b"a reading");
                pair.sent.last().unwrap().2.clone()
            }),
        ),
        (
            R::Reassembly,
            client(&[
                fragment(Kind::SERVER_HELLO, 0, 90, 0, &[7; 4]),
                fragment(Kind::SERVER_HELLO_DONE, 1, 90, 0, &[7; 4]),
            ]),
        ),
        (
            // What was there of the later message is lost.
            R::Reassembly,
            client(&[
                fragment(Kind::SERVER_HELLO_DONE, 1, 90, 0, &[7; 4]),
                fragment(Kind::SERVER_HELLO, 0, 90, 0, &[7; 4]),
            ]),
        ),
        (
            R::Reassembly,
            certified_client(&[
                certified_hello(),
                fragment(Kind::CERTIFICATE, 1, 90, 0, &[7; 4]),
                fragment(Kind::CERTIFICATE, 1, 91, 0, &[7; 4]),
            ]),
        ),
        (R::Repeated, client(&[known(), known()])),
        (R::Repeated, client(&[known(), fragment(Kind::SERVER_HELLO, 0, 90, 0, &[7; 4])])),
        (R::Repeated, {
            let exchange = key_exchange(&[&[0, 4][..], b"node"].concat());
            let proof = record(ContentType::Handshake, 1, &[7; 40]);
            server(&[exchange, proof.clone(), proof])
        }),
        (
            R::Repeated,
            connected(Config::HOST, |pair| {
                // Data shows that the server's last flight has come: that is not sent again.
                pair.send(Side::Client, b"a reading");
                pair.run(1000);
                let finished = HandshakeHeader::whole(Kind::FINISHED, 3, 12).to_bytes();
                sealed(pair, 50, ContentType::Handshake, &[&finished[..], &[7; 12]].concat())
            }),
        ),
        (R::MessageLength, client(&[fragment(Kind::SERVER_HELLO, 0, 300, 0, &[7; 4])])),
        (
            R::MessageLength,
            certified_client(&[certified_hello(), fragment(Kind::CERTIFICATE, 1, 60_000, 0, &[7; 4])]),
        ),
        (
            R::EarlyRecord,
            server(&[
                key_exchange(&[&[0, 4][..], b"node"].concat()),
                record(ContentType::Handshake, 1, &[7; 400]),
            ]),
        ),
        (
            R::NoSession,
            connected(Config::HOST, |pair| {
                pair.server.as_mut().unwrap().close();
                data(1)
            }),
        ),
        (R::AnswerLength, {
            let mut rig = Rig::seeded(2);
            let secrets = CookieSecrets::new(&mut rig.entropy);
            answering(&mut rig, &secrets, &hello(), &mut [0; 20])
        }),
        (R::ProtocolVersion, to_hello(Version::DTLS_1_0, &psk, 0, &[])),
        (R::NoCommonCipherSuite, to_hello(Version::DTLS_1_2, &[0x12, 0x34], 0, &[])),
        (R::NoCommonCipherSuite, chosen(CipherSuite::PSK_WITH_AES_128_CCM, &[])),
        (R::NoCommonGroup, chosen(ECDSA, &[0, 10, 0, 4, 0, 2, 0, 24, 0, 13, 0, 4, 0, 2, 4, 3])),
        (R::NoCommonCertificate, chosen(ECDSA, &[0, 13, 0, 4, 0, 2, 4, 1])),
        (R::Compression, to_hello(Version::DTLS_1_2, &psk, 1, &[])),
        (R12::RenegotiationInfo.into(), to_hello(Version::DTLS_1_2, &psk, 0, &[0xff, 1, 0, 2, 1, 7])),
        (R::ExtensionRepeated, to_hello(Version::DTLS_1_2, &psk, 0, &[EXTENDED_MASTER_SECRET; 2].concat())),
        (R12::ExtendedMasterSecret.into(), to_hello(Version::DTLS_1_2, &psk, 0, &[0, 0x17, 0, 1, 7])),
        (R::ClientRecordLimit, to_hello(Version::DTLS_1_2, &psk, 0, &[0, 0x1c, 0, 2, 0, 63])),
        (R12::ResumptionUnbound.into(), {
            let [_, kept] = kept(&[Suite::PskAes128Ccm8]);
            server_refuses::<Full>(RESUMABLE, None, Some(&kept), (&psk, &[]), 1, &[])
        }),
        (R::UnknownIdentity, by_key(b"nobody", KEY)),
        (R::WrongKey, by_key(IDENTITY, b"another key")),
        (R::Finished, downgraded()),
        (R::CertificateExpired, untrusted(certified(), |parties| parties[0].clock = far())),
        (R::UnknownAuthority, untrusted(raw(), |parties| parties[1].trusted_keys.clear())),
        (
            R::CertificateUnsupported,
            ended(raw(), Side::Server, Kind::CERTIFICATE, |body| {
                // The number of the curve is the end of its name.
                let at = body.windows(4).position(|window| window == [0x3d, 3, 1, 7]).unwrap();
                body[at + 3] = 6;
            }),
        ),
        (
            R::CertificateInvalid,
            ended(certified(), Side::Server, Kind::CERTIFICATE, |body| {
                *body.last_mut().unwrap() ^= 1;
            }),
        ),
        (R::CertificateUse, untrusted(certified(), |parties| parties[0].name = Some(b"other.example"))),
        (R::Signature, untrusted(raw(), |parties| parties[0].secret = [7; 32])),
        (R::Point, ended_by_point()),
        (R::OwnKey, untrusted(raw(), |parties| parties[1].secret = [0; 32])),
    ]
}

fn far() -> sixlock_x509::Clock {
    sixlock_x509::Clock::At(sixlock_x509::Time::new(40_000, 0))
}

/// A handshake with ephemeral keys, one of which is on no curve.
fn ended_by_point() -> Vec<Refusal> {
    let config = Config { suites: Suites::new(&[Suite::EcdhePskAes128Ccm8]), ..Config::HOST };
    let mut pair = Public::new(11, config);
    changing(&mut pair, Side::Server, HandshakeType::SERVER_KEY_EXCHANGE, |body| {
        *body.last_mut().unwrap() ^= 1
    });
    pair.run(300_000);
    authentication(&pair)
}

#[test]
fn each_reason_is_told() {
    let provoked = provoked();
    let is_right =
        |reason: &Refusal, told: &[Refusal]| !told.is_empty() && told.iter().all(|other| other == reason);
    let wrong: Vec<_> =
        provoked.iter().enumerate().filter(|(_, (reason, told))| !is_right(reason, told)).collect();
    assert!(wrong.is_empty(), "the number of a line, what it is for, and what is told: {wrong:?}");
    let told = |reason: &Refusal| provoked.iter().any(|(other, _)| other == reason);
    let untold: Vec<_> =
        Refusal::all().filter(|reason| !told(reason) && !OF_ENDPOINTS.contains(reason)).collect();
    assert!(untold.is_empty(), "{untold:?}");
}

#[test]
fn reasons_have_names_of_their_own() {
    let mut names: Vec<_> = Refusal::all().map(|reason| reason.name()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), Refusal::all().count());
    assert!(names.iter().all(|name| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')));
}

#[test]
fn flights_that_come_three_times_are_duplicates_and_nothing_worse() {
    let mut pair = Pair::new(12, Config::HOST);
    pair.fate = Box::new(|_, _, datagram| {
        vec![(DELAY, datagram.clone()), (DELAY, datagram.clone()), (DELAY, datagram)]
    });
    // Meanwhile the client's proof comes again, before its keys are there.
    pair.lookup = 500;
    pair.run(10_000);
    assert!(pair.connected());
    for (side, rig) in [(Side::Client, &pair.here), (Side::Server, &pair.there)] {
        assert!(rig.count(Counter::DtlsDuplicates) > 0, "{side:?}");
        assert_eq!(rig.count(Counter::DtlsMalformed), 0, "{side:?}");
        assert!(pair.refusals.contains(&(side, Refusal::Repeated)), "{:?}", pair.refusals);
    }
}

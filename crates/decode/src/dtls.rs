//! Records of DTLS, and the sessions that open them.

use std::collections::BTreeMap;
use std::net::Ipv6Addr;

use sixlock_crypto::Soft;
use sixlock_dtls::{KeyLogEntry, MAX_CONNECTION_ID, Observer, Overheard, Refusal};
use sixlock_dtls_msg::{
    Alert, AlertDescription, AlertLevel, CipherSuite, ClientHello, ClientKeyExchange, ContentType,
    ExtensionType, Extensions, Finished, HANDSHAKE_HEADER, HandshakeHeader, HandshakeType,
    HelloVerifyRequest, RANDOM, RECORD_HEADER, RecordHeader, ServerHello, ServerKeyExchange,
};

use crate::coap;
use crate::keys::Keys;
use crate::layer::{Data, Dtls, Layer, Message, MessageBody, Reason, Unread, words};
use crate::shown::Hex;

/// Sessions that are remembered; beyond, one of them is forgotten.
const SESSIONS: usize = 16_384;

/// The port of nodes' echoes over DTLS, which are of no format. Sessions with servers at any other port carry CoAP.
const ECHO: u16 = 4433;

/// An address and a port.
type SocketAddress = (Ipv6Addr, u16);

/// What the hellos said of the sessions between a client and a server.
#[derive(Default)]
pub(crate) struct Sessions(BTreeMap<(SocketAddress, SocketAddress), Session>);

#[derive(Default)]
struct Session {
    /// The client's last hello.
    offer: Option<Vec<u8>>,
    /// The suite in the server's.
    suite: Option<CipherSuite>,
    opener: Opener,
    /// The connection ids that the client's records carry, and the server's.
    of_client: Vec<u8>,
    of_server: Vec<u8>,
}

/// Whether the records of a session can be opened.
#[derive(Default)]
enum Opener {
    /// Its hellos are not in the capture.
    #[default]
    NoHellos,
    /// The key log has no master secret for this random value.
    NoSecret([u8; RANDOM]),
    /// Its suite is none that is known here.
    Suite(CipherSuite),
    Keys(Box<Observer<Soft>>),
}

impl Session {
    fn offer(&self) -> Option<ClientHello<'_>> {
        self.offer.as_deref().and_then(|hello| ClientHello::parse(hello).ok())
    }
}

/// Whether `datagram` begins with the header of a record.
pub(crate) fn begins_like_dtls(datagram: &[u8]) -> bool {
    RecordHeader::parse(datagram).is_ok_and(|header| {
        header.version.is_dtls() && datagram.len() >= RECORD_HEADER + usize::from(header.length)
    })
}

impl Sessions {
    /// Reads the records in a datagram.
    pub(crate) fn decode(
        &mut self,
        keys: &Keys,
        source: SocketAddress,
        destination: SocketAddress,
        mut datagram: &[u8],
        layers: &mut Vec<Layer>,
    ) -> Result<(), Unread> {
        while !datagram.is_empty() {
            datagram = self.record(keys, source, destination, datagram, layers)?;
        }
        Ok(())
    }

    /// Reads the first record, and returns what follows it.
    fn record<'d>(
        &mut self,
        keys: &Keys,
        source: SocketAddress,
        destination: SocketAddress,
        datagram: &'d [u8],
        layers: &mut Vec<Layer>,
    ) -> Result<&'d [u8], Unread> {
        let unread = |reason, why: &str| Unread::new("DTLS record", datagram.len(), reason, why);
        let from_client = !self.0.contains_key(&(destination, source));
        let parties = if from_client { (source, destination) } else { (destination, source) };
        let known = self.0.get(&parties);
        let id = match known {
            Some(session) if from_client => &session.of_client[..],
            Some(session) => &session.of_server,
            None => &[],
        };
        let (header, carried) = RecordHeader::parse_with_id(datagram, id.len())
            .map_err(|_| unread(Reason::Malformed, Refusal::RecordHeader.name()))?;
        if !header.version.is_dtls() {
            return Err(unread(Reason::Malformed, Refusal::RecordVersion.name()));
        }
        let has_id = header.content_type == ContentType::ConnectionId;
        if has_id && id.is_empty() {
            let (reason, why) = match known.map(|session| &session.opener) {
                None | Some(Opener::NoHellos) => (
                    Reason::Missing,
                    "it has a connection id, and the hellos that say how long that is are not in the capture",
                ),
                Some(_) => (Reason::Malformed, Refusal::ConnectionId.name()),
            };
            return Err(unread(reason, why));
        }
        let front = RECORD_HEADER + carried.len();
        let body = datagram.get(front..).and_then(|rest| rest.get(..header.length.into()));
        let body = body.ok_or_else(|| unread(Reason::Malformed, Refusal::RecordLength.name()))?;
        let rest = datagram.get(front + body.len()..).unwrap_or_default();

        let sequence = header.sequence_number.to_bytes();
        let mut layer = Dtls {
            bytes: front,
            content: content_name(header.content_type),
            epoch: header.epoch,
            sequence: sequence.iter().fold(0, |number, &byte| number << 8 | u64::from(byte)),
            connection_id: has_id.then(|| Hex(carried.to_vec())),
            messages: Vec::new(),
            alert: None,
            refused: None,
        };
        if header.epoch == 0 {
            layer.refused = match header.content_type {
                ContentType::Alert => Some(Refusal::UnprotectedAlert.name()),
                ContentType::ApplicationData | ContentType::ConnectionId => {
                    Some(Refusal::UnprotectedContent.name())
                }
                ContentType::Handshake | ContentType::ChangeCipherSpec => None,
            };
            self.content(keys, parties, header.content_type, body, layer, layers);
            return Ok(rest);
        }
        let mut opened = body.to_vec();
        let failure = match known.map(|session| &session.opener) {
            // Sessions here never have another.
            Some(Opener::Keys(_)) if header.epoch > 1 => (Reason::Malformed, Refusal::Epoch.name().into()),
            // It may be an id that was given in another session.
            Some(Opener::Keys(_)) if has_id && carried != id => {
                (Reason::Malformed, Refusal::ConnectionId.name().into())
            }
            Some(Opener::Keys(_)) if !has_id && !id.is_empty() => {
                (Reason::Malformed, Refusal::ConnectionIdUse.name().into())
            }
            Some(Opener::Keys(observer)) => {
                let mut crypto = Soft;
                match observer.open(&mut crypto, from_client, &header, carried, &mut opened) {
                    Ok((content_type, content)) => {
                        layer.bytes += body.len() - content.len();
                        layer.content = content_name(content_type);
                        layer.refused =
                            observer.refusal(from_client, content_type, content.len()).map(Refusal::name);
                        let content = content.to_vec();
                        self.content(keys, parties, content_type, &content, layer, layers);
                        return Ok(rest);
                    }
                    Err(_) => (Reason::BadMic, Refusal::BadRecord.name().into()),
                }
            }
            Some(Opener::NoSecret(random)) => {
                (Reason::NoKey, format!("no CLIENT_RANDOM {} in the keys", Hex(random.to_vec())))
            }
            Some(Opener::Suite(suite)) => {
                (Reason::Unsupported, format!("suite {} is not opened", suite_name(suite.0)))
            }
            Some(Opener::NoHellos) | None => {
                (Reason::Missing, "the hellos of its session are not in the capture".into())
            }
        };
        layers.push(Layer::Dtls(layer));
        layers.push(Unread::new("content", body.len(), failure.0, failure.1).into());
        Ok(rest)
    }

    /// Reads what a record carries.
    fn content(
        &mut self,
        keys: &Keys,
        parties: (SocketAddress, SocketAddress),
        content_type: ContentType,
        content: &[u8],
        mut layer: Dtls,
        layers: &mut Vec<Layer>,
    ) {
        let mut behind = None;
        match content_type {
            ContentType::Handshake => {
                behind = self.handshake(keys, parties, layer.epoch, content, &mut layer.messages);
            }
            ContentType::Alert => match Alert::parse(content) {
                Ok(alert) => layer.alert = Some(alert_name(alert)),
                Err(_) => {
                    let why = Refusal::Alert.name();
                    behind = Some(Unread::new("alert", content.len(), Reason::Malformed, why));
                }
            },
            ContentType::ApplicationData => {
                layers.push(Layer::Dtls(layer));
                let (_, (_, server_port)) = parties;
                return application_data(server_port, content, layers);
            }
            ContentType::ChangeCipherSpec | ContentType::ConnectionId => {}
        }
        layers.push(Layer::Dtls(layer));
        layers.extend(behind.map(Layer::Unread));
    }

    /// Reads handshake messages, and returns what of them cannot be.
    fn handshake(
        &mut self,
        keys: &Keys,
        parties: (SocketAddress, SocketAddress),
        epoch: u16,
        mut bytes: &[u8],
        messages: &mut Vec<Message>,
    ) -> Option<Unread> {
        while !bytes.is_empty() {
            let (header, fragment, rest) = match HandshakeHeader::parse(bytes) {
                Ok(parsed) => parsed,
                Err(error) => {
                    let why = Refusal::of_handshake_header(error).name();
                    return Some(Unread::new("handshake message", bytes.len(), Reason::Malformed, why));
                }
            };
            bytes = rest;
            let session = self.0.get(&parties);
            let overheard = Overheard {
                offer: session.and_then(Session::offer),
                suite: session.and_then(|session| session.suite),
            };
            let refused = Refusal::of_message(epoch, &header, fragment, &overheard).map(Refusal::name);
            let body = header.is_whole().then(|| match body(header.kind, fragment) {
                Ok(body) => body,
                // With other suites than those that are read here it is another message.
                Err(_) if refused.is_none() => None,
                Err(error) => Some(MessageBody::Malformed { malformed: words(error) }),
            });
            messages.push(Message {
                bytes: HANDSHAKE_HEADER + fragment.len(),
                name: message_name(header.kind),
                sequence: header.message_seq,
                offset: (!header.is_whole()).then_some(header.fragment_offset),
                refused,
                body: body.flatten(),
            });
            if header.is_whole() {
                self.hello(keys, parties, header.kind, fragment);
            }
        }
        None
    }

    /// Notes what a hello says.
    fn hello(
        &mut self,
        keys: &Keys,
        parties: (SocketAddress, SocketAddress),
        kind: HandshakeType,
        body: &[u8],
    ) {
        match kind {
            HandshakeType::CLIENT_HELLO => {
                if ClientHello::parse(body).is_err() {
                    return;
                }
                if self.0.len() >= SESSIONS && !self.0.contains_key(&parties) {
                    self.0.pop_first();
                }
                self.0.entry(parties).or_default().offer = Some(body.to_vec());
            }
            HandshakeType::SERVER_HELLO => {
                let Ok(hello) = ServerHello::parse(body) else { return };
                let Some(session) = self.0.get_mut(&parties) else { return };
                let Some(offer) = session.offer() else { return };
                let answered = hello.extensions.find(ExtensionType::CONNECTION_ID).is_some();
                let of_server = if answered { connection_id(offer.extensions) } else { Vec::new() };
                let opener = match keys.masters.get(offer.random) {
                    None => Opener::NoSecret(*offer.random),
                    Some(master_secret) => {
                        let entry = KeyLogEntry { client_random: offer.random, master_secret };
                        match Observer::new(&mut Soft, entry, hello.random, hello.cipher_suite) {
                            Some(mut observer) => {
                                observer.limit(offer.extensions, hello.extensions);
                                Opener::Keys(Box::new(observer))
                            }
                            None => Opener::Suite(hello.cipher_suite),
                        }
                    }
                };
                (session.of_client, session.of_server) = (connection_id(hello.extensions), of_server);
                (session.suite, session.opener) = (Some(hello.cipher_suite), opener);
            }
            _ => {}
        }
    }
}

/// Reads the application data of a session with a server at this port.
fn application_data(server_port: u16, content: &[u8], layers: &mut Vec<Layer>) {
    if server_port == ECHO {
        return layers.push(Layer::Data(Data { bytes: content.len() }));
    }
    let unread = coap::decode(content, layers).err();
    layers.extend(unread.map(Layer::Unread));
}

/// The connection id in a hello: what its sender wants to be sent.
fn connection_id(extensions: Extensions<'_>) -> Vec<u8> {
    let id = extensions.find(ExtensionType::CONNECTION_ID).and_then(|data| data.split_first());
    let id = id.map_or(&[][..], |(_, id)| id);
    if id.len() <= MAX_CONNECTION_ID { id.to_vec() } else { Vec::new() }
}

/// What stands in a message; nothing if its kind is not read here.
fn body(kind: HandshakeType, bytes: &[u8]) -> Result<Option<MessageBody>, sixlock_dtls_msg::Error> {
    let hex = |bytes: &[u8]| Hex(bytes.to_vec());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let numbers = |extensions: Extensions<'_>| extensions.iter().map(|extension| extension.kind.0).collect();
    Ok(Some(match kind {
        HandshakeType::CLIENT_HELLO => {
            let hello = ClientHello::parse(bytes)?;
            let suites = hello.cipher_suites.0.as_chunks().0.iter();
            MessageBody::ClientHello {
                random: hex(hello.random),
                session_id: hex(hello.session_id),
                cookie: hex(hello.cookie),
                cipher_suites: suites.map(|&number| suite_name(u16::from_be_bytes(number))).collect(),
                extensions: numbers(hello.extensions),
            }
        }
        HandshakeType::SERVER_HELLO => {
            let hello = ServerHello::parse(bytes)?;
            MessageBody::ServerHello {
                random: hex(hello.random),
                session_id: hex(hello.session_id),
                cipher_suite: suite_name(hello.cipher_suite.0),
                extensions: numbers(hello.extensions),
            }
        }
        HandshakeType::HELLO_VERIFY_REQUEST => {
            MessageBody::HelloVerifyRequest { cookie: hex(HelloVerifyRequest::parse(bytes)?.cookie) }
        }
        HandshakeType::SERVER_KEY_EXCHANGE => {
            let hint = ServerKeyExchange::parse(bytes)?.identity_hint;
            MessageBody::ServerKeyExchange { psk_identity_hint: text(hint) }
        }
        HandshakeType::CLIENT_KEY_EXCHANGE => {
            MessageBody::ClientKeyExchange { psk_identity: text(ClientKeyExchange::parse(bytes)?.identity) }
        }
        HandshakeType::FINISHED => {
            MessageBody::Finished { verify_data: hex(Finished::parse(bytes)?.verify_data) }
        }
        _ => return Ok(None),
    }))
}

fn suite_name(number: u16) -> String {
    match CipherSuite(number) {
        CipherSuite::PSK_WITH_AES_128_CCM => "TLS_PSK_WITH_AES_128_CCM".into(),
        CipherSuite::PSK_WITH_AES_128_CCM_8 => "TLS_PSK_WITH_AES_128_CCM_8".into(),
        CipherSuite::EMPTY_RENEGOTIATION_INFO_SCSV => "TLS_EMPTY_RENEGOTIATION_INFO_SCSV".into(),
        CipherSuite(number) => format!("0x{number:04x}"),
    }
}

fn message_name(kind: HandshakeType) -> String {
    let name = match kind {
        HandshakeType::HELLO_REQUEST => "HelloRequest",
        HandshakeType::CLIENT_HELLO => "ClientHello",
        HandshakeType::SERVER_HELLO => "ServerHello",
        HandshakeType::HELLO_VERIFY_REQUEST => "HelloVerifyRequest",
        HandshakeType::NEW_SESSION_TICKET => "NewSessionTicket",
        HandshakeType::CERTIFICATE => "Certificate",
        HandshakeType::SERVER_KEY_EXCHANGE => "ServerKeyExchange",
        HandshakeType::CERTIFICATE_REQUEST => "CertificateRequest",
        HandshakeType::SERVER_HELLO_DONE => "ServerHelloDone",
        HandshakeType::CERTIFICATE_VERIFY => "CertificateVerify",
        HandshakeType::CLIENT_KEY_EXCHANGE => "ClientKeyExchange",
        HandshakeType::FINISHED => "Finished",
        HandshakeType(number) => return format!("handshake message {number}"),
    };
    name.into()
}

fn content_name(content_type: ContentType) -> &'static str {
    match content_type {
        ContentType::ChangeCipherSpec => "change-cipher-spec",
        ContentType::Alert => "alert",
        ContentType::Handshake => "handshake",
        ContentType::ApplicationData => "application-data",
        ContentType::ConnectionId => "connection-id",
    }
}

fn alert_name(Alert { level, description }: Alert) -> String {
    let level = match level {
        AlertLevel::Warning => "warning",
        AlertLevel::Fatal => "fatal",
    };
    match description {
        AlertDescription::CLOSE_NOTIFY => "close notify".into(),
        AlertDescription::HANDSHAKE_FAILURE => format!("{level} alert: handshake failure"),
        AlertDescription::DECRYPT_ERROR => format!("{level} alert: decrypt error"),
        AlertDescription(number) => format!("{level} alert {number}"),
    }
}

use sixlock_dtls_msg::{
    CertificateRequest, CipherSuites, ClientHello, ClientKeyExchange, EphemeralKeyExchange,
    EphemeralParameters, EphemeralPskClient, EphemeralPskServer, Extension, ExtensionType, Extensions,
    Finished, HandshakeType, NULL_COMPRESSION, ServerHello, SignatureAlgorithm, Signed, SignedKeyExchange,
    Version, Window,
};
use sixlock_x509::DerSignature;

use super::{FeaturesOf, HandshakeRole};
use crate::handshake::HandshakeParameters;
use crate::record::{PLAIN, PROTECTED};
use crate::schedule::Side;
use crate::server_name::ServerName;
use crate::suite::Offer;
use crate::{FeatureSet, KeyParameters, MAX_CONNECTION_ID, OptionalPart, Profile, SessionState, Suite};

/// The longest extensions of a hello: extended_master_secret, connection_id, record_size_limit, max_fragment_length,
/// those of public keys and an empty renegotiation_info.
const EXTENSIONS: usize = 4 + (5 + MAX_CONNECTION_ID) + 6 + 5 + PUBLIC_KEY_EXTENSIONS + 5;
/// signature_algorithms, supported_groups, ec_point_formats and both of the certificates' types.
const PUBLIC_KEY_EXTENSIONS: usize = 8 + 8 + 6 + 2 * 7;

/// The extensions of a hello.
fn extensions<'a, P: Profile>(
    parameters: &HandshakeParameters<P::Features>,
    extended_master_secret: bool,
    renegotiation_info: bool,
    side: Side,
    room: &'a mut [u8; EXTENSIONS],
) -> Extensions<'a> {
    let mut window = Window::new(0, &mut room[..]);
    if extended_master_secret {
        Extension { kind: ExtensionType::EXTENDED_MASTER_SECRET, data: &[] }.emit(&mut window);
    }
    if P::CONNECTION_IDS
        && let Some(id) = &parameters.own_id
    {
        Extension { kind: ExtensionType::CONNECTION_ID, data: id.extension() }.emit(&mut window);
    }
    if P::RECORD_LIMITS
        && let Some(size) = parameters.limits.size
    {
        Extension { kind: ExtensionType::RECORD_SIZE_LIMIT, data: &size.to_be_bytes() }.emit(&mut window);
    }
    if P::RECORD_LIMITS
        && let Some(number) = parameters.limits.fragment
    {
        Extension { kind: ExtensionType::MAX_FRAGMENT_LENGTH, data: &[number] }.emit(&mut window);
    }
    if let Some(keys) = parameters.keys.get() {
        let emit = |kind, data: &[u8]| Extension { kind, data }.emit(&mut window);
        match side {
            Side::Client => keys.ask(
                parameters.first_suite::<P>(Suite::has_public_keys).is_some(),
                parameters.first_suite::<P>(Suite::has_ephemeral_keys).is_some(),
                emit,
            ),
            Side::Server if parameters.suite::<P>().has_ephemeral_keys() && !parameters.resumed => {
                keys.answer(parameters.suite::<P>().has_public_keys(), emit);
            }
            // A session that is resumed has proved its keys, and pre-shared ones are not spoken of.
            Side::Server => {}
        }
    }
    if renegotiation_info {
        Extension { kind: ExtensionType::RENEGOTIATION_INFO, data: &[0] }.emit(&mut window);
    }
    let filled = window.filled();
    Extensions(&room[..filled])
}

/// What a hello says of session tickets; it is too long for the room of the others.
const fn ticket_extension(data: &[u8]) -> Extension<'_> {
    Extension { kind: ExtensionType::SESSION_TICKET, data }
}

/// A message that is sent, emitted from the handshake's parameters each time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Message {
    /// The client's offer, with the cookie if there is one.
    ClientHello = HandshakeType::CLIENT_HELLO.0,
    /// The server's choice.
    ServerHello = HandshakeType::SERVER_HELLO.0,
    /// The ticket that a client is to keep.
    NewSessionTicket = HandshakeType::NEW_SESSION_TICKET.0,
    /// What proves whose public key we have.
    Certificate = HandshakeType::CERTIFICATE.0,
    /// The server's ephemeral key; signed, if it has a certificate.
    ServerKeyExchange = HandshakeType::SERVER_KEY_EXCHANGE.0,
    /// The server wants the client's certificate.
    CertificateRequest = HandshakeType::CERTIFICATE_REQUEST.0,
    /// The end of the server's first flight.
    ServerHelloDone = HandshakeType::SERVER_HELLO_DONE.0,
    /// The client proves that it has its certificate's key.
    CertificateVerify = HandshakeType::CERTIFICATE_VERIFY.0,
    /// The client's identity, its ephemeral key, or both.
    ClientKeyExchange = HandshakeType::CLIENT_KEY_EXCHANGE.0,
    /// The proof of the key.
    Finished = HandshakeType::FINISHED.0,
    /// What follows is protected; not a handshake message.
    ChangeCipherSpec = u8::MAX,
}

/// Messages that are sent together, and together again when no answer comes
/// ([RFC 6347 section 4.2.4](https://www.rfc-editor.org/rfc/rfc6347#section-4.2.4)).
#[derive(Debug)]
pub struct Flight {
    /// Its messages in order.
    pub(crate) messages: &'static [Message],
    /// The last message of the peer's flight that this one answers: when it comes again, this
    /// flight was lost. A HelloVerifyRequest shows nothing of the kind.
    pub(crate) answers: Option<HandshakeType>,
}

/// Flights 1 and 3.
pub(crate) static CLIENT_HELLO: Flight = Flight { messages: &[Message::ClientHello], answers: None };
/// Flight 4.
pub(crate) static SERVER_HELLO: Flight = Flight {
    messages: &[Message::ServerHello, Message::ServerHelloDone],
    answers: Some(HandshakeType::CLIENT_HELLO),
};
/// Flight 4 of a server with an ephemeral key that nobody signs.
pub(crate) static SERVER_EPHEMERAL: Flight = Flight {
    messages: &[Message::ServerHello, Message::ServerKeyExchange, Message::ServerHelloDone],
    answers: Some(HandshakeType::CLIENT_HELLO),
};
/// Flight 4 of a server with a public key.
pub(crate) static SERVER_CERTIFICATE: Flight = Flight {
    messages: &[
        Message::ServerHello,
        Message::Certificate,
        Message::ServerKeyExchange,
        Message::ServerHelloDone,
    ],
    answers: Some(HandshakeType::CLIENT_HELLO),
};
/// Flight 4 of a server that asks for the client's, too.
pub(crate) static SERVER_REQUEST: Flight = Flight {
    messages: &[
        Message::ServerHello,
        Message::Certificate,
        Message::ServerKeyExchange,
        Message::CertificateRequest,
        Message::ServerHelloDone,
    ],
    answers: Some(HandshakeType::CLIENT_HELLO),
};
/// Flight 5.
pub(crate) static CLIENT_FINISHED: Flight = Flight {
    messages: &[Message::ClientKeyExchange, Message::ChangeCipherSpec, Message::Finished],
    answers: Some(HandshakeType::SERVER_HELLO_DONE),
};
/// Flight 5 of a client that is asked for a certificate and has none.
pub(crate) static CLIENT_UNCERTIFIED: Flight = Flight {
    messages: &[
        Message::Certificate,
        Message::ClientKeyExchange,
        Message::ChangeCipherSpec,
        Message::Finished,
    ],
    answers: Some(HandshakeType::SERVER_HELLO_DONE),
};
/// Flight 5 of a client that proves its own.
pub(crate) static CLIENT_CERTIFICATE: Flight = Flight {
    messages: &[
        Message::Certificate,
        Message::ClientKeyExchange,
        Message::CertificateVerify,
        Message::ChangeCipherSpec,
        Message::Finished,
    ],
    answers: Some(HandshakeType::SERVER_HELLO_DONE),
};
/// The last flight: the server's sixth or, of a session that is resumed, the client's.
pub(crate) static FINISHED: Flight = Flight {
    messages: &[Message::ChangeCipherSpec, Message::Finished],
    answers: Some(HandshakeType::FINISHED),
};
/// A server's only flight in a session that is resumed.
pub(crate) static SERVER_RESUMED: Flight = Flight {
    messages: &[Message::ServerHello, Message::ChangeCipherSpec, Message::Finished],
    answers: Some(HandshakeType::CLIENT_HELLO),
};
/// A server's last flight, with a ticket.
pub(crate) static SERVER_TICKET: Flight = Flight {
    messages: &[Message::NewSessionTicket, Message::ChangeCipherSpec, Message::Finished],
    answers: Some(HandshakeType::FINISHED),
};
/// A server's only flight in a session that is resumed, with a ticket.
pub(crate) static SERVER_RESUMED_TICKET: Flight = Flight {
    messages: &[
        Message::ServerHello,
        Message::NewSessionTicket,
        Message::ChangeCipherSpec,
        Message::Finished,
    ],
    answers: Some(HandshakeType::CLIENT_HELLO),
};
/// No messages: the server waits for what it needs to answer.
pub(crate) static EMPTY: Flight = Flight { messages: &[], answers: None };

impl Message {
    /// The handshake message's type; none for a ChangeCipherSpec.
    pub(crate) const fn kind(self) -> Option<HandshakeType> {
        match self {
            Self::ChangeCipherSpec => None,
            message => Some(HandshakeType(message as u8)),
        }
    }

    /// The epoch the message is sent in.
    pub(crate) const fn epoch(self) -> u16 {
        if matches!(self, Self::Finished) { PROTECTED } else { PLAIN }
    }

    /// Length of the message's body, in bytes.
    pub(crate) fn length<R: HandshakeRole>(self, parameters: &HandshakeParameters<FeaturesOf<R>>) -> u16 {
        let mut window = Window::new(0, &mut []);
        self.emit::<R>(parameters, &mut window);
        window.length()
    }

    /// Emits the body of the message, one that role `R` sends: a device links those of the role it has.
    pub(crate) fn emit<R: HandshakeRole>(
        self,
        parameters: &HandshakeParameters<FeaturesOf<R>>,
        window: &mut Window<'_>,
    ) {
        match (self, R::SIDE) {
            (Self::ClientHello, Side::Client) => {
                let (only, several);
                let cipher_suites = match R::Profile::SUITE {
                    Some(suite) => {
                        only = Offer::only(suite);
                        CipherSuites(&only)
                    }
                    None => {
                        several = Offer::new(parameters.usable());
                        several.suites()
                    }
                };
                let mut room = [0; EXTENSIONS];
                let hello = ClientHello {
                    version: Version::DTLS_1_2,
                    random: &parameters.client_random,
                    session_id: parameters
                        .offered
                        .get()
                        .filter(|_| R::Profile::RESUMPTION)
                        .map_or(&[], SessionState::session_id),
                    cookie: parameters.cookie_or_identity.cookie(),
                    cipher_suites,
                    compression_methods: &[NULL_COMPRESSION],
                    extensions: extensions::<R::Profile>(parameters, true, false, Side::Client, &mut room),
                };
                let named = parameters.server_name.get().and_then(ServerName::extension);
                let tickets = parameters.tickets.get().filter(|tickets| tickets.wanted);
                match (named, tickets.map(|tickets| ticket_extension(tickets.ticket()))) {
                    (Some(name), Some(ticket)) => hello.emit_with(&[name, ticket], window),
                    (Some(one), None) | (None, Some(one)) => hello.emit_with(&[one], window),
                    (None, None) => hello.emit(window),
                }
            }
            (Self::ServerHello, Side::Server) => {
                let mut room = [0; EXTENSIONS];
                let hello = ServerHello {
                    version: Version::DTLS_1_2,
                    random: &parameters.server_random,
                    session_id: parameters.session_id.get(),
                    cipher_suite: parameters.suite.number(),
                    compression_method: NULL_COMPRESSION,
                    // What the client offered is taken up, nothing else.
                    extensions: extensions::<R::Profile>(
                        parameters,
                        parameters.extended_master_secret,
                        parameters.secure_renegotiation,
                        Side::Server,
                        &mut room,
                    ),
                };
                match parameters.tickets.get().filter(|tickets| tickets.promises) {
                    Some(_) => hello.emit_with(&[ticket_extension(&[])], window),
                    None => hello.emit(window),
                }
            }
            (Self::NewSessionTicket, Side::Server) => {
                if let Some(tickets) = parameters.tickets.get() {
                    tickets.message().emit(window);
                }
            }
            (Self::ClientKeyExchange, Side::Client) => match parameters.keys.get() {
                Some(keys) if parameters.suite::<R::Profile>().has_public_keys() => {
                    EphemeralKeyExchange { point: &keys.point }.emit(window);
                }
                Some(keys) if parameters.suite::<R::Profile>().has_ephemeral_keys() => {
                    EphemeralPskClient {
                        identity: parameters.cookie_or_identity.identity(),
                        point: &keys.point,
                    }
                    .emit(window);
                }
                _ => ClientKeyExchange { identity: parameters.cookie_or_identity.identity() }.emit(window),
            },
            (Self::Finished, _) => Finished { verify_data: &parameters.verify_data }.emit(window),
            (message, side) => {
                if let Some(keys) = parameters.keys.get() {
                    let suite = parameters.suite::<R::Profile>();
                    message.emit_public_key::<FeaturesOf<R>>(keys, suite, side, window);
                }
            }
        }
    }

    /// Emits the body of a message that is only sent with public keys; of others none.
    fn emit_public_key<K: FeatureSet>(
        self,
        keys: &KeyParameters,
        suite: Suite,
        side: Side,
        window: &mut Window<'_>,
    ) {
        let signature = DerSignature::new(&keys.signature);
        let signed = Signed { algorithm: SignatureAlgorithm::ECDSA_SHA_256, signature: signature.bytes() };
        match (self, side) {
            (Self::Certificate, Side::Client) => keys.emit_certificate::<K>(keys.suits, window),
            (Self::Certificate, Side::Server) => keys.emit_certificate::<K>(true, window),
            (Self::ServerKeyExchange, Side::Server) => {
                let parameters = EphemeralParameters { point: &keys.point };
                if suite.has_public_keys() {
                    SignedKeyExchange { parameters, signed }.emit(window);
                } else {
                    EphemeralPskServer { identity_hint: &[], parameters }.emit(window);
                }
            }
            (Self::CertificateRequest, Side::Server) => {
                CertificateRequest::emit(keys.authorities(), window);
            }
            (Self::CertificateVerify, Side::Client) => signed.emit(window),
            // Without a body, or not this side's.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handshake::Handshake;
    use crate::session_state::SessionId;
    use crate::v12::{Client, Server};
    use crate::{Certificates, Certified, Credentials, Features, Suites};
    use sixlock_base::Slot;
    use sixlock_crypto::Soft;
    use sixlock_dtls_msg::{CertificateType, Window};
    extern crate std;
    use std::vec;

    const CREDENTIALS: Credentials = Credentials {
        raw_public_key: Some([6; 65]),
        certificates: &[&[1; 300], &[2; 20]],
        accepts: &[CertificateType::RawPublicKey, CertificateType::X509],
        mutual: true,
        authorities: &[&[3; 30], &[4; 5]],
    };

    #[test]
    fn every_range_of_a_message_is_that_of_the_whole() {
        let mut handshake = Handshake::<Soft, Features<Certificates>>::with(&CREDENTIALS);
        let parameters = &mut handshake.parameters;
        parameters.client_random = core::array::from_fn(|n| n as u8);
        parameters.server_random = core::array::from_fn(|n| 100 + n as u8);
        parameters.verify_data = core::array::from_fn(|n| 200 + n as u8);
        parameters.cookie_or_identity.set_cookie(&[7; 100]);
        (parameters.extended_master_secret, parameters.secure_renegotiation) = (true, true);
        parameters.session_id = SessionId::received(&[9; 32]);
        parameters.own_id = crate::ConnectionId::new(&[7; MAX_CONNECTION_ID]);
        (parameters.limits.size, parameters.limits.fragment) = (Some(512), Some(1));
        let suite = Suite::PskAes128Ccm;
        parameters.suites = Suites::ALL;
        let offered = SessionState { id: SessionId::received(&[8; 20]), master_secret: [0; 48], suite };
        parameters.offered = Slot::Full(offered);
        every_range::<Client<Certified>>(parameters, &[&CLIENT_HELLO]);
        parameters.cookie_or_identity.set_identity(&[7; 100]);
        every_range::<Client<Certified>>(parameters, &[&CLIENT_FINISHED, &FINISHED]);
        every_range::<Server<Certified>>(parameters, &[&SERVER_HELLO, &SERVER_RESUMED, &FINISHED]);
        parameters.suite = Suite::EcdheEcdsaAes128Ccm8;
        if let Some(keys) = parameters.keys.get_mut() {
            (keys.point, keys.signature, keys.suits) = ([5; 65], [0xfe; 64], true);
            keys.peer_type = CertificateType::X509;
        }
        every_range::<Client<Certified>>(parameters, &[&CLIENT_CERTIFICATE]);
        every_range::<Server<Certified>>(parameters, &[&SERVER_REQUEST]);
        if let Some(keys) = parameters.keys.get_mut() {
            keys.own_type = CertificateType::RawPublicKey;
        }
        every_range::<Client<Certified>>(parameters, &[&CLIENT_UNCERTIFIED]);
        every_range::<Server<Certified>>(parameters, &[&SERVER_CERTIFICATE]);
        parameters.suite = Suite::EcdhePskAes128Gcm;
        every_range::<Client<Certified>>(parameters, &[&CLIENT_FINISHED]);
        every_range::<Server<Certified>>(parameters, &[&SERVER_EPHEMERAL]);
    }

    fn every_range<R: HandshakeRole>(parameters: &HandshakeParameters<FeaturesOf<R>>, flights: &[&Flight]) {
        for flight in flights {
            for message in flight.messages {
                let length = message.length::<R>(parameters);
                let mut whole = vec![0; length.into()];
                message.emit::<R>(parameters, &mut Window::new(0, &mut whole));
                for from in 0..length {
                    for to in from..=length {
                        let mut part = vec![0; usize::from(to - from)];
                        message.emit::<R>(parameters, &mut Window::new(from, &mut part));
                        assert_eq!(part, whole[from.into()..to.into()], "{message:?} {from}..{to}");
                    }
                }
            }
        }
    }
}

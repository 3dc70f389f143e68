//! The messages of DTLS 1.2 that are sent.

use sixlock_dtls_msg::{
    Certificate, CertificateRequest, CertificateType, CipherSuites, ClientHello, ClientKeyExchange,
    EphemeralKeyExchange, EphemeralParameters, EphemeralPskClient, EphemeralPskServer, Finished,
    HandshakeType, NULL_COMPRESSION, ServerHello, SignatureAlgorithm, Signed, SignedKeyExchange, Version,
    Window,
};
use sixlock_x509::{DerSignature, public_key_info};

use super::extensions::{EXTENSIONS, extensions, ticket_extension};
use super::parameters::HandshakeParameters;
use super::public_keys::KeyParameters;
use super::record::PROTECTED;
use crate::engine::message::OutgoingMessage;
use crate::engine::record::PLAIN;
use crate::engine::role::Side;
use crate::suite::Offer;
use crate::{FeatureSet, OptionalPart, Profile, ServerName, SessionState, Suite};

/// A message that is sent, emitted from the handshake's parameters each time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Message {
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

impl OutgoingMessage for Message {
    fn kind(self) -> Option<HandshakeType> {
        match self {
            Self::ChangeCipherSpec => None,
            message => Some(HandshakeType(message as u8)),
        }
    }

    fn epoch(self) -> u16 {
        if matches!(self, Self::Finished) { PROTECTED } else { PLAIN }
    }

    /// A server that keeps nothing could not put a hello together.
    fn is_atomic(self) -> bool {
        self == Self::ClientHello
    }
}

impl Message {
    /// Emits the body of a message that a client sends.
    pub(crate) fn emit_as_client<P: Profile>(
        self,
        parameters: &HandshakeParameters<P::Features>,
        window: &mut Window<'_>,
    ) {
        let suite = parameters.suite::<P>();
        match (self, parameters.keys.get()) {
            (Self::ClientHello, _) => emit_client_hello::<P>(parameters, window),
            (Self::ClientKeyExchange, Some(keys)) if suite.has_public_keys() => {
                EphemeralKeyExchange { point: &keys.point }.emit(window);
            }
            (Self::ClientKeyExchange, Some(keys)) if suite.has_ephemeral_keys() => {
                let identity = parameters.cookie_or_identity.identity();
                EphemeralPskClient { identity, point: &keys.point }.emit(window);
            }
            (Self::ClientKeyExchange, _) => {
                ClientKeyExchange { identity: parameters.cookie_or_identity.identity() }.emit(window);
            }
            (Self::Finished, _) => Finished { verify_data: &parameters.verify_data }.emit(window),
            (Self::Certificate, Some(keys)) => emit_certificate::<P::Features>(keys, keys.suits, window),
            (Self::CertificateVerify, Some(keys)) => signed(&DerSignature::new(&keys.signature)).emit(window),
            // Not a client's.
            _ => {}
        }
    }

    /// Emits the body of a message that a server sends.
    pub(crate) fn emit_as_server<P: Profile>(
        self,
        parameters: &HandshakeParameters<P::Features>,
        window: &mut Window<'_>,
    ) {
        match (self, parameters.keys.get()) {
            (Self::ServerHello, _) => emit_server_hello::<P>(parameters, window),
            (Self::NewSessionTicket, _) => {
                if let Some(tickets) = parameters.tickets.get() {
                    tickets.message().emit(window);
                }
            }
            (Self::Finished, _) => Finished { verify_data: &parameters.verify_data }.emit(window),
            (Self::Certificate, Some(keys)) => emit_certificate::<P::Features>(keys, true, window),
            (Self::ServerKeyExchange, Some(keys)) => {
                emit_server_key_exchange(keys, parameters.suite::<P>(), window);
            }
            (Self::CertificateRequest, Some(keys)) => CertificateRequest::emit(keys.authorities(), window),
            // Without a body, or not a server's.
            _ => {}
        }
    }
}

fn emit_client_hello<P: Profile>(parameters: &HandshakeParameters<P::Features>, window: &mut Window<'_>) {
    let (only, several);
    let cipher_suites = match P::SUITE {
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
    let offered = parameters.offered.get().filter(|_| P::RESUMPTION);
    let hello = ClientHello {
        version: Version::DTLS_1_2,
        random: &parameters.client_random,
        session_id: offered.map_or(&[], SessionState::session_id),
        cookie: parameters.cookie_or_identity.cookie(),
        cipher_suites,
        compression_methods: &[NULL_COMPRESSION],
        extensions: extensions::<P>(parameters, true, false, Side::Client, &mut room),
    };
    let named = parameters.server_name.get().and_then(ServerName::extension);
    let tickets = parameters.tickets.get().filter(|tickets| tickets.wanted);
    match (named, tickets.map(|tickets| ticket_extension(tickets.ticket()))) {
        (Some(name), Some(ticket)) => hello.emit_with(&[name, ticket], window),
        (Some(one), None) | (None, Some(one)) => hello.emit_with(&[one], window),
        (None, None) => hello.emit(window),
    }
}

fn emit_server_hello<P: Profile>(parameters: &HandshakeParameters<P::Features>, window: &mut Window<'_>) {
    let (extended, renegotiation) = (parameters.extended_master_secret, parameters.secure_renegotiation);
    let mut room = [0; EXTENSIONS];
    let hello = ServerHello {
        version: Version::DTLS_1_2,
        random: &parameters.server_random,
        session_id: parameters.session_id.get(),
        cipher_suite: parameters.suite.number(),
        compression_method: NULL_COMPRESSION,
        // What the client offered is taken up, nothing else.
        extensions: extensions::<P>(parameters, extended, renegotiation, Side::Server, &mut room),
    };
    match parameters.tickets.get().filter(|tickets| tickets.promises) {
        Some(_) => hello.emit_with(&[ticket_extension(&[])], window),
        None => hello.emit(window),
    }
}

fn emit_server_key_exchange(keys: &KeyParameters, suite: Suite, window: &mut Window<'_>) {
    let parameters = EphemeralParameters { point: &keys.point };
    if suite.has_public_keys() {
        SignedKeyExchange { parameters, signed: signed(&DerSignature::new(&keys.signature)) }.emit(window);
    } else {
        EphemeralPskServer { identity_hint: &[], parameters }.emit(window);
    }
}

/// Emits our Certificate message; an empty one unless it is `shown`.
fn emit_certificate<F: FeatureSet>(keys: &KeyParameters, shown: bool, window: &mut Window<'_>) {
    let credentials = keys.credentials.filter(|_| shown);
    match keys.own_type {
        CertificateType::X509 => {
            let credentials = credentials.filter(|_| F::X_509);
            let chain = credentials.map_or(&[][..], |credentials| credentials.certificates);
            Certificate::emit_chain(chain, window);
        }
        CertificateType::RawPublicKey => {
            let info = credentials.and_then(|credentials| credentials.raw_public_key);
            let info = info.map(|point| public_key_info(&point));
            Certificate::emit_raw(info.as_ref().map_or(&[], |info| &info[..]), window);
        }
    }
}

fn signed(signature: &DerSignature) -> Signed<'_> {
    Signed { algorithm: SignatureAlgorithm::ECDSA_SHA_256, signature: signature.bytes() }
}

#[cfg(test)]
mod tests {
    use super::super::session_state::SessionId;
    use super::*;
    use crate::engine::flight::Flight;
    use crate::v12::flights::*;
    use crate::v12::{Client, FeaturesOf, Role, Server};
    use crate::{Certificates, Certified, Credentials, Features, Handshake, MAX_CONNECTION_ID, Suites};
    use sixlock_base::Slot;
    use sixlock_crypto::Soft;
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
        let parameters = &mut handshake.state.parameters;
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

    fn every_range<R: Role>(parameters: &HandshakeParameters<FeaturesOf<R>>, flights: &[&Flight<Message>]) {
        for flight in flights {
            for message in flight.messages {
                let length = R::length(*message, parameters);
                let mut whole = vec![0; length.into()];
                R::emit(*message, parameters, &mut Window::new(0, &mut whole));
                for from in 0..length {
                    for to in from..=length {
                        let mut part = vec![0; usize::from(to - from)];
                        R::emit(*message, parameters, &mut Window::new(from, &mut part));
                        assert_eq!(part, whole[from.into()..to.into()], "{message:?} {from}..{to}");
                    }
                }
            }
        }
    }
}

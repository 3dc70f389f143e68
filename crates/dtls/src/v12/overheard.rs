//! Why every session of ours refuses a handshake message, as far as that shows to who only listens.

use sixlock_dtls_msg::{
    Certificate, CertificateRequest, CertificateType, CipherSuite, ClientHello, ClientKeyExchange,
    EphemeralKeyExchange, EphemeralPskClient, EphemeralPskServer, Finished, HandshakeHeader, HandshakeType,
    HelloVerifyRequest, NULL_COMPRESSION, NewSessionTicket, ServerHello, ServerKeyExchange, Signed,
    SignedKeyExchange, Version,
};

use super::client::hello::check_extension;
use super::context::known_signature;
use super::parameters::MAX_IDENTITY;
use crate::engine::reassembly::MAX_FRAGMENTED_MESSAGE;
use crate::engine::record::PLAIN;
use crate::limit::Limits;
use crate::{Refusal, Refusal12, Suite};

/// What is known of a handshake between two others.
#[derive(Clone, Copy, Debug, Default)]
pub struct Overheard<'a> {
    /// The client's last hello.
    pub offer: Option<ClientHello<'a>>,
    /// The suite in the server's.
    pub suite: Option<CipherSuite>,
}

impl Refusal {
    /// Why every session of ours refuses a handshake message, or this fragment of one, that comes in a record of this epoch; none if
    /// that depends on what does not show: on what the session is, has taken before or has for keys.
    pub fn of_message(
        epoch: u16,
        header: &HandshakeHeader,
        fragment: &[u8],
        overheard: &Overheard<'_>,
    ) -> Option<Self> {
        let is_known = match (epoch, header.kind) {
            (PLAIN, HandshakeType::FINISHED) => Err(Self::MessageEpoch),
            (PLAIN, _) if header.is_whole() => of_body(header.kind, fragment, overheard),
            (PLAIN, _) => of_fragment(header),
            (_, HandshakeType::FINISHED) if !header.is_whole() => of_fragment(header),
            (_, HandshakeType::FINISHED) => Finished::parse(fragment).map(drop).map_err(|_| Self::Finished),
            (_, HandshakeType::HELLO_REQUEST | HandshakeType::CLIENT_HELLO) => Err(Self::Renegotiation),
            _ => Err(Self::UnexpectedMessage),
        };
        is_known.err()
    }
}

/// Refuses fragments of what no session of ours puts together.
fn of_fragment(header: &HandshakeHeader) -> Result<(), Refusal> {
    match header.kind {
        HandshakeType::CLIENT_HELLO => Err(Refusal::ClientHelloFragmented),
        HandshakeType::CERTIFICATE | HandshakeType::NEW_SESSION_TICKET => Ok(()),
        _ if header.length > MAX_FRAGMENTED_MESSAGE as u32 => Err(Refusal::MessageLength),
        _ => Ok(()),
    }
}

/// Refuses a whole message that is not protected.
fn of_body(kind: HandshakeType, body: &[u8], overheard: &Overheard<'_>) -> Result<(), Refusal> {
    let suite = overheard.suite.and_then(Suite::of);
    let refused = |is_refused, refusal| if is_refused { Err(refusal) } else { Ok(()) };
    match kind {
        HandshakeType::CLIENT_HELLO => match ClientHello::parse(body) {
            Ok(hello) => Refusal::of_client_hello(&hello).map_or(Ok(()), Err),
            Err(_) => Err(Refusal::ClientHello),
        },
        HandshakeType::HELLO_VERIFY_REQUEST => {
            let is_right = HelloVerifyRequest::parse(body).is_ok_and(|request| request.version.is_dtls());
            refused(!is_right, Refusal12::HelloVerifyRequest.into())
        }
        HandshakeType::SERVER_HELLO => of_server_hello(body, overheard.offer.as_ref()),
        HandshakeType::CERTIFICATE => {
            let chains = [CertificateType::X509, CertificateType::RawPublicKey]
                .map(|kind| Certificate::parse(body, kind));
            match chains.iter().flatten().next() {
                Some(chain) => refused(chain.is_empty(), Refusal::NoCertificate),
                None => Err(Refusal::Certificate),
            }
        }
        HandshakeType::SERVER_KEY_EXCHANGE => of_server_key_exchange(body, suite),
        HandshakeType::CERTIFICATE_REQUEST => {
            refused(CertificateRequest::parse(body).is_err(), Refusal::CertificateRequest)
        }
        HandshakeType::SERVER_HELLO_DONE => refused(!body.is_empty(), Refusal12::ServerHelloDone.into()),
        HandshakeType::CLIENT_KEY_EXCHANGE => of_client_key_exchange(body, suite),
        HandshakeType::CERTIFICATE_VERIFY => {
            let signature = Signed::parse(body).ok().and_then(|signed| known_signature(&signed));
            refused(signature.is_none(), Refusal::CertificateVerify)
        }
        HandshakeType::NEW_SESSION_TICKET => {
            refused(NewSessionTicket::parse(body).is_err(), Refusal12::NewSessionTicket.into())
        }
        _ => Err(Refusal::UnexpectedMessage),
    }
}

fn of_server_hello(body: &[u8], offer: Option<&ClientHello<'_>>) -> Result<(), Refusal> {
    let hello = ServerHello::parse(body).map_err(|_| Refusal::ServerHello)?;
    let is_offered = offer.is_none_or(|offer| offer.cipher_suites.contains(hello.cipher_suite));
    let suite = Suite::of(hello.cipher_suite).filter(|_| is_offered).ok_or(Refusal::ServerCipherSuite)?;
    if hello.version != Version::DTLS_1_2 {
        return Err(Refusal::ServerVersion);
    }
    if hello.compression_method != NULL_COMPRESSION {
        return Err(Refusal::ServerCompression);
    }
    for extension in hello.extensions.iter() {
        let is_offered = |kind| offer.is_none_or(|offer| offer.extensions.find(kind).is_some());
        check_extension(suite, hello.extensions, extension, is_offered)?;
    }
    match offer {
        Some(offer) => Limits::between(offer.extensions, hello.extensions)
            .map(drop)
            .map_err(|_| Refusal::ServerRecordLimit),
        None => Ok(()),
    }
}

fn of_server_key_exchange(body: &[u8], suite: Option<Suite>) -> Result<(), Refusal> {
    let refusal = Err(Refusal12::ServerKeyExchange.into());
    let by_psk = ServerKeyExchange::parse(body).is_ok();
    let by_ephemeral_psk = EphemeralPskServer::parse(body).is_ok();
    let signed = SignedKeyExchange::parse(body);
    match suite {
        Some(suite) if suite.has_public_keys() => match signed {
            Ok(exchange) if known_signature(&exchange.signed).is_some() => Ok(()),
            Ok(_) => Err(Refusal12::ServerSignature.into()),
            Err(_) => refusal,
        },
        Some(suite) if suite.has_ephemeral_keys() && !by_ephemeral_psk => refusal,
        Some(suite) if !suite.has_ephemeral_keys() && !by_psk => refusal,
        None if !by_psk && !by_ephemeral_psk && signed.is_err() => refusal,
        _ => Ok(()),
    }
}

fn of_client_key_exchange(body: &[u8], suite: Option<Suite>) -> Result<(), Refusal> {
    let by_psk = ClientKeyExchange::parse(body).map(|exchange| exchange.identity);
    let by_ephemeral_psk = EphemeralPskClient::parse(body).map(|exchange| exchange.identity);
    let by_public_key = EphemeralKeyExchange::parse(body).map(|_| &[][..]);
    let identity = match suite {
        Some(suite) if suite.has_public_keys() => by_public_key,
        Some(suite) if suite.has_ephemeral_keys() => by_ephemeral_psk,
        Some(_) => by_psk,
        None => by_psk.or(by_ephemeral_psk).or(by_public_key),
    };
    match identity {
        Ok(identity) if identity.len() > MAX_IDENTITY => Err(Refusal::IdentityLength),
        Ok(_) => Ok(()),
        Err(_) => Err(Refusal12::ClientKeyExchange.into()),
    }
}

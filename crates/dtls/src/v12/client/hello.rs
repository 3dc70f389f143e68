//! What a client makes of a server's hello.

use sixlock_crypto::Crypto;
use sixlock_dtls_msg::{Extension, ExtensionType, Extensions, NULL_COMPRESSION, ServerHello, Version};

use super::super::public_keys::KeyParameters;
use super::super::session_state::SessionId;
use super::super::version::Version12;
use crate::engine::message::Incoming;
use crate::engine::role::HandshakeContext;
use crate::{ConnectionId, OptionalPart, Profile, Refusal, Refusal12, ServerName, Suite};

/// What a server does.
pub(super) enum Hello {
    /// It begins a new session.
    New,
    /// It resumes the one that was offered.
    Resumed,
}

/// Takes the server's choice if it is one of what was offered.
#[inline(never)]
pub(super) fn take_hello<C: Crypto, P: Profile>(
    x: &mut HandshakeContext<'_, C, Version12<P::Features>>,
    message: &Incoming<'_>,
) -> Result<Hello, Refusal> {
    let hello = ServerHello::parse(message.body).map_err(|_| Refusal::ServerHello)?;
    let suite = x.state.parameters.first_suite::<P>(|suite| suite.number() == hello.cipher_suite);
    let suite = suite.ok_or(Refusal::ServerCipherSuite)?;
    if hello.version != Version::DTLS_1_2 {
        return Err(Refusal::ServerVersion);
    }
    if hello.compression_method != NULL_COMPRESSION {
        return Err(Refusal::ServerCompression);
    }
    check_extensions::<C, P>(x, suite, hello.extensions)?;
    let extended = hello.extensions.find(ExtensionType::EXTENDED_MASTER_SECRET).is_some();
    // The session's name back means that it is resumed, and an empty one is none:
    // https://www.rfc-editor.org/rfc/rfc5246#section-7.4.1.3
    let is_named = P::RESUMPTION && !hello.session_id.is_empty();
    let resumed = x
        .state
        .parameters
        .offered
        .get()
        .filter(|session| is_named && session.session_id() == hello.session_id);
    // A session is resumed with its suite and, as it was bound to its whole handshake, in one that says so, too:
    // https://www.rfc-editor.org/rfc/rfc7627#section-5.3
    if resumed.is_some_and(|session| session.suite != suite) {
        return Err(Refusal::ResumedCipherSuite);
    }
    if resumed.is_some() && !extended {
        return Err(Refusal12::ResumedMasterSecret.into());
    }
    let master_secret = resumed.map(|session| session.master_secret);
    if P::RECORD_LIMITS {
        x.state.parameters.limits.answered(hello.extensions).map_err(|_| Refusal::ServerRecordLimit)?;
    }
    // What is said of the keys of an earlier session does not count: they are not shown again.
    if suite.has_public_keys()
        && master_secret.is_none()
        && !x.state.parameters.keys.get_mut().is_some_and(|keys| keys.answered(hello.extensions))
    {
        return Err(Refusal::CertificateType);
    }
    let next = match master_secret {
        Some(master_secret) => {
            x.state.parameters.master_secret = master_secret;
            Hello::Resumed
        }
        None => Hello::New,
    };
    if P::RESUMPTION {
        x.state.parameters.resumed = matches!(next, Hello::Resumed);
        x.state.parameters.session_id = SessionId::received(hello.session_id);
    }
    if let Some(tickets) = x.state.parameters.tickets.get_mut() {
        tickets.promised = hello.extensions.find(ExtensionType::SESSION_TICKET).is_some();
    }
    if P::CONNECTION_IDS {
        let given = hello.extensions.find(ExtensionType::CONNECTION_ID);
        x.state.parameters.peer_id = given.and_then(ConnectionId::from_extension);
    }
    x.state.parameters.suite = suite;
    x.state.parameters.server_random = *hello.random;
    x.state.parameters.extended_master_secret = extended;
    x.add(message);
    Ok(next)
}

/// Refuses extensions of a server with this suite that were not offered, and what is renegotiated
/// ([RFC 5746 section 3.4](https://www.rfc-editor.org/rfc/rfc5746#section-3.4)).
#[inline(always)]
fn check_extensions<C: Crypto, P: Profile>(
    x: &HandshakeContext<'_, C, Version12<P::Features>>,
    suite: Suite,
    extensions: Extensions<'_>,
) -> Result<(), Refusal> {
    let parameters = &x.state.parameters;
    let is_offered = |kind| match kind {
        ExtensionType::CONNECTION_ID => P::CONNECTION_IDS && parameters.own_id.is_some(),
        ExtensionType::SESSION_TICKET => parameters.tickets.get().is_some_and(|tickets| tickets.wanted),
        ExtensionType::SERVER_NAME => parameters.server_name.get().and_then(ServerName::extension).is_some(),
        ExtensionType::RECORD_SIZE_LIMIT | ExtensionType::MAX_FRAGMENT_LENGTH => P::RECORD_LIMITS,
        _ => false,
    };
    for extension in extensions.iter() {
        check_extension(suite, extensions, extension, is_offered)?;
    }
    Ok(())
}

/// Refuses one of these extensions of a server with this suite, if it was not offered or is not as it must be.
#[inline(always)]
pub(in super::super) fn check_extension(
    suite: Suite,
    extensions: Extensions<'_>,
    extension: Extension<'_>,
    is_offered: impl Fn(ExtensionType) -> bool,
) -> Result<(), Refusal> {
    if !extensions.comes_once_at_most(extension.kind) {
        return Err(Refusal::ServerExtensionRepeated);
    }
    let is_empty = extension.data.is_empty();
    let (fits, refusal) = match extension.kind {
        ExtensionType::EXTENDED_MASTER_SECRET => (is_empty, Refusal::ServerExtensionContent),
        ExtensionType::RENEGOTIATION_INFO => {
            (extension.data == [0], Refusal12::ServerRenegotiationInfo.into())
        }
        kind @ (ExtensionType::RECORD_SIZE_LIMIT | ExtensionType::MAX_FRAGMENT_LENGTH) => {
            (is_offered(kind), Refusal::ServerExtension)
        }
        // https://www.rfc-editor.org/rfc/rfc9146#section-3
        ExtensionType::CONNECTION_ID if is_offered(ExtensionType::CONNECTION_ID) => {
            (ConnectionId::from_extension(extension.data).is_some(), Refusal::ServerExtensionContent)
        }
        // https://www.rfc-editor.org/rfc/rfc5077#section-3.2
        ExtensionType::SESSION_TICKET if is_offered(ExtensionType::SESSION_TICKET) => {
            (is_empty, Refusal::ServerExtensionContent)
        }
        ExtensionType::SERVER_NAME if is_offered(ExtensionType::SERVER_NAME) => {
            (is_empty, Refusal::ServerExtensionContent)
        }
        kind => {
            let may_come = kind == ExtensionType::EC_POINT_FORMATS && suite.has_ephemeral_keys();
            let refusal = if may_come { Refusal::ServerExtensionContent } else { Refusal::ServerExtension };
            (KeyParameters::answers(suite, extension), refusal)
        }
    };
    if fits { Ok(()) } else { Err(refusal) }
}

use sixlock_dtls_msg::{
    ClientHello, ClientKeyExchange, Extension, ExtensionType, Extensions, Finished, HandshakeType,
    NULL_COMPRESSION, ServerHello, Version, Window,
};

use super::Steps;
use crate::handshake::Facts;
use crate::record::{PLAIN, PROTECTED};
use crate::schedule::Side;
use crate::{MAX_CONNECTION_ID, Profile, Resumption};

/// The longest extensions of a hello: extended_master_secret, connection_id, record_size_limit, max_fragment_length
/// and an empty renegotiation_info.
const EXTENSIONS: usize = 4 + (5 + MAX_CONNECTION_ID) + 6 + 5 + 5;

/// The extensions of a hello.
fn extensions<'a, P: Profile>(
    facts: &Facts,
    extended_master_secret: bool,
    renegotiation_info: bool,
    room: &'a mut [u8; EXTENSIONS],
) -> Extensions<'a> {
    let mut window = Window::new(0, &mut room[..]);
    if extended_master_secret {
        Extension { kind: ExtensionType::EXTENDED_MASTER_SECRET, data: &[] }.emit(&mut window);
    }
    if P::CONNECTION_IDS
        && let Some(id) = &facts.own_id
    {
        Extension { kind: ExtensionType::CONNECTION_ID, data: id.extension() }.emit(&mut window);
    }
    if P::RECORD_LIMITS
        && let Some(size) = facts.limits.size
    {
        Extension { kind: ExtensionType::RECORD_SIZE_LIMIT, data: &size.to_be_bytes() }.emit(&mut window);
    }
    if P::RECORD_LIMITS
        && let Some(number) = facts.limits.fragment
    {
        Extension { kind: ExtensionType::MAX_FRAGMENT_LENGTH, data: &[number] }.emit(&mut window);
    }
    if renegotiation_info {
        Extension { kind: ExtensionType::RENEGOTIATION_INFO, data: &[0] }.emit(&mut window);
    }
    let filled = window.filled();
    Extensions(&room[..filled])
}

/// A message that is sent, emitted from the handshake's facts each time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    /// The client's offer, with the cookie if there is one.
    ClientHello,
    /// The server's choice.
    ServerHello,
    /// The end of the server's first flight.
    ServerHelloDone,
    /// The client's identity.
    ClientKeyExchange,
    /// What follows is protected; not a handshake message.
    ChangeCipherSpec,
    /// The proof of the key.
    Finished,
}

/// Messages that are sent together, and together again when no answer comes
/// ([RFC 6347 section 4.2.4](https://www.rfc-editor.org/rfc/rfc6347#section-4.2.4)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flight {
    /// Flights 1 and 3.
    ClientHello,
    /// Flight 4.
    ServerHello,
    /// Flight 5.
    ClientFinished,
    /// The last flight: the server's sixth or, of a session that is resumed, the client's.
    Finished,
    /// A server's only flight in a session that is resumed.
    ServerResumed,
    /// No messages: the server looks for the session that the client named.
    Empty,
}

impl Flight {
    /// The flight's messages in order.
    pub(crate) const fn messages(self) -> &'static [Message] {
        match self {
            Self::ClientHello => &[Message::ClientHello],
            Self::ServerHello => &[Message::ServerHello, Message::ServerHelloDone],
            Self::ClientFinished => {
                &[Message::ClientKeyExchange, Message::ChangeCipherSpec, Message::Finished]
            }
            Self::Finished => &[Message::ChangeCipherSpec, Message::Finished],
            Self::ServerResumed => &[Message::ServerHello, Message::ChangeCipherSpec, Message::Finished],
            Self::Empty => &[],
        }
    }

    /// The last message of the peer's flight that this one answers: when it comes again, this
    /// flight was lost. A HelloVerifyRequest shows nothing of the kind.
    pub(crate) const fn answers(self) -> Option<HandshakeType> {
        match self {
            Self::ClientHello | Self::Empty => None,
            Self::ServerHello | Self::ServerResumed => Some(HandshakeType::CLIENT_HELLO),
            Self::ClientFinished => Some(HandshakeType::SERVER_HELLO_DONE),
            Self::Finished => Some(HandshakeType::FINISHED),
        }
    }
}

impl Message {
    /// The handshake message's type; none for a ChangeCipherSpec.
    pub(crate) const fn kind(self) -> Option<HandshakeType> {
        match self {
            Self::ClientHello => Some(HandshakeType::CLIENT_HELLO),
            Self::ServerHello => Some(HandshakeType::SERVER_HELLO),
            Self::ServerHelloDone => Some(HandshakeType::SERVER_HELLO_DONE),
            Self::ClientKeyExchange => Some(HandshakeType::CLIENT_KEY_EXCHANGE),
            Self::ChangeCipherSpec => None,
            Self::Finished => Some(HandshakeType::FINISHED),
        }
    }

    /// The epoch the message is sent in.
    pub(crate) const fn epoch(self) -> u16 {
        if matches!(self, Self::Finished) { PROTECTED } else { PLAIN }
    }

    /// Length of the message's body, in bytes.
    pub(crate) fn length<R: Steps>(self, facts: &Facts) -> u16 {
        let mut window = Window::new(0, &mut []);
        self.emit::<R>(facts, &mut window);
        window.length()
    }

    /// Emits the body of the message, one that role `R` sends: a device links those of the role it has.
    pub(crate) fn emit<R: Steps>(self, facts: &Facts, window: &mut Window<'_>) {
        match (self, R::SIDE) {
            (Self::ClientHello, Side::Client) => ClientHello {
                version: Version::DTLS_1_2,
                random: &facts.client_random,
                session_id: facts
                    .offered
                    .get()
                    .filter(|_| R::Profile::RESUMPTION)
                    .map_or(&[], Resumption::session_id),
                cookie: facts.name.get(),
                cipher_suites: facts.suites.offer(),
                compression_methods: &[NULL_COMPRESSION],
                extensions: extensions::<R::Profile>(facts, true, false, &mut [0; EXTENSIONS]),
            }
            .emit(window),
            (Self::ServerHello, Side::Server) => ServerHello {
                version: Version::DTLS_1_2,
                random: &facts.server_random,
                session_id: facts.session_id.get(),
                cipher_suite: facts.suite.number(),
                compression_method: NULL_COMPRESSION,
                // What the client offered is taken up, nothing else.
                extensions: extensions::<R::Profile>(
                    facts,
                    facts.extended_master_secret,
                    facts.secure_renegotiation,
                    &mut [0; EXTENSIONS],
                ),
            }
            .emit(window),
            (Self::ClientKeyExchange, Side::Client) => {
                ClientKeyExchange { identity: facts.name.get() }.emit(window)
            }
            (Self::Finished, _) => Finished { verify_data: &facts.verify_data }.emit(window),
            // Without a body, or not this side's.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handshake::Handshake;
    use crate::resumption::SessionId;
    use crate::v12::{Client, Server};
    use crate::{Full, Suite, Suites};
    use sixlock_base::Slot;
    use sixlock_crypto::Soft;
    use sixlock_dtls_msg::Window;
    extern crate std;
    use std::vec;

    #[test]
    fn every_range_of_a_message_is_that_of_the_whole() {
        let mut handshake = Handshake::<Soft>::new();
        let facts = &mut handshake.facts;
        facts.client_random = core::array::from_fn(|n| n as u8);
        facts.server_random = core::array::from_fn(|n| 100 + n as u8);
        facts.verify_data = core::array::from_fn(|n| 200 + n as u8);
        facts.name.set(&[7; 100]);
        (facts.extended_master_secret, facts.secure_renegotiation) = (true, true);
        facts.session_id = SessionId::received(&[9; 32]);
        facts.own_id = crate::ConnectionId::new(&[7; MAX_CONNECTION_ID]);
        (facts.limits.size, facts.limits.fragment) = (Some(512), Some(1));
        let suite = Suite::PskAes128Ccm;
        facts.suites = Suites::ALL;
        let offered = Resumption { id: SessionId::received(&[8; 20]), master_secret: [0; 48], suite };
        facts.offered = Slot::Full(offered);
        every_range::<Client<Full>>(facts, &[Flight::ClientHello, Flight::ClientFinished, Flight::Finished]);
        every_range::<Server<Full>>(facts, &[Flight::ServerHello, Flight::ServerResumed, Flight::Finished]);
    }

    fn every_range<R: Steps>(facts: &Facts, flights: &[Flight]) {
        for flight in flights {
            for message in flight.messages() {
                let length = message.length::<R>(facts);
                let mut whole = vec![0; length.into()];
                message.emit::<R>(facts, &mut Window::new(0, &mut whole));
                for from in 0..length {
                    for to in from..=length {
                        let mut part = vec![0; usize::from(to - from)];
                        message.emit::<R>(facts, &mut Window::new(from, &mut part));
                        assert_eq!(part, whole[from.into()..to.into()], "{message:?} {from}..{to}");
                    }
                }
            }
        }
    }
}

//! The flights of DTLS 1.2, numbered as in
//! [RFC 6347 section 4.2.4](https://www.rfc-editor.org/rfc/rfc6347#section-4.2.4).

use sixlock_dtls_msg::HandshakeType;

use super::message::Message;
use crate::engine::flight::Flight;

/// Flights 1 and 3.
pub(crate) static CLIENT_HELLO: Flight<Message> = Flight { messages: &[Message::ClientHello], answers: None };
/// Flight 4.
pub(crate) static SERVER_HELLO: Flight<Message> = Flight {
    messages: &[Message::ServerHello, Message::ServerHelloDone],
    answers: Some(HandshakeType::CLIENT_HELLO),
};
/// Flight 4 of a server with an ephemeral key that nobody signs.
pub(crate) static SERVER_EPHEMERAL: Flight<Message> = Flight {
    messages: &[Message::ServerHello, Message::ServerKeyExchange, Message::ServerHelloDone],
    answers: Some(HandshakeType::CLIENT_HELLO),
};
/// Flight 4 of a server with a public key.
pub(crate) static SERVER_CERTIFICATE: Flight<Message> = Flight {
    messages: &[
        Message::ServerHello,
        Message::Certificate,
        Message::ServerKeyExchange,
        Message::ServerHelloDone,
    ],
    answers: Some(HandshakeType::CLIENT_HELLO),
};
/// Flight 4 of a server that asks for the client's, too.
pub(crate) static SERVER_REQUEST: Flight<Message> = Flight {
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
pub(crate) static CLIENT_FINISHED: Flight<Message> = Flight {
    messages: &[Message::ClientKeyExchange, Message::ChangeCipherSpec, Message::Finished],
    answers: Some(HandshakeType::SERVER_HELLO_DONE),
};
/// Flight 5 of a client that is asked for a certificate and has none.
pub(crate) static CLIENT_UNCERTIFIED: Flight<Message> = Flight {
    messages: &[
        Message::Certificate,
        Message::ClientKeyExchange,
        Message::ChangeCipherSpec,
        Message::Finished,
    ],
    answers: Some(HandshakeType::SERVER_HELLO_DONE),
};
/// Flight 5 of a client that proves its own.
pub(crate) static CLIENT_CERTIFICATE: Flight<Message> = Flight {
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
pub(crate) static FINISHED: Flight<Message> = Flight {
    messages: &[Message::ChangeCipherSpec, Message::Finished],
    answers: Some(HandshakeType::FINISHED),
};
/// A server's only flight in a session that is resumed.
pub(crate) static SERVER_RESUMED: Flight<Message> = Flight {
    messages: &[Message::ServerHello, Message::ChangeCipherSpec, Message::Finished],
    answers: Some(HandshakeType::CLIENT_HELLO),
};
/// A server's last flight, with a ticket.
pub(crate) static SERVER_TICKET: Flight<Message> = Flight {
    messages: &[Message::NewSessionTicket, Message::ChangeCipherSpec, Message::Finished],
    answers: Some(HandshakeType::FINISHED),
};
/// A server's only flight in a session that is resumed, with a ticket.
pub(crate) static SERVER_RESUMED_TICKET: Flight<Message> = Flight {
    messages: &[
        Message::ServerHello,
        Message::NewSessionTicket,
        Message::ChangeCipherSpec,
        Message::Finished,
    ],
    answers: Some(HandshakeType::CLIENT_HELLO),
};
/// No messages: the server waits for what it needs to answer.
pub(crate) static EMPTY: Flight<Message> = Flight { messages: &[], answers: None };

//! DTLS, both roles.

use sixlock_base::{Cx, Entropy};
use sixlock_crypto::Crypto;
use sixlock_dtls::{
    Client, ClientSession, Completion, Config, ConnectionId, CookieSecrets, Event, Features, Full, Handshake,
    Listen, Role, Server, ServerSession, Session, SessionState, TicketOffer, Work, listen,
};

use crate::io;
use crate::sizes::MESSAGE;

/// A client whose records carry what its server asks for.
const CLIENT: Config =
    Config { connection_id: Some(ConnectionId::EMPTY), record_limit: Some(512), ..Config::MESH };

pub struct Dtls<C: Crypto> {
    secrets: CookieSecrets,
    client: ClientSession<C, Handshake<C>>,
    server: Option<ServerSession<C, Handshake<C>>>,
    kept: Option<SessionState>,
}

pub fn new<C: Crypto, E: Entropy, N>(cx: &mut Cx<'_, C, E, N>) -> Dtls<C> {
    let handshake = Handshake::new();
    Dtls {
        secrets: CookieSecrets::new(cx.entropy),
        client: Session::client(cx, CLIENT, None, handshake),
        server: None,
        kept: None,
    }
}

#[inline(never)]
pub fn probe<C: Crypto, E: Entropy, N>(cx: &mut Cx<'_, C, E, N>, dtls: &mut Dtls<C>) {
    let Dtls { secrets, client, server, kept } = dtls;
    let mut datagram = io::bytes::<MESSAGE>();
    match (io::byte(), server) {
        (0, server) => {
            let mut reply = [0; 64];
            match listen(cx, secrets, &io::bytes::<16>(), &datagram, &mut reply) {
                Listen::Reply(length) | Listen::Refuse(length, _) => {
                    io::write(reply.get(..length).unwrap_or_default())
                }
                Listen::Accept(hello) => {
                    let handshake = Handshake::new();
                    let connection_id = ConnectionId::new(&io::bytes::<3>());
                    let config = Config { resumable: true, connection_id, ..Config::MESH };
                    *server = Some(Session::server(cx, &hello, config, handshake));
                }
                Listen::Drop(_) => {}
            }
            secrets.rotate(cx.entropy);
        }
        (1, Some(server)) => {
            drive(cx, server, &mut datagram);
            if server.awaits_session() {
                let resumed = server.complete(
                    cx,
                    Completion::Session { state: kept.as_ref(), id: None, ticket: TicketOffer::None },
                );
                io::write(&[resumed.is_ok().into()]);
            } else if asks_for_key(server) {
                let known = io::byte() != 0;
                let resumed = server.complete(cx, Completion::psk(known.then_some(&io::bytes::<16>())));
                io::write(&[resumed.is_ok().into()]);
            }
        }
        _ => {
            drive(cx, client, &mut datagram);
            *kept = client.session_state();
            if client.is_over() {
                let handshake = Handshake::new();
                *client = Session::client(cx, CLIENT, kept.as_ref(), handshake);
            }
            if asks_for_key(client) {
                let resumed = client
                    .complete(cx, Completion::Psk { identity: &io::bytes::<8>(), key: &io::bytes::<16>() });
                io::write(&[resumed.is_ok().into()]);
            }
        }
    }
}

fn drive<C: Crypto, R: Role<Profile = Full, Features = Features>, E: Entropy, N>(
    cx: &mut Cx<'_, C, E, N>,
    session: &mut Session<C, R, Handshake<C>>,
    datagram: &mut [u8; MESSAGE],
) {
    match io::byte() {
        0 => {
            let received = session.handle(cx, datagram);
            io::write(received.data.unwrap_or_default());
        }
        1 => {
            let sealed = session.seal(cx, datagram, usize::from(io::byte()));
            io::write(datagram.get(..sealed.unwrap_or(0)).unwrap_or_default());
        }
        2 => session.close(),
        _ => session.handle_timeout(cx),
    }
    if let Some(length) = session.poll_transmit(cx, datagram) {
        io::write(datagram.get(..length).unwrap_or_default());
    }
    io::write(&[session.poll_timeout().is_some().into(), session.is_connected().into()]);
}

fn asks_for_key<C: Crypto, R: Role<Profile = Full, Features = Features>>(
    session: &mut Session<C, R, Handshake<C>>,
) -> bool {
    match session.poll_event() {
        Some(Event::Work(Work::Psk { identity })) => {
            io::write(identity);
            true
        }
        _ => false,
    }
}

const _: () = assert!(size_of::<Client>() <= 64 && size_of::<Server>() <= 64, "handshake states are tokens");

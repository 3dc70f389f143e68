//! A device: real datagrams, with the DTLS client that devices run.

use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use sixlock_coap_msg::{Builder, Code, Message, OptionNumber, Type};
use sixlock_coap_server::HostContext;
use sixlock_crypto::SmallKeys;
use sixlock_dtls::{
    Client, ClientSession, Completion, Config, Event, FeaturesOf, Handshake, MAX_RECORD_OVERHEAD, Plain,
    RECORD_FRONT,
};

/// How long a device waits before it sends again.
const WAIT: Duration = Duration::from_millis(100);
/// How often, before a test fails.
const TRIES: usize = 1_200;

type ClientHandshake = Box<Handshake<SmallKeys, FeaturesOf<Client<Plain>>>>;

/// A device with a session.
pub(crate) struct Device {
    socket: UdpSocket,
    session: ClientSession<SmallKeys, Option<ClientHandshake>, Plain>,
    context: HostContext,
    id: u16,
}

/// An answer: its code and payload.
pub(crate) type Response = (Code, Vec<u8>);

pub(crate) fn socket(server: SocketAddr) -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(server).unwrap();
    socket.set_read_timeout(Some(WAIT)).unwrap();
    socket
}

impl Device {
    /// Connects by a pre-shared key; `None` if the handshake fails.
    pub(crate) fn connect(server: SocketAddr, identity: &[u8], key: &[u8]) -> Option<Self> {
        let mut context = HostContext::new();
        let mut session = ClientSession::new(Some(Box::new(Handshake::new())));
        session.connect(&mut context.cx(), &Config::HOST, None);
        let mut device = Self { socket: socket(server), session, context, id: 0 };
        loop {
            match device.session.poll_event() {
                Some(Event::Work(_)) => {
                    let key = Completion::Psk { identity, key };
                    device.session.complete(&mut device.context.cx(), key).unwrap();
                }
                Some(Event::Connected) => return Some(device),
                Some(Event::Failed(_) | Event::Closed) => return None,
                None => device.exchange(),
            }
        }
    }

    /// Sends what there is to send, and takes what comes.
    fn exchange(&mut self) {
        let Self { socket, session, context, .. } = self;
        let mut datagram = [0; 2048];
        while let Some(length) = session.poll_transmit(&mut context.cx(), &mut datagram) {
            socket.send(&datagram[..length]).unwrap();
        }
        if let Ok(length) = socket.recv(&mut datagram) {
            let mut rest = &mut datagram[..length];
            while !rest.is_empty() {
                rest = session.handle(&mut context.cx(), rest).rest;
            }
        }
        if session.poll_timeout().is_some_and(|deadline| context.until(deadline).is_zero()) {
            session.handle_timeout(&mut context.cx());
        }
    }

    /// Asks until there is an answer; `None` if the session is closed.
    pub(crate) fn ask(&mut self, method: Code, payload: &[u8]) -> Option<Response> {
        self.id += 1;
        let message = message(method, self.id, None, payload);
        for _ in 0..TRIES {
            let mut record = vec![0; message.len() + MAX_RECORD_OVERHEAD];
            record[RECORD_FRONT..RECORD_FRONT + message.len()].copy_from_slice(&message);
            let length = self.session.seal(&mut self.context.cx(), &mut record, message.len()).ok()?;
            self.socket.send(&record[..length]).unwrap();
            if let Some(response) = self.receive() {
                return Some(response);
            }
        }
        panic!("there was no answer")
    }

    /// Receives until nothing comes for a while, or until there is an answer to the latest message.
    fn receive(&mut self) -> Option<Response> {
        let Self { socket, session, context, id } = self;
        let mut datagram = [0; 2048];
        while let Ok(length) = socket.recv(&mut datagram) {
            let mut rest = &mut datagram[..length];
            while !rest.is_empty() {
                let received = session.handle(&mut context.cx(), rest);
                rest = received.rest;
                if let Some(response) = received.data.and_then(|data| response(data, *id)) {
                    return Some(response);
                }
            }
        }
        None
    }
}

/// How many datagrams of the server's flight come to a client that begins a handshake and answers nothing, until there is silence or an alert.
pub(crate) fn flights_without_an_answer(server: SocketAddr) -> usize {
    let (mut context, socket) = (HostContext::new(), socket(server));
    let mut session =
        ClientSession::<SmallKeys, Option<ClientHandshake>, Plain>::new(Some(Box::new(Handshake::new())));
    session.connect(&mut context.cx(), &Config::HOST, None);
    let mut datagram = [0; 2048];
    // The hello, and once more with the cookie that it is answered with.
    for _ in 0..2 {
        let length = session.poll_transmit(&mut context.cx(), &mut datagram).unwrap();
        socket.send(&datagram[..length]).unwrap();
        if let Ok(length) = socket.recv(&mut datagram) {
            session.handle_all(&mut context.cx(), &mut datagram[..length], |_| ());
        }
    }
    // The answer to the second is there already.
    let mut flights = 1;
    // Longer than all waits together, each of which may be half as long again.
    socket.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    while let Ok(length) = socket.recv(&mut datagram) {
        const ALERT: u8 = 21;
        if datagram[..length].first() == Some(&ALERT) {
            break;
        }
        flights += 1;
    }
    flights
}

/// A confirmable message, whose number is its token as well.
pub(crate) fn message(method: Code, id: u16, observe: Option<u32>, payload: &[u8]) -> Vec<u8> {
    let mut message = [0; 256];
    let mut builder = Builder::new(&mut message, Type::Confirmable, method, id, &id.to_be_bytes()).unwrap();
    if let Some(observe) = observe {
        builder.option_uint(OptionNumber::OBSERVE, observe).unwrap();
    }
    builder.path(&["value"]).unwrap();
    let length = builder.finish_with(payload).unwrap();
    message[..length].to_vec()
}

/// Reads an answer to the message with this number.
pub(crate) fn response(datagram: &[u8], id: u16) -> Option<Response> {
    let message = Message::parse(datagram).ok()?;
    let answers = message.code().is_response() && message.token() == id.to_be_bytes();
    answers.then(|| (message.code(), message.payload().to_vec()))
}

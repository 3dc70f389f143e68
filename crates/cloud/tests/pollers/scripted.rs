//! A device that says over DTLS exactly what a test wants.

use std::collections::HashMap;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use sixlock_coap_msg::{Builder, Code, ContentFormat, Message, OptionNumber, Type};
use sixlock_coap_server::HostContext;
use sixlock_crypto::SmallKeys;
use sixlock_dtls::{
    Completion, Config, CookieSecrets, Event, FeaturesOf, Handshake, Listen, MAX_RECORD_OVERHEAD, Plain,
    RECORD_FRONT, Server, ServerSession, Work, is_client_hello, listen,
};

type SessionHandshake = Option<Box<Handshake<SmallKeys, FeaturesOf<Server<Plain>>>>>;
type Session = ServerSession<SmallKeys, SessionHandshake, Plain>;

/// What it answers a message with.
pub(crate) type Answers = Box<dyn FnMut(&[u8]) -> Vec<Vec<u8>> + Send>;

/// A GET that has come.
#[derive(Clone, Debug)]
pub(crate) struct Get {
    pub(crate) token: Vec<u8>,
}

/// What has happened at it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Happened {
    Connected,
    Closed,
    Got(Vec<u8>),
}

pub(crate) struct Scripted {
    address: SocketAddr,
    happened: Arc<Mutex<Vec<Happened>>>,
    to_say: Sender<Vec<u8>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// One that answers each GET with a value that counts, observed if that is asked.
pub(crate) fn counting() -> Answers {
    let mut value = 0;
    Box::new(move |got| {
        let Ok(message) = Message::parse(got) else { return vec![] };
        if message.code() != Code::GET {
            return vec![];
        }
        value += 1;
        let observe = message.value(OptionNumber::OBSERVE).map(|_| value);
        vec![content(Type::Acknowledgement, message.id(), message.token(), observe, value)]
    })
}

/// A message with a reading.
pub(crate) fn content(kind: Type, id: u16, token: &[u8], observe: Option<u32>, value: u32) -> Vec<u8> {
    let mut room = [0; 512];
    let mut builder = Builder::new(&mut room, kind, Code::CONTENT, id, token).unwrap();
    if let Some(observe) = observe {
        builder.option_uint(OptionNumber::OBSERVE, observe).unwrap();
    }
    builder.content_format(ContentFormat::SENML_JSON).unwrap();
    let length = builder.finish_with(format!(r#"[{{"n":"t","v":{value}}}]"#).as_bytes()).unwrap();
    room[..length].to_vec()
}

impl Scripted {
    /// One that knows an identity and its key.
    pub(crate) fn start(identity: &str, key: &str, answers: Answers) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let address = socket.local_addr().unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(5))).unwrap();
        let happened = Arc::new(Mutex::new(Vec::new()));
        let (to_say, orders) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let thread = {
            let (happened, stop) = (happened.clone(), stop.clone());
            let known = (identity.to_owned(), key.to_owned());
            std::thread::spawn(move || serve(&socket, &known, answers, &happened, &orders, &stop))
        };
        Self { address, happened, to_say, stop, thread: Some(thread) }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("coaps://{}/{path}", self.address)
    }

    /// Says this in the session in which it was asked last.
    pub(crate) fn say(&self, message: Vec<u8>) {
        self.to_say.send(message).unwrap();
    }

    /// Closes that session.
    pub(crate) fn hang_up(&self) {
        self.say(Vec::new());
    }

    pub(crate) fn count(&self, what: &Happened) -> usize {
        self.happened.lock().unwrap().iter().filter(|happened| *happened == what).count()
    }

    pub(crate) fn gets(&self) -> Vec<Get> {
        let get = |message: &Message<'_>| Get { token: message.token().to_vec() };
        self.messages(|message| (message.code() == Code::GET).then(|| get(message)))
    }

    /// The ids of the empty messages of this type that have come.
    pub(crate) fn empties(&self, kind: Type) -> Vec<u16> {
        self.messages(|message| {
            (message.code() == Code::EMPTY && message.message_type() == kind).then(|| message.id())
        })
    }

    fn messages<T>(&self, of: impl Fn(&Message<'_>) -> Option<T>) -> Vec<T> {
        let happened = self.happened.lock().unwrap();
        let got = happened.iter().filter_map(|happened| match happened {
            Happened::Got(bytes) => of(&Message::parse(bytes).ok()?),
            _ => None,
        });
        got.collect()
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
    }
}

fn serve(
    socket: &UdpSocket,
    (known, key): &(String, String),
    mut answers: Answers,
    happened: &Mutex<Vec<Happened>>,
    orders: &Receiver<Vec<u8>>,
    stop: &AtomicBool,
) {
    let mut context = HostContext::new();
    let secrets = CookieSecrets::new(context.cx().entropy);
    let config = Config { initial_timeout: sixlock_base::Duration::from_millis(500), ..Config::HOST };
    let mut sessions = HashMap::<SocketAddr, Session>::new();
    let mut latest = None;
    let mut datagram = [0; 4096];
    let mut out = [0; 4096];
    let seal = |context: &mut HostContext, session: &mut Session, message: &[u8]| {
        let mut record = vec![0; message.len() + MAX_RECORD_OVERHEAD];
        record[RECORD_FRONT..RECORD_FRONT + message.len()].copy_from_slice(message);
        let length = session.seal(&mut context.cx(), &mut record, message.len()).ok()?;
        record.truncate(length);
        Some(record)
    };
    while !stop.load(Ordering::Relaxed) {
        while let Ok(message) = orders.try_recv() {
            let Some(peer) = latest else { continue };
            let Some(session) = sessions.get_mut(&peer) else { continue };
            if message.is_empty() {
                session.close();
                while let Some(length) = session.poll_transmit(&mut context.cx(), &mut out) {
                    let _ = socket.send_to(&out[..length], peer);
                }
                continue;
            }
            if let Some(record) = seal(&mut context, session, &message) {
                let _ = socket.send_to(&record, peer);
            }
        }
        if let Ok((length, from)) = socket.recv_from(&mut datagram) {
            let bytes = &mut datagram[..length];
            if is_client_hello(bytes) {
                match listen(&mut context.cx(), &secrets, from.to_string().as_bytes(), bytes, &mut out) {
                    Listen::Reply(len) | Listen::Refuse(len, _) => {
                        socket.send_to(&out[..len], from).unwrap();
                    }
                    Listen::Accept(hello) => {
                        if !sessions.get(&from).is_some_and(|session| session.began_with(&hello)) {
                            let session = ServerSession::server(
                                &mut context.cx(),
                                &hello,
                                config,
                                Some(Box::new(Handshake::new())),
                            );
                            sessions.insert(from, session);
                        }
                    }
                    Listen::Drop(_) => {}
                }
            } else if let Some(session) = sessions.get_mut(&from) {
                let mut rest = bytes;
                let mut said = vec![];
                while !rest.is_empty() {
                    let record = session.handle(&mut context.cx(), rest);
                    rest = record.rest;
                    if let Some(data) = record.data {
                        said.push(data.to_vec());
                    }
                }
                for data in said {
                    latest = Some(from);
                    happened.lock().unwrap().push(Happened::Got(data.clone()));
                    for message in answers(&data) {
                        if let Some(record) = seal(&mut context, session, &message) {
                            socket.send_to(&record, from).unwrap();
                        }
                    }
                }
            }
        }
        for (peer, session) in &mut sessions {
            if session.poll_timeout().is_some_and(|deadline| context.until(deadline).is_zero()) {
                session.handle_timeout(&mut context.cx());
            }
            while let Some(event) = session.poll_event() {
                match event {
                    Event::Work(Work::Psk { identity }) => {
                        let key = (identity == known.as_bytes()).then_some(key.as_bytes());
                        let _ = session.complete(&mut context.cx(), Completion::psk(key));
                    }
                    Event::Connected => {
                        latest = Some(*peer);
                        happened.lock().unwrap().push(Happened::Connected);
                    }
                    Event::Closed => happened.lock().unwrap().push(Happened::Closed),
                    _ => {}
                }
            }
            while let Some(length) = session.poll_transmit(&mut context.cx(), &mut out) {
                let _ = socket.send_to(&out[..length], *peer);
            }
        }
    }
}

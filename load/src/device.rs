//! One device: an association over a socket, and a few requests under way.

use std::fmt::Write;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use mio::net::UdpSocket;
use sixlock_coap_msg::{Builder, Code, ContentFormat, Message, OptionNumber, Type, empty};
use sixlock_dtls::{RECORD_FRONT, RECORD_OVERHEAD, RECORD_TAIL};

use crate::association::{Association, Authentication, Environment, Happened};

/// The longest datagram.
const LONGEST: usize = 2048;
/// Devices at one address of the loopback: it has ports for no more.
pub(crate) const AT_ONE_ADDRESS: usize = 10_000;

/// How far readings are apart that bear times.
const APART_S: i64 = 20 * 60;

/// What is asked of the server.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Where it is.
    pub address: SocketAddr,
    /// The method of the requests: all but GET bring readings.
    pub method: Code,
    /// The path of the requests.
    pub path: &'static [&'static str],
    /// What stands in their queries, beside what proves who asks.
    pub query: &'static [&'static str],
}

impl Target {
    /// The readings of a cloud at `address`.
    pub const fn cloud(address: SocketAddr) -> Self {
        Self { address, method: Code::POST, path: &["resources", "data"], query: &[] }
    }
}

/// How devices behave.
#[derive(Clone, Copy, Debug)]
pub struct Habits {
    /// How many posts a device has under way at the same time, at most.
    pub window: usize,
    /// How many readings a post holds.
    pub readings: u32,
    /// The number of a device's first post: each has the next one.
    pub first_post: u32,
    /// The time of a device's first post, in seconds since 1970; each is 20 minutes later, and of its readings all but the first are up to a
    /// week late. Without it, readings bear no times.
    pub began: Option<i64>,
    /// The wait before a post is sent again for the first time; it doubles each time, up to four times this.
    pub again: Duration,
    /// After how long without a word from the server a session is taken for lost, while a post waits.
    pub silence: Duration,
}

impl Default for Habits {
    fn default() -> Self {
        Self {
            window: 1,
            readings: 1,
            first_post: 0,
            began: None,
            again: Duration::from_millis(500),
            silence: Duration::from_secs(2),
        }
    }
}

/// A post that was answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answered {
    /// Which of the device's posts.
    pub(crate) post: u32,
    /// When it was due.
    pub(crate) due: Instant,
    /// The answer's code.
    pub(crate) code: Code,
}

/// A post under way.
struct Exchange {
    post: u32,
    message_id: u16,
    due: Instant,
    /// When it is sent again.
    again: Instant,
    wait: Duration,
    /// Answered with 5.03: the same message would be answered so again.
    put_off: bool,
}

/// One device.
pub(crate) struct Device {
    pub(crate) socket: UdpSocket,
    target: Target,
    authentication: Authentication,
    habits: Habits,
    association: Association,
    exchanges: Vec<Exchange>,
    next_post: u32,
    next_message_id: u16,
    /// When the server was last heard, or there began to be something to hear from it.
    heard: Instant,
    /// How many sessions it has had.
    pub(crate) sessions: u32,
    /// How often it has sent a post again.
    pub(crate) repeats: u64,
}

impl Device {
    /// The device number `n`.
    pub(crate) fn new(
        place: &mut Environment,
        target: Target,
        authentication: Authentication,
        n: usize,
        habits: Habits,
    ) -> io::Result<Self> {
        let host = u32::from(Ipv4Addr::LOCALHOST) + (n / AT_ONE_ADDRESS) as u32;
        Self::at(place, target, authentication, Ipv4Addr::from_bits(host), habits)
    }

    /// A device at the address `host`.
    pub(crate) fn at(
        place: &mut Environment,
        target: Target,
        authentication: Authentication,
        host: Ipv4Addr,
        habits: Habits,
    ) -> io::Result<Self> {
        let socket = UdpSocket::bind((host, 0).into())?;
        socket.connect(target.address)?;
        Ok(Self {
            socket,
            target,
            association: Association::new(place, &authentication),
            authentication,
            habits,
            exchanges: Vec::with_capacity(habits.window),
            next_post: habits.first_post,
            next_message_id: 0,
            heard: Instant::now(),
            sessions: 0,
            repeats: 0,
        })
    }

    /// Begins to connect.
    pub(crate) fn begin(&mut self, place: &mut Environment) {
        self.drain(place);
    }

    /// Begins to connect again, without a word about what it had begun.
    pub(crate) fn begin_anew(&mut self, place: &mut Environment) {
        self.association = Association::new(place, &self.authentication);
        self.drain(place);
    }

    /// Hears nothing of what has come in.
    pub(crate) fn ignore(&self) {
        while self.socket.recv(&mut [0; 1]).is_ok() {}
    }

    /// Says that its session is over. A device that has closed its session is not to be asked for more.
    pub(crate) fn close(&mut self, place: &mut Environment) {
        self.association.close();
        self.transmit(place);
    }

    /// Says that its session is over, and begins another from another port.
    pub(crate) fn renew(&mut self, place: &mut Environment) -> io::Result<()> {
        self.close(place);
        let mut address = self.socket.local_addr()?;
        address.set_port(0);
        self.socket = UdpSocket::bind(address)?;
        self.socket.connect(self.target.address)?;
        self.association = Association::new(place, &self.authentication);
        self.drain(place);
        Ok(())
    }

    /// Whether a post is under way.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.exchanges.is_empty()
    }

    pub(crate) fn is_connected(&self) -> bool {
        self.association.is_connected()
    }

    /// Whether it takes another post on.
    pub(crate) fn has_room(&self) -> bool {
        self.is_connected() && self.exchanges.len() < self.habits.window
    }

    /// Takes what has come in and tells of each post that was answered.
    pub(crate) fn receive(&mut self, place: &mut Environment, mut answered: impl FnMut(Answered)) {
        let mut datagram = [0; LONGEST];
        loop {
            let length = match self.socket.recv(&mut datagram) {
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                // The server is not there, or not any more.
                Err(_) => continue,
            };
            let mut rest = &mut datagram[..length];
            while !rest.is_empty() {
                let (data, unread) = self.association.handle(place, rest);
                rest = unread;
                self.heard = Instant::now();
                let Some(data) = data else { continue };
                let Ok(message) = Message::parse(data) else { continue };
                if !message.code().is_response() {
                    continue;
                }
                let acknowledgement = (message.message_type() == Type::Confirmable).then(|| message.id());
                answered_by(&mut self.exchanges, &message).into_iter().for_each(&mut answered);
                if let Some(id) = acknowledgement {
                    self.seal(place, &empty(Type::Acknowledgement, id));
                }
            }
        }
        self.drain(place);
    }

    /// Begins a post that was due at `due`.
    pub(crate) fn post(&mut self, place: &mut Environment, due: Instant) {
        let (post, message_id) = (self.next_post, self.new_message_id());
        self.next_post += 1;
        if !self.is_waiting() {
            self.heard = Instant::now();
        }
        let wait = self.habits.again;
        self.exchanges.push(Exchange {
            post,
            message_id,
            due,
            again: Instant::now() + wait,
            wait,
            put_off: false,
        });
        self.send(place, post, message_id);
    }

    /// Sends again what was not answered in time; begins a new session if the server says nothing at all.
    pub(crate) fn handle_timeout(&mut self, place: &mut Environment) {
        if self.is_connected() && !self.is_waiting() {
            return;
        }
        self.association.handle_timeout(place);
        self.drain(place);
        if !self.is_connected() {
            return;
        }
        let now = Instant::now();
        if self.is_waiting() && now.saturating_duration_since(self.heard) > self.habits.silence {
            self.association = Association::new(place, &self.authentication);
            self.drain(place);
            return;
        }
        for n in 0..self.exchanges.len() {
            let exchange = &mut self.exchanges[n];
            if now < exchange.again {
                continue;
            }
            exchange.wait = (2 * exchange.wait).min(4 * self.habits.again);
            exchange.again = now + exchange.wait;
            if std::mem::take(&mut exchange.put_off) {
                self.exchanges[n].message_id = self.new_message_id();
            }
            self.repeats += 1;
            let Exchange { post, message_id, .. } = self.exchanges[n];
            self.send(place, post, message_id);
        }
    }

    fn new_message_id(&mut self) -> u16 {
        self.next_message_id = self.next_message_id.wrapping_add(1);
        self.next_message_id
    }

    /// Does what the session asks for and sends what it has to send.
    fn drain(&mut self, place: &mut Environment) {
        while let Some(happened) = self.association.poll_event(place, &self.authentication) {
            match happened {
                Happened::Connected => {
                    self.sessions += 1;
                    self.heard = Instant::now();
                    // What was under way goes on in this session: other messages, but the same tokens.
                    for n in 0..self.exchanges.len() {
                        let message_id = self.new_message_id();
                        let exchange = &mut self.exchanges[n];
                        (exchange.message_id, exchange.put_off) = (message_id, false);
                        (exchange.again, exchange.wait) = (self.heard, self.habits.again / 2);
                    }
                }
                Happened::Ended => self.association = Association::new(place, &self.authentication),
            }
        }
        self.transmit(place);
    }

    fn transmit(&mut self, place: &mut Environment) {
        let mut datagram = [0; LONGEST];
        while let Some(length) = self.association.poll_transmit(place, &mut datagram) {
            // What cannot be sent is lost, and sent again.
            let _ = self.socket.send(&datagram[..length]);
        }
    }

    fn send(&mut self, place: &mut Environment, post: u32, message_id: u16) {
        let mut message = [0; LONGEST - RECORD_OVERHEAD];
        let Target { method, path, query, .. } = self.target;
        let pack = (method != Code::GET).then(|| pack(post, &self.habits));
        let token = post.to_be_bytes();
        let length = Builder::new(&mut message, Type::Confirmable, method, message_id, &token)
            .and_then(|mut builder| {
                builder.path(path)?;
                if pack.is_some() {
                    builder.content_format(ContentFormat::SENML_JSON)?;
                }
                for argument in query.iter().copied().chain(self.authentication.query()) {
                    builder.option(OptionNumber::URI_QUERY, argument.as_bytes())?;
                }
                builder.finish_with(pack.as_deref().unwrap_or_default().as_bytes())
            })
            .expect("a pack fits a datagram");
        self.seal(place, &message[..length]);
    }

    fn seal(&mut self, place: &mut Environment, message: &[u8]) {
        let mut datagram = [0; LONGEST];
        datagram[RECORD_FRONT..RECORD_FRONT + message.len()].copy_from_slice(message);
        let room = &mut datagram[..RECORD_FRONT + message.len() + RECORD_TAIL];
        if let Some(sealed) = self.association.seal(place, room, message.len()) {
            let _ = self.socket.send(&room[sealed]);
        }
    }
}

/// The readings of a post: the value of each is the post's number, so that each pack can be told from all others.
/// With three readings this is the pack of a node.
fn pack(post: u32, habits: &Habits) -> String {
    let mut pack = String::from(r#"[{"bn":"urn:dev:mac:0212740000000001:""#);
    if let Some(began) = habits.began {
        let _ = write!(pack, r#","bt":{}"#, began + i64::from(post) * APART_S);
    }
    for n in 0..habits.readings {
        let first = if n == 0 { "," } else { ",{" };
        // Nothing fails that is written to memory.
        let _ = match n {
            0 => write!(pack, r#"{first}"n":"temperature","u":"Cel","v":{post}"#),
            1 => write!(pack, r#"{first}"n":"humidity","u":"%RH","v":{post}"#),
            2 => write!(pack, r#"{first}"n":"light","u":"lx","v":{post}"#),
            _ => write!(pack, r#"{first}"n":"s{n}","v":{post}"#),
        };
        if habits.began.is_some() && n > 0 {
            // Some of them, by no rule that anything rests on.
            let late = (i64::from(post) * 7_919 + i64::from(n)) % 500 * APART_S;
            let _ = write!(pack, r#","t":-{late}"#);
        }
        pack.push('}');
    }
    pack.push(']');
    pack
}

/// Takes the post that `message` answers out of those under way, unless it is to be tried again.
fn answered_by(exchanges: &mut Vec<Exchange>, message: &Message<'_>) -> Option<Answered> {
    let n = exchanges.iter().position(|exchange| exchange.post.to_be_bytes() == message.token())?;
    if message.code() == Code::SERVICE_UNAVAILABLE {
        exchanges[n].put_off = true;
        return None;
    }
    let Exchange { post, due, .. } = exchanges.swap_remove(n);
    Some(Answered { post, due, code: message.code() })
}

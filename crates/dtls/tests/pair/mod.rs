//! A client and a server in virtual time, with a network between them that does as it is told.

#![allow(dead_code, reason = "every test file uses its part of this")]

mod party;

#[allow(unused_imports, reason = "every test file uses its part of this")]
pub(crate) use party::{Party, Public, certified, certified_by, raw};

use party::ephemeral;
use sixlock_base::Instant;
use sixlock_crypto::Soft;
use sixlock_dtls::{
    ClientSession, Completion, Config, CookieSecrets, Event, Failure, Full, Handshake, Listen,
    MAX_RECORD_OVERHEAD, Profile, RECORD_FRONT, Refusal, ServerSession, SessionState, Task, TicketOffer,
    Work, is_client_hello, listen,
};
use sixlock_testing::Rig;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Client,
    Server,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    Connected,
    Closed,
    Failed(Failure),
}

/// What becomes of the `n`th datagram: copies of it, each after a delay in milliseconds.
pub(crate) type Fate = Box<dyn FnMut(usize, Side, Vec<u8>) -> Vec<(u32, Vec<u8>)>>;

/// What either side keeps of its sessions, and the tickets of the client, each with its lifetime.
pub(crate) type EarlierSessions = ([Vec<SessionState>; 2], Vec<(u32, Vec<u8>)>);

type HandshakeBox<P> = Option<Box<Handshake<Soft, <P as Profile>::Features>>>;

/// A handshake that has not begun, of a side with these keys or with none.
fn room<P: Profile>(party: Option<&Party>) -> HandshakeBox<P> {
    Some(Box::new(party.map_or_else(Handshake::new, |party| Handshake::with(party.credentials))))
}

pub(crate) const IDENTITY: &[u8] = b"urn:dev:mac:0212740000000001:";
pub(crate) const KEY: &[u8] = b"0123456789abcdef0123456789abcdef";

/// How long the server says that its tickets last, in seconds.
pub(crate) const LIFETIME: u32 = 86_400;

/// How long a datagram takes.
pub(crate) const DELAY: u32 = 20;

/// Both with all there is.
pub(crate) type Pair = Ends<Full, Full>;

/// A client that can do what `C` says, and a server that can do what `S` says.
pub(crate) struct Ends<C: Profile, S: Profile> {
    pub(crate) now: u32,
    pub(crate) client: ClientSession<Soft, HandshakeBox<C>, C>,
    pub(crate) server: Option<ServerSession<Soft, HandshakeBox<S>, S>>,
    pub(crate) here: Rig,
    pub(crate) there: Rig,
    pub(crate) secrets: CookieSecrets,
    pub(crate) config: Config,
    /// The identity and key the client uses.
    pub(crate) credential: (Vec<u8>, Vec<u8>),
    /// The identities and keys the server knows.
    pub(crate) keys: Vec<(Vec<u8>, Vec<u8>)>,
    /// What either side keeps of its sessions.
    pub(crate) kept: [Vec<SessionState>; 2],
    /// How long the server's tickets are, if it gives any; each tells where in `kept` its session is.
    pub(crate) ticket_length: Option<usize>,
    /// Whether it gives another to whoever resumes by one.
    pub(crate) renews: bool,
    /// The tickets that the client was given, and for how long.
    pub(crate) tickets: Vec<(u32, Vec<u8>)>,
    /// The public keys of the client and the server, and whom they trust.
    pub(crate) parties: Option<[Party; 2]>,
    /// What they did with P-256.
    pub(crate) tasks: Vec<(Side, &'static str)>,
    /// How long the server looks for a key or a session.
    pub(crate) lookup: u32,
    pub(crate) fate: Fate,
    /// What was sent, by whom and when.
    pub(crate) sent: Vec<(u32, Side, Vec<u8>)>,
    pub(crate) seen: Vec<(Side, Seen)>,
    /// What was refused without ending a session.
    pub(crate) refusals: Vec<(Side, Refusal)>,
    /// What either side logs when it connects.
    pub(crate) key_log: Vec<([u8; 32], [u8; 48])>,
    pub(crate) data: Vec<(Side, Vec<u8>)>,
    /// What is under way: when it arrives, in which order it was sent, to whom.
    network: Vec<(u32, u64, Side, Vec<u8>)>,
    order: u64,
    work: Option<(u32, Vec<u8>)>,
}

impl<C: Profile, S: Profile> Ends<C, S> {
    /// Data flows both ways, over a network that loses nothing from now on.
    pub(crate) fn carries_data(&mut self) {
        self.data.clear();
        self.fate = Box::new(|_, _, datagram| vec![(DELAY, datagram)]);
        self.send(Side::Client, b"to the server");
        self.send(Side::Server, b"to the client");
        self.run(1000);
        let both = [(Side::Server, b"to the server".to_vec()), (Side::Client, b"to the client".to_vec())];
        assert_eq!(self.data, both);
    }

    pub(crate) fn new(seed: u32, config: Config) -> Self {
        Self::resuming(seed, config, [Vec::new(), Vec::new()])
    }

    /// A client that wants to resume the last session that it keeps.
    pub(crate) fn resuming(seed: u32, config: Config, kept: [Vec<SessionState>; 2]) -> Self {
        Self::of(seed, config, kept, None)
    }

    /// A client and a server with public keys.
    pub(crate) fn with_public_keys(seed: u32, config: Config, parties: [Party; 2]) -> Self {
        Self::of(seed, config, [Vec::new(), Vec::new()], Some(parties))
    }

    /// All that there can be.
    pub(crate) fn of(
        seed: u32,
        config: Config,
        kept: [Vec<SessionState>; 2],
        parties: Option<[Party; 2]>,
    ) -> Self {
        let (mut here, mut there) = (Rig::seeded(2 * seed), Rig::seeded(2 * seed + 1));
        // Not at zero, so that time wraps within the tests.
        let now = u32::MAX - 10_000;
        let handshake = room::<C>(parties.as_ref().map(|[client, _]| client));
        Self {
            now,
            client: ClientSession::client(
                &mut here.at(Instant::from_millis(now)),
                config,
                kept[0].last(),
                handshake,
            ),
            server: None,
            secrets: CookieSecrets::new(&mut there.entropy),
            here,
            there,
            config,
            credential: (IDENTITY.to_vec(), KEY.to_vec()),
            keys: vec![(IDENTITY.to_vec(), KEY.to_vec())],
            kept,
            ticket_length: None,
            renews: false,
            tickets: Vec::new(),
            parties,
            tasks: Vec::new(),
            lookup: 0,
            fate: Box::new(|_, _, datagram| vec![(DELAY, datagram)]),
            sent: Vec::new(),
            seen: Vec::new(),
            refusals: Vec::new(),
            key_log: Vec::new(),
            data: Vec::new(),
            network: Vec::new(),
            order: 0,
            work: None,
        }
    }

    /// A client that takes tickets, and resumes the last session that it keeps by the last one; with a server that gives such long
    /// ones.
    pub(crate) fn by_ticket(
        seed: u32,
        config: Config,
        ticket_length: Option<usize>,
        (kept, tickets): EarlierSessions,
    ) -> Self {
        let mut ends = Self::resuming(seed, config, kept);
        let ticket = tickets.last().map_or(&[][..], |(_, ticket)| ticket);
        let Self { client, here, now, kept, .. } = &mut ends;
        client.connect_by_ticket(&mut here.at(Instant::from_millis(*now)), &config, kept[0].last(), ticket);
        (ends.ticket_length, ends.tickets) = (ticket_length, tickets);
        ends
    }

    /// The server's ticket for the last session that it keeps.
    fn ticket(&self) -> Vec<u8> {
        let number = self.kept[1].len() as u8;
        (0..self.ticket_length.unwrap_or(0)).map(|n| number.wrapping_mul(37).wrapping_add(n as u8)).collect()
    }

    /// Puts a datagram on the network as if it came from the other side.
    pub(crate) fn inject(&mut self, to: Side, delay: u32, datagram: Vec<u8>) {
        self.order += 1;
        self.network.push((self.now.wrapping_add(delay), self.order, to, datagram));
    }

    fn transmit(&mut self, from: Side, datagram: Vec<u8>) {
        let to = if from == Side::Client { Side::Server } else { Side::Client };
        let index = self.sent.len();
        self.sent.push((self.now, from, datagram.clone()));
        for (delay, datagram) in (self.fate)(index, from, datagram) {
            self.inject(to, delay, datagram);
        }
    }

    /// Sends application data.
    pub(crate) fn send(&mut self, from: Side, data: &[u8]) {
        let mut buffer = vec![0; data.len() + MAX_RECORD_OVERHEAD];
        buffer[RECORD_FRONT..RECORD_FRONT + data.len()].copy_from_slice(data);
        let length = match from {
            Side::Client => {
                self.client.seal(&mut self.here.at(Instant::from_millis(self.now)), &mut buffer, data.len())
            }
            Side::Server => {
                let server = self.server.as_mut().unwrap();
                server.seal(&mut self.there.at(Instant::from_millis(self.now)), &mut buffer, data.len())
            }
        };
        buffer.truncate(length.unwrap());
        self.transmit(from, buffer);
    }

    fn arrive(&mut self, to: Side, mut datagram: Vec<u8>) {
        if to == Side::Server && is_client_hello(&datagram) {
            let mut out = [0; 256];
            match listen(
                &mut self.there.at(Instant::from_millis(self.now)),
                &self.secrets,
                b"peer",
                &datagram,
                &mut out,
            ) {
                Listen::Reply(length) => {
                    self.transmit(Side::Server, out[..length].to_vec());
                    return;
                }
                Listen::Refuse(length, refusal) => {
                    self.refusals.push((Side::Server, refusal));
                    self.transmit(Side::Server, out[..length].to_vec());
                    return;
                }
                Listen::Drop(refusal) => return self.refusals.push((Side::Server, refusal)),
                Listen::Accept(hello) => {
                    if !self.server.as_ref().is_some_and(|server| server.began_with(&hello)) {
                        let handshake = room::<S>(self.parties.as_ref().map(|[_, server]| server));
                        let cx = &mut self.there.at(Instant::from_millis(self.now));
                        self.server = Some(ServerSession::server(cx, &hello, self.config, handshake));
                        return;
                    }
                }
            }
        }
        let mut rest = &mut datagram[..];
        while !rest.is_empty() {
            let received = match (to, &mut self.server) {
                (Side::Client, _) => {
                    self.client.handle(&mut self.here.at(Instant::from_millis(self.now)), rest)
                }
                (Side::Server, Some(server)) => {
                    server.handle(&mut self.there.at(Instant::from_millis(self.now)), rest)
                }
                (Side::Server, None) => return,
            };
            if let Some(data) = received.data {
                self.data.push((to, data.to_vec()));
            }
            rest = received.rest;
            self.note_refusals();
        }
    }

    fn note_refusals(&mut self) {
        self.refusals.extend(self.client.poll_refusal().map(|refusal| (Side::Client, refusal)));
        let of_server = self.server.as_mut().and_then(|server| server.poll_refusal());
        self.refusals.extend(of_server.map(|refusal| (Side::Server, refusal)));
    }

    /// Polls both sides until they have nothing to say.
    pub(crate) fn drain(&mut self) {
        loop {
            self.note_refusals();
            while let Some(event) = self.client.poll_event() {
                match event {
                    Event::Work(Work::Task(task)) => {
                        self.tasks.push((Side::Client, name(&task)));
                        let answer = match &self.parties {
                            Some([party, _]) => party.answer(Side::Client, &mut self.here, task),
                            None => ephemeral(&mut self.here, task),
                        };
                        self.client
                            .complete(
                                &mut self.here.at(Instant::from_millis(self.now)),
                                Completion::Task(&answer),
                            )
                            .unwrap();
                    }
                    Event::Work(work) => {
                        assert_eq!(work, Work::Psk { identity: b"" });
                        let (identity, key) = &self.credential;
                        self.client
                            .complete(
                                &mut self.here.at(Instant::from_millis(self.now)),
                                Completion::Psk { identity, key },
                            )
                            .unwrap();
                    }
                    other => self.seen.push((Side::Client, seen(other))),
                }
                if self.seen.last() == Some(&(Side::Client, Seen::Connected)) {
                    self.key_log
                        .extend(self.client.key_log().map(|log| (*log.client_random, *log.master_secret)));
                    self.kept[0].extend(self.client.session_state());
                    let ticket = self.client.new_ticket();
                    self.tickets.extend(ticket.map(|new| (new.lifetime_hint, new.ticket.to_vec())));
                }
            }
            while let Some(event) = self.server.as_mut().and_then(|server| server.poll_event()) {
                match event {
                    Event::Work(Work::Task(task)) => {
                        self.tasks.push((Side::Server, name(&task)));
                        let answer = match &self.parties {
                            Some([_, party]) => party.answer(Side::Server, &mut self.there, task),
                            None => ephemeral(&mut self.there, task),
                        };
                        let server = self.server.as_mut().unwrap();
                        server
                            .complete(
                                &mut self.there.at(Instant::from_millis(self.now)),
                                Completion::Task(&answer),
                            )
                            .unwrap();
                    }
                    Event::Work(Work::Ticket) => {
                        self.kept[1].extend(self.server.as_ref().unwrap().session_state());
                        let ticket = self.ticket();
                        let server = self.server.as_mut().unwrap();
                        let ticket = Completion::Ticket { lifetime: LIFETIME, ticket: &ticket };
                        server.complete(&mut self.there.at(Instant::from_millis(self.now)), ticket).unwrap();
                    }
                    Event::Work(Work::Psk { identity: name } | Work::Session { id: name }) => {
                        self.work = Some((self.now.wrapping_add(self.lookup), name.to_vec()));
                    }
                    other => self.seen.push((Side::Server, seen(other))),
                }
                if self.seen.last() == Some(&(Side::Server, Seen::Connected)) {
                    self.kept[1].extend(self.server.as_ref().and_then(|server| server.session_state()));
                    let log = self.server.as_mut().and_then(|server| server.key_log());
                    self.key_log.extend(log.map(|log| (*log.client_random, *log.master_secret)));
                }
            }
            if let Some((_, name)) = self.work.take_if(|(at, _)| *at == self.now) {
                let renewed = self.ticket();
                let (server, cx) =
                    (self.server.as_mut().unwrap(), &mut self.there.at(Instant::from_millis(self.now)));
                if server.awaits_session() {
                    let number = server.presented_ticket().map(|ticket| ticket[0].wrapping_mul(173));
                    let session = match number {
                        Some(number) => self.kept[1].get(usize::from(number).wrapping_sub(1)),
                        None => self.kept[1]
                            .iter()
                            .find(|session| !name.is_empty() && session.session_id() == name),
                    };
                    let ticket = if number.is_some() && session.is_some() && self.renews {
                        TicketOffer::Renew { lifetime: LIFETIME, ticket: &renewed }
                    } else if self.ticket_length.is_some() {
                        TicketOffer::Promise
                    } else {
                        TicketOffer::None
                    };
                    server.complete(cx, Completion::Session { state: session, id: None, ticket }).unwrap();
                } else {
                    let key = self.keys.iter().find(|known| known.0 == name).map(|known| &known.1[..]);
                    let completion =
                        key.map_or(Completion::NoPsk, |key| Completion::Psk { identity: b"", key });
                    server.complete(cx, completion).unwrap();
                }
                continue;
            }
            let mut out = [0; 2048];
            if let Some(length) =
                self.client.poll_transmit(&mut self.here.at(Instant::from_millis(self.now)), &mut out)
            {
                self.transmit(Side::Client, out[..length].to_vec());
            } else if let Some(server) = &mut self.server
                && let Some(length) =
                    server.poll_transmit(&mut self.there.at(Instant::from_millis(self.now)), &mut out)
            {
                self.transmit(Side::Server, out[..length].to_vec());
            } else {
                return;
            }
        }
    }

    /// How long until something happens.
    fn until_next(&mut self) -> Option<u32> {
        let now = self.now;
        let deadlines =
            [self.client.poll_timeout(), self.server.as_mut().and_then(|server| server.poll_timeout())];
        let deadlines = deadlines.into_iter().flatten().map(Instant::millis);
        let arrivals = self.network.iter().map(|&(at, ..)| at).chain(self.work.as_ref().map(|&(at, _)| at));
        deadlines
            .chain(arrivals)
            .map(|at| at.wrapping_sub(now))
            .map(|span| if span > 1 << 31 { 0 } else { span })
            .min()
    }

    /// Lets `span` milliseconds pass.
    pub(crate) fn run(&mut self, span: u32) {
        let end = self.now.wrapping_add(span);
        self.drain();
        while let Some(wait) = self.until_next().filter(|&wait| wait <= end.wrapping_sub(self.now)) {
            self.now = self.now.wrapping_add(wait);
            self.network.sort_by_key(|&(at, order, ..)| (at.wrapping_sub(self.now) as i32, order));
            if self.network.first().is_some_and(|&(at, ..)| at == self.now) {
                let (_, _, to, datagram) = self.network.remove(0);
                self.arrive(to, datagram);
            } else {
                self.client.handle_timeout(&mut self.here.at(Instant::from_millis(self.now)));
                if let Some(server) = &mut self.server {
                    server.handle_timeout(&mut self.there.at(Instant::from_millis(self.now)));
                }
            }
            self.drain();
        }
        self.now = end;
    }

    pub(crate) fn connected(&self) -> bool {
        self.client.is_connected() && self.server.as_ref().is_some_and(|server| server.is_connected())
    }

    /// Bytes sent by a side.
    pub(crate) fn bytes(&self, from: Side) -> usize {
        self.sent.iter().filter(|sent| sent.1 == from).map(|sent| sent.2.len()).sum()
    }
}

fn seen(event: Event<'_>) -> Seen {
    match event {
        Event::Connected => Seen::Connected,
        Event::Closed => Seen::Closed,
        Event::Failed(failure) => Seen::Failed(failure),
        Event::Work(_) => panic!("only one side has work"),
    }
}

fn name(task: &Task<'_>) -> &'static str {
    match task {
        Task::Generate => "generate",
        Task::Sign { .. } => "sign",
        Task::Chain { .. } => "chain",
        Task::Verify { .. } => "verify",
        Task::Agree { .. } => "agree",
    }
}

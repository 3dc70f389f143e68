//! DTLS: messages, and a handshake and session of either role among what an attacker sends.

use sixlock_base::Instant;
use sixlock_crypto::Soft;
use sixlock_dtls::{
    ClientSession, Completion, Config, ConnectionId, CookieSecrets, Event, FeaturesOf, Handshake, Listen,
    MAX_RECORD_OVERHEAD, RECORD_FRONT, ServerSession, SessionState, Suite, Suites, TicketOffer, Ticketed,
    Work, is_client_hello, listen,
};
use sixlock_dtls_msg::{
    Alert, Certificate, CertificateRequest, CertificateType, ClientHello, ClientKeyExchange,
    EphemeralKeyExchange, HandshakeHeader, HelloVerifyRequest, NewSessionTicket, RECORD_HEADER, RecordHeader,
    ServerHello, ServerKeyExchange, Signed, SignedKeyExchange, Window,
};
use sixlock_testing::Rig;

use crate::split;

pub(crate) const IDENTITY: &[u8] = b"device";
pub(crate) const KEY: &[u8] = b"0123456789abcdef0123456789abcdef";
/// The address that both the real client and the attacker use.
const PEER: &[u8] = b"peer";
pub(crate) const MAX_DATAGRAM: usize = 2048;

/// One record with what its first handshake message or alert may be.
pub(crate) fn message(input: &[u8]) -> usize {
    let Ok(record) = RecordHeader::parse(input) else { return 0 };
    assert_eq!(record.to_bytes(), input[..RECORD_HEADER]);
    let content = &input[RECORD_HEADER..];
    let content = &content[..content.len().min(record.length.into())];
    let _ = Alert::parse(content);
    let Ok((header, body, _)) = HandshakeHeader::parse(content) else { return 1 };
    assert_eq!(header.to_bytes(), content[..header.to_bytes().len()]);
    let mut again = vec![0; body.len()];
    if let Ok(hello) = ClientHello::parse(body) {
        let mut window = Window::new(0, &mut again);
        hello.emit(&mut window);
        // An empty block of extensions comes out as none.
        let filled = window.filled();
        assert_eq!(ClientHello::parse(&again[..filled]), Ok(hello));
        let _ = hello.extensions.iter().count();
    }
    // Of these it is enough that they do not panic: which of them this is, the session knows.
    let _ = ServerHello::parse(body).map(|hello| hello.extensions.iter().count());
    let _ = HelloVerifyRequest::parse(body);
    let _ = ServerKeyExchange::parse(body);
    for kind in [CertificateType::X509, CertificateType::RawPublicKey] {
        if let Ok(Certificate::X509(chain)) = Certificate::parse(body, kind) {
            assert!(chain.iter().count() <= body.len());
        }
    }
    if let Ok(exchange) = SignedKeyExchange::parse(body) {
        let mut window = Window::new(0, &mut again);
        exchange.emit(&mut window);
        assert_eq!(window.filled(), body.len());
        assert_eq!(again, body);
    }
    if let Ok(ticket) = NewSessionTicket::parse(body) {
        ticket.emit(&mut Window::new(0, &mut again));
        assert_eq!(again, body);
    }
    let _ = CertificateRequest::parse(body).map(|request| request.authorities.iter().count());
    let _ = (EphemeralKeyExchange::parse(body), Signed::parse(body));
    let _ = ClientKeyExchange::parse(body);
    2
}

/// A server under attack. The first byte says how many datagrams of a real handshake go first, and by its three
/// highest bits whether that handshake resumes a session, whether records carry connection ids, the
/// longer tag and limits, and whether sessions have tickets.
pub(crate) fn server(input: &[u8]) -> usize {
    attack(input, Side::Server)
}

/// A client under attack, in the same way.
pub(crate) fn client(input: &[u8]) -> usize {
    attack(input, Side::Client)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Client,
    Server,
}

/// The bit of the first byte that asks for a resumption.
pub(crate) const RESUMES: u8 = 0x80;
/// The bit of the first byte that asks for connection ids.
pub(crate) const NAMED: u8 = 0x40;
/// The bit of the first byte that asks for session tickets.
pub(crate) const TICKETS: u8 = 0x20;
/// What the server gives as one.
const TICKET: &[u8] = b"a ticket that nobody else could make";
/// More datagrams than a handshake without losses takes.
const ENOUGH: u8 = 16;

fn attack(input: &[u8], side: Side) -> usize {
    let Some((&first, datagrams)) = input.split_first() else { return 0 };
    let before = first & !(RESUMES | NAMED | TICKETS);
    let mut pair = Pair::new(first);
    pair.exchange(before);
    let connected = pair.is_connected();
    assert!(connected || before < ENOUGH, "a handshake takes no more than {ENOUGH} datagrams");
    for datagram in split(datagrams) {
        let mut datagram = datagram.to_vec();
        match side {
            Side::Client => pair.arrive_at_client(&mut datagram),
            Side::Server => pair.arrive_at_server(&mut datagram),
        }
        pair.answer_events();
        while pair.from(side).is_some() {}
        pair.pass();
    }
    if connected {
        // Nobody without the keys ends a session, or keeps its data from getting through.
        pair.assert_data_flows();
    }
    usize::from(match side {
        Side::Client => pair.client.is_connected(),
        Side::Server => pair.server.is_some_and(|server| server.is_connected()),
    })
}

/// What is left of a session, which may have a ticket.
fn left_of_a_session(tickets: u8) -> SessionState {
    let mut pair = Pair::new(tickets);
    pair.exchange(ENOUGH);
    pair.kept.expect("the server gives its sessions names or tickets")
}

/// The datagrams of the handshake that a first byte asks for, those of the client and those of the server.
pub(crate) fn handshake(first: u8) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let mut pair = Pair::new(first);
    let (mut from_client, mut from_server) = (Vec::new(), Vec::new());
    loop {
        if let Some(datagram) = pair.from(Side::Client) {
            pair.arrive_at_server(&mut datagram.clone());
            from_client.push(datagram);
        } else if let Some(datagram) = pair.from(Side::Server) {
            pair.arrive_at_client(&mut datagram.clone());
            from_server.push(datagram);
        } else {
            return (from_client, from_server);
        }
        pair.answer_events();
    }
}

type ClientHandshake = Option<Box<Handshake<Soft, FeaturesOf<sixlock_dtls::Client<Ticketed>>>>>;
pub(crate) type Client = ClientSession<Soft, ClientHandshake, Ticketed>;

/// Gives a client its key when it asks for it, and polls until it has nothing to say.
pub(crate) fn drain_client(client: &mut Client, rig: &mut Rig) -> Vec<Vec<u8>> {
    while let Some(event) = client.poll_event() {
        if let Event::Work(Work::Psk { .. }) = event {
            client
                .complete(&mut rig.cx(), Completion::Psk { identity: IDENTITY, key: KEY })
                .expect("the client asked");
        }
    }
    let mut out = [0; MAX_DATAGRAM];
    std::iter::from_fn(|| client.poll_transmit(&mut rig.cx(), &mut out).map(|length| out[..length].to_vec()))
        .collect()
}

/// A client and a server, and the datagrams between them.
struct Pair {
    here: Rig,
    there: Rig,
    client: Client,
    server: Option<ServerSession<Soft, ClientHandshake, Ticketed>>,
    /// Whether sessions have tickets.
    tickets: bool,
    reply: Option<Vec<u8>>,
    secrets: CookieSecrets,
    config: Config,
    /// What is left of the last session.
    kept: Option<SessionState>,
    delivered: Vec<Vec<u8>>,
}

impl Pair {
    /// A client and a server as the bits of the first byte ask.
    fn new(first: u8) -> Self {
        let tickets = first & TICKETS != 0;
        let kept = (first & RESUMES != 0).then(|| left_of_a_session(first & TICKETS));
        let connection_id = ConnectionId::new(b"id").filter(|_| first & NAMED != 0);
        let suites = Suites::new(match connection_id {
            Some(_) => &[Suite::PskAes128Ccm],
            None => &[Suite::PskAes128Ccm8],
        });
        let record_limit = connection_id.map(|_| 512);
        let config = Config { resumable: true, connection_id, suites, record_limit, ..Config::HOST };
        let (mut here, mut there) = (Rig::seeded(7), Rig::seeded(8));
        let mut client = Client::new(Some(Box::new(Handshake::new())));
        if tickets {
            let ticket = if kept.is_some() { TICKET } else { &[] };
            client.connect_by_ticket(&mut here.cx(), &config, kept.as_ref(), ticket);
        } else {
            client.connect(&mut here.cx(), &config, kept.as_ref());
        }
        Self {
            client,
            tickets,
            kept,
            config,
            server: None,
            reply: None,
            secrets: CookieSecrets::new(there.cx().entropy),
            here,
            there,
            delivered: Vec::new(),
        }
    }

    /// Lets at most `limit` datagrams through, in turn.
    fn exchange(&mut self, limit: u8) {
        for _ in 0..limit {
            if let Some(mut datagram) = self.from(Side::Client) {
                self.arrive_at_server(&mut datagram);
            } else if let Some(mut datagram) = self.from(Side::Server) {
                self.arrive_at_client(&mut datagram);
            } else {
                return;
            }
            self.answer_events();
        }
    }

    fn is_connected(&self) -> bool {
        self.client.is_connected() && self.server.as_ref().is_some_and(|server| server.is_connected())
    }

    /// The next datagram of `side`.
    fn from(&mut self, side: Side) -> Option<Vec<u8>> {
        let mut out = vec![0; MAX_DATAGRAM];
        let length = match side {
            Side::Client => self.client.poll_transmit(&mut self.here.cx(), &mut out),
            Side::Server if self.reply.is_some() => return self.reply.take(),
            Side::Server => self.server.as_mut()?.poll_transmit(&mut self.there.cx(), &mut out),
        };
        out.truncate(length?);
        Some(out)
    }

    fn arrive_at_client(&mut self, datagram: &mut [u8]) {
        let mut rest = datagram;
        while !rest.is_empty() {
            let received = self.client.handle(&mut self.here.cx(), rest);
            self.delivered.extend(received.data.map(|data| data.to_vec()));
            rest = received.rest;
        }
    }

    fn arrive_at_server(&mut self, datagram: &mut [u8]) {
        if is_client_hello(datagram) {
            let mut out = [0; 256];
            match listen(&mut self.there.cx(), &self.secrets, PEER, datagram, &mut out) {
                Listen::Reply(length) | Listen::Refuse(length, _) => {
                    assert!(length <= datagram.len() + 64, "an answer without state amplifies little");
                    self.reply = Some(out[..length].to_vec());
                    return;
                }
                Listen::Drop(_) => return,
                Listen::Accept(hello) if self.server.is_none() => {
                    let handshake = Some(Box::new(Handshake::new()));
                    let server = ServerSession::server(&mut self.there.cx(), &hello, self.config, handshake);
                    self.server = Some(server);
                    return;
                }
                Listen::Accept(_) => {}
            }
        }
        let Some(server) = &mut self.server else { return };
        let mut rest = datagram;
        while !rest.is_empty() {
            let received = server.handle(&mut self.there.cx(), rest);
            self.delivered.extend(received.data.map(|data| data.to_vec()));
            rest = received.rest;
        }
    }

    /// Gives both sides their key when they ask for it.
    fn answer_events(&mut self) {
        while let Some(event) = self.client.poll_event() {
            if let Event::Work(Work::Psk { .. }) = event {
                self.client
                    .complete(&mut self.here.cx(), Completion::Psk { identity: IDENTITY, key: KEY })
                    .expect("the client asked");
            }
        }
        self.kept = self.client.session_state().or(self.kept.take());
        let Some(server) = &mut self.server else { return };
        while let Some(event) = server.poll_event() {
            match event {
                Event::Work(Work::Psk { identity }) => {
                    let key = (identity == IDENTITY).then_some(KEY);
                    server.complete(&mut self.there.cx(), Completion::psk(key)).expect("the server asked");
                }
                Event::Work(Work::Ticket) => {
                    server
                        .complete(&mut self.there.cx(), Completion::Ticket { lifetime: 3600, ticket: TICKET })
                        .expect("the server asked");
                }
                Event::Work(Work::Session { id }) => {
                    let named = self.kept.as_ref().filter(|kept| !id.is_empty() && kept.session_id() == id);
                    let presented = self.kept.as_ref().filter(|_| server.presented_ticket() == Some(TICKET));
                    let kept = named.or(presented);
                    let ticket = match (self.tickets, presented) {
                        (false, _) => TicketOffer::None,
                        (true, None) => TicketOffer::Promise,
                        (true, Some(_)) => TicketOffer::Renew { lifetime: 1800, ticket: TICKET },
                    };
                    let session = Completion::Session { state: kept, id: None, ticket };
                    server.complete(&mut self.there.cx(), session).expect("the server asked");
                }
                _ => {}
            }
        }
    }

    /// Lets some time pass, and does what is due.
    fn pass(&mut self) {
        let due = |deadline: Option<Instant>, now: Instant| {
            deadline.is_some_and(|deadline| now.has_reached(deadline))
        };
        for rig in [&mut self.here, &mut self.there] {
            rig.pass(100);
        }
        if due(self.client.poll_timeout(), self.here.now) {
            self.client.handle_timeout(&mut self.here.cx());
        }
        if let Some(server) = &mut self.server
            && due(server.poll_timeout(), self.there.now)
        {
            server.handle_timeout(&mut self.there.cx());
        }
    }

    fn assert_data_flows(&mut self) {
        const DATA: &[u8] = b"a reading";
        let mut buffer = vec![0; DATA.len() + MAX_RECORD_OVERHEAD];
        buffer[RECORD_FRONT..][..DATA.len()].copy_from_slice(DATA);
        let length =
            self.client.seal(&mut self.here.cx(), &mut buffer, DATA.len()).expect("the client is connected");
        self.delivered.clear();
        self.arrive_at_server(&mut buffer[..length]);
        assert_eq!(self.delivered, [DATA]);
    }
}

//! What is tested with each library alike.

use std::net::SocketAddr;
use std::time::Duration;

use sixlock_dtls::{Config, Failure, Suite, Suites};
use sixlock_interop::{
    Authentication, Authority, CertifiedClient, CertifiedServer, Credential, Keys, Peer, Seen, Settings,
    TicketClient,
};

/// Starts the program of a library.
pub(crate) type Start = fn(&Settings<'_>) -> Peer;

/// A Java machine starts slowly.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// By what both sides prove who they are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum By {
    SharedKeys,
    Certificates,
    RawPublicKeys,
}

pub(crate) fn credential() -> Credential {
    Credential { identity: b"node-1".into(), key: b"0123456789abcdef0123456789abcdef".into() }
}

/// Sessions of one suite, resumed.
pub(crate) fn config(suite: Suite) -> Config {
    Config { suites: Suites::new(vec![suite].leak()), resumable: true, ..Config::HOST }
}

/// So short a patience that a refusal shows at once. Silence does within seconds only if it is what is `expected`: else the peer may be slow.
fn hasty(suite: Suite, expected: Failure) -> Config {
    let retransmissions = if expected == Failure::TimedOut { 2 } else { config(suite).retransmissions };
    Config { retransmissions, bad_records: 1, ..config(suite) }
}

/// Both sides of a session, before either is started.
pub(crate) struct Pair {
    by: By,
    start: Start,
    suite: Suite,
    /// That of our side.
    ours: Authority,
    /// That of the other side.
    theirs: Option<Authority>,
    credentials: [Credential; 2],
}

impl Pair {
    /// Two who know each other.
    pub(crate) fn new(start: Start, by: By, suite: Suite) -> Self {
        let credentials = [credential(), credential()];
        Self { by, start, suite, ours: Authority::new(), theirs: None, credentials }
    }

    /// Two who do not.
    pub(crate) fn of_strangers(start: Start, by: By, suite: Suite) -> Self {
        let mut pair = Self::new(start, by, suite);
        pair.theirs = Some(Authority::new());
        pair.credentials[1].key[0] ^= 1;
        pair
    }

    fn keys(&self, own: &str, peer: &str) -> Option<Keys> {
        match self.by {
            By::SharedKeys => None,
            By::Certificates => Some(self.ours.certified(own)),
            By::RawPublicKeys => Some(self.ours.raw(own, peer)),
        }
    }

    pub(crate) fn our_client(&self, server: SocketAddr, config: Config) -> CertifiedClient {
        match self.keys("device", "cloud") {
            None => CertifiedClient::connect(server, self.credentials[0].clone(), config),
            Some(keys) => CertifiedClient::connect_with(server, keys, config),
        }
    }

    pub(crate) fn our_server(&self, config: Config) -> CertifiedServer {
        match self.keys("cloud", "device") {
            None => CertifiedServer::bind(self.credentials[0].clone(), config),
            Some(keys) => CertifiedServer::bind_with(keys, config),
        }
    }

    /// The peer, as a server or as the client of one.
    pub(crate) fn peer(&self, server: Option<SocketAddr>, connection_id: Option<usize>) -> Peer {
        let (own, peer) = if server.is_none() { ("cloud", "device") } else { ("device", "cloud") };
        let authority = self.theirs.as_ref().unwrap_or(&self.ours);
        let authentication = match self.by {
            By::SharedKeys => Authentication::Shared(&self.credentials[1]),
            By::Certificates => Authentication::Certificate(authority, own),
            By::RawPublicKeys => Authentication::Raw(authority, own, peer),
        };
        (self.start)(&Settings { authentication, suites: &[self.suite], connection_id, server })
    }
}

/// Data both ways, our close, a session resumed, the server's close.
pub(crate) fn our_client_speaks(start: Start, by: By, suite: Suite) {
    let pair = Pair::new(start, by, suite);
    let mut server = pair.peer(None, None);
    let mut client = pair.our_client(server.address(), config(suite));
    assert!(client.until(Seen::Connected, PATIENCE), "{:?} {}", client.seen(), server.output());
    server.answers(&mut client, "first");
    client.close();
    assert_eq!(client.seen(), [Seen::Connected, Seen::Closed]);
    server.prints("closed");
    client.reconnect(server.address());
    assert!(client.until(Seen::Connected, PATIENCE), "{:?} {}", client.seen(), server.output());
    assert_eq!(client.resumptions(), 1, "{}", server.output());
    server.answers(&mut client, "resumed");
    server.write("!close");
    assert!(client.until(Seen::Closed, PATIENCE), "{:?} {}", client.seen(), server.output());
}

/// Data both ways, our close, a session resumed by the ticket that the server has given; and by the next, if it gives any.
pub(crate) fn our_client_resumes_by_ticket(start: Start, by: By, suite: Suite) {
    let pair = Pair::new(start, by, suite);
    let mut server = pair.peer(None, None);
    let mut client: TicketClient = match pair.keys("device", "cloud") {
        None => TicketClient::connect(server.address(), pair.credentials[0].clone(), config(suite)),
        Some(keys) => TicketClient::connect_with(server.address(), keys, config(suite)),
    };
    for resumptions in 0..3 {
        assert!(client.until(Seen::Connected, PATIENCE), "{:?} {}", client.seen(), server.output());
        assert_eq!(client.resumptions(), resumptions, "{}", server.output());
        server.answers(&mut client, &format!("resumed {resumptions} times"));
        client.close();
        server.prints("closed");
        client.reconnect(server.address());
    }
    let lengths: Vec<usize> = client.tickets().iter().map(Vec::len).collect();
    println!("{by:?} {suite:?}: tickets of {lengths:?} bytes");
    assert!(!lengths.is_empty(), "{}", server.output());
}

/// Data both ways, a session resumed, our close, a session anew, the client's close.
pub(crate) fn our_server_speaks(start: Start, by: By, suite: Suite) {
    let pair = Pair::new(start, by, suite);
    let mut server = pair.our_server(config(suite));
    let mut client = pair.peer(Some(server.address()), None);
    client.asks(&mut server, "first");
    client.write("!resume");
    client.asks(&mut server, "resumed");
    assert_eq!(server.resumptions(), 1, "{}", client.output());
    server.close();
    client.prints("closed");
    server.next();
    client.asks(&mut server, "another");
    client.write("!close");
    assert!(server.until(Seen::Closed, PATIENCE), "{:?} {}", server.seen(), client.output());
}

/// A session of our client with a server whose key or authority is another ends like this, and the server says why.
pub(crate) fn our_client_fails(start: Start, (by, suite): (By, Suite), failure: Failure, says: &str) {
    let pair = Pair::of_strangers(start, by, suite);
    let server = pair.peer(None, None);
    let mut client = pair.our_client(server.address(), hasty(suite, failure));
    assert_eq!(client.first(PATIENCE), Some(Seen::Failed(failure)), "{by:?} {}", server.output());
    server.prints(says);
}

/// A session of our server with a client whose key or authority is another ends like this, and the client says why.
pub(crate) fn our_server_fails(start: Start, (by, suite): (By, Suite), failure: Failure, says: &str) {
    let pair = Pair::of_strangers(start, by, suite);
    let mut server = pair.our_server(hasty(suite, failure));
    let mut client = pair.peer(Some(server.address()), None);
    client.write("not for strangers");
    assert_eq!(server.first(PATIENCE), Some(Seen::Failed(failure)), "{by:?} {}", client.output());
    client.prints(says);
}

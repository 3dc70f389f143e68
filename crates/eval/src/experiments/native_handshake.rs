//! A handshake of DTLS 1.2 without loss on this machine, how long its server computes, and the records of the session that it comes to.

use std::time::{Duration, Instant as Clock};

use sixlock_base::{Counter, Counters, Cx, Instant, Security};
use sixlock_crypto::{Metered, Operations, Soft};
use sixlock_dtls::{
    Answer, ClientSession, Completion, Config, ConnectionId, CookieSecrets, Event, Features, Full, Handshake,
    KeyFeature, Listen, MAX_RECORD_OVERHEAD, RECORD_FRONT, ServerSession, Suites, Task, Work,
    is_client_hello, listen, perform,
};
use sixlock_sim::{KeyRing, KeyRings, ScenarioBuilder};

use crate::error::Error;
use crate::experiments::counting::Counting;

/// Content of a record, as long as the draft's.
pub(super) const CONTENT: [u8; 6] = *b"secure";
/// The sequence number of the draft's records.
const NUMBER: usize = 5;
/// Room for a datagram.
const DATAGRAM: usize = 2048;
/// What the handshake proves where there is a pre-shared key: the draft counts an identity of one byte.
const IDENTITY: &[u8] = b"1";
const KEY: &[u8] = b"a key of sixteen";

/// The keys of the client and of the server.
type Keys = (&'static KeyRing, &'static KeyRing);
type Client<K> = ClientSession<Metered<Soft>, Handshake<Metered<Soft>, Features<K>>, Full<Features<K>>>;
type Server<K> = ServerSession<Metered<Soft>, Handshake<Metered<Soft>, Features<K>>, Full<Features<K>>>;

/// What both ends are lent.
struct Lent {
    crypto: Metered<Soft>,
    entropy: Counting,
    nv: (),
    counters: Counters,
}

impl Lent {
    fn cx(&mut self) -> Cx<'_, Metered<Soft>, Counting, ()> {
        let Self { crypto, entropy, nv, counters } = self;
        Cx { now: Instant::from_millis(0), crypto, entropy, nv, counters }
    }
}

/// How long flights are: what one end sends until the other does.
#[derive(Default)]
struct Flights {
    lengths: Vec<usize>,
    /// Whether the client sent the last.
    is_clients: bool,
}

impl Flights {
    fn add(&mut self, is_clients: bool, length: usize) {
        match self.lengths.last_mut().filter(|_| self.is_clients == is_clients) {
            Some(flight) => *flight += length,
            None => self.lengths.push(length),
        }
        self.is_clients = is_clients;
    }
}

/// Two ends, and what passes between them.
struct Ends<K: KeyFeature> {
    client: Client<K>,
    server: Server<K>,
    keys: Option<Keys>,
    lent: Lent,
    flights: Flights,
    /// How long the server has computed.
    at_work: Duration,
}

/// The lengths of all flights of a handshake by public keys, or without them by a pre-shared one.
pub(super) fn of<K: KeyFeature>(keys: Option<Keys>) -> Result<Vec<usize>, Error> {
    Ok(Ends::<K>::connected(keys, [None; 2])?.flights.lengths)
}

/// How long the server of a handshake computes on this machine: the median of so many handshakes as say enough.
pub(super) fn time_of_server<K: KeyFeature>(keys: Option<Keys>) -> Result<Duration, Error> {
    const HANDSHAKES: usize = 11;
    let each = (0..HANDSHAKES).map(|_| Ok(Ends::<K>::connected(keys, [None; 2])?.at_work));
    let mut times = each.collect::<Result<Vec<_>, Error>>()?;
    times.sort_unstable();
    Ok(times[HANDSHAKES / 2])
}

/// A record of a session whose server gave this id, with the draft's sequence number.
pub(super) fn record(id: &[u8]) -> Result<Vec<u8>, Error> {
    let mut ends = Ends::<()>::connected(None, [ConnectionId::new(&[]), ConnectionId::new(id)])?;
    let mut record = Vec::new();
    // The first number protected the end of the handshake.
    for _ in 0..NUMBER {
        record = vec![0; CONTENT.len() + MAX_RECORD_OVERHEAD];
        record[RECORD_FRONT..][..CONTENT.len()].copy_from_slice(&CONTENT);
        let length = ends.client.seal(&mut ends.lent.cx(), &mut record, CONTENT.len()).map_err(refused)?;
        record.truncate(length);
    }
    Ok(record)
}

/// What the server of a session computes to take a record with so many bytes of application data, or to refuse it if its last byte is not
/// what was sealed.
pub(super) fn opening(bytes: usize, is_forged: bool) -> Result<Operations, Error> {
    let mut ends = Ends::<()>::connected(None, [None; 2])?;
    let mut record = vec![0; bytes + MAX_RECORD_OVERHEAD];
    let length = ends.client.seal(&mut ends.lent.cx(), &mut record, bytes).map_err(refused)?;
    record.truncate(length);
    if let Some(last) = record.last_mut().filter(|_| is_forged) {
        *last ^= 1;
    }
    ends.lent.crypto.take();
    let is_taken = ends.server.handle(&mut ends.lent.cx(), &mut record).data.is_some();
    let is_refused = ends.lent.counters.get(Counter::DtlsBadRecord) > 0;
    if is_taken == is_forged || is_refused != is_forged {
        return Err(Error("a record was taken that was forged, or one was not that was not".into()));
    }
    Ok(ends.lent.crypto.take())
}

/// The keys of a node and of the cloud, in this mode.
pub(super) fn keys(mode: &str) -> Result<Option<Keys>, Error> {
    let security = Security::any(mode).map_err(|error| Error(format!("{mode}: {error}")))?;
    let text = "[topology]\nkind = \"chain\"\nnodes = 1";
    let scenario = ScenarioBuilder::parse("comparison", text)?.security(security).build()?;
    let rings = KeyRings::new(&scenario, 1).ok_or_else(|| Error("there are no keys".into()))?;
    Ok(rings.nodes.first().map(|&node| (node, rings.cloud)))
}

impl<K: KeyFeature> Ends<K> {
    /// Two that have made a handshake, and give these ids.
    fn connected(keys: Option<Keys>, ids: [Option<ConnectionId>; 2]) -> Result<Self, Error> {
        let suites = Suites::new(const { &[K::SUITE] });
        let [of_client, of_server] =
            ids.map(|connection_id| Config { suites, connection_id, ..Config::HOST });
        let lent =
            Lent { crypto: Metered::new(Soft), entropy: Counting(1), nv: (), counters: Counters::new() };
        let (client, server) = (Client::new(Handshake::new()), Server::new(Handshake::new()));
        let (flights, at_work) = (Flights::default(), Duration::ZERO);
        let mut ends = Self { client, server, keys, lent, flights, at_work };
        if let Some((node, cloud)) = keys {
            ends.client.set_credentials(&node.credentials);
            ends.server.set_credentials(&cloud.credentials);
        }
        let secrets = CookieSecrets::new(&mut Counting(2));
        ends.client.connect(&mut ends.lent.cx(), &of_client, None);
        while !(ends.client.is_connected() && ends.server.is_connected()) {
            ends.client_speaks(&secrets, &of_server)?;
            ends.server_speaks()?;
        }
        Ok(ends)
    }

    /// What the client sends reaches the server.
    fn client_speaks(&mut self, secrets: &CookieSecrets, config: &Config) -> Result<(), Error> {
        let mut out = [0; DATAGRAM];
        let mut datagram = [0; DATAGRAM];
        let Some(length) = self.client.poll_transmit(&mut self.lent.cx(), &mut datagram) else {
            return Err(Error("a handshake without loss did not come to its end".into()));
        };
        let datagram = &mut datagram[..length];
        self.flights.add(true, length);
        let begun = Clock::now();
        if !is_client_hello(datagram) {
            self.server.handle_all(&mut self.lent.cx(), datagram, |_| ());
            return self.work_of_server(begun);
        }
        let heard = listen(&mut self.lent.cx(), secrets, b"", datagram, &mut out);
        match heard {
            Listen::Reply(length) | Listen::Refuse(length, _) => {
                self.at_work += begun.elapsed();
                self.flights.add(false, length);
                self.client.handle_all(&mut self.lent.cx(), &mut out[..length], |_| ());
                self.work_of_client()
            }
            Listen::Accept(hello) => {
                self.server.accept(&mut self.lent.cx(), &hello, config);
                self.work_of_server(begun)
            }
            Listen::Drop(_) => Err(Error("a hello was dropped".into())),
        }
    }

    /// All that the server sends reaches the client.
    fn server_speaks(&mut self) -> Result<(), Error> {
        let mut out = [0; DATAGRAM];
        loop {
            let begun = Clock::now();
            let sent = self.server.poll_transmit(&mut self.lent.cx(), &mut out);
            self.at_work += begun.elapsed();
            let Some(length) = sent else { return Ok(()) };
            self.flights.add(false, length);
            self.client.handle_all(&mut self.lent.cx(), &mut out[..length], |_| ());
            self.work_of_client()?;
        }
    }

    fn work_of_client(&mut self) -> Result<(), Error> {
        while let Some(event) = self.client.poll_event() {
            let Event::Work(work) = event else { continue };
            let cx = &mut self.lent.cx();
            match (work, self.keys) {
                (Work::Task(task), Some((ring, _))) => {
                    let answer = answer(cx, ring, task);
                    self.client.complete(cx, Completion::Task(&answer))
                }
                _ => self.client.complete(cx, Completion::Psk { identity: IDENTITY, key: KEY }),
            }
            .map_err(refused)?;
        }
        Ok(())
    }

    /// Does what the server has to do, which has computed since `begun`.
    fn work_of_server(&mut self, begun: Clock) -> Result<(), Error> {
        while let Some(event) = self.server.poll_event() {
            let Event::Work(work) = event else { continue };
            let cx = &mut self.lent.cx();
            match (work, self.keys) {
                (Work::Task(task), Some((_, ring))) => {
                    let answer = answer(cx, ring, task);
                    self.server.complete(cx, Completion::Task(&answer))
                }
                _ => self.server.complete(cx, Completion::psk(Some(KEY))),
            }
            .map_err(refused)?;
        }
        self.at_work += begun.elapsed();
        Ok(())
    }
}

fn answer(cx: &mut Cx<'_, Metered<Soft>, Counting, ()>, ring: &KeyRing, task: Task<'_>) -> Answer {
    perform(cx.crypto, cx.entropy, ring.secret, &ring.trusted, task)
}

fn refused(error: sixlock_dtls::Error) -> Error {
    Error(format!("a handshake went wrong: {error:?}"))
}

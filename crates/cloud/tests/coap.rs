//! The CoAP doors as a device finds them: real datagrams, the DTLS client that devices run, a real cloud.

use std::net::{SocketAddr, UdpSocket};
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use sixlock_base::{Counters, Cx, Entropy, Instant, Security};
use sixlock_cloud::{Config, Device, LONGEST_PAGE, Page, ResourceId, Running, Secret, Store};
use sixlock_coap_msg::{Builder, Code, ContentFormat, Message, OptionNumber, Type};
use sixlock_crypto::Soft;
use sixlock_dtls::{
    ClientSession, Config as DtlsConfig, Event, Failure, Handshake, RECORD_FRONT, RECORD_TAIL,
};
use tempfile::TempDir;
use tokio::task::spawn_blocking;

const KEY: &[u8] = b"0123456789abcdef";
/// How long a client waits before it sends again.
const WAIT: Duration = Duration::from_millis(100);
/// How often, before it gives up.
const TRIES: usize = 100;

struct Random;

impl Entropy for Random {
    fn fill(&mut self, out: &mut [u8]) {
        getrandom::fill(out).unwrap();
    }
}

/// A device with a session.
struct Client {
    socket: UdpSocket,
    session: ClientSession<Soft, Box<Handshake<Soft>>>,
    counters: Counters,
    now: Instant,
}

fn socket(address: SocketAddr) -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(address).unwrap();
    socket.set_read_timeout(Some(WAIT)).unwrap();
    socket
}

/// What a client lends its session.
fn with<T>(
    (counters, now): (&mut Counters, Instant),
    call: impl FnOnce(&mut Cx<'_, Soft, Random, ()>) -> T,
) -> T {
    call(&mut Cx { now, crypto: &mut Soft, entropy: &mut Random, nv: &mut (), counters })
}

impl Client {
    fn connect(address: SocketAddr, identity: &str, key: &[u8]) -> Result<Self, Failure> {
        let (mut counters, now) = (Counters::new(), Instant::from_millis(0));
        let session = with((&mut counters, now), |cx| {
            let handshake = Box::new(Handshake::new(cx.crypto));
            ClientSession::client(cx, DtlsConfig::HOST, None, handshake)
        });
        let mut client = Self { socket: socket(address), session, counters, now };
        let mut datagram = [0; 2048];
        loop {
            let Self { socket, session, counters, now } = &mut client;
            let event = session.poll_event();
            match event {
                Some(Event::Work(_)) => {
                    with((counters, *now), |cx| session.resume(cx, identity.as_bytes(), key)).unwrap();
                }
                Some(Event::Connected) => return Ok(client),
                Some(Event::Failed(failure)) => return Err(failure),
                Some(Event::Closed) => panic!("closed before it was connected"),
                None => {}
            }
            while let Some(len) = with((counters, *now), |cx| session.poll_transmit(cx, &mut datagram)) {
                socket.send(&datagram[..len]).unwrap();
            }
            match socket.recv(&mut datagram) {
                Ok(len) => {
                    let mut rest = &mut datagram[..len];
                    while !rest.is_empty() {
                        rest = with((counters, *now), |cx| session.handle(cx, rest)).rest;
                    }
                }
                // Nothing came: the client's clock moves on to its next retransmission.
                Err(_) => {
                    *now = session.poll_timeout().unwrap_or(*now);
                    with((counters, *now), |cx| session.handle_timeout(cx));
                }
            }
        }
    }

    /// Sends a message until it is answered; nothing if it never is, or the session is over.
    fn ask(&mut self, message: &[u8]) -> Option<Code> {
        let Self { socket, session, counters, now } = self;
        let mut datagram = [0; 2048];
        for _ in 0..TRIES {
            datagram[RECORD_FRONT..RECORD_FRONT + message.len()].copy_from_slice(message);
            let room = &mut datagram[..RECORD_FRONT + message.len() + RECORD_TAIL];
            let len = with((counters, *now), |cx| session.seal(cx, room, message.len())).ok()?;
            socket.send(&datagram[..len]).ok()?;
            while let Ok(len) = socket.recv(&mut datagram) {
                let mut rest = &mut datagram[..len];
                while !rest.is_empty() {
                    let received = with((counters, *now), |cx| session.handle(cx, rest));
                    rest = received.rest;
                    let answer = received.data.and_then(|data| answer_to(message, data));
                    if answer.is_some() {
                        return answer;
                    }
                }
            }
        }
        None
    }
}

/// The code of `datagram`, if it answers `message`.
fn answer_to(message: &[u8], datagram: &[u8]) -> Option<Code> {
    let (asked, answer) = (Message::parse(message).unwrap(), Message::parse(datagram).ok()?);
    (answer.code().is_response() && answer.token() == asked.token()).then_some(answer.code())
}

/// Sends a message without protection until it is answered.
fn ask_plain(address: SocketAddr, message: &[u8]) -> Option<Code> {
    let (socket, mut datagram) = (socket(address), [0; 2048]);
    for _ in 0..TRIES {
        socket.send(message).unwrap();
        while let Ok(len) = socket.recv(&mut datagram) {
            let answer = answer_to(message, &datagram[..len]);
            if answer.is_some() {
                return answer;
            }
        }
    }
    None
}

fn post(id: u16, token: &[u8], query: &[&str], value: f64) -> Vec<u8> {
    let mut datagram = [0; 1024];
    let mut builder = Builder::new(&mut datagram, Type::Confirmable, Code::POST, id, token).unwrap();
    builder.path(&["resources", "data"]).unwrap().content_format(ContentFormat::SENML_JSON).unwrap();
    for argument in query {
        builder.option(OptionNumber::URI_QUERY, argument.as_bytes()).unwrap();
    }
    let payload = format!(r#"[{{"bn":"urn:dev:mac:0212740000000001:","n":"t","v":{value}}}]"#);
    let len = builder.finish_with(payload.as_bytes()).unwrap();
    datagram[..len].to_vec()
}

struct Cloud {
    running: Running,
    directory: TempDir,
    nodes: Vec<ResourceId>,
}

fn config(directory: &Path) -> Config {
    let loopback: SocketAddr = "127.0.0.1:0".parse().unwrap();
    Config {
        data: directory.into(),
        http: loopback,
        coap: Some(loopback),
        coaps: loopback,
        behind_proxy: false,
    }
}

async fn start(nodes: usize) -> Cloud {
    let directory = tempfile::tempdir().unwrap();
    let running = sixlock_cloud::start(config(directory.path()), None).await.unwrap();
    let mut ids = Vec::new();
    for n in 1..=nodes {
        let key = Some(Secret::new(KEY.to_vec()));
        let device = Device { label: format!("node-{n}"), mode: Security::default(), identity: None, key };
        ids.push(running.enrol(device).await.unwrap().id);
    }
    Cloud { running, directory, nodes: ids }
}

impl Cloud {
    async fn connect(&self, identity: &'static str, key: &'static [u8]) -> Result<Client, Failure> {
        let address = self.running.coaps;
        spawn_blocking(move || Client::connect(address, identity, key)).await.unwrap()
    }

    async fn plain(&self, message: Vec<u8>) -> Option<Code> {
        let address = self.running.coap.unwrap();
        spawn_blocking(move || ask_plain(address, &message)).await.unwrap()
    }

    async fn values(&self, node: usize) -> Vec<f64> {
        values(&self.running.store, self.nodes[node]).await
    }

    async fn refusals(self) -> Vec<Value> {
        self.running.stop().await.unwrap();
        let text = std::fs::read_to_string(self.directory.path().join("audit.jsonl")).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

async fn values(store: &Store, resource: ResourceId) -> Vec<f64> {
    let Some(stream) = store.stream(resource, "t").await.unwrap() else { return Vec::new() };
    let page = Page { limit: LONGEST_PAGE, from: None, until: None };
    store.points(stream.id, page).await.unwrap().into_iter().map(|point| point.value).collect()
}

async fn ask(mut client: Client, message: Vec<u8>) -> (Client, Option<Code>) {
    spawn_blocking(move || {
        let answer = client.ask(&message);
        (client, answer)
    })
    .await
    .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reading_posted_over_dtls_is_stored_when_it_is_acknowledged() {
    let cloud = start(2).await;
    let client = cloud.connect("node-1", KEY).await.unwrap();
    let (client, answer) = ask(client, post(1, b"aaaa", &[], 21.5)).await;
    assert_eq!(answer, Some(Code::CHANGED));
    assert_eq!(cloud.values(0).await, [21.5]);
    let (client, answer) = ask(client, post(1, b"aaaa", &[], 21.5)).await;
    assert_eq!(answer, Some(Code::CHANGED), "a duplicate is answered again");
    assert_eq!(cloud.values(0).await, [21.5], "and stored once");
    let own = format!("id={}", cloud.nodes[0].0);
    let (client, answer) = ask(client, post(2, b"bbbb", &[&own], 22.5)).await;
    assert_eq!(answer, Some(Code::CHANGED));
    let others = format!("id={}", cloud.nodes[1].0);
    let (_client, answer) = ask(client, post(3, b"cccc", &[&others], 23.5)).await;
    assert_eq!(answer, Some(Code::FORBIDDEN));
    assert_eq!(cloud.values(0).await, [21.5, 22.5]);
    assert_eq!(cloud.values(1).await, [] as [f64; 0]);
    let refusals = cloud.refusals().await;
    assert_eq!(refusals.len(), 1);
    assert_eq!(
        (&refusals[0]["door"], &refusals[0]["reason"]),
        (&"coaps".into(), &"anothers_resource".into())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_key_and_an_unknown_identity_look_alike_outside_and_not_in_the_record() {
    let cloud = start(1).await;
    let wrong = cloud.connect("node-1", b"another key of 16").await.err().unwrap();
    let unknown = cloud.connect("node-9", KEY).await.err().unwrap();
    assert_eq!(wrong, unknown);
    cloud.connect("node-1", KEY).await.unwrap();
    let refusals = cloud.refusals().await;
    let told: Vec<_> = refusals.iter().map(|line| (line["who"].as_str(), line["reason"].as_str())).collect();
    let expected = [(Some("node-1"), Some("wrong_key")), (Some("node-9"), Some("unknown_identity"))];
    assert_eq!(told, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_plain_door_asks_for_the_key_of_the_resource() {
    let cloud = start(1).await;
    let id = format!("id={}", cloud.nodes[0].0);
    assert_eq!(cloud.plain(post(1, b"a", &[&id, "key=0123456789abcdef"], 1.5)).await, Some(Code::CHANGED));
    assert_eq!(
        cloud.plain(post(2, b"b", &[&id, "key=0123456789abcdeF"], 2.5)).await,
        Some(Code::UNAUTHORIZED)
    );
    assert_eq!(cloud.plain(post(3, b"c", &[&id], 3.5)).await, Some(Code::UNAUTHORIZED));
    assert_eq!(cloud.values(0).await, [1.5]);
    assert_eq!(cloud.refusals().await.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_plain_door_is_closed_unless_it_is_switched_on() {
    let directory = tempfile::tempdir().unwrap();
    let off = Config { coap: None, ..config(directory.path()) };
    let running = sixlock_cloud::start(off, None).await.unwrap();
    assert_eq!(running.coap, None);
    let text = std::fs::read_to_string(directory.path().join("endpoints.json")).unwrap();
    let endpoints: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&endpoints["coap"], &endpoints["coaps"]), (&Value::Null, &running.coaps.to_string().into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_post_that_was_stored_before_a_restart_is_not_stored_again_after_it() {
    let Cloud { running, directory, nodes } = start(1).await;
    let coaps = running.coaps;
    let talk = move |message: Vec<u8>| {
        spawn_blocking(move || Client::connect(coaps, "node-1", KEY).unwrap().ask(&message))
    };
    assert_eq!(talk(post(1, b"a token", &[], 21.5)).await.unwrap(), Some(Code::CHANGED));
    running.stop().await.unwrap();
    let running = sixlock_cloud::start(Config { coaps, ..config(directory.path()) }, None).await.unwrap();
    // The acknowledgement was lost, say: the device asks in a new session, in another message, with the same token.
    assert_eq!(talk(post(7, b"a token", &[], 21.5)).await.unwrap(), Some(Code::CHANGED));
    assert_eq!(values(&running.store, nodes[0]).await, [21.5]);
    assert_eq!(talk(post(8, b"another", &[], 21.5)).await.unwrap(), Some(Code::CHANGED));
    assert_eq!(values(&running.store, nodes[0]).await, [21.5, 21.5]);
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_bytes_come_the_doors_stay_open() {
    let cloud = start(1).await;
    let client = cloud.connect("node-1", KEY).await.unwrap();
    let (secure, plain) = (cloud.running.coaps, cloud.running.coap.unwrap());
    spawn_blocking(move || {
        for address in [secure, plain] {
            let socket = socket(address);
            let mut bytes = [0; 512];
            for _ in 0..500 {
                getrandom::fill(&mut bytes).unwrap();
                let len = usize::from(bytes[0]) * 2;
                // Every other datagram begins as one that could be something.
                match bytes[1] % 4 {
                    0 => bytes[..3].copy_from_slice(&[22, 254, 253]),
                    1 => bytes[..2].copy_from_slice(&[0x40, 2]),
                    _ => {}
                }
                socket.send(&bytes[..len]).unwrap();
            }
            socket.send(&[]).unwrap();
        }
    })
    .await
    .unwrap();
    let (_client, answer) = ask(client, post(1, b"aaaa", &[], 1.5)).await;
    assert_eq!(answer, Some(Code::CHANGED));
    let id = format!("id={}", cloud.nodes[0].0);
    assert_eq!(cloud.plain(post(1, b"b", &[&id, "key=0123456789abcdef"], 2.5)).await, Some(Code::CHANGED));
    assert_eq!(cloud.values(0).await, [1.5, 2.5]);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_was_acknowledged_is_lost_when_the_cloud_stops_under_load() {
    const CLIENTS: usize = 8;
    let cloud = start(1).await;
    let address = cloud.running.coaps;
    let (acknowledged, all) = std::sync::mpsc::channel();
    let mut clients = Vec::new();
    for n in 0..CLIENTS {
        let acknowledged = acknowledged.clone();
        clients.push(spawn_blocking(move || {
            let mut client = Client::connect(address, "node-1", KEY).unwrap();
            for i in 0..u16::MAX {
                let value = (n * 100_000) as f64 + f64::from(i);
                match client.ask(&post(i, &value.to_be_bytes(), &[], value)) {
                    Some(Code::CHANGED) => acknowledged.send(value).unwrap(),
                    Some(code) => panic!("{code:?}"),
                    // The session was closed.
                    None => return,
                }
            }
        }));
    }
    drop(acknowledged);
    let (first, all) = spawn_blocking(move || {
        let first: Vec<f64> = all.iter().take(200).collect();
        (first, all)
    })
    .await
    .unwrap();
    let Cloud { running, directory, nodes } = cloud;
    running.stop().await.unwrap();
    for client in clients {
        client.await.unwrap();
    }
    let mut acknowledged: Vec<f64> = first.into_iter().chain(all).collect();
    acknowledged.sort_by(f64::total_cmp);
    let again = sixlock_cloud::start(config(directory.path()), None).await.unwrap();
    let mut stored = values(&again.store, nodes[0]).await;
    stored.sort_by(f64::total_cmp);
    assert!(stored.is_sorted_by(|a, b| a < b), "a reading is stored twice");
    let lost: Vec<_> = acknowledged.iter().filter(|value| !stored.contains(value)).collect();
    assert!(lost.is_empty(), "lost: {lost:?}");
    // One of each client at most was stored and its acknowledgement did not arrive.
    assert!(stored.len() <= acknowledged.len() + CLIENTS);
}

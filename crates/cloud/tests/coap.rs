//! The CoAP server as a device finds it: real datagrams, the DTLS client that devices run, a real cloud.

#[allow(dead_code, reason = "restarts are elsewhere")]
mod client;

use std::net::UdpSocket;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use client::{Client, Refused, ask_plain, socket};
use serde_json::Value;
use sixlock_cloud::{Config, Device, LONGEST_PAGE, Page, ResourceId, Rotation, Running, Secret, Store};
use sixlock_coap_msg::{Builder, Code, ContentFormat, OptionNumber, Type};
use tempfile::TempDir;
use tokio::task::spawn_blocking;

const KEY: &[u8] = b"0123456789abcdef";
const NEW_KEY: &[u8] = b"fedcba9876543210";

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

/// Asks for the resource, over plain CoAP.
fn get(id: u16, query: &[&str]) -> Vec<u8> {
    let mut datagram = [0; 256];
    let mut builder = Builder::new(&mut datagram, Type::Confirmable, Code::GET, id, b"g").unwrap();
    builder.path(&["resources"]).unwrap();
    for argument in query {
        builder.option(OptionNumber::URI_QUERY, argument.as_bytes()).unwrap();
    }
    let len = builder.finish_with(&[]).unwrap();
    datagram[..len].to_vec()
}

/// A key as it is sent over plain CoAP.
fn sent(key: &[u8]) -> String {
    format!("key={}", std::str::from_utf8(key).unwrap())
}

struct Cloud {
    running: Running,
    directory: TempDir,
    nodes: Vec<ResourceId>,
    /// What asked over plain CoAP. They stay open: another at a port that one of them had would ask what the cloud has answered already.
    asked: Mutex<Vec<UdpSocket>>,
}

fn config(directory: &Path) -> Config {
    let config = Config::on_loopback(directory);
    Config { coap: Some(config.coaps), max_sessions: 100, ..config }
}

async fn start(nodes: usize) -> Cloud {
    let directory = tempfile::tempdir().unwrap();
    let running = sixlock_cloud::start(config(directory.path()), None).await.unwrap();
    let mut ids = Vec::new();
    for n in 1..=nodes {
        let key = Some(Secret::new(KEY.to_vec()));
        let device = Device { key, ..Device::named(format!("node-{n}")) };
        ids.push(running.enrol(device).await.unwrap().resource.id);
    }
    Cloud { running, directory, nodes: ids, asked: Mutex::default() }
}

impl Cloud {
    async fn connect(&self, identity: &'static str, key: &'static [u8]) -> Result<Client, Refused> {
        let address = self.running.coaps;
        spawn_blocking(move || Client::connect(address, identity, key)).await.unwrap()
    }

    async fn plain(&self, message: Vec<u8>) -> Option<Code> {
        let address = self.running.coap.unwrap();
        let (socket, answer) = spawn_blocking(move || ask_plain(address, &message)).await.unwrap();
        self.asked.lock().unwrap().push(socket);
        answer
    }

    async fn values(&self, node: usize) -> Vec<f64> {
        values(&self.running.store, self.nodes[node]).await
    }

    /// What is answered by HTTP to somebody from elsewhere with this token.
    async fn get(&self, path: &'static str, token: &str) -> String {
        use std::io::{Read, Write};
        let http = self.running.http;
        let head = format!("Host: {http}\r\nX-Forwarded-For: 192.0.2.1\r\nAuthorization: Bearer {token}");
        let answer = spawn_blocking(move || {
            let mut stream = std::net::TcpStream::connect(http).unwrap();
            write!(stream, "GET {path} HTTP/1.1\r\n{head}\r\nConnection: close\r\n\r\n").unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            answer
        });
        answer.await.unwrap()
    }

    /// What is answered by HTTP to the administrator.
    async fn get_as_administrator(&self, path: &'static str) -> String {
        let token = std::fs::read_to_string(self.directory.path().join("admin-token")).unwrap();
        self.get(path, token.trim()).await
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
    store
        .points(stream.id, page)
        .await
        .unwrap()
        .into_iter()
        .map(|point| point.value.number().unwrap())
        .collect()
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
        (&refusals[0]["scheme"], &refusals[0]["reason"]),
        (&"coaps".into(), &"anothers_resource".into())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_unknown_removed_and_replaced_keys_look_alike_outside_and_not_in_the_record() {
    let cloud = start(4).await;
    let store = &cloud.running.store;
    store.remove_credentials(cloud.nodes[2], None).await.unwrap();
    store.rotate(cloud.nodes[3], rotation(0), 0).await.unwrap();
    let wrong = cloud.connect("node-1", b"another key of 16").await.err().unwrap();
    for identity in ["node-9", "node-3", "node-4"] {
        assert_eq!(cloud.connect(identity, KEY).await.err().unwrap(), wrong, "{identity}");
    }
    assert!(wrong.heard.len() >= 3, "a hello, its answer and an alert: {wrong:?}");
    cloud.connect("node-1", KEY).await.unwrap();
    let refusals = cloud.refusals().await;
    let told: Vec<_> = refusals.iter().map(|line| (line["who"].as_str(), line["reason"].as_str())).collect();
    let unknown = ["node-9", "node-3", "node-4"].map(|identity| (Some(identity), Some("unknown_identity")));
    assert_eq!(told[0], (Some("node-1"), Some("wrong_key")));
    assert_eq!(told[1..], unknown);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_fails_looks_like_an_unknown_identity_and_is_told_as_what_it_is() {
    let cloud = start(1).await;
    let unknown = cloud.connect("node-9", KEY).await.err().unwrap();
    let database = rusqlite::Connection::open(cloud.directory.path().join("sixlock.db")).unwrap();
    database.execute_batch("ALTER TABLE credentials RENAME TO elsewhere").unwrap();
    assert_eq!(cloud.connect("node-1", KEY).await.err().unwrap(), unknown);
    let id = format!("id={}", cloud.nodes[0].0);
    let answer = cloud.plain(post(1, b"a", &[&id, "key=0123456789abcdef"], 1.5)).await;
    assert_eq!(answer, Some(Code::INTERNAL_SERVER_ERROR));
    let answer = cloud.get_as_administrator("/api/v1/users/admin/credentials").await;
    assert!(answer.starts_with("HTTP/1.1 500") && !answer.contains("credentials"), "{answer}");
    let metrics = cloud.get_as_administrator("/metrics").await;
    for at in ["look_up", "coap", "http"] {
        let line = format!(r#"sixlock_faults_total{{at="{at}"}} 1"#);
        assert!(metrics.lines().any(|known| known == line), "{line} is not in {metrics}");
    }
    database.execute_batch("ALTER TABLE elsewhere RENAME TO credentials").unwrap();
    cloud.connect("node-1", KEY).await.unwrap();
    let refusals = cloud.refusals().await;
    let told: Vec<_> = refusals.iter().map(|line| (line["who"].as_str(), line["reason"].as_str())).collect();
    assert_eq!(told, [(Some("node-9"), Some("unknown_identity"))]);
}

/// A new key of the same kind beside which the present one is good until `until`.
fn rotation(until: i64) -> Rotation {
    Rotation { key: Some(Secret::new(NEW_KEY.to_vec())), ..Rotation::until(until) }
}

fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as i64
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_closed_when_its_credential_is_removed_and_no_other_is() {
    let cloud = start(2).await;
    let client = cloud.connect("node-1", KEY).await.unwrap();
    let other = cloud.connect("node-2", KEY).await.unwrap();
    let (client, answer) = ask(client, post(1, b"aaaa", &[], 1.5)).await;
    assert_eq!(answer, Some(Code::CHANGED));
    cloud.running.store.remove_credentials(cloud.nodes[0], Some("node-1".into())).await.unwrap();
    // The client has not looked: it seals another post, which is not answered; then it learns that it is over.
    let (client, answer) = ask(client, post(2, b"bbbb", &[], 2.5)).await;
    assert_eq!((answer, client.is_closed()), (None, true));
    assert_eq!(cloud.values(0).await, [1.5]);
    let (other, answer) = ask(other, post(1, b"cccc", &[], 3.5)).await;
    assert_eq!((answer, other.is_closed()), (Some(Code::CHANGED), false));
    assert!(cloud.connect("node-1", KEY).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn with_its_resource_a_device_loses_its_session_and_its_key() {
    use std::io::{Read, Write};
    let cloud = start(2).await;
    let (first, second) =
        (cloud.connect("node-1", KEY).await.unwrap(), cloud.connect("node-2", KEY).await.unwrap());
    let token = std::fs::read_to_string(cloud.directory.path().join("admin-token")).unwrap();
    let http = cloud.running.http;
    let answer = spawn_blocking(move || {
        let mut stream = std::net::TcpStream::connect(http).unwrap();
        let head = format!("Host: {http}\r\nAuthorization: Bearer {}\r\nConnection: close", token.trim());
        write!(stream, "DELETE /api/v1/users/admin/resources/node-1 HTTP/1.1\r\n{head}\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    });
    let answer = answer.await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 204"), "{answer}");
    assert_eq!(ask(first, post(1, b"aaaa", &[], 1.0)).await.1, None, "the session goes on");
    assert_eq!(ask(second, post(1, b"aaaa", &[], 2.0)).await.1, Some(Code::CHANGED));
    assert!(cloud.connect("node-1", KEY).await.is_err());
    assert_eq!(cloud.values(1).await, [2.0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_metrics_count_what_happened_at_the_servers() {
    let cloud = start(2).await;
    let client = cloud.connect("node-1", KEY).await.unwrap();
    let (client, _) = ask(client, post(1, b"aaaa", &[], 1.5)).await;
    let others = format!("id={}", cloud.nodes[1].0);
    let (_client, answer) = ask(client, post(2, b"bbbb", &[&others], 2.5)).await;
    assert_eq!(answer, Some(Code::FORBIDDEN));
    cloud.connect("node-2", b"a key that is another's").await.err().unwrap();
    assert!(cloud.get("/metrics", "guess").await.starts_with("HTTP/1.1 401"));
    let metrics = cloud.get_as_administrator("/metrics").await;
    for line in [
        r#"sixlock_requests_total{scheme="coaps",status="204"} 1"#,
        r#"sixlock_requests_total{scheme="coaps",status="403"} 1"#,
        r#"sixlock_requests_total{scheme="http",status="401"} 1"#,
        r#"sixlock_refusals_total{scheme="coaps",reason="anothers_resource"} 1"#,
        r#"sixlock_refusals_total{scheme="coaps",reason="wrong_key"} 1"#,
        r#"sixlock_handshakes_total{outcome="connected"} 1"#,
        r#"sixlock_handshakes_total{outcome="failed"} 1"#,
        "sixlock_sessions 1",
        "sixlock_points_stored_total 1",
        "sixlock_batch_points_count 1",
        "# EOF",
    ] {
        assert!(metrics.lines().any(|known| known == line), "{line} is not in {metrics}");
    }
    assert!(metrics.contains("sixlock_dtls_"), "{metrics}");
    assert!(!metrics.contains("last_backup"), "{metrics}");
    let (data, copy) = (cloud.directory.path().to_owned(), cloud.directory.path().join("copy.db"));
    let before = now_ms();
    spawn_blocking(move || sixlock_cloud::back_up(&data, &copy)).await.unwrap().unwrap();
    let metrics = cloud.get_as_administrator("/metrics").await;
    let told = metrics.lines().find_map(|line| line.strip_prefix("sixlock_last_backup_timestamp_seconds "));
    assert!(told.unwrap().parse::<f64>().unwrap() * 1_000.0 >= (before - 1) as f64, "{metrics}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_given_another_key_loses_its_session_and_one_given_the_same_key_keeps_it() {
    let cloud = start(1).await;
    let enrol = async |key: &[u8]| {
        let key = Some(Secret::new(key.to_vec()));
        let device = Device { key, ..Device::named("node-1") };
        cloud.running.enrol(device).await.unwrap();
    };
    let client = cloud.connect("node-1", KEY).await.unwrap();
    enrol(KEY).await;
    let (client, answer) = ask(client, post(1, b"aaaa", &[], 1.5)).await;
    assert_eq!(answer, Some(Code::CHANGED));
    enrol(NEW_KEY).await;
    let (client, answer) = ask(client, post(2, b"bbbb", &[], 2.5)).await;
    assert_eq!((answer, client.is_closed()), (None, true));
    cloud.connect("node-1", NEW_KEY).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn both_keys_work_while_one_replaces_the_other_and_then_only_the_new_one() {
    const HOUR: i64 = 3_600_000;
    let cloud = start(1).await;
    let store = &cloud.running.store;
    let before = cloud.connect("node-1", KEY).await.unwrap();
    let end = now_ms() + HOUR;
    let rotated = store.rotate(cloud.nodes[0], rotation(end), now_ms()).await.unwrap();
    assert_eq!(rotated.identity, "node-1#2");
    let during = cloud.connect("node-1", KEY).await.unwrap();
    let after = cloud.connect("node-1#2", NEW_KEY).await.unwrap();
    let id = format!("id={}", cloud.nodes[0].0);
    let mut posted = Vec::new();
    let mut clients = Vec::new();
    for (n, client) in [before, during, after].into_iter().enumerate() {
        let (client, answer) = ask(client, post(1, &[b'a', n as u8, 0, 0], &[], n as f64)).await;
        assert_eq!(answer, Some(Code::CHANGED), "session {n}");
        posted.push(n as f64);
        clients.push(client);
    }
    for (n, key) in [KEY, NEW_KEY].into_iter().enumerate() {
        assert_eq!(
            cloud.plain(post(9, &[b'p', n as u8, 0, 0], &[&id, &sent(key)], 7.0)).await,
            Some(Code::CHANGED)
        );
        posted.push(7.0);
    }

    // The time comes when the overlap ends.
    store.expire_credentials(end).await.unwrap();
    for (n, client) in clients.into_iter().enumerate() {
        let (client, answer) = ask(client, post(2, &[b'b', n as u8, 0, 0], &[], 10.0 + n as f64)).await;
        assert_eq!(client.is_closed(), n < 2, "session {n}");
        assert_eq!(answer, (n == 2).then_some(Code::CHANGED), "session {n}");
    }
    posted.push(12.0);
    assert_eq!(cloud.values(0).await, posted);
    assert!(cloud.connect("node-1", KEY).await.is_err());
    cloud.connect("node-1#2", NEW_KEY).await.unwrap();
    assert_eq!(cloud.plain(post(10, b"pppp", &[&id, &sent(KEY)], 8.0)).await, Some(Code::UNAUTHORIZED));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_remembered_ends_when_its_time_comes_though_nothing_can_be_removed() {
    let cloud = start(1).await;
    cloud.connect("node-1", KEY).await.unwrap();
    let end = now_ms() + 1_000;
    cloud.running.store.rotate(cloud.nodes[0], rotation(end), now_ms()).await.unwrap();
    let database = rusqlite::Connection::open(cloud.directory.path().join("sixlock.db")).unwrap();
    database.execute_batch("BEGIN IMMEDIATE").unwrap();
    cloud.connect("node-1", KEY).await.unwrap();
    let query = [&*format!("id={}", cloud.nodes[0].0), &*sent(KEY)];
    assert_eq!(cloud.plain(get(1, &query)).await, Some(Code::CONTENT));
    while now_ms() < end {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(cloud.connect("node-1", KEY).await.is_err());
    assert_eq!(cloud.plain(get(2, &query)).await, Some(Code::UNAUTHORIZED));
    database.execute_batch("ROLLBACK").unwrap();
    cloud.connect("node-1#2", NEW_KEY).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn plain_coap_asks_for_the_key_of_the_resource() {
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
async fn a_key_that_plain_coap_remembers_is_refused_at_once_when_it_is_removed_or_replaced() {
    let cloud = start(3).await;
    let ask = async |node: usize, key: &[u8]| {
        let id = format!("id={}", cloud.nodes[node].0);
        cloud.plain(get(1, &[&id, &sent(key)])).await
    };
    for node in 0..3 {
        assert_eq!(ask(node, KEY).await, Some(Code::CONTENT));
        assert_eq!(ask(node, NEW_KEY).await, Some(Code::UNAUTHORIZED));
        assert_eq!(ask(node, KEY).await, Some(Code::CONTENT));
    }
    let store = &cloud.running.store;
    store.remove_credentials(cloud.nodes[0], None).await.unwrap();
    store.rotate(cloud.nodes[1], rotation(0), 0).await.unwrap();
    let key = Some(Secret::new(NEW_KEY.to_vec()));
    cloud.running.enrol(Device { key, ..Device::named("node-3") }).await.unwrap();
    for (node, new) in [(0, Code::UNAUTHORIZED), (1, Code::CONTENT), (2, Code::CONTENT)] {
        assert_eq!(ask(node, KEY).await, Some(Code::UNAUTHORIZED), "{node}");
        assert_eq!(ask(node, NEW_KEY).await, Some(new), "{node}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn plain_coap_is_off_unless_it_is_switched_on() {
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
    let Cloud { running, directory, nodes, .. } = start(1).await;
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
async fn whatever_bytes_come_the_servers_stay_open() {
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
    let Cloud { running, directory, nodes, .. } = cloud;
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

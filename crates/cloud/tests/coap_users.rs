//! Users who come by a DTLS identity of their own: real datagrams, the DTLS client that devices run, a real cloud.

#[allow(dead_code, reason = "of what a device can do, these do little")]
mod client;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use client::{Client, metric};
use sixlock_cloud::{
    Append, Config, Device, Idempotency, NewIdentity, Reading, ResourceId, Role, Running, Secret, TokenScope,
    Transmission, User, UserIdentity,
};
use sixlock_coap_msg::{Builder, Code, Message, OptionNumber, Type, empty};
use sixlock_store::{GroupAccess, UserChange, now_ms};
use tempfile::TempDir;
use tokio::task::spawn_blocking;

const KEY: &[u8] = b"0123456789abcdef";

struct Cloud {
    running: Running,
    directory: TempDir,
    ann: User,
    /// Hers.
    resource: ResourceId,
}

async fn run(directory: &Path, coaps: Option<SocketAddr>) -> Running {
    let coaps = coaps.unwrap_or_else(|| (Ipv4Addr::LOCALHOST, 0).into());
    sixlock_cloud::start(Config { coaps, ..Config::on_loopback(directory) }, None).await.unwrap()
}

async fn start() -> Cloud {
    let directory = tempfile::tempdir().unwrap();
    let running = run(directory.path(), None).await;
    let ann = running.store.add_user("ann", "", "a long password".into(), Role::Member).await.unwrap();
    let device = Device { key: Some(Secret::new(KEY.to_vec())), ..Device::named("node") };
    let resource = running.store.add_resource(ann.id, device).await.unwrap().resource.id;
    let cloud = Cloud { running, directory, ann, resource };
    cloud.store(1.0).await;
    cloud
}

impl Cloud {
    async fn identity(&self, user: &User, label: &str, scope: TokenScope) -> UserIdentity {
        let new = NewIdentity {
            label: label.to_owned(),
            mode: "dtls-psk".parse().unwrap(),
            identity: None,
            key: Some(Secret::new(KEY.to_vec())),
            valid_s: None,
            expires: None,
            scope,
        };
        self.running.store.add_user_identity(user, new, now_ms()).await.unwrap().identity
    }

    async fn whole(&self, label: &str) -> UserIdentity {
        self.identity(&self.ann, label, TokenScope::default()).await
    }

    /// Stores a reading of ann's device.
    async fn store(&self, value: f64) {
        let reading = Reading { stream: "t".into(), unit: None, time: now_ms(), value: value.into() };
        let transmission = Transmission { association: b"test", message_id: 1, token: &value.to_be_bytes() };
        let idempotency = Idempotency::of(self.resource, transmission, b"");
        let append = Append { resource: self.resource, idempotency, readings: vec![reading] };
        self.running.store.append(append).await.unwrap();
    }

    async fn stream(&self) -> i64 {
        self.running.store.stream(self.resource, "t").await.unwrap().unwrap().id.0
    }
}

async fn connect(address: SocketAddr, identity: &'static str) -> Option<Client> {
    spawn_blocking(move || Client::connect(address, identity, KEY).ok()).await.unwrap()
}

/// A GET, which observes if it says so.
fn get(id: u16, path: &[&str], query: &str, observes: bool) -> Vec<u8> {
    let mut datagram = [0; 256];
    let mut builder =
        Builder::new(&mut datagram, Type::Confirmable, Code::GET, id, &id.to_be_bytes()).unwrap();
    if observes {
        builder.option(OptionNumber::OBSERVE, &[]).unwrap();
    }
    builder.path(path).unwrap();
    if !query.is_empty() {
        builder.option(OptionNumber::URI_QUERY, query.as_bytes()).unwrap();
    }
    let len = builder.finish_with(&[]).unwrap();
    datagram[..len].to_vec()
}

async fn ask(mut client: Client, message: Vec<u8>) -> (Client, Option<Code>) {
    let asked = move || {
        let answer = client.ask(&message);
        (client, answer)
    };
    spawn_blocking(asked).await.unwrap()
}

/// What an observer is told that asked with the message `id`, up to an answer with this code and text in it.
async fn notified(mut client: Client, id: u16, code: Code, text: &'static str) -> (Client, String) {
    let hears = move || {
        let mut all = String::new();
        loop {
            let heard = client.hear().unwrap_or_else(|| panic!("no {text}, but {all}"));
            let Ok(message) = Message::parse(&heard) else { continue };
            if message.message_type() == Type::Confirmable {
                client.tell(&empty(Type::Acknowledgement, message.id()));
            }
            if message.token() != id.to_be_bytes() {
                continue;
            }
            let payload = String::from_utf8_lossy(message.payload()).into_owned();
            all += &payload;
            if message.code() == code && payload.contains(text) {
                return (client, all);
            }
        }
    };
    spawn_blocking(hears).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_identity_that_is_revoked_ends_its_sessions_and_what_they_observe_and_no_others() {
    let cloud = start().await;
    let (address, store) = (cloud.running.coaps, &cloud.running.store);
    for label in ["lost", "kept"] {
        cloud.whole(label).await;
    }
    let (lost, kept) =
        (connect(address, "ann/lost").await.unwrap(), connect(address, "ann/kept").await.unwrap());
    let stream = format!("id={}", cloud.stream().await);
    let observe = |id| get(id, &["streams", "data"], &stream, true);
    let (lost, answer) = ask(lost, observe(1)).await;
    assert_eq!(answer, Some(Code::CONTENT));
    let (kept, answer) = ask(kept, observe(2)).await;
    assert_eq!(answer, Some(Code::CONTENT));
    cloud.store(2.0).await;
    let (mut lost, _) = notified(lost, 1, Code::CONTENT, r#""value":2.0"#).await;
    let (kept, _) = notified(kept, 2, Code::CONTENT, r#""value":2.0"#).await;
    let left = lost.left.take();

    store.delete_user_identity(cloud.ann.id, "lost").await.unwrap();
    cloud.store(3.0).await;
    let (kept, _) = notified(kept, 2, Code::CONTENT, r#""value":3.0"#).await;
    // It is told nothing more, and what it asks is not answered.
    let (lost, code) = ask(lost, get(3, &["resources"], "", false)).await;
    assert_eq!((code, lost.is_closed()), (None, true));
    let resumed = spawn_blocking(move || Client::resume(address, "ann/lost", KEY, left.as_ref()).is_ok());
    assert!(!resumed.await.unwrap(), "what is left of the session is good");
    let (_, code) = ask(kept, get(4, &["resources"], "", false)).await;
    assert_eq!(code, Some(Code::CONTENT));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_right_that_is_taken_away_ends_what_is_observed_by_it() {
    let cloud = start().await;
    let store = &cloud.running.store;
    let bob = store.add_user("bob", "", "a long password".into(), Role::Member).await.unwrap();
    let team = store.add_group(cloud.ann.id, "team", now_ms()).await.unwrap().id;
    store.put_member(team, "bob", GroupAccess::Read, now_ms()).await.unwrap();
    store.join_group(bob.id, &team.0.to_string(), now_ms()).await.unwrap();
    store.give_to_group(cloud.resource, &team.0.to_string(), now_ms()).await.unwrap();
    cloud.identity(&bob, "laptop", TokenScope { read_only: true, ..TokenScope::default() }).await;
    let client = connect(cloud.running.coaps, "bob/laptop").await.unwrap();
    let query = format!("id={}", cloud.resource.0);
    let (client, answer) = ask(client, get(1, &["resources", "data"], &query, true)).await;
    assert_eq!(answer, Some(Code::CONTENT));
    cloud.store(2.0).await;
    let (client, _) = notified(client, 1, Code::CONTENT, r#""value":2.0"#).await;
    store.take_from_group(&team.0.to_string(), &cloud.resource.0.to_string()).await.unwrap();
    cloud.store(3.0).await;
    let (client, heard) = notified(client, 1, Code::FORBIDDEN, "").await;
    assert!(!heard.contains(r#""value":3.0"#), "{heard}");
    // The session stays: it is good for what is bob's.
    let (client, code) = ask(client, get(2, &["resources"], "", false)).await;
    assert_eq!((code, client.is_closed()), (Some(Code::CONTENT), false));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_ends_when_its_user_is_disabled_or_its_only_resource_goes() {
    let cloud = start().await;
    let (address, store) = (cloud.running.coaps, &cloud.running.store);
    cloud.whole("laptop").await;
    let only = TokenScope { resource: Some(cloud.resource), ..TokenScope::default() };
    cloud.identity(&cloud.ann, "gauge", only).await;
    let (laptop, gauge) =
        (connect(address, "ann/laptop").await.unwrap(), connect(address, "ann/gauge").await.unwrap());
    let (gauge, code) = ask(gauge, get(1, &["resources"], "", false)).await;
    assert_eq!(code, Some(Code::CONTENT));
    store.delete_resource(cloud.resource).await.unwrap();
    let (gauge, code) = ask(gauge, get(2, &["users"], "", false)).await;
    assert_eq!((code, gauge.is_closed()), (None, true));
    assert!(connect(address, "ann/gauge").await.is_none());

    let disable = |disabled| UserChange { disabled: Some(disabled), ..UserChange::default() };
    store.change_user(&cloud.ann, disable(true), None).await.unwrap();
    let (laptop, code) = ask(laptop, get(1, &["users"], "", false)).await;
    assert_eq!((code, laptop.is_closed()), (None, true));
    assert!(connect(address, "ann/laptop").await.is_none());
    store.change_user(&cloud.ann, disable(false), None).await.unwrap();
    let laptop = connect(address, "ann/laptop").await.unwrap();
    let (_, code) = ask(laptop, get(2, &["users"], "", false)).await;
    assert_eq!(code, Some(Code::CONTENT));
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_of_users_go_on_with_the_next_cloud_but_those_that_have_ended_meanwhile() {
    let cloud = start().await;
    let address = cloud.running.coaps;
    for label in ["kept", "revoked"] {
        cloud.whole(label).await;
    }
    let (kept, mut revoked) =
        (connect(address, "ann/kept").await.unwrap(), connect(address, "ann/revoked").await.unwrap());
    let Cloud { running, directory, ann, .. } = cloud;
    running.stop().await.unwrap();
    let offline = sixlock_cloud::Offline::open(directory.path()).await.unwrap();
    offline.remove_identity(&ann, "revoked").await.unwrap();
    offline.close().await.unwrap();
    let running = run(directory.path(), Some(address)).await;
    let (_, code) = ask(kept, get(1, &["users"], "", false)).await;
    assert_eq!(code, Some(Code::CONTENT));
    let http = running.http;
    let refused = move || {
        assert_eq!(metric(http, "sixlock_dtls_handshakes_total "), Some(0));
        let record = revoked.seal(&get(1, &["users"], "", false)).unwrap();
        revoked.send(&record);
        while metric(http, "sixlock_dtls_no_session_total ") != Some(1) {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    };
    spawn_blocking(refused).await.unwrap();
    let record = std::fs::read_to_string(directory.path().join("audit.jsonl")).unwrap();
    let line = record.lines().find(|line| line.contains("identity_revoked")).unwrap();
    assert!(line.contains(r#""what":"/api/v1/users/ann/identities/revoked""#), "{line}");
    running.stop().await.unwrap();
}

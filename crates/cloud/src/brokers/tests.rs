//! Publishing to brokers that do as they are told here: these of programs are in `interop/tests/mqtt.rs`.

use sixlock_ingest::Reading;
use sixlock_store::{
    Append, BrokerDevices, BrokerFormat, BrokerSettings, Device, Idempotency, NewBroker, ResourceId, Role,
    User, UserChange,
};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::*;
use crate::pollers::Purpose;

/// A user with a device, and with a broker.
pub(super) struct Bench {
    pub(super) store: Store,
    ann: User,
    broker: BrokerId,
    resource: ResourceId,
    _directory: TempDir,
}

impl Bench {
    pub(super) async fn new(url: &str, qos: u8) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let (store, _writer) = Store::open(directory.path()).await.unwrap();
        let ann = store.add_user("ann", "", "a long password".into(), false).await.unwrap();
        let resource = store.enrol(ann.id, Device::named("room")).await.unwrap().resource.id;
        let settings = BrokerSettings {
            label: "home".into(),
            url: url.into(),
            username: None,
            authority: None,
            prefix: "p".into(),
            qos,
            retain: false,
            format: BrokerFormat::Json,
        };
        let new = NewBroker { settings, password: None, client_id: None, devices: BrokerDevices::All };
        let broker = store.add_broker(ann.id, new).await.unwrap().id;
        Self { store, ann, broker, resource, _directory: directory }
    }

    /// Stores a reading of this time.
    pub(super) async fn append(&self, time: i64) {
        let reading = Reading { stream: "t".into(), unit: None, time, value: 1.0.into() };
        let (resource, idempotency) = (self.resource, Idempotency::unique().unwrap());
        self.store.append(Append { resource, idempotency, readings: vec![reading] }).await.unwrap();
    }

    /// Publishes until the sender is dropped, and says how that goes.
    fn publish(&self) -> (watch::Sender<bool>, States) {
        let guard = Guard::new(Purpose::Brokers, vec!["127.0.0.0/8".parse().unwrap()], Vec::new());
        let (states, (stop, stopping)) = (States::default(), watch::channel(false));
        let dialer = Dialer::new(guard).unwrap();
        let brokers = Brokers::new(self.store.clone(), Events::unheard(), dialer, states.clone());
        tokio::spawn(brokers.run(stopping));
        (stop, states)
    }
}

/// A client that a broker has taken.
struct Client(TcpStream);

impl Client {
    async fn of(listener: &TcpListener) -> Self {
        let mut client = Self(listener.accept().await.unwrap().0);
        assert_eq!(client.next().await.unwrap()[0], 0x10, "CONNECT");
        client.say(&[0x20, 2, 0, 0]).await;
        client
    }

    async fn say(&mut self, packet: &[u8]) {
        self.0.write_all(packet).await.unwrap();
    }

    /// The next packet, none of which is long here; nothing if the client has gone.
    async fn next(&mut self) -> Option<Vec<u8>> {
        let mut begin = [0; 2];
        self.0.read_exact(&mut begin).await.ok()?;
        let mut packet = vec![0; usize::from(begin[1] & 0x7f)];
        self.0.read_exact(&mut packet).await.ok()?;
        Some([&begin[..], &packet].concat())
    }
}

async fn listener() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("mqtt://{}", listener.local_addr().unwrap());
    (listener, url)
}

const PING_ANSWER: [u8; 2] = [0xd0, 0];

fn tells(packet: &[u8], time: i64) -> bool {
    String::from_utf8_lossy(packet).contains(&format!("{{\"time\":{time},"))
}

#[tokio::test]
async fn without_acknowledgements_a_message_counts_when_the_broker_has_answered_behind_it() {
    let (listener, url) = listener().await;
    let bench = Bench::new(&url, 0).await;
    let (_stop, states) = bench.publish();
    bench.append(7).await;
    let mut client = Client::of(&listener).await;
    let first = client.next().await.unwrap();
    assert!(first[0] == 0x30 && tells(&first, 7), "{first:?}");
    assert_eq!(client.next().await.unwrap(), packets::PING);
    // The connection breaks before the answer: the message is published again.
    drop(client);
    let mut client = Client::of(&listener).await;
    assert_eq!(client.next().await.unwrap(), first);
    assert_eq!(client.next().await.unwrap(), packets::PING);
    let published = || states.get(bench.broker).unwrap().progress.published;
    assert_eq!(published(), 0);
    // What is stored meanwhile waits, and is not what the answer is about.
    bench.append(8).await;
    client.say(&PING_ANSWER).await;
    let second = client.next().await.unwrap();
    assert!(tells(&second, 8), "{second:?}");
    assert_eq!(client.next().await.unwrap(), packets::PING, "for the second");
    while published() == 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(published(), 1);
    client.say(&PING_ANSWER).await;
    while published() < 2 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn nothing_of_a_user_is_published_any_more_who_has_become_a_viewer() {
    let (listener, url) = listener().await;
    let bench = Bench::new(&url, 1).await;
    let (_stop, states) = bench.publish();
    bench.append(7).await;
    let mut client = Client::of(&listener).await;
    let first = client.next().await.unwrap();
    assert!(first[0] == 0x32 && tells(&first, 7), "{first:?}");
    let role = |role| UserChange { role: Some(role), ..UserChange::default() };
    bench.store.change_user(&bench.ann, role(Role::Viewer), None).await.unwrap();
    bench.append(8).await;
    assert_eq!(client.next().await, None);
    assert!(states.get(bench.broker).is_none());
    // What has waited goes out when they may publish again.
    bench.store.change_user(&bench.ann, role(Role::Member), None).await.unwrap();
    let mut client = Client::of(&listener).await;
    for time in [7, 8] {
        let packet = client.next().await.unwrap();
        assert!(tells(&packet, time), "{packet:?}");
    }
}

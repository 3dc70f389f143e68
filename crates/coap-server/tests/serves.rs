//! A server whose service, directory and storage are in memory.

mod device;
mod memory;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use device::{Device, message, response, socket};
use memory::{Keys, Memory, Value, identity, key};
use sixlock_coap_msg::{Code, OptionNumber};
use sixlock_coap_server::{Config, Server, SessionStorage, Sockets, bind_all};
use sixlock_telemetry::Events;
use tokio::sync::watch;

const ANY: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);

struct Running {
    server: Server,
    secure: SocketAddr,
    plain: SocketAddr,
    stop: watch::Sender<bool>,
}

/// Starts a server with `shards` shards at this address.
async fn start(
    (address, shards): (SocketAddr, u16),
    (value, keys): (&Arc<Value>, &Arc<Keys>),
    storage: Arc<dyn SessionStorage>,
) -> Running {
    let (secure_sockets, secure) = bind_all(address, shards).unwrap();
    let (plain_sockets, plain) = bind_all(ANY, shards).unwrap();
    let sockets = secure_sockets.into_iter().zip(plain_sockets.into_iter().map(Some));
    let (stop, stopping) = watch::channel(false);
    let config = Config {
        sockets: sockets.map(|(secure, plain)| Sockets { secure, plain }).collect(),
        max_sessions: 8,
        initial_timeout: Duration::from_millis(50),
        retransmissions: 3,
        id_key: [1; 16],
        critical_options: &[OptionNumber::URI_PATH],
        ticket_keys: None,
        clock: || 1_000,
        events: Events::unheard(),
        stopping,
        patience: Duration::from_secs(60),
    };
    let server = Server::start(config, value.clone(), keys.clone(), storage).await.unwrap();
    Running { server, secure, plain, stop }
}

impl Running {
    async fn stop(self) {
        self.stop.send_replace(true);
        tokio::task::spawn_blocking(|| self.server.join()).await.unwrap().unwrap();
    }
}

fn connect(server: SocketAddr, number: i64) -> Option<Device> {
    Device::connect(server, &identity(number), &key(number))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_with_a_key_is_served_and_its_session_ends_with_its_credential() {
    let (value, keys) = (Value::new(), Keys::of_devices(2));
    let running = start((ANY, 2), (&value, &keys), Arc::new(Memory::default())).await;
    let [mut first, mut second] = [0, 1].map(|number| connect(running.secure, number).unwrap());
    assert_eq!(first.ask(Code::GET, b""), Some((Code::CONTENT, b"first".to_vec())));
    assert_eq!(first.ask(Code::PUT, b"second"), Some((Code::CHANGED, Vec::new())));
    assert_eq!(second.ask(Code::GET, b""), Some((Code::CONTENT, b"second".to_vec())));
    keys.revoke(0).await;
    assert_eq!(first.ask(Code::GET, b""), None);
    assert!(second.ask(Code::GET, b"").is_some());
    running.stop().await;
}

/// The shard that serves the request also has to close sessions, and so has the other, which may be gone by then.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_ends_a_credential_is_answered_by_a_server_that_stops() {
    let keys = Keys::of_devices(2);
    let value = Value::that_ends(&keys);
    let running = start((ANY, 2), (&value, &keys), Arc::new(Memory::default())).await;
    let [mut device, _other] = [0, 1].map(|number| connect(running.secure, number).unwrap());
    let asking = tokio::task::spawn_blocking(move || device.ask(Code::DELETE, &[1]));
    value.deleting.subscribe().wait_for(|deleting| *deleting > 0).await.unwrap();
    running.stop.send_replace(true);
    value.stopping.send_replace(true);
    assert_eq!(asking.await.unwrap(), Some((Code::DELETED, Vec::new())));
    running.stop().await;
}

/// The client shows where it is, and says nothing more.
#[tokio::test(flavor = "multi_thread")]
async fn a_flight_is_sent_again_as_often_as_the_server_is_told() {
    let (value, keys) = (Value::new(), Keys::of_devices(1));
    let running = start((ANY, 1), (&value, &keys), Arc::new(Memory::default())).await;
    let secure = running.secure;
    let flights = tokio::task::spawn_blocking(move || device::flights_without_an_answer(secure));
    // The first, and three more: then the handshake is over.
    assert_eq!(flights.await.unwrap(), 4);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn open_sessions_go_on_with_the_next_server() {
    let (value, keys, storage) = (Value::new(), Keys::of_devices(8), Arc::new(Memory::default()));
    let first = start((ANY, 2), (&value, &keys), storage.clone()).await;
    let address = first.secure;
    let mut devices: Vec<_> = (0..4).map(|number| connect(address, number).unwrap()).collect();
    first.stop().await;
    assert_eq!(storage.open_sessions(), 4);
    let next = start((address, 2), (&value, &keys), storage.clone()).await;
    assert_eq!(storage.open_sessions(), 0, "they go on once at most");
    for device in &mut devices {
        assert_eq!(device.ask(Code::GET, b""), Some((Code::CONTENT, b"first".to_vec())));
    }
    next.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_observer_without_dtls_is_told_of_what_a_device_puts_and_may_not_put_itself() {
    let (value, keys) = (Value::new(), Keys::of_devices(1));
    let running = start((ANY, 1), (&value, &keys), Arc::new(Memory::default())).await;
    let observer = socket(running.plain);
    let told = |id: u16, send: Option<&[u8]>| {
        let mut datagram = [0; 256];
        loop {
            if let Some(message) = send {
                observer.send(message).unwrap();
            }
            while let Ok(length) = observer.recv(&mut datagram) {
                if let Some(response) = response(&datagram[..length], id) {
                    return response;
                }
            }
        }
    };
    assert_eq!(told(1, Some(&message(Code::PUT, 1, None, b"mine"))).0, Code::FORBIDDEN);
    let observe = message(Code::GET, 2, Some(0), b"");
    assert_eq!(told(2, Some(&observe)), (Code::CONTENT, b"first".to_vec()));
    let mut device = connect(running.secure, 0).unwrap();
    assert_eq!(device.ask(Code::PUT, b"second"), Some((Code::CHANGED, Vec::new())));
    // The first answer may come again.
    while told(2, None).1 != b"second" {}
    running.stop().await;
}

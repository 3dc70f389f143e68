//! Serves `/greeting` by CoAP over DTLS to one device with a pre-shared key. It needs no database and no files.
//!
//! ```text
//! cargo run -p sixlock-coap-server --example coaps_server
//! coap-client-openssl -m get -u device -k 0123456789abcdef coaps://127.0.0.1:5684/greeting
//! ```

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use sixlock_coap_msg::{Code, ContentFormat, Message};
use sixlock_coap_server::{
    Answer, Answering, Changes, Config, CredentialId, DeviceId, Directory, Holder, KeyOperation, Known,
    LookUpFailed, NoStorage, ObservedTopics, Peer, Performed, Revocation, Server, Service, Sockets, Topic,
    bind_all,
};
use sixlock_dtls::Credentials;
use sixlock_endpoint::AuthenticationMethod;
use sixlock_telemetry::Events;
use tokio::sync::watch;
use zeroize::Zeroizing;

const ADDRESS: &str = "127.0.0.1:5684";
const IDENTITY: &[u8] = b"device";
const KEY: &[u8] = b"0123456789abcdef";

/// Answers `GET /greeting`.
struct Greeting;

impl Service for Greeting {
    /// Whether the request asks for the greeting, or the code of its refusal.
    type Request = Result<(), Code>;
    type Changes = NoChanges;

    fn read(&self, message: &Message<'_>, _longest_answer: usize) -> Self::Request {
        match (message.code(), message.path().eq([b"greeting"])) {
            (Code::GET, true) => Ok(()),
            (_, true) => Err(Code::METHOD_NOT_ALLOWED),
            (_, false) => Err(Code::NOT_FOUND),
        }
    }

    fn topic(&self, _: &Self::Request) -> Option<Topic> {
        None
    }

    fn answer(
        self: Arc<Self>,
        peer: Peer,
        request: Self::Request,
    ) -> Answering<impl Future<Output = Answer> + Send + 'static> {
        Answering::<std::future::Ready<Answer>>::Now(match request {
            Ok(()) => {
                let payload = format!("Hello, {}!\n", peer.from).into_bytes();
                Answer { format: Some(ContentFormat::TEXT), payload, ..Answer::new(Code::CONTENT) }
            }
            Err(code) => Answer::new(code),
        })
    }

    async fn notification(self: Arc<Self>, _: Peer, _: Self::Request) -> Answer {
        Answer::new(Code::NOT_FOUND)
    }

    fn changes(&self) -> NoChanges {
        NoChanges
    }
}

/// The greeting never changes.
struct NoChanges;

impl Changes for NoChanges {
    fn skip(&mut self) {}

    async fn next(&mut self, _: &ObservedTopics) -> BTreeSet<Topic> {
        std::future::pending().await
    }
}

/// Knows one device.
struct OneDevice;

impl Directory for OneDevice {
    type KeyPair = ();

    async fn look_up(
        &self,
        method: AuthenticationMethod,
        identity: &[u8],
    ) -> Result<Option<Known>, LookUpFailed> {
        let is_known = method == AuthenticationMethod::PreSharedKey && identity == IDENTITY;
        Ok(is_known.then(|| Known {
            credential: CredentialId(1),
            holder: Holder::Device(DeviceId(1)),
            key: Zeroizing::new(KEY.to_vec()),
            expires: None,
        }))
    }

    async fn next_revocation(&self) -> Option<Revocation> {
        None
    }

    fn credentials(&self) -> Option<&'static Credentials> {
        None
    }

    fn perform(&self, _: &KeyOperation, _: &mut Option<()>) -> Performed {
        Performed::REFUSED
    }

    fn on_certificate(&self, _: &[u8], _: &[u8]) {}
}

/// The present time, in milliseconds since 1970.
fn now_ms() -> i64 {
    SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_millis() as i64)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut id_key = [0; 16];
    getrandom::fill(&mut id_key).map_err(std::io::Error::other)?;
    let (sockets, address) = bind_all(ADDRESS.parse::<SocketAddr>()?, 1)?;
    let (_stop, stopping) = watch::channel(false);
    let config = Config {
        sockets: sockets.into_iter().map(|secure| Sockets { secure, plain: None }).collect(),
        max_sessions: 100,
        initial_timeout: Duration::from_secs(3),
        retransmissions: 10,
        id_key,
        critical_options: &[
            sixlock_coap_msg::OptionNumber::URI_HOST,
            sixlock_coap_msg::OptionNumber::URI_PATH,
        ],
        ticket_keys: None,
        clock: now_ms,
        events: Events::unheard(),
        stopping,
        patience: Duration::from_secs(4),
    };
    let server = Server::start(config, Arc::new(Greeting), Arc::new(OneDevice), Arc::new(NoStorage)).await?;
    println!("serves coaps://{address}/greeting");
    Ok(server.join()?)
}

//! The cloud polls the servers of libcoap.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sixlock_base::Security;
use sixlock_cloud::{Config, Device, LONGEST_PAGE, Page, ResourceId, Running};
use sixlock_interop::{LibcoapServer, PATIENCE};
use tempfile::TempDir;

const IDENTITY: &str = "the-cloud";
const KEY: &str = "0123456789abcdef0123456789abcdef";

struct Cloud {
    running: Running,
    directory: TempDir,
    resource: ResourceId,
}

impl Cloud {
    async fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let poll_allow = vec!["127.0.0.1".parse().unwrap()];
        let config = Config { max_sessions: 100, poll_allow, ..Config::on_loopback(directory.path()) };
        let running = sixlock_cloud::start(config, None).await.unwrap();
        let device = Device {
            label: "node".into(),
            mode: Security::default(),
            identity: None,
            key: None,
            valid_s: None,
        };
        let resource = running.enrol(device).await.unwrap().resource.id;
        Self { running, directory, resource }
    }

    fn ask(&self, method: &str, body: &str) -> Value {
        let token = std::fs::read_to_string(self.directory.path().join("admin-token")).unwrap();
        let mut stream = TcpStream::connect(self.running.http).unwrap();
        let head = format!(
            "{method} /api/v1/users/admin/resources/node/poller HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\
             Authorization: Bearer {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            self.running.http,
            token.trim(),
            body.len()
        );
        stream.write_all((head + body).as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        serde_json::from_str(body).unwrap_or_else(|_| panic!("{answer}"))
    }

    async fn values(&self) -> usize {
        let Some(stream) = self.running.store.stream(self.resource, "t").await.unwrap() else { return 0 };
        let page = Page { limit: LONGEST_PAGE, from: None, until: None };
        let points = self.running.store.points(stream.id, page).await.unwrap();
        assert!(points.iter().all(|point| point.value == 21.5), "{points:?}");
        points.len()
    }

    /// Waits until so many values are stored.
    async fn stored(&self, values: usize) {
        let end = Instant::now() + 2 * PATIENCE;
        while self.values().await < values {
            assert!(Instant::now() < end, "{}", self.ask("GET", ""));
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// Three polls of a server, in one session if it is secured.
async fn polls(program: &str, secure: bool) {
    let credential: &[&str] = if secure { &["-u", IDENTITY, "-k", KEY] } else { &[] };
    let server = LibcoapServer::start(program, credential);
    let cloud = Cloud::start().await;
    let mut settings = json!({"url": server.url(secure), "period": 5});
    if secure {
        (settings["identity"], settings["key"]) = (IDENTITY.into(), KEY.into());
    }
    cloud.ask("PUT", &settings.to_string());
    cloud.stored(3).await;
    let shown = cloud.ask("GET", "");
    assert_eq!((&shown["last_error"], &shown["failures"]), (&Value::Null, &0.into()), "{shown}");
    if secure {
        cloud.running.stop().await.unwrap();
        let disconnected = server.process().prints("session disconnected", PATIENCE);
        let output = server.process().output();
        assert!(disconnected, "{output}");
        assert_eq!(output.matches("DTLS: session connected").count(), 1, "{output}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_over_openssl_is_polled_in_one_session() {
    polls("coap-server-openssl", true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_over_gnutls_is_polled_in_one_session() {
    polls("coap-server-gnutls", true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_without_security_is_polled() {
    polls("coap-server-notls", false).await;
}

//! The cloud's CoAP with clients of others: content in blocks both ways, its state, and observers.

use std::fs;
use std::path::PathBuf;

use sixlock_cloud::{
    Append, Config, Device, Idempotency, LONGEST_PAGE, Page, Reading, ResourceId, Running, Secret,
    Transmission,
};
use sixlock_dtls::{Failure, Refusal};
use sixlock_interop::{Credential, PATIENCE, Process, SecureServer, Seen};
use tempfile::TempDir;

const KEY: &str = "0123456789abcdef0123456789abcdef";
/// The longest that tinydtls takes.
const SHORT_KEY: &str = "0123456789abcdef";
const STREAMS: usize = 40;
/// Python with aiocoap and tinydtls.
const PYTHON: &str = "DTLSSocket-python3";

struct Cloud {
    running: Running,
    directory: TempDir,
    resource: ResourceId,
}

impl Cloud {
    async fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let config = Config::on_loopback(directory.path());
        let config = Config { coap: Some(config.coaps), max_sessions: 100, ..config };
        let running = sixlock_cloud::start(config, None).await.unwrap();
        let key = Some(Secret::new(KEY.into()));
        let device = Device { key, ..Device::named("node") };
        let resource = running.enrol(device).await.unwrap().resource.id;
        Self { running, directory, resource }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Readings of as many streams as do not fit a datagram, in a file.
    fn readings(&self) -> PathBuf {
        let records: Vec<String> =
            (0..STREAMS).map(|n| format!(r#"{{"n":"stream-{n:02}","u":"Cel","v":{n}.5}}"#)).collect();
        let file = self.file("readings");
        fs::write(&file, format!("[{}]", records.join(","))).unwrap();
        file
    }

    /// How many streams have a point, which has to be the one of the readings.
    async fn stored(&self) -> usize {
        let streams = self.running.store.streams(self.resource).await.unwrap();
        for (n, stream) in streams.iter().enumerate() {
            let page = Page { limit: LONGEST_PAGE, from: None, until: None };
            let points = self.running.store.points(stream.id, page).await.unwrap();
            assert_eq!(
                points.iter().map(|point| point.value.number().unwrap()).collect::<Vec<_>>(),
                [n as f64 + 0.5]
            );
        }
        streams.len()
    }

    /// What is sent by whoever has no session.
    fn credentials(&self) -> String {
        format!("resource={}&key={KEY}", self.resource.0)
    }

    /// A client of libcoap, plain or over a library for DTLS.
    fn libcoap(&self, library: &str, arguments: &[&str], path: &str) -> Process {
        let (uri, credentials) = match library {
            "notls" => {
                let address = self.running.coap.unwrap();
                let joint = if path.contains('?') { '&' } else { '?' };
                let credentials = format!("{joint}{}", self.credentials());
                (format!("coap://{address}/{path}{credentials}"), vec![])
            }
            _ => (format!("coaps://{}/{path}", self.running.coaps), vec!["-u", "node", "-k", KEY]),
        };
        let program = format!("coap-client-{library}");
        let arguments = [&credentials[..], &["-v", "6"], arguments, &[&uri]].concat();
        Process::start(&program, "libcoap3-bin", &arguments)
    }

    /// What such a client is told.
    async fn succeed(&self, library: &str, arguments: &[&str], path: &str) -> String {
        let mut client = self.libcoap(library, &[&["-B", "90"], arguments].concat(), path);
        let done = tokio::task::spawn_blocking(move || (client.succeeds(PATIENCE), client.output()));
        let (succeeded, output) = done.await.unwrap();
        assert!(succeeded, "{output}");
        output
    }

    async fn takes_and_gives_blocks(&self, library: &str) {
        let (readings, list) = (self.readings(), self.file("list"));
        let (readings, list) = (readings.to_str().unwrap(), list.to_str().unwrap());
        let post = ["-m", "post", "-t", "110", "-b", "128", "-f", readings];
        let output = self.succeed(library, &post, "resources/data").await;
        assert_eq!(self.stored().await, STREAMS, "{output}");
        for size in ["1024", "64"] {
            let output = self.succeed(library, &["-b", size, "-o", list], "resources/data").await;
            let text = fs::read_to_string(list).unwrap();
            assert_eq!(text.matches("stream-").count(), STREAMS, "{text} {output}");
            fs::remove_file(list).unwrap();
        }
    }

    /// Stores a value behind the others of a stream.
    async fn store(&self, stream: &str, value: f64) {
        let (stream, unit) = (stream.to_owned(), Some("Cel".to_owned()));
        let reading = Reading { stream, unit, time: now_ms(), value: value.into() };
        let transmission =
            Transmission { association: b"test", message_id: value as u16, token: &value.to_be_bytes() };
        let idempotency = Idempotency::of(self.resource, transmission, b"");
        let append = Append { resource: self.resource, idempotency, readings: vec![reading] };
        self.running.store.append(append).await.unwrap();
    }

    async fn is_observed(&self, library: &str) {
        self.store("t", 1.5).await;
        let stream = self.running.store.stream(self.resource, "t").await.unwrap().unwrap().id.0;
        let path = format!("streams/data?id={stream}&limit=1");
        let client = self.libcoap(library, &["-s", "60", "-A", "0"], &path);
        assert!(client.prints(" 1.5 t", PATIENCE), "{}", client.output());
        for value in [2.5, 3.5, 4.5] {
            self.store("t", value).await;
            assert!(client.prints(&format!(" {value} t"), PATIENCE), "{}", client.output());
        }
    }
}

fn now_ms() -> i64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis() as i64
}

#[tokio::test(flavor = "multi_thread")]
async fn libcoap_observes_a_stream() {
    Cloud::start().await.is_observed("notls").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn libcoap_observes_a_stream_over_dtls() {
    Cloud::start().await.is_observed("openssl").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn aiocoap_posts_reads_changes_and_observes() {
    const CLIENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/aiocoap/client.py");
    let cloud = Cloud::start().await;
    let server = cloud.running.coap.unwrap().to_string();
    let (credentials, readings) = (cloud.credentials(), cloud.readings());
    let arguments = ["-u", CLIENT, &server, &credentials, readings.to_str().unwrap()];
    // It is no package of Debian's: ./test puts it in place.
    let client = Process::start(PYTHON, "python3-venv, and run ./test", &arguments);
    for line in
        ["challenged", "links 5", "posted 2.04", "listed 40", "same 2.03", "changed 2.04", "stale 4.12"]
    {
        assert!(client.prints(line, PATIENCE), "{line}: {}", client.output());
    }
    assert!(client.prints("observes 0.5", PATIENCE), "{}", client.output());
    for value in [98.5, 99.5] {
        cloud.store("stream-00", value).await;
        assert!(client.prints(&format!("notified {value}"), PATIENCE), "{}", client.output());
    }
    assert!(client.prints("done", PATIENCE), "{}", client.output());
}

/// A client of aiocoap over tinydtls.
fn tinydtls(server: &str, key: &str) -> Process {
    const CLIENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/aiocoap/secure.py");
    let arguments = ["-u", CLIENT, server, "tiny", key];
    Process::start(PYTHON, "python3-venv, and run ./test", &arguments)
}

#[tokio::test(flavor = "multi_thread")]
async fn aiocoap_posts_and_reads_over_tinydtls() {
    let cloud = Cloud::start().await;
    let key = Some(Secret::new(SHORT_KEY.into()));
    let device = Device { key, ..Device::named("tiny") };
    let resource = cloud.running.enrol(device).await.unwrap().resource.id;
    let client = tinydtls(&cloud.running.coaps.to_string(), SHORT_KEY);
    for line in ["posted 2.04", r#""label":"tiny""#, "done"] {
        assert!(client.prints(line, PATIENCE), "{line}: {}", client.output());
    }
    assert_eq!(cloud.running.store.streams(resource).await.unwrap().len(), 1);
}

#[test]
fn a_client_over_tinydtls_with_another_key_is_refused() {
    let hasty = sixlock_dtls::Config { bad_records: 1, ..sixlock_dtls::Config::HOST };
    let credential = Credential { identity: "tiny".into(), key: SHORT_KEY.into() };
    let mut server = SecureServer::bind(credential, hasty);
    let client = tinydtls(&server.address().to_string(), "another key");
    let seen = server.first(PATIENCE);
    assert_eq!(seen, Some(Seen::Failed(Failure::Authentication(Refusal::WrongKey))), "{}", client.output());
}

#[tokio::test(flavor = "multi_thread")]
async fn blocks_of_libcoap_are_put_together_and_the_clouds_by_libcoap() {
    Cloud::start().await.takes_and_gives_blocks("notls").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn so_they_are_over_dtls() {
    Cloud::start().await.takes_and_gives_blocks("openssl").await;
}

//! The cloud polls the servers of libcoap, and those of aiocoap and Californium.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sixlock_cloud::public_keys::{KeyPair, pem};
use sixlock_cloud::{CertificateTerms, Config, Device, LONGEST_PAGE, Page, ResourceId, Running, Secret};
use sixlock_dtls::Suite;
use sixlock_interop::{
    Authentication, Authority, Credential, LibcoapServer, PATIENCE, Peer, Process, Settings, californium,
    on_free_ports,
};
use tempfile::TempDir;

const IDENTITY: &str = "the-cloud";
const KEY: &str = "0123456789abcdef0123456789abcdef";

/// Of a certificate for who is polled.
const SERVER: CertificateTerms = CertificateTerms { valid_s: None, server: true };

fn config(directory: &TempDir) -> Config {
    let poll_allow = vec!["127.0.0.1".parse().unwrap()];
    Config { max_sessions: 100, poll_allow, ..Config::on_loopback(directory.path()) }
}

struct Cloud {
    running: Running,
    directory: TempDir,
    resource: ResourceId,
}

impl Cloud {
    async fn start() -> Self {
        let device = Device::named("node");
        Self::start_with(device).await.0
    }

    /// A cloud that knows this device, and the certificate that it made for it, if it did.
    async fn start_with(device: Device) -> (Self, Option<Vec<u8>>) {
        let directory = tempfile::tempdir().unwrap();
        let running = sixlock_cloud::start(config(&directory), None).await.unwrap();
        let enrolled = running.enrol(device).await.unwrap();
        (Self { running, directory, resource: enrolled.resource.id }, enrolled.certificate)
    }

    async fn restart(self) -> Self {
        let Self { running, directory, resource } = self;
        running.stop().await.unwrap();
        let running = sixlock_cloud::start(config(&directory), None).await.unwrap();
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
        assert!(points.iter().all(|point| point.value.number() == Some(21.5)), "{points:?}");
        points.len()
    }

    /// Waits until so many values are stored.
    async fn stored(&self, values: usize) {
        self.stored_of(values, String::new).await;
    }

    /// The same of a server whose output tells what went wrong.
    async fn stored_of(&self, values: usize, output: impl Fn() -> String) {
        let end = Instant::now() + 2 * PATIENCE;
        while self.values().await < values {
            assert!(Instant::now() < end, "{}\n{}", self.ask("GET", ""), output());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// A server, with a pre-shared key if it is secured, and how it is polled.
fn server(program: &str, secure: bool) -> (LibcoapServer, Value) {
    let credential: &[&str] = if secure { &["-u", IDENTITY, "-k", KEY] } else { &[] };
    let server = LibcoapServer::start(program, credential);
    let mut settings = json!({"url": server.url(secure), "period": 5});
    if secure {
        (settings["identity"], settings["key"]) = (IDENTITY.into(), KEY.into());
    }
    (server, settings)
}

/// Three polls of a server, in one session if it is secured.
async fn polls(program: &str, secure: bool) {
    let (server, settings) = server(program, secure);
    polls_so(Cloud::start().await, &server, settings, secure).await;
}

/// The same with a server that has a public key, raw or in a certificate of the cloud's authority.
async fn polls_by_public_key(program: &str, mode: &str) {
    let pair = KeyPair::random().unwrap();
    let public_key = pem::public_key(&pair.point);
    let key = Some(Secret::new(public_key.clone().into_bytes()));
    let mode = mode.parse().unwrap();
    let device = Device { mode, key, certificate: SERVER, ..Device::named("node") };
    let (cloud, certificate) = Cloud::start_with(device).await;
    let file = |name: &str, text: &str| {
        let path = cloud.directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let authority = file("cloud-authority.pem", &pem::certificate(cloud.running.own_keys().authority()));
    let shown = certificate.as_deref().map_or(public_key, pem::certificate);
    let own = file("server.pem", &format!("{}{shown}", &*pem::private_key(&pair)));
    let certified = ["-c", &own, "-C", &authority];
    let authentication: &[&str] = if certificate.is_some() { &certified } else { &["-M", &own] };
    let server = LibcoapServer::start(program, authentication);
    let settings = json!({"url": server.url(true), "period": 5});
    polls_so(cloud, &server, settings, true).await;
}

async fn polls_so(cloud: Cloud, server: &LibcoapServer, settings: Value, secure: bool) {
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
async fn the_server_over_openssl_is_polled_by_its_certificate() {
    polls_by_public_key("coap-server-openssl", "dtls-x509").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_over_openssl_is_polled_by_its_ticket_by_a_cloud_that_was_started_anew() {
    let (cloud, (server, settings)) = (Cloud::start().await, server("coap-server-openssl", true));
    cloud.ask("PUT", &settings.to_string());
    cloud.stored(1).await;
    let cloud = cloud.restart().await;
    cloud.stored(2).await;
    let output = server.process().output();
    let count = |what| output.matches(what).count();
    assert_eq!(count("DTLS: session connected"), 2, "{output}");
    assert_eq!((count("write session ticket"), count("read client key exchange")), (1, 1), "{output}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_over_gnutls_is_polled_by_its_certificate() {
    polls_by_public_key("coap-server-gnutls", "dtls-x509").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_over_gnutls_is_polled_by_its_raw_public_key() {
    polls_by_public_key("coap-server-gnutls", "dtls-rpk").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_without_security_is_polled() {
    polls("coap-server-notls", false).await;
}

/// What a server of OpenSSL that goes by `name` says of a poll of it as localhost.
async fn asked_as_localhost(name: &str, says: &str) {
    let key: String = KEY.bytes().map(|byte| format!("{byte:02x}")).collect();
    let cloud = Cloud::start().await;
    // It looks for names only where it has certificates.
    let [own, pair] =
        ["own.pem", "pair.pem"].map(|name| cloud.directory.path().join(name).display().to_string());
    let made = [
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-subj",
        "/CN=own",
    ];
    let made = [&made[..], &["-keyout", &pair, "-out", &own]].concat();
    assert!(Process::start("openssl", "openssl", &made).succeeds(PATIENCE));
    let certificates = ["-cert", &own, "-key", &pair, "-cert2", &own, "-key2", &pair];
    let arguments = ["s_server", "-dtls1_2", "-accept", "127.0.0.1:0", "-listen", "-mtu", "1200"];
    let psk = ["-cipher", "PSK-AES128-CCM8", "-psk_identity", IDENTITY, "-psk", &key];
    let named = ["-servername", name, "-servername_fatal"];
    let server =
        Process::start("openssl", "openssl", &[&arguments[..], &certificates, &psk, &named].concat());
    let Some(port) = server.line("ACCEPT 127.0.0.1:", PATIENCE) else { panic!("{}", server.output()) };
    let url = format!("coaps://localhost:{port}/reading");
    let settings = json!({"url": url, "period": 5, "identity": IDENTITY, "key": KEY});
    cloud.ask("PUT", &settings.to_string());
    assert!(server.prints(says, PATIENCE), "{}", server.output());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_is_asked_for_by_the_name_in_its_url() {
    asked_as_localhost("localhost", "Hostname in TLS extension: \"localhost\"").await;
    asked_as_localhost("other.example", "final_server_name:callback failed").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn aiocoaps_server_over_tinydtls_is_polled_in_one_session() {
    const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/aiocoap/server.py");
    // Tinydtls has room for no longer key.
    let key = &KEY[..16];
    let start = |port: u16| {
        let arguments = ["-u", SERVER, &port.to_string(), IDENTITY, key];
        // It is no package of Debian's: ./test puts it in place.
        Process::start("DTLSSocket-python3", "python3-venv, and run ./test", &arguments)
    };
    let (server, port) = on_free_ports(start, |server, _| server.prints_one_of(&["ready"], PATIENCE));
    let cloud = Cloud::start().await;
    let url = format!("coaps://127.0.0.1:{}/reading", port + 1);
    cloud.ask("PUT", &json!({"url": url, "period": 5, "identity": IDENTITY, "key": key}).to_string());
    cloud.stored_of(2, || server.output()).await;
    assert_eq!(cloud.ask("GET", "")["failures"], 0);
    assert_eq!(server.output().matches("connected from").count(), 1, "{}", server.output());
}

/// Two polls of Californium's server, in one session.
async fn polls_californium(
    cloud: Cloud,
    authentication: Authentication<'_>,
    suite: Suite,
    mut settings: Value,
) {
    let arguments = Settings { authentication, suites: &[suite], connection_id: None, server: None };
    let server = Peer::new(californium(env!("CARGO_TARGET_TMPDIR"), "Sensor", &arguments));
    settings["url"] = format!("coaps://{}/reading", server.address()).into();
    settings["period"] = 5.into();
    cloud.ask("PUT", &settings.to_string());
    cloud.stored(2).await;
    let shown = cloud.ask("GET", "");
    assert_eq!((&shown["last_error"], &shown["failures"]), (&Value::Null, &0.into()), "{shown}");
    assert_eq!(server.output().matches("session ").count(), 1, "{}", server.output());
}

#[tokio::test(flavor = "multi_thread")]
async fn californiums_server_is_polled_by_ephemeral_keys_beside_the_pre_shared_one() {
    let credential = Credential { identity: IDENTITY.into(), key: KEY.into() };
    let settings = json!({"identity": IDENTITY, "key": KEY});
    let authentication = Authentication::Shared(&credential);
    polls_californium(Cloud::start().await, authentication, Suite::EcdhePskAes128Ccm8, settings).await;
}

/// The same by its public key, raw or in a certificate of the cloud's authority.
async fn polls_californium_by_public_key(mode: &str) {
    let files = Authority::new();
    let public_key = std::fs::read_to_string(files.path("device.pub")).unwrap();
    let (mode, key) = (mode.parse().unwrap(), Some(Secret::new(public_key.into_bytes())));
    let device = Device { mode, key, certificate: SERVER, ..Device::named("node") };
    let (cloud, certificate) = Cloud::start_with(device).await;
    let own = cloud.running.own_keys();
    // What the cloud has signed takes the place of what another authority has.
    let authentication = match &certificate {
        Some(certificate) => {
            std::fs::write(files.path("device.pem"), pem::certificate(certificate)).unwrap();
            std::fs::write(files.path("authority.pem"), pem::certificate(own.authority())).unwrap();
            Authentication::Certificate(&files, "device")
        }
        None => {
            std::fs::write(files.path("the-cloud.pub"), pem::public_key(own.public_key())).unwrap();
            Authentication::Raw(&files, "device", "the-cloud")
        }
    };
    polls_californium(cloud, authentication, Suite::EcdheEcdsaAes128Ccm8, json!({})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn californiums_server_is_polled_by_its_raw_public_key() {
    polls_californium_by_public_key("dtls-rpk").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn californiums_server_is_polled_by_its_certificate() {
    polls_californium_by_public_key("dtls-x509").await;
}

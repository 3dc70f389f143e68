//! The cloud's CoAP over DTLS with Californium's client: every kind of thing that there is, and every way to prove whose it is.

use std::fs;

use sixlock_cloud::public_keys::pem;
use sixlock_cloud::{Config, Device, Running, Secret};
use sixlock_dtls::Suite;
use sixlock_interop::{Authentication, Authority, Credential, PATIENCE, Process, Settings, californium};
use tempfile::TempDir;

const SENML_JSON: u16 = 110;
const JSON: u16 = 50;
const READING: &str = r#"[{"n":"humidity","u":"%RH","v":43.5}]"#;

struct Cloud {
    running: Running,
    _directory: TempDir,
}

impl Cloud {
    async fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let running = sixlock_cloud::start(Config::on_loopback(directory.path()), None).await.unwrap();
        Self { running, _directory: directory }
    }

    /// Enrols a device; what comes is its certificate, if there is one.
    async fn enrol(&self, label: &str, mode: &str, key: &str) -> Option<String> {
        let key = Some(Secret::new(key.into()));
        let device = Device { mode: mode.parse().unwrap(), key, ..Device::named(label) };
        let enrolled = self.running.enrol(device).await.unwrap();
        enrolled.certificate.as_deref().map(pem::certificate)
    }

    fn client(&self, authentication: Authentication<'_>, suites: &[Suite]) -> Client {
        let settings =
            Settings { authentication, suites, connection_id: None, server: Some(self.running.coaps) };
        Client { process: californium(env!("CARGO_TARGET_TMPDIR"), "Client", &settings), asked: 0 }
    }
}

struct Client {
    process: Process,
    asked: usize,
}

impl Client {
    /// What is answered: its code, and what it says.
    fn ask(&mut self, method: &str, path: &str, content: Option<(u16, &str)>) -> (String, String) {
        let content = content.map(|(format, payload)| format!(" {format} {payload}")).unwrap_or_default();
        self.process.write(&format!("{method} {path}{content}\n"));
        self.asked += 1;
        // A Java machine starts slowly.
        let line = self.process.nth_line("answer ", self.asked, 4 * PATIENCE);
        let Some(line) = line else { panic!("{method} {path}: {}", self.process.output()) };
        let (code, said) = line.split_once(' ').unwrap_or((&line, ""));
        (code.to_owned(), said.to_owned())
    }

    /// Asks what is answered by this code.
    fn is_told(&mut self, code: &str, method: &str, path: &str, content: Option<(u16, &str)>) -> String {
        let (answered, said) = self.ask(method, path, content);
        assert_eq!(answered, code, "{method} {path}: {said}");
        said
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_of_the_five_kinds_is_created_changed_and_read_or_refused() {
    let cloud = Cloud::start().await;
    let credential = Credential { identity: b"node".into(), key: b"0123456789abcdef".into() };
    cloud.enrol("node", "dtls-psk", "0123456789abcdef").await;
    let mut client = cloud.client(Authentication::Shared(&credential), &[Suite::PskAes128Ccm8]);
    tokio::task::block_in_place(|| {
        // Users are made and changed by people.
        let user = client.is_told("2.05", "GET", "users", None);
        assert!(user.contains(r#""username":"admin""#), "{user}");
        let another = Some((JSON, r#"{"username":"another"}"#));
        client.is_told("4.03", "POST", "users", another);
        client.is_told("4.03", "PUT", "users", another);

        // So are devices; one describes itself.
        client.is_told("4.03", "POST", "resources", Some((JSON, r#"{"label":"another"}"#)));
        client.is_told("2.04", "PUT", "resources", Some((JSON, r#"{"description":"in the shed"}"#)));
        let resource = client.is_told("2.05", "GET", "resources", None);
        for text in [r#""label":"node""#, r#""description":"in the shed""#] {
            assert!(resource.contains(text), "{resource}");
        }

        // Readings are not changed once they are there.
        client.is_told("2.04", "POST", "resources/data", Some((SENML_JSON, READING)));
        client.is_told("4.05", "PUT", "resources/data", Some((SENML_JSON, READING)));
        let points = client.is_told("2.05", "GET", "resources/data", None);
        assert!(points.contains("humidity") && points.contains("43.5"), "{points}");

        let made = Some((JSON, r#"{"label":"temperature","unit":"Cel"}"#));
        let made = client.is_told("2.01", "POST", "streams", made);
        let made: serde_json::Value = serde_json::from_str(&made).unwrap();
        let stream = format!("streams?id={}", made["id"]);
        client.is_told("2.04", "PUT", &stream, Some((JSON, r#"{"description":"of the air"}"#)));
        let shown = client.is_told("2.05", "GET", &stream, None);
        for text in [r#""label":"temperature""#, r#""unit":"Cel""#, r#""description":"of the air""#] {
            assert!(shown.contains(text), "{shown}");
        }

        let data = format!("streams/data?id={}", made["id"]);
        client.is_told("2.04", "POST", &data, Some((JSON, r#"{"value":21.5}"#)));
        client.is_told("4.05", "PUT", &data, Some((JSON, r#"{"value":22.5}"#)));
        let points = client.is_told("2.05", "GET", &data, None);
        assert!(points.contains("21.5") && !points.contains("22.5"), "{points}");
        // What is not its own is not there for it.
        client.is_told("4.03", "GET", "resources?id=1000", None);
    });
    cloud.running.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_posts_by_its_raw_public_key_or_its_certificate() {
    let (cloud, files) = (Cloud::start().await, Authority::new());
    let own = cloud.running.store.own_keys();
    fs::write(files.path("the-cloud.pub"), pem::public_key(own.public_key())).unwrap();
    let public_key = fs::read_to_string(files.path("device.pub")).unwrap();
    cloud.enrol("raw", "dtls-rpk", &public_key).await;
    // The cloud signs the certificate, so it is the authority.
    let public_key = fs::read_to_string(files.path("cloud.pub")).unwrap();
    let certificate = cloud.enrol("certified", "dtls-x509", &public_key).await.unwrap();
    fs::write(files.path("cloud.pem"), certificate).unwrap();
    fs::write(files.path("authority.pem"), pem::certificate(own.authority())).unwrap();

    for (label, authentication) in [
        ("raw", Authentication::Raw(&files, "device", "the-cloud")),
        ("certified", Authentication::Certificate(&files, "cloud")),
    ] {
        let mut client = cloud.client(authentication, &[Suite::EcdheEcdsaAes128Ccm8]);
        tokio::task::block_in_place(|| {
            client.is_told("2.04", "POST", "resources/data", Some((SENML_JSON, READING)));
            let resource = client.is_told("2.05", "GET", "resources", None);
            assert!(resource.contains(&format!(r#""label":"{label}""#)), "{resource}");
        });
    }
    cloud.running.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_with_a_pre_shared_key_has_ephemeral_keys_too_where_it_knows_them() {
    let cloud = Cloud::start().await;
    let key = "0123456789abcdef";
    cloud.enrol("node", "dtls-psk", key).await;
    let ephemeral = [Suite::EcdhePskAes128Ccm8, Suite::EcdhePskAes128Ccm, Suite::EcdhePskAes128Gcm];
    let credential = Credential { identity: b"node".into(), key: key.into() };
    for suite in ephemeral {
        let mut client = cloud.client(Authentication::Shared(&credential), &[suite]);
        let post = || client.is_told("2.04", "POST", "resources/data", Some((SENML_JSON, READING)));
        tokio::task::block_in_place(post);
    }
    let wrong = Credential { identity: b"node".into(), key: b"another key of 20 by".into() };
    let mut client = cloud.client(Authentication::Shared(&wrong), &ephemeral[..1]);
    client.process.write(&format!("POST resources/data {SENML_JSON} {READING}\n"));
    let refused = tokio::task::block_in_place(|| client.process.prints("no answer", 4 * PATIENCE));
    assert!(refused, "{}", client.process.output());
    cloud.running.stop().await.unwrap();
}

//! The cloud with clients that have raw public keys and certificates: those of libcoap over OpenSSL and over GnuTLS, and ours.

use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use sixlock_cloud::public_keys::{KeyPair, pem};
use sixlock_cloud::{CertificateTerms, Config, Device, Page, ResourceId, Running, Secret};
use sixlock_dtls::{AlertDescription, CertificateType, Credentials, Failure, Suite, Suites};
use sixlock_interop::{CertifiedClient, Keys, LibcoapServer, PATIENCE, Process, Seen};
use sixlock_testing::Authority;
use sixlock_x509::Time;
use tempfile::TempDir;

const DAY: i64 = 86_400;
/// What GnuTLS is to speak with a raw public key. Libcoap's client over it gives up before the cloud does.
const RAW: &str = "NONE:+VERS-DTLS1.2:+AES-128-CCM-8:+ECDHE-ECDSA:+AEAD:+SIGN-ECDSA-SHA256:+GROUP-SECP256R1:+COMP-NULL:\
                   +CTYPE-CLI-RAWPK:+CTYPE-SRV-RAWPK";

/// One who signs certificates of devices, and is not the cloud.
fn authority(name: &str) -> Authority<'_> {
    Authority { name, validity: days(-1, 1), ..Authority::new(*KeyPair::random().unwrap().secret) }
}

/// These days from now.
fn days(from: i64, until: i64) -> (Time, Time) {
    let today = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64 / DAY;
    let day = |days: i64| Time::new((today + days) as u32, 0);
    (day(from), day(until))
}

struct Cloud {
    running: Running,
    directory: TempDir,
}

impl Cloud {
    async fn start(authority: &Authority<'_>) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("others.pem");
        fs::write(&file, pem::certificate(&authority.certificate())).unwrap();
        let config =
            Config { device_authorities: vec![file], ..Config::on_loopback(directory.path().join("data")) };
        let running = sixlock_cloud::start(config, None).await.unwrap();
        let own = running.store.own_keys();
        fs::write(directory.path().join("authority.pem"), pem::certificate(own.authority())).unwrap();
        Self { running, directory }
    }

    async fn enrol(&self, label: &str, mode: &str, key: Option<String>) -> (ResourceId, Option<String>) {
        let identity = key.is_none().then(|| label.to_owned());
        let key = key.map(|key| Secret::new(key.into_bytes()));
        let device = Device { mode: mode.parse().unwrap(), identity, key, ..Device::named(label) };
        let enrolled = self.running.enrol(device).await.unwrap();
        (enrolled.resource.id, enrolled.certificate.as_deref().map(pem::certificate))
    }

    /// A file of a client's private key and what it shows of it.
    fn file(&self, name: &str, pair: &KeyPair, shown: &str) -> String {
        let path = self.directory.path().join(name);
        fs::write(&path, format!("{}{shown}", &*pem::private_key(pair))).unwrap();
        path.display().to_string()
    }

    fn post(&self, program: &str, authentication: &[&str]) -> Process {
        let uri = format!("coaps://{}/resources/data", self.running.coaps);
        let reading = r#"[{"n":"temperature","u":"Cel","v":21.5}]"#;
        let arguments =
            [authentication, &["-v", "6", "-B", "90", "-m", "post", "-t", "110", "-e", reading, &uri]]
                .concat();
        Process::start(program, "libcoap3-bin", &arguments)
    }

    /// Whether a client that ends has brought its reading.
    async fn brings(&self, mut client: Process, resource: ResourceId, before: usize) {
        let ended = tokio::task::spawn_blocking(move || (client.succeeds(PATIENCE), client.output()));
        let (succeeded, output) = ended.await.unwrap();
        assert!(succeeded && self.points(resource).await == before + 1, "{output}");
    }

    async fn points(&self, resource: ResourceId) -> usize {
        let mut points = 0;
        for stream in self.running.store.streams(resource).await.unwrap() {
            let page = Page { limit: 100, from: None, until: None };
            points += self.running.store.points(stream.id, page).await.unwrap().len();
        }
        points
    }

    /// Waits until somebody was refused for this reason.
    async fn refuses(&self, client: Process, reason: &str, who: &str) {
        let audit = self.directory.path().join("data/audit.jsonl");
        let line = format!(r#""reason":"{reason}","who":"{who}""#);
        let end = std::time::Instant::now() + 3 * PATIENCE;
        while !has(&audit, &line) {
            assert!(
                std::time::Instant::now() < end,
                "no {line}: {:?} {}",
                fs::read_to_string(&audit),
                client.output()
            );
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    }
}

fn has(file: &Path, text: &str) -> bool {
    fs::read_to_string(file).is_ok_and(|all| all.contains(text))
}

#[tokio::test(flavor = "multi_thread")]
async fn devices_with_raw_public_keys_and_certificates_post_on_one_port() {
    let others = authority("others");
    let cloud = Cloud::start(&others).await;
    let authority = cloud.directory.path().join("authority.pem").display().to_string();
    let [raw, certified, external] = std::array::from_fn(|_| KeyPair::random().unwrap());

    let public_key = pem::public_key(&raw.point);
    let (resource, _) = cloud.enrol("raw", "dtls-rpk", Some(public_key.clone())).await;
    let file = cloud.file("raw.pem", &raw, &public_key);
    cloud.brings(cloud.post("coap-client-gnutls", &["-M", &file]), resource, 0).await;

    let (resource, certificate) =
        cloud.enrol("certified", "dtls-x509", Some(pem::public_key(&certified.point))).await;
    let file = cloud.file("certified.pem", &certified, &certificate.unwrap());
    let authentication = ["-c", &file, "-C", &authority];
    for (program, before) in [("coap-client-openssl", 0), ("coap-client-gnutls", 1)] {
        cloud.brings(cloud.post(program, &authentication), resource, before).await;
    }

    let (resource, none) = cloud.enrol("external", "dtls-x509", None).await;
    assert_eq!(none, None, "nothing is signed for whoever shows no key");
    let file = cloud.file(
        "external.pem",
        &external,
        &pem::certificate(&others.issue(2, "external", &external.point)),
    );
    cloud.brings(cloud.post("coap-client-openssl", &["-c", &file, "-C", &authority]), resource, 0).await;

    let (resource, _) = cloud.enrol("shared", "dtls-psk", Some("0123456789abcdef".into())).await;
    let authentication = ["-u", "shared", "-k", "0123456789abcdef"];
    cloud.brings(cloud.post("coap-client-openssl", &authentication), resource, 0).await;
    cloud.running.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_proves_no_device_is_refused_and_recorded() {
    let others = authority("others");
    let cloud = Cloud::start(&others).await;
    let (device, stranger) = (KeyPair::random().unwrap(), KeyPair::random().unwrap());
    let (resource, _) = cloud.enrol("device", "dtls-x509", None).await;
    let (pinned, _) = cloud.enrol("pinned", "dtls-x509", Some(pem::public_key(&device.point))).await;

    let raw = cloud.file("raw.pem", &stranger, &pem::public_key(&stranger.point));
    let port = cloud.running.coaps.port().to_string();
    let keys = ["--rawpkkeyfile", &raw, "--rawpkfile", &raw, "--no-ca-verification"];
    let arguments = [&["--udp", "--port", &port, "--priority", RAW], &keys[..], &["127.0.0.1"]].concat();
    let fingerprint = sixlock_cloud::public_keys::fingerprint(&stranger.point);
    let client = Process::start("gnutls-cli", "gnutls-bin", &arguments);
    let mut refused = vec![(client, "unknown_identity", fingerprint)];
    for (subject, by, (from, until), reason) in [
        ("device", &others, (-3, -2), "expired"),
        ("device", &others, (2, 3), "not_yet_valid"),
        ("device", &authority("strangers"), (-1, 1), "unknown_authority"),
        // One of the same name is another.
        ("device", &authority("others"), (-1, 1), "unknown_authority"),
        ("nobody", &others, (-1, 1), "unknown_identity"),
        // The cloud's own authority has signed another key by this name.
        ("pinned", &others, (-1, 1), "wrong_key"),
    ] {
        let file = format!("{subject}-{reason}-{}.pem", refused.len());
        let certificate = Authority { validity: days(from, until), ..*by }.issue(2, subject, &stranger.point);
        let file = cloud.file(&file, &stranger, &pem::certificate(&certificate));
        refused.push((cloud.post("coap-client-openssl", &["-c", &file]), reason, subject.to_owned()));
    }
    for (client, reason, who) in refused {
        cloud.refuses(client, reason, &who).await;
    }
    assert_eq!((cloud.points(resource).await, cloud.points(pinned).await), (0, 0));
    cloud.running.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_with_a_public_key_is_resumed_until_its_credential_ends() {
    const CONFIG: sixlock_dtls::Config = sixlock_dtls::Config {
        suites: Suites::new(&[Suite::EcdheEcdsaAes128Ccm8]),
        initial_timeout: sixlock_base::Duration::from_millis(200),
        resumable: true,
        ..sixlock_dtls::Config::HOST
    };
    let cloud = Cloud::start(&authority("others")).await;
    let pair = KeyPair::random().unwrap();
    let (resource, _) = cloud.enrol("raw", "dtls-rpk", Some(pem::public_key(&pair.point))).await;
    let keys = Keys {
        credentials: Box::leak(Box::new(Credentials {
            raw_public_key: Some(pair.point),
            certificates: &[],
            accepts: &[CertificateType::RawPublicKey],
            mutual: true,
            authorities: &[],
        })),
        secret: *pair.secret,
        raw_public_keys: vec![*cloud.running.store.own_keys().public_key()],
        authorities: Vec::new(),
    };
    let address = cloud.running.coaps;
    let mut client = CertifiedClient::connect_with(address, keys, CONFIG);
    for resumptions in 0..2 {
        let connected = tokio::task::block_in_place(|| client.until(Seen::Connected, PATIENCE));
        assert!(connected && client.resumptions() == resumptions, "{:?}", client.seen());
        client.close();
        client.reconnect(address);
    }
    let connected = tokio::task::block_in_place(|| client.until(Seen::Connected, PATIENCE));
    assert!(connected, "{:?}", client.seen());
    cloud.running.store.remove_credentials(resource, None).await.unwrap();
    let closed = tokio::task::block_in_place(|| client.until(Seen::Closed, PATIENCE));
    assert!(closed, "{:?}", client.seen());
    client.reconnect(address);
    let refused = Seen::Failed(Failure::Refused(AlertDescription::DECRYPT_ERROR));
    let failed = tokio::task::block_in_place(|| client.until(refused, PATIENCE));
    assert!(failed && client.resumptions() == 2, "{:?}", client.seen());
    cloud.running.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn no_device_poses_as_the_cloud_to_libcoap_unless_its_certificate_is_a_servers() {
    let cloud = Cloud::start(&authority("others")).await;
    let authority = cloud.directory.path().join("authority.pem").display().to_string();
    for (label, server) in [("client", false), ("server", true)] {
        let pair = KeyPair::random().unwrap();
        let device = Device {
            mode: "dtls-x509".parse().unwrap(),
            key: Some(Secret::new(pem::public_key(&pair.point).into_bytes())),
            certificate: CertificateTerms { server, ..CertificateTerms::default() },
            ..Device::named(label)
        };
        let certificate = cloud.running.enrol(device).await.unwrap().certificate.unwrap();
        let file = cloud.file(&format!("{label}.pem"), &pair, &pem::certificate(&certificate));
        let authentication = ["-c", &file, "-C", &authority];
        let posing = LibcoapServer::start("coap-server-openssl", &authentication);
        let url = posing.url(true);
        let arguments = [&authentication[..], &["-v", "7", "-B", "90", &url]].concat();
        let client = Process::start("coap-client-openssl", "libcoap3-bin", &arguments);
        let told = if server { LibcoapServer::READING } else { "unsuitable certificate purpose" };
        assert!(client.prints(told, PATIENCE), "{}", client.output());
    }
    cloud.running.stop().await.unwrap();
}

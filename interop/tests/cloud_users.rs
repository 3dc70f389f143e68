//! Users at the cloud's CoAP, with clients of others: libcoap over OpenSSL with a pre-shared key, and over GnuTLS with a raw public key.

use std::fs;
use std::path::PathBuf;

use sixlock_cloud::public_keys::{KeyPair, pem};
use sixlock_cloud::{Config, Device, NewIdentity, Role, Running, Secret, TokenScope, User};
use sixlock_interop::{PATIENCE, Process};
use tempfile::TempDir;

const KEY: &str = "0123456789abcdef0123456789abcdef";

struct Cloud {
    running: Running,
    directory: TempDir,
    ann: User,
}

impl Cloud {
    async fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let running = sixlock_cloud::start(Config::on_loopback(directory.path()), None).await.unwrap();
        let ann = running.store.add_user("ann", "", "a long password".into(), Role::Member).await.unwrap();
        let device = Device { key: Some(Secret::new(KEY.into())), ..Device::named("greenhouse") };
        running.store.add_resource(ann.id, device).await.unwrap();
        Self { running, directory, ann }
    }

    async fn add_identity(&self, label: &str, mode: &str, key: String, read_only: bool) {
        let new = NewIdentity {
            label: label.to_owned(),
            mode: mode.parse().unwrap(),
            identity: None,
            key: Some(Secret::new(key.into_bytes())),
            valid_s: None,
            expires: None,
            scope: TokenScope { read_only, ..TokenScope::default() },
        };
        self.running.store.add_user_identity(&self.ann, new, now_ms()).await.unwrap();
    }

    fn file(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn client(&self, program: &str, proof: &[&str], arguments: &[&str], path: &str) -> Process {
        let uri = format!("coaps://{}/{path}", self.running.coaps);
        let arguments = [proof, &["-v", "6"], arguments, &[&uri]].concat();
        Process::start(program, "libcoap3-bin", &arguments)
    }

    /// What a client prints that ends.
    async fn ask(&self, program: &str, proof: &[&str], arguments: &[&str], path: &str) -> String {
        let mut client = self.client(program, proof, &[&["-B", "90"], arguments].concat(), path);
        let done = tokio::task::spawn_blocking(move || (client.succeeds(PATIENCE), client.output()));
        let (succeeded, output) = done.await.unwrap();
        assert!(succeeded, "{output}");
        output
    }
}

fn now_ms() -> i64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis() as i64
}

/// The text that stands between two others.
fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let behind = text.split_once(before).unwrap_or_else(|| panic!("no {before} in {text}")).1;
    behind.split_once(after).unwrap_or_else(|| panic!("no {after} in {text}")).0
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_of_libcoap_adds_a_device_which_reports_and_reads_and_observes_it() {
    const OPENSSL: &str = "coap-client-openssl";
    let cloud = Cloud::start().await;
    cloud.add_identity("laptop", "dtls-psk", KEY.into(), false).await;
    let ann = ["-u", "ann/laptop", "-k", KEY];
    let list = cloud.ask(OPENSSL, &ann, &[], "resources").await;
    assert!(list.contains(r#""label":"greenhouse""#), "{list}");

    let new = r#"{"label":"roof","mode":"dtls-psk"}"#;
    let made = cloud.ask(OPENSSL, &ann, &["-m", "post", "-t", "50", "-e", new], "resources").await;
    let (id, key) = (between(&made, r#"{"id":"#, ","), between(&made, r#""key":""#, "\""));
    let reading = r#"[{"n":"wind","u":"m/s","v":7.5}]"#;
    let device = ["-u", "roof", "-k", key];
    cloud.ask(OPENSSL, &device, &["-m", "post", "-t", "110", "-e", reading], "resources/data").await;

    let streams = cloud.ask(OPENSSL, &ann, &[], &format!("streams?resource={id}")).await;
    let stream = between(&streams, r#"[{"id":"#, ",");
    let path = format!("streams/data?id={stream}&limit=1");
    let observer = cloud.client(OPENSSL, &ann, &["-s", "60", "-A", "0"], &path);
    assert!(observer.prints(" 7.5 wind", PATIENCE), "{}", observer.output());
    let reading = r#"[{"n":"wind","v":8.5}]"#;
    let post = ["-m", "post", "-t", "110", "-e", reading];
    cloud.ask(OPENSSL, &ann, &post, &format!("resources/data?id={id}")).await;
    assert!(observer.prints(" 8.5 wind", PATIENCE), "{}", observer.output());

    cloud.ask(OPENSSL, &ann, &["-m", "delete"], &format!("resources?id={id}")).await;
    let list = cloud.ask(OPENSSL, &ann, &[], "resources").await;
    assert!(!list.contains("roof"), "{list}");
    let me = cloud.ask(OPENSSL, &ann, &[], "users").await;
    assert!(me.contains(r#""username":"ann""#), "{me}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_with_a_raw_public_key_reads_and_by_an_identity_to_read_only_changes_nothing() {
    const GNUTLS: &str = "coap-client-gnutls";
    let cloud = Cloud::start().await;
    let pair = KeyPair::random().unwrap();
    let public_key = pem::public_key(&pair.point);
    cloud.add_identity("desk", "dtls-rpk", public_key.clone(), true).await;
    let file = cloud.file("desk.pem");
    fs::write(&file, format!("{}{public_key}", &*pem::private_key(&pair))).unwrap();
    let proof = ["-M", file.to_str().unwrap()];
    let list = cloud.ask(GNUTLS, &proof, &[], "resources").await;
    assert!(list.contains(r#""label":"greenhouse""#), "{list}");
    let new = r#"{"label":"roof","mode":"dtls-psk"}"#;
    let refused = cloud.ask(GNUTLS, &proof, &["-m", "post", "-t", "50", "-e", new], "resources").await;
    assert!(refused.contains("4.03"), "{refused}");
    assert!(cloud.running.store.resource(cloud.ann.id, "roof").await.unwrap().is_none());
}

//! `sixlock keys` as a person uses it, with a cloud that runs and with one that does not.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;

use tempfile::TempDir;

/// A running `sixlock cloud`, ended when dropped.
struct Cloud {
    process: Child,
    coaps: String,
    said: Option<JoinHandle<String>>,
}

impl Cloud {
    fn start(data: &Path, coaps: &str) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_sixlock"))
            .args(["cloud", "--listen", "127.0.0.1:0", "--coaps", coaps, "--data"])
            .arg(data)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let mut errors = process.stderr.take().unwrap();
        let ready = lines.by_ref().map(Result::unwrap).find(|line| line.starts_with("ready ")).unwrap();
        let coaps = ready.split("coaps=").nth(1).unwrap().to_owned();
        let said = std::thread::spawn(move || {
            let mut said: String = lines.map(Result::unwrap).collect();
            errors.read_to_string(&mut said).unwrap();
            said
        });
        Self { process, coaps, said: Some(said) }
    }

    /// Ends it and returns what it has said.
    fn stop(mut self) -> String {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        self.said.take().unwrap().join().unwrap()
    }
}

impl Drop for Cloud {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

struct Workspace {
    directory: TempDir,
}

impl Workspace {
    fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    fn data(&self) -> std::path::PathBuf {
        self.directory.path().join("data")
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.directory.path().join(name)
    }

    /// What `sixlock keys` says, and whether it succeeds.
    fn keys(&self, args: &[&str]) -> (bool, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_sixlock"))
            .arg("keys")
            .args(args)
            .arg("--data")
            .arg(self.data())
            .current_dir(self.directory.path())
            .output()
            .unwrap();
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        (output.status.success(), said)
    }

    fn done(&self, args: &[&str]) -> String {
        let (done, said) = self.keys(args);
        assert!(done, "{args:?}: {said}");
        said
    }

    fn refused(&self, args: &[&str]) -> String {
        let (done, said) = self.keys(args);
        assert!(!done, "{args:?}: {said}");
        said
    }

    /// The private device file `name`.
    fn device(&self, name: &str) -> toml::Table {
        let path = self.path(name);
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::read_to_string(path).unwrap().parse().unwrap()
    }
}

fn key(device: &toml::Table) -> String {
    device["device"]["key"].as_str().unwrap().to_owned()
}

/// Runs a line for a shell; what it prints.
fn shell(line: &str, directory: &Path) -> String {
    let output =
        Command::new("sh").args(["-c", line]).current_dir(directory).stdin(Stdio::null()).output().unwrap();
    let answer = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{line}: {answer}");
    answer
}

/// Runs the lines of libcoap's clients among what was said, of which there are so many; a client says nothing when the cloud
/// takes its reading.
fn post_by(place: &Workspace, said: &str, clients: usize) {
    let lines: Vec<&str> = said.lines().filter(|line| line.starts_with("coap-client-")).collect();
    assert_eq!(lines.len(), clients, "{said}");
    for line in lines {
        let answer = shell(line, place.directory.path());
        assert!(answer.trim().is_empty(), "{line}: {answer}");
    }
}

#[test]
fn a_device_is_made_and_its_key_replaced_whether_the_cloud_runs_or_not() {
    let place = Workspace::new();
    let refused = place.refused(&["psk", "--resource", "shed"]);
    assert!(refused.contains("start it once"), "{refused}");
    let cloud = Cloud::start(&place.data(), "127.0.0.1:0");
    let coaps = cloud.coaps.clone();
    let running =
        place.done(&["psk", "--resource", "green house", "--out", "g.toml", "--mode", "llsec+dtls-psk"]);
    post_by(&place, &running, 1);
    let device = place.device("g.toml");
    assert_eq!(device["device"]["identity"].as_str(), Some("green house"));
    assert_eq!(device["device"]["mode"].as_str(), Some("llsec:ccm-64+dtls-psk"));
    assert_eq!(device["cloud"]["coaps"].as_str(), Some(coaps.as_str()));
    assert_eq!(device["llsec"]["level"].as_integer(), Some(6));
    let mut keys = vec![key(&device)];
    let again = place.refused(&["psk", "--resource", "x", "--out", "g.toml"]);
    assert!(again.contains("exists"), "{again}");
    let taken = place.refused(&["psk", "--resource", "green house", "--out", "h.toml"]);
    assert!(
        taken.contains("in use; choose another. Labels are unique") && !place.path("h.toml").exists(),
        "{taken}"
    );
    post_by(&place, &place.done(&["rotate", "green house", "--out", "g.toml"]), 1);
    post_by(&place, &running, 1);
    let device = place.device("g.toml");
    assert_eq!(device["device"]["identity"].as_str(), Some("green house#2"));
    keys.push(key(&device));
    let mut said = cloud.stop();

    let stopped = place.done(&["psk", "--resource", "shed"]);
    keys.push(key(&place.device("shed.toml")));
    assert_eq!(key(&place.device("g.toml")).len(), 32);
    place.done(&["rotate", "green house", "--overlap", "0s", "--out", "g.toml"]);
    keys.push(key(&place.device("g.toml")));
    let listed = place.done(&["list"]);
    assert!(
        listed.contains("shed") && listed.contains("green house#3") && !listed.contains("#2"),
        "{listed}"
    );
    place.done(&["remove", "shed", "--identity", "shed"]);
    let unknown = place.refused(&["remove", "attic"]);
    assert!(unknown.contains("attic"), "{unknown}");
    let stopped_again = place.done(&["rotate", "shed"]);
    keys.push(key(&place.device("shed.toml")));
    assert_ne!(stopped, stopped_again);

    let cloud = Cloud::start(&place.data(), &coaps);
    post_by(&place, &stopped_again, 1);
    place.done(&["remove", "green house"]);
    let listed = place.done(&["list"]);
    assert!(listed.contains("shed") && !listed.contains("green house"), "{listed}");
    said += &cloud.stop();

    // The keys stand in the device files, and neither in what the cloud says nor in what it keeps.
    assert_eq!(keys.len(), 5);
    for key in &keys {
        assert!(!said.contains(key.as_str()) && !listed.contains(key.as_str()));
        for file in std::fs::read_dir(place.data()).unwrap() {
            let path = file.unwrap().path();
            let bytes = std::fs::read(&path).unwrap();
            let found = bytes.windows(key.len()).any(|window| window == key.as_bytes());
            assert!(!found, "a key stands in {}", path.display());
        }
    }
}

#[test]
fn a_device_without_dtls_has_a_key_whether_the_cloud_runs_or_not() {
    let place = Workspace::new();
    let cloud = Cloud::start(&place.data(), "127.0.0.1:0");
    place.done(&["psk", "--resource", "runs", "--mode", "llsec"]);
    drop(cloud);
    place.done(&["psk", "--resource", "stands", "--mode", "none"]);
    for (label, mode) in [("runs", "llsec:ccm-64"), ("stands", "none")] {
        let device = place.device(&format!("{label}.toml"));
        assert_eq!(device["device"]["mode"].as_str(), Some(mode));
        assert_eq!(key(&device).len(), 32);
    }
    let other = place.refused(&["psk", "--resource", "other", "--mode", "dtls-rpk"]);
    assert!(other.contains("dtls-psk"), "{other}");
    let public = place.refused(&["rpk", "--resource", "other", "--mode", "llsec"]);
    assert!(public.contains("proves no identity"), "{public}");
}

/// The private key in a device file, which stands nowhere in what the cloud keeps.
fn private_key(place: &Workspace, file: &str) -> Vec<u8> {
    let digits = key(&place.device(file));
    assert_eq!(digits.len(), 64);
    (0..32).map(|at| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).unwrap()).collect()
}

#[test]
fn devices_with_public_keys_are_made_and_replaced_whether_the_cloud_runs_or_not() {
    let place = Workspace::new();
    let cloud = Cloud::start(&place.data(), "127.0.0.1:0");
    let coaps = cloud.coaps.clone();
    let raw = place.done(&["rpk", "--resource", "green house"]);
    post_by(&place, &raw, 1);
    let device = place.device("green house.toml");
    assert_eq!(device["device"]["identity"].as_str().unwrap().len(), 64);
    assert_eq!(device["device"]["mode"].as_str(), Some("dtls-rpk"));
    let known = device["cloud"]["public_key_hex"].as_str().unwrap();
    assert!(known.len() == 130 && known.starts_with("04"), "{known}");

    let certified =
        place.done(&["x509", "--resource", "shed", "--out", "s.toml", "--valid", "48h", "--server"]);
    post_by(&place, &certified, 2);
    let device = place.device("s.toml");
    assert_eq!(device["device"]["identity"].as_str(), Some("shed"));
    assert_eq!(device["cloud"]["name"].as_str(), Some("sixlock-cloud"));
    let length = device["device"]["certificate_hex"].as_str().unwrap().len() / 2;
    assert!(length < 400, "a certificate of {length} bytes");
    for file in ["s.pem", "s.cloud.pem", "green house.pem"] {
        assert_eq!(place.path(file).metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
    let openssl = certified.lines().find(|line| line.starts_with("openssl s_client ")).unwrap();
    let answer = shell(openssl, place.directory.path());
    assert!(answer.contains("Verify return code: 0 (ok)"), "{answer}");
    let is_server = |file: &str| {
        let purposes = shell(&format!("openssl x509 -in {file} -noout -purpose"), place.directory.path());
        assert!(purposes.contains("SSL client : Yes"), "{purposes}");
        purposes.contains("SSL server : Yes")
    };
    assert!(is_server("s.pem"));
    let own = place.done(&["cloud"]);
    let authority = std::fs::read_to_string(place.path("s.cloud.pem")).unwrap();
    assert!(own.contains(authority.trim()) && own.contains("-----BEGIN PUBLIC KEY-----"), "{own}");

    let taken = place.refused(&["rpk", "--resource", "shed", "--out", "other.toml"]);
    assert!(taken.contains("in use") && !place.path("other.toml").exists(), "{taken}");
    let reserved = place.refused(&["x509", "--resource", "sixlock-cloud"]);
    assert!(reserved.contains("name of the cloud"), "{reserved}");
    let mut private = vec![private_key(&place, "green house.toml"), private_key(&place, "s.toml")];
    let public = place.path("public.pem");
    let line = format!("openssl ec -in 'green house.pem' -pubout -out '{}'", public.display());
    shell(&line, place.directory.path());
    let again = place.refused(&["rpk", "--resource", "again", "--public-key", "public.pem"]);
    assert!(again.contains("identity is in use"), "a key is one device's: {again}");
    let signed = place.done(&["x509", "--resource", "elsewhere", "--public-key", "public.pem"]);
    assert!(signed.contains("-----BEGIN CERTIFICATE-----"), "{signed}");

    post_by(&place, &place.done(&["rotate", "shed", "--out", "s.toml"]), 2);
    assert_eq!(place.device("s.toml")["device"]["identity"].as_str(), Some("shed#2"));
    assert!(is_server("s.pem"), "it stays what it was");
    let listed = place.done(&["list"]);
    assert!(listed.contains("shed#2") && listed.contains("for another 23 h"), "{listed}");
    // The new one is good until its certificate ends.
    let new = listed.lines().find(|line| line.contains("shed#2")).unwrap();
    assert!(new.contains(" until 20") && new.ends_with(|last: char| last.is_ascii_digit()), "{new}");
    let mut said = cloud.stop();

    place.done(&["rotate", "green house", "--overlap", "0s"]);
    let stopped = place.done(&["x509", "--resource", "attic"]);
    assert!(!is_server("attic.pem"));
    private.extend(["green house.toml", "s.toml", "attic.toml"].map(|file| private_key(&place, file)));
    let cloud = Cloud::start(&place.data(), &coaps);
    post_by(&place, &stopped, 2);
    post_by(&place, &raw, 1);
    said += &cloud.stop();
    for file in std::fs::read_dir(place.data()).unwrap() {
        let path = file.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        let kept = private.iter().any(|key| bytes.windows(32).any(|window| window == key));
        assert!(!kept, "a private key stands in {}", path.display());
        assert!(!said.contains("PRIVATE"));
    }
}

#[test]
fn a_file_of_devices_is_imported_whole_or_not_at_all() {
    let place = Workspace::new();
    let mut cloud = Some(Cloud::start(&place.data(), "127.0.0.1:0"));
    for name in ["running", "stopped"] {
        if name == "stopped" {
            cloud.take();
        }
        let mut csv = String::from("label,mode,identity,key\n");
        for n in 1..=1500 {
            csv += &format!("{name}-{n},dtls-psk,,\n");
        }
        csv += &format!("{name}-given,llsec+dtls-psk,{name}-own,0123456789abcdef\n");
        let file = format!("{name}.csv");
        std::fs::write(place.path(&file), &csv).unwrap();
        assert!(place.done(&["import", &file, "--dry-run"]).contains("1501 devices can be enrolled"));
        assert!(!place.path(&format!("{name}.keys.csv")).exists());
        place.done(&["import", &file]);
        let out = place.path(&format!("{name}.keys.csv"));
        assert_eq!(out.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let keys = std::fs::read_to_string(out).unwrap();
        let rows: Vec<Vec<&str>> = keys.lines().map(|line| line.split(',').collect()).collect();
        assert_eq!(rows.len(), 1502);
        assert_eq!(rows[0], ["resource", "label", "mode", "identity", "key"]);
        assert_eq!((rows[1500][1], rows[1500][4].len()), (format!("{name}-1500").as_str(), 32));
        assert_eq!(
            rows[1501][3..],
            [format!("{name}-own").as_str(), ""],
            "a key that was given is not written"
        );

        // One that is known already, in the second thousand: nothing of the first is enrolled.
        let known = csv.replace(&format!("{name}-1,"), "new,").replace(&format!("{name}-"), "other-");
        let known = known.replace("other-1400,", &format!("{name}-1400,"));
        std::fs::write(place.path("known.csv"), known).unwrap();
        let refused = place.refused(&["import", "known.csv"]);
        assert!(refused.contains("known.csv:1401: this label is in use"), "{refused}");
        std::fs::write(place.path("wrong.csv"), "label,mode\nnew,dtls-psk\n7,none\nx,rot13\n").unwrap();
        let refused = place.refused(&["import", "wrong.csv"]);
        assert!(refused.contains("wrong.csv:4: mode: unknown"), "{refused}");
        let listed = place.done(&["list"]);
        assert!(!listed.contains("other-") && !listed.contains("new"), "{listed}");
        let again = place.refused(&["import", &file]);
        assert!(again.contains("exists"), "{again}");
    }
}

#[test]
fn what_is_done_while_the_cloud_does_not_run_is_recorded_too() {
    let place = Workspace::new();
    Cloud::start(&place.data(), "127.0.0.1:0").stop();
    place.done(&["psk", "--resource", "shed"]);
    place.done(&["rotate", "shed"]);
    place.done(&["remove", "shed"]);
    let record = std::fs::read_to_string(place.data().join("audit.jsonl")).unwrap();
    for (action, what) in [
        ("resource_added", "/api/v1/users/admin/resources/shed"),
        ("key_replaced", "/credentials"),
        ("key_removed", "/credentials"),
    ] {
        let line = record.lines().find(|line| line.contains(action)).expect(action);
        assert!(line.contains(r#""scheme":"command""#) && line.contains(what), "{line}");
    }
}

/// The lines of libcoap's clients among what was said.
fn client_lines(said: &str) -> Vec<&str> {
    said.lines().filter(|line| line.starts_with("coap-client-")).collect()
}

#[test]
fn an_identity_of_a_user_is_made_listed_and_removed_whether_the_cloud_runs_or_not() {
    let place = Workspace::new();
    let cloud = Cloud::start(&place.data(), "127.0.0.1:0");
    let coaps = cloud.coaps.clone();
    place.done(&["psk", "--resource", "greenhouse"]);
    let mut made = String::new();
    for (label, more) in [
        ("laptop", &["--read-only"][..]),
        ("desk", &["--mode", "dtls-rpk", "--good-for", "1h"]),
        ("bench", &["--mode", "dtls-x509", "--resource", "greenhouse"]),
    ] {
        made += &place.done(&[&["identity", "add", label], more].concat());
    }
    assert!(made.contains("laptop: identity admin/laptop, key "), "{made}");
    let reads = |said: &str, clients: usize| {
        let lines = client_lines(said);
        assert_eq!(lines.len(), clients, "{said}");
        for line in lines {
            let answer = shell(line, place.directory.path());
            assert!(answer.contains(r#""label":"greenhouse""#), "{line}: {answer}");
        }
    };
    reads(&made, 4);
    let mode = place.path("desk.pem").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let listed = place.done(&["identity", "list"]);
    for words in ["admin/laptop", "reading", "dtls-rpk", "resource 1"] {
        assert!(listed.contains(words), "{words}: {listed}");
    }
    let (done, why) = place.keys(&["identity", "add", "laptop"]);
    assert!(!done && why.contains("label"), "{why}");
    let (done, why) = place.keys(&["identity", "add", "other", "--mode", "llsec+dtls-psk"]);
    assert!(!done && why.contains("dtls-psk, dtls-rpk or dtls-x509"), "{why}");
    place.done(&["identity", "remove", "desk"]);
    assert!(!place.done(&["identity", "list"]).contains("desk"));
    cloud.stop();

    let made = place.done(&["identity", "add", "shed"]);
    place.done(&["identity", "remove", "laptop"]);
    let listed = place.done(&["identity", "list"]);
    assert!(listed.contains("shed") && !listed.contains("laptop"), "{listed}");
    let record = std::fs::read_to_string(place.data().join("audit.jsonl")).unwrap();
    for (action, scheme, what) in [
        ("identity_made", "http", "/api/v1/users/admin/identities/laptop"),
        ("identity_revoked", "http", "/api/v1/users/admin/identities/desk"),
        ("identity_made", "command", "/api/v1/users/admin/identities/shed"),
        ("identity_revoked", "command", "/api/v1/users/admin/identities/laptop"),
    ] {
        let is_it =
            |line: &str| [action, scheme, what].iter().all(|word| line.contains(&format!("\"{word}\"")));
        assert!(record.lines().any(is_it), "{action} {scheme}: {record}");
    }
    let _cloud = Cloud::start(&place.data(), &coaps);
    reads(&made, 1);
}

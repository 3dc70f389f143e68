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

struct Place {
    directory: TempDir,
}

impl Place {
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

/// Runs the line for a shell among what was said; the client says nothing when the cloud takes its reading.
fn post_by(said: &str) {
    let line = said.lines().find(|line| line.starts_with("coap-client-openssl")).unwrap();
    let output = Command::new("sh").args(["-c", line]).stdin(Stdio::null()).output().unwrap();
    let answer = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(output.status.success() && answer.trim().is_empty(), "{line}: {answer}");
}

#[test]
fn a_device_is_made_and_its_key_replaced_whether_the_cloud_runs_or_not() {
    let place = Place::new();
    let refused = place.refused(&["psk", "--resource", "shed"]);
    assert!(refused.contains("start it once"), "{refused}");
    let cloud = Cloud::start(&place.data(), "127.0.0.1:0");
    let coaps = cloud.coaps.clone();
    let running =
        place.done(&["psk", "--resource", "green house", "--out", "g.toml", "--mode", "llsec+dtls-psk"]);
    post_by(&running);
    let device = place.device("g.toml");
    assert_eq!(device["device"]["identity"].as_str(), Some("green house"));
    assert_eq!(device["device"]["mode"].as_str(), Some("llsec:ccm-64+dtls-psk"));
    assert_eq!(device["cloud"]["coaps"].as_str(), Some(coaps.as_str()));
    assert_eq!(device["llsec"]["level"].as_integer(), Some(6));
    let mut keys = vec![key(&device)];
    let again = place.refused(&["psk", "--resource", "x", "--out", "g.toml"]);
    assert!(again.contains("exists"), "{again}");
    let taken = place.refused(&["psk", "--resource", "green house", "--out", "h.toml"]);
    assert!(taken.contains("in use") && !place.path("h.toml").exists(), "{taken}");
    post_by(&place.done(&["rotate", "green house", "--out", "g.toml"]));
    post_by(&running);
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
    post_by(&stopped_again);
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
fn a_file_of_devices_is_imported_whole_or_not_at_all() {
    let place = Place::new();
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

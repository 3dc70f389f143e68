//! `sixlock users` and `sixlock keys` where the cloud that runs serves HTTPS.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

/// A running `sixlock cloud`, ended when dropped.
struct Cloud {
    process: Child,
    http: String,
}

impl Cloud {
    fn start(data: &Path, args: &[&Path]) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_sixlock"))
            .args(["cloud", "--listen", "127.0.0.1:0", "--coaps", "127.0.0.1:0", "--data"])
            .arg(data)
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let ready = lines.by_ref().map(Result::unwrap).find(|line| line.starts_with("ready ")).unwrap();
        let http = ready.split("http=").nth(1).unwrap().split(' ').next().unwrap().to_owned();
        // Whatever else it says must not block it.
        std::thread::spawn(move || lines.for_each(drop));
        Self { process, http }
    }
}

impl Drop for Cloud {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

struct Workspace(TempDir);

impl Workspace {
    /// One in which `authority.pem` and `cloud.pem` hold certificates with their keys, of which the first is its own issuer.
    fn new() -> Self {
        let workspace = Self(tempfile::tempdir().unwrap());
        drop(Cloud::start(&workspace.path("other"), &[]));
        workspace
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn certificate(&self) -> PathBuf {
        self.path("other/authority.pem")
    }

    fn https_cloud(&self) -> Cloud {
        let certificate = self.certificate();
        let args = ["--tls-cert".as_ref(), &*certificate, "--tls-key".as_ref(), &*certificate];
        Cloud::start(&self.path("data"), &args)
    }

    /// What `sixlock` says when it reads this, and whether it succeeds.
    fn sixlock(&self, args: &[&str], input: &str) -> (bool, String) {
        let mut process = Command::new(env!("CARGO_BIN_EXE_sixlock"))
            .args(args)
            .current_dir(self.0.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // It may end without reading.
        let _ = process.stdin.take().unwrap().write_all(input.as_bytes());
        let output = process.wait_with_output().unwrap();
        (output.status.success(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
    }

    fn done(&self, args: &[&str], input: &str) -> String {
        let (done, said) = self.sixlock(args, input);
        assert!(done, "{args:?}: {said}");
        said
    }

    fn refused(&self, args: &[&str], why: &str) {
        let (done, said) = self.sixlock(args, "");
        assert!(!done && said.contains(why), "{args:?}: {said}");
    }
}

#[test]
fn users_and_keys_of_a_cloud_that_serves_https_are_kept_while_it_runs() {
    let place = Workspace::new();
    let cloud = place.https_cloud();
    let written: serde_json::Value =
        serde_json::from_slice(&std::fs::read(place.path("data/endpoints.json")).unwrap()).unwrap();
    assert_eq!((&written["scheme"], &written["http"]), (&"https".into(), &cloud.http.as_str().into()));

    place.done(&["users", "add", "ann", "--data", "data"], "a good password\n");
    assert!(place.done(&["users", "list", "--data", "data"], "").contains("ann"));
    let (done, said) = place.sixlock(&["users", "add", "ann", "--data", "data"], "a good password\n");
    assert!(!done && said.contains("this username, but for the case of letters, is in use"), "{said}");
    place.done(&["keys", "psk", "--resource", "shed", "--data", "data"], "");
    assert!(place.path("shed.toml").exists());
    assert!(place.done(&["keys", "list", "--data", "data"], "").contains("shed"));

    let url = format!("https://{}", cloud.http);
    let at = ["--url", &url, "--token", "data/admin-token"];
    for (of, listed) in [("users", "ann"), ("keys", "shed")] {
        let with = |certificate: &[&'static str]| [&[of, "list"], &at[..], certificate].concat();
        assert!(place.done(&with(&["--tls-cert", "other/authority.pem"]), "").contains(listed));
        place.refused(&with(&["--tls-cert", "other/cloud.pem"]), "another certificate");
        place.refused(&with(&[]), "--tls-cert");
    }
    // The token is not sent in the clear to find out.
    let plain = format!("http://{}", cloud.http);
    place.refused(
        &["users", "list", "--url", &plain, "--token", "data/admin-token"],
        "ask again with https://",
    );
}

#[test]
fn another_server_in_the_clouds_place_is_shown_no_token() {
    let place = Workspace::new();
    drop(place.https_cloud());
    let token = std::fs::read_to_string(place.path("other/admin-token")).unwrap();
    // One with another certificate, and the data folder says where it is, as of the cloud.
    let endpoints = std::fs::read_to_string(place.path("data/endpoints.json")).unwrap();
    let certificate = place.path("other/cloud.pem");
    let args = ["--tls-cert".as_ref(), &*certificate, "--tls-key".as_ref(), &*certificate];
    let other = Cloud::start(&place.path("data"), &args);
    let mut moved: serde_json::Value = serde_json::from_str(&endpoints).unwrap();
    moved["http"] = other.http.as_str().into();
    std::fs::write(place.path("data/endpoints.json"), moved.to_string()).unwrap();
    place.refused(&["users", "list", "--data", "data"], "another certificate");

    // One that speaks HTTP only to send others to HTTPS.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let heard = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut heard = Vec::new();
        while !heard.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            heard.extend(byte);
        }
        let answer =
            "HTTP/1.1 308 Permanent Redirect\r\nLocation: https://localhost/\r\nContent-Length: 3\r\n\r\nTLS";
        stream.write_all(answer.as_bytes()).unwrap();
        String::from_utf8(heard).unwrap()
    });
    place.refused(&["keys", "list", "--url", &url, "--token", "other/admin-token"], "status 308: TLS");
    let heard = heard.join().unwrap();
    assert!(heard.starts_with("GET ") && !heard.contains(token.trim()), "{heard}");
}

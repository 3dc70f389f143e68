//! The command as a process, and the smallest HTTP client that can ask it.

#![allow(dead_code, reason = "each test uses a part of it")]

pub(crate) mod namespace;
pub(crate) mod part;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

/// The media type of SenML in JSON (RFC 8428, section 12.3.1).
const SENML: &str = "application/senml+json";
/// How long one answer may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// A running `sixlock up`, ended and its data removed when dropped.
pub(crate) struct Up {
    process: Child,
    /// Its data; what else is put there goes with it.
    pub(crate) data: PathBuf,
    http: SocketAddr,
    token: String,
    /// Signs the administrator in at the dashboard, once.
    pub(crate) sign_in_link: String,
    /// The administrator's password.
    pub(crate) password: String,
    /// Where it takes CoAP, if it does.
    pub(crate) coap: String,
    /// Where it takes CoAP over DTLS.
    pub(crate) coaps: String,
}

impl Up {
    /// Starts `sixlock up` on free ports.
    pub(crate) fn start(args: &[&str]) -> Self {
        let name = std::thread::current().name().unwrap_or("test").to_owned();
        let data = std::env::temp_dir().join(format!("sixlock-{}-{name}", std::process::id()));
        let mut process = Command::new(env!("CARGO_BIN_EXE_sixlock"))
            .args([
                "up",
                "--listen",
                "127.0.0.1:0",
                "--coap",
                "127.0.0.1:0",
                "--coaps",
                "127.0.0.1:0",
                "--data",
            ])
            .arg(&data)
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("sixlock starts");
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let mut line_with = |start: &str| loop {
            let line =
                lines.next().unwrap_or_else(|| panic!("sixlock ended without saying {start:?}")).unwrap();
            if let Some((_, rest)) = line.split_once(start) {
                break rest.to_owned();
            }
        };
        let ready = line_with("ready ");
        let sign_in_link = std::fs::read_to_string(data.join("sign-in-link")).unwrap().trim().to_owned();
        let password = std::fs::read_to_string(data.join("admin-password")).unwrap().trim().to_owned();
        // Whatever else it says must not block it.
        std::thread::spawn(move || lines.for_each(drop));
        let field = |name: &str| {
            let found = ready.split(' ').find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
            found.unwrap_or_else(|| panic!("no {name} in {ready}")).to_owned()
        };
        let token = std::fs::read_to_string(data.join("admin-token")).unwrap().trim().to_owned();
        let (http, coap, coaps) = (field("http").parse().unwrap(), field("coap"), field("coaps"));
        Self { process, data, http, token, sign_in_link, password, coap, coaps }
    }

    /// The dashboard's address.
    pub(crate) fn dashboard(&self) -> String {
        format!("http://{}/", self.http)
    }

    /// What it says in `endpoints.json`.
    pub(crate) fn endpoints(&self) -> Value {
        serde_json::from_slice(&std::fs::read(self.data.join("endpoints.json")).unwrap()).unwrap()
    }

    /// Its HTTP API, asked as the administrator.
    pub(crate) fn http(&self) -> Http {
        Http { address: self.http, token: self.token.clone() }
    }
}

impl Drop for Up {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.data);
    }
}

/// An HTTP API.
pub(crate) struct Http {
    address: SocketAddr,
    token: String,
}

impl Http {
    /// That of the cloud which listens at `address` and has its data in `data`, asked as the administrator.
    pub(crate) fn of(address: &str, data: &Path) -> Self {
        let token = std::fs::read_to_string(data.join("admin-token")).unwrap().trim().to_owned();
        Self { address: address.parse().unwrap(), token }
    }

    /// The JSON at `path`.
    pub(crate) fn get(&self, path: &str) -> Value {
        self.ask("GET", path, "")
    }

    /// The JSON that posting `body` to `path` answers.
    pub(crate) fn post(&self, path: &str, body: &str) -> Value {
        self.ask("POST", path, body)
    }

    /// The JSON at `path`, if there is any.
    pub(crate) fn try_get(&self, path: &str) -> Option<Value> {
        let (head, answer) = self.exchange("GET", path, "application/json", "");
        head.starts_with("HTTP/1.1 2").then(|| serde_json::from_str(&answer).expect("an answer is JSON"))
    }

    /// The JSON that putting `body` to `path` answers.
    pub(crate) fn put(&self, path: &str, body: &str) -> Value {
        self.ask("PUT", path, body)
    }

    /// The text at `path`.
    pub(crate) fn text(&self, path: &str) -> String {
        self.answer("GET", path, "")
    }

    /// Posts readings in SenML, which are taken.
    pub(crate) fn post_senml(&self, path: &str, pack: &str) {
        let (head, answer) = self.exchange("POST", path, SENML, pack);
        assert!(head.starts_with("HTTP/1.1 204 "), "POST {path} {pack}: {head} {answer}");
    }

    /// The answer to readings in SenML that must be refused with this status.
    pub(crate) fn refuses_senml(&self, path: &str, pack: &str, status: u16) -> Value {
        let (head, answer) = self.exchange("POST", path, SENML, pack);
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "POST {path} {pack}: {head} {answer}");
        serde_json::from_str(&answer).expect("a refusal is JSON")
    }

    fn ask(&self, method: &str, path: &str, body: &str) -> Value {
        let answer = self.answer(method, path, body);
        serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{method} {path}: {error}: {answer}"))
    }

    fn answer(&self, method: &str, path: &str, body: &str) -> String {
        let (head, answer) = self.exchange(method, path, "application/json", body);
        assert!(head.starts_with("HTTP/1.1 2"), "{method} {path}: {head} {answer}");
        answer
    }

    /// The head and the body of the answer.
    fn exchange(&self, method: &str, path: &str, media_type: &str, body: &str) -> (String, String) {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\
             Content-Type: {media_type}\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            self.token,
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").expect("an HTTP answer");
        (head.to_owned(), body.to_owned())
    }
}

/// Runs one of libcoap's clients, which must report no error: it prints the code of an answer that is one, and its own
/// warnings.
pub(crate) fn coap_client(client: &str, args: &[&str]) {
    assert_eq!(coap_answer(client, args), "", "{client} {args:?}");
}

/// What one of libcoap's clients prints: the payload of the answer.
pub(crate) fn coap_answer(client: &str, args: &[&str]) -> String {
    let output =
        Command::new(client).args(args).stdin(Stdio::null()).output().unwrap_or_else(|error| {
            panic!("{client}: {error}. Install it with: apt-get install libcoap3-bin")
        });
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).trim().to_owned();
    assert!(output.status.success(), "{client}: {said}");
    said
}

//! A cloud and an HTTP client for it that sends what it is told, byte for byte.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::{Value, json};
use sixlock_cloud::{Config, Running};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Longer than anything takes that works.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// The password of each user that [`Cloud::user`] adds.
pub(crate) const PASSWORD: &str = "long enough";

pub(crate) struct Cloud {
    pub(crate) running: Running,
    pub(crate) directory: TempDir,
    pub(crate) admin: String,
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    pub(crate) fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap().to_owned()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

pub(crate) fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}\r\n")
}

impl Cloud {
    pub(crate) async fn start(change: impl FnOnce(&mut Config)) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut config = Config { max_sessions: 100, ..Config::on_loopback(directory.path().join("data")) };
        change(&mut config);
        let running = sixlock_cloud::start(config, None).await.unwrap();
        let admin = std::fs::read_to_string(directory.path().join("data/admin-token")).unwrap();
        Self { running, directory, admin: admin.trim().to_owned() }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.running.http
    }

    /// Opens a connection and sends a request with these header lines, each with its end of line.
    pub(crate) async fn open(&self, request: &str, headers: &str, body: &str) -> TcpStream {
        let length = if body.is_empty() {
            String::new()
        } else {
            format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len())
        };
        let head =
            format!("{request} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}{length}\r\n");
        let mut stream = TcpStream::connect(self.address()).await.unwrap();
        stream.write_all((head + body).as_bytes()).await.unwrap();
        stream
    }

    pub(crate) async fn ask(&self, request: &str, headers: &str, body: Value) -> Answer {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        read_answer(&mut self.open(request, headers, &body).await).await
    }

    pub(crate) async fn as_admin(&self, request: &str, body: Value) -> Answer {
        self.ask(request, &bearer(&self.admin), body).await
    }

    pub(crate) async fn login(&self, name: &str, password: &str, headers: &str) -> Answer {
        self.ask("POST /api/v1/login", headers, json!({"username": name, "password": password})).await
    }

    /// Adds a user and returns the token of a session.
    pub(crate) async fn user(&self, name: &str, admin: bool) -> String {
        let user = json!({"username": name, "password": PASSWORD, "admin": admin});
        let answer = self.as_admin("POST /api/v1/users", user).await;
        assert_eq!(answer.status, 201, "{}", answer.body);
        let answer = self.login(name, PASSWORD, "").await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.json()["token"].as_str().unwrap().to_owned()
    }

    /// Makes a token for a program.
    pub(crate) async fn token(&self, user: &str, label: &str, expires: Option<i64>) -> String {
        let token = json!({"label": label, "expires": expires});
        let answer = self.as_admin(&format!("POST /api/v1/users/{user}/tokens"), token).await;
        assert_eq!(answer.status, 201, "{}", answer.body);
        answer.json()["token"].as_str().unwrap().to_owned()
    }

    /// Adds the resource `node` of a user, with the stream `t`.
    pub(crate) async fn node(&self, user: &str) {
        let node = json!({"label": "node", "mode": "dtls-psk", "identity": format!("{user}-node")});
        for (path, body) in [("", node), ("/node/streams", json!({"label": "t"}))] {
            let answer = self.as_admin(&format!("POST /api/v1/users/{user}/resources{path}"), body).await;
            assert_eq!(answer.status, 201, "{}", answer.body);
        }
    }

    /// Posts values for the stream `t` of the resource `node` of a user.
    pub(crate) async fn post(&self, user: &str, values: impl IntoIterator<Item = f64>) {
        let path = format!("POST /api/v1/users/{user}/resources/node/streams/t/data");
        let points = values.into_iter().map(|value| json!({"value": value})).collect();
        let answer = self.as_admin(&path, Value::Array(points)).await;
        assert_eq!(answer.status, 204, "{}", answer.body);
    }

    /// Opens a live feed, and returns when its head has come.
    pub(crate) async fn feed(&self, path: &str, headers: &str) -> Feed {
        let stream = self.open(&format!("GET {path}"), headers, "").await;
        let mut feed = Feed { stream, text: String::new() };
        feed.until(|text| text.contains("\r\n\r\n")).await;
        assert!(feed.text.starts_with("HTTP/1.1 200"), "{}", feed.text);
        feed
    }
}

pub(crate) async fn read_answer(stream: &mut TcpStream) -> Answer {
    let mut text = Vec::new();
    timeout(PATIENCE, stream.read_to_end(&mut text)).await.unwrap().unwrap();
    let text = String::from_utf8(text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text:?}"));
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Answer { status, head: head.to_owned(), body: body.to_owned() }
}

/// A live feed, and what has come of it.
pub(crate) struct Feed {
    pub(crate) stream: TcpStream,
    pub(crate) text: String,
}

impl Feed {
    /// Reads until what has come is as it should be, or the feed ends.
    pub(crate) async fn until(&mut self, enough: impl Fn(&str) -> bool) {
        let mut buffer = [0; 4096];
        while !enough(&self.text) {
            let read = timeout(PATIENCE, self.stream.read(&mut buffer)).await;
            let read = read.unwrap_or_else(|_| panic!("nothing more comes: {}", self.text)).unwrap();
            if read == 0 {
                return;
            }
            self.text += std::str::from_utf8(&buffer[..read]).unwrap();
        }
    }

    /// Reads until the feed ends.
    pub(crate) async fn until_the_end(&mut self) {
        self.until(|_| false).await;
    }
}

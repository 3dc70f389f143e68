//! The cloud hands e-mail of alerts to aiosmtpd.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};
use sixlock_cloud::{Config, Device, MailSettings};
use sixlock_interop::{PATIENCE, Process, on_free_ports};

/// A server that prints what it takes.
fn server() -> (Process, u16) {
    let start = |port: u16| {
        let address = format!("127.0.0.1:{port}");
        let arguments = ["-u", "-m", "aiosmtpd", "-d", "-n", "-l", &address];
        Process::start("aiosmtpd-python3", "nothing: ./test does it, from PyPI", &arguments)
    };
    on_free_ports(start, |process, _| process.prints_one_of(&["Server is listening", "in use"], PATIENCE))
}

fn post(running: &sixlock_cloud::Running, token: &str, path: &str, body: &Value) {
    let (mut stream, body) = (TcpStream::connect(running.http).unwrap(), body.to_string());
    let head = format!(
        "POST /api/v1/users/admin/{path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        running.http,
        body.len()
    );
    stream.write_all((head + &body).as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 20"), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_alert_is_told_by_e_mail_whatever_letters_its_rule_has() {
    let (mut server, port) = server();
    let directory = tempfile::tempdir().unwrap();
    let mail = MailSettings {
        server: format!("smtp://127.0.0.1:{port}").parse().unwrap(),
        from: "Alerts <alerts@example.org>".parse().unwrap(),
        password: None,
    };
    let config = Config { max_sessions: 10, mail: Some(mail), ..Config::on_loopback(directory.path()) };
    let running = sixlock_cloud::start(config, None).await.unwrap();
    running.enrol(Device::named("node")).await.unwrap();
    let token = std::fs::read_to_string(directory.path().join("admin-token")).unwrap();
    let told = tokio::task::spawn_blocking(move || {
        let post = |path: &str, body: Value| post(&running, token.trim(), path, &body);
        post("resources/node/streams", json!({"label": "t", "unit": "Cel"}));
        post("channels", json!({"label": "mail", "kind": "email", "address": "ann@example.org"}));
        let code = server.line("confirm it by this code: ", PATIENCE).expect("no code is sent");
        post("channels/mail/confirm", json!({"code": code}));
        let condition = json!({"kind": "threshold", "operator": ">", "operand": 30});
        post(
            "rules",
            json!({"label": "zu warm: 30 °C", "resource": "node", "stream": "t", "channels": ["mail"],
                "condition": condition, "payload": ".\nBcc: eve@example.org"}),
        );
        post("resources/node/streams/t/data", json!({"value": 31.5}));
        let is_told = server.prints_one_of(&["31.5"], PATIENCE);
        (is_told, server.output())
    });
    let (is_told, printed) = told.await.unwrap();
    assert!(is_told, "{printed}");
    let (_, message) = printed.rsplit_once("MESSAGE FOLLOWS").unwrap();
    let (head, body) = message.split_once("\n\n").unwrap();
    assert!(
        head.contains("To: ann@example.org") && head.contains("From: Alerts <alerts@example.org>"),
        "{head}"
    );
    assert!(head.contains("Subject: ") && !head.contains("Bcc"), "{head}");
    assert!(body.contains("31.5"), "{body}");
}

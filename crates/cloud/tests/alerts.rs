//! Alerts as their users set them up: a real cloud, and on the other end of real sockets who is told.

mod web_client;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use aws_lc_rs::hmac;
use serde_json::{Value, json};
use sixlock_cloud::MailSettings;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::time::timeout;
use web_client::{Cloud, PATIENCE, bearer};

/// A request that somebody was told by.
struct Received {
    head: String,
    body: String,
}

impl Received {
    fn header(&self, name: &str) -> &str {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value).unwrap_or_default()
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// Checks the signature as a receiver does, and returns whether it is good.
    fn is_signed_by(&self, key: &str) -> bool {
        let signature = self.header("Sixlock-Signature");
        let (time, signature) = signature.strip_prefix("t=").unwrap().split_once(",v1=").unwrap();
        let tag: Vec<u8> = (0..signature.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&signature[at..at + 2], 16).unwrap())
            .collect();
        let key = hmac::Key::new(hmac::HMAC_SHA256, key.as_bytes());
        hmac::verify(&key, format!("{time}.{}", self.body).as_bytes(), &tag).is_ok()
    }
}

/// A server that answers with these, the last one again and again, and tells each request.
async fn receiver(answers: &'static [&'static str]) -> (SocketAddr, mpsc::UnboundedReceiver<Received>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (tell, told) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let mut answers = answers.iter().chain(std::iter::repeat(&answers[answers.len() - 1]));
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let mut stream = BufReader::new(stream);
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") {
                assert!(stream.read_line(&mut head).await.unwrap() > 0);
            }
            let mut request = Received { head, body: String::new() };
            let mut body = vec![0; request.header("Content-Length").parse().unwrap_or_default()];
            stream.read_exact(&mut body).await.unwrap();
            request.body = String::from_utf8(body).unwrap();
            let answer = answers.next().unwrap();
            let _ = stream.write_all(format!("HTTP/1.1 {answer}Content-Length: 0\r\n\r\n").as_bytes()).await;
            // The test may be over.
            let _ = tell.send(request);
        }
    });
    (address, told)
}

const OK: &[&str] = &["200 OK\r\n"];

async fn next(requests: &mut mpsc::UnboundedReceiver<Received>) -> Received {
    timeout(PATIENCE, requests.recv()).await.expect("nobody was told").unwrap()
}

/// A cloud with the user ann and her resource `node`, which may tell programs on this machine.
async fn start() -> Cloud {
    let cloud = Cloud::start(|config| config.alert_allow = vec!["127.0.0.1".parse().unwrap()]).await;
    cloud.user("ann", false).await;
    cloud.node("ann").await;
    cloud
}

async fn made(cloud: &Cloud, path: &str, body: Value) -> Value {
    let answer = cloud.as_admin(&format!("POST /api/v1/users/ann/{path}"), body).await;
    assert_eq!(answer.status, 201, "{}", answer.body);
    answer.json()
}

async fn shown(cloud: &Cloud, path: &str) -> Value {
    let answer = cloud.as_admin(&format!("GET /api/v1/users/ann/{path}"), Value::Null).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.json()
}

/// Waits until what a path shows is as it should be.
async fn until(cloud: &Cloud, path: &str, is_there: impl Fn(&Value) -> bool) -> Value {
    let end = Instant::now() + PATIENCE;
    loop {
        let seen = shown(cloud, path).await;
        if is_there(&seen) {
            return seen;
        }
        assert!(Instant::now() < end, "{seen}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn webhook(label: &str, address: SocketAddr) -> Value {
    json!({"label": label, "kind": "webhook", "address": format!("http://{address}/hook?a=b")})
}

fn above(label: &str, operand: f64, channels: &[&str]) -> Value {
    json!({"label": label, "severity": "critical", "resource": "node", "stream": "t", "channels": channels,
        "condition": {"kind": "threshold", "operator": ">", "operand": operand}, "payload": "call Ann"})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_is_told_with_a_signature_of_its_own_key_when_an_alert_opens_and_clears() {
    let cloud = start().await;
    let (address, mut told) = receiver(OK).await;
    let key = made(&cloud, "channels", webhook("ops", address)).await["key"].as_str().unwrap().to_owned();
    made(&cloud, "rules", above("too warm", 30.0, &["ops"])).await;
    cloud.post("ann", [31.5]).await;
    let opened = next(&mut told).await;
    assert!(opened.head.starts_with("POST /hook?a=b HTTP/1.1\r\n"), "{}", opened.head);
    assert!(opened.is_signed_by(&key), "{}", opened.head);
    assert!(!opened.is_signed_by("another key"));
    let body = opened.json();
    assert_eq!(body["id"], opened.header("Sixlock-Message"));
    let alerts = shown(&cloud, "alerts?state=open").await;
    assert_eq!((&body["alert"], &body["event"]), (&alerts[0]["id"], &json!("opened")));
    assert_eq!((&body["rule"], &body["severity"]), (&json!("too warm"), &json!("critical")));
    assert_eq!((&body["value"], &body["payload"]), (&json!(31.5), &json!("call Ann")));
    assert_eq!(body["time"], alerts[0]["opened"]);
    assert_eq!(body["unit"], alerts[0]["unit"]);
    let stream = "PUT /api/v1/users/ann/resources/node/streams/t";
    assert_eq!(cloud.as_admin(stream, json!({"unit": "Cel"})).await.status, 200);
    assert_eq!(shown(&cloud, "alerts").await[0]["unit"], "Cel");

    let path = format!("POST /api/v1/users/ann/alerts/{}/acknowledge", body["alert"]);
    let acknowledged = cloud.as_admin(&path, Value::Null).await.json();
    assert_eq!(
        (&acknowledged["state"], &acknowledged["acknowledged_by"]),
        (&json!("acknowledged"), &json!("admin"))
    );

    cloud.post("ann", [29.0]).await;
    let cleared = next(&mut told).await;
    assert!(cleared.is_signed_by(&key));
    assert_eq!(
        (cleared.json()["event"].as_str(), &cleared.json()["alert"]),
        (Some("cleared"), &body["alert"])
    );
    assert_ne!(cleared.json()["id"], body["id"]);
    let channel = until(&cloud, "channels/ops", |channel| channel["waiting"] == 0).await;
    assert_eq!((&channel["failures"], channel["last_told"].is_i64()), (&json!(0), true));
    assert!(!channel.to_string().contains(&key), "the key is shown once");
    assert_eq!(shown(&cloud, "alerts").await.as_array().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_not_taken_is_told_again_by_the_same_id_and_holds_up_no_other_channel() {
    let cloud = start().await;
    let (failing, mut again) = receiver(&["503 Service Unavailable\r\n", "204 No Content\r\n"]).await;
    let (good, mut told) = receiver(OK).await;
    made(&cloud, "channels", webhook("failing", failing)).await;
    made(&cloud, "channels", webhook("good", good)).await;
    made(&cloud, "rules", above("too warm", 30.0, &["failing", "good"])).await;
    cloud.post("ann", [31.0]).await;
    let first = next(&mut again).await.json();
    next(&mut told).await;
    let channel = until(&cloud, "channels/failing", |channel| channel["failures"] == 1).await;
    assert!(channel["last_error"].as_str().unwrap().contains("503"), "{channel}");
    assert_eq!(channel["waiting"], 1);
    assert_eq!(next(&mut again).await.json(), first);
    until(&cloud, "channels/failing", |channel| channel["waiting"] == 0 && channel["failures"] == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_changes_nothing_sees_no_more_of_a_channel_than_its_host() {
    let cloud = start().await;
    let (address, _told) = receiver(&["503 Secret words\r\n"]).await;
    made(&cloud, "channels", webhook("ops", address)).await;
    made(&cloud, "rules", above("too warm", 30.0, &["ops"])).await;
    cloud.post("ann", [31.0]).await;
    let channel = until(&cloud, "channels/ops", |channel| channel["failures"].as_i64() >= Some(1)).await;
    assert_eq!(channel["address"], format!("http://{address}/hook?a=b"));
    let reader = json!({"label": "reader", "read_only": true});
    let reader = made(&cloud, "tokens", reader).await["token"].as_str().unwrap().to_owned();
    for path in ["channels", "channels/ops", "export"] {
        let seen = cloud.ask(&format!("GET /api/v1/users/ann/{path}"), &bearer(&reader), Value::Null).await;
        assert_eq!(seen.status, 200, "{path}");
        assert!(seen.body.contains("127.0.0.1") && !seen.body.contains("a=b"), "{path}: {}", seen.body);
        assert!(seen.body.contains("telling failed") && !seen.body.contains("HTTP"), "{path}: {}", seen.body);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_is_told_by_the_next_cloud() {
    let directory = tempfile::tempdir().unwrap();
    let config = || sixlock_cloud::Config {
        max_sessions: 100,
        alert_allow: vec!["127.0.0.1".parse().unwrap()],
        ..sixlock_cloud::Config::on_loopback(directory.path())
    };
    let running = sixlock_cloud::start(config(), None).await.unwrap();
    let admin = std::fs::read_to_string(directory.path().join("admin-token")).unwrap().trim().to_owned();
    let cloud = Cloud { running, directory: tempfile::tempdir().unwrap(), admin: admin.clone() };
    cloud.user("ann", false).await;
    cloud.node("ann").await;
    // Nobody listens there until later.
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = closed.local_addr().unwrap();
    drop(closed);
    made(&cloud, "channels", webhook("ops", address)).await;
    made(&cloud, "rules", above("too warm", 30.0, &["ops"])).await;
    cloud.post("ann", [31.0]).await;
    until(&cloud, "channels/ops", |channel| channel["failures"].as_i64() >= Some(1)).await;
    cloud.running.stop().await.unwrap();
    let Ok(listener) = TcpListener::bind(address).await else { return };
    let _next = sixlock_cloud::start(config(), None).await.unwrap();
    let (mut stream, _) = timeout(PATIENCE, listener.accept()).await.unwrap().unwrap();
    let mut begun = [0; 11];
    stream.read_exact(&mut begun).await.unwrap();
    assert_eq!(&begun, b"POST /hook?");
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_go_to_the_open_internet_and_where_the_operator_allows_it_and_follow_no_redirect() {
    let cloud = start().await;
    for (body, said) in [
        (json!({"label": "a", "kind": "webhook", "address": "http://10.0.0.1/"}), "a private address"),
        (json!({"label": "a", "kind": "ntfy", "address": "http://169.254.169.254/topic"}), "metadata"),
        (json!({"label": "a", "kind": "webhook", "address": "coap://192.0.2.1/"}), "http and https only"),
        (
            json!({"label": "a", "kind": "webhook", "address": "http://ann:pw@example.org/"}),
            "no user or password",
        ),
        (json!({"label": "a", "kind": "ntfy", "address": "https://ntfy.sh/"}), "names no topic"),
        (json!({"label": "a", "kind": "email", "address": "ann@example.org"}), "sends no e-mail"),
        (
            json!({"label": "a", "kind": "webhook", "address": "https://example.org", "token": "t"}),
            "token is for ntfy",
        ),
        (json!({"label": "a/b", "kind": "webhook", "address": "https://example.org"}), "label"),
    ] {
        let answer = cloud.as_admin("POST /api/v1/users/ann/channels", body).await;
        assert!(answer.status == 400 && answer.body.contains(said), "{said}: {}", answer.body);
    }
    let own = json!({"label": "own", "kind": "webhook", "address": format!("http://{}/", cloud.address())});
    assert_eq!(cloud.as_admin("POST /api/v1/users/ann/channels", own).await.status, 400);

    let (inside, mut never) = receiver(OK).await;
    let redirect = format!("307 Temporary Redirect\r\nLocation: http://{inside}/\r\n").leak();
    let (address, mut told) = receiver(vec![&*redirect].leak()).await;
    made(&cloud, "channels", webhook("ops", address)).await;
    let tested = cloud.as_admin("POST /api/v1/users/ann/channels/ops/test", Value::Null).await;
    assert_eq!(tested.status, 202);
    let again = cloud.as_admin("POST /api/v1/users/ann/channels/ops/test", Value::Null).await;
    assert_eq!((again.status, &*again.code()), (429, "tested"));
    assert_eq!(next(&mut told).await.json()["event"], "test");
    let channel = until(&cloud, "channels/ops", |channel| channel["failures"] == 1).await;
    assert!(channel["last_error"].as_str().unwrap().contains("redirects"), "{channel}");
    assert!(never.try_recv().is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trigger_of_sicsth_sense_is_a_rule_with_a_webhook() {
    let cloud = start().await;
    let (address, mut told) = receiver(OK).await;
    let path = "resources/node/streams/t/triggers";
    let trigger = |operator| json!({"operator": operator, "operand": 5, "url": format!("http://{address}/"), "payload": "frost"});
    let first = made(&cloud, path, trigger("<=")).await;
    assert!(first["channel"]["key"].is_string(), "{first}");
    let second = made(&cloud, path, trigger("=")).await;
    assert!(second["channel"].is_null(), "the same webhook has its key: {second}");
    assert_eq!(shown(&cloud, path).await.as_array().unwrap().len(), 2);
    cloud.post("ann", [4.0]).await;
    let told = next(&mut told).await.json();
    assert_eq!((&told["payload"], &told["rule"]), (&json!("frost"), &first["rule"]["label"]));
    let wrong = cloud.as_admin(&format!("POST /api/v1/users/ann/{path}"), trigger("<>")).await;
    assert!(wrong.status == 400 || wrong.status == 422, "{}", wrong.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_compare_texts_and_truth_values_and_what_is_told_has_them() {
    let cloud = start().await;
    let (address, mut told) = receiver(OK).await;
    made(&cloud, "channels", webhook("ops", address)).await;
    for (label, value_type) in [("door", "text"), ("on", "boolean")] {
        made(&cloud, "resources/node/streams", json!({"label": label, "value_type": value_type})).await;
    }
    let rule = |stream: &str, condition: Value| {
        json!({"label": format!("{stream} {}", condition["kind"].as_str().unwrap()), "resource": "node", "stream": stream,
            "channels": ["ops"], "condition": condition})
    };
    let compare = |operator: &str, operand: Value| json!({"kind": "threshold", "operator": operator, "operand": operand, "hysteresis": 0.0, "hold_s": 0});
    // It is told as it was set, but for a spelling.
    let ajar = made(&cloud, "rules", rule("door", compare("!=", json!("closed")))).await;
    assert_eq!(ajar["condition"], compare("!=", json!("closed")));
    let on = made(&cloud, "rules", rule("on", compare("==", json!(true)))).await;
    assert_eq!(on["condition"], compare("=", json!(true)));
    let moved = made(&cloud, "rules", rule("door", json!({"kind": "change"}))).await;
    assert_eq!(moved["condition"], json!({"kind": "change", "by": null}));
    for (stream, condition) in [
        ("door", compare(">", json!("closed"))),
        ("door", compare("=", json!(1))),
        ("on", compare("=", json!("true"))),
        ("t", compare("=", json!("closed"))),
        ("door", json!({"kind": "change", "by": 1})),
    ] {
        let refused = cloud.as_admin("POST /api/v1/users/ann/rules", rule(stream, condition.clone())).await;
        assert_eq!(refused.status, 400, "{stream} {condition}: {}", refused.body);
    }
    let document = shown(&cloud, "alert-definitions").await;
    let path = "PUT /api/v1/users/ann/alert-definitions";
    let same = cloud.as_admin(path, document).await;
    assert_eq!((same.status, &same.json()["rules"]["changed"]), (200, &json!([])), "{}", same.body);

    let post = async |stream: &str, value: Value| {
        let path = format!("POST /api/v1/users/ann/resources/node/streams/{stream}/data");
        let answer = cloud.as_admin(&path, json!({"value": value})).await;
        assert_eq!(answer.status, 204, "{}", answer.body);
    };
    for (stream, value, event) in [
        ("door", json!("closed"), None),
        ("on", json!(false), None),
        ("on", json!(true), Some("opened")),
        ("on", json!(false), Some("cleared")),
    ] {
        post(stream, value.clone()).await;
        let Some(event) = event else { continue };
        let told = next(&mut told).await.json();
        assert_eq!(
            (&told["event"], &told["value"], &told["stream"]),
            (&json!(event), &value, &json!(stream))
        );
    }
    post("door", json!("ajar")).await;
    for rule in [&ajar, &moved] {
        let told = next(&mut told).await.json();
        assert_eq!((&told["event"], &told["value"]), (&json!("opened"), &json!("ajar")));
        assert_eq!(told["rule"], rule["label"]);
    }
    let alerts = shown(&cloud, "alerts").await;
    let of =
        |rule: &Value| alerts.as_array().unwrap().iter().find(|alert| alert["rule"] == rule["id"]).unwrap();
    assert_eq!((&of(&ajar)["opened_value"], &of(&ajar)["cleared_value"]), (&json!("ajar"), &Value::Null));
    assert_eq!((&of(&on)["opened_value"], &of(&on)["cleared_value"]), (&json!(true), &json!(false)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_topic_of_ntfy_is_told_with_title_priority_and_tags() {
    let cloud = start().await;
    let (address, mut told) = receiver(OK).await;
    let channel = json!({"label": "phone", "kind": "ntfy", "address": format!("http://{address}/topic"), "token": "tk_secret"});
    let added = made(&cloud, "channels", channel).await;
    assert!(added["channel"]["token"] == true && added["key"].is_null(), "{added}");
    made(&cloud, "rules", above("zu wärm", 30.0, &["phone"])).await;
    cloud.post("ann", [31.0]).await;
    let told = next(&mut told).await;
    assert!(told.head.starts_with("POST /topic HTTP/1.1\r\n"), "{}", told.head);
    assert_eq!(told.header("Title"), "[critical] zu wärm (node, t)");
    assert_eq!((told.header("Priority"), told.header("Tags")), ("5", "rotating_light,critical"));
    assert_eq!(told.header("Authorization"), "Bearer tk_secret");
    assert!(told.body.contains("value: 31") && told.body.contains("call Ann"), "{}", told.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn silence_is_told_by_the_clock() {
    let cloud = start().await;
    let (address, mut told) = receiver(OK).await;
    made(&cloud, "channels", webhook("ops", address)).await;
    let quiet = json!({"label": "quiet", "resource": "node", "channels": ["ops"],
        "condition": {"kind": "silence", "after_s": 1}});
    made(&cloud, "rules", quiet).await;
    let opened = next(&mut told).await.json();
    assert_eq!(
        (&opened["event"], &opened["value"], &opened["stream"]),
        (&json!("opened"), &Value::Null, &Value::Null)
    );
    cloud.post("ann", [1.0]).await;
    assert_eq!(next(&mut told).await.json()["event"], "cleared");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_anothers_or_no_rule_is_refused() {
    let cloud = start().await;
    cloud.user("bob", false).await;
    let (address, _told) = receiver(OK).await;
    let channel = cloud.as_admin("POST /api/v1/users/bob/channels", webhook("bobs", address)).await;
    assert_eq!(channel.status, 201);
    let bobs = channel.json()["channel"]["id"].to_string();
    let silence = |condition: Value| json!({"label": "a", "resource": "node", "condition": condition});
    for (rule, said) in [
        (above("a", 1.0, &["bobs"]), "no such channel"),
        (above("a", 1.0, &[&bobs]), "no such channel"),
        (
            json!({"label": "a", "resource": "other", "condition": {"kind": "change", "by": 1}}),
            "no such resource",
        ),
        (silence(json!({"kind": "change", "by": 1})), "name a stream"),
        (silence(json!({"kind": "silence"})), "either periods"),
        (silence(json!({"kind": "silence", "periods": 1})), "either periods"),
        (silence(json!({"kind": "silence", "after_s": 2_678_401})), "either periods"),
        (silence(json!({"kind": "sun"})), "sun"),
    ] {
        let answer = cloud.as_admin("POST /api/v1/users/ann/rules", rule).await;
        assert!(matches!(answer.status, 400 | 422) && answer.body.contains(said), "{said}: {}", answer.body);
    }
    let theirs = cloud.as_admin(&format!("GET /api/v1/users/ann/channels/{bobs}"), Value::Null).await;
    assert_eq!(theirs.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn e_mail_of_an_alert_is_handed_to_the_operators_server() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = format!("smtp://{}", listener.local_addr().unwrap());
    let cloud = Cloud::start(|config| {
        config.mail = Some(MailSettings {
            server: server.parse().unwrap(),
            from: "alerts@example.org".parse().unwrap(),
            password: None,
        });
    })
    .await;
    cloud.user("ann", false).await;
    cloud.node("ann").await;
    for address in ["ann", "ann@example.org\r\nBcc: eve@example.org", "Ann <ann@example.org>"] {
        let channel = json!({"label": "mail", "kind": "email", "address": address});
        let answer = cloud.as_admin("POST /api/v1/users/ann/channels", channel).await;
        assert_eq!(answer.status, 400, "{}", answer.body);
    }
    let mail = json!({"label": "mail", "kind": "email", "address": "ann@example.org"});
    let channel = made(&cloud, "channels", mail).await["channel"].clone();
    assert_eq!(channel["confirmed"], false);
    made(&cloud, "rules", above("too warm", 30.0, &["mail"])).await;
    let message = next_mail(&listener).await;
    assert!(message.contains("Subject: Confirm this address for alerts\r\n"), "{message}");
    assert!(!message.contains("too warm"), "what a stranger is sent is not its sender's choice: {message}");
    let digits = message.rsplit_once("code: ").unwrap().1;
    let code: String = digits.chars().take_while(char::is_ascii_digit).collect();
    for (code, status) in [("1", 400), (&*code, 204), ("whatever", 204)] {
        let path = "POST /api/v1/users/ann/channels/mail/confirm";
        assert_eq!(cloud.as_admin(path, json!({"code": code})).await.status, status, "{code}");
    }
    cloud.post("ann", [31.0]).await;
    let message = next_mail(&listener).await;
    assert!(message.contains("Subject: [critical] too warm (node, t)\r\n"), "{message}");
    assert!(message.contains("To: ann@example.org\r\n") && message.contains("value: 31"), "{message}");
    until(&cloud, "channels/mail", |channel| channel["waiting"] == 0).await;
}

/// Takes the next e-mail from the cloud, as the operator's server.
async fn next_mail(listener: &TcpListener) -> String {
    let (stream, _) = timeout(PATIENCE, listener.accept()).await.unwrap().unwrap();
    let mut stream = BufReader::new(stream);
    stream.write_all(b"220 mail.example.org\r\n").await.unwrap();
    let (mut line, mut message) = (String::new(), None);
    while message.is_none() && stream.read_line(&mut line).await.unwrap() > 0 {
        let command = std::mem::take(&mut line);
        if command.starts_with("DATA") {
            stream.write_all(b"354 go on\r\n").await.unwrap();
            let mut text = String::new();
            while !text.ends_with("\r\n.\r\n") {
                stream.read_line(&mut text).await.unwrap();
            }
            message = Some(text);
        }
        stream.write_all(b"250 fine\r\n").await.unwrap();
    }
    message.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn all_rules_and_channels_are_one_document_that_is_taken_whole_or_not_at_all() {
    const DOCUMENT: &str = "/api/v1/users/ann/alert-definitions";
    let cloud = start().await;
    let (address, mut told) = receiver(OK).await;
    let key = made(&cloud, "channels", webhook("ops", address)).await["key"].as_str().unwrap().to_owned();
    made(&cloud, "channels", webhook("night", address)).await;
    made(&cloud, "rules", above("too warm", 30.0, &["ops"])).await;
    made(&cloud, "rules", above("hot", 90.0, &["night", "ops"])).await;
    cloud.post("ann", [31.0]).await;
    let opened = next(&mut told).await.json();
    let put = async |query: &str, document: &Value| {
        cloud.as_admin(&format!("PUT {DOCUMENT}{query}"), document.clone()).await
    };
    let written = shown(&cloud, "alert-definitions").await;
    assert!(!written.to_string().contains(&key), "{written}");
    let nothing = json!({"added": [], "changed": [], "removed": []});
    let same = put("", &written).await.json();
    assert_eq!(same, json!({"channels": nothing, "rules": nothing, "keys": {}}));

    // Of what is wrong all is named, and nothing becomes another.
    let mut wrong = written.clone();
    wrong["rules"][0]["stream"] = json!("nowhere");
    wrong["rules"][1]["channels"] = json!(["day"]);
    let refused = put("", &wrong).await;
    let bad = refused.json()["error"]["definitions"].clone();
    assert_eq!((refused.status, bad.as_array().map(Vec::len)), (409, Some(2)), "{}", refused.body);
    assert_eq!((&bad[0]["kind"], &bad[0]["label"]), (&json!("rule"), &json!("too warm")));
    assert_eq!(bad[0]["why"], "there is no such stream");
    assert!(bad[1]["why"].as_str().unwrap().contains("not among these"), "{bad}");
    let mut forbidden = written.clone();
    forbidden["channels"][0]["address"] = json!("http://10.0.0.1/");
    let refused = put("", &forbidden).await.json()["error"]["definitions"].clone();
    assert_eq!((&refused[0]["kind"], &refused[0]["label"]), (&json!("channel"), &json!("ops")));
    assert_eq!(put("", &json!({"rules": []})).await.status, 422, "no channels is said, not left out");
    assert_eq!(shown(&cloud, "alert-definitions").await, written);

    // One channel is another, one rule goes and one comes.
    let mut next_ones = written.clone();
    next_ones["channels"][1]["address"] = json!(format!("http://{address}/elsewhere"));
    next_ones["rules"][1] = above("thawed", -5.0, &["night"]);
    let changes = json!({"channels": {"added": [], "changed": ["night"], "removed": []},
        "rules": {"added": ["thawed"], "changed": [], "removed": ["hot"]}, "keys": {}});
    assert_eq!(put("?dry_run=true", &next_ones).await.json(), changes);
    assert_eq!(shown(&cloud, "alert-definitions").await, written);
    let mut done = put("", &next_ones).await.json();
    let new_key = done["keys"]["night"].take().as_str().unwrap().to_owned();
    assert_eq!((&done["channels"], &done["rules"]), (&changes["channels"], &changes["rules"]));
    let now = shown(&cloud, "alert-definitions").await;
    assert_eq!(now["channels"], next_ones["channels"]);
    let labels: Vec<_> = now["rules"].as_array().unwrap().iter().map(|rule| rule["label"].clone()).collect();
    assert_eq!(labels, ["too warm", "thawed"]);

    // The rule that is the same goes on with its alert, and its channel with its key.
    let open = shown(&cloud, "alerts?state=open").await;
    assert_eq!((open.as_array().unwrap().len(), &open[0]["id"]), (1, &opened["alert"]));
    cloud.post("ann", [29.0]).await;
    let first = next(&mut told).await;
    let second = next(&mut told).await;
    // That of the new rule opens at the same time: whoever is told first.
    let (cleared, thawed) = if first.is_signed_by(&key) { (first, second) } else { (second, first) };
    assert!(cleared.is_signed_by(&key) && thawed.is_signed_by(&new_key));
    assert_eq!((&cleared.json()["event"], &cleared.json()["alert"]), (&json!("cleared"), &opened["alert"]));
    assert_eq!((&thawed.json()["event"], &thawed.json()["rule"]), (&json!("opened"), &json!("thawed")));
}

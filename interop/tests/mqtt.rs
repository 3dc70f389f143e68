//! The cloud publishes readings to mosquitto.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sixlock_cloud::{Config, Device, Running};
use sixlock_interop::{Mosquitto, PATIENCE, Process};
use tempfile::TempDir;

/// How often is looked whether something has come to be.
const STEP: Duration = Duration::from_millis(20);

struct Cloud {
    running: Running,
    directory: TempDir,
}

fn config(data: &Path) -> Config {
    Config {
        max_sessions: 10,
        broker_allow: vec!["127.0.0.0/8".parse().unwrap()],
        ..Config::on_loopback(data)
    }
}

impl Cloud {
    async fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let running = sixlock_cloud::start(config(directory.path()), None).await.unwrap();
        Self { running, directory }
    }

    async fn restart(self) -> Self {
        let Self { running, directory } = self;
        running.stop().await.unwrap();
        let running = sixlock_cloud::start(config(directory.path()), None).await.unwrap();
        Self { running, directory }
    }

    /// Status and body of what is answered.
    fn ask(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let token = std::fs::read_to_string(self.directory.path().join("admin-token")).unwrap();
        let (mut stream, body) = (TcpStream::connect(self.running.http).unwrap(), body.to_string());
        let head = format!(
            "{method} /api/v1/users/admin/{path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            self.running.http,
            token.trim(),
            body.len()
        );
        stream.write_all((head + &body).as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap_or_else(|_| Value::String(body.to_owned())))
    }

    /// What is answered, which is no refusal.
    fn done(&self, method: &str, path: &str, body: &Value) -> Value {
        let (status, answer) = self.ask(method, path, body);
        assert!((200..300).contains(&status), "{method} {path}: {status} {answer}");
        answer
    }

    fn post(&self, device: &str, stream: &str, value: impl Into<Value>) {
        let path = format!("resources/{device}/streams/{stream}/data");
        self.done("POST", &path, &json!({"value": value.into(), "time": 1_700_000_000_000i64}));
    }

    /// The broker, once it is as is asked for.
    fn await_broker(&self, name: &str, is: impl Fn(&Value) -> bool) -> Value {
        let end = Instant::now() + PATIENCE;
        loop {
            let broker = self.done("GET", &format!("brokers/{name}"), &Value::Null);
            if is(&broker) {
                return broker;
            }
            assert!(Instant::now() < end, "the broker stays {broker}");
            std::thread::sleep(STEP);
        }
    }
}

/// The messages that were printed: topic, whether it was retained, and payload.
fn messages(subscriber: &Process) -> Vec<(String, bool, String)> {
    let printed = subscriber.output();
    let lines = printed.lines().filter_map(|line| line.strip_prefix("message "));
    lines
        .map(|line| {
            let mut parts = line.splitn(3, '|').map(str::to_owned);
            let mut next = || parts.next().unwrap();
            (next(), next() == "1", next())
        })
        .collect()
}

/// The messages, once there are so many of them with different content.
fn await_messages(subscriber: &Process, count: usize) -> Vec<(String, bool, String)> {
    let end = Instant::now() + PATIENCE;
    loop {
        let all = messages(subscriber);
        let different: std::collections::BTreeSet<_> = all.iter().collect();
        if different.len() >= count {
            return all;
        }
        assert!(Instant::now() < end, "{} messages of {count}: {}", different.len(), subscriber.output());
        std::thread::sleep(STEP);
    }
}

/// The values in messages of JSON, each when it came first.
fn first_values(messages: &[(String, bool, String)]) -> Vec<i64> {
    let mut values = Vec::new();
    for (_, _, payload) in messages {
        let payload: Value = serde_json::from_str(payload).unwrap();
        let value = payload["value"].as_f64().unwrap() as i64;
        if !values.contains(&value) {
            values.push(value);
        }
    }
    values
}

const OPEN: fn(&Path, std::net::SocketAddr) -> String = |_, _| "allow_anonymous true".into();

#[tokio::test(flavor = "multi_thread")]
async fn readings_of_every_type_arrive_over_tls_with_a_password_and_a_wrong_one_is_told() {
    let mut authority = String::new();
    let mosquitto = Mosquitto::start(|folder, address| {
        let names = [address.ip().to_string()];
        let rcgen::CertifiedKey { cert, signing_key } = rcgen::generate_simple_self_signed(names).unwrap();
        authority = cert.pem();
        std::fs::write(folder.join("cert.pem"), &authority).unwrap();
        std::fs::write(folder.join("key.pem"), signing_key.serialize_pem()).unwrap();
        let (folder, passwords) = (folder.display(), Mosquitto::password_file(folder, "ann", "s3cret"));
        format!(
            "certfile {folder}/cert.pem\nkeyfile {folder}/key.pem\npassword_file {passwords}\nallow_anonymous false"
        )
    });
    let file = mosquitto.folder().join("cert.pem");
    let subscriber = mosquitto.subscribe(&["--cafile", file.to_str().unwrap(), "-u", "ann", "-P", "s3cret"]);
    let cloud = Cloud::start().await;
    for device in ["room", "$SYS + 1#"] {
        cloud.running.enrol(Device::named(device)).await.unwrap();
    }
    let asked = tokio::task::spawn_blocking(move || {
        for (device, stream, unit, value_type) in [
            ("room", "temperature", "Cel", "number"),
            ("room", "door", "", "text"),
            ("%24SYS%20+%201%23", "100% on?", "", "boolean"),
        ] {
            let stream = json!({"label": stream, "unit": unit, "value_type": value_type});
            cloud.done("POST", &format!("resources/{device}/streams"), &stream);
        }
        cloud.post("room", "temperature", 1.0);
        let broker = json!({"label": "home", "url": format!("mqtts://{}", mosquitto.address()), "username": "ann",
            "password": "s3cret", "authority": authority, "retain": true});
        let made = cloud.done("POST", "brokers", &broker);
        assert_eq!(
            (&made["prefix"], &made["qos"], &made["password"]),
            (&json!("sixlock/{user}"), &json!(1), &json!(true))
        );
        cloud.post("room", "temperature", 21.5);
        cloud.post("room", "door", "open");
        cloud.post("%24SYS%20+%201%23", "100%25%20on%3F", true);
        let arrived = await_messages(&subscriber, 3);
        let expected = [
            (
                "sixlock/admin/room/temperature",
                json!({"time": 1_700_000_000_000i64, "value": 21.5, "unit": "Cel"}),
            ),
            ("sixlock/admin/room/door", json!({"time": 1_700_000_000_000i64, "value": "open", "unit": null})),
            (
                "sixlock/admin/%24SYS %2B 1%23/100%25 on?",
                json!({"time": 1_700_000_000_000i64, "value": true, "unit": null}),
            ),
        ];
        for ((topic, _, payload), (expected, json)) in arrived.iter().zip(&expected) {
            assert_eq!(
                (&**topic, serde_json::from_str::<Value>(payload).unwrap()),
                (*expected, json.clone())
            );
        }
        let state = cloud.await_broker("home", |broker| broker["published"] == 3);
        assert_eq!(
            (&state["behind"], &state["dropped"], &state["last_error"]),
            (&json!(0), &json!(0), &json!(null))
        );
        assert!(state["connected_since"].is_i64() && !state.to_string().contains("s3cret"), "{state}");
        let export = cloud.ask("GET", "export", &Value::Null).1.to_string();
        assert!(export.contains("broker") && !export.contains("s3cret"), "{export}");

        let tested = cloud.done("POST", "brokers/home/test", &Value::Null);
        assert_eq!((&tested["taken"], &tested["topic"]), (&json!(true), &json!("sixlock/admin")), "{tested}");
        assert_eq!(tested["said"], "the broker acknowledged the message");
        assert_eq!(await_messages(&subscriber, 4)[3].0, "sixlock/admin");
        assert_eq!(cloud.ask("POST", "brokers/home/test", &Value::Null).0, 429);

        // Settings without the password keep it, and with a wrong one it is said.
        let mut again = broker.clone();
        again.as_object_mut().unwrap().remove("password");
        cloud.done("PUT", "brokers/home", &again);
        cloud.await_broker("home", |broker| broker["connected_since"].is_i64());
        again["password"] = "wr0ng".into();
        cloud.done("PUT", "brokers/home", &again);
        let refused = cloud.await_broker("home", |broker| broker["last_error"].is_string());
        assert!(refused["last_error"].as_str().unwrap().contains("not authorized"), "{refused}");
        cloud.post("room", "temperature", 22.5);
        cloud.await_broker("home", |broker| broker["behind"] == 1);
        again["password"] = "s3cret".into();
        cloud.done("PUT", "brokers/home", &again);
        let values = await_messages(&subscriber, 5);
        assert!(values[4].2.contains("22.5"), "{values:?}");
        // The last message of each topic was retained.
        let file = mosquitto.folder().join("cert.pem");
        let later = mosquitto.subscribe(&[
            "--cafile",
            file.to_str().unwrap(),
            "-u",
            "ann",
            "-P",
            "s3cret",
            "-i",
            "later",
        ]);
        let kept: BTreeMap<String, String> = await_messages(&later, 3)
            .into_iter()
            .filter(|message| message.1)
            .map(|(topic, _, payload)| (topic, payload))
            .collect();
        assert!(kept["sixlock/admin/room/temperature"].contains("22.5"), "{kept:?}");
        // Another authority than that of its certificate: it is not believed.
        again["authority"] =
            rcgen::generate_simple_self_signed(["other".to_owned()]).unwrap().cert.pem().into();
        cloud.done("PUT", "brokers/home", &again);
        let refused = cloud.await_broker("home", |broker| broker["last_error"].is_string());
        assert!(refused["last_error"].as_str().unwrap().starts_with("TLS failed"), "{refused}");
        let audit = std::fs::read_to_string(cloud.directory.path().join("audit.jsonl")).unwrap();
        assert!(audit.contains("brokers_changed") && !audit.contains("s3cret"), "{audit}");
    });
    asked.await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_stored_while_the_broker_or_the_cloud_is_away_arrives_in_order() {
    let mut mosquitto = Mosquitto::start(OPEN);
    let subscriber = mosquitto.subscribe(&[]);
    let cloud = Cloud::start().await;
    cloud.running.enrol(Device::named("room")).await.unwrap();
    let asked = tokio::task::spawn_blocking(move || {
        let broker = json!({"label": "home", "url": format!("mqtt://{}", mosquitto.address())});
        cloud.done("POST", "brokers", &broker);
        // Another that is never there holds up nobody.
        cloud.done("POST", "brokers", &json!({"label": "gone", "url": "mqtt://127.255.255.1:9009"}));
        let post = |cloud: &Cloud, values: std::ops::Range<i64>| {
            values.for_each(|value| cloud.post("room", "t", value))
        };
        cloud.done("POST", "resources/room/streams", &json!({"label": "t"}));
        post(&cloud, 0..30);
        await_messages(&subscriber, 30);
        mosquitto.stop();
        cloud.await_broker("home", |broker| broker["last_error"].is_string());
        post(&cloud, 30..90);
        let waiting = cloud.await_broker("home", |broker| broker["behind"] == 60);
        assert_eq!(waiting["connected_since"], json!(null));
        (cloud, subscriber, mosquitto)
    });
    let (cloud, subscriber, mut mosquitto) = asked.await.unwrap();
    // The broker is away still when the cloud goes and comes again.
    let cloud = cloud.restart().await;
    let asked = tokio::task::spawn_blocking(move || {
        cloud.await_broker("home", |broker| broker["behind"] == 60);
        mosquitto.resume();
        (90..100).for_each(|value| cloud.post("room", "t", value));
        let arrived = await_messages(&subscriber, 100);
        assert_eq!(first_values(&arrived), (0..100).collect::<Vec<_>>());
        let home = cloud.await_broker("home", |broker| broker["behind"] == 0);
        assert!(home["published"].as_i64().unwrap() >= 100 && home["dropped"] == 0, "{home}");
        let gone = cloud.await_broker("gone", |broker| broker["behind"] == 100);
        assert!(gone["failures"].as_i64().unwrap() > 0, "{gone}");
    });
    asked.await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn only_chosen_devices_are_published_also_as_senml_and_addresses_inside_and_a_fifth_broker_are_refused()
{
    let mosquitto = Mosquitto::start(OPEN);
    let subscriber = mosquitto.subscribe(&[]);
    let cloud = Cloud::start().await;
    let asked = tokio::task::spawn_blocking(move || {
        for (device, tags) in [("room", json!(["Roof"])), ("cellar", json!([]))] {
            cloud.done("POST", "resources", &json!({"label": device, "mode": "dtls-psk", "tags": tags}));
            cloud.done("POST", &format!("resources/{device}/streams"), &json!({"label": "t", "unit": "Cel"}));
        }
        let url = format!("mqtt://{}", mosquitto.address());
        let broker = |label: &str, more: Value| {
            let mut broker = json!({"label": label, "url": url, "prefix": label});
            broker.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            broker
        };
        for broker in [
            broker("tagged", json!({"tag": "roof", "format": "senml"})),
            broker("listed", json!({"resources": ["cellar"], "qos": 0})),
            broker("none", json!({"resources": []})),
            broker("all", json!({})),
        ] {
            cloud.done("POST", "brokers", &broker);
        }
        // What is sent without acknowledgement goes to who is connected.
        cloud.await_broker("listed", |broker| broker["connected_since"].is_i64());
        for device in ["room", "cellar"] {
            cloud.post(device, "t", 21.5);
        }
        let arrived = await_messages(&subscriber, 4);
        let mut topics: Vec<&str> = arrived.iter().map(|(topic, ..)| &**topic).collect();
        topics.sort_unstable();
        assert_eq!(topics, ["all/cellar/t", "all/room/t", "listed/cellar/t", "tagged/room"]);
        let (.., senml) = arrived.iter().find(|(topic, ..)| topic == "tagged/room").unwrap();
        let senml: Value = serde_json::from_str(senml).unwrap();
        assert_eq!(senml, json!([{"n": "t", "u": "Cel", "v": 21.5, "t": 1_700_000_000.0}]));

        for (method, path, body, status, words) in [
            ("POST", "brokers", broker("fifth", json!({})), 409, "4 brokers"),
            ("PUT", "brokers/all", broker("none", json!({})), 409, "label"),
            (
                "PUT",
                "brokers/all",
                broker("all", json!({"url": "mqtt://10.1.2.3"})),
                400,
                "--broker-allow 10.1.2.3:1883",
            ),
            (
                "PUT",
                "brokers/all",
                broker("all", json!({"url": "mqtt://169.254.169.254:1883"})),
                400,
                "metadata",
            ),
            (
                "PUT",
                "brokers/all",
                broker("all", json!({"url": format!("mqtt://{}", cloud.running.http)})),
                400,
                "this cloud itself",
            ),
            ("PUT", "brokers/all", broker("all", json!({"url": "mqtt://a/topic"})), 400, "prefix"),
            ("PUT", "brokers/all", broker("all", json!({"prefix": "a/#"})), 400, "prefix"),
            ("PUT", "brokers/all", broker("all", json!({"qos": 2})), 400, "qos"),
            ("PUT", "brokers/all", broker("all", json!({"tag": "a", "resources": []})), 400, "exclude"),
            ("PUT", "brokers/all", broker("all", json!({"resources": ["attic"]})), 404, "resource"),
            ("PUT", "brokers/all", broker("all", json!({"authority": "x"})), 400, "mqtts"),
            ("PUT", "brokers/all", broker("all", json!({"password": "x"})), 400, "user name"),
            ("DELETE", "brokers/fifth", Value::Null, 404, "broker"),
        ] {
            let (answered, said) = cloud.ask(method, path, &body);
            assert_eq!(answered, status, "{method} {path} {body}: {said}");
            assert!(said.to_string().contains(words), "{body}: {said}");
        }
        // A name that leads inside is refused when it is connected to.
        cloud.done("PUT", "brokers/none", &broker("none", json!({"url": "mqtt://localhost:1883"})));
        let refused = cloud.await_broker("none", |broker| broker["last_error"].is_string());
        assert_ne!(refused["last_error"], "", "{refused}");
        cloud.done("DELETE", "brokers/all", &Value::Null);
        assert_eq!(cloud.ask("GET", "brokers/all", &Value::Null).0, 404);
    });
    asked.await.unwrap();
}

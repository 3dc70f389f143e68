//! What devices and users are answered, without sockets.

mod content;
mod of_users;

use sixlock_coap_msg::{Builder, Code, ContentFormat, Message, OptionNumber, Type};
use std::sync::Arc;

use sixlock_coap_server::{Answering, LONGEST_PAYLOAD, Service};
use sixlock_store::{Device, RetentionChange};
use sixlock_telemetry::{Audit, Scheme};
use tempfile::TempDir;

use super::*;
use crate::{Secret, access};

const PACK: &str =
    r#"[{"bn":"urn:dev:mac:0212740000000001:","n":"temperature","u":"Cel","v":21.4},{"n":"light","v":310}]"#;
const KEY: &str = "0123456789abcdef";

struct Bench {
    devices: Arc<Devices>,
    own: ResourceId,
    other: ResourceId,
    directory: TempDir,
    audit: std::thread::JoinHandle<()>,
}

async fn bench() -> Bench {
    let directory = tempfile::tempdir().unwrap();
    let (store, _writer) = Store::open(directory.path()).await.unwrap();
    let (recorder, audit) = Audit::open(directory.path(), now_ms, drop).unwrap();
    let user = store.add_user("ann", "", "a long password".into(), false).await.unwrap();
    let mut ids = Vec::new();
    for label in ["node-1", "node-2"] {
        let key = Some(Secret::new(KEY.into()));
        let device = Device { key, ..Device::named(label) };
        ids.push(store.enrol(user.id, device).await.unwrap().resource.id);
    }
    Bench {
        devices: Arc::new(Devices::new(store, Events::unheard().recorded_by(recorder))),
        own: ids[0],
        other: ids[1],
        directory,
        audit,
    }
}

impl Bench {
    fn secure(&self) -> Peer {
        let from = "127.0.0.1:1".parse().unwrap();
        let holder = Some(Holder::Device(DeviceId(self.own.0)));
        Peer { scheme: Scheme::Coaps, from, holder, credential: None, association: [1; 24] }
    }

    fn plain(&self) -> Peer {
        Peer { scheme: Scheme::Coap, holder: None, ..self.secure() }
    }

    async fn answer(&self, peer: Peer, request: Request) -> Answer {
        match self.devices.clone().answer(peer, request) {
            Answering::Now(answer) => answer,
            Answering::Later(answer) => answer.await,
        }
    }

    async fn ask(&self, peer: Peer, code: Code, path: &str, query: &[String], payload: &str) -> Answer {
        let format = (code == Code::POST).then_some(ContentFormat::SENML_JSON);
        self.send(peer, code, path, query, format, payload.as_bytes(), 1).await
    }

    #[allow(clippy::too_many_arguments)]
    async fn send(
        &self,
        peer: Peer,
        code: Code,
        path: &str,
        query: &[String],
        format: Option<ContentFormat>,
        payload: &[u8],
        id: u16,
    ) -> Answer {
        let request = Self::request(code, path, query, format, payload, id);
        self.answer(peer, request).await
    }

    fn request(
        code: Code,
        path: &str,
        query: &[String],
        format: Option<ContentFormat>,
        payload: &[u8],
        id: u16,
    ) -> Request {
        let mut datagram = [0; 4096];
        let mut builder = Builder::new(&mut datagram, Type::Confirmable, code, id, b"tk").unwrap();
        builder.path(&path.split('/').collect::<Vec<_>>()).unwrap();
        if let Some(format) = format {
            builder.content_format(format).unwrap();
        }
        for argument in query {
            builder.option(OptionNumber::URI_QUERY, argument.as_bytes()).unwrap();
        }
        let length = builder.finish_with(payload).unwrap();
        Request::read(&Message::parse(&datagram[..length]).unwrap(), usize::MAX)
    }

    async fn points(&self, resource: ResourceId) -> i64 {
        self.devices.store.count_points(resource).await.unwrap()
    }

    fn refusals(self) -> Vec<serde_json::Value> {
        drop(self.devices);
        self.audit.join().unwrap();
        let text = std::fs::read_to_string(self.directory.path().join("audit.jsonl")).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

#[tokio::test]
async fn a_session_posts_to_its_own_resource_and_to_no_other() {
    let bench = bench().await;
    let post =
        async |query: &[String]| bench.ask(bench.secure(), Code::POST, "resources/data", query, PACK).await;
    assert_eq!(post(&[]).await.code, Code::CHANGED);
    let streams = bench.devices.store.streams(bench.own).await.unwrap();
    let labels: Vec<_> = streams.iter().map(|stream| (&*stream.label, stream.unit.as_deref())).collect();
    assert_eq!(labels, [("temperature", Some("Cel")), ("light", None)]);
    assert_eq!(post(&[format!("id={}", bench.own.0)]).await.code, Code::CHANGED);
    assert_eq!(bench.points(bench.own).await, 2, "the same message was stored twice");
    assert_eq!(post(&[format!("id={}", bench.other.0)]).await.code, Code::FORBIDDEN);
    assert_eq!(post(&["id=4711".into()]).await.code, Code::FORBIDDEN);
    assert_eq!(bench.points(bench.other).await, 0);
    let refusals = bench.refusals();
    assert_eq!(refusals.len(), 2);
    assert_eq!(refusals[0]["reason"], "anothers_resource");
}

#[tokio::test]
async fn what_a_frozen_stream_does_not_take_is_told_and_the_rest_is_stored() {
    let bench = bench().await;
    let post = async |id, payload: &str| {
        let (path, format) = ("resources/data", Some(ContentFormat::SENML_JSON));
        bench.send(bench.secure(), Code::POST, path, &[], format, payload.as_bytes(), id).await
    };
    assert_eq!(post(1, PACK).await.code, Code::CHANGED);
    let store = &bench.devices.store;
    let light = store.stream(bench.own, "light").await.unwrap().unwrap().id;
    let frozen = RetentionChange { is_frozen: Some(true), ..RetentionChange::default() };
    store.change_retention(light, frozen, now_ms()).await.unwrap();
    let answer = post(2, PACK).await;
    assert_eq!((answer.code, answer.format), (Code::CHANGED, Some(ContentFormat::TEXT)));
    let words = String::from_utf8(answer.payload).unwrap();
    assert_eq!(words, "\"light\" is frozen and takes no points (1 left out)");
    assert_eq!(bench.points(bench.own).await, 3);
    let answer = post(3, r#"[{"n":"light","v":310}]"#).await;
    assert_eq!(answer.code, Code::CONFLICT);
    assert!(String::from_utf8(answer.payload).unwrap().contains("light"));
    assert_eq!(bench.points(bench.own).await, 3);
}

#[tokio::test]
async fn a_plain_post_brings_the_key_of_its_resource() {
    let bench = bench().await;
    let post = async |query: &[&str]| {
        let query: Vec<String> = query.iter().map(|&argument| argument.into()).collect();
        bench.ask(bench.plain(), Code::POST, "resources/data", &query, PACK).await
    };
    let id = &*format!("id={}", bench.own.0);
    assert_eq!(post(&[id, "key=0123456789abcdef"]).await.code, Code::CHANGED);
    assert_eq!(bench.points(bench.own).await, 2);
    let mut answers = Vec::new();
    for query in [
        &[][..],
        &[id],
        &["key=0123456789abcdef"],
        &[id, "key="],
        &[id, "key=0123456789abcdee"],
        &[id, "key=0123456789abcdef0"],
        &["id=4711", "key=0123456789abcdef"],
    ] {
        answers.push(post(query).await);
    }
    assert_eq!(answers[0].code, Code::UNAUTHORIZED);
    assert!(answers.iter().all(|answer| *answer == answers[0]), "the answers tell what exists");
    assert_eq!(bench.points(bench.own).await, 2);
    let refusals = bench.refusals();
    assert_eq!(refusals.len(), 7);
    assert!(refusals.iter().all(|refusal| refusal["reason"] == "wrong_key" && refusal["scheme"] == "coap"));
    assert!(!format!("{refusals:?}").contains("0123456789"), "a key stands in the record");
}

#[tokio::test]
async fn what_cannot_be_stored_whole_is_not_stored_at_all() {
    let bench = bench().await;
    for (code, payload) in [
        (Code::BAD_REQUEST, ""),
        (Code::BAD_REQUEST, "[]"),
        (Code::BAD_REQUEST, "21.4"),
        (Code::BAD_REQUEST, r#"[{"n":"a","v":1},{"n":"b","vd":"AQ"}]"#),
        (Code::BAD_REQUEST, r#"[{"n":"a","v":1},{"n":"b","v":1e999}]"#),
        (Code::BAD_REQUEST, r#"[{"n":"a","v":1},{"n":"b","v":1,"t":1e300}]"#),
        (Code::BAD_REQUEST, r#"[{"n":"a","v":1}"#),
        (Code::BAD_REQUEST, r#"[{"n":"a","v":1},{"n":"$","v":1}]"#),
        (Code::CHANGED, r#"[{"n":"a","v":1},{"n":"b","v":-2.5e1}]"#),
    ] {
        let answer = bench.ask(bench.secure(), Code::POST, "resources/data", &[], payload).await;
        assert_eq!(answer.code, code, "{payload}");
        let points = if code == Code::CHANGED { 2 } else { 0 };
        assert_eq!(bench.points(bench.own).await, points, "{payload}");
    }
    let bytes = Some(ContentFormat::OCTET_STREAM);
    let pack = PACK.as_bytes();
    let answer = bench.send(bench.secure(), Code::POST, "resources/data", &[], bytes, pack, 1).await;
    assert_eq!(answer.code, Code::UNSUPPORTED_CONTENT_FORMAT);
    for (method, path, code) in [
        (Code::PUT, "resources/data", Code::METHOD_NOT_ALLOWED),
        (Code::PUT, "streams/data", Code::METHOD_NOT_ALLOWED),
        (Code::POST, "things", Code::NOT_FOUND),
        (Code::POST, "resources/data/x", Code::NOT_FOUND),
    ] {
        assert_eq!(bench.ask(bench.secure(), method, path, &[], PACK).await.code, code, "{path}");
    }
}

#[tokio::test]
async fn payloads_of_every_format_are_stored_and_the_first_makes_the_parsers() {
    let bench = bench().await;
    let mut id = 0;
    let mut post = async |format: ContentFormat, payload: &[u8]| {
        id += 1;
        bench.send(bench.secure(), Code::POST, "resources/data", &[], Some(format), payload, id).await
    };
    // [{0: "c", 2: 21.5}]
    let answer = post(ContentFormat::SENML_CBOR, b"\x81\xa2\x00\x61c\x02\xf9\x4d\x60").await;
    assert_eq!(answer.code, Code::CHANGED);
    let answer = post(ContentFormat::JSON, br#"{"sensors":[{"t":1}],"n":2}"#).await;
    assert_eq!(answer.code, Code::CHANGED);
    // {"n": 3}
    assert_eq!(post(ContentFormat::CBOR, b"\xa1\x61n\x03").await.code, Code::CHANGED);
    let answer = post(ContentFormat::TEXT, b"21.5").await;
    assert_eq!(answer.code, Code::BAD_REQUEST, "no parser of the resource reads text");
    let why = String::from_utf8(answer.payload).unwrap();
    assert!(why.contains("\"n\", \"sensors/0/t\""), "{why}");
    let streams = bench.devices.store.streams(bench.own).await.unwrap();
    let labels: Vec<_> = streams.iter().map(|stream| &*stream.label).collect();
    assert_eq!(labels, ["c", "n", "sensors/0/t"]);
    assert_eq!(bench.points(bench.own).await, 4);
    assert_eq!(bench.points(bench.other).await, 0);
    assert!(bench.devices.store.parsers(bench.other).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_device_reads_its_own_streams_and_no_others() {
    let bench = bench().await;
    for n in 0..100u16 {
        let pack = format!(r#"[{{"n":"t","v":{n},"t":{}}}]"#, 1_700_000_000 + u32::from(n));
        let answer =
            bench.send(bench.secure(), Code::POST, "resources/data", &[], None, pack.as_bytes(), n).await;
        assert_eq!(answer.code, Code::CHANGED);
    }
    let stream = bench.devices.store.stream(bench.own, "t").await.unwrap().unwrap().id.0;
    let get = async |peer: Peer, query: &str| {
        let query: Vec<String> = query.split('&').map(Into::into).collect();
        bench.ask(peer, Code::GET, "streams/data", &query, "").await
    };
    let values = |answer: &Answer| {
        assert_eq!((answer.code, answer.format), (Code::CONTENT, Some(ContentFormat::JSON)));
        assert!(answer.payload.len() <= LONGEST_PAYLOAD);
        let points: serde_json::Value = serde_json::from_slice(&answer.payload).unwrap();
        points.as_array().unwrap().iter().map(|point| point["value"].as_f64().unwrap()).collect::<Vec<_>>()
    };
    let id = format!("id={stream}");
    let latest = values(&get(bench.secure(), &id).await);
    assert!(latest.len() > 20 && latest.is_sorted() && latest.last() == Some(&99.0), "{latest:?}");
    let first = values(&get(bench.secure(), &format!("{id}&from=1700000010000")).await);
    assert!(first.len() > 20 && first.is_sorted() && first[0] == 10.0, "{first:?}");
    let three = get(bench.secure(), &format!("{id}&limit=3&until=1700000010000")).await;
    assert_eq!(values(&three), [7.0, 8.0, 9.0]);
    assert_eq!(values(&get(bench.plain(), &format!("{id}&limit=1&key={KEY}")).await), [99.0]);

    let foreign = Peer { holder: Some(Holder::Device(DeviceId(bench.other.0))), ..bench.secure() };
    assert_eq!(get(foreign, &id).await.code, Code::FORBIDDEN);
    assert_eq!(get(bench.plain(), &id).await.code, Code::UNAUTHORIZED);
    assert_eq!(get(bench.plain(), &format!("{id}&key=x")).await.code, Code::UNAUTHORIZED);
    assert_eq!(get(bench.plain(), &format!("id=4711&key={KEY}")).await.code, Code::UNAUTHORIZED);
    assert_eq!(get(bench.secure(), "id=4711").await.code, Code::NOT_FOUND);
    for query in ["", "id=x", "id=1&limit=0", "id=1&limit=x", "id=1&from=now"] {
        assert_eq!(get(bench.secure(), query).await.code, Code::BAD_REQUEST, "{query}");
    }
}

/// What a device is answered about its own.
fn due(kind: Kind, method: Code) -> Code {
    match (kind, method) {
        (Kind::Users, Code::GET) => Code::CONTENT,
        (Kind::Users, _) | (Kind::Resources, Code::POST | Code::DELETE) => Code::FORBIDDEN,
        (Kind::ResourcesData | Kind::StreamsData, Code::PUT) => Code::METHOD_NOT_ALLOWED,
        (Kind::Streams, Code::POST) => Code::CREATED,
        (_, Code::GET) => Code::CONTENT,
        (_, Code::DELETE) => Code::DELETED,
        (_, _) => Code::CHANGED,
    }
}

fn action_deletes_points(kind: Kind, method: Code) -> bool {
    method == Code::DELETE && matches!(kind, Kind::ResourcesData | Kind::StreamsData)
}

/// What every method of every path answers to every caller, where it is not as it should be: path, caller, answer.
async fn violations(policy: Policy) -> Vec<(Kind, Code, &'static str, Code)> {
    let bench = bench().await;
    let store = &bench.devices.store;
    let (mut wrong, mut message) = (Vec::new(), 0);
    for kind in Kind::ALL {
        for method in [Code::GET, Code::POST, Code::PUT, Code::DELETE] {
            let own = due(kind, method);
            let others = if own == Code::METHOD_NOT_ALLOWED { own } else { Code::FORBIDDEN };
            let other = Peer { holder: Some(Holder::Device(DeviceId(bench.other.0))), ..bench.secure() };
            let cases = [
                ("no key", bench.plain(), None, Code::UNAUTHORIZED),
                ("bad key", bench.plain(), Some("x"), Code::UNAUTHORIZED),
                ("other device", other, None, others),
                ("own key", bench.plain(), Some(KEY), own),
                ("own device", bench.secure(), None, own),
            ];
            for (who, peer, key, expected) in cases {
                message += 2;
                // What one of them deletes is there again for the next one.
                let pack = format!(r#"[{{"n":"t","v":{message}}}]"#);
                let post = bench.send(
                    bench.secure(),
                    Code::POST,
                    "resources/data",
                    &[],
                    None,
                    pack.as_bytes(),
                    message,
                );
                assert_eq!(post.await.code, Code::CHANGED);
                let stream = store.stream(bench.own, "t").await.unwrap().unwrap().id.0;
                let mut query = match (kind, method) {
                    (Kind::Users, _) | (Kind::Streams, Code::POST) => {
                        vec![format!("resource={}", bench.own.0)]
                    }
                    (Kind::Resources | Kind::ResourcesData, _) => vec![format!("id={}", bench.own.0)],
                    (Kind::Streams | Kind::StreamsData, _) => vec![format!("id={stream}")],
                };
                if action_deletes_points(kind, method) {
                    query.push("all=true".to_owned());
                }
                query.extend(key.map(|key| format!("key={key}")));
                let payload = match kind {
                    Kind::ResourcesData => PACK.to_owned(),
                    Kind::StreamsData => r#"{"value":1}"#.to_owned(),
                    Kind::Streams if method == Code::POST => format!(r#"{{"label":"new-{message}"}}"#),
                    _ => r#"{"description":"at the window"}"#.to_owned(),
                };
                let path = kind.segments().join("/");
                let request = Bench::request(method, &path, &query, None, payload.as_bytes(), message + 1);
                let code = bench.devices.answer_under(policy, peer, request).await.code;
                if code != expected {
                    wrong.push((kind, method, who, code));
                }
            }
        }
    }
    wrong
}

#[tokio::test]
async fn every_path_answers_every_caller_as_the_policy_says() {
    assert_eq!(violations(access::decide).await, []);
}

#[tokio::test]
async fn without_the_policy_the_table_of_answers_would_not_hold() {
    let wrong = violations(|_, _, _| Ok(())).await;
    for kind in Kind::ALL {
        for method in [Code::GET, Code::POST, Code::PUT, Code::DELETE] {
            for who in ["no key", "bad key", "other device"] {
                let noticed = wrong.iter().any(|&(k, m, w, _)| (k, m, w) == (kind, method, who));
                assert!(noticed || !due(kind, method).is_success(), "{kind:?} {method:?} by {who}");
            }
        }
    }
}

#[tokio::test]
async fn a_device_keeps_its_resource_and_streams_itself() {
    let bench = bench().await;
    let ask = async |code, path: &str, query: &str, payload: &str| {
        let query: Vec<String> = query.split('&').filter(|query| !query.is_empty()).map(Into::into).collect();
        let request = Bench::request(code, path, &query, Some(ContentFormat::JSON), payload.as_bytes(), 7);
        let answer = bench.answer(bench.secure(), request).await;
        assert!(answer.payload.len() <= LONGEST_PAYLOAD);
        (answer.code, serde_json::from_slice(&answer.payload).unwrap_or(serde_json::Value::Null))
    };
    let (code, user) = ask(Code::GET, "users", "", "").await;
    assert_eq!((code, user["username"].as_str(), user.get("email")), (Code::CONTENT, Some("ann"), None));
    let id = user["id"].as_i64().unwrap();
    assert_eq!(ask(Code::GET, "users", &format!("id={id}"), "").await.0, Code::CONTENT);
    assert_eq!(ask(Code::GET, "users", &format!("id={}", id + 1), "").await.0, Code::FORBIDDEN);

    // The longest there can be: each character takes two bytes of JSON.
    let (long, text) = ("\\\"".repeat(128), "\\\"".repeat(256));
    let put = format!(r#"{{"label":"{}","description":"{text}"}}"#, "\\\"".repeat(64));
    assert_eq!(ask(Code::PUT, "resources", "", &put).await.0, Code::CHANGED);
    let (_, resource) = ask(Code::GET, "resources", "", "").await;
    assert_eq!(resource["description"], "\"".repeat(256));
    let other = r#"{"label":"node-2"}"#;
    assert_eq!(ask(Code::PUT, "resources", "", other).await.0, Code::CONFLICT);
    assert_eq!(ask(Code::PUT, "resources", "", r#"{"mode":"none"}"#).await.0, Code::BAD_REQUEST);

    let unit = "\\\"".repeat(32);
    let post = format!(r#"{{"label":"{long}","unit":"{unit}","description":"{text}"}}"#);
    let (code, made) = ask(Code::POST, "streams", "", &post).await;
    assert_eq!(code, Code::CREATED);
    let id = format!("id={}", made["id"]);
    assert_eq!(ask(Code::GET, "streams", &id, "").await.1, made);
    assert_eq!(ask(Code::POST, "streams", "", &post).await.0, Code::CONFLICT);
    assert_eq!(ask(Code::PUT, "streams", &id, r#"{"unit":""}"#).await.0, Code::CHANGED);
    assert_eq!(ask(Code::GET, "streams", &id, "").await.1["unit"], serde_json::Value::Null);
    let points = r#"[{"value":1.5,"time":10},{"value":2.5,"time":20}]"#;
    assert_eq!(ask(Code::POST, "streams/data", &id, points).await.0, Code::CHANGED);
    // What does not say which points are meant deletes none.
    for path in ["streams/data", "resources/data"] {
        let whose = if path == "streams/data" { id.clone() } else { String::new() };
        for query in [
            "",
            "untl=20",
            "from=99&untl=20",
            "limit=1",
            "all=",
            "all=true&until=20",
            "from=",
            "from=%2B1",
            "from=+1",
        ] {
            let code = ask(Code::DELETE, path, &format!("{whose}&{query}"), "").await.0;
            assert_eq!(code, Code::BAD_REQUEST, "{path} {query}");
        }
    }
    assert_eq!(ask(Code::GET, "streams/data", &id, "").await.1.as_array().unwrap().len(), 2);
    for (code, path) in [(Code::GET, "streams/data"), (Code::DELETE, "streams"), (Code::GET, "streams")] {
        assert_eq!(ask(code, path, &format!("{id}&untl=20"), "").await.0, Code::BAD_REQUEST, "{path}");
    }
    assert_eq!(ask(Code::DELETE, "streams/data", &format!("{id}&until=20"), "").await.0, Code::DELETED);
    let left = serde_json::json!([{"time": 20, "value": 2.5}]);
    assert_eq!(ask(Code::GET, "streams/data", &id, "").await.1, left);
    assert_eq!(ask(Code::DELETE, "resources/data", "all=true", "").await.0, Code::DELETED);
    assert_eq!(ask(Code::GET, "streams/data", &id, "").await.1, serde_json::json!([]));
    assert_eq!(ask(Code::DELETE, "streams", "", "").await.0, Code::BAD_REQUEST);
    assert_eq!(ask(Code::DELETE, "streams", &id, "").await.0, Code::DELETED);
    assert_eq!(ask(Code::GET, "streams", &id, "").await.0, Code::NOT_FOUND);
}

#[tokio::test]
async fn a_time_of_the_far_future_is_refused_with_a_reason_and_the_latest_is_what_arrived_last() {
    let bench = bench().await;
    let send = async |format, payload: &str, id| {
        let payload = payload.as_bytes();
        bench.send(bench.secure(), Code::POST, "resources/data", &[], Some(format), payload, id).await
    };
    let pack = r#"[{"n":"t","v":1},{"n":"t","v":2,"t":99999999999}]"#;
    let answer = send(ContentFormat::SENML_JSON, pack, 1).await;
    assert_eq!(answer.code, Code::BAD_REQUEST);
    let said = String::from_utf8(answer.payload).unwrap();
    assert!(said.contains("5138-11-16T09:46:39Z, is more than 24 hours ahead"), "{said}");
    assert_eq!(bench.points(bench.own).await, 0);
    for (id, time) in [(2, 3_000_000), (3, 1_000_000)] {
        let pack = format!(r#"[{{"n":"t","v":{id},"t":{}}}]"#, 1_700_000_000 + time);
        assert_eq!(send(ContentFormat::SENML_JSON, &pack, id).await.code, Code::CHANGED);
    }
    let latest = bench.ask(bench.secure(), Code::GET, "resources/data", &[], "").await;
    let latest: serde_json::Value = serde_json::from_slice(&latest.payload).unwrap();
    assert_eq!(latest[0]["value"], 3.0, "{latest}");
}

#[test]
fn a_full_disk_and_too_much_to_do_ask_devices_to_wait() {
    let full = rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(13), None);
    for (error, seconds) in [(full.into(), 60), (crate::Error::Busy, 5)] {
        let answer = Answer::from(&Refusal::from(error));
        assert_eq!(answer.code, Code::SERVICE_UNAVAILABLE);
        assert_eq!(answer.max_age, Some(seconds));
    }
    let broken = rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(10), None);
    assert_eq!(Refusal::from(crate::Error::from(broken)).code(), Code::INTERNAL_SERVER_ERROR);
}

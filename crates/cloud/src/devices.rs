//! What devices ask by CoAP, whichever door it came through: posting readings and reading them back.

use std::net::SocketAddr;

use sixlock_coap_msg::{Code, ContentFormat, Message, OptionNumber};
use sixlock_crypto::constant_time_eq;
use sixlock_senml::{PackReader, Record, Text, Value};

use crate::audit::{Audit, Door, Refused};
use crate::store::{
    Append, Idempotency, LONGEST_PAGE, Page, Point, Psk, Reading, ResourceId, Store, StreamId, Transmission,
    now_ms,
};
use crate::{Error, Secret};

/// The longest payload of an answer: with its headers it fits an IPv6 packet of 1280 bytes.
pub(crate) const LONGEST_ANSWER: usize = 1024;
/// The most points of one answer that are looked at: more do not fit it.
const MOST_POINTS: i64 = 64;
/// The longest label of a stream.
const LONGEST_LABEL: usize = 128;
/// The longest unit.
const LONGEST_UNIT: usize = 32;

/// Who asks.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    pub(crate) door: Door,
    pub(crate) from: SocketAddr,
    /// Whose DTLS session it is; nothing at the plain door, where each request brings its key.
    pub(crate) resource: Option<ResourceId>,
    /// What tells the session, or the peer without one, from all others.
    pub(crate) association: Vec<u8>,
}

/// A request, read and independent of its datagram.
#[derive(Debug)]
pub(crate) struct Request {
    asked: Result<Asked, Refusal>,
    /// The key of a request at the plain door.
    key: Option<Secret>,
    message_id: u16,
    token: Vec<u8>,
}

#[derive(Debug)]
enum Asked {
    Post { resource: Option<ResourceId>, payload: Vec<u8> },
    Data { stream: StreamId, page: Page },
}

/// An answer to a device.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) code: Code,
    pub(crate) content_format: Option<ContentFormat>,
    pub(crate) payload: Vec<u8>,
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    /// No key, or not that of the resource; whether the resource exists is not told.
    Key,
    /// The resource is another's.
    AnothersResource,
    NotFound,
    Method,
    ContentFormat,
    Malformed(&'static str),
    /// It is not the device's fault.
    Busy,
    Internal,
}

impl Refusal {
    const fn code(self) -> Code {
        match self {
            Self::Key => Code::UNAUTHORIZED,
            Self::AnothersResource => Code::FORBIDDEN,
            Self::NotFound => Code::NOT_FOUND,
            Self::Method => Code::METHOD_NOT_ALLOWED,
            Self::ContentFormat => Code::UNSUPPORTED_CONTENT_FORMAT,
            Self::Malformed(_) => Code::BAD_REQUEST,
            Self::Busy => Code::SERVICE_UNAVAILABLE,
            Self::Internal => Code::INTERNAL_SERVER_ERROR,
        }
    }

    /// What the device's maker reads.
    const fn diagnostic(self) -> &'static str {
        match self {
            Self::Key => "id and key do not belong together",
            Self::AnothersResource => "this is another's resource",
            Self::NotFound => "there is no such resource here",
            Self::Method => "this method is not for this resource",
            Self::ContentFormat => "send SenML JSON, content format 110",
            Self::Malformed(why) => why,
            Self::Busy => "too much to do, try again",
            Self::Internal => "the cloud could not do this",
        }
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        match error {
            Error::Busy => Self::Busy,
            Error::Invalid(rule) => Self::Malformed(rule),
            error => {
                eprintln!("sixlock: {error}");
                Self::Internal
            }
        }
    }
}

impl Request {
    /// Reads a request.
    pub(crate) fn read(message: &Message<'_>) -> Self {
        let key = message.query("key").map(|key| Secret::new(key.to_vec()));
        Self { asked: Asked::read(message), key, message_id: message.id(), token: message.token().to_vec() }
    }
}

impl Asked {
    fn read(message: &Message<'_>) -> Result<Self, Refusal> {
        if message.path_is(&["resources", "data"]) {
            if message.code() != Code::POST {
                return Err(Refusal::Method);
            }
            // A format that is not stated is taken for the only one there is.
            if message.value(OptionNumber::CONTENT_FORMAT).is_some()
                && message.content_format() != Some(ContentFormat::SENML_JSON)
            {
                return Err(Refusal::ContentFormat);
            }
            let resource = number(message, "id")?.map(ResourceId);
            Ok(Self::Post { resource, payload: message.payload().to_vec() })
        } else if message.path_is(&["streams", "data"]) {
            if message.code() != Code::GET {
                return Err(Refusal::Method);
            }
            let stream =
                number(message, "id")?.map(StreamId).ok_or(Refusal::Malformed("id=STREAM is missing"))?;
            let limit = number(message, "limit")?.unwrap_or(MOST_POINTS);
            if !(1..=LONGEST_PAGE).contains(&limit) {
                return Err(Refusal::Malformed("limit is not between 1 and 10000"));
            }
            let page = Page {
                limit: limit.min(MOST_POINTS),
                from: number(message, "from")?,
                until: number(message, "until")?,
            };
            Ok(Self::Data { stream, page })
        } else {
            Err(Refusal::NotFound)
        }
    }
}

/// The whole number that the query argument `name` gives; an empty one gives none.
fn number(message: &Message<'_>, name: &str) -> Result<Option<i64>, Refusal> {
    match message.query(name) {
        None | Some(b"") => Ok(None),
        Some(text) => {
            let number = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
            number.map(Some).ok_or(Refusal::Malformed("a number in the query is not one"))
        }
    }
}

/// Serves devices. Clones share what they serve from.
#[derive(Clone)]
pub(crate) struct Devices {
    store: Store,
    audit: Audit,
}

impl Devices {
    pub(crate) fn new(store: Store, audit: Audit) -> Self {
        Self { store, audit }
    }

    /// The key of a DTLS identity and whose it is; nothing also when the store cannot tell.
    pub(crate) async fn psk(&self, identity: &[u8]) -> Option<Psk> {
        let identity = std::str::from_utf8(identity).ok()?;
        self.store.psk(identity).await.unwrap_or_else(|error| {
            eprintln!("sixlock: {error}");
            None
        })
    }

    /// Records that somebody was refused before there was a request to answer.
    pub(crate) fn refused(&self, refused: Refused) {
        self.audit.record(refused);
    }

    /// Does what is asked and answers. A post is answered with 2.04 after the commit that stores it.
    pub(crate) async fn answer(&self, peer: Peer, request: Request) -> Answer {
        let outcome = match &request.asked {
            Ok(Asked::Post { resource, payload }) => self
                .post(&peer, *resource, &request, payload)
                .await
                .map(|()| Answer { code: Code::CHANGED, content_format: None, payload: Vec::new() }),
            Ok(Asked::Data { stream, page }) => {
                self.data(&peer, *stream, &request, *page).await.map(|payload| Answer {
                    code: Code::CONTENT,
                    content_format: Some(ContentFormat::JSON),
                    payload,
                })
            }
            Err(refusal) => Err(*refusal),
        };
        outcome.unwrap_or_else(|refusal| {
            self.record(&peer, &request, refusal);
            let payload = refusal.diagnostic().into();
            Answer { code: refusal.code(), content_format: None, payload }
        })
    }

    fn record(&self, peer: &Peer, request: &Request, refusal: Refusal) {
        let reason = match refusal {
            Refusal::Key => "wrong_key",
            Refusal::AnothersResource => "anothers_resource",
            _ => return,
        };
        let (path, asked_for) = match &request.asked {
            Ok(Asked::Post { resource, .. }) => ("POST /resources/data", resource.map(|id| id.0)),
            Ok(Asked::Data { stream, .. }) => ("GET /streams/data", Some(stream.0)),
            Err(_) => return,
        };
        let what = asked_for.map_or(path.to_owned(), |id| format!("{path} id={id}"));
        let mut refused = Refused::new(peer.door, peer.from, reason).what(what);
        if let Some(resource) = peer.resource {
            refused = refused.who(format!("resource {}", resource.0));
        }
        self.audit.record(refused);
    }

    async fn post(
        &self,
        peer: &Peer,
        resource: Option<ResourceId>,
        request: &Request,
        payload: &[u8],
    ) -> Result<(), Refusal> {
        let resource = match (peer.resource, resource) {
            (Some(own), None) => own,
            (Some(own), Some(named)) if own == named => own,
            (Some(_), Some(_)) => return Err(Refusal::AnothersResource),
            (None, Some(named)) => self.check_key(named, request).await?,
            (None, None) => return Err(Refusal::Key),
        };
        let readings = read_senml(payload, now_ms())?;
        let Request { message_id, token, .. } = request;
        let transmission = Transmission { association: &peer.association, message_id: *message_id, token };
        let idempotency = Idempotency::of(resource, transmission, payload);
        Ok(self.store.append(Append { resource, idempotency, readings }).await?)
    }

    async fn data(
        &self,
        peer: &Peer,
        stream: StreamId,
        request: &Request,
        page: Page,
    ) -> Result<Vec<u8>, Refusal> {
        let resource = self.store.resource_of_stream(stream).await?;
        match (peer.resource, resource) {
            (Some(own), Some(resource)) if own == resource => {}
            (Some(_), Some(_)) => return Err(Refusal::AnothersResource),
            (Some(_), None) => return Err(Refusal::NotFound),
            (None, Some(resource)) => {
                self.check_key(resource, request).await?;
            }
            (None, None) => return Err(Refusal::Key),
        }
        let points = self.store.points(stream, page).await?;
        Ok(write_points(&points, page.from.is_some()))
    }

    /// Whether the request brings the key of `resource`.
    async fn check_key(&self, resource: ResourceId, request: &Request) -> Result<ResourceId, Refusal> {
        let key = self.store.key(resource).await?;
        let (Some(key), Some(given)) = (key, &request.key) else { return Err(Refusal::Key) };
        if constant_time_eq(key.bytes(), given.bytes()) { Ok(resource) } else { Err(Refusal::Key) }
    }
}

/// As many of `points` as fit an answer, the first ones or the last ones.
fn write_points(points: &[Point], first: bool) -> Vec<u8> {
    let mut json: Vec<Vec<u8>> = points.iter().filter_map(|point| serde_json::to_vec(point).ok()).collect();
    if !first {
        json.reverse();
    }
    let mut length = 2;
    let fitting = json.iter().take_while(|point| {
        length += point.len() + 1;
        length <= LONGEST_ANSWER
    });
    let fitting = fitting.count();
    json.truncate(fitting);
    if !first {
        json.reverse();
    }
    [b"[", json.join(&b","[..]).as_slice(), b"]"].concat()
}

/// The readings of a SenML pack that arrived at `arrival`: all of them, or the reason why not.
fn read_senml(pack: &[u8], arrival: i64) -> Result<Vec<Reading>, Refusal> {
    let malformed = |_| Refusal::Malformed("the payload is not SenML JSON");
    let mut readings = Vec::new();
    for record in PackReader::new(pack).map_err(malformed)? {
        readings.push(read_record(&record.map_err(malformed)?, arrival)?);
    }
    if readings.is_empty() {
        return Err(Refusal::Malformed("the pack is empty"));
    }
    Ok(readings)
}

fn read_record(record: &Record<'_>, arrival: i64) -> Result<Reading, Refusal> {
    let Some(Value::Number(value)) = record.value else {
        return Err(Refusal::Malformed("a record's value is not a number"));
    };
    let value = value.sum::<f64>().filter(|value| value.is_finite());
    let unit = record.unit.map(|unit| short(unit, LONGEST_UNIT)).transpose()?;
    Ok(Reading {
        stream: label(record)?,
        unit,
        time: time(record, arrival)?,
        value: value.ok_or(Refusal::Malformed("a record's value is too large"))?,
    })
}

/// The label of a record's stream. A resource is one device, so the URN of the device, which names begin with
/// ([RFC 9039](https://www.rfc-editor.org/rfc/rfc9039)), tells nothing within it.
fn label(record: &Record<'_>) -> Result<String, Refusal> {
    let name: String = record.name_chars().take(LONGEST_LABEL + 1).collect();
    if name.len() > LONGEST_LABEL {
        return Err(Refusal::Malformed("a record's name is too long"));
    }
    let within = name.strip_prefix("urn:").and_then(|urn| urn.rsplit_once(':')).map(|(_, within)| within);
    match within {
        Some(within) if !within.is_empty() => Ok(within.to_owned()),
        _ => Ok(name),
    }
}

fn short(text: Text<'_>, longest: usize) -> Result<String, Refusal> {
    let short: String = text.chars().take(longest + 1).collect();
    if short.chars().count() > longest {
        return Err(Refusal::Malformed("a record's unit is too long"));
    }
    Ok(short)
}

/// When a reading was taken: on arrival, or when the device says it was.
fn time(record: &Record<'_>, arrival: i64) -> Result<i64, Refusal> {
    // RFC 8428 section 4.5.3: less than 2^28 seconds are counted from now, others from 1970.
    const RELATIVE: f64 = 268_435_456.0;
    // The year 9999; what is later is a mistake.
    const LATEST: f64 = 253_402_300_800.0;
    let Some(time) = record.time else { return Ok(arrival) };
    match time.sum::<f64>() {
        Some(seconds) if seconds.abs() < RELATIVE => Ok(arrival + (seconds * 1000.0) as i64),
        Some(seconds) if (RELATIVE..LATEST).contains(&seconds) => Ok((seconds * 1000.0) as i64),
        _ => Err(Refusal::Malformed("a record's time is not one")),
    }
}

#[cfg(test)]
mod tests {
    use sixlock_base::Security;
    use sixlock_coap_msg::{Builder, Type};
    use tempfile::TempDir;

    use super::*;
    use crate::store::Device;

    const PACK: &str = r#"[{"bn":"urn:dev:mac:0212740000000001:","n":"temperature","u":"Cel","v":21.4},{"n":"light","v":310}]"#;
    const KEY: &str = "0123456789abcdef";

    struct Bench {
        devices: Devices,
        own: ResourceId,
        other: ResourceId,
        directory: TempDir,
        audit: std::thread::JoinHandle<()>,
    }

    async fn bench() -> Bench {
        let directory = tempfile::tempdir().unwrap();
        let (store, _writer) = Store::open(directory.path()).await.unwrap();
        let (recorder, audit) = Audit::open(directory.path()).unwrap();
        let user = store.add_user("ann", "", "a long password".into(), false).await.unwrap();
        let mut ids = Vec::new();
        for label in ["node-1", "node-2"] {
            let key = Some(Secret::new(KEY.into()));
            let device = Device { label: label.into(), mode: Security::default(), identity: None, key };
            ids.push(store.enrol(user.id, device).await.unwrap().id);
        }
        Bench { devices: Devices::new(store, recorder), own: ids[0], other: ids[1], directory, audit }
    }

    impl Bench {
        fn secure(&self) -> Peer {
            let from = "127.0.0.1:1".parse().unwrap();
            Peer { door: Door::Coaps, from, resource: Some(self.own), association: b"session".into() }
        }

        fn plain(&self) -> Peer {
            Peer { door: Door::Coap, resource: None, ..self.secure() }
        }

        async fn ask(&self, peer: Peer, code: Code, path: &str, query: &[String], payload: &str) -> Answer {
            let format = (code == Code::POST).then_some(ContentFormat::SENML_JSON);
            self.send(peer, code, path, query, format, payload, 1).await
        }

        #[allow(clippy::too_many_arguments)]
        async fn send(
            &self,
            peer: Peer,
            code: Code,
            path: &str,
            query: &[String],
            format: Option<ContentFormat>,
            payload: &str,
            id: u16,
        ) -> Answer {
            let mut datagram = [0; 4096];
            let mut builder = Builder::new(&mut datagram, Type::Confirmable, code, id, b"tk").unwrap();
            builder.path(&path.split('/').collect::<Vec<_>>()).unwrap();
            if let Some(format) = format {
                builder.content_format(format).unwrap();
            }
            for argument in query {
                builder.option(OptionNumber::URI_QUERY, argument.as_bytes()).unwrap();
            }
            let length = builder.finish_with(payload.as_bytes()).unwrap();
            let message = Message::parse(&datagram[..length]).unwrap();
            self.devices.answer(peer, Request::read(&message)).await
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
        let post = async |query: &[String]| {
            bench.ask(bench.secure(), Code::POST, "resources/data", query, PACK).await
        };
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
        assert!(refusals.iter().all(|refusal| refusal["reason"] == "wrong_key" && refusal["door"] == "coap"));
        assert!(!format!("{refusals:?}").contains("0123456789"), "a key stands in the record");
    }

    #[tokio::test]
    async fn what_cannot_be_stored_whole_is_not_stored_at_all() {
        let bench = bench().await;
        for (code, payload) in [
            (Code::BAD_REQUEST, ""),
            (Code::BAD_REQUEST, "[]"),
            (Code::BAD_REQUEST, "21.4"),
            (Code::BAD_REQUEST, r#"[{"n":"a","v":1},{"n":"b","vs":"on"}]"#),
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
        let cbor = Some(ContentFormat::SENML_CBOR);
        let answer = bench.send(bench.secure(), Code::POST, "resources/data", &[], cbor, PACK, 1).await;
        assert_eq!(answer.code, Code::UNSUPPORTED_CONTENT_FORMAT);
        for (method, path, code) in [
            (Code::GET, "resources/data", Code::METHOD_NOT_ALLOWED),
            (Code::POST, "streams/data", Code::METHOD_NOT_ALLOWED),
            (Code::POST, "resources", Code::NOT_FOUND),
            (Code::POST, "resources/data/x", Code::NOT_FOUND),
        ] {
            assert_eq!(bench.ask(bench.secure(), method, path, &[], PACK).await.code, code, "{path}");
        }
    }

    #[tokio::test]
    async fn a_device_reads_its_own_streams_and_no_others() {
        let bench = bench().await;
        for n in 0..100u16 {
            let pack = format!(r#"[{{"n":"t","v":{n},"t":{}}}]"#, 1_700_000_000 + u32::from(n));
            let answer = bench.send(bench.secure(), Code::POST, "resources/data", &[], None, &pack, n).await;
            assert_eq!(answer.code, Code::CHANGED);
        }
        let stream = bench.devices.store.stream(bench.own, "t").await.unwrap().unwrap().id.0;
        let get = async |peer: Peer, query: &str| {
            let query: Vec<String> = query.split('&').map(Into::into).collect();
            bench.ask(peer, Code::GET, "streams/data", &query, "").await
        };
        let values = |answer: &Answer| {
            assert_eq!((answer.code, answer.content_format), (Code::CONTENT, Some(ContentFormat::JSON)));
            assert!(answer.payload.len() <= LONGEST_ANSWER);
            let points: serde_json::Value = serde_json::from_slice(&answer.payload).unwrap();
            points
                .as_array()
                .unwrap()
                .iter()
                .map(|point| point["value"].as_f64().unwrap())
                .collect::<Vec<_>>()
        };
        let id = format!("id={stream}");
        let latest = values(&get(bench.secure(), &id).await);
        assert!(latest.len() > 20 && latest.is_sorted() && latest.last() == Some(&99.0), "{latest:?}");
        let first = values(&get(bench.secure(), &format!("{id}&from=1700000010000")).await);
        assert!(first.len() > 20 && first.is_sorted() && first[0] == 10.0, "{first:?}");
        let three = get(bench.secure(), &format!("{id}&limit=3&until=1700000010000")).await;
        assert_eq!(values(&three), [7.0, 8.0, 9.0]);
        assert_eq!(values(&get(bench.plain(), &format!("{id}&limit=1&key={KEY}")).await), [99.0]);

        let foreign = Peer { resource: Some(bench.other), ..bench.secure() };
        assert_eq!(get(foreign, &id).await.code, Code::FORBIDDEN);
        assert_eq!(get(bench.plain(), &id).await.code, Code::UNAUTHORIZED);
        assert_eq!(get(bench.plain(), &format!("{id}&key=x")).await.code, Code::UNAUTHORIZED);
        assert_eq!(get(bench.plain(), &format!("id=4711&key={KEY}")).await.code, Code::UNAUTHORIZED);
        assert_eq!(get(bench.secure(), "id=4711").await.code, Code::NOT_FOUND);
        for query in ["", "id=x", "id=1&limit=0", "id=1&limit=x", "id=1&from=now"] {
            assert_eq!(get(bench.secure(), query).await.code, Code::BAD_REQUEST, "{query}");
        }
    }

    #[test]
    fn names_lose_the_device_and_times_are_resolved() {
        let read = |pack: &str| {
            let readings = read_senml(pack.as_bytes(), 5_000_000).unwrap();
            (readings[0].stream.clone(), readings[0].time)
        };
        assert_eq!(read(r#"[{"bn":"urn:dev:mac:01:","n":"a/b","v":1}]"#), ("a/b".into(), 5_000_000));
        assert_eq!(read(r#"[{"n":"room:a","v":1,"t":-1.5}]"#), ("room:a".into(), 4_998_500));
        assert_eq!(
            read(r#"[{"bn":"urn:dev:mac:01:","v":1,"t":300000000}]"#),
            ("urn:dev:mac:01:".into(), 300_000_000_000)
        );
    }
}

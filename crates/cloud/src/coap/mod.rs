//! What devices ask by CoAP, whichever door it came through.
//!
//! A device acts for its own resource: the one that the identity of its DTLS session is bound to, or at the plain door
//! the one whose key it sends as `key=`. What it does not name is that. Of another's it can do nothing (4.03).
//!
//! | path | GET | POST | PUT | DELETE |
//! | --- | --- | --- | --- | --- |
//! | `/users` | its owner's id and name | – | – | – |
//! | `/resources` | its label, mode, description | – | label, description | – |
//! | `/resources/data` | the latest point of each stream | readings, as SenML | | points of all streams |
//! | `/streams` | one (`id=`) or all | a new one: label, unit, description | unit, description | one and its points |
//! | `/streams/data` | points of one | `{"value","time"?}` or some of these | | points of one |
//!
//! – is for people, by HTTP: 4.03. All but SenML is JSON. In the query: `id=` names the user, resource or stream that the
//! path is about, `resource=` at the plain door the device where `id=` does not, `from=` and `until=` a span of points.
//!
//! An answer holds what fits 1024 bytes. Lists go on with `after=` the last id (of a stream) until one is empty, points
//! with `from=` the last time, points of which come again.

mod answer;
mod request;
mod resources;
mod resources_data;
mod streams;
mod streams_data;
mod users;

use std::net::SocketAddr;

use sixlock_crypto::constant_time_eq;
use tokio::sync::mpsc;

pub(crate) use answer::{Answer, LONGEST_ANSWER};
pub(crate) use request::Request;

use crate::access::{self, Action, Caller, Denial, Target};
use crate::audit::{Door, Refused};
use crate::events::{At, Event, Events};
use crate::store::{Psk, ResourceId, Revocation, Store, StreamId, User, UserId, now_ms};
use answer::Refusal;
use request::Kind;

/// What decides: [`access::decide`].
type Policy = fn(Caller, Action, Target) -> Result<(), Denial>;

/// What a request is about.
struct Place {
    /// The device's resource, by whose key a request at the plain door is known.
    resource: Option<ResourceId>,
    target: Target,
    stream: Option<StreamId>,
    owner: Option<User>,
}

/// A request that may be served.
struct Admitted {
    kind: Kind,
    action: Action,
    resource: ResourceId,
    stream: Option<StreamId>,
    owner: Option<User>,
}

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

/// The store could not tell a key, and the operator was told why.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LookUpFailed;

/// Serves devices. Clones share what they serve from.
#[derive(Clone)]
pub(crate) struct Devices {
    store: Store,
    events: Events,
}

impl Devices {
    pub(crate) fn new(store: Store, events: Events) -> Self {
        Self { store, events }
    }

    /// The key of a DTLS identity and whose it is; nothing if there is no such identity.
    pub(crate) async fn psk(&self, identity: &[u8]) -> Result<Option<Psk>, LookUpFailed> {
        let Ok(identity) = std::str::from_utf8(identity) else { return Ok(None) };
        self.store.psk(identity, now_ms()).await.map_err(|error| {
            self.events.tell(Event::Fault { at: At::LookUp, error: &error });
            LookUpFailed
        })
    }

    /// The credentials that end from now on.
    pub(crate) fn revocations(&self) -> mpsc::Receiver<Revocation> {
        self.store.revocations()
    }

    /// Whom to tell what happens at the doors.
    pub(crate) fn events(&self) -> &Events {
        &self.events
    }

    /// Does what is asked and answers. A post is answered with 2.04 after the commit that stores it.
    pub(crate) async fn answer(&self, peer: Peer, request: Request) -> Answer {
        let door = peer.door;
        let answer = self.answer_under(access::decide, peer, request).await;
        let status = u16::from(answer.code.class()) * 100 + u16::from(answer.code.detail());
        self.events.tell(Event::Answered { door, status });
        answer
    }

    async fn answer_under(&self, policy: Policy, peer: Peer, request: Request) -> Answer {
        let outcome = match self.admit(policy, &peer, &request).await {
            Ok(admitted) => self.serve(admitted, &peer, &request).await,
            Err(refusal) => Err(refusal),
        };
        outcome.unwrap_or_else(|refusal| {
            self.take_note(&peer, &request, &refusal);
            let payload = refusal.diagnostic().into_bytes();
            Answer { code: refusal.code(), content_format: None, payload }
        })
    }

    /// The layer in front of every handler: finds out who asks and what for, and has [`access`] decide.
    async fn admit(&self, policy: Policy, peer: &Peer, request: &Request) -> Result<Admitted, Refusal> {
        let place = self.place(peer, request).await;
        let caller = match (peer.resource, &place) {
            (Some(own), _) => Caller::Device(own),
            (None, Ok(Place { resource: Some(named), .. })) => self.by_key(*named, request).await?,
            (None, _) => Caller::Nobody,
        };
        if caller == Caller::Nobody && place.is_err() {
            return Err(Refusal::Key);
        }
        let kind = request.kind.ok_or(Refusal::NotFound)?;
        let Some(action) = request.action() else {
            return Err(if caller == Caller::Nobody { Refusal::Key } else { Refusal::Method });
        };
        let Place { resource, target, stream, owner } = place?;
        policy(caller, action, target).map_err(|denial| match (denial, caller, target) {
            (Denial::Unauthenticated, ..) => Refusal::Key,
            (Denial::Forbidden, Caller::Device(own), Target::Resource(named)) if own == named => {
                Refusal::NotForDevices
            }
            (Denial::Forbidden, ..) => Refusal::AnothersResource,
            (Denial::Unknown, ..) => Refusal::NotFound,
        })?;
        let resource = resource.ok_or(Refusal::NotFound)?;
        Ok(Admitted { kind, action, resource, stream, owner })
    }

    /// Which resource a request is about: the one that it names, or its device's own.
    async fn place(&self, peer: &Peer, request: &Request) -> Result<Place, Refusal> {
        let id = request.number("id")?;
        let kind = request.kind.ok_or(Refusal::NotFound)?;
        let stream = match kind {
            Kind::StreamsData => Some(StreamId(id.ok_or(Refusal::Malformed("id=STREAM is missing"))?)),
            Kind::Streams => id.map(StreamId),
            _ => None,
        };
        let resource = match (kind, stream) {
            (_, Some(stream)) => self.store.resource_of_stream(stream).await?,
            (Kind::Resources | Kind::ResourcesData, _) if id.is_some() => id.map(ResourceId),
            _ => request.number("resource")?.map(ResourceId).or(peer.resource),
        };
        let owner = match (kind, resource) {
            (Kind::Users, Some(resource)) => self.store.owner_of(resource).await?,
            _ => None,
        };
        let target = match (&owner, id, resource) {
            (Some(owner), Some(id), _) if owner.id != UserId(id) => Target::User(UserId(id)),
            (_, _, Some(resource)) => Target::Resource(resource),
            (_, _, None) => Target::Unknown,
        };
        Ok(Place { resource, target, stream, owner })
    }

    async fn serve(&self, admitted: Admitted, peer: &Peer, request: &Request) -> Result<Answer, Refusal> {
        let Admitted { kind, action, resource, stream, owner } = admitted;
        match (kind, action, stream) {
            (Kind::Users, Action::ReadUser, _) => users::show(&owner.ok_or(Refusal::NotFound)?),
            (Kind::Resources, Action::ReadResource, _) => self.show_resource(resource).await,
            (Kind::Resources, Action::ChangeResource, _) => self.change_resource(resource, request).await,
            (Kind::ResourcesData, Action::ReadPoints, _) => self.latest(resource, request).await,
            (Kind::ResourcesData, Action::AddPoints, _) => self.add_readings(peer, resource, request).await,
            (Kind::ResourcesData, Action::DeletePoints, _) => self.delete_readings(resource, request).await,
            (Kind::Streams, Action::ReadStream, None) => self.list_streams(resource, request).await,
            (Kind::Streams, Action::ReadStream, Some(id)) => self.show_stream(resource, id).await,
            (Kind::Streams, Action::AddStream, _) => self.add_stream(resource, request).await,
            (Kind::Streams, Action::ChangeStream, Some(id)) => self.change_stream(id, request).await,
            (Kind::Streams, Action::DeleteStream, Some(id)) => self.delete_stream(id).await,
            (Kind::Streams, _, None) => Err(Refusal::Malformed("id=STREAM is missing")),
            (Kind::StreamsData, Action::ReadPoints, Some(id)) => self.read_points(id, request).await,
            (Kind::StreamsData, Action::AddPoints, Some(id)) => {
                self.add_points(peer, (resource, id), request).await
            }
            (Kind::StreamsData, Action::DeletePoints, Some(id)) => self.delete_points(id, request).await,
            _ => Err(Refusal::NotForDevices),
        }
    }

    fn take_note(&self, peer: &Peer, request: &Request, refusal: &Refusal) {
        if let Refusal::Internal(error) = refusal {
            return self.events.tell(Event::Fault { at: At::Request(peer.door), error });
        }
        let reason = match refusal {
            Refusal::Key => "wrong_key",
            Refusal::AnothersResource => "anothers_resource",
            Refusal::NotForDevices => "forbidden",
            _ => return,
        };
        let mut refused = Refused::new(peer.door, peer.from, reason).what(request.what());
        if let Some(resource) = peer.resource {
            refused = refused.who(format!("resource {}", resource.0));
        }
        self.events.tell(Event::Refused(&refused));
    }

    /// Who asks at the plain door: the device of `resource`, if the request brings a key of it.
    async fn by_key(&self, resource: ResourceId, request: &Request) -> Result<Caller, Refusal> {
        let keys = self.store.keys_of(resource, now_ms()).await?;
        let Some(given) = &request.key else { return Ok(Caller::Nobody) };
        let fits = keys.iter().any(|key| constant_time_eq(key.bytes(), given.bytes()));
        Ok(if fits { Caller::Device(resource) } else { Caller::Nobody })
    }
}

#[cfg(test)]
mod tests {
    use sixlock_base::Security;
    use sixlock_coap_msg::{Builder, Code, ContentFormat, Message, OptionNumber, Type};
    use tempfile::TempDir;

    use super::*;
    use crate::Secret;
    use crate::audit::Audit;
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
        let (recorder, audit) = Audit::open(directory.path(), Events::unheard()).unwrap();
        let user = store.add_user("ann", "", "a long password".into(), false).await.unwrap();
        let mut ids = Vec::new();
        for label in ["node-1", "node-2"] {
            let key = Some(Secret::new(KEY.into()));
            let device = Device { label: label.into(), mode: Security::default(), identity: None, key };
            ids.push(store.enrol(user.id, device).await.unwrap().id);
        }
        Bench {
            devices: Devices::new(store, Events::unheard().recorded_by(recorder)),
            own: ids[0],
            other: ids[1],
            directory,
            audit,
        }
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
            self.devices.answer(peer, request).await
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
            Request::read(&Message::parse(&datagram[..length]).unwrap())
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

    /// What every method of every path answers to every caller, where it is not as it should be: path, caller, answer.
    async fn violations(policy: Policy) -> Vec<(Kind, Code, &'static str, Code)> {
        let bench = bench().await;
        let store = &bench.devices.store;
        let (mut wrong, mut message) = (Vec::new(), 0);
        for kind in Kind::ALL {
            for method in [Code::GET, Code::POST, Code::PUT, Code::DELETE] {
                let own = due(kind, method);
                let others = if own == Code::METHOD_NOT_ALLOWED { own } else { Code::FORBIDDEN };
                let other = Peer { resource: Some(bench.other), ..bench.secure() };
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
                    query.extend(key.map(|key| format!("key={key}")));
                    let payload = match kind {
                        Kind::ResourcesData => PACK.to_owned(),
                        Kind::StreamsData => r#"{"value":1}"#.to_owned(),
                        Kind::Streams if method == Code::POST => format!(r#"{{"label":"new-{message}"}}"#),
                        _ => r#"{"description":"at the window"}"#.to_owned(),
                    };
                    let path = kind.segments().join("/");
                    let request =
                        Bench::request(method, &path, &query, None, payload.as_bytes(), message + 1);
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
    async fn lists_that_do_not_fit_an_answer_are_read_in_pages() {
        let bench = bench().await;
        let pack: Vec<String> =
            (0..60).map(|n| format!(r#"{{"n":"stream-{n}","u":"Cel","v":{n}}}"#)).collect();
        let pack = format!("[{}]", pack.join(","));
        assert_eq!(
            bench.ask(bench.secure(), Code::POST, "resources/data", &[], &pack).await.code,
            Code::CHANGED
        );
        for (path, id) in [("streams", "id"), ("resources/data", "stream")] {
            let (mut seen, mut pages) = (Vec::new(), 0);
            loop {
                let query = [format!("after={}", seen.last().copied().unwrap_or(0))];
                let answer = bench.ask(bench.secure(), Code::GET, path, &query, "").await;
                assert_eq!(answer.code, Code::CONTENT);
                assert!(answer.payload.len() <= LONGEST_ANSWER);
                let page: Vec<serde_json::Value> = serde_json::from_slice(&answer.payload).unwrap();
                if page.is_empty() {
                    break;
                }
                pages += 1;
                seen.extend(page.iter().map(|item| item[id].as_i64().unwrap()));
            }
            assert!(pages > 2, "{path}");
            assert_eq!(seen.len(), 60, "{path}");
            assert!(seen.is_sorted_by(|a, b| a < b), "{path}: {seen:?}");
        }
    }

    #[tokio::test]
    async fn a_device_keeps_its_resource_and_streams_itself() {
        let bench = bench().await;
        let ask = async |code, path: &str, query: &str, payload: &str| {
            let query: Vec<String> =
                query.split('&').filter(|query| !query.is_empty()).map(Into::into).collect();
            let request =
                Bench::request(code, path, &query, Some(ContentFormat::JSON), payload.as_bytes(), 7);
            let answer = bench.devices.answer(bench.secure(), request).await;
            assert!(answer.payload.len() <= LONGEST_ANSWER);
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
        assert_eq!(ask(Code::DELETE, "streams/data", &format!("{id}&until=20"), "").await.0, Code::DELETED);
        let left = serde_json::json!([{"time": 20, "value": 2.5}]);
        assert_eq!(ask(Code::GET, "streams/data", &id, "").await.1, left);
        assert_eq!(ask(Code::DELETE, "streams", "", "").await.0, Code::BAD_REQUEST);
        assert_eq!(ask(Code::DELETE, "streams", &id, "").await.0, Code::DELETED);
        assert_eq!(ask(Code::GET, "streams", &id, "").await.0, Code::NOT_FOUND);
    }
}

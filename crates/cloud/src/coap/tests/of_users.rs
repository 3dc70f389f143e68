//! What users are answered who come by a DTLS identity of their own.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sixlock_coap_server::{Changes, CredentialId};
use sixlock_store::{
    Append, GroupAccess, Idempotency, NewIdentity, Reading, Role, StreamChange, TokenScope, UserChange,
    UserIdentity,
};
use tokio::sync::OnceCell;

use super::*;
use crate::public_keys::{KeyPair, pem};

/// Who asks for what is ann's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Who {
    /// Ann, by an identity for all that she may do.
    Owner,
    /// Ann, whose role is viewer.
    OwnerAsViewer,
    /// Ann, whose account is disabled.
    Disabled,
    /// Ann, by an identity to read only.
    ReadOnly,
    /// Ann, by one for the resource.
    ForResource,
    /// Ann, by one to read that resource only.
    ReadResource,
    /// Ann, by one for another resource.
    ForOtherResource,
    /// Ann, by one that has been revoked.
    Revoked,
    /// Ann, by one whose time is over.
    Expired,
    /// A user of no group.
    Other,
    /// A member with the right to read of a group that has the resource.
    Reader,
    /// A member with the right to change.
    Changer,
    /// The same, by an identity to read only.
    ChangersReadOnly,
    /// The same, by an identity for that resource, which is not theirs.
    ChangersForResource,
    /// One who was in the group.
    FormerMember,
    /// An administrator.
    Administrator,
    /// The same, by an identity to read only.
    AdministratorsReadOnly,
}

impl Who {
    const ALL: [Self; 17] = [
        Self::Owner,
        Self::OwnerAsViewer,
        Self::Disabled,
        Self::ReadOnly,
        Self::ForResource,
        Self::ReadResource,
        Self::ForOtherResource,
        Self::Revoked,
        Self::Expired,
        Self::Other,
        Self::Reader,
        Self::Changer,
        Self::ChangersReadOnly,
        Self::ChangersForResource,
        Self::FormerMember,
        Self::Administrator,
        Self::AdministratorsReadOnly,
    ];

    const fn is_ended(self) -> bool {
        matches!(self, Self::Disabled | Self::Revoked | Self::Expired)
    }

    const fn is_administrator(self) -> bool {
        matches!(self, Self::Administrator | Self::AdministratorsReadOnly)
    }
}

/// A request about what is ann's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Row {
    kind: Kind,
    method: Code,
    /// `R` stands for the resource, `S` for its stream and `U` for ann.
    query: &'static str,
    payload: &'static str,
    code: Code,
    whom: For,
}

/// For whom a request is, whose scope is for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum For {
    /// Ann and administrators.
    Owner,
    /// The same, and members.
    Members,
    /// The same, and members with the right to change.
    Changers,
    Administrator,
}

/// Every path and method, each as it is used.
fn rows() -> Vec<Row> {
    let row = |kind, method, query, payload, code, whom| Row { kind, method, query, payload, code, whom };
    use For::{Administrator, Changers, Members, Owner};
    use Kind::{Resources, ResourcesData, Streams, StreamsData, Users};
    let (get, post, put, delete) = (Code::GET, Code::POST, Code::PUT, Code::DELETE);
    let (content, created, changed, deleted) = (Code::CONTENT, Code::CREATED, Code::CHANGED, Code::DELETED);
    let user = r#"{"username":"eve","password":"a long password"}"#;
    let email = r#"{"email":"ann@example.org"}"#;
    let described = r#"{"description":"at the window"}"#;
    let resource = r#"{"label":"new","mode":"dtls-psk"}"#;
    vec![
        row(Users, get, "id=U", "", content, Owner),
        row(Users, get, "after=0", "", content, Administrator),
        row(Users, post, "", user, created, Administrator),
        row(Users, put, "id=U", email, changed, Owner),
        row(Users, put, "id=U", r#"{"role":"viewer"}"#, changed, Administrator),
        row(Users, delete, "id=U", "", deleted, Owner),
        row(Resources, get, "id=R", "", content, Members),
        row(Resources, get, "user=U", "", content, Owner),
        row(Resources, get, "all=true", "", content, Administrator),
        row(Resources, post, "user=U", resource, created, Owner),
        row(Resources, put, "id=R", described, changed, Changers),
        row(Resources, put, "id=R", r#"{"label":"other"}"#, changed, Owner),
        row(Resources, delete, "id=R", "", deleted, Owner),
        row(ResourcesData, get, "id=R", "", content, Members),
        row(ResourcesData, post, "id=R", PACK, changed, Owner),
        row(ResourcesData, put, "id=R", PACK, Code::METHOD_NOT_ALLOWED, Members),
        row(ResourcesData, delete, "id=R&all=true", "", deleted, Owner),
        row(Streams, get, "id=S", "", content, Members),
        row(Streams, get, "resource=R", "", content, Members),
        row(Streams, post, "resource=R", r#"{"label":"new"}"#, created, Owner),
        row(Streams, put, "id=S", described, changed, Changers),
        row(Streams, delete, "id=S", "", deleted, Owner),
        row(StreamsData, get, "id=S", "", content, Members),
        row(StreamsData, post, "id=S", r#"{"value":1}"#, changed, Owner),
        row(StreamsData, put, "id=S", "", Code::METHOD_NOT_ALLOWED, Members),
        row(StreamsData, delete, "id=S&all=true", "", deleted, Owner),
    ]
}

/// The answer that is due to `who`.
fn due(row: &Row, who: Who) -> Code {
    let reads = row.method == Code::GET;
    // What an identity for one resource does to it.
    let is_within = row.query.contains('R') || row.query.contains('S');
    let deletes_resource = (row.kind, row.method) == (Kind::Resources, Code::DELETE);
    let is_for_scope = match who {
        Who::OwnerAsViewer => reads || (row.kind, row.method) == (Kind::Users, Code::PUT),
        Who::ReadOnly | Who::ChangersReadOnly | Who::AdministratorsReadOnly => reads,
        Who::ForResource => is_within && !deletes_resource,
        Who::ReadResource => is_within && reads,
        Who::ForOtherResource | Who::ChangersForResource => false,
        _ => true,
    };
    let is_for_caller = match who {
        _ if who.is_administrator() => true,
        Who::Other | Who::FormerMember => false,
        Who::Reader | Who::ChangersReadOnly => row.whom == For::Members,
        Who::Changer => matches!(row.whom, For::Members | For::Changers),
        _ => row.whom != For::Administrator,
    };
    match row.code {
        _ if who.is_ended() => Code::UNAUTHORIZED,
        Code::METHOD_NOT_ALLOWED => row.code,
        code if is_for_scope && is_for_caller => code,
        _ => Code::FORBIDDEN,
    }
}

/// The data that every cloud of these begins with, made once: hashing passwords takes its time.
struct Template {
    directory: TempDir,
    ann: User,
    identities: BTreeMap<Who, (User, UserIdentity)>,
    own: ResourceId,
    other: ResourceId,
    stream: i64,
}

static TEMPLATE: OnceCell<Template> = OnceCell::const_new();

impl Template {
    async fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let (store, writer) = Store::open(directory.path()).await.unwrap();
        let user = async |name: &str, role: Role| {
            store.add_user(name, "", "a long password".into(), role).await.unwrap()
        };
        let ann = user("ann", Role::Member).await;
        let enrol = async |label: &str| {
            let device = Device { key: Some(Secret::new(KEY.into())), ..Device::named(label) };
            store.enrol(ann.id, device).await.unwrap().resource.id
        };
        let (own, other) = (enrol("node-1").await, enrol("node-2").await);
        let team = store.add_group(ann.id, "team", now_ms()).await.unwrap().id;
        store.give_to_group(own, &team.0.to_string(), now_ms()).await.unwrap();
        let member = async |name: &str, access: GroupAccess| {
            let user = user(name, Role::Member).await;
            store.put_member(team, name, access, now_ms()).await.unwrap();
            store.join_group(user.id, &team.0.to_string(), now_ms()).await.unwrap();
            user
        };
        let (bob, root) = (user("bob", Role::Member).await, user("root", Role::Administrator).await);
        let (rita, carl) =
            (member("rita", GroupAccess::Read).await, member("carl", GroupAccess::Change).await);
        let fred = member("fred", GroupAccess::Change).await;
        store.leave_group(fred.id, &team.0.to_string()).await.unwrap();
        let mut identities = BTreeMap::new();
        for who in Who::ALL {
            let user = match who {
                Who::Other => &bob,
                Who::Reader => &rita,
                Who::Changer | Who::ChangersReadOnly | Who::ChangersForResource => &carl,
                Who::FormerMember => &fred,
                Who::Administrator | Who::AdministratorsReadOnly => &root,
                _ => &ann,
            };
            let read_only = matches!(
                who,
                Who::ReadOnly | Who::ReadResource | Who::ChangersReadOnly | Who::AdministratorsReadOnly
            );
            let resource = match who {
                Who::ForResource | Who::ReadResource | Who::ChangersForResource => Some(own),
                Who::ForOtherResource => Some(other),
                _ => None,
            };
            let (expires, now) = if who == Who::Expired { (Some(1_000), 0) } else { (None, now_ms()) };
            let new = NewIdentity {
                label: format!("{who:?}"),
                mode: "dtls-psk".parse().unwrap(),
                identity: None,
                key: None,
                valid_s: None,
                expires,
                scope: TokenScope { read_only, resource, stream: None },
            };
            let made = store.add_user_identity(user, new, now).await.unwrap().identity;
            identities.insert(who, (user.clone(), made));
        }
        store.delete_user_identity(ann.id, "Revoked").await.unwrap();
        let reading = Reading { stream: "t".into(), unit: None, time: 1, value: 1.0.into() };
        let idempotency = Idempotency::unique().unwrap();
        store.append(Append { resource: own, idempotency, readings: vec![reading] }).await.unwrap();
        let stream = store.stream(own, "t").await.unwrap().unwrap().id.0;
        drop(store);
        writer.ended().await.unwrap();
        // The last connections may be about to close, and with them the log beside the database goes.
        let whole = tempfile::tempdir().unwrap();
        let database = rusqlite::Connection::open(directory.path().join("sixlock.db")).unwrap();
        database.execute("VACUUM INTO ?1", [whole.path().join("sixlock.db").to_str()]).unwrap();
        for key in ["master.key", "authority.pem", "cloud.pem"] {
            std::fs::copy(directory.path().join(key), whole.path().join(key)).unwrap();
        }
        Self { directory: whole, ann, identities, own, other, stream }
    }
}

/// A cloud in which ann's resource is given to a group, and all who ask have their identities.
struct Users {
    bench: Bench,
    template: &'static Template,
}

impl Users {
    async fn new() -> Self {
        let template = TEMPLATE.get_or_init(Template::new).await;
        let directory = tempfile::tempdir().unwrap();
        for file in std::fs::read_dir(template.directory.path()).unwrap() {
            let file = file.unwrap();
            std::fs::copy(file.path(), directory.path().join(file.file_name())).unwrap();
        }
        let (store, _writer) = Store::open(directory.path()).await.unwrap();
        let (recorder, audit) = Audit::open(directory.path(), now_ms, drop).unwrap();
        let devices = Arc::new(Devices::new(store, Events::unheard().recorded_by(recorder)));
        let bench = Bench { devices, own: template.own, other: template.other, directory, audit };
        Self { bench, template }
    }

    fn peer(&self, who: Who) -> Peer {
        let (user, identity) = &self.template.identities[&who];
        let mut association = [2; 24];
        association[0] = who as u8;
        Peer {
            holder: Some(Holder::User(sixlock_coap_server::UserId(user.id.0))),
            credential: Some(CredentialId(identity.id.0)),
            association,
            ..self.bench.secure()
        }
    }

    async fn answer(&self, policy: Policy, who: Who, request: Request) -> Answer {
        self.bench.devices.answer_under(policy, self.peer(who), request).await
    }

    fn request(&self, kind: Kind, method: Code, query: &str, payload: &str, id: u16) -> Request {
        let query = query.split('&').filter(|argument| !argument.is_empty()).map(|argument| match argument {
            "id=R" | "resource=R" => argument.replace('R', &self.bench.own.0.to_string()),
            "id=S" => format!("id={}", self.template.stream),
            "id=U" | "user=U" => argument.replace('U', &self.template.ann.id.0.to_string()),
            other => other.to_owned(),
        });
        let query: Vec<String> = query.collect();
        let format = (kind != Kind::ResourcesData).then_some(ContentFormat::JSON);
        Bench::request(method, &kind.segments().join("/"), &query, format, payload.as_bytes(), id)
    }

    /// What `who` is answered: the code, and the content or the diagnostic.
    async fn ask(&self, who: Who, kind: Kind, method: Code, query: &str, payload: &str) -> (Code, Value) {
        let id = message_id();
        let request = self.request(kind, method, query, payload, id);
        let answer = self.answer(access::decide, who, request).await;
        let text = || String::from_utf8_lossy(&answer.payload).into_owned().into();
        (answer.code, serde_json::from_slice(&answer.payload).unwrap_or_else(|_| text()))
    }
}

/// Another message id each time, so that none is taken for the same again.
fn message_id() -> u16 {
    static NEXT: std::sync::atomic::AtomicU16 = std::sync::atomic::AtomicU16::new(1);
    NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
}

/// What every row answers to every caller, where it is not as it should be.
async fn violations(policy: Policy) -> Vec<(Row, Who, Code)> {
    let mut wrong = Vec::new();
    for row in rows() {
        let mut users = Users::new().await;
        for who in Who::ALL {
            let expected = due(&row, who);
            let change = match who {
                Who::OwnerAsViewer => UserChange { role: Some(Role::Viewer), ..UserChange::default() },
                Who::Disabled => UserChange { disabled: Some(true), ..UserChange::default() },
                _ => UserChange::default(),
            };
            users.bench.devices.store.change_user(&users.template.ann, change, None).await.unwrap();
            let request = users.request(row.kind, row.method, row.query, row.payload, message_id());
            let code = users.answer(policy, who, request).await.code;
            if code != expected {
                wrong.push((row, who, code));
            }
            // What one of them does is not to change what the next one finds.
            let has_changed = code.is_success() && row.method != Code::GET;
            if has_changed || matches!(who, Who::OwnerAsViewer | Who::Disabled) {
                users = Users::new().await;
            }
        }
    }
    wrong
}

#[tokio::test(flavor = "multi_thread")]
async fn every_path_answers_every_user_as_the_policy_says() {
    assert_eq!(violations(access::decide).await, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_policy_the_answers_to_users_would_not_hold() {
    let wrong = violations(|_, _, _| Ok(())).await;
    for row in rows().into_iter().filter(|row| row.code.is_success()) {
        for who in [Who::Other, Who::FormerMember, Who::ForOtherResource] {
            let noticed = wrong.iter().any(|&(other, by, _)| (other, by) == (row, who));
            assert!(noticed, "{row:?} by {who:?}");
        }
    }
}

#[tokio::test]
async fn a_user_has_devices_and_streams_by_coap_as_by_http() {
    let users = Users::new().await;
    let ask = async |kind, method, query: &str, payload: &str| {
        users.ask(Who::Owner, kind, method, query, payload).await
    };
    let (code, own) = ask(Kind::Users, Code::GET, "", "").await;
    assert_eq!(
        (code, own["username"].as_str(), own["role"].as_str()),
        (Code::CONTENT, Some("ann"), Some("member"))
    );

    let new = r#"{"label":"roof","mode":"dtls-psk","tags":["north"]}"#;
    let (code, made) = ask(Kind::Resources, Code::POST, "", new).await;
    assert_eq!((code, made["identity"].as_str()), (Code::CREATED, Some("roof")));
    assert_eq!(made["key"].as_str().map(str::len), Some(32), "{made}");
    let id = format!("id={}", made["id"]);
    let (_, shown) = ask(Kind::Resources, Code::GET, &id, "").await;
    assert_eq!((shown["tags"][0].as_str(), shown.get("key")), (Some("north"), None));
    let (_, list) = ask(Kind::Resources, Code::GET, "", "").await;
    let labels: Vec<_> = list.as_array().unwrap().iter().map(|one| one["label"].as_str().unwrap()).collect();
    assert_eq!(labels, ["node-1", "node-2", "roof"]);
    let (_, rest) = ask(Kind::Resources, Code::GET, &format!("after={}", list[1]["id"]), "").await;
    assert_eq!(rest.as_array().map(Vec::len), Some(1));
    let again = ask(Kind::Resources, Code::POST, "", new).await;
    assert_eq!(again, (Code::CONFLICT, "this label is in use".into()));
    let taken =
        ask(Kind::Resources, Code::POST, "", r#"{"label":"b","mode":"dtls-psk","identity":"roof"}"#).await;
    assert_eq!(taken, (Code::CONFLICT, "this identity is in use".into()));
    // What a certificate is made for, too, as long as the answer fits a message.
    let public_key = || pem::public_key(&KeyPair::random().unwrap().point);
    let certified = json!({"label": "wall", "mode": "dtls-x509", "key": public_key()});
    let (code, certified) = ask(Kind::Resources, Code::POST, "", &certified.to_string()).await;
    assert_eq!(code, Code::CREATED);
    assert!(certified["certificate"].as_str().unwrap().starts_with("-----BEGIN"), "{certified}");
    assert!(certified.to_string().len() <= LONGEST_PAYLOAD);
    let long = "\"".repeat(64);
    let long = json!({"label": long, "identity": long, "mode": "dtls-x509", "key": public_key()});
    let (code, why) = ask(Kind::Resources, Code::POST, "", &long.to_string()).await;
    assert!(code == Code::BAD_REQUEST && why.as_str().unwrap().contains("too long"), "{why}");

    let of = format!("resource={}", made["id"]);
    let (code, stream) = ask(Kind::Streams, Code::POST, &of, r#"{"label":"wind","unit":"m/s"}"#).await;
    assert_eq!(code, Code::CREATED);
    let of_stream = format!("id={}", stream["id"]);
    let points = r#"[{"value":1.5,"time":10},{"value":2.5,"time":20},{"value":3.5,"time":30}]"#;
    assert_eq!(ask(Kind::StreamsData, Code::POST, &of_stream, points).await.0, Code::CHANGED);
    let read = ask(Kind::StreamsData, Code::GET, &format!("{of_stream}&from=20&until=40&limit=1"), "").await;
    assert_eq!(read.1, json!([{"time": 20, "value": 2.5}]));
    assert_eq!(ask(Kind::ResourcesData, Code::POST, &id, r#"[{"n":"wind","v":9}]"#).await.0, Code::CHANGED);
    let (_, latest) = ask(Kind::ResourcesData, Code::GET, &id, "").await;
    assert_eq!((latest[0]["label"].as_str(), latest[0]["value"].as_f64()), (Some("wind"), Some(9.0)));
    assert_eq!(
        ask(Kind::Resources, Code::PUT, &id, r#"{"period_s":60,"folder":"house"}"#).await.0,
        Code::CHANGED
    );
    assert_eq!(ask(Kind::Resources, Code::GET, &id, "").await.1["folder"], "house");

    // What does not say which one is meant is none.
    for (kind, method) in [
        (Kind::Resources, Code::PUT),
        (Kind::Resources, Code::DELETE),
        (Kind::ResourcesData, Code::GET),
        (Kind::ResourcesData, Code::POST),
        (Kind::Streams, Code::GET),
        (Kind::Streams, Code::DELETE),
        (Kind::StreamsData, Code::GET),
        (Kind::Users, Code::DELETE),
    ] {
        assert_eq!(ask(kind, method, "", "{}").await.0, Code::BAD_REQUEST, "{kind:?} {method:?}");
    }
    assert_eq!(ask(Kind::Resources, Code::GET, "id=4711", "").await.0, Code::NOT_FOUND);
    assert_eq!(ask(Kind::StreamsData, Code::GET, "id=4711", "").await.0, Code::NOT_FOUND);
    assert_eq!(ask(Kind::Resources, Code::GET, &format!("{id}&untl=1"), "").await.0, Code::BAD_REQUEST);

    assert_eq!(ask(Kind::Resources, Code::DELETE, &id, "").await.0, Code::DELETED);
    assert_eq!(ask(Kind::Resources, Code::GET, &id, "").await.0, Code::NOT_FOUND);
    let done = users.bench.refusals();
    let done: Vec<_> = done.iter().filter(|line| line["action"].is_string()).collect();
    let words = |line: &Value| {
        [&line["action"], &line["scheme"], &line["who"], &line["what"]].map(Value::to_string).join(" ")
    };
    let (made, deleted) = (words(done[0]), words(done[done.len() - 1]));
    assert_eq!(made, format!(r#""resource_added" "coaps" "ann" "/resources {id}""#));
    assert_eq!(deleted, format!(r#""resource_deleted" "coaps" "ann" "/resources {id}""#));
    assert!(!format!("{done:?}").contains("4711") && done.len() == 4, "{done:?}");
}

#[tokio::test]
async fn an_identity_for_one_resource_means_that_one() {
    let users = Users::new().await;
    let ask = async |kind, method, query: &str, payload: &str| {
        users.ask(Who::ForResource, kind, method, query, payload).await
    };
    let own = users.bench.own.0;
    assert_eq!(ask(Kind::Resources, Code::GET, "", "").await.1["id"], own);
    assert_eq!(ask(Kind::ResourcesData, Code::POST, "", r#"[{"n":"t","v":5}]"#).await.0, Code::CHANGED);
    assert_eq!(ask(Kind::ResourcesData, Code::GET, "", "").await.1[0]["value"], 5.0);
    assert_eq!(ask(Kind::Streams, Code::GET, "", "").await.1[0]["label"], "t");
    assert_eq!(ask(Kind::Streams, Code::POST, "", r#"{"label":"u"}"#).await.0, Code::CREATED);
    let of_other = format!("resource={}", users.bench.other.0);
    for (kind, method) in
        [(Kind::ResourcesData, Code::GET), (Kind::ResourcesData, Code::POST), (Kind::Streams, Code::GET)]
    {
        assert_eq!(ask(kind, method, &of_other, PACK).await.0, Code::FORBIDDEN, "{kind:?} {method:?}");
    }
    let other = format!("id={}", users.bench.other.0);
    assert_eq!(ask(Kind::Resources, Code::GET, &other, "").await.0, Code::FORBIDDEN);
    assert_eq!(ask(Kind::Resources, Code::GET, "user=U", "").await.0, Code::FORBIDDEN);
    assert_eq!(ask(Kind::Resources, Code::GET, "all=true", "").await.0, Code::FORBIDDEN);
    assert_eq!(ask(Kind::Resources, Code::DELETE, "", "").await.0, Code::FORBIDDEN);
    assert_eq!(ask(Kind::Users, Code::GET, "", "").await.0, Code::FORBIDDEN);
}

#[tokio::test]
async fn no_password_token_or_role_changes_by_an_identity_that_may_not() {
    let users = Users::new().await;
    let put = async |who, payload: &str| users.ask(who, Kind::Users, Code::PUT, "", payload).await.0;
    let forbidden = Code::FORBIDDEN;
    for who in [Who::ReadOnly, Who::ForResource, Who::ReadResource, Who::AdministratorsReadOnly] {
        assert_eq!(put(who, r#"{"email":"x@example.org"}"#).await, forbidden, "{who:?}");
    }
    assert_eq!(put(Who::Owner, r#"{"role":"administrator"}"#).await, forbidden);
    assert_eq!(put(Who::Owner, r#"{"disabled":false}"#).await, forbidden);
    assert_eq!(put(Who::Owner, r#"{"password":"another password"}"#).await, Code::BAD_REQUEST);
    assert_eq!(put(Who::Administrator, r#"{"disabled":true}"#).await, Code::BAD_REQUEST);
    assert_eq!(put(Who::Owner, r#"{"email":"ann@example.org"}"#).await, Code::CHANGED);
    let stored = users.bench.devices.store.user("ann").await.unwrap().unwrap();
    assert_eq!((stored.role, &*stored.email), (Role::Member, "ann@example.org"));
    let lines = users.bench.refusals();
    let last = lines.last().unwrap();
    assert_eq!((&last["action"], &last["scheme"]), (&json!("email_changed"), &json!("coaps")));
    let refused = lines.iter().filter(|line| line["reason"] == "forbidden").count();
    assert_eq!(refused, 6);
}

#[tokio::test]
async fn what_is_observed_is_told_no_more_when_its_right_is_taken_away() {
    let users = Users::new().await;
    let store = &users.bench.devices.store;
    let team = store.groups(users.template.ann.id).await.unwrap()[0].id.0.to_string();
    let observed = async |who, kind, query: &str| {
        let request = users.request(kind, Code::GET, query, "", message_id());
        assert!(users.bench.devices.topic(&request).is_some(), "{kind:?}");
        users.bench.devices.clone().notification(users.peer(who), request).await
    };
    for (kind, query) in [(Kind::StreamsData, "id=S"), (Kind::ResourcesData, "id=R")] {
        let told = observed(Who::Reader, kind, query).await;
        // It counts as the user's, and takes no place of the device.
        assert_eq!((told.code, told.about), (Code::CONTENT, users.peer(Who::Reader).holder));
    }
    store.take_from_group(&team, &users.bench.own.0.to_string()).await.unwrap();
    for (kind, query) in [(Kind::StreamsData, "id=S"), (Kind::ResourcesData, "id=R")] {
        assert_eq!(observed(Who::Reader, kind, query).await.code, Code::FORBIDDEN);
        assert_eq!(observed(Who::Owner, kind, query).await.code, Code::CONTENT);
    }
    store.delete_user_identity(users.template.ann.id, "Owner").await.unwrap();
    assert_eq!(observed(Who::Owner, Kind::StreamsData, "id=S").await.code, Code::UNAUTHORIZED);
}

#[tokio::test]
async fn a_resource_that_is_observed_is_told_when_any_stream_of_it_has_points() {
    let users = Users::new().await;
    let devices = &users.bench.devices;
    let mut changes = devices.changes();
    let topic =
        |kind, query: &str| devices.topic(&users.request(kind, Code::GET, query, "", message_id())).unwrap();
    let (stream, resource) = (topic(Kind::StreamsData, "id=S"), topic(Kind::ResourcesData, "id=R"));
    assert_ne!(stream, resource);
    // Who wants to observe it is not yet one who may.
    for (observed, is_told) in
        [(vec![], false), (vec![stream], false), (vec![stream, resource], true), (vec![], false)]
    {
        let body = r#"[{"n":"new","v":2}]"#;
        let posted = users.ask(Who::Owner, Kind::ResourcesData, Code::POST, "id=R", body);
        assert_eq!(posted.await.0, Code::CHANGED);
        let topics = Changes::next(&mut changes, &observed.into_iter().collect()).await;
        assert_eq!(topics.contains(&resource), is_told, "{topics:?}");
        assert!(!topics.contains(&stream) && !topics.is_empty(), "{topics:?}");
    }
}

#[tokio::test]
async fn a_users_resource_is_changed_in_the_state_that_was_seen_and_has_etags() {
    let users = Users::new().await;
    let get = async || {
        let request = users.request(Kind::Resources, Code::GET, "id=R", "", message_id());
        users.answer(access::decide, Who::Owner, request).await.etag.unwrap()
    };
    let seen = get().await;
    let put = async |state: &[u8]| {
        let mut datagram = [0; 256];
        let mut builder =
            Builder::new(&mut datagram, Type::Confirmable, Code::PUT, message_id(), b"tk").unwrap();
        builder.option(OptionNumber::IF_MATCH, state).unwrap();
        builder.path(&["resources"]).unwrap();
        builder.option(OptionNumber::URI_QUERY, format!("id={}", users.bench.own.0).as_bytes()).unwrap();
        let length = builder.finish_with(br#"{"description":"moved"}"#).unwrap();
        let request = Request::read(&Message::parse(&datagram[..length]).unwrap(), usize::MAX);
        users.answer(access::decide, Who::Owner, request).await.code
    };
    assert_eq!(put(&seen).await, Code::CHANGED);
    assert_eq!(put(&seen).await, Code::PRECONDITION_FAILED);
    assert_ne!(get().await, seen);
    // So has a stream.
    let change = StreamChange { unit: Some("K"), ..StreamChange::default() };
    users.bench.devices.store.change_stream(StreamId(users.template.stream), change, None).await.unwrap();
    let request = users.request(Kind::Streams, Code::GET, "id=S", "", message_id());
    assert!(users.answer(access::decide, Who::Owner, request).await.etag.is_some());
}

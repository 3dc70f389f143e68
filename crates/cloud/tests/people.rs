//! What users may do, and how they come and go: over HTTP, and by CoAP where devices are concerned.

#[allow(dead_code, reason = "each test uses a part of it")]
mod client;
mod web_client;

use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use client::Client;
use serde_json::{Value, json};
use sixlock_coap_msg::{Builder, Code, ContentFormat, Type};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::task::spawn_blocking;
use web_client::{Cloud, PASSWORD, bearer, read_answer};

const KEY: &str = "0123456789abcdef";

fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as i64
}

/// Asks with this token, and tells the status.
async fn ask(cloud: &Cloud, token: &str, request: &str, body: Value) -> u16 {
    let request = request.replacen(' ', " /api/v1", 1);
    cloud.ask(&request, &bearer(token), body).await.status
}

async fn scoped_token(cloud: &Cloud, user: &str, body: Value) -> String {
    let answer = cloud.as_admin(&format!("POST /api/v1/users/{user}/tokens"), body).await;
    assert_eq!(answer.status, 201, "{}", answer.body);
    answer.json()["token"].as_str().unwrap().to_owned()
}

/// Adds a resource of a user whose device has [`KEY`].
async fn device(cloud: &Cloud, user: &str, label: &str) -> u16 {
    let body = json!({"label": label, "mode": "dtls-psk", "key": KEY});
    cloud.as_admin(&format!("POST /api/v1/users/{user}/resources"), body).await.status
}

#[tokio::test(flavor = "multi_thread")]
async fn a_role_takes_effect_at_once_for_requests_and_live_feeds() {
    let cloud = Cloud::start(|_| {}).await;
    let ann = cloud.user("ann", false).await;
    cloud.node("ann").await;
    let data = "/users/ann/resources/node/streams/t/data";
    assert_eq!(ask(&cloud, &ann, &format!("POST {data}"), json!({"value": 1})).await, 204);
    let mut feed = cloud.feed("/api/v1/live", &bearer(&ann)).await;
    let answer = cloud.as_admin("PUT /api/v1/users/ann", json!({"role": "viewer"})).await;
    assert_eq!((answer.status, &answer.json()["role"]), (200, &json!("viewer")));
    feed.until_the_end().await;

    assert_eq!(ask(&cloud, &ann, &format!("GET {data}"), Value::Null).await, 200);
    for (request, body) in [
        (format!("POST {data}"), json!({"value": 2})),
        (format!("DELETE {data}?all=true"), Value::Null),
        ("POST /users/ann/tokens".into(), json!({"label": "t"})),
        ("POST /users/ann/resources".into(), json!({"label": "other"})),
        ("PUT /users/ann".into(), json!({"role": "member"})),
        ("PUT /users/ann".into(), json!({"admin": true})),
        ("DELETE /users/ann".into(), Value::Null),
        ("GET /users".into(), Value::Null),
    ] {
        assert_eq!(ask(&cloud, &ann, &request, body).await, 403, "{request}");
    }
    let password = json!({"password": "quite another", "current_password": PASSWORD});
    assert_eq!(ask(&cloud, &ann, "PUT /users/ann", password).await, 200);

    // Both spellings are one thing, and the last administrator stays one.
    for (change, role) in [
        (json!({"admin": true}), "administrator"),
        (json!({"role": "member"}), "member"),
        (json!({"role": "administrator", "admin": true}), "administrator"),
    ] {
        let changed = cloud.as_admin("PUT /api/v1/users/ann", change).await.json();
        assert_eq!((&changed["role"], &changed["admin"]), (&json!(role), &json!(role == "administrator")));
    }
    for (change, status) in [(json!({"role": "viewer", "admin": true}), 400), (json!({"role": "owner"}), 422)]
    {
        assert_eq!(cloud.as_admin("PUT /api/v1/users/ann", change).await.status, status);
    }
    assert_eq!(ask(&cloud, &ann, "PUT /users/admin", json!({"role": "member"})).await, 400);
    assert_eq!(ask(&cloud, &ann, "DELETE /users/admin", Value::Null).await, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_of_a_scope_does_no_more_and_its_feed_ends_with_it() {
    let cloud = Cloud::start(|_| {}).await;
    cloud.user("ann", false).await;
    cloud.node("ann").await;
    assert_eq!(device(&cloud, "ann", "other").await, 201);
    let one = scoped_token(&cloud, "ann", json!({"label": "one", "resource": "node"})).await;
    let read = json!({"label": "read", "read_only": true, "expires": now_ms() + 3_600_000});
    let read = scoped_token(&cloud, "ann", read).await;
    let node = "/users/ann/resources/node";
    for (token, request, body, status) in [
        (&one, format!("POST {node}/data"), json!({"t": 1.5}), 204),
        (&one, format!("GET {node}/streams/t/data"), Value::Null, 200),
        (&one, "GET /users/ann/resources/other".into(), Value::Null, 403),
        (&one, "GET /users/ann/resources/nothing".into(), Value::Null, 403),
        (&one, "GET /users/ann/resources".into(), Value::Null, 403),
        (&one, "GET /live".into(), Value::Null, 403),
        (&one, format!("POST {node}/credentials"), json!({}), 403),
        (&one, "POST /users/ann/tokens".into(), json!({"label": "wider"}), 403),
        (
            &one,
            "PUT /users/ann".into(),
            json!({"password": "quite another", "current_password": PASSWORD}),
            403,
        ),
        (&read, format!("GET {node}/streams/t/data"), Value::Null, 200),
        (&read, "GET /users/ann/export".into(), Value::Null, 200),
        (&read, format!("POST {node}/data"), json!({"t": 1.5}), 403),
        (&read, "POST /users/ann/tokens".into(), json!({"label": "wider"}), 403),
        (&read, "DELETE /users/ann/tokens/one".into(), Value::Null, 403),
        (&read, "POST /users/ann/totp".into(), json!({"current_password": PASSWORD}), 403),
    ] {
        assert_eq!(ask(&cloud, token, &request, body).await, status, "{request}");
    }
    let of_another = json!({"label": "two", "resource": "nothing"});
    assert_eq!(cloud.as_admin("POST /api/v1/users/ann/tokens", of_another).await.status, 404);
    let listed = cloud.as_admin("GET /api/v1/users/ann/tokens", Value::Null).await.json();
    assert_eq!((&listed[0]["read_only"], &listed[1]["read_only"]), (&json!(false), &json!(true)));
    assert!(listed[0]["resource"].is_number() && listed[1]["resource"].is_null(), "{listed}");

    let live = format!("/api/v1{node}/streams/t/live");
    let (mut of_one, mut of_read) =
        (cloud.feed(&live, &bearer(&one)).await, cloud.feed(&live, &bearer(&read)).await);
    assert_eq!(cloud.as_admin("DELETE /api/v1/users/ann/tokens/read", Value::Null).await.status, 204);
    of_read.until_the_end().await;
    // A token goes with its resource.
    assert_eq!(cloud.as_admin(&format!("DELETE /api/v1{node}"), Value::Null).await.status, 204);
    of_one.until_the_end().await;
    assert_eq!(ask(&cloud, &one, "GET /me", Value::Null).await, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_who_is_disabled_is_not_let_in_by_password_token_or_feed_until_enabled() {
    let cloud = Cloud::start(|_| {}).await;
    let ann = cloud.user("ann", false).await;
    let token = cloud.as_admin("POST /api/v1/users/ann/tokens", json!({"label": "program"})).await.json();
    let token = token["token"].as_str().unwrap();
    let mut feed = cloud.feed("/api/v1/live", &bearer(token)).await;
    let set =
        async |disabled: bool| cloud.as_admin("PUT /api/v1/users/ann", json!({"disabled": disabled})).await;
    assert_eq!(ask(&cloud, &ann, "PUT /users/ann", json!({"disabled": true})).await, 403);
    let disabled = set(true).await;
    assert_eq!((disabled.status, &disabled.json()["disabled"]), (200, &json!(true)));
    feed.until_the_end().await;
    for token in [&ann, token] {
        assert_eq!(ask(&cloud, token, "GET /me", Value::Null).await, 401);
    }
    let refused = cloud.login("ann", PASSWORD, "").await;
    assert_eq!((refused.status, refused.code()), (403, "account_disabled".to_owned()));
    assert_eq!(cloud.login("ann", "not the password", "").await.status, 401, "nothing is told to others");
    assert_eq!(set(false).await.status, 200);
    assert_eq!(ask(&cloud, token, "GET /me", Value::Null).await, 200);
    assert_eq!(cloud.login("ann", PASSWORD, "").await.status, 200);

    let admin = cloud.as_admin("PUT /api/v1/users/admin", json!({"disabled": true})).await;
    assert_eq!(admin.status, 400);
    let eve = cloud.user("eve", true).await;
    assert_eq!(ask(&cloud, &eve, "PUT /users/eve", json!({"disabled": true})).await, 400);
    assert_eq!(ask(&cloud, &eve, "PUT /users/admin", json!({"disabled": true})).await, 400);
    let lines = cloud.as_admin("GET /api/v1/audit?actions=true", Value::Null).await.body;
    for action in ["account_disabled", "account_enabled"] {
        assert_eq!(lines.matches(&format!("\"{action}\"")).count(), 1, "{action}: {lines}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_sets_a_password_once_by_its_page_or_the_api() {
    let cloud = Cloud::start(|_| {}).await;
    let ann = cloud.user("ann", false).await;
    let link = async || {
        let answer = cloud.as_admin("POST /api/v1/users/ann/reset-link", json!({})).await;
        assert_eq!(answer.status, 201, "{}", answer.body);
        answer.json()["path"].as_str().unwrap().to_owned()
    };
    assert_eq!(ask(&cloud, &ann, "POST /users/ann/reset-link", json!({})).await, 403);
    let path = link().await;
    let token = path.strip_prefix("/reset-password?token=").unwrap();
    // Whoever looks at the page only uses nothing up.
    for _ in 0..2 {
        let page = cloud.ask(&format!("GET {path}"), "", Value::Null).await;
        assert!(page.status == 200 && page.body.contains(token), "{}", page.body);
        assert_eq!(page.header("referrer-policy"), Some("same-origin"));
    }
    let hostile = cloud.ask("GET /reset-password?token=%22%3E%3Cb%3E", "", Value::Null).await;
    assert!(!hostile.body.contains("<b>"), "{}", hostile.body);
    let send = async |password: &str, origin: &str| {
        let body = format!("token={token}&password={password}");
        let headers = format!(
            "Origin: http://{origin}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        // The end of the head is in the headers, so what follows it is not read.
        read_answer(&mut cloud.open("POST /reset-password", &headers, "").await).await
    };
    assert_eq!(send("quite+another", "example.org").await.status, 403);
    let short = send("short", "localhost").await;
    assert!(short.status == 400 && short.body.contains("8 to 256 bytes"), "{}", short.body);
    assert_eq!(ask(&cloud, &ann, "GET /me", Value::Null).await, 200);
    assert_eq!(send("quite+another", "localhost").await.status, 200);
    assert_eq!(ask(&cloud, &ann, "GET /me", Value::Null).await, 401, "sessions end");
    assert_eq!(cloud.login("ann", "quite another", "").await.status, 200);
    let again = send("quite+another", "localhost").await;
    assert!(
        again.status == 403 && again.header("content-type").unwrap().starts_with("text/html"),
        "{}",
        again.head
    );

    let path = link().await;
    let token = path.strip_prefix("/reset-password?token=").unwrap();
    let reset = json!({"token": token, "password": "a third one"});
    assert_eq!(cloud.ask("POST /api/v1/reset-password", "", reset.clone()).await.status, 204);
    let used = cloud.ask("POST /api/v1/reset-password", "", reset).await;
    assert_eq!((used.status, used.code()), (403, "wrong_link".to_owned()));
    assert_eq!(cloud.login("ann", "a third one", "").await.status, 200);
    // A session that an administrator left open is not enough to take the account over.
    let eve = cloud.user("eve", true).await;
    assert_eq!(ask(&cloud, &eve, "POST /users/eve/reset-link", json!({})).await, 403);
    let lines = cloud.as_admin("GET /api/v1/audit?actions=true", Value::Null).await.body;
    for action in ["reset_link_made", "password_reset"] {
        assert!(lines.contains(action), "{action}: {lines}");
    }
    assert!(!lines.contains(token), "{lines}");
}

#[tokio::test(flavor = "multi_thread")]
async fn strangers_sign_up_where_it_is_allowed_and_not_too_often() {
    let sign_up = |name: &str| json!({"username": name, "password": PASSWORD});
    let closed = Cloud::start(|_| {}).await;
    let allowed = closed.ask("GET /api/v1/sign-up", "", Value::Null).await;
    assert_eq!(allowed.json(), json!({"allowed": false}));
    let refused = closed.ask("POST /api/v1/sign-up", "", sign_up("ann")).await;
    assert_eq!((refused.status, refused.code()), (403, "no_sign_up".to_owned()));

    let cloud = Cloud::start(|config| config.sign_up = true).await;
    assert_eq!(cloud.ask("GET /api/v1/sign-up", "", Value::Null).await.json(), json!({"allowed": true}));
    let made = cloud.ask("POST /api/v1/sign-up", "", sign_up("ann")).await;
    assert_eq!((made.status, &made.json()["role"]), (201, &json!("member")));
    let pending = async || {
        let ann = cloud.as_admin("GET /api/v1/users/ann", Value::Null).await.json();
        ann["pending"].as_bool().unwrap()
    };
    assert!(pending().await);
    assert_eq!(cloud.login("ann", PASSWORD, "").await.status, 200);
    assert!(!pending().await);
    let admin = json!({"username": "eve", "password": PASSWORD, "role": "administrator"});
    assert_eq!(cloud.ask("POST /api/v1/sign-up", "", admin).await.status, 422);
    assert_eq!(cloud.ask("POST /api/v1/sign-up", "", sign_up("Ann")).await.status, 409);
    // A machine that is slow enough forgets the first before the last; then there are more.
    let mut wait = None;
    for n in 0..30 {
        let answer = cloud.ask("POST /api/v1/sign-up", "", sign_up(&format!("u{n}"))).await;
        if answer.status == 429 {
            assert_eq!(answer.code(), "too_many_sign_ups");
            wait = answer.header("retry-after").map(str::to_owned);
            break;
        }
        assert_eq!(answer.status, 201, "{}", answer.body);
    }
    assert!(wait.is_some());
    assert_eq!(cloud.login("ann", PASSWORD, "").await.status, 200, "others are not concerned");
}

/// A post of SenML of this stream.
fn post(id: u16, streams: &[&str]) -> Vec<u8> {
    let mut datagram = [0; 1024];
    let mut builder =
        Builder::new(&mut datagram, Type::Confirmable, Code::POST, id, &id.to_be_bytes()).unwrap();
    builder.path(&["resources", "data"]).unwrap().content_format(ContentFormat::SENML_JSON).unwrap();
    let records: Vec<Value> = streams.iter().map(|stream| json!({"n": stream, "v": id})).collect();
    let len = builder.finish_with(json!(records).to_string().as_bytes()).unwrap();
    datagram[..len].to_vec()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_over_a_quota_is_refused_over_http_and_by_coap() {
    let cloud = Cloud::start(|_| {}).await;
    let ann = cloud.user("ann", false).await;
    assert_eq!(device(&cloud, "ann", "node").await, 201);
    let quotas = async |body: Value| {
        let answer = cloud.as_admin("PUT /api/v1/users/ann/quotas", body).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.json()
    };
    let usual = quotas(json!({})).await["quotas"].clone();
    assert_eq!(usual, json!({"resources": 5000, "streams": 50_000, "points_a_day": 10_000_000}));
    assert_eq!(ask(&cloud, &ann, "PUT /users/ann/quotas", json!({"resources": 9})).await, 403);
    let address = cloud.running.coaps;
    let connect = move || Client::connect(address, "node", KEY.as_bytes()).unwrap();
    let node = Arc::new(Mutex::new(spawn_blocking(connect).await.unwrap()));
    let by_coap = async |message: Vec<u8>| {
        let node = node.clone();
        spawn_blocking(move || node.lock().unwrap().ask(&message)).await.unwrap().unwrap()
    };
    let path = "POST /api/v1/users/ann/resources/node/data";
    let by_http = async |readings: Value| cloud.ask(path, &bearer(&ann), readings).await;

    quotas(json!({"resources": 1, "streams": 2, "points_a_day": 4})).await;
    let body = json!({"label": "second"});
    let refused = cloud.ask("POST /api/v1/users/ann/resources", &bearer(&ann), body.clone()).await;
    assert_eq!((refused.status, refused.code()), (403, "quota".to_owned()));
    assert!(refused.body.contains("1 resources"), "{}", refused.body);
    let import = json!({"devices": [{"label": "second"}]});
    assert_eq!(ask(&cloud, &ann, "POST /users/ann/import", import).await, 403);

    assert_eq!(by_coap(post(1, &["t", "u"])).await, Code::CHANGED);
    assert_eq!(by_coap(post(2, &["t", "v"])).await, Code::FORBIDDEN, "a third stream");
    let refused = by_http(json!({"v": 1})).await;
    assert_eq!((refused.status, refused.code()), (403, "quota".to_owned()));
    let stream = cloud
        .ask("POST /api/v1/users/ann/resources/node/streams", &bearer(&ann), json!({"label": "v"}))
        .await;
    assert_eq!((stream.status, stream.code()), (403, "quota".to_owned()));

    // Two of four points are stored. A machine that is at midnight begins anew.
    let used = cloud.as_admin("GET /api/v1/users/ann/quotas", Value::Null).await.json()["used"].clone();
    assert_eq!((&used["resources"], &used["streams"]), (&json!(1), &json!(2)));
    quotas(json!({"points_a_day": 0})).await;
    assert_eq!(by_coap(post(3, &["t"])).await, Code::TOO_MANY_REQUESTS);
    let refused = cloud
        .ask("POST /api/v1/users/ann/resources/node/streams/t/data", &bearer(&ann), json!({"value": 1}))
        .await;
    assert_eq!((refused.status, refused.code()), (429, "points_of_day".to_owned()));
    let wait: i64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=86_401).contains(&wait), "{wait}");
    // What was stored is answered as it was, when it comes again.
    assert_eq!(by_coap(post(1, &["t", "u"])).await, Code::CHANGED);

    quotas(json!({})).await;
    assert_eq!(by_coap(post(4, &["t", "v"])).await, Code::CHANGED);
    assert_eq!(ask(&cloud, &ann, "POST /users/ann/resources", body).await, 201);
    // Administrators have none.
    cloud.as_admin("PUT /api/v1/users/ann/quotas", json!({"points_a_day": 0})).await;
    cloud.as_admin("PUT /api/v1/users/ann", json!({"role": "administrator"})).await;
    assert_eq!(by_coap(post(5, &["t"])).await, Code::CHANGED);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_administrator_sees_every_device_and_whose_it_is() {
    let cloud = Cloud::start(|_| {}).await;
    for name in ["ann", "bob"] {
        cloud.user(name, false).await;
        cloud.node(name).await;
    }
    cloud.post("bob", [1.0]).await;
    let first = cloud.as_admin("GET /api/v1/resources?limit=1", Value::Null).await.json();
    assert_eq!((&first[0]["label"], &first[0]["owner"]["username"]), (&json!("node"), &json!("ann")));
    assert!(first[0]["heard"].is_null() && first[1].is_null(), "{first}");
    let rest = format!("GET /api/v1/resources?after={}", first[0]["id"]);
    let rest = cloud.as_admin(&rest, Value::Null).await.json();
    assert_eq!((&rest[0]["owner"]["username"], rest.as_array().unwrap().len()), (&json!("bob"), 1));
    assert!(rest[0]["heard"].is_number(), "{rest}");
}

#[tokio::test(flavor = "multi_thread")]
async fn all_that_is_kept_of_a_user_is_exported_without_secrets_and_erased() {
    let cloud = Cloud::start(|_| {}).await;
    let ann = cloud.user("ann", false).await;
    cloud.user("bob", false).await;
    cloud.node("bob").await;
    cloud.post("bob", [5.5]).await;
    assert_eq!(device(&cloud, "ann", "node").await, 201);
    let script = cloud.token("ann", "script", None).await;
    let data = "POST /users/ann/resources/node/data";
    assert_eq!(ask(&cloud, &ann, data, json!({"t": 7.25})).await, 204);
    assert_eq!(ask(&cloud, &ann, data, json!({"t": 8.25})).await, 204);
    let poller = json!({"url": "https://example.org/", "period": 60, "authorization": "Bearer s3cret"});
    assert_eq!(ask(&cloud, &ann, "PUT /users/ann/resources/node/poller", poller).await, 201);

    let webhook = json!({"label": "ops", "kind": "webhook", "address": "https://example.org/hook"});
    assert_eq!(ask(&cloud, &ann, "POST /users/ann/channels", webhook).await, 201);
    let above = json!({"kind": "threshold", "operator": ">", "operand": 9});
    let rule = json!({"label": "warm", "resource": "node", "stream": "t", "condition": above});
    assert_eq!(ask(&cloud, &ann, "POST /users/ann/rules", rule).await, 201);
    assert_eq!(ask(&cloud, &ann, data, json!({"t": 9.5})).await, 204);
    let command = json!({"actuator": "led", "value": true});
    assert_eq!(ask(&cloud, &ann, "POST /users/ann/resources/node/commands", command).await, 201);

    let text = cloud.ask("GET /api/v1/users/ann/export", &bearer(&ann), Value::Null).await.body;
    // It comes in chunks, whose lengths are lines of their own.
    let lines: Vec<Value> =
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).filter(Value::is_object).collect();
    let kinds: Vec<_> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(
        kinds,
        [
            "user",
            "quotas",
            "token",
            "channel",
            "rule",
            "alert",
            "resource",
            "credential",
            "parser",
            "poller",
            "stream",
            "command",
            "retention",
            "points"
        ]
    );
    let values: Vec<_> =
        lines[13]["points"].as_array().unwrap().iter().map(|point| point[1].clone()).collect();
    assert_eq!(values, [json!(7.25), json!(8.25), json!(9.5)]);
    for secret in [KEY, &script, &ann, "s3cret", "argon2", "bob"] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }

    let address = cloud.running.coaps;
    let mut node =
        spawn_blocking(move || Client::connect(address, "node", KEY.as_bytes()).unwrap()).await.unwrap();
    let mut feed = cloud.feed("/api/v1/live", &bearer(&script)).await;
    let reset = cloud.as_admin("POST /api/v1/users/ann/reset-link", json!({})).await.json();
    assert_eq!(ask(&cloud, &ann, "DELETE /users/ann", Value::Null).await, 204);
    feed.until_the_end().await;
    for token in [&ann, &script] {
        assert_eq!(ask(&cloud, token, "GET /me", Value::Null).await, 401);
    }
    assert_eq!(
        spawn_blocking(move || node.ask(&post(1, &["t"]))).await.unwrap(),
        None,
        "its session is over"
    );
    let token = reset["path"].as_str().unwrap().rsplit('=').next().unwrap();
    let used = json!({"token": token, "password": "quite another"});
    assert_eq!(cloud.ask("POST /api/v1/reset-password", "", used).await.status, 403);
    let database = rusqlite::Connection::open(cloud.directory.path().join("data/sixlock.db")).unwrap();
    let count = |sql: &str| database.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    // What is left is the administrator's, and bob's.
    for (table, left) in [
        ("users", 2),
        ("resources", 1),
        ("streams", 1),
        ("points", 1),
        ("parsers", 0),
        ("pollers", 0),
        ("credentials", 1),
        ("reset_links", 0),
        ("points_of_day", 1),
    ] {
        assert_eq!(count(&format!("SELECT count(*) FROM {table}")), left, "{table}");
    }
    assert_eq!(count("SELECT count(*) FROM tokens WHERE owner NOT IN (SELECT id FROM users)"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_says_how_they_are_called_which_those_of_their_groups_see_and_it_goes_with_the_account() {
    let cloud = Cloud::start(|_| {}).await;
    let (ann, bob) = (cloud.user("ann", false).await, cloud.user("bob", false).await);
    let eve = cloud.user("eve", false).await;
    let user = async |token: &str| {
        cloud.ask("GET /api/v1/users/bob", &bearer(token), Value::Null).await.json()["display_name"].clone()
    };
    assert_eq!(user(&bob).await, json!(""));
    let longest = "å".repeat(64);
    for (name, status) in [
        ("å".repeat(65), 400),
        ("Bob\u{202e}".into(), 400),
        ("Bob\nBell".into(), 400),
        (" Bob".into(), 400),
        (longest.clone(), 200),
        ("Bob Bell".into(), 200),
    ] {
        let body = json!({"display_name": name});
        assert_eq!(ask(&cloud, &bob, "PUT /users/bob", body).await, status, "{name:?}");
    }
    let mine = json!({"display_name": "Eve"});
    assert_eq!(ask(&cloud, &eve, "PUT /users/bob", mine).await, 403);
    assert_eq!((user(&bob).await, user(&cloud.admin).await), (json!("Bob Bell"), json!("Bob Bell")));
    // Another change leaves it as it is.
    assert_eq!(ask(&cloud, &bob, "PUT /users/bob", json!({"email": "bob@example.org"})).await, 200);
    let listed = cloud.as_admin("GET /api/v1/users", Value::Null).await.json();
    let names: Vec<_> = listed.as_array().unwrap().iter().map(|user| &user["display_name"]).collect();
    assert_eq!(names, ["", "", "Bob Bell", ""]);
    assert_eq!(ask(&cloud, &eve, "GET /users", Value::Null).await, 403);

    // Who is only asked to join a group is not told of; who has joined is.
    let team = cloud.ask("POST /api/v1/users/ann/groups", &bearer(&ann), json!({"label": "team"})).await;
    let id = team.json()["id"].clone();
    let invite = json!({"access": "read"});
    assert_eq!(ask(&cloud, &ann, "PUT /users/ann/groups/team/members/bob", invite.clone()).await, 200);
    let people = async |path: &str, token: &str| {
        let group = cloud.ask(&format!("GET /api/v1{path}"), &bearer(token), Value::Null).await.json();
        let people = group["people"].as_array().unwrap().iter();
        people.map(|one| one["display_name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(people("/users/ann/groups/team", &ann).await, ["", ""]);
    assert_eq!(ask(&cloud, &bob, &format!("PUT /users/bob/memberships/{id}"), Value::Null).await, 200);
    assert_eq!(people("/users/ann/groups/team", &ann).await, ["", "Bob Bell"]);
    assert_eq!(ask(&cloud, &ann, "PUT /users/ann", json!({"display_name": "Ann"})).await, 200);
    assert_eq!(people(&format!("/users/bob/memberships/{id}"), &bob).await, ["Ann", "Bob Bell"]);

    let export = cloud.ask("GET /api/v1/users/bob/export", &bearer(&bob), Value::Null).await.body;
    assert!(
        export.contains("\"display_name\":\"Bob Bell\"") && export.contains("\"last_sign_in\":1"),
        "{export}"
    );
    assert_eq!(cloud.as_admin("DELETE /api/v1/users/bob", Value::Null).await.status, 204);
    cloud.user("bob", false).await;
    assert_eq!(user(&cloud.admin).await, json!(""), "whoever has the name next is another one");
}

#[tokio::test(flavor = "multi_thread")]
async fn personal_data_that_nothing_uses_are_not_taken() {
    let cloud = Cloud::start(|config| config.sign_up = true).await;
    let ann = cloud.user("ann", false).await;
    for field in ["description", "location"] {
        assert_eq!(ask(&cloud, &ann, "PUT /users/ann", json!({field: "Kista"})).await, 422, "{field}");
        let user = json!({"username": "eve", "password": PASSWORD, field: "Kista"});
        assert_eq!(cloud.as_admin("POST /api/v1/users", user.clone()).await.status, 422, "{field}");
        assert_eq!(cloud.ask("POST /api/v1/sign-up", "", user).await.status, 422, "{field}");
        let shown = cloud.as_admin("GET /api/v1/users/ann", Value::Null).await.json();
        assert!(shown.get(field).is_none(), "{shown}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_sign_in_is_seen_by_the_user_and_administrators_and_is_that_of_a_whole_sign_in() {
    let cloud = Cloud::start(|_| {}).await;
    let added = json!({"username": "ann", "password": PASSWORD});
    let added = cloud.as_admin("POST /api/v1/users", added).await.json();
    assert_eq!(added["last_sign_in"], Value::Null);
    let last = async || {
        let ann = cloud.as_admin("GET /api/v1/users/ann", Value::Null).await.json();
        ann["last_sign_in"].as_i64()
    };
    assert_eq!(last().await, None);
    assert_eq!(cloud.login("ann", "not this one", "").await.status, 401);
    assert_eq!(last().await, None, "who does not come in has not signed in");
    let before = now_ms();
    let ann = cloud.login("ann", PASSWORD, "").await.json()["token"].as_str().unwrap().to_owned();
    let me = cloud.ask("GET /api/v1/me", &bearer(&ann), Value::Null).await.json();
    assert_eq!(me["last_sign_in"].as_i64(), last().await);
    assert!(last().await.unwrap() >= before);
    // Tokens of programs are no sign-in, and neither is a code that is wrong.
    let id = sixlock_store::UserId(me["id"].as_i64().unwrap());
    cloud.running.store.begin_session(id, 7).await.unwrap();
    let script = cloud.token("ann", "script", None).await;
    assert_eq!(ask(&cloud, &script, "GET /me", Value::Null).await, 200);
    let secret = cloud.running.store.begin_second_factor(id).await.unwrap();
    let confirm = json!({"code": secret.code(now_ms())});
    let confirmed = cloud.ask("PUT /api/v1/users/ann/totp", &bearer(&ann), confirm).await;
    let recovery = confirmed.json()["recovery_codes"][0].clone();
    assert_eq!(cloud.login("ann", PASSWORD, "").await.code(), "code_needed");
    assert_eq!(last().await, Some(7));
    let body = json!({"username": "ann", "password": PASSWORD, "code": recovery});
    assert_eq!(cloud.ask("POST /api/v1/login", "", body).await.status, 200);
    assert!(last().await.unwrap() >= before);
    // Nobody else is told.
    let eve = cloud.user("eve", false).await;
    assert_eq!(ask(&cloud, &eve, "GET /users/ann", Value::Null).await, 403);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_has_a_second_factor_signs_in_with_a_code_that_works_once() {
    let cloud = Cloud::start(|_| {}).await;
    let ann = cloud.user("ann", false).await;
    let totp = "/users/ann/totp";
    let wrong = json!({"current_password": "not this one"});
    assert_eq!(ask(&cloud, &ann, &format!("POST {totp}"), wrong).await, 403);
    assert_eq!(
        cloud.as_admin(&format!("POST /api/v1{totp}"), json!({})).await.status,
        403,
        "for oneself only"
    );
    let present = json!({"current_password": PASSWORD});
    let made = cloud.ask(&format!("POST /api/v1{totp}"), &bearer(&ann), present.clone()).await;
    assert_eq!(made.status, 201, "{}", made.body);
    assert!(
        made.json()["uri"].as_str().unwrap().starts_with("otpauth://totp/Sixlock:ann?secret="),
        "{}",
        made.body
    );
    // Until a code was confirmed, none is asked for.
    assert_eq!(cloud.login("ann", PASSWORD, "").await.status, 200);
    // The program that shows codes is the store's own here; its unit tests prove it by the vectors of the RFC.
    let id = sixlock_store::UserId(
        cloud.as_admin("GET /api/v1/users/ann", Value::Null).await.json()["id"].as_i64().unwrap(),
    );
    let secret = cloud.running.store.begin_second_factor(id).await.unwrap();
    let confirm = json!({"code": secret.code(now_ms())});
    let confirmed = cloud.ask(&format!("PUT /api/v1{totp}"), &bearer(&ann), confirm.clone()).await;
    assert_eq!(confirmed.status, 200, "{}", confirmed.body);
    let codes: Vec<String> = serde_json::from_value(confirmed.json()["recovery_codes"].clone()).unwrap();
    assert_eq!(ask(&cloud, &ann, &format!("PUT {totp}"), confirm.clone()).await, 403);

    let login = async |code: Value| {
        let body = json!({"username": "ann", "password": PASSWORD, "code": code});
        cloud.ask("POST /api/v1/login", "", body).await
    };
    let needed = login(Value::Null).await;
    assert_eq!((needed.status, needed.code()), (401, "code_needed".to_owned()));
    let used = login(confirm["code"].clone()).await;
    assert_eq!((used.status, used.code()), (401, "wrong_code".to_owned()), "it was used to confirm");
    assert_eq!(login(json!(codes[0])).await.status, 200);
    assert_eq!(login(json!(codes[0])).await.status, 401, "it works once");
    let shown = cloud.as_admin(&format!("GET /api/v1{totp}"), Value::Null).await.json();
    assert_eq!(shown, json!({"confirmed": true, "recovery_codes": 9}));
    // A wrong password is told before a code is looked at.
    let body = json!({"username": "ann", "password": "not this one", "code": codes[1]});
    assert_eq!(cloud.ask("POST /api/v1/login", "", body).await.code(), "wrong_password");

    // Guesses are few, wherever they come from.
    let mut refused = String::new();
    for _ in 0..30 {
        refused = login(json!("000000x")).await.code();
        if refused == "too_many_codes" {
            break;
        }
    }
    assert_eq!(refused, "too_many_codes");
    assert_eq!(
        ask(&cloud, &ann, &format!("DELETE {totp}"), Value::Null).await,
        403,
        "the password is asked for"
    );
    assert_eq!(cloud.as_admin(&format!("DELETE /api/v1{totp}"), Value::Null).await.status, 204);
    assert_eq!(login(Value::Null).await.status, 200);
}

/// A request whose body is slow to come, while its token is revoked.
#[tokio::test(flavor = "multi_thread")]
async fn rights_that_end_while_a_body_comes_are_no_rights() {
    let cloud = Cloud::start(|_| {}).await;
    let eve = cloud.user("eve", true).await;
    for (path, body) in [
        ("/api/v1/users", json!({"username": "mallory", "password": PASSWORD, "role": "administrator"})),
        ("/api/v1/users/eve/tokens", json!({"label": "lasting"})),
    ] {
        let token = cloud.token("eve", "short", None).await;
        let body = body.to_string();
        let (first, rest) = body.split_at(body.len() - 1);
        let mut stream = TcpStream::connect(cloud.address()).await.unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n{}\
             Content-Length: {}\r\n\r\n{first}",
            bearer(&token),
            body.len()
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        // The cloud has looked at the token when it serves what was asked after.
        assert_eq!(cloud.ask("GET /api/v1/me", &bearer(&eve), Value::Null).await.status, 200);
        assert_eq!(cloud.as_admin("DELETE /api/v1/users/eve/tokens/short", Value::Null).await.status, 204);
        stream.write_all(rest.as_bytes()).await.unwrap();
        assert_eq!(read_answer(&mut stream).await.status, 401, "{path}");
    }
    assert_eq!(cloud.as_admin("GET /api/v1/users/mallory", Value::Null).await.status, 404);
}

//! Commands: a device that is heard is told what waits for it.

#[allow(dead_code, reason = "of what a device can do, these do little")]
mod client;
mod web_client;

use client::Client;
use serde_json::{Value, json};
use sixlock_coap_msg::{Builder, Code, ContentFormat, Message, OptionNumber, Type, empty};
use web_client::{Cloud, bearer};

const KEY: &str = "0123456789abcdef";
const COMMANDS: &str = "/api/v1/users/admin/resources/node/commands";

async fn start() -> Cloud {
    let cloud = Cloud::start(|_| {}).await;
    let node = json!({"label": "node", "mode": "dtls-psk", "identity": "node", "key": KEY});
    assert_eq!(cloud.as_admin("POST /api/v1/users/admin/resources", node).await.status, 201);
    cloud
}

/// Gives a command, and returns its number.
async fn give(cloud: &Cloud, command: Value) -> i64 {
    let answer = cloud.as_admin(&format!("POST {COMMANDS}"), command).await;
    assert_eq!(answer.status, 201, "{}", answer.body);
    answer.json()["id"].as_i64().unwrap()
}

/// What has become of a command: its state, the device's answer, and how often that was told.
async fn state(cloud: &Cloud, id: i64, wait: u8) -> (String, Option<String>, i64) {
    let command = cloud.as_admin(&format!("GET {COMMANDS}/{id}?wait={wait}"), Value::Null).await.json();
    let text = |name: &str| command[name].as_str().map(str::to_owned);
    (text("state").unwrap(), text("code"), command["attempts"].as_i64().unwrap())
}

fn is(state: &str, code: Option<&str>, attempts: i64) -> (String, Option<String>, i64) {
    (state.to_owned(), code.map(str::to_owned), attempts)
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waits_for_a_command_is_answered_when_the_token_ends() {
    let cloud = start().await;
    let id = give(&cloud, json!({"actuator": "led", "value": true})).await;
    let token = cloud.token("admin", "script", None).await;
    let (path, token) = (format!("GET {COMMANDS}/{id}?wait=60"), bearer(&token));
    let (waited, ended) = tokio::join!(cloud.ask(&path, &token, Value::Null), async {
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        cloud.as_admin("DELETE /api/v1/users/admin/tokens/script", Value::Null).await
    });
    assert_eq!((waited.status, ended.status), (401, 204));
}

/// A device with a session that posts a reading.
fn device(cloud: &Cloud) -> Client {
    let mut device = Client::connect(cloud.running.coaps, "node", KEY.as_bytes()).unwrap();
    post(&mut device, 1);
    device
}

fn post(device: &mut Client, id: u16) {
    let mut bytes = [0; 128];
    let mut builder = Builder::new(&mut bytes, Type::Confirmable, Code::POST, id, &id.to_be_bytes()).unwrap();
    builder.path(&["resources", "data"]).unwrap().content_format(ContentFormat::SENML_JSON).unwrap();
    let length = builder.finish_with(br#"[{"n":"t","v":1}]"#).unwrap();
    assert_eq!(device.ask(&bytes[..length]), Some(Code::CHANGED));
}

/// What the device is told next.
fn received(device: &mut Client) -> (u16, Vec<u8>, String, String) {
    let bytes = device.hear().expect("nothing comes");
    let message = Message::parse(&bytes).unwrap();
    assert_eq!((message.message_type(), message.code()), (Type::Confirmable, Code::PUT));
    assert_eq!(message.content_format(), Some(ContentFormat::SENML_JSON));
    let path: Vec<_> = message.values(OptionNumber::URI_PATH).map(|part| part.value.to_vec()).collect();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (message.id(), message.token().to_vec(), text(path.join(&b'/')), text(message.payload().to_vec()))
}

/// The device answers so.
fn answer(device: &mut Client, kind: Type, code: Code, id: u16, token: &[u8]) {
    let mut bytes = [0; 32];
    let length = Builder::new(&mut bytes, kind, code, id, token).unwrap().finish();
    device.tell(&bytes[..length]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_is_told_in_its_session_what_waits_one_after_the_other() {
    let cloud = start().await;
    let first = give(&cloud, json!({"actuator": "led", "value": true})).await;
    let second = give(&cloud, json!({"actuator": "display", "value": "warm \"21\""})).await;
    let third = give(&cloud, json!({"actuator": "valve", "value": 12.5})).await;
    assert_eq!(state(&cloud, first, 0).await, is("queued", None, 0));
    let mut device = tokio::task::block_in_place(|| device(&cloud));
    let expected = [
        (first, "actuators/led", r#"[{"n":"led","vb":true}]"#, Code::CHANGED, "done", "2.04"),
        (
            second,
            "actuators/display",
            r#"[{"n":"display","vs":"warm \"21\""}]"#,
            Code::NOT_FOUND,
            "refused",
            "4.04",
        ),
        (third, "actuators/valve", r#"[{"n":"valve","v":12.5}]"#, Code::CREATED, "done", "2.01"),
    ];
    for (id, path, pack, code, became, answered) in expected {
        let (message, token, to, payload) = tokio::task::block_in_place(|| received(&mut device));
        assert_eq!((&*to, &*payload), (path, pack));
        answer(&mut device, Type::Acknowledgement, code, message, &token);
        assert_eq!(state(&cloud, id, 60).await, is(became, Some(answered), 1));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_separate_answer_counts_and_a_device_that_takes_no_requests_says_so() {
    let cloud = start().await;
    let first = give(&cloud, json!({"actuator": "led", "value": true})).await;
    let mut device = tokio::task::block_in_place(|| device(&cloud));
    let (message, token, ..) = tokio::task::block_in_place(|| received(&mut device));
    device.tell(&empty(Type::Acknowledgement, message));
    answer(&mut device, Type::Confirmable, Code::CHANGED, 4711, &token);
    assert_eq!(state(&cloud, first, 60).await, is("done", Some("2.04"), 1));
    let acknowledged = tokio::task::block_in_place(|| device.hear());
    assert_eq!(acknowledged, Some(empty(Type::Acknowledgement, 4711).to_vec()));
    let second = give(&cloud, json!({"actuator": "led", "value": false})).await;
    tokio::task::block_in_place(|| post(&mut device, 2));
    let (message, ..) = tokio::task::block_in_place(|| received(&mut device));
    device.tell(&empty(Type::Reset, message));
    assert_eq!(state(&cloud, second, 60).await, is("refused", None, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_answered_waits_for_the_next_session() {
    let cloud = start().await;
    let id = give(&cloud, json!({"actuator": "led", "value": 1})).await;
    let mut gone = tokio::task::block_in_place(|| device(&cloud));
    let (_, _, _, payload) = tokio::task::block_in_place(|| received(&mut gone));
    // Another session of the device takes its place, as after a reboot.
    gone.moves();
    drop(gone);
    let mut again = tokio::task::block_in_place(|| device(&cloud));
    // The one before may not have been given up yet.
    let mut n = 2;
    let repeated = loop {
        if let Some(bytes) = tokio::task::block_in_place(|| again.hear_now()) {
            break bytes;
        }
        tokio::task::block_in_place(|| post(&mut again, n));
        n += 1;
    };
    let message = Message::parse(&repeated).unwrap();
    assert_eq!(message.payload(), payload.as_bytes());
    answer(&mut again, Type::Acknowledgement, Code::CHANGED, message.id(), message.token());
    assert_eq!(state(&cloud, id, 60).await, is("done", Some("2.04"), 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_later_command_replaces_an_earlier_one_and_what_is_withdrawn_or_too_old_is_not_told() {
    let cloud = start().await;
    let replaced = give(&cloud, json!({"actuator": "led", "value": true})).await;
    let withdrawn = give(&cloud, json!({"actuator": "fan", "value": 1})).await;
    let expired = give(&cloud, json!({"actuator": "door", "value": 1, "expires_in": 1})).await;
    let latest = give(&cloud, json!({"actuator": "led", "value": false})).await;
    let path = format!("DELETE {COMMANDS}/{withdrawn}");
    assert_eq!(cloud.as_admin(&path, Value::Null).await.status, 204);
    let again = cloud.as_admin(&path, Value::Null).await;
    assert_eq!((again.status, again.code()), (409, "ended".to_owned()));
    assert_eq!(state(&cloud, expired, 60).await, is("expired", None, 0));
    let mut device = tokio::task::block_in_place(|| device(&cloud));
    let (message, token, to, payload) = tokio::task::block_in_place(|| received(&mut device));
    assert_eq!((&*to, &*payload), ("actuators/led", r#"[{"n":"led","vb":false}]"#));
    answer(&mut device, Type::Acknowledgement, Code::CHANGED, message, &token);
    assert_eq!(state(&cloud, latest, 60).await, is("done", Some("2.04"), 1));
    tokio::task::block_in_place(|| post(&mut device, 2));
    for (id, expected) in [(replaced, "replaced"), (withdrawn, "withdrawn"), (expired, "expired")] {
        assert_eq!(state(&cloud, id, 0).await, is(expected, None, 0));
    }
    let all = cloud.as_admin(&format!("GET {COMMANDS}"), Value::Null).await.json();
    let ids: Vec<_> = all.as_array().unwrap().iter().map(|command| command["id"].as_i64().unwrap()).collect();
    assert_eq!(ids, [latest, expired, withdrawn, replaced]);
}

#[tokio::test(flavor = "multi_thread")]
async fn there_is_a_limit_and_bad_commands_are_refused_in_words() {
    let cloud = start().await;
    for n in 0..32 {
        give(&cloud, json!({"actuator": format!("a{n}"), "value": n})).await;
    }
    let full = cloud.as_admin(&format!("POST {COMMANDS}"), json!({"actuator": "b", "value": 1})).await;
    assert_eq!((full.status, full.code()), (409, "full".to_owned()));
    give(&cloud, json!({"actuator": "a0", "value": 7})).await;
    let long = "ü".repeat(161);
    for (command, said) in [
        (json!({"actuator": "", "value": 1}), "actuator is 1 to 64"),
        (json!({"actuator": "../led", "value": 1}), "actuator is 1 to 64"),
        (json!({"actuator": "led\u{202e}", "value": 1}), "actuator is 1 to 64"),
        (json!({"actuator": "led", "value": long}), "160 characters"),
        (json!({"actuator": "led", "value": 1, "expires_in": 0}), "expires_in"),
        (json!({"actuator": "led", "value": 1, "expires_in": 2_592_001}), "expires_in"),
        (json!({"actuator": "led", "value": [1]}), "value"),
        (json!({"actuator": "led"}), "value"),
    ] {
        let answer = cloud.as_admin(&format!("POST {COMMANDS}"), command.clone()).await;
        assert!((400..=422).contains(&answer.status), "{command}: {}", answer.body);
        assert!(answer.body.contains(said), "{command}: {}", answer.body);
    }
    let plain = json!({"label": "plain", "mode": "none"});
    assert_eq!(cloud.as_admin("POST /api/v1/users/admin/resources", plain).await.status, 201);
    let path = "POST /api/v1/users/admin/resources/plain/commands";
    let unreached = cloud.as_admin(path, json!({"actuator": "led", "value": 1})).await;
    assert!(unreached.body.contains("no command reaches this device"), "{}", unreached.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_go_with_their_resource() {
    let cloud = start().await;
    give(&cloud, json!({"actuator": "led", "value": true})).await;
    assert_eq!(cloud.as_admin("DELETE /api/v1/users/admin/resources/node", Value::Null).await.status, 204);
    let node = json!({"label": "node", "mode": "dtls-psk", "identity": "node", "key": KEY});
    assert_eq!(cloud.as_admin("POST /api/v1/users/admin/resources", node).await.status, 201);
    let mut device = tokio::task::block_in_place(|| device(&cloud));
    tokio::task::block_in_place(|| post(&mut device, 2));
    assert_eq!(tokio::task::block_in_place(|| device.hear_now()), None);
}

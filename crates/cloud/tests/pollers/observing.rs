//! What devices that are observed may say, and what becomes of it.

use std::time::Duration;

use serde_json::{Value, json};
use sixlock_cloud::{Device as Enrolled, Secret};
use sixlock_coap_msg::{Builder, Code, ContentFormat, Message, OptionNumber, Type};

use crate::device::{IDENTITY, KEY};
use crate::scripted::{Happened, Scripted, content, counting};
use crate::{Cloud, SELDOM, start, until};

/// Long enough for what must not happen to happen.
const MEANWHILE: Duration = Duration::from_millis(700);

fn device() -> Scripted {
    Scripted::start(IDENTITY, KEY, counting())
}

async fn observing(device: &Scripted) -> Cloud {
    let cloud = start(&["127.0.0.1"]).await;
    cloud.set(observed(device, "a")).await;
    cloud.stored(1).await;
    cloud
}

fn observed(device: &Scripted, path: &str) -> Value {
    json!({"url": device.url(path), "period": SELDOM, "observe": true, "identity": IDENTITY, "key": KEY})
}

/// The token of the GET of this number, from 0 on.
fn token(device: &Scripted, get: usize) -> Vec<u8> {
    device.gets()[get].token.clone()
}

/// An own device of the cloud, which is asked under this identity.
async fn enrolled(mode: &str, answers_to: &str) -> (Cloud, Scripted) {
    const KEY: &str = "0123456789abcdef0123";
    let mut cloud = start(&["127.0.0.1"]).await;
    let own = Enrolled {
        mode: mode.parse().unwrap(),
        identity: Some("own".into()),
        key: Some(Secret::new(KEY.into())),
        ..Enrolled::named("own")
    };
    cloud.resource = cloud.running.enrol(own).await.unwrap().resource.id;
    (cloud, Scripted::start(answers_to, KEY, counting()))
}

#[tokio::test(flavor = "multi_thread")]
async fn another_path_has_another_token() {
    let device = device();
    let cloud = observing(&device).await;
    cloud.set(observed(&device, "b")).await;
    cloud.stored(2).await;
    assert_ne!(token(&device, 0), token(&device, 1));
    // Servers that know an observation by its resource, too, go on telling of the first.
    device.say(content(Type::Confirmable, 77, &token(&device, 0), Some(500), 777));
    until("a rejection", || device.empties(Type::Reset) == [77]).await;
    assert_eq!(cloud.values().await, [1.0, 2.0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_notification_that_comes_again_while_the_device_is_asked_is_not_the_answer() {
    let mut asked = 0;
    let device = Scripted::start(
        IDENTITY,
        KEY,
        Box::new(move |got| {
            let message = Message::parse(got).unwrap();
            if message.code() != Code::GET {
                return Vec::new();
            }
            asked += 1;
            let (id, token) = (message.id(), message.token());
            match asked {
                1 => vec![content(Type::Acknowledgement, id, token, Some(5), 1)],
                _ => vec![
                    content(Type::Confirmable, 100, token, Some(6), 2),
                    content(Type::Acknowledgement, id, token, Some(7), 3),
                ],
            }
        }),
    );
    let cloud = observing(&device).await;
    device.say(content(Type::Confirmable, 100, &token(&device, 0), Some(6), 2));
    cloud.stored(2).await;
    until("an acknowledgement", || device.empties(Type::Acknowledgement) == [100]).await;
    cloud.set(observed(&device, "a")).await;
    assert_eq!(cloud.stored(3).await, [1.0, 2.0, 3.0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_without_a_number_is_the_last() {
    let device = device();
    let cloud = observing(&device).await;
    for _ in 0..3 {
        device.say(content(Type::Confirmable, 100, &token(&device, 0), None, 2));
        tokio::time::sleep(MEANWHILE / 3).await;
    }
    until("an acknowledgement", || device.empties(Type::Acknowledgement) == [100]).await;
    assert_eq!(cloud.values().await[..2], [1.0, 2.0]);
    assert!(
        cloud.values().await.iter().filter(|value| **value == 2.0).count() <= 2,
        "the counting answer is 2 as well"
    );
    assert_eq!(cloud.shown().await["last_error"], "the device tells no more what changes; it is asked again");
    // It is, and long before its period.
    until("another GET", || device.gets().len() == 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_out_of_order_of_others_or_not_understood_is_not_stored() {
    let device = device();
    let cloud = observing(&device).await;
    device.say(content(Type::Confirmable, 90, b"bad!", Some(2), 666));
    device.say(content(Type::NonConfirmable, 91, b"bad!", Some(2), 666));
    device.say(vec![0x40]);
    device.say(vec![0xff; 300]);
    device.say(content(Type::Confirmable, 92, &token(&device, 0), Some(0), 666));
    until("an acknowledgement of an old one", || device.empties(Type::Acknowledgement) == [92]).await;
    assert!(device.empties(Type::Reset).contains(&90));
    // A critical option that is not known.
    let mut room = [0; 512];
    let mut builder =
        Builder::new(&mut room, Type::Confirmable, Code::CONTENT, 100, &token(&device, 0)).unwrap();
    builder.option_uint(OptionNumber::OBSERVE, 2).unwrap();
    builder.content_format(ContentFormat::SENML_JSON).unwrap();
    builder.option(OptionNumber(0x2001), b"x").unwrap();
    let length = builder.finish_with(br#"[{"n":"t","v":666}]"#).unwrap();
    device.say(room[..length].to_vec());
    until("a rejection", || device.empties(Type::Reset).contains(&100)).await;
    assert!(!cloud.values().await.contains(&666.0));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_ends_it_and_the_next_poll_begins_it_again_in_the_same_session() {
    let device = device();
    let cloud = observing(&device).await;
    let mut room = [0; 64];
    let error = Builder::new(&mut room, Type::Confirmable, Code::NOT_FOUND, 100, &token(&device, 0));
    let length = error.unwrap().finish();
    device.say(room[..length].to_vec());
    until("another GET", || device.gets().len() == 2).await;
    cloud.stored(2).await;
    assert_ne!(token(&device, 0), token(&device, 1));
    assert_eq!(device.count(&Happened::Connected), 1);
    device.say(content(Type::Confirmable, 101, &token(&device, 1), Some(30), 30));
    assert_eq!(cloud.stored(3).await, [1.0, 2.0, 30.0]);
    cloud.running.stop().await.unwrap();
    until("the session is closed", || device.count(&Happened::Closed) == 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_that_closes_its_session_is_asked_again_before_its_period() {
    let device = device();
    let cloud = observing(&device).await;
    device.hang_up();
    cloud.stored(2).await;
    device.say(content(Type::Confirmable, 101, &token(&device, 1), Some(30), 30));
    assert_eq!(cloud.stored(3).await, [1.0, 2.0, 30.0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_observation_ends_with_the_credential() {
    let (cloud, device) = enrolled("dtls-psk", "ask.own").await;
    let settings = json!({"url": device.url("a"), "period": SELDOM, "observe": true});
    let (status, set) = cloud.ask_at("PUT", "own/poller", settings).await;
    assert_eq!(status, 201, "{set}");
    while cloud.values().await.is_empty() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    cloud.running.store.remove_credentials(cloud.resource, None).await.unwrap();
    until("the session is closed", || device.count(&Happened::Closed) == 1).await;
    device.say(content(Type::Confirmable, 100, &token(&device, 0), Some(9), 2));
    tokio::time::sleep(MEANWHILE).await;
    assert_eq!(cloud.values().await, [1.0]);
}

/// Who sends a device's own messages back to it, or the cloud's to the cloud, does not pass for the other.
#[tokio::test(flavor = "multi_thread")]
async fn the_cloud_asks_under_another_identity_than_the_device_posts_under() {
    let (cloud, device) = enrolled("dtls-psk", "own").await;
    let settings = json!({"url": device.url("a"), "period": SELDOM});
    cloud.ask_at("PUT", "own/poller", settings).await;
    loop {
        let shown = cloud.ask_at("GET", "own/poller", Value::Null).await.1;
        if let Some(error) = shown["last_error"].as_str() {
            assert!(error.contains("DTLS"), "{error}");
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(device.count(&Happened::Connected), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_goes_in_the_clear_is_none_for_dtls() {
    let (cloud, device) = enrolled("none", "ask.own").await;
    let (status, refused) =
        cloud.ask_at("PUT", "own/poller", json!({"url": device.url("a"), "period": SELDOM})).await;
    let message = refused["error"]["message"].as_str().unwrap_or_default();
    assert!(status == 400 && message.contains("coaps needs identity and key"), "{status} {refused}");
}

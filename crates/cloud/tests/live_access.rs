//! A live feed ends with what it was opened by.

mod web_client;

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use web_client::{Cloud, Feed, PASSWORD, bearer};

const ALL: &str = "/api/v1/live";

async fn start() -> Cloud {
    let cloud = Cloud::start(|_| {}).await;
    cloud.user("bob", false).await;
    cloud.node("bob").await;
    cloud.post("bob", [1.0]).await;
    cloud
}

/// Stores a point, and sees that the feed ends without it, while another goes on.
async fn ends(cloud: &Cloud, mut feed: Feed) {
    let mut other = cloud.feed(ALL, &bearer(&cloud.admin)).await;
    cloud.post("bob", [77.5]).await;
    feed.until_the_end().await;
    assert!(!feed.text.contains("77.5"), "{}", feed.text);
    other.until(|text| text.contains("77.5")).await;
    assert!(other.text.contains("77.5"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_feed_ends_when_its_token_is_revoked() {
    let cloud = start().await;
    let token = cloud.token("bob", "script", None).await;
    let feed = cloud.feed(ALL, &bearer(&token)).await;
    let of_stream = cloud.feed("/api/v1/users/bob/resources/node/streams/t/live", &bearer(&token)).await;
    assert_eq!(cloud.as_admin("DELETE /api/v1/users/bob/tokens/script", Value::Null).await.status, 204);
    ends(&cloud, feed).await;
    ends(&cloud, of_stream).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_feed_ends_when_its_token_expires() {
    let cloud = start().await;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as i64;
    let token = cloud.token("bob", "script", Some(now + 3_000)).await;
    // On a machine that is too busy to open it in time, there is no feed.
    let mut stream = cloud.open(&format!("GET {ALL}"), &bearer(&token), "").await;
    let answer = web_client::read_answer(&mut stream).await;
    assert!(matches!(answer.status, 200 | 401), "{}", answer.head);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_feed_ends_when_its_user_is_deleted() {
    let cloud = start().await;
    let eve = cloud.user("eve", true).await;
    let feed = cloud.feed(ALL, &bearer(&eve)).await;
    assert_eq!(cloud.as_admin("DELETE /api/v1/users/eve", Value::Null).await.status, 204);
    ends(&cloud, feed).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_feed_ends_when_its_user_loses_the_role() {
    let cloud = start().await;
    let eve = cloud.user("eve", true).await;
    let feed = cloud.feed(ALL, &bearer(&eve)).await;
    let of_another = cloud.feed("/api/v1/users/bob/resources/node/streams/t/live", &bearer(&eve)).await;
    assert_eq!(cloud.ask("PUT /api/v1/users/eve", &bearer(&eve), json!({"admin": false})).await.status, 200);
    ends(&cloud, feed).await;
    ends(&cloud, of_another).await;
    assert_eq!(cloud.ask("PUT /api/v1/users/eve", &bearer(&eve), json!({"admin": true})).await.status, 403);
}

#[tokio::test(flavor = "multi_thread")]
async fn feeds_end_with_their_session() {
    let cloud = start().await;
    let bob = cloud.login("bob", PASSWORD, "").await.json()["token"].as_str().unwrap().to_owned();
    let feed = cloud.feed(ALL, &bearer(&bob)).await;
    assert_eq!(cloud.ask("POST /api/v1/logout", &bearer(&bob), json!({})).await.status, 204);
    ends(&cloud, feed).await;

    let bob = cloud.login("bob", PASSWORD, "").await.json()["token"].as_str().unwrap().to_owned();
    let feed = cloud.feed(ALL, &bearer(&bob)).await;
    let password = json!({"password": "quite another one"});
    assert_eq!(cloud.as_admin("PUT /api/v1/users/bob", password).await.status, 200);
    ends(&cloud, feed).await;
}

//! The figures that administrators read: each is what was done before.

mod web_client;

use std::time::Duration;

use serde_json::{Value, json};
use sixlock_cloud::{Backups, Config};
use web_client::{Cloud, bearer};

const STATISTICS: &str = "GET /api/v1/statistics";

#[tokio::test(flavor = "multi_thread")]
async fn the_figures_are_those_of_what_was_done_and_outlive_a_restart_where_they_should() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("backups");
    let backups = Backups { folder: folder.clone(), every: Duration::from_secs(3_600), keep: 3 };
    let cloud = Cloud::start(|config| config.backups = Some(backups)).await;
    let ann = cloud.user("ann", false).await;
    cloud.node("ann").await;
    cloud.post("ann", [1.0, 2.0, 3.0]).await;
    let refused = cloud.ask(STATISTICS, &bearer(&ann), Value::Null).await;
    assert_eq!((refused.status, refused.code()), (403, "forbidden".into()));
    assert_eq!(cloud.ask(STATISTICS, "", Value::Null).await.status, 401);

    let told = cloud.as_admin(STATISTICS, Value::Null).await.json();
    let users = json!({"all": 2, "administrators": 1, "members": 1, "viewers": 0, "disabled": 0});
    assert_eq!(told["counts"]["users"], users);
    assert_eq!((&told["counts"]["devices"], &told["counts"]["streams"]), (&json!(1), &json!(1)));
    assert_eq!(told["counts"]["points"], json!({"ever": 3, "last_hour": 3, "last_day": 3}));
    let since = &told["since_start"];
    let refusals = json!([
        {"scheme": "http", "reason": "forbidden", "count": 1},
        {"scheme": "http", "reason": "unauthenticated", "count": 1},
    ]);
    assert_eq!(since["refusals"], refusals);
    assert_eq!((&since["faults"], &since["sessions"]), (&json!(0), &json!(0)));
    assert!(since["requests"].as_u64().unwrap() >= 7, "{since}");
    assert!(since["started"].as_i64() <= told["time"].as_i64(), "{told}");
    assert!(told["files"]["database"].as_u64().unwrap() > 0, "{told}");
    // A backup is taken when the cloud begins, and the record is written a moment later.
    let told = loop {
        let told = cloud.as_admin(STATISTICS, Value::Null).await.json();
        let is_recorded = told["files"]["record"].as_u64().unwrap() > 0;
        if is_recorded && told["backups"]["count"] == 1 && !told["backups"]["last"].is_null() {
            break told;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert!(told["backups"]["oldest"].as_i64() <= told["backups"]["last"].as_i64(), "{told}");

    // What is in the database is there after a restart, what was counted since the start begins anew.
    let data = cloud.running.store.directory().to_owned();
    cloud.running.stop().await.unwrap();
    let config = Config { max_sessions: 100, ..Config::on_loopback(&data) };
    let cloud = Cloud { running: sixlock_cloud::start(config, None).await.unwrap(), ..cloud };
    let told = cloud.as_admin(STATISTICS, Value::Null).await.json();
    assert_eq!(told["counts"]["points"]["last_day"], 3);
    assert_eq!(told["since_start"]["refusals"], json!([]));
    assert_eq!((&told["backups"]["count"], &told["backups"]["oldest"]), (&Value::Null, &Value::Null));
    assert!(told["backups"]["last"].is_i64(), "{told}");
    cloud.running.stop().await.unwrap();
}

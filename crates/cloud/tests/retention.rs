//! What is read of old readings, and how long they are kept, over HTTP and CoAP.

mod web_client;

use serde_json::{Value, json};
use web_client::{Answer, Cloud};

const STREAM: &str = "/api/v1/users/ann/resources/node/streams/t";
const HOUR: i64 = 3_600_000;
/// The evening before clocks were put back in Stockholm.
const BEGIN: i64 = 1_698_516_000_000;

/// A cloud with the user ann, her resource `node` and its stream `t`.
async fn start() -> Cloud {
    let cloud = Cloud::start(|_| {}).await;
    cloud.user("ann", false).await;
    cloud.node("ann").await;
    cloud
}

/// Posts a reading each minute for so many hours: the number of the minute.
async fn post_hours(cloud: &Cloud, hours: i64) {
    let points: Vec<Value> =
        (0..hours * 60).map(|n| json!({"time": BEGIN + n * 60_000, "value": n})).collect();
    for points in points.chunks(256) {
        let answer = cloud.as_admin(&format!("POST {STREAM}/data"), json!(points)).await;
        assert_eq!(answer.status, 204, "{}", answer.body);
    }
}

async fn get(cloud: &Cloud, query: &str) -> Answer {
    cloud.as_admin(&format!("GET {STREAM}/data?{query}"), Value::Null).await
}

#[tokio::test]
async fn windows_are_read_with_what_their_points_amount_to() {
    let cloud = start().await;
    post_hours(&cloud, 12).await;
    let values = async |query: &str| -> Vec<(i64, f64)> {
        let answer = get(&cloud, query).await;
        assert_eq!(answer.status, 200, "{query}: {}", answer.body);
        let points = answer.json();
        let point = |point: &Value| {
            ((point["time"].as_i64().unwrap() - BEGIN) / HOUR, point["value"].as_f64().unwrap())
        };
        points.as_array().unwrap().iter().map(point).collect()
    };
    assert_eq!(values("every=6h&from=0").await, [(0, 179.5), (6, 539.5)]);
    assert_eq!(values("every=6h&from=0&aggregate=max").await, [(0, 359.0), (6, 719.0)]);
    assert_eq!(values("every=1h&limit=2&aggregate=count").await, [(10, 60.0), (11, 60.0)]);
    // Windows are whole, though the span begins and ends within.
    let span = format!("from={}&until={}", BEGIN + 90 * 60_000, BEGIN + 150 * 60_000);
    assert_eq!(values(&format!("every=1h&{span}&aggregate=first")).await, [(1, 60.0), (2, 120.0)]);
    let midnight = 4;
    assert_eq!(values("every=day&aggregate=min&time_zone=Europe/Stockholm").await[1], (midnight, 240.0));
    assert_eq!(values("every=day&aggregate=last").await, [(-18, 359.0), (6, 719.0)]);
    let all = get(&cloud, "every=12h&aggregate=all&from=0").await.json();
    assert_eq!(
        all,
        json!([
            {"time": BEGIN - 6 * HOUR, "count": 360, "min": 0.0, "max": 359.0, "mean": 179.5, "sum": 64_620.0, "first": 0.0, "last": 359.0},
            {"time": BEGIN + 6 * HOUR, "count": 360, "min": 360.0, "max": 719.0, "mean": 539.5, "sum": 194_220.0, "first": 360.0, "last": 719.0},
        ])
    );
    let csv = get(&cloud, "every=12h&aggregate=all&from=0&format=csv").await;
    let lines: Vec<&str> = csv.body.lines().collect();
    assert_eq!(lines[0], "utc,ms,count,min,max,mean,sum,first,last");
    assert_eq!(lines[1], "2023-10-28T12:00:00.000Z,1698494400000,360,0,359,179.5,64620,0,359");
    let csv = get(&cloud, "every=12h&from=0&format=csv").await;
    assert!(csv.body.starts_with("utc,ms,value\r\n2023-10-28T12:00:00.000Z,1698494400000,179.5\r\n"));
    for wrong in [
        "every=0s",
        "every=1y",
        "every=1h&aggregate=median",
        "aggregate=mean",
        "time_zone=UTC",
        "every=1h&time_zone=UTC",
        "every=day&time_zone=Mars/Olympus",
        "every=1h&limit=0",
    ] {
        let answer = get(&cloud, wrong).await;
        assert_eq!((answer.status, &*answer.code()), (400, "invalid"), "{wrong}");
    }
}

#[tokio::test]
async fn how_long_points_are_kept_is_changed_after_asking_and_is_recorded() {
    let cloud = start().await;
    post_hours(&cloud, 3).await;
    let put = async |body: Value| cloud.as_admin(&format!("PUT {STREAM}/retention"), body).await;
    let shown = cloud.as_admin(&format!("GET {STREAM}/retention"), Value::Null).await.json();
    for (field, value) in [("label", json!("t")), ("keep_s", Value::Null), ("history_size", Value::Null)] {
        assert_eq!(shown[field], value, "{field}");
    }
    let refused = put(json!({"keep_s": 86_400})).await;
    assert_eq!((refused.status, &*refused.code()), (409, "discards"));
    let message = refused.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("180 points"), "{message}");
    assert_eq!(get(&cloud, "limit=1000").await.json().as_array().unwrap().len(), 180);
    for wrong in [
        json!({"keep_s": 10}),
        json!({"keep_s": "1d"}),
        json!({"history_size": 0}),
        json!({"keep": 86_400}),
        json!({"keep_rollups_s": -1}),
    ] {
        let answer = put(wrong.clone()).await;
        assert!(matches!(answer.status, 400 | 422), "{wrong}: {}", answer.body);
    }
    let changed = put(json!({"keep_s": 86_400, "discard": true})).await;
    assert_eq!((changed.status, &changed.json()["keep_s"]), (200, &json!(86_400)));
    // What is not given stays; null is for ever.
    assert_eq!(put(json!({"history_size": 1_000})).await.json()["keep_s"], 86_400);
    while !get(&cloud, "limit=1000").await.json().as_array().unwrap().is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let hours = get(&cloud, "every=1h&aggregate=count&from=0").await.json();
    assert_eq!(hours.as_array().unwrap().len(), 3, "the hours stay");
    // What is kept of ann has them, too.
    let export = cloud.as_admin("GET /api/v1/users/ann/export", Value::Null).await.body;
    // Between the lines are the lengths of chunks.
    let lines: Vec<Value> = export.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let exported = lines.iter().find(|line| line["type"] == "hours").expect(&export);
    assert_eq!(
        (exported["hours"].as_array().unwrap().len(), &exported["hours"][2]["last"]),
        (3, &json!(179.0))
    );
    assert!(lines.iter().any(|line| line["type"] == "retention" && line["keep_s"] == 86_400));
    let all = cloud.as_admin("GET /api/v1/users/ann/resources/node/retention", Value::Null).await.json();
    assert_eq!((all.as_array().unwrap().len(), &all[0]["history_size"]), (1, &json!(1_000)));
    assert_eq!(put(json!({"keep_s": null})).await.json()["keep_s"], Value::Null);

    // A late reading is left out, and the answer says so.
    let add = async |points: Value| cloud.as_admin(&format!("POST {STREAM}/data"), points).await;
    let answer = add(json!([{"time": BEGIN, "value": 1}, {"value": 2}])).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(answer.json(), json!({"left_out": [{"stream": "t", "why": "too_old", "points": 1}]}));
    let answer = add(json!({"time": BEGIN, "value": 1})).await;
    assert_eq!((answer.status, &*answer.code()), (409, "left_out"));

    assert!(put(json!({"frozen": true})).await.json()["frozen"].is_i64());
    let answer = add(json!({"value": 1})).await;
    assert_eq!((answer.status, &*answer.code()), (409, "left_out"));
    let post = "POST /api/v1/users/ann/resources/node/data";
    let headers = format!("{}Content-Type: application/senml+json\r\n", web_client::bearer(&cloud.admin));
    let pack = r#"[{"n":"t","v":1},{"n":"u","v":2}]"#;
    let headers = format!("{headers}Content-Length: {}\r\n", pack.len());
    let mut stream = cloud.open(post, &headers, "").await;
    tokio::io::AsyncWriteExt::write_all(&mut stream, pack.as_bytes()).await.unwrap();
    let answer = web_client::read_answer(&mut stream).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(answer.json(), json!({"left_out": [{"stream": "t", "why": "frozen", "points": 1}]}));
    assert_eq!(put(json!({"frozen": false})).await.json()["frozen"], Value::Null);
    assert_eq!(add(json!({"value": 1})).await.status, 204);
    let lines = cloud.as_admin("GET /api/v1/audit?limit=50&actions=true", Value::Null).await.json();
    let actions: Vec<&str> =
        lines.as_array().unwrap().iter().filter_map(|line| line["action"].as_str()).collect();
    assert_eq!(actions.iter().filter(|action| **action == "retention_changed").count(), 5, "{actions:?}");
}

#[tokio::test]
async fn streams_that_are_made_keep_points_as_long_as_the_operator_says() {
    let day = std::time::Duration::from_secs(86_400);
    let cloud = Cloud::start(|config| config.keep = Some(day)).await;
    cloud.user("ann", false).await;
    cloud.node("ann").await;
    let shown = cloud.as_admin(&format!("GET {STREAM}/retention"), Value::Null).await.json();
    assert_eq!(shown["keep_s"], 86_400);
}

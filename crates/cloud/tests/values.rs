//! Texts and truth values: from what a device posts to what is read of it, in every form.

mod web_client;

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use web_client::{Answer, Cloud, bearer, read_answer};

const NODE: &str = "/api/v1/users/ann/resources/node";
const TIME: i64 = 1_700_000_000_000;

/// A cloud with the user ann and her resource `node`.
async fn start() -> Cloud {
    let cloud = Cloud::start(|_| {}).await;
    cloud.user("ann", false).await;
    cloud.node("ann").await;
    cloud
}

/// Posts SenML, as a device does.
async fn senml(cloud: &Cloud, pack: &Value) -> Answer {
    let body = pack.to_string();
    let kind = format!("Content-Type: application/senml+json\r\nContent-Length: {}\r\n", body.len());
    let mut stream = cloud.open(&format!("POST {NODE}/data"), &(bearer(&cloud.admin) + &kind), "").await;
    stream.write_all(body.as_bytes()).await.unwrap();
    read_answer(&mut stream).await
}

async fn post(cloud: &Cloud, path: &str, body: Value) -> Answer {
    cloud.as_admin(&format!("POST {path}"), body).await
}

async fn get(cloud: &Cloud, path: &str) -> Answer {
    cloud.as_admin(&format!("GET {NODE}/{path}"), Value::Null).await
}

/// Posts a door, which is open for one of three points, and what is written on a display.
async fn post_both(cloud: &Cloud) {
    let at = |n: i64| (TIME / 1_000 + n) as f64;
    let pack = json!([
        {"n": "door", "vb": true, "t": at(0)},
        {"n": "display", "vs": "=SUM(1,2) \"é\"", "t": at(0)},
        {"n": "door", "vb": false, "t": at(1)},
        {"n": "display", "vs": "-5", "t": at(1)},
        {"n": "door", "vb": false, "t": at(2)},
    ]);
    let answer = senml(cloud, &pack).await;
    assert_eq!(answer.status, 204, "{}", answer.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn texts_and_truth_values_are_read_as_they_were_posted_in_every_format() {
    let cloud = start().await;
    post_both(&cloud).await;
    let door = json!([
        {"time": TIME, "value": true}, {"time": TIME + 1_000, "value": false}, {"time": TIME + 2_000, "value": false}
    ]);
    assert_eq!(get(&cloud, "streams/door/data").await.json(), door);
    let display = json!([{"time": TIME, "value": "=SUM(1,2) \"é\""}, {"time": TIME + 1_000, "value": "-5"}]);
    assert_eq!(get(&cloud, "streams/display/data").await.json(), display);
    assert_eq!(get(&cloud, "streams/display/data?from=0&limit=1").await.json()[0], display[0]);
    let stream = get(&cloud, "streams/display").await.json();
    assert_eq!((&stream["value_type"], &stream["latest"]["value"]), (&json!("text"), &json!("-5")));
    let streams = get(&cloud, "streams").await.json();
    let of = |n: usize| (&streams[n]["value_type"], &streams[n]["latest"]["value"]);
    assert_eq!([of(0), of(1)], [(&json!("number"), &Value::Null), (&json!("boolean"), &json!(false))]);

    let csv = get(&cloud, "streams/display/data?format=csv").await.body;
    assert_eq!(
        csv,
        "utc,ms,value\r\n2023-11-14T22:13:20.000Z,1700000000000,\"'=SUM(1,2) \"\"é\"\"\"\r\n\
         2023-11-14T22:13:21.000Z,1700000001000,\"'-5\"\r\n"
    );
    let of_device = get(&cloud, "data").await.body;
    assert!(of_device.contains("1700000000000,door,,true\r\n"), "{of_device}");
    assert!(of_device.contains("1700000001000,display,,\"'-5\"\r\n"), "{of_device}");
    let pack = get(&cloud, "streams/display/data?format=senml").await.json();
    assert_eq!(pack[1], json!({"n": "display", "vs": "-5", "t": 1_700_000_001.0}));
    let pack = get(&cloud, "streams/door/data?format=senml").await.json();
    assert_eq!(pack[0], json!({"n": "door", "vb": true, "t": 1_700_000_000.0}));

    let export = cloud.as_admin("GET /api/v1/users/ann/export", Value::Null).await.body;
    let points = format!(r#""points":[[{TIME},true],[{},false]"#, TIME + 1_000);
    assert!(export.contains(&points) && export.contains(r#",[1700000001000,"-5"]]"#), "{export}");
    assert!(export.contains(r#""value_type":"boolean""#), "{export}");

    // What was posted at a stream is heard by who listens, and found again by the next cloud.
    let mut feed = cloud.feed(&format!("{NODE}/streams/display/live"), &bearer(&cloud.admin)).await;
    let answer = post(&cloud, &format!("{NODE}/streams/display/data"), json!({"value": "door opened"})).await;
    assert_eq!(answer.status, 204, "{}", answer.body);
    feed.until(|text| text.contains(r#""value":"door opened""#)).await;
    assert!(feed.text.contains(r#""value":"door opened""#), "{}", feed.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_stream_does_not_take_is_left_out_and_told_with_the_reason() {
    let cloud = start().await;
    post_both(&cloud).await;
    let longest = "é".repeat(160);
    let pack = json!([
        {"n": "t", "v": 1}, {"n": "t", "vb": true}, {"n": "t", "vs": "2"},
        {"n": "door", "v": 1}, {"n": "door", "vs": "true"},
        {"n": "display", "v": 1}, {"n": "display", "vs": longest}, {"n": "display", "vs": longest.clone() + "!"},
        {"n": "display", "vs": "a\u{7}b"}, {"n": "display", "vs": "a\u{202e}b"},
    ]);
    let answer = senml(&cloud, &pack).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let left_out = json!([
        {"stream": "t", "why": "not_a_number", "points": 1},
        {"stream": "door", "why": "not_a_boolean", "points": 2},
        {"stream": "display", "why": "not_a_text", "points": 1},
        {"stream": "display", "why": "too_long", "points": 1},
        {"stream": "display", "why": "control_characters", "points": 2},
    ]);
    assert_eq!(answer.json()["left_out"], left_out);
    // True counts as 1 in a stream of numbers, as it did when there were no others.
    let values = |points: Value| -> Vec<Value> {
        points.as_array().unwrap().iter().map(|point| point["value"].clone()).collect()
    };
    assert_eq!(values(get(&cloud, "streams/t/data").await.json()), [json!(1.0), json!(1.0)]);
    assert_eq!(get(&cloud, "streams/display").await.json()["latest"]["value"], json!(longest));
    for (stream, value, why) in [
        ("t", json!("warm"), r#""t" takes numbers, no texts (1 left out)"#),
        ("door", json!(1), r#""door" takes true and false only (1 left out)"#),
        ("display", json!("é".repeat(10_000)), r#"1 of "display" longer than 160 characters"#),
    ] {
        let answer = post(&cloud, &format!("{NODE}/streams/{stream}/data"), json!({"value": value})).await;
        assert_eq!((answer.status, answer.code()), (409, "left_out".into()), "{}", answer.body);
        assert!(answer.json()["error"]["message"].as_str().unwrap().contains(why), "{}", answer.body);
    }
    for value in [json!(null), json!([1]), json!({})] {
        let answer = post(&cloud, &format!("{NODE}/streams/t/data"), json!({"value": value})).await;
        assert_eq!(answer.status, 422, "{}", answer.body);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_is_of_the_type_that_made_it_by_hand_or_by_a_parser() {
    let cloud = start().await;
    let new = json!({"label": "made", "value_type": "text"});
    let made = post(&cloud, &format!("{NODE}/streams"), new).await;
    assert_eq!((made.status, &made.json()["value_type"]), (201, &json!("text")), "{}", made.body);
    let refused =
        post(&cloud, &format!("{NODE}/streams"), json!({"label": "b", "value_type": "bytes"})).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert!(refused.body.contains("number"), "{}", refused.body);

    let parser =
        json!({"kind": "json-path", "expression": "$.state", "stream": "state", "value_type": "text"});
    assert_eq!(post(&cloud, &format!("{NODE}/parsers"), parser.clone()).await.status, 201);
    let sample = json!({"content_type": "application/json", "payload": r#"{"state":"a\u0007"}"#});
    let tried = post(&cloud, &format!("{NODE}/parsers/test"), sample).await.json();
    assert_eq!(tried["readings"][0]["left_out"], json!("control_characters"));
    assert_eq!(post(&cloud, &format!("{NODE}/data"), json!({"state": "open", "t": 5})).await.status, 204);
    let read = get(&cloud, "streams/state/data").await.json();
    assert_eq!(read[0]["value"], json!("open"));
    let parsers = get(&cloud, "parsers").await.json();
    assert_eq!(parsers[0]["value_type"], json!("text"));

    let profile = json!({"streams": [{"label": "door", "value_type": "boolean"}], "parsers": [parser]});
    let put = cloud.as_admin("PUT /api/v1/users/ann/profiles/gate", profile).await;
    assert_eq!(put.status, 201, "{}", put.body);
    let gate = json!({"label": "gate", "mode": "none", "profile": "gate"});
    let answer = post(&cloud, "/api/v1/users/ann/resources", gate).await;
    assert_eq!(answer.status, 201, "{}", answer.body);
    // Without parsers of its own, the first post of a resource makes streams of what it holds.
    let first = json!({"label": "first", "mode": "none"});
    assert_eq!(post(&cloud, "/api/v1/users/ann/resources", first).await.status, 201);
    let posted =
        post(&cloud, "/api/v1/users/ann/resources/first/data", json!({"on": true, "t": 1, "id": "x"}));
    assert_eq!(posted.await.status, 204);
    for (resource, expected) in
        [("gate", json!([["door", "boolean"]])), ("first", json!([["on", "boolean"], ["t", "number"]]))]
    {
        let path = format!("GET /api/v1/users/ann/resources/{resource}/streams");
        let streams = cloud.as_admin(&path, Value::Null).await.json();
        let types = streams.as_array().unwrap().iter();
        let types: Value = types.map(|stream| json!([stream["label"], stream["value_type"]])).collect();
        assert_eq!(types, expected, "{resource}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn windows_tell_of_truth_values_their_share_and_of_texts_what_there_is() {
    let cloud = start().await;
    post_both(&cloud).await;
    let first = async |path: &str| get(&cloud, path).await.json()[0].clone();
    let window = TIME / 3_600_000 * 3_600_000;
    let share = first("streams/door/data?every=1h").await;
    assert_eq!((&share["time"], share["value"].as_f64()), (&json!(window), Some(1.0 / 3.0)));
    assert_eq!(first("streams/door/data?every=1h&aggregate=last").await["value"], json!(false));
    let all = first("streams/door/data?every=1h&aggregate=all").await;
    assert_eq!((&all["min"], &all["max"], &all["sum"]), (&json!(0.0), &json!(1.0), &json!(1.0)));
    assert_eq!((&all["count"], &all["first"]), (&json!(3), &json!(true)));

    let of_texts = json!({"time": window, "count": 2, "first": "=SUM(1,2) \"é\"", "last": "-5"});
    assert_eq!(first("streams/display/data?every=1h&aggregate=all").await, of_texts);
    assert_eq!(first("streams/display/data?every=1h").await["value"], json!("-5"));
    assert_eq!(first("streams/display/data?every=1h&aggregate=count").await["value"], json!(2.0));
    let csv = get(&cloud, "streams/display/data?every=1h&aggregate=all&format=csv").await.body;
    assert!(csv.ends_with("Z,1699999200000,2,,,,,\"'=SUM(1,2) \"\"é\"\"\",\"'-5\"\r\n"), "{csv}");
    for aggregate in ["mean", "min", "max", "sum"] {
        let refused = get(&cloud, &format!("streams/display/data?every=1h&aggregate={aggregate}")).await;
        let message =
            format!("aggregate: of texts there is no {aggregate}; ask for count, first, last or all.");
        assert_eq!((refused.status, &refused.json()["error"]["message"]), (400, &json!(message)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_texts_nothing_is_computed_and_no_number_is_compared_with_them() {
    let cloud = start().await;
    post_both(&cloud).await;
    let computed = |input: &str| json!({"label": format!("of-{input}"), "expression": "x * 100", "inputs": {"x": {"stream": input}}});
    let refused = post(&cloud, &format!("{NODE}/computed-streams"), computed("display")).await;
    assert_eq!(refused.status, 400, "{}", refused.body);
    assert!(
        refused.body.contains("x is a stream of texts, and nothing is computed from texts"),
        "{}",
        refused.body
    );
    let made = post(&cloud, &format!("{NODE}/computed-streams"), computed("door")).await;
    assert_eq!(made.status, 201, "{}", made.body);
    let answer = post(&cloud, &format!("{NODE}/streams/door/data"), json!({"value": true})).await;
    assert_eq!(answer.status, 204, "{}", answer.body);
    assert_eq!(get(&cloud, "streams/of-door/data?limit=1").await.json()[0]["value"], json!(100.0));

    let rule = |stream: &str, condition: Value| {
        let label = format!("{stream}-{}", condition["kind"].as_str().unwrap());
        json!({"label": label, "severity": "warning", "resource": "node", "stream": stream, "condition": condition, "channels": []})
    };
    let threshold = json!({"kind": "threshold", "operator": "=", "operand": 1});
    let silence = json!({"kind": "silence", "after_s": 60});
    for (stream, condition, status) in [
        ("display", &threshold, 400),
        ("display", &json!({"kind": "change", "by": 1}), 400),
        ("display", &json!({"kind": "change"}), 201),
        ("display", &silence, 201),
        ("door", &threshold, 201),
    ] {
        let answer = post(&cloud, "/api/v1/users/ann/rules", rule(stream, condition.clone())).await;
        assert_eq!(answer.status, status, "{stream} {condition}: {}", answer.body);
        assert!(status == 201 || answer.body.contains("text"), "{}", answer.body);
    }
    post_both(&cloud).await;
    let answer = post(&cloud, &format!("{NODE}/streams/door/data"), json!({"value": true})).await;
    assert_eq!(answer.status, 204, "{}", answer.body);
    let alerts = cloud.as_admin("GET /api/v1/users/ann/alerts", Value::Null).await.json();
    assert_eq!(
        (alerts[0]["stream"].as_str(), &alerts[0]["opened_value"]),
        (Some("door"), &json!(true)),
        "{alerts}"
    );
}

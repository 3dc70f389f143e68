//! Streams that others than their owners read: public ones, and those of which they have a token.

mod web_client;

use serde_json::{Value, json};
use sixlock_store::now_ms;
use web_client::{Answer, Cloud, PASSWORD, bearer};

const NODE: &str = "/api/v1/users/bob/resources/node";
const STREAM: &str = "/api/v1/users/bob/resources/node/streams/t";

/// A cloud with the user bob, whose device has one reading, and the id of that stream.
async fn start() -> (Cloud, String, i64) {
    let cloud = Cloud::start(|_| {}).await;
    let bob = cloud.user("bob", false).await;
    cloud.node("bob").await;
    cloud.post("bob", [1.5]).await;
    let stream = cloud.as_admin(&format!("GET {STREAM}"), Value::Null).await.json();
    assert_eq!((&stream["public_access"], &stream["public_search"]), (&json!(false), &json!(false)));
    (cloud, bob, stream["id"].as_i64().unwrap())
}

async fn change(cloud: &Cloud, change: Value) -> Answer {
    cloud.as_admin(&format!("PUT {STREAM}"), change).await
}

async fn share(cloud: &Cloud, is_public: bool) {
    let answer = change(cloud, json!({"public_access": is_public})).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(answer.json()["public_access"], json!(is_public));
}

/// Makes a token for bob's stream `t`.
async fn token_for_stream(cloud: &Cloud, label: &str, expires: Option<i64>) -> String {
    let body = json!({"label": label, "resource": "node", "stream": "t", "expires": expires});
    let made = cloud.as_admin("POST /api/v1/users/bob/tokens", body).await;
    assert_eq!(made.status, 201, "{}", made.body);
    assert_eq!(made.json()["read_only"], json!(true));
    made.json()["token"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn strangers_read_a_public_stream_and_nothing_else_of_its_owner() {
    let (cloud, _, id) = start().await;
    let path = format!("/api/v1/shared/streams/{id}");
    let ask = async |path: &str| cloud.ask(&format!("GET {path}"), "", Value::Null).await;
    let nowhere = ask("/api/v1/shared/streams/4711").await;
    let private = ask(&path).await;
    assert_eq!((private.status, &private.body), (404, &nowhere.body));
    share(&cloud, true).await;
    change(&cloud, json!({"unit": "Cel", "description": "at the window"})).await;
    // Tags are told of a stream that is public to find, which this one is not.
    let tags = json!({"tags": ["secret site"], "place": {"latitude": 57.7, "longitude": 11.96}});
    assert_eq!(cloud.as_admin("PUT /api/v1/users/bob/resources/node", tags).await.status, 200);

    let shown = ask(&path).await.json();
    let latest = &shown["latest"];
    assert_eq!(latest["value"], json!(1.5));
    let expected = json!({"id": id, "label": "t", "unit": "Cel", "description": "at the window", "value_type": "number", "device": "node",
        "owner": "bob", "tags": [], "latest": {"time": latest["time"], "value": 1.5}});
    assert_eq!(shown, expected);
    let points = ask(&format!("{path}/data")).await.json();
    assert_eq!(points, json!([{"time": latest["time"], "value": 1.5}]));
    let csv = ask(&format!("{path}/data?format=csv")).await;
    assert!(csv.body.contains("utc,ms,value") && csv.body.contains(",1.5\r\n"), "{}", csv.body);
    assert_eq!(csv.header("content-type"), Some("text/csv; charset=utf-8"));
    let senml = ask(&format!("{path}/data?format=senml")).await;
    assert_eq!(senml.header("content-type"), Some("application/senml+json"));
    let seconds = latest["time"].as_i64().unwrap() as f64 / 1000.0;
    assert_eq!(senml.json(), json!([{"n": "t", "u": "Cel", "v": 1.5, "t": seconds}]));
    for refused in ["data?format=xml", "data?limit=0", "data?limt=1"] {
        assert_eq!(ask(&format!("{path}/{refused}")).await.status, 400, "{refused}");
    }

    let mut feed = cloud.feed(&format!("{path}/live"), "").await;
    cloud.post("bob", [2.5]).await;
    feed.until(|text| text.contains("2.5")).await;
    let data = feed.text.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
    let data: Value = serde_json::from_str(data).unwrap();
    assert_eq!(data, json!({"stream": id, "time": data["time"], "value": 2.5}));
    assert!(!feed.text.contains("id: "), "{}", feed.text);

    for method in ["POST", "PUT", "DELETE"] {
        let answer = cloud.ask(&format!("{method} {path}"), "", json!({})).await;
        assert_eq!(answer.status, 401, "{method}");
    }
    assert_eq!(ask(STREAM).await.status, 401);
    // Public to read is not public to find.
    assert_eq!(ask("/api/v1/shared/streams").await.json(), json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_is_found_once_its_owner_says_so_and_what_changes_is_recorded() {
    let (cloud, bob, id) = start().await;
    let tags = json!({"tags": ["wind farm"]});
    assert_eq!(cloud.as_admin("PUT /api/v1/users/bob/resources/node", tags).await.status, 200);
    let find =
        async |query: &str| cloud.ask(&format!("GET /api/v1/shared/streams{query}"), "", Value::Null).await;
    let refused = change(&cloud, json!({"public_search": true})).await;
    assert_eq!(refused.status, 400);
    assert!(refused.body.contains("public_search needs public_access"), "{}", refused.body);
    let both = json!({"public_access": true, "public_search": true, "description": "Roof of the barn"});
    let changed = cloud.ask(&format!("PUT {STREAM}"), &bearer(&bob), both).await.json();
    assert_eq!((&changed["public_access"], &changed["public_search"]), (&json!(true), &json!(true)));
    for (query, found) in [
        ("", 1),
        ("?search=", 1),
        ("?search=roof", 1),
        ("?search=BARN%20bob", 1),
        ("?search=nod", 1),
        ("?search=cellar", 0),
        ("?search=roof&limit=1", 1),
    ] {
        let answer = find(query).await;
        assert_eq!(answer.json().as_array().unwrap().len(), found, "{query}: {}", answer.body);
    }
    assert_eq!(find("?tag=wind").await.json(), json!([]));
    let found = find("?search=roof&tag=Wind+farm").await.json();
    let expected = json!([{"id": id, "label": "t", "unit": null, "description": "Roof of the barn", "value_type": "number", "device": "node",
        "owner": "bob", "tags": ["wind farm"]}]);
    assert_eq!(found, expected);
    assert_eq!(find(&format!("?after={id}")).await.json(), json!([]));
    for query in ["?search=%25", "?search=a+b+c+d+e", "?limit=101", "?limit=0", "?after=x", "?q=roof"] {
        assert_eq!(find(query).await.status, 400, "{query}");
    }
    assert_eq!(find(&format!("?search={}", "a".repeat(201))).await.status, 400);

    let changed = change(&cloud, json!({"public_access": false})).await.json();
    assert_eq!((&changed["public_access"], &changed["public_search"]), (&json!(false), &json!(false)));
    assert_eq!(find("").await.json(), json!([]));
    let record = cloud.as_admin("GET /api/v1/audit?actions=true&limit=4", Value::Null).await.json();
    let lines: Vec<_> = record
        .as_array()
        .unwrap()
        .iter()
        .map(|line| [&line["action"], &line["who"]].map(|field| field.as_str().unwrap().to_owned()))
        .collect();
    let expected = [
        ["stream_made_unfindable", "admin"],
        ["stream_made_private", "admin"],
        ["stream_made_findable", "bob"],
        ["stream_made_public", "bob"],
    ];
    assert_eq!(lines, expected.map(|line| line.map(str::to_owned)));
}

#[tokio::test(flavor = "multi_thread")]
async fn feeds_of_others_end_when_a_stream_is_public_no_more() {
    let (cloud, bob, id) = start().await;
    let eve = cloud.user("eve", false).await;
    let path = format!("/api/v1/shared/streams/{id}/live");
    for ends in ["private", "deleted"] {
        share(&cloud, true).await;
        let mut strangers = cloud.feed(&path, "").await;
        let mut eves = cloud.feed(&path, &bearer(&eve)).await;
        let mut owners = cloud.feed(&path, &bearer(&bob)).await;
        if ends == "private" {
            share(&cloud, false).await;
            cloud.post("bob", [77.5]).await;
            owners.until(|text| text.contains("77.5")).await;
            assert!(owners.text.contains("77.5"));
        } else {
            assert_eq!(cloud.as_admin(&format!("DELETE {STREAM}"), Value::Null).await.status, 204);
        }
        for feed in [&mut strangers, &mut eves] {
            feed.until_the_end().await;
            assert!(!feed.text.contains("77.5"), "{}", feed.text);
        }
    }
    assert_eq!(cloud.ask(&format!("GET {path}"), "", Value::Null).await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_for_a_stream_reads_it_and_ends_when_it_is_revoked_or_the_stream_goes() {
    let (cloud, _, id) = start().await;
    let path = format!("/api/v1/shared/streams/{id}");
    let token = token_for_stream(&cloud, "for eve", None).await;
    let ask = async |path: &str, token: &str| {
        cloud.ask(&format!("GET {path}"), &bearer(token), Value::Null).await.status
    };
    assert_eq!(ask(&path, &token).await, 200);
    assert_eq!(ask(&format!("{path}/data"), &token).await, 200);
    // Whoever has it is not its owner: it leads nowhere else, tells nothing of the owner, and does not end itself.
    for other in ["/api/v1/me", STREAM, "/api/v1/users/bob", "/api/v1/live", "/api/v1/users/bob/tokens"] {
        assert_eq!(ask(other, &token).await, 403, "{other}");
    }
    assert_eq!(cloud.ask("POST /api/v1/logout", &bearer(&token), json!({})).await.status, 403);
    let tokens = cloud.as_admin("GET /api/v1/users/bob/tokens", Value::Null).await;
    assert_eq!(tokens.json()[0]["stream"], json!(id));
    assert!(!tokens.body.contains(&token));

    let mut feed = cloud.feed(&format!("{path}/live"), &bearer(&token)).await;
    cloud.post("bob", [2.5]).await;
    feed.until(|text| text.contains("2.5")).await;
    assert_eq!(cloud.as_admin("DELETE /api/v1/users/bob/tokens/for%20eve", Value::Null).await.status, 204);
    cloud.post("bob", [77.5]).await;
    feed.until_the_end().await;
    assert!(feed.text.contains("2.5") && !feed.text.contains("77.5"), "{}", feed.text);
    assert_eq!(ask(&path, &token).await, 404);
    // A token that is good no more is none.
    share(&cloud, true).await;
    assert_eq!(ask(&path, &token).await, 200);
    share(&cloud, false).await;

    for (wrong, status) in [
        (json!({"label": "x", "stream": "t"}), 400),
        (json!({"label": "x", "resource": "node", "stream": "no"}), 404),
        (json!({"label": "x", "resource": "node", "stream": "t", "expires": now_ms() - 1}), 400),
    ] {
        let refused = cloud.as_admin("POST /api/v1/users/bob/tokens", wrong.clone()).await;
        assert_eq!(refused.status, status, "{wrong}: {}", refused.body);
    }
    let second = token_for_stream(&cloud, "second", None).await;
    let mut feed = cloud.feed(&format!("{path}/live"), &bearer(&second)).await;
    assert_eq!(cloud.as_admin(&format!("DELETE {STREAM}"), Value::Null).await.status, 204);
    feed.until_the_end().await;
    assert_eq!(cloud.as_admin("GET /api/v1/users/bob/tokens", Value::Null).await.json(), json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_of_a_stream_posts_to_it_alone_reads_nothing_and_ends_at_once() {
    let (cloud, bob, id) = start().await;
    assert_eq!(cloud.as_admin(&format!("POST {NODE}/streams"), json!({"label": "u"})).await.status, 201);
    let make = async |body: Value| cloud.ask("POST /api/v1/users/bob/tokens", &bearer(&bob), body).await;
    for wrong in [
        json!({"label": "x", "write_only": true}),
        json!({"label": "x", "resource": "node", "write_only": true}),
        json!({"label": "x", "resource": "node", "stream": "t", "write_only": true, "read_only": true}),
    ] {
        let refused = make(wrong.clone()).await;
        assert_eq!(refused.status, 400, "{wrong}: {}", refused.body);
    }
    let key = async |label: &str| {
        let made = make(json!({"label": label, "resource": "node", "stream": "t", "write_only": true})).await;
        assert_eq!(made.status, 201, "{}", made.body);
        let made = made.json();
        assert_eq!((&made["write_only"], &made["read_only"]), (&json!(true), &json!(false)));
        made["token"].as_str().unwrap().to_owned()
    };
    let first = key("gauge").await;
    let ask =
        async |request: &str, key: &str, body: Value| cloud.ask(request, &bearer(key), body).await.status;
    // By label, and by ids, which tell nothing of the device.
    assert_eq!(ask(&format!("POST {STREAM}/data"), &first, json!({"value": 2.5})).await, 204);
    let resource = cloud.as_admin(&format!("GET {NODE}"), Value::Null).await.json()["id"].clone();
    let by_id = format!("POST /api/v1/users/bob/resources/{resource}/streams/{id}/data");
    assert_eq!(ask(&by_id, &first, json!([{"value": 3.5}, {"value": 4.5}])).await, 204);
    let shared = format!("/api/v1/shared/streams/{id}");
    for (request, body, status) in [
        (format!("POST {NODE}/streams/u/data"), json!({"value": 9}), 403),
        (format!("POST {NODE}/streams/no/data"), json!({"value": 9}), 403),
        (format!("POST {NODE}/data"), json!({"t": 9}), 403),
        ("POST /api/v1/users/bob/resources/no/streams/t/data".into(), json!({"value": 9}), 403),
        (format!("GET {STREAM}"), Value::Null, 403),
        (format!("GET {STREAM}/data"), Value::Null, 403),
        (format!("GET {STREAM}/live"), Value::Null, 403),
        (format!("DELETE {STREAM}/data?all=true"), Value::Null, 403),
        (format!("PUT {STREAM}"), json!({"public_access": true}), 403),
        (format!("GET {shared}"), Value::Null, 404),
        (format!("GET {shared}/data"), Value::Null, 404),
        ("GET /api/v1/me".into(), Value::Null, 403),
        ("GET /api/v1/users/bob/tokens".into(), Value::Null, 403),
        ("GET /api/v1/live".into(), Value::Null, 403),
    ] {
        assert_eq!(ask(&request, &first, body).await, status, "{request}");
    }
    // A link to read it posts nothing.
    let link = token_for_stream(&cloud, "for eve", None).await;
    assert_eq!(ask(&format!("POST {STREAM}/data"), &link, json!({"value": 9})).await, 403);
    let values = async || {
        let points = cloud.as_admin(&format!("GET {STREAM}/data"), Value::Null).await.json();
        points.as_array().unwrap().iter().map(|point| point["value"].as_f64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(values().await, [1.5, 2.5, 3.5, 4.5]);
    let others = cloud.as_admin(&format!("GET {NODE}/streams/u/data"), Value::Null).await;
    assert_eq!(others.json(), json!([]));

    // Replaced: both are good until the first is removed.
    let second = key("gauge 2").await;
    let listed = cloud.as_admin("GET /api/v1/users/bob/tokens", Value::Null).await;
    assert!(!listed.body.contains(&first) && !listed.body.contains(&second));
    assert_eq!(listed.json()[0]["write_only"], json!(true));
    assert_eq!(cloud.as_admin("DELETE /api/v1/users/bob/tokens/gauge", Value::Null).await.status, 204);
    assert_eq!(ask(&format!("POST {STREAM}/data"), &first, json!({"value": 9})).await, 401);
    assert_eq!(ask(&format!("POST {STREAM}/data"), &second, json!({"value": 5.5})).await, 204);
    // It is for no more than its user may do.
    for (role, status) in [("viewer", 403), ("member", 204)] {
        assert_eq!(cloud.as_admin("PUT /api/v1/users/bob", json!({"role": role})).await.status, 200);
        assert_eq!(ask(&format!("POST {STREAM}/data"), &second, json!({"value": 6.5})).await, status);
    }
    assert_eq!(values().await, [1.5, 2.5, 3.5, 4.5, 5.5, 6.5]);
    // It goes with its stream, also if there is one of its name again.
    assert_eq!(cloud.as_admin(&format!("DELETE {STREAM}"), Value::Null).await.status, 204);
    assert_eq!(cloud.as_admin(&format!("POST {NODE}/streams"), json!({"label": "t"})).await.status, 201);
    assert_eq!(ask(&format!("POST {STREAM}/data"), &second, json!({"value": 9})).await, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_follows_public_streams_and_learns_nothing_of_those_that_are_public_no_more() {
    let (cloud, bob, id) = start().await;
    let eve = cloud.user("eve", false).await;
    let path = format!("/api/v1/users/eve/followed/{id}");
    let as_eve = async |request: &str| cloud.ask(request, &bearer(&eve), Value::Null).await;
    let private = as_eve(&format!("PUT {path}")).await;
    let unknown = as_eve("PUT /api/v1/users/eve/followed/4711").await;
    assert_eq!((private.status, &private.body), (404, &unknown.body));
    share(&cloud, true).await;
    assert_eq!(as_eve(&format!("PUT {path}")).await.status, 200);
    let followed = as_eve("GET /api/v1/users/eve/followed").await.json();
    assert_eq!((&followed[0]["id"], &followed[0]["stream"]["owner"]), (&json!(id), &json!("bob")));
    assert_eq!(cloud.ask("GET /api/v1/users/eve/followed", &bearer(&bob), Value::Null).await.status, 403);
    let export = as_eve("GET /api/v1/users/eve/export").await.body;
    assert!(export.contains(&format!("\"type\":\"followed\",\"stream\":{id}")), "{export}");
    share(&cloud, false).await;
    let followed = as_eve("GET /api/v1/users/eve/followed").await.json();
    assert_eq!(followed, json!([{"id": id, "since": followed[0]["since"], "stream": null}]));
    assert_eq!(as_eve(&format!("GET /api/v1/shared/streams/{id}")).await.status, 404);
    assert_eq!(as_eve(&format!("DELETE {path}")).await.status, 204);
    assert_eq!(as_eve(&format!("DELETE {path}")).await.status, 404);
    // Bob follows his own, public or not.
    let own = cloud.ask(&format!("PUT /api/v1/users/bob/followed/{id}"), &bearer(&bob), Value::Null).await;
    assert_eq!((own.status, &own.json()["stream"]["label"]), (200, &json!("t")));
}

#[tokio::test(flavor = "multi_thread")]
async fn strangers_who_ask_too_often_wait_and_users_do_not() {
    let (cloud, bob, id) = start().await;
    let path = format!("GET /api/v1/shared/streams/{id}");
    let token = token_for_stream(&cloud, "for eve", None).await;
    let mut refused = None;
    // On a slow machine half a second goes by now and then.
    for _ in 0..10_000 {
        let answer = cloud.ask(&path, &bearer(&token), Value::Null).await;
        if answer.status != 200 {
            refused = Some(answer);
            break;
        }
    }
    let refused = refused.unwrap();
    assert_eq!((refused.status, refused.code()), (429, "too_many_requests".to_owned()));
    let wait: u32 = refused.header("retry-after").unwrap().parse().unwrap();
    assert_eq!(wait, 1);
    assert_eq!(cloud.ask(&path, &bearer(&bob), Value::Null).await.status, 200);
    assert_eq!(cloud.login("bob", PASSWORD, "").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn feeds_of_strangers_take_no_place_of_users() {
    let (cloud, bob, id) = start().await;
    let path = format!("/api/v1/shared/streams/{id}/live");
    let token = token_for_stream(&cloud, "for eve", None).await;
    let mut feeds = Vec::new();
    for _ in 0..4 {
        feeds.push(cloud.feed(&path, &bearer(&token)).await);
    }
    let fifth = cloud.ask(&format!("GET {path}"), &bearer(&token), Value::Null).await;
    assert_eq!((fifth.status, fifth.code()), (429, "live_feeds".to_owned()));
    assert_eq!(fifth.header("retry-after"), Some("15"));
    for _ in 0..8 {
        feeds.push(cloud.feed("/api/v1/live", &bearer(&bob)).await);
    }
    assert_eq!(cloud.ask("GET /api/v1/live", &bearer(&bob), Value::Null).await.status, 429);
}

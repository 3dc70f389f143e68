//! Many devices over HTTP: tags, folders, profiles, and what is changed at once.

mod web_client;

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use web_client::{Answer, Cloud, bearer};

const FLEET: &str = "/api/v1/users/ann/fleet";

/// A cloud with the user ann and her devices.
async fn start(devices: Value) -> Cloud {
    let cloud = Cloud::start(|_| {}).await;
    cloud.user("ann", false).await;
    let imported = cloud.as_admin("POST /api/v1/users/ann/import", json!({"devices": devices})).await;
    assert_eq!(imported.status, 201, "{}", imported.body);
    cloud
}

async fn change(cloud: &Cloud, body: Value) -> Answer {
    cloud.as_admin(&format!("POST {FLEET}/changes"), body).await
}

async fn labels(cloud: &Cloud, query: &str) -> Vec<String> {
    let answer = cloud.as_admin(&format!("GET {FLEET}?{query}"), Value::Null).await;
    assert_eq!(answer.status, 200, "{query}: {}", answer.body);
    let fleet = answer.json();
    let devices = fleet["devices"].as_array().unwrap();
    devices.iter().map(|device| device["label"].as_str().unwrap().to_owned()).collect()
}

/// To what the record says that `action` was done.
async fn recorded(cloud: &Cloud, action: &str) -> Vec<String> {
    let lines = cloud.as_admin("GET /api/v1/audit?actions=true", Value::Null).await.json();
    let lines = lines.as_array().unwrap().iter().filter(|line| line["action"] == action);
    lines.map(|line| line["what"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn devices_are_found_by_what_their_owner_says_also_with_a_token_to_read_only() {
    let cloud = start(json!([
        {"label": "sensor10", "tags": ["Roof", "pump"], "folder": "house/attic", "period_s": 60},
        {"label": "sensor2", "tags": ["roof"], "folder": "house"},
        {"label": "valve"},
    ]))
    .await;
    for (query, found) in [
        ("", vec!["sensor2", "sensor10", "valve"]),
        ("limit=1&offset=1", vec!["sensor10"]),
        ("tags=roof,pump", vec!["sensor10"]),
        ("tags=ROOF&order=added", vec!["sensor10", "sensor2"]),
        ("folder=house", vec!["sensor2", "sensor10"]),
        ("folder=house&not_below=true", vec!["sensor2"]),
        ("search=attic", vec!["sensor10"]),
        ("state=unheard&search=val", vec!["valve"]),
        ("state=silent", vec![]),
    ] {
        assert_eq!(labels(&cloud, query).await, found, "{query}");
    }
    for query in ["limit=0", "limit=1001", "offset=-1", "order=colour", "state=well", "tags=,%20", "folder=/"]
    {
        let answer = cloud.as_admin(&format!("GET {FLEET}?{query}"), Value::Null).await;
        assert_eq!((answer.status, answer.code()), (400, "invalid".into()), "{query}");
    }

    let path = "/api/v1/users/ann/tokens";
    let made =
        cloud.as_admin(&format!("POST {path}"), json!({"label": "look", "read_only": true})).await.json();
    let reader = bearer(made["token"].as_str().unwrap());
    let read = cloud.ask(&format!("GET {FLEET}?tags=pump"), &reader, Value::Null).await.json();
    assert_eq!(read["devices"][0]["tags"], json!(["pump", "roof"]));
    assert_eq!(read["summary"]["tags"][1]["name"], "roof");
    let tag = json!({"matching": {}, "change": {"kind": "tag", "tags": ["mine"]}});
    assert_eq!(cloud.ask(&format!("POST {FLEET}/changes"), &reader, tag).await.status, 403);
    assert_eq!(labels(&cloud, "tags=mine").await, [""; 0]);

    let device = "/api/v1/users/ann/resources/valve";
    let changed = cloud
        .as_admin(&format!("PUT {device}"), json!({"tags": ["b", "a"], "folder": "yard", "period_s": 5}))
        .await
        .json();
    assert_eq!(
        (&changed["tags"], &changed["folder"], &changed["period_s"]),
        (&json!(["a", "b"]), &json!("yard"), &json!(5))
    );
    let cleared =
        cloud.as_admin(&format!("PUT {device}"), json!({"tags": [], "period_s": null})).await.json();
    assert_eq!(
        (&cleared["tags"], &cleared["folder"], &cleared["period_s"]),
        (&json!([]), &json!("yard"), &Value::Null)
    );
    let many: Vec<String> = (0..17).map(|n| n.to_string()).collect();
    let full = cloud.as_admin(&format!("PUT {device}"), json!({"tags": many})).await;
    assert_eq!((full.status, full.code()), (409, "full".into()));

    let export = cloud.as_admin("GET /api/v1/users/ann/export", Value::Null).await;
    assert!(
        export.body.contains(r#""tags":["pump","roof"],"folder":"house/attic","period_s":60,"place":null"#),
        "{}",
        export.body
    );
}

#[tokio::test]
async fn devices_that_have_a_place_are_told_with_it() {
    let cloud = start(json!([
        {"label": "quay", "place": {"latitude": 57.7, "longitude": 11.96}},
        {"label": "nowhere"},
    ]))
    .await;
    let places = async || cloud.as_admin(&format!("GET {FLEET}/places"), Value::Null).await.json();
    let quay = json!({"id": 1, "label": "quay", "latitude": 57.7, "longitude": 11.96, "state": "unheard", "alerts": 0});
    assert_eq!(places().await, json!([quay]));
    let put = async |device: &str, place: Value| {
        let path = format!("PUT /api/v1/users/ann/resources/{device}");
        cloud.as_admin(&path, json!({"place": place})).await
    };
    let moved = put("nowhere", json!({"latitude": -90, "longitude": 180})).await.json();
    assert_eq!(moved["place"], json!({"latitude": -90.0, "longitude": 180.0}));
    for place in [
        json!({"latitude": 90.1, "longitude": 0}),
        json!({"latitude": 0, "longitude": -180.1}),
        json!({"latitude": 0}),
        json!({"latitude": 0, "longitude": "east"}),
        json!({"latitude": 0, "longitude": 0, "height": 3}),
    ] {
        let refused = put("quay", place.clone()).await;
        assert!(matches!(refused.status, 400 | 422), "{place}: {}", refused.status);
    }
    assert_eq!(places().await.as_array().unwrap().len(), 2);
    // What is not said stays, and null is nowhere.
    let path = "PUT /api/v1/users/ann/resources/quay";
    let kept = cloud.as_admin(path, json!({"tags": ["sea"]})).await.json();
    assert_eq!(kept["place"]["latitude"], 57.7);
    assert_eq!(put("quay", Value::Null).await.json()["place"], Value::Null);
    assert_eq!(places().await[0]["label"], "nowhere");
}

#[tokio::test]
async fn a_change_of_many_says_how_many_and_deletes_no_others_than_were_counted() {
    let cloud = start(json!([{"label": "a1"}, {"label": "a2"}, {"label": "b"}])).await;
    let matching = json!({"search": "a"});
    let tagged =
        change(&cloud, json!({"matching": matching, "change": {"kind": "tag", "tags": ["x"]}})).await;
    assert_eq!((tagged.status, tagged.json()), (200, json!({"matched": 2, "changed": 2})));
    let delete = |count: Option<i64>| {
        let count = count.map_or(Value::Null, Value::from);
        json!({"matching": matching, "count": count, "change": {"kind": "delete"}})
    };
    assert_eq!(change(&cloud, delete(None)).await.code(), "invalid");
    let refused = change(&cloud, delete(Some(3))).await;
    assert_eq!((refused.status, refused.code()), (409, "count".into()));
    assert_eq!(labels(&cloud, "").await, ["a1", "a2", "b"]);
    for body in [
        json!({"change": {"kind": "pause_polls"}}),
        json!({"devices": [1], "matching": {}, "change": {"kind": "pause_polls"}}),
        json!({"devices": [1], "change": {"kind": "paint"}}),
        json!({"devices": [1], "change": {"kind": "keep"}}),
        json!({"devices": [1], "change": {"kind": "delete", "tags": []}}),
        json!({"devices": vec![1; 5_001], "change": {"kind": "pause_polls"}}),
        json!({"matching": {"colour": "red"}, "change": {"kind": "pause_polls"}}),
    ] {
        let answer = change(&cloud, body.clone()).await;
        assert!(matches!(answer.status, 400 | 422), "{body}: {} {}", answer.status, answer.body);
    }
    let deleted = change(&cloud, delete(Some(2))).await;
    assert_eq!((deleted.status, deleted.json()), (200, json!({"matched": 2, "changed": 2})));
    assert_eq!(labels(&cloud, "").await, ["b"]);
    for action in ["devices_tagged", "devices_deleted"] {
        assert_eq!(recorded(&cloud, action).await, [format!("{FLEET}/changes/2 of 2 devices")], "{action}");
    }
}

/// A cloud with 51 devices, one more than are deleted at once; with the last of them goes what `trigger` does.
async fn start_with(trigger: &str) -> (Cloud, rusqlite::Connection) {
    let labels = (0..50).map(|n| format!("d{n}")).chain(["last".to_owned()]);
    let cloud = start(labels.map(|label| json!({ "label": label })).collect()).await;
    let database = rusqlite::Connection::open(cloud.directory.path().join("data/sixlock.db")).unwrap();
    database.busy_timeout(web_client::PATIENCE).unwrap();
    let sql = "CREATE TRIGGER at_last BEFORE DELETE ON resources WHEN OLD.label = 'last' BEGIN";
    database.execute_batch(&format!("{sql} {trigger}; END")).unwrap();
    (cloud, database)
}

fn delete_all() -> Value {
    json!({"matching": {}, "count": 51, "change": {"kind": "delete"}})
}

#[tokio::test]
async fn what_was_deleted_before_a_failure_is_told_and_recorded() {
    let (cloud, _database) = start_with("SELECT RAISE(ABORT, 'no')").await;
    let failed = change(&cloud, delete_all()).await;
    assert_eq!((failed.status, failed.code()), (500, "internal".into()));
    assert!(failed.body.contains("50 of 51 devices are deleted"), "{}", failed.body);
    assert_eq!(labels(&cloud, "").await, ["last"]);
    assert_eq!(recorded(&cloud, "devices_deleted").await, [format!("{FLEET}/changes/50 of 51 devices")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_hangs_up_ends_no_change_and_its_line_is_in_the_record() {
    // Long enough that the cloud sees the connection end.
    let slow = "SELECT count(*) FROM numbers a, numbers b, numbers c WHERE a.n + b.n + c.n < 0";
    let (cloud, database) = start_with(slow).await;
    database.execute_batch("CREATE TABLE numbers (n)").unwrap();
    for n in 0..100 {
        database.execute("INSERT INTO numbers VALUES (?1)", [n]).unwrap();
    }
    let request = format!("POST {FLEET}/changes");
    let connection = cloud.open(&request, &bearer(&cloud.admin), &delete_all().to_string()).await;
    let end = Instant::now() + web_client::PATIENCE;
    loop {
        let left: i64 = database.query_row("SELECT count(*) FROM resources", [], |row| row.get(0)).unwrap();
        if left <= 1 {
            break;
        }
        assert!(Instant::now() < end, "{left} devices are left");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    drop(connection);
    while recorded(&cloud, "devices_deleted").await != [format!("{FLEET}/changes/51 of 51 devices")] {
        assert!(Instant::now() < end, "{:?}", recorded(&cloud, "devices_deleted").await);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(labels(&cloud, "").await, [""; 0]);
}

#[tokio::test]
async fn devices_are_made_as_their_profile_says_and_stay_so() {
    let cloud = start(json!([{"label": "before"}])).await;
    let path = "/api/v1/users/ann/profiles/gauge";
    let profile = json!({
        "description": "Rain", "tags": ["rain"], "folder": "field", "period_s": 600,
        "streams": [{"label": "rain", "unit": "mm", "keep_s": 86400}, {"label": "battery", "unit": "V"}],
        "parsers": [{"kind": "json-path", "expression": "$.r", "stream": "rain"}],
    });
    let put = async |profile: &Value| cloud.as_admin(&format!("PUT {path}"), profile.clone()).await;
    assert_eq!((put(&profile).await.status, put(&profile).await.status), (201, 200));
    for (field, wrong) in [
        ("period_s", json!(0)),
        ("tags", json!(["a,b"])),
        ("streams", json!([{"label": "t", "keep_s": 1}])),
        ("parsers", json!([{"kind": "json-path", "expression": "$[", "stream": "t"}])),
        ("colour", json!("red")),
    ] {
        let mut profile = profile.clone();
        profile[field] = wrong;
        assert!(matches!(put(&profile).await.status, 400 | 422), "{field}");
    }
    let twice = json!({"streams": [{"label": "t"}, {"label": "t"}]});
    assert_eq!(put(&twice).await.code(), "taken");

    let import =
        |devices: Value| cloud.as_admin("POST /api/v1/users/ann/import", json!({"devices": devices}));
    let unknown =
        import(json!([{"label": "x", "profile": "gauge"}, {"label": "y", "profile": "other"}])).await;
    assert_eq!(unknown.status, 409);
    assert_eq!(unknown.json()["error"]["devices"], json!([{"device": 1, "why": "there is no such profile"}]));
    let devices = json!([{"label": "g1", "profile": "gauge"}, {"label": "g2", "profile": "gauge", "tags": ["west"], "period_s": 60}]);
    assert_eq!(import(devices).await.status, 201);
    let one = json!({"label": "g3", "profile": "gauge", "folder": "yard"});
    assert_eq!(cloud.as_admin("POST /api/v1/users/ann/resources", one).await.status, 201);
    assert_eq!(labels(&cloud, "tags=rain&folder=field").await, ["g1", "g2"]);

    let get = async |of: &str| {
        cloud.as_admin(&format!("GET /api/v1/users/ann/resources/{of}"), Value::Null).await.json()
    };
    let g2 = get("g2").await;
    assert_eq!(
        (&g2["tags"], &g2["period_s"], &g2["description"]),
        (&json!(["rain", "west"]), &json!(60), &json!("Rain"))
    );
    assert_eq!(get("g3").await["folder"], "yard");
    let retention = get("g1/retention").await;
    assert_eq!((&retention[0]["keep_s"], &retention[1]["keep_s"]), (&json!(86400), &Value::Null));
    let data = cloud.as_admin("POST /api/v1/users/ann/resources/g1/data", json!({"r": 4.5})).await;
    assert_eq!(data.status, 204, "{}", data.body);
    assert_eq!(get("g1/streams").await[0]["latest"]["value"], 4.5);

    // What is changed or removed afterwards concerns no device that is there.
    assert_eq!(put(&json!({"tags": ["other"]})).await.status, 200);
    assert_eq!(cloud.as_admin(&format!("DELETE {path}"), Value::Null).await.status, 204);
    assert_eq!(cloud.as_admin(&format!("DELETE {path}"), Value::Null).await.status, 404);
    assert_eq!(get("g1").await["tags"], json!(["rain"]));

    // A profile does not lead around the quotas.
    assert_eq!(put(&profile).await.status, 201);
    let quotas = json!({"streams": 7});
    assert_eq!(cloud.as_admin("PUT /api/v1/users/ann/quotas", quotas).await.status, 200);
    let too_many = import(json!([{"label": "g4", "profile": "gauge"}])).await;
    assert_eq!((too_many.status, too_many.code()), (403, "quota".into()));
}

//! The queries of the dashboard for Grafana, asked as Grafana's Infinity data source asks them. Grafana itself is not here.

mod web_client;

use serde_json::{Value, json};
use web_client::{Cloud, bearer};

const DASHBOARD: &str = include_str!("../../../docs/grafana/dashboard.json");
/// 2026, on the hour.
const BEGIN: i64 = 1_767_225_600_000;
const MINUTE: i64 = 60_000;

/// All queries within: each has a URL and columns.
fn queries(within: &Value) -> Vec<&Value> {
    match within {
        Value::Object(fields) if fields.contains_key("url") && fields.contains_key("columns") => vec![within],
        Value::Object(fields) => fields.values().flat_map(queries).collect(),
        Value::Array(items) => items.iter().flat_map(queries).collect(),
        _ => Vec::new(),
    }
}

/// The URL of a query with Grafana's variables filled in: the last hour from `BEGIN` on, a point each ten minutes.
fn url(query: &Value) -> String {
    let mut url = query["url"].as_str().unwrap().to_owned();
    for (name, value) in [
        ("user", "ann".to_owned()),
        ("device", "node".to_owned()),
        ("stream", "t".to_owned()),
        ("__from", BEGIN.to_string()),
        ("__to", (BEGIN + 60 * MINUTE).to_string()),
        ("__interval", "10m".to_owned()),
    ] {
        url = url.replace(&format!("${{{name}}}"), &value);
    }
    assert!(!url.contains('$'), "{url} has a variable that nobody fills in");
    url
}

/// What a column of a row holds: its selector names a field, or one within another.
fn selected<'a>(row: &'a Value, column: &Value) -> &'a Value {
    column["selector"].as_str().unwrap().split('.').fold(row, |value, name| &value[name])
}

/// Whether Grafana can make of the value what the column says.
fn is_of_type(value: &Value, column: &Value) -> bool {
    match column["type"].as_str().unwrap() {
        "timestamp_epoch" => value.as_i64().is_some_and(|ms| ms >= BEGIN),
        "number" => value.is_number(),
        "string" => value.is_string(),
        kind => panic!("{kind} is no type of a column"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_query_of_the_dashboard_is_answered_with_what_its_columns_name() {
    let cloud = Cloud::start(|_| ()).await;
    cloud.user("ann", false).await;
    cloud.node("ann").await;
    let (node, as_admin) = ("/api/v1/users/ann/resources/node", async |request: String, body| {
        let answer = cloud.as_admin(&request, body).await;
        assert!((200..300).contains(&answer.status), "{request}: {} {}", answer.status, answer.body);
    });
    as_admin(format!("PUT {node}/streams/t"), json!({"unit": "Cel"})).await;
    let condition = json!({"kind": "threshold", "operator": ">", "operand": 30});
    let rule = json!({"label": "warm", "severity": "warning", "resource": "node", "stream": "t",
        "channels": [], "condition": condition});
    as_admin("POST /api/v1/users/ann/rules".into(), rule).await;
    let points = (0..60).map(|minute| json!({"time": BEGIN + minute * MINUTE, "value": minute})).collect();
    as_admin(format!("POST {node}/streams/t/data"), Value::Array(points)).await;
    as_admin(format!("POST {node}/credentials"), json!({"overlap_s": 0})).await;
    // A token that only reads is enough.
    let reader = json!({"label": "grafana", "read_only": true});
    let reader = cloud.as_admin("POST /api/v1/users/ann/tokens", reader).await.json();
    let reader = bearer(reader["token"].as_str().unwrap());

    let dashboard: Value = serde_json::from_str(DASHBOARD).unwrap();
    let queries = queries(&dashboard);
    assert_eq!(queries.len(), 8);
    for query in queries {
        let url = url(query);
        let rows = loop {
            let answer = cloud.ask(&format!("GET {url}"), &reader, Value::Null).await;
            assert_eq!(answer.status, 200, "{url}: {}", answer.body);
            let rows = answer.json().as_array().unwrap_or_else(|| panic!("{url} is no list")).clone();
            // The log is written a moment later.
            if !(url.ends_with("/log") && rows.is_empty()) {
                break rows;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        };
        assert!(!rows.is_empty(), "{url} tells nothing");
        for column in query["columns"].as_array().unwrap() {
            let wrong = rows.iter().find(|row| !is_of_type(selected(row, column), column));
            assert!(wrong.is_none(), "{url}: {column} is not in {wrong:?}");
        }
        if url.contains("aggregate=") {
            let values: Vec<_> = rows.iter().map(|row| row["value"].as_f64().unwrap()).collect();
            let begin = match &url {
                url if url.contains("mean") => 4.5,
                url if url.contains("min") => 0.0,
                _ => 9.0,
            };
            assert_eq!(values, [0.0, 10.0, 20.0, 30.0, 40.0, 50.0].map(|value| begin + value), "{url}");
        }
    }
    cloud.running.stop().await.unwrap();
}

//! A rule that is to be judged while a cloud is killed, and what it must have come to.

use std::io;
use std::net::SocketAddr;
use std::path::Path;

use serde_json::{Value, json};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};

use crate::cloud::{LABEL, ask_as_admin};

/// How many alerts that are cleared a cloud remembers.
const HISTORY: usize = 1000;

/// Has a cloud watch whether the number of the first device's latest post is odd: by a rule for a stream that is computed of its readings.
///
/// # Errors
/// What the cloud answered instead.
pub fn watch_first_device(http: SocketAddr, data: &Path) -> io::Result<()> {
    let post = |path: &str, body: Value| {
        ask_as_admin(http, data, &format!("POST /api/v1/users/admin/{path}"), &body.to_string()).map(drop)
    };
    let device = format!("{LABEL}0");
    post(&format!("resources/{device}/streams"), json!({"label": "temperature", "unit": "Cel"}))?;
    // In a resource of its own: all points of the devices' resources are posts.
    post("resources", json!({"label": "watch", "mode": "dtls-psk"}))?;
    let inputs = json!({"t": {"resource": device, "stream": "temperature"}});
    post(
        "resources/watch/computed-streams",
        json!({"label": "odd", "expression": "t % 2", "inputs": inputs}),
    )?;
    // Nobody is told: what is told waits.
    post("channels", json!({"label": "nobody", "kind": "webhook", "address": "https://nobody.invalid/"}))?;
    let condition = json!({"kind": "threshold", "operator": ">", "operand": 0.5});
    let rule = json!({"label": "odd", "resource": "watch", "stream": "odd", "condition": condition, "channels": ["nobody"]});
    post("rules", rule)
}

/// How the alerts of that rule differ from those that the first device's posts make, each opened once by an odd one and cleared once by the
/// next; nothing if they do not.
///
/// # Errors
/// What the database says.
pub fn wrong_alerts(data: &Path) -> Result<Option<String>, sqlx::Error> {
    tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
        let options = SqliteConnectOptions::new().filename(data.join("sixlock.db"));
        let mut connection = options.connect().await?;
        let sql = "SELECT points.time, points.value FROM points JOIN streams ON streams.id = points.stream
                   JOIN resources ON resources.id = streams.resource
                   WHERE resources.label = $1 AND streams.label = 'temperature' ORDER BY points.id";
        let posts: Vec<(i64, f64)> =
            sqlx::query_as(sql).bind(format!("{LABEL}0")).fetch_all(&mut connection).await?;
        let sql = "SELECT opened, cleared FROM alerts ORDER BY id";
        let alerts: Vec<(i64, Option<i64>)> = sqlx::query_as(sql).fetch_all(&mut connection).await?;
        let sql = "SELECT (SELECT count(*) FROM outbox) + (SELECT untold FROM channels)";
        let messages: i64 = sqlx::query_scalar(sql).fetch_one(&mut connection).await?;
        connection.close().await?;
        let (expected, told) = expected(&posts);
        if (&alerts, messages) == (&expected, told) {
            return Ok(None);
        }
        let differs = alerts.iter().zip(&expected).position(|(alert, expected)| alert != expected);
        Ok(Some(format!(
            "{} posts: {} alerts and {messages} messages instead of {} and {told}; the first other one is {differs:?}",
            posts.len(),
            alerts.len(),
            expected.len()
        )))
    })
}

/// The alerts that are remembered, when they were opened and cleared, and how many messages all made.
fn expected(posts: &[(i64, f64)]) -> (Vec<(i64, Option<i64>)>, i64) {
    let mut alerts: Vec<(i64, Option<i64>)> = Vec::new();
    for (time, value) in posts {
        match (value % 2.0 != 0.0, alerts.last_mut()) {
            (true, Some((_, None))) | (false, None | Some((_, Some(_)))) => {}
            (true, _) => alerts.push((*time, None)),
            (false, Some((_, cleared))) => *cleared = Some(*time),
        }
    }
    let cleared = alerts.iter().filter(|(_, cleared)| cleared.is_some()).count();
    let told = (alerts.len() + cleared) as i64;
    alerts.drain(..cleared.saturating_sub(HISTORY));
    (alerts, told)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_odd_post_opens_and_an_even_one_clears() {
        let posts = [(10, 0.0), (20, 1.0), (30, 3.0), (40, 4.0), (50, 6.0), (60, 7.0)];
        assert_eq!(expected(&posts), (vec![(20, Some(40)), (60, None)], 3));
    }
}

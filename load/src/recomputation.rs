//! What the posts that a database holds amount to, beside what the cloud made of them: computed points, alerts, messages and rollups.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection};

use crate::Hook;
use crate::cloud::LABEL;
use crate::watch::{COMPUTED, LATELY, NOBODY, SELDOM, WATCH, Watched};

/// How many alerts that are cleared a cloud remembers of a user.
const HISTORY: usize = 1000;

/// The points of a stream, in the order of their times.
type Points = Vec<(i64, f64)>;
/// When each alert of a rule was opened, and cleared.
type Alerts = Vec<(i64, Option<i64>)>;

/// Compares what was made of the posts in the data folder `data` with what is to be made of them, each once, and what `hook` was told at least once
/// with what it was to be told. Tells how they differ; nothing if they do not.
///
/// # Errors
/// What SQLite says.
pub fn differences_from_recomputation(
    data: &Path,
    watched: Watched,
    hook: &Hook,
) -> Result<Vec<String>, sqlx::Error> {
    tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
        let options = SqliteConnectOptions::new().filename(data.join("sixlock.db"));
        let mut connection = options.connect().await?;
        let points = points(&mut connection).await?;
        let mut differences = wrong_points(&points, watched);
        differences.extend(wrong_alerts(&mut connection, &points, watched, hook).await?);
        differences.extend(wrong_rollups(&mut connection).await?);
        connection.close().await?;
        Ok(differences)
    })
}

/// The points of each device's `temperature`, which has the number of the post, and of what is computed of it, by resource and stream.
async fn points(
    connection: &mut SqliteConnection,
) -> Result<BTreeMap<(String, String), Points>, sqlx::Error> {
    let sql =
        "SELECT resources.label, streams.label, time, value FROM points JOIN streams ON streams.id = points.stream
               JOIN resources ON resources.id = streams.resource
               WHERE streams.label = 'temperature' OR resources.label LIKE $1 || '%' ORDER BY time";
    let rows: Vec<(String, String, i64, f64)> = sqlx::query_as(sql).bind(WATCH).fetch_all(connection).await?;
    let mut points: BTreeMap<_, Points> = BTreeMap::new();
    for (resource, stream, time, value) in rows {
        points.entry((resource, stream)).or_default().push((time, value));
    }
    Ok(points)
}

/// What is computed of a device's posts.
fn computed(stream: &str, posts: &[(i64, f64)]) -> Points {
    let odd = |n: usize| posts[n].1 % 2.0;
    let lately = |n: usize| {
        let window = &posts[(n + 1).saturating_sub(LATELY)..=n];
        window.iter().map(|(_, value)| value).sum::<f64>() / window.len() as f64
    };
    let value = |n| match stream {
        "odd" => odd(n),
        "lately" => lately(n),
        "both" => odd(n) + lately(n),
        _ => (posts[n].1 / SELDOM).floor() % 2.0,
    };
    (0..posts.len()).map(|n| (posts[n].0, value(n))).collect()
}

/// The watched devices that have posted: their numbers, and the numbers of their posts.
fn posts(
    points: &BTreeMap<(String, String), Points>,
    watched: Watched,
) -> impl Iterator<Item = (usize, &Points)> {
    let number = |resource: &str| resource.strip_prefix(LABEL).and_then(|n| n.parse().ok());
    points
        .iter()
        .filter(|((_, stream), _)| stream == "temperature")
        .filter_map(move |((resource, _), posts)| Some((number(resource)?, posts)))
        .filter(move |(n, _)| watched.contains(*n))
}

fn wrong_points(points: &BTreeMap<(String, String), Points>, watched: Watched) -> Vec<String> {
    let mut wrong = Vec::new();
    for (n, posts) in posts(points, watched) {
        let watch = format!("{WATCH}{n}");
        for stream in COMPUTED {
            let stored = points.get(&(watch.clone(), stream.to_owned())).map_or(&[][..], |points| points);
            let expected = computed(stream, posts);
            let is_same = |(stored, expected): (&(i64, f64), &(i64, f64))| {
                stored.0 == expected.0 && (stored.1 - expected.1).abs() < 1e-9
            };
            if stored.len() != expected.len() || !stored.iter().zip(&expected).all(is_same) {
                let differs = stored.iter().zip(&expected).position(|both| !is_same(both));
                wrong.push(format!(
                    "{watch}, {stream}: {} points of {} posts; the first other one is {differs:?}",
                    stored.len(),
                    posts.len()
                ));
            }
        }
    }
    if posts(points, watched).next().is_none() {
        wrong.push("there are no points".to_owned());
    }
    wrong
}

/// The alerts of a rule for values above 0.5.
fn expected(points: &[(i64, f64)]) -> Alerts {
    let mut alerts = Alerts::new();
    for (time, value) in points {
        match (*value > 0.5, alerts.last_mut()) {
            (true, Some((_, None))) | (false, None | Some((_, Some(_)))) => {}
            (true, _) => alerts.push((*time, None)),
            (false, Some((_, cleared))) => *cleared = Some(*time),
        }
    }
    alerts
}

fn cleared(alerts: &[(i64, Option<i64>)]) -> usize {
    alerts.iter().filter(|(_, cleared)| cleared.is_some()).count()
}

async fn wrong_alerts(
    connection: &mut SqliteConnection,
    points: &BTreeMap<(String, String), Points>,
    watched: Watched,
    hook: &Hook,
) -> Result<Vec<String>, sqlx::Error> {
    let rows: Vec<(String, i64, Option<i64>)> =
        sqlx::query_as("SELECT label, opened, cleared FROM alerts ORDER BY id")
            .fetch_all(&mut *connection)
            .await?;
    let mut stored: BTreeMap<String, Alerts> = BTreeMap::new();
    for (rule, opened, cleared) in rows {
        stored.entry(rule).or_default().push((opened, cleared));
    }
    let (mut wrong, mut silent) = (Vec::new(), 0);
    // Of each owner, how many alerts are cleared, and how many of these are remembered.
    let mut histories: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    for (n, posts) in posts(points, watched) {
        let (all, remembered) = histories.entry(watched.owner(n)).or_default();
        let rules = [(format!("{WATCH}{n}"), "odd"), ("seldom".to_owned(), "seldom")];
        for (rule, stream) in rules.into_iter().filter(|(_, stream)| n == 0 || *stream != "seldom") {
            let expected = expected(&computed(stream, posts));
            let stored = stored.remove(&rule).unwrap_or_default();
            // The oldest that are cleared are forgotten, whichever rule's they are.
            if !expected.ends_with(&stored) {
                wrong.push(format!(
                    "rule {rule}: {} alerts, of {}, are others",
                    stored.len(),
                    expected.len()
                ));
            }
            *all += cleared(&expected);
            *remembered += cleared(&stored);
            if stream == "seldom" {
                wrong.extend(wrongly_told(&expected, hook));
            } else {
                silent += expected.len() + cleared(&expected);
            }
        }
    }
    for (owner, (all, remembered)) in histories {
        if remembered != all.min(HISTORY) || all == 0 {
            wrong.push(format!("{remembered} of {all} cleared alerts of owner {owner} are remembered"));
        }
    }
    wrong.extend(stored.keys().map(|rule| format!("alerts of {rule}, which is none")));
    // What there was no room for is counted.
    let sql = "SELECT sum(untold + (SELECT count(*) FROM outbox WHERE channel = channels.id)) FROM channels WHERE label = $1";
    let waiting: i64 = sqlx::query_scalar(sql).bind(NOBODY).fetch_one(connection).await?;
    if waiting != silent as i64 {
        wrong.push(format!("{waiting} messages wait, or were dropped and counted, instead of {silent}"));
    }
    Ok(wrong)
}

/// Whether each message has arrived, under one id however often.
fn wrongly_told(alerts: &[(i64, Option<i64>)], hook: &Hook) -> Vec<String> {
    let opened = alerts.iter().map(|(opened, _)| ("opened".to_owned(), *opened));
    let cleared = alerts.iter().filter_map(|(_, cleared)| Some(("cleared".to_owned(), (*cleared)?)));
    let expected: BTreeSet<_> = opened.chain(cleared).collect();
    let mut told: BTreeMap<(String, i64), BTreeSet<String>> = BTreeMap::new();
    for message in hook.messages() {
        let (event, time) = (message["event"].as_str().unwrap_or_default(), message["time"].as_i64());
        told.entry((event.to_owned(), time.unwrap_or_default()))
            .or_default()
            .insert(message["id"].to_string());
    }
    let mut wrong = Vec::new();
    for event in expected.iter().filter(|event| !told.contains_key(event)) {
        wrong.push(format!("{event:?} was told to nobody"));
    }
    for (event, ids) in told {
        if !expected.contains(&event) || ids.len() != 1 {
            wrong.push(format!("{event:?} was told by {} ids", ids.len()));
        }
    }
    if expected.is_empty() {
        wrong.push("there was nothing to be told".to_owned());
    }
    wrong
}

/// A rollup is of the points of an hour that are sorted by their streams, and older than what its stream has rolled up.
async fn wrong_rollups(connection: &mut SqliteConnection) -> Result<Vec<String>, sqlx::Error> {
    let sql = "WITH hours AS (
            SELECT stream, time / 3600000 * 3600000 AS start, count(*) AS points, sum(value) AS sum, min(value) AS lowest,
                max(value) AS highest, min(time) AS first_time, max(time) AS last_time
            FROM points_by_stream JOIN rolled_up USING (stream) WHERE time < until GROUP BY 1, 2)
        SELECT count(*), coalesce(sum(
            points IS NOT rollups.count OR abs(hours.sum - rollups.sum - remainder) > 1e-6
            OR hours.lowest <> rollups.lowest OR hours.highest <> rollups.highest
            OR hours.first_time <> rollups.first_time OR hours.last_time <> rollups.last_time
            OR first_value <> (SELECT value FROM points_by_stream sorted WHERE sorted.stream = hours.stream
                AND time = hours.first_time ORDER BY point LIMIT 1)
            OR last_value <> (SELECT value FROM points_by_stream sorted WHERE sorted.stream = hours.stream
                AND time = hours.last_time ORDER BY point DESC LIMIT 1)), 0)
        FROM hours FULL JOIN rollups USING (stream, start)";
    let (hours, wrong): (i64, i64) = sqlx::query_as(sql).fetch_one(connection).await?;
    println!("{hours} hours are rolled up");
    Ok(match (hours, wrong) {
        (0, _) => vec!["no hour is rolled up".to_owned()],
        (_, 0) => Vec::new(),
        _ => vec![format!("{wrong} of {hours} hours differ from their points")],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_odd_post_opens_and_an_even_one_clears() {
        let posts = [(10, 0.0), (20, 1.0), (30, 3.0), (40, 4.0), (50, 6.0), (60, 7.0)];
        let odd = computed("odd", &posts);
        assert_eq!(odd.iter().map(|(_, value)| *value).collect::<Vec<_>>(), [0.0, 1.0, 1.0, 0.0, 0.0, 1.0]);
        assert_eq!(expected(&odd), [(20, Some(40)), (60, None)]);
    }

    #[test]
    fn what_is_computed_is_of_the_latest_posts() {
        let posts: Points = (0..25).map(|n| (n, n as f64)).collect();
        assert_eq!(computed("lately", &posts)[24], (24, 19.5));
        assert_eq!(computed("lately", &posts)[1], (1, 0.5));
        assert_eq!(computed("both", &posts)[23], (23, 19.5));
        assert_eq!(expected(&computed("seldom", &posts)), [(20, None)]);
    }

    #[test]
    fn a_point_too_many_too_few_or_another_one_is_seen() {
        let posts: Points = (0..5).map(|n| (n, n as f64)).collect();
        let of = |resource: &str, stream: &str, points: &[(i64, f64)]| {
            ((resource.to_owned(), stream.to_owned()), points.to_vec())
        };
        let mut points: BTreeMap<_, _> =
            COMPUTED.map(|stream| of("watch-3", stream, &computed(stream, &posts))).into();
        points.extend([of("load-3", "temperature", &posts)]);
        let watched = Watched { devices: 6, every: 3 };
        assert_eq!(wrong_points(&points, watched), [] as [String; 0]);
        let odd = ("watch-3".to_owned(), "odd".to_owned());
        let good = points[&odd].clone();
        for wrong in [
            &good[1..],
            &[&good[..], &[(4, 0.0)]].concat(),
            &[(0, 1.0), (1, 1.0), (2, 0.0), (3, 1.0), (4, 0.0)],
        ] {
            points.insert(odd.clone(), wrong.to_vec());
            assert_eq!(wrong_points(&points, watched).len(), 1, "{wrong:?}");
        }
    }
}

//! What rules decide of what is posted, in a database.

mod of_texts;

use std::sync::Arc;

use proptest::prelude::*;
use sixlock_expression::Point;
use sixlock_ingest::{Reading, ValueType};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::alert_rows::{HISTORY, WAITING};
use crate::conditions::{Condition, Operator, Severity};
use crate::error::Error;
use crate::ids::{ResourceId, UserId};
use crate::journal::{Append, ClockLook, Commit, Idempotency, Journal, Sqlite};
use crate::resources::Device;
use crate::rules::NewRule;
use crate::store::Store;
use crate::{
    AlertState, ChannelKind, Computation, GIVEN_UP_AFTER_MS, InputReference, NewChannel, RetentionChange,
    pause_after,
};

/// A store with the user ann, whose resource `node` has the stream `t` and who has the webhook `ops`.
struct Bench {
    runtime: Runtime,
    store: Store,
    journal: Sqlite,
    ann: UserId,
    node: ResourceId,
    directory: TempDir,
}

impl Bench {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let directory = tempfile::tempdir().unwrap();
        let (store, ann, node) = runtime.block_on(async {
            let (store, _writer) = Store::open(directory.path()).await.unwrap();
            let ann = store.add_user("ann", "", "a long password".into(), false).await.unwrap().id;
            let node = store.enrol(ann, Device::named("node")).await.unwrap().resource.id;
            store.add_stream(node, ("t", Some("Cel"), ""), ValueType::Number).await.unwrap();
            let channel = NewChannel {
                label: "ops".into(),
                kind: ChannelKind::Webhook,
                address: "https://example.org/".into(),
                token: None,
            };
            store.add_channel(ann, channel).await.unwrap();
            (store, ann, node)
        });
        let path = directory.path().join("sixlock.db");
        let journal = Sqlite::open(&path, store.writer.clone(), store.outbox.clone()).unwrap();
        Self { runtime, store, journal, ann, node, directory }
    }

    fn rule(&self, label: &str, stream: Option<&str>, condition: Condition) -> Result<i64, Error> {
        let rule = NewRule {
            label: label.into(),
            severity: Severity::Critical,
            resource: "node".into(),
            stream: stream.map(str::to_owned),
            condition,
            channels: vec!["ops".into()],
            payload: Some("call Ann".into()),
            paused: false,
        };
        self.runtime.block_on(self.store.add_rule(self.ann, &rule)).map(|rule| rule.id.0)
    }

    fn append(&mut self, now: i64, posts: &[Append]) {
        let mut commit = Commit::default();
        self.journal.append(posts, now, &mut commit).unwrap();
        assert!(commit.results.iter().all(Result::is_ok), "{:?}", commit.results);
    }

    fn post(&mut self, now: i64, readings: &[(i64, f64)]) {
        let post = post(self.node, Idempotency::unique().unwrap(), readings);
        self.append(now, &[post]);
    }

    fn look(&mut self, now: i64) {
        self.journal.look_at_clock(ClockLook::Next, now).unwrap();
    }

    fn sql<T>(&self, sql: &'static str) -> Vec<T>
    where
        T: Send + Unpin + for<'r> sqlx::FromRow<'r, sqlx::sqlite::SqliteRow>,
    {
        self.runtime.block_on(sqlx::query_as(sql).fetch_all(&self.store.readers)).unwrap()
    }

    /// The alerts of a rule: when they were opened and cleared, and by which values.
    fn alerts(&self, rule: i64) -> Vec<Decided> {
        let all: Vec<AlertRow> =
            self.sql("SELECT rule, opened, opened_value, cleared, cleared_value FROM alerts ORDER BY id");
        let of_rule = all.into_iter().filter(|row| row.0 == rule);
        of_rule.map(|(_, opened, value, cleared, by)| (opened, value, cleared, by)).collect()
    }

    /// What waits in the outbox: events and times.
    fn waiting(&self) -> Vec<(String, i64)> {
        self.sql("SELECT event, time FROM outbox WHERE failed IS NULL ORDER BY id")
    }
}

type Decided = (i64, Option<f64>, Option<i64>, Option<f64>);

/// The rule, and what it decided.
type AlertRow = (i64, i64, Option<f64>, Option<i64>, Option<f64>);

fn post(resource: ResourceId, idempotency: Idempotency, readings: &[(i64, f64)]) -> Append {
    let reading =
        |&(time, value): &(i64, f64)| Reading { stream: "t".into(), unit: None, time, value: value.into() };
    Append { resource, idempotency, readings: readings.iter().map(reading).collect() }
}

fn above(operand: f64) -> Condition {
    Condition::Threshold { operator: Operator::Greater, operand: operand.into(), hysteresis: 0.0, hold_s: 0 }
}

/// What a rule decides of accepted points, written another way: what each point says by itself, then where that changes.
fn recomputed(condition: &Condition, points: &[Point]) -> Vec<Decided> {
    let in_time: Vec<Point> = points
        .iter()
        .enumerate()
        .filter(|(at, point)| points[..*at].iter().all(|before| before.time <= point.time))
        .map(|(_, point)| *point)
        .collect();
    let mut alerts: Vec<Decided> = Vec::new();
    let mut first_met = None;
    for (at, point) in in_time.iter().enumerate() {
        let is_open = alerts.last().is_some_and(|(.., cleared, _)| cleared.is_none());
        let is_met = match condition {
            Condition::Threshold { operand, hysteresis, .. } => {
                let operand = operand.number().unwrap();
                point.value > if is_open { operand - hysteresis } else { operand }
            }
            Condition::Change { by: None } => at > 0 && point.value != in_time[at - 1].value,
            Condition::Change { by: Some(by) } => {
                at > 0 && (point.value - in_time[at - 1].value).abs() >= *by
            }
            Condition::Silence { .. } => unreachable!("silence is not of readings"),
        };
        let hold = if let Condition::Threshold { hold_s, .. } = condition { hold_s * 1_000 } else { 0 };
        first_met = if is_met { first_met.or(Some(point.time)) } else { None };
        match first_met {
            None if is_open => {
                let open = alerts.last_mut().unwrap();
                (open.2, open.3) = (Some(point.time), Some(point.value));
            }
            Some(since) if !is_open && point.time - since >= hold => {
                alerts.push((point.time, Some(point.value), None, None));
            }
            _ => {}
        }
    }
    alerts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Posts come late, shuffled and twice, several in one commit.
    #[test]
    fn alerts_are_what_a_recomputation_from_the_accepted_points_gives(
        commits in prop::collection::vec(
            prop::collection::vec((prop::collection::vec((0..60i64, -3..4i64), 1..4), prop::bool::weighted(0.2)), 1..4),
            1..25,
        ),
    ) {
        let mut bench = Bench::new();
        let held = Condition::Threshold { operator: Operator::Greater, operand: 0.0.into(), hysteresis: 1.5, hold_s: 4 };
        let conditions = [above(0.0), held, Condition::Change { by: Some(3.0) }, Condition::Change { by: None }];
        let rules: Vec<i64> = conditions.iter().enumerate()
            .map(|(n, condition)| bench.rule(&format!("rule-{n}"), Some("t"), condition.clone()).unwrap())
            .collect();
        let mut sent: Vec<Append> = Vec::new();
        for (number, commit) in commits.iter().enumerate() {
            let mut posts = Vec::new();
            for (readings, is_repeated) in commit {
                let again = sent.get(number * 7 % sent.len().max(1)).filter(|_| *is_repeated).cloned();
                let readings: Vec<(i64, f64)> =
                    readings.iter().map(|(time, value)| (time * 1_000, *value as f64)).collect();
                let new = || post(bench.node, Idempotency::unique().unwrap(), &readings);
                posts.push(again.unwrap_or_else(new));
            }
            sent.extend(posts.iter().cloned());
            bench.append(60_000 + number as i64, &posts);
        }
        let points: Vec<(i64, f64)> = bench.sql("SELECT time, value FROM points ORDER BY id");
        let points: Vec<Point> = points.into_iter().map(|(time, value)| Point { time, value }).collect();
        let mut told = 0;
        for (rule, condition) in rules.into_iter().zip(&conditions) {
            let expected = recomputed(condition, &points);
            prop_assert_eq!(bench.alerts(rule), expected.clone(), "{:?} of {:?}", condition, points);
            told += expected.iter().map(|alert| 1 + usize::from(alert.2.is_some())).sum::<usize>();
        }
        // Each is told once, of which the newest wait and the others are counted.
        let untold: Vec<(i64,)> = bench.sql("SELECT untold FROM channels");
        let waiting: Vec<(Vec<u8>,)> = bench.sql("SELECT DISTINCT message FROM outbox");
        prop_assert_eq!(waiting.len(), told.min(WAITING as usize));
        prop_assert_eq!(untold[0].0, told.saturating_sub(WAITING as usize) as i64);
    }
}

#[test]
fn a_rule_begins_with_the_newest_point_and_what_is_late_decides_nothing() {
    let mut bench = Bench::new();
    bench.post(9_000, &[(1_000, 50.0), (2_000, 10.0)]);
    let rule = bench.rule("warm", Some("t"), above(30.0)).unwrap();
    bench.post(9_001, &[(1_500, 60.0)]);
    assert_eq!(bench.alerts(rule), []);
    bench.post(9_002, &[(3_000, 31.0)]);
    bench.post(9_003, &[(2_500, 10.0)]);
    assert_eq!(bench.alerts(rule), [(3_000, Some(31.0), None, None)], "a late reading cleared it");
    bench.post(9_004, &[(3_000, 30.0)]);
    bench.post(9_005, &[(2_900, 99.0)]);
    assert_eq!(
        bench.alerts(rule),
        [(3_000, Some(31.0), Some(3_000), Some(30.0))],
        "a late one opened it again"
    );
    let waiting: Vec<(String, String, String, String, Option<f64>)> =
        bench.sql("SELECT event, label, stream, payload, value FROM outbox ORDER BY id");
    let told = |event: &str, value| {
        (event.to_owned(), "warm".to_owned(), "t".to_owned(), "call Ann".to_owned(), Some(value))
    };
    assert_eq!(waiting, [told("opened", 31.0), told("cleared", 30.0)]);
}

#[test]
fn a_computed_point_is_judged_in_the_commit_of_the_post_that_it_comes_from() {
    let mut bench = Bench::new();
    bench.runtime.block_on(async {
        let t = InputReference { resource: None, stream: "t".into() };
        let computation = Computation {
            expression: "mean(t, \"10s\")".into(),
            time_zone: "UTC".into(),
            inputs: [("t".to_owned(), t)].into(),
        };
        let owned = (bench.ann, bench.node);
        bench.store.add_computed_stream(owned, ("mean", None, ""), &computation).await.unwrap();
    });
    let rule = bench.rule("warm", Some("mean"), above(30.0)).unwrap();
    bench.post(9_000, &[(1_000, 20.0), (2_000, 50.0)]);
    assert_eq!(bench.alerts(rule), [(2_000, Some(35.0), None, None)]);
    // A late reading changes the newest mean: that is a point that was accepted.
    bench.post(9_001, &[(1_500, 5.0)]);
    assert_eq!(bench.alerts(rule), [(2_000, Some(35.0), Some(2_000), Some(25.0))]);
}

#[test]
fn a_threshold_that_holds_opens_an_alert_by_the_clock_once() {
    let mut bench = Bench::new();
    let held = Condition::Threshold {
        operator: Operator::Greater,
        operand: 30.0.into(),
        hysteresis: 0.0,
        hold_s: 60,
    };
    let rule = bench.rule("warm", Some("t"), held).unwrap();
    bench.post(100_000, &[(1_000, 31.0)]);
    bench.post(130_000, &[(31_000, 32.0)]);
    bench.look(159_999);
    assert_eq!(bench.alerts(rule), []);
    // Whoever is started anew finds it in the database.
    let path = bench.directory.path().join("sixlock.db");
    bench.journal = Sqlite::open(&path, bench.store.writer.clone(), bench.store.outbox.clone()).unwrap();
    bench.journal.look_at_clock(ClockLook::First, 150_000).unwrap();
    for _ in 0..2 {
        bench.look(160_000);
        assert_eq!(bench.alerts(rule), [(160_000, Some(32.0), None, None)]);
    }
    bench.post(170_000, &[(61_000, 33.0)]);
    bench.post(171_000, &[(62_000, 30.0)]);
    assert_eq!(bench.alerts(rule), [(160_000, Some(32.0), Some(62_000), Some(30.0))]);
    // One that is over before the time is over opens nothing.
    bench.post(180_000, &[(70_000, 31.0)]);
    bench.post(190_000, &[(80_000, 30.0)]);
    bench.look(400_000);
    assert_eq!(bench.waiting(), [("opened".into(), 160_000), ("cleared".into(), 62_000)]);
}

#[test]
fn silence_is_told_after_so_many_usual_intervals_and_over_with_any_reading() {
    let mut bench = Bench::new();
    let of_node = Condition::Silence { periods: Some(3), after_s: None };
    let rule = bench.rule("quiet", None, of_node).unwrap();
    for n in 0..4 {
        bench.post(n * 60_000, &[(n, 1.0)]);
    }
    bench.look(180_000 + 179_999);
    assert_eq!(bench.alerts(rule), []);
    bench.look(180_000 + 180_000);
    bench.look(180_000 + 180_001);
    assert_eq!(bench.alerts(rule), [(360_000, None, None, None)]);
    // A late reading is one.
    bench.post(500_000, &[(-5, 1.0)]);
    assert_eq!(bench.alerts(rule), [(360_000, None, Some(500_000), Some(1.0))]);
    // While there was no cloud, nobody could be heard.
    bench.journal.look_at_clock(ClockLook::First, 9_000_000).unwrap();
    bench.look(9_000_000 + 179_999);
    assert_eq!(bench.alerts(rule).len(), 1);
    bench.look(9_000_000 + 180_000);
    assert_eq!(bench.alerts(rule).len(), 2);
}

#[test]
fn silence_goes_on_where_it_stood_when_the_cloud_ended() {
    const HOUR: i64 = 3_600_000;
    let mut bench = Bench::new();
    let of_node = Condition::Silence { periods: Some(3), after_s: None };
    let rule = bench.rule("quiet", None, of_node).unwrap();
    for n in 0..4 {
        bench.post(n * 24 * HOUR, &[(n, 1.0)]);
    }
    // Each night the cloud is away for an hour. Silence of three days is told all the same, so many hours later.
    let mut now = 72 * HOUR;
    for _ in 0..3 {
        now += 23 * HOUR;
        bench.look(now);
        assert_eq!(bench.alerts(rule), []);
        now += HOUR;
        bench.journal.look_at_clock(ClockLook::First, now).unwrap();
    }
    bench.look(now + 3 * HOUR - 1);
    assert_eq!(bench.alerts(rule), []);
    bench.look(now + 3 * HOUR);
    assert_eq!(bench.alerts(rule), [(now + 3 * HOUR, None, None, None)]);
}

#[test]
fn a_clock_that_is_ahead_hides_no_later_reading() {
    const DAY: i64 = 86_400_000;
    let mut bench = Bench::new();
    let rule = bench.rule("warm", Some("t"), above(30.0)).unwrap();
    bench.post(10_000, &[(DAY, 10.0)]);
    bench.post(20_000, &[(20_000, 31.0)]);
    assert_eq!(bench.alerts(rule), [(20_000, Some(31.0), None, None)]);
    // What an alert says of the time is what the reading says.
    bench.post(30_000, &[(DAY, 29.0)]);
    assert_eq!(bench.alerts(rule), [(20_000, Some(31.0), Some(DAY), Some(29.0))]);
    // Nor does one that was there before the rule.
    let rule = bench.rule("cold", Some("t"), Condition::Change { by: Some(1.0) }).unwrap();
    let now = crate::now_ms();
    bench.post(now, &[(now, 31.0)]);
    assert_eq!(bench.alerts(rule), [(now, Some(31.0), None, None)]);
}

#[test]
fn an_address_of_mail_is_told_nothing_before_it_is_confirmed() {
    let mut bench = Bench::new();
    let mail = NewChannel {
        label: "mail".into(),
        kind: ChannelKind::Email,
        address: "ann@example.org".into(),
        token: None,
    };
    let (channel, _) = bench.runtime.block_on(bench.store.add_channel(bench.ann, mail)).unwrap();
    assert!(!channel.confirmed);
    bench.rule("warm", Some("t"), above(30.0)).unwrap();
    bench.runtime.block_on(async {
        let rule = NewRule {
            label: "mailed".into(),
            severity: Severity::Warning,
            resource: "node".into(),
            stream: Some("t".into()),
            condition: above(30.0),
            channels: vec!["mail".into(), "ops".into()],
            payload: None,
            paused: false,
        };
        let rule = bench.store.add_rule(bench.ann, &rule).await.unwrap();
        assert_eq!(rule.channels, ["ops", "mail"]);
    });
    let code =
        |bench: &Bench| bench.sql::<(String,)>("SELECT code FROM channels WHERE label = 'mail'")[0].0.clone();
    let confirm =
        |bench: &Bench, code: &str| bench.runtime.block_on(bench.store.confirm_channel(channel.id, code));
    let of_mail = "SELECT event FROM outbox JOIN channels ON channels.id = channel WHERE channels.label = 'mail' ORDER BY outbox.id";
    bench.post(10_000, &[(1, 31.0)]);
    assert_eq!(bench.sql::<(String,)>(of_mail), [("confirm".to_owned(),)]);
    // After five wrong ones, none is right.
    let first = code(&bench);
    assert!(first.len() == 8 && first.bytes().all(|byte| byte.is_ascii_digit()), "{first}");
    for _ in 0..5 {
        assert!(!confirm(&bench, "wrong").unwrap());
    }
    assert!(!confirm(&bench, &first).unwrap());
    // Another is sent when the first was, and it is tested again.
    let message = bench.runtime.block_on(bench.store.messages()).unwrap();
    let message = message.into_iter().find(|message| message.event == "confirm").unwrap();
    assert_eq!(message.code.as_ref().map(|code| code.bytes().to_vec()), Some(first.clone().into_bytes()));
    bench.runtime.block_on(bench.store.sent(&message, 1, 2)).unwrap();
    let later = crate::now_ms() + 60_000;
    assert!(bench.runtime.block_on(bench.store.test_channel(channel.id, later)).unwrap());
    let second = code(&bench);
    assert_ne!(first, second);
    assert!(!confirm(&bench, &first).unwrap());
    assert!(confirm(&bench, &second).unwrap());
    bench.post(20_000, &[(2, 29.0)]);
    let events: Vec<(String,)> = bench.sql(of_mail);
    assert_eq!(events, [("confirm".to_owned(),), ("cleared".to_owned(),)]);
    let untold: Vec<(i64,)> = bench.sql("SELECT untold FROM channels WHERE label = 'mail'");
    assert_eq!(untold[0].0, 1);
    let shown = bench.runtime.block_on(bench.store.channel(bench.ann, "mail")).unwrap().unwrap();
    assert!(shown.confirmed);
    assert!(!format!("{shown:?}").contains(&second));
}

#[test]
fn silence_of_a_fixed_time_is_told_of_what_was_never_heard() {
    let mut bench = Bench::new();
    let rule =
        bench.rule("quiet", Some("t"), Condition::Silence { periods: None, after_s: Some(10) }).unwrap();
    let due: Vec<(i64,)> = bench.sql("SELECT due FROM rules");
    bench.look(due[0].0 - 1);
    assert_eq!(bench.alerts(rule), []);
    bench.look(due[0].0);
    assert_eq!(bench.alerts(rule), [(due[0].0, None, None, None)]);
}

#[test]
fn rules_on_a_frozen_stream_rest_and_silence_is_reckoned_anew_when_it_takes_points_again() {
    let mut bench = Bench::new();
    let silence = Condition::Silence { periods: None, after_s: Some(10) };
    let held = Condition::Threshold {
        operator: Operator::Greater,
        operand: 0.0.into(),
        hysteresis: 0.0,
        hold_s: 10,
    };
    let quiet = bench.rule("quiet", Some("t"), silence.clone()).unwrap();
    let warm = bench.rule("warm", Some("t"), held).unwrap();
    let node = bench.rule("node", None, silence).unwrap();
    bench.post(0, &[(0, 1.0)]);
    let stream = bench.runtime.block_on(bench.store.stream(bench.node, "t")).unwrap().unwrap().id;
    let freeze = |bench: &Bench, is_frozen, now| {
        let change = RetentionChange { is_frozen: Some(is_frozen), ..RetentionChange::default() };
        bench.runtime.block_on(bench.store.change_retention(stream, change, now)).unwrap();
    };
    freeze(&bench, true, 5_000);
    bench.look(60_000);
    assert_eq!((bench.alerts(quiet), bench.alerts(warm)), (vec![], vec![]));
    assert_eq!(bench.alerts(node).len(), 1, "the device is silent nevertheless");
    freeze(&bench, false, 70_000);
    bench.look(79_999);
    assert_eq!(bench.alerts(quiet), []);
    bench.look(80_000);
    assert_eq!(bench.alerts(quiet), [(80_000, None, None, None)]);
    assert_eq!(bench.alerts(warm), []);
    bench.post(90_000, &[(90_000, 1.0)]);
    assert_eq!(bench.alerts(warm).len(), 1, "between two readings the condition held");
}

#[test]
fn what_a_commit_opens_of_a_rule_has_a_limit_and_the_rest_is_counted() {
    let mut bench = Bench::new();
    let rule = bench.rule("wavers", Some("t"), above(0.0)).unwrap();
    let readings: Vec<(i64, f64)> = (0..200).map(|n| (n, (n % 2) as f64)).collect();
    bench.post(0, &readings);
    let alerts = bench.alerts(rule);
    assert_eq!((alerts.len(), alerts[0].0, alerts[15].0), (16, 169, 199));
    assert_eq!(alerts[15].2, None, "the last one is open");
    let untold: Vec<(i64,)> = bench.sql("SELECT untold FROM channels");
    assert_eq!((untold[0].0, bench.waiting().len()), (2 * 84, 31));
}

#[test]
fn history_and_outbox_have_limits_and_the_oldest_go() {
    let mut bench = Bench::new();
    let rule = bench.rule("wavers", Some("t"), above(0.0)).unwrap();
    for round in 0..70 {
        let readings: Vec<(i64, f64)> = (0..30).map(|n| (round * 30 + n, (n % 2) as f64)).collect();
        bench.post(round, &readings);
    }
    let alerts = bench.alerts(rule);
    assert_eq!(alerts.len() as i64, HISTORY + 1, "those that are cleared, and the open one");
    assert_eq!(alerts.last().unwrap().0, 70 * 30 - 1);
    let (waiting, untold) = (bench.waiting(), bench.sql::<(i64,)>("SELECT untold FROM channels")[0].0);
    assert_eq!(waiting.len() as i64, WAITING);
    assert_eq!(waiting.last().unwrap(), &("opened".to_owned(), 70 * 30 - 1));
    assert_eq!(waiting.len() as i64 + untold, 2 * 70 * 15 - 1);
}

#[test]
fn rules_and_channels_have_limits() {
    let bench = Bench::new();
    let is_full = |result: Result<i64, Error>| matches!(result, Err(Error::Full(_)));
    for n in 0..8 {
        bench.rule(&format!("rule-{n}"), Some("t"), above(0.0)).unwrap();
    }
    assert!(is_full(bench.rule("ninth", Some("t"), above(0.0))));
    assert!(matches!(bench.rule("rule-1", None, above(0.0)), Err(Error::Invalid(_))), "of no stream");
    bench.runtime.block_on(async {
        for n in 0..12 {
            bench
                .store
                .add_stream(bench.node, (&format!("s{n}"), None, ""), ValueType::Number)
                .await
                .unwrap();
        }
    });
    for n in 8..100 {
        bench.rule(&format!("rule-{n}"), Some(&format!("s{}", n % 12)), above(0.0)).unwrap();
    }
    assert!(is_full(bench.rule("more", None, Condition::Silence { periods: None, after_s: Some(9) })));
    bench.runtime.block_on(async {
        let channel = |n: usize| NewChannel {
            label: format!("channel-{n}"),
            kind: ChannelKind::Webhook,
            address: "https://example.org/".into(),
            token: None,
        };
        for n in 1..16 {
            bench.store.add_channel(bench.ann, channel(n)).await.unwrap();
        }
        let refused = bench.store.add_channel(bench.ann, channel(16)).await;
        assert!(matches!(refused, Err(Error::Full(_))), "{refused:?}");
    });
}

#[test]
fn a_rule_that_is_changed_or_deleted_has_no_alert_and_others_wait_no_longer() {
    let mut bench = Bench::new();
    let rule = bench.rule("warm", Some("t"), above(30.0)).unwrap();
    bench.post(0, &[(1, 31.0)]);
    assert_eq!(bench.alerts(rule)[0].2, None);
    bench.runtime.block_on(async {
        let (store, ann) = (&bench.store, bench.ann);
        let page = (10, 0);
        let open = store.alerts(ann, Some(AlertState::Open), page).await.unwrap();
        let acknowledged = store.acknowledge(open[0].id, "ann", 5).await.unwrap();
        assert_eq!((acknowledged.state, acknowledged.acknowledged), (AlertState::Acknowledged, Some(5)));
        let again = store.acknowledge(open[0].id, "bob", 6).await.unwrap();
        assert_eq!(again.acknowledged_by.as_deref(), Some("ann"), "who did so first");
        let rule = store.rule(ann, "warm").await.unwrap().unwrap();
        store.delete_rule(rule.id).await.unwrap();
        let cleared = store.alerts(ann, Some(AlertState::Cleared), page).await.unwrap();
        assert_eq!(cleared.len(), 1);
        assert!(matches!(store.acknowledge(open[0].id, "ann", 7).await, Err(Error::Invalid(_))));
    });
    // The journal notices that the rule is gone, and what a new one says.
    bench.post(1, &[(2, 20.0)]);
    let rule = bench.rule("cold", Some("t"), above(10.0)).unwrap();
    bench.post(2, &[(3, 21.0)]);
    assert_eq!(bench.alerts(rule), [(3, Some(21.0), None, None)]);
    bench.runtime.block_on(async { bench.store.delete_stream(crate::StreamId(1)).await.unwrap() });
    assert!(bench.alerts(rule)[0].2.is_some());
}

#[test]
fn a_rule_that_is_paused_opens_no_alert_and_begins_anew_when_it_goes_on() {
    let mut bench = Bench::new();
    let warm = bench.rule("warm", Some("t"), above(30.0)).unwrap();
    let after_ten_seconds = Condition::Silence { periods: None, after_s: Some(10) };
    let quiet = bench.rule("quiet", Some("t"), after_ten_seconds.clone()).unwrap();
    bench.post(0, &[(1, 31.0)]);
    assert_eq!(bench.alerts(warm).len(), 1);
    let set = |bench: &Bench, label: &str, condition: &Condition, paused| {
        let (stream, channels) = (Some("t".into()), vec!["ops".into()]);
        let rule = NewRule {
            label: label.into(),
            severity: Severity::Critical,
            resource: "node".into(),
            stream,
            condition: condition.clone(),
            channels,
            payload: None,
            paused,
        };
        bench.runtime.block_on(async {
            let id = bench.store.rule(bench.ann, label).await.unwrap().unwrap().id;
            bench.store.replace_rule(bench.ann, id, &rule).await.unwrap()
        })
    };
    assert!(set(&bench, "warm", &above(30.0), true).paused);
    assert_eq!(set(&bench, "quiet", &after_ten_seconds, true).due, None);
    let told = bench.waiting().len();
    bench.post(10, &[(2, 29.0), (3, 32.0)]);
    bench.look(i64::MAX);
    assert!(bench.alerts(warm)[0].2.is_some(), "what was open is cleared");
    assert_eq!((bench.alerts(warm).len(), bench.alerts(quiet).len()), (1, 0));
    assert_eq!(bench.waiting().len(), told, "nothing is told");

    assert!(!set(&bench, "warm", &above(30.0), false).paused);
    assert!(set(&bench, "quiet", &after_ten_seconds, false).due.is_some());
    bench.post(20, &[(4, 33.0)]);
    assert_eq!(bench.alerts(warm).len(), 2);
}

#[test]
fn a_channel_that_fails_pauses_longer_and_longer_and_gives_up_after_a_day() {
    let mut bench = Bench::new();
    bench.rule("warm", Some("t"), above(30.0)).unwrap();
    bench.post(0, &[(1, 31.0), (2, 30.0)]);
    // The messages were made at 0, so a day after that is the virtual time of their end.
    let (mut now, mut pauses, mut given_up) = (0, Vec::new(), 0);
    bench.runtime.block_on(async {
        let store = &bench.store;
        let mut ids = std::collections::BTreeSet::new();
        while let Some(message) = store.messages().await.unwrap().pop() {
            now = now.max(message.next_try.min(GIVEN_UP_AFTER_MS * 2));
            if pauses.is_empty() {
                now = 0;
            }
            ids.insert(message.id.clone());
            let pause = pause_after(message.failures, 0);
            pauses.push(pause);
            given_up += store.not_told(&message, "nobody answers", now, now + pause).await.unwrap();
        }
        assert_eq!((ids.len(), given_up), (2, 2), "both were tried, and given up");
        assert!((GIVEN_UP_AFTER_MS..GIVEN_UP_AFTER_MS + 15 * 60_000).contains(&now));
        let channel = store.channel(bench.ann, "ops").await.unwrap().unwrap();
        assert_eq!((channel.waiting, channel.given_up), (0, 2));
        assert_eq!(channel.last_error.as_deref(), Some("nobody answers"));
        assert!(store.test_channel(channel.id, now + 60_000).await.unwrap());
        assert!(!store.test_channel(channel.id, now + 90_000).await.unwrap(), "one waits");
        let test = store.messages().await.unwrap().pop().unwrap();
        assert_eq!((&*test.event, test.failures), ("test", pauses.len() as i64));
        store.sent(&test, now + 60_000, now + 61_000).await.unwrap();
        let channel = store.channel(bench.ann, "ops").await.unwrap().unwrap();
        assert_eq!((channel.failures, channel.last_error, channel.waiting), (0, None, 0));
        assert!(!store.test_channel(channel.id, now + 69_999).await.unwrap(), "less than 10 s ago");
    });
    assert_eq!(pauses[..9], [5, 10, 20, 40, 80, 160, 320, 640, 900].map(|seconds| seconds * 1_000));
    assert!(pauses[9..].iter().all(|pause| *pause == 900_000));
    assert_eq!(pause_after(0, u8::MAX), 6_250);
    assert_eq!(pause_after(i64::MAX, u8::MAX), 1_125_000);
}

#[test]
fn what_is_told_says_how_much_was_not() {
    let mut bench = Bench::new();
    bench.rule("wavers", Some("t"), above(0.0)).unwrap();
    let readings: Vec<(i64, f64)> = (0..200).map(|n| (n, (n % 2) as f64)).collect();
    bench.post(0, &readings);
    bench.runtime.block_on(async {
        let message = bench.store.messages().await.unwrap().pop().unwrap();
        assert_eq!((message.untold, message.secret.is_some()), (168, true));
        bench.store.sent(&message, 1, 2).await.unwrap();
        let next = bench.store.messages().await.unwrap().pop().unwrap();
        assert_eq!((next.untold, next.next_try), (0, 2));
        assert_ne!(next.id, message.id);
    });
}

#[test]
fn an_outbox_that_is_filled_wakes_who_tells() {
    let mut bench = Bench::new();
    bench.rule("warm", Some("t"), above(30.0)).unwrap();
    bench.post(0, &[(1, 31.0)]);
    let store: Arc<Store> = bench.store.clone().into();
    bench.runtime.block_on(store.outbox_filled());
}

//! Rules that compare texts and truth values.

use sixlock_ingest::Value;

use super::*;

/// What a rule decided: when and by which values an alert was opened and cleared.
type Shown = (i64, Option<Value>, Option<i64>, Option<Value>);

/// A reading of the stream `stream`.
fn reading(stream: &str, time: i64, value: impl Into<Value>) -> Reading {
    Reading { stream: stream.into(), unit: None, time, value: value.into() }
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

fn compare(operator: Operator, operand: Value, hold_s: i64) -> Condition {
    Condition::Threshold { operator, operand, hysteresis: 0.0, hold_s }
}

impl Bench {
    /// One whose resource has the streams `door` of texts and `on` of truth values besides.
    fn of_types() -> Self {
        let bench = Self::new();
        for (label, value_type) in [("door", ValueType::Text), ("on", ValueType::Boolean)] {
            let stream = bench.store.add_stream(bench.node, (label, None, ""), value_type);
            bench.runtime.block_on(stream).unwrap();
        }
        bench
    }

    fn post_all(&mut self, now: i64, readings: Vec<Reading>) {
        let post = Append { resource: self.node, idempotency: Idempotency::unique().unwrap(), readings };
        self.append(now, &[post]);
    }

    /// The alerts of a rule as their owner is shown them, the oldest first.
    fn shown(&self, rule: i64) -> Vec<Shown> {
        let alerts = self.runtime.block_on(self.store.alerts(self.ann, None, (i64::MAX, 0))).unwrap();
        let of_rule = alerts.into_iter().rev().filter(|alert| alert.rule.0 == rule);
        of_rule.map(|alert| (alert.opened, alert.opened_value, alert.cleared, alert.cleared_value)).collect()
    }

    /// The next process opens the same database.
    fn start_anew(&mut self) {
        let path = self.directory.path().join("sixlock.db");
        self.journal = Sqlite::open(&path, self.store.writer.clone(), self.store.outbox.clone()).unwrap();
    }
}

/// What a rule decides of accepted points, written another way: what each says by itself and beside the one before, then where that changes.
fn recomputed(
    points: &[(i64, Value)],
    hold: i64,
    is_met: impl Fn(&Value, Option<&Value>) -> bool,
) -> Vec<Shown> {
    let in_time: Vec<_> = (0..points.len())
        .filter(|at| points[..*at].iter().all(|before| before.0 <= points[*at].0))
        .map(|at| points[at].clone())
        .collect();
    let mut alerts: Vec<Shown> = Vec::new();
    let mut first_met = None;
    for (at, (time, value)) in in_time.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| &in_time[before].1);
        first_met = is_met(value, before).then(|| first_met.unwrap_or(*time));
        let open = alerts.last_mut().filter(|alert| alert.2.is_none());
        match (first_met, open) {
            (None, Some(open)) => (open.2, open.3) = (Some(*time), Some(value.clone())),
            (Some(since), None) if time - since >= hold => {
                alerts.push((*time, Some(value.clone()), None, None));
            }
            _ => {}
        }
    }
    alerts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Posts come late, shuffled and twice, several in one commit, and the process ends between commits.
    #[test]
    fn alerts_of_texts_are_what_a_recomputation_from_the_accepted_points_gives(
        commits in prop::collection::vec(
            (prop::collection::vec(
                (prop::collection::vec((0..60i64, 0..3usize, any::<bool>()), 1..4), prop::bool::weighted(0.2)), 1..4,
            ), prop::bool::weighted(0.2)),
            1..20,
        ),
    ) {
        const TEXTS: [&str; 3] = ["open", "closed", ""];
        let mut bench = Bench::of_types();
        let change = || Condition::Change { by: None };
        let conditions = [
            ("door", compare(Operator::Equal, text("open"), 0)),
            ("door", compare(Operator::NotEqual, text("closed"), 4)),
            ("door", change()),
            ("on", compare(Operator::Equal, Value::Boolean(true), 4)),
            ("on", compare(Operator::NotEqual, Value::Boolean(true), 0)),
            ("on", change()),
        ];
        let rules: Vec<i64> = conditions.iter().enumerate()
            .map(|(n, (stream, condition))| {
                bench.rule(&format!("rule-{n}"), Some(stream), condition.clone()).unwrap()
            })
            .collect();
        let mut sent: Vec<Append> = Vec::new();
        for (number, (commit, is_ended)) in commits.iter().enumerate() {
            let mut posts = Vec::new();
            for (readings, is_repeated) in commit {
                let again = sent.get(number * 7 % sent.len().max(1)).filter(|_| *is_repeated).cloned();
                let readings = readings.iter().flat_map(|(time, which, is_on)| {
                    let time = time * 1_000;
                    [reading("door", time, text(TEXTS[*which])), reading("on", time, Value::Boolean(*is_on))]
                });
                let new = || Append {
                    resource: bench.node,
                    idempotency: Idempotency::unique().unwrap(),
                    readings: readings.collect(),
                };
                posts.push(again.unwrap_or_else(new));
            }
            sent.extend(posts.iter().cloned());
            bench.append(60_000 + number as i64, &posts);
            if *is_ended {
                bench.start_anew();
            }
        }
        let stored: Vec<(String, i64, f64, Option<String>)> = bench.sql(
            "SELECT label, time, value, texts.text FROM points JOIN streams ON streams.id = stream
             LEFT JOIN texts ON value_type = 'text' AND texts.id = CAST(value AS INTEGER) ORDER BY points.id",
        );
        let of = |wanted: &str| -> Vec<(i64, Value)> {
            let those = stored.iter().filter(|(label, ..)| label == wanted);
            those
                .map(|(_, time, number, text)| {
                    (*time, text.clone().map_or(Value::Boolean(*number != 0.0), Value::Text))
                })
                .collect()
        };
        let expected = [
            recomputed(&of("door"), 0, |value, _| *value == text("open")),
            recomputed(&of("door"), 4_000, |value, _| *value != text("closed")),
            recomputed(&of("door"), 0, |value, before| before.is_some_and(|before| before != value)),
            recomputed(&of("on"), 4_000, |value, _| *value == Value::Boolean(true)),
            recomputed(&of("on"), 0, |value, _| *value == Value::Boolean(false)),
            recomputed(&of("on"), 0, |value, before| before.is_some_and(|before| before != value)),
        ];
        for ((rule, expected), (stream, condition)) in rules.into_iter().zip(expected).zip(&conditions) {
            prop_assert_eq!(bench.shown(rule), expected, "{:?} of {:?}", condition, of(stream));
        }
    }
}

#[test]
fn a_text_that_holds_opens_an_alert_by_the_clock_which_tells_it_and_outlives_its_point() {
    let mut bench = Bench::of_types();
    let rule = bench.rule("ajar", Some("door"), compare(Operator::NotEqual, text("closed"), 60)).unwrap();
    bench.post_all(100_000, vec![reading("door", 1_000, text("open"))]);
    bench.look(159_999);
    assert_eq!(bench.shown(rule), []);
    bench.start_anew();
    bench.look(160_000);
    assert_eq!(bench.shown(rule), [(160_000, Some(text("open")), None, None)]);
    let message = bench.runtime.block_on(bench.store.messages()).unwrap().remove(0);
    assert_eq!((&*message.event, message.value), ("opened", Some(text("open"))));
    let door = bench.runtime.block_on(bench.store.stream(bench.node, "door")).unwrap().unwrap().id;
    bench.runtime.block_on(bench.store.delete_points(door, None, None)).unwrap();
    assert_eq!(bench.shown(rule)[0].1, Some(text("open")));
    bench.post_all(170_000, vec![reading("door", 2_000, text("closed"))]);
    assert_eq!(bench.shown(rule), [(160_000, Some(text("open")), Some(2_000), Some(text("closed")))]);
}

#[test]
fn a_rule_of_texts_begins_with_the_newest_text_and_silence_tells_what_came() {
    let mut bench = Bench::of_types();
    bench.post_all(9_000, vec![reading("door", 1_000, text("open")), reading("door", 2_000, text("closed"))]);
    let change = bench.rule("moved", Some("door"), Condition::Change { by: None }).unwrap();
    let is_open = bench.rule("open", Some("door"), compare(Operator::Equal, text("open"), 0)).unwrap();
    let quiet = bench.rule("quiet", Some("door"), Condition::Silence { periods: None, after_s: Some(60) });
    let quiet = quiet.unwrap();
    bench.post_all(9_001, vec![reading("door", 1_500, text("open"))]);
    bench.post_all(9_002, vec![reading("door", 3_000, text("closed"))]);
    assert_eq!((bench.shown(change), bench.shown(is_open)), (vec![], vec![]), "the same as before, or late");
    bench.look(9_002 + 60_000);
    bench.post_all(80_000, vec![reading("door", 4_000, text("open"))]);
    assert_eq!(bench.shown(change), [(4_000, Some(text("open")), None, None)]);
    assert_eq!(bench.shown(is_open), [(4_000, Some(text("open")), None, None)]);
    assert_eq!(bench.shown(quiet), [(69_002, None, Some(80_000), Some(text("open")))]);
}

#[test]
fn what_a_rule_compares_is_of_the_type_of_its_stream() {
    let bench = Bench::of_types();
    let boolean = Value::Boolean;
    let hysteresis =
        |operator, operand: Value| Condition::Threshold { operator, operand, hysteresis: 1.0, hold_s: 0 };
    let long = |length| text(&"x".repeat(length));
    let known = [
        ("t", compare(Operator::NotEqual, 30.0.into(), 0)),
        ("t", Condition::Change { by: None }),
        ("door", compare(Operator::Equal, long(160), 60)),
        ("door", compare(Operator::NotEqual, text(""), 0)),
        ("door", Condition::Change { by: None }),
        ("on", compare(Operator::Equal, boolean(false), 0)),
        // As before there were rules of truth values.
        ("on", hysteresis(Operator::Greater, 0.5.into())),
        ("on", Condition::Change { by: Some(1.0) }),
    ];
    for (n, (stream, condition)) in known.iter().enumerate() {
        let label = format!("rule-{n}");
        bench.rule(&label, Some(stream), condition.clone()).unwrap();
        let rule = bench.runtime.block_on(bench.store.rule(bench.ann, &label)).unwrap().unwrap();
        assert_eq!(rule.condition, *condition, "it is read as it was written");
    }
    for (stream, condition, why) in [
        ("t", compare(Operator::Equal, text("30"), 0), "operand is no number"),
        ("t", compare(Operator::Equal, boolean(true), 0), "operand is no number"),
        ("door", compare(Operator::Equal, 30.0.into(), 0), "operand is no text"),
        ("door", compare(Operator::Equal, boolean(true), 0), "operand is no text"),
        ("on", compare(Operator::Equal, text("true"), 0), "neither true nor false"),
        ("door", compare(Operator::Greater, text("open"), 0), "by = and != alone"),
        ("on", compare(Operator::LessOrEqual, boolean(true), 0), "by = and != alone"),
        ("door", hysteresis(Operator::Equal, text("open")), "hysteresis is of numbers"),
        ("on", hysteresis(Operator::Equal, boolean(true)), "hysteresis is of numbers"),
        ("t", hysteresis(Operator::NotEqual, 30.0.into()), "not of !="),
        ("door", compare(Operator::Equal, long(161), 0), "160 characters"),
        ("door", compare(Operator::Equal, text("a\nb"), 0), "control characters"),
        ("door", Condition::Change { by: Some(1.0) }, "leave by out"),
    ] {
        let refused = bench.rule("refused", Some(stream), condition.clone());
        let Err(Error::Invalid(said)) = refused else { panic!("{condition:?}: {refused:?}") };
        assert!(said.contains(why), "{condition:?}: {said}");
    }
}

//! Expressions: what they mean, which are refused and how, and that none of them panics or takes long.

use proptest::prelude::*;
use sixlock_expression::*;

const SECOND: i64 = 1_000;
const NOON: i64 = 1_800_014_400_000;
/// A quarter of a minute before a day ends.
const LATE: i64 = NOON + 12 * 3_600_000 - 15 * SECOND;

fn expression(source: &str, inputs: &[&str]) -> Expression {
    Expression::new(source, inputs, "UTC").unwrap_or_else(|error| panic!("{source}: {error}"))
}

fn points(points: &[(i64, f64)]) -> Vec<Point> {
    points.iter().map(|&(time, value)| Point { time, value }).collect()
}

/// What `source` is at `at` over those of the inputs t and u that it uses.
fn value(source: &str, at: i64, t: &[Point], u: &[Point]) -> Option<f64> {
    let both = Expression::new(source, &["t", "u"], "UTC").map(|both| both.evaluate(at, &[t, u]));
    let one = |name, points| Expression::new(source, &[name], "UTC").map(|one| one.evaluate(at, &[points]));
    let found = both.or_else(|_| one("t", t)).or_else(|_| one("u", u));
    found.unwrap_or_else(|error| panic!("{source}: {error}")).value
}

#[test]
fn numbers_operators_and_functions_mean_what_they_mean_elsewhere() {
    let (t, u) = (points(&[(1, 3.0)]), points(&[(2, 4.0)]));
    for (source, expected) in [
        ("t", Some(3.0)),
        ("t + u * 2", Some(11.0)),
        ("(t + u) * 2", Some(14.0)),
        ("t - u - 1", Some(-2.0)),
        ("1 / 2 * t", Some(1.5)),
        ("-t * -u", Some(12.0)),
        ("7 % u + t * 0", Some(3.0)),
        ("1.5e1 + t", Some(18.0)),
        (".5 * t", Some(1.5)),
        ("t < u", Some(1.0)),
        ("t >= u", Some(0.0)),
        ("t == 3 && u != 3", Some(1.0)),
        ("t > 3 || u > 3", Some(1.0)),
        ("!(t > 3)", Some(1.0)),
        ("t < u == 1", Some(1.0)),
        ("if(t > 3, t, u)", Some(4.0)),
        ("sqrt(t * t + u * u)", Some(5.0)),
        ("abs(t - u)", Some(1.0)),
        ("pow(t, 2)", Some(9.0)),
        ("round(t / 2) + floor(t / 2) + ceil(t / 2)", Some(5.0)),
        ("ln(exp(t))", Some(3.0)),
        ("log10(1000 * t / 3)", Some(3.0)),
        ("mean(t, u)", Some(3.5)),
        ("min(t, u) + max(t, u) + sum(t, u)", Some(14.0)),
        ("median(t, u, 100)", Some(4.0)),
        // What is no number is no value.
        ("t / 0", None),
        ("sqrt(-t)", None),
        ("ln(0 * t)", None),
        ("pow(10, 400) * t", None),
        ("coalesce(t / 0, u)", Some(4.0)),
        ("max(t / 0, u)", Some(4.0)),
        ("t / 0 > u", None),
        ("if(sqrt(-t) < u, t, u)", None),
    ] {
        assert_eq!(value(source, 10, &t, &u), expected, "{source}");
    }
}

#[test]
fn before_the_first_point_of_an_input_there_is_no_value_but_where_another_will_do() {
    let t = points(&[(5, 3.0)]);
    assert_eq!(value("t", 4, &t, &[]), None);
    assert_eq!(value("t", 5, &t, &[]), Some(3.0));
    assert_eq!(value("t + u", 5, &t, &[]), None);
    assert_eq!(value("coalesce(u, t)", 5, &t, &[]), Some(3.0));
    // The mean of those that there are, as the original has it.
    assert_eq!(value("mean(t, u)", 5, &t, &[]), Some(3.0));
    assert_eq!(value("mean(t, u)", 4, &t, &[]), None);
    assert_eq!(value("t > 5 && u", 5, &t, &[]), Some(0.0), "what does not matter need not be there");
}

#[test]
fn windows_hold_the_points_of_a_time_of_a_day_or_of_a_number() {
    let t = points(&[
        (NOON - 20 * SECOND, 1.0),
        (NOON - 10 * SECOND, 2.0),
        (NOON - 5 * SECOND, 4.0),
        (NOON, 9.0),
        (NOON + 1, 100.0),
    ]);
    for (source, expected) in [
        // It holds what is less than ten seconds old.
        ("mean(t, \"10s\")", Some(6.5)),
        ("mean(t, '11s')", Some(5.0)),
        ("min(t, \"1m\")", Some(1.0)),
        ("max(t, \"1m\")", Some(9.0)),
        ("sum(t, \"3 points\")", Some(15.0)),
        ("median(t, \"1m\")", Some(3.0)),
        ("median(t, \"3 points\")", Some(4.0)),
        ("count(t, \"day\")", Some(4.0)),
        ("delta(t)", Some(5.0)),
        ("delta(t, \"1m\")", Some(8.0)),
        ("rate(t)", Some(1.0)),
        ("rate(t, \"1m\")", Some(0.4)),
        ("age(t)", Some(0.0)),
        ("delta(t, \"1s\")", None),
        ("smooth(t, \"2 points\")", Some(0.3 * 4.0 + 0.7 * 9.0)),
        ("meansmooth(t, 2)", Some(6.5)),
        ("meansmooth(t)", Some(4.0)),
    ] {
        assert_eq!(value(source, NOON, &t, &[]), expected, "{source}");
    }
    assert_eq!(value("age(t)", NOON + 2_501, &t, &[]), Some(2.5));
    assert_eq!(value("count(t, \"1s\")", NOON - 60 * SECOND, &t, &[]), Some(0.0), "none is a number, too");
    assert_eq!(value("mean(t, u, \"10s\")", NOON, &t, &points(&[(NOON, 2.0)])), Some(5.0));
}

#[test]
fn the_functions_of_sicsth_sense_are_there() {
    let ramp: Vec<Point> = (0..20).map(|n| Point { time: n, value: n as f64 }).collect();
    let smooth = (11..20).fold(10.0, |smoothed, n| 0.3 * smoothed + 0.7 * f64::from(n));
    assert_eq!(value("smooth(t)", 19, &ramp, &[]), Some(smooth));
    assert_eq!(value("meansmooth(t)", 19, &ramp, &[]), Some(14.5));
    let intensity = expression("intensity(x, y, z)", &["x", "y", "z"]);
    let of = |x, y, z| {
        let inputs = [x, y, z].map(|value| [Point { time: 0, value }]);
        intensity.evaluate(0, &[&inputs[0], &inputs[1], &inputs[2]]).value.unwrap()
    };
    assert_eq!((of(0.0, 0.0, 10.0), of(0.0, 0.0, 0.0)), (0.0, 0.0));
    assert_eq!((of(12.0, 0.0, 0.0), of(0.0, -28.0, 0.0)), (50.0, 90.0));
    assert!(of(1e9, 1e9, 1e9) <= 100.0);
}

#[test]
fn days_are_those_of_the_time_zone() {
    const HOUR: i64 = 3_600_000;
    let midnight = NOON - 12 * HOUR;
    let each_hour: Vec<Point> =
        (-48..24).map(|hour| Point { time: midnight + hour * HOUR, value: 1.0 }).collect();
    for (zone, count) in [("UTC", 13.0), ("+02:00", 15.0), ("-13:00", 24.0), ("Asia/Tokyo", 22.0)] {
        let expression = Expression::new("count(t, 'day')", &["t"], zone).unwrap();
        assert_eq!(expression.evaluate(NOON, &[&each_hour]).value, Some(count), "{zone}");
    }
}

#[test]
fn what_is_wrong_is_said_in_a_sentence_with_its_place() {
    for (source, said) in [
        ("", "character 1: a number, an input or a function is expected here, not the end"),
        ("t +", "character 4: a number, an input or a function is expected here, not the end"),
        ("t t", "character 3: an operator or the end is expected here, not t"),
        ("(t", "character 3: ) is expected here, not the end"),
        ("t + x", "character 5: there is no input x, but t"),
        ("t = 1", "character 3: an operator or the end is expected here, not ="),
        ("t; 1", "character 2: ';' means nothing here"),
        ("é + t", "character 1: 'é' means nothing here"),
        ("1.2.3 + t", "character 1: \"1.2.3\" is not a number"),
        ("1e999 * t", "character 1: \"1e999\" is not a number"),
        ("0x10 + t", "character 1: \"0x10\" is not a number"),
        ("mean(t, \"10m)", "character 9: a second \" is missing"),
        ("mean(t, \"10y\")", "character 9: a window is a time"),
        ("mean(t, \"32d\")", "character 9: a window is not empty, and not longer than 31 days"),
        ("mean(t + 1, \"10m\")", "character 1: before a window, mean takes names of inputs and nothing else"),
        ("mean(\"10m\")", "character 1: before a window, mean takes names of inputs and nothing else"),
        ("mean()", "character 1: mean needs an input or a number"),
        ("mean(t, )", "character 9: a number, an input or a function is expected here, not )"),
        ("mean(t 1)", "character 8: a comma or ) is expected here, not 1"),
        ("count(t)", "character 1: count needs a window: write count(input, \"10m\")"),
        ("delta(1)", "character 1: write delta(input) or delta(input, window)"),
        ("delta(t, 3)", "character 1: write delta(input) or delta(input, window)"),
        ("meansmooth(t, 0)", "character 1: a window has 1 to 10000 points"),
        ("age(t, \"10m\")", "character 1: age has no window"),
        ("sqrt(t, 2)", "character 1: sqrt takes one number, not 2"),
        ("pow(t)", "character 1: pow takes two numbers, not 1"),
        ("if(t, 1)", "character 1: write if(condition, then, else)"),
        ("sqrt(\"t\")", "character 6: sqrt takes no text here"),
        ("coalesce()", "character 1: coalesce needs a number"),
        ("eval(t)", "character 1: there is no function eval, but abs, "),
        ("1 + 1", "the expression does not use the input t"),
    ] {
        let found = Expression::new(source, &["t"], "UTC").unwrap_err().to_string();
        assert!(found.starts_with(said), "{source}: {found}");
    }
    for (inputs, said) in [
        (&[][..], "a computed stream has 1 to 16 inputs"),
        (&["t"; 17], "a computed stream has 1 to 16 inputs"),
        (&["t", "t"], "two inputs are named t"),
        (&["1t"], "\"1t\" cannot name an input"),
        (&["a b"], "\"a b\" cannot name an input"),
        (&[""], "\"\" cannot name an input"),
        (&["é"], "\"é\" cannot name an input"),
    ] {
        let found = Expression::new("t", inputs, "UTC").unwrap_err().to_string();
        assert!(found.starts_with(said), "{inputs:?}: {found}");
    }
}

#[test]
fn what_would_be_much_work_is_refused() {
    let refused = |source: String| Expression::new(&source, &["t"], "UTC").unwrap_err().to_string();
    assert!(refused(" ".repeat(1_025)).contains("at most 1024 bytes"));
    assert!(refused(format!("{}t{}", "(".repeat(33), ")".repeat(33))).contains("more than 32 brackets"));
    assert!(refused("-".repeat(1_000)).contains("more than 32 brackets"));
    assert!(refused(format!("{}t", "t+".repeat(501))).contains("at most 1000 operations"));
    assert!(refused(format!("{}t", "rate(t)+".repeat(17))).contains("at most 16 windows"));
    // What is just within the limits is taken.
    expression(&format!("{}t{}", "(".repeat(32), ")".repeat(32)), &["t"]);
    expression(&format!("{}t", "t+".repeat(499)), &["t"]);
    expression(&format!("{}t", "rate(t)+".repeat(16)), &["t"]);
    // A window of too many points has no value.
    let many: Vec<Point> = (0..=POINTS_PER_WINDOW as i64).map(|time| Point { time, value: 1.0 }).collect();
    let whole = expression("sum(t, \"1h\")", &["t"]);
    assert_eq!(whole.evaluate(many.len() as i64 - 1, &[&many]).value, None);
    let but_one = many.len() as i64 - 2;
    assert_eq!(whole.evaluate(but_one, &[&many]).value, Some(POINTS_PER_WINDOW as f64));
}

/// Expressions that are well formed over the inputs t and u, and both used.
fn well_formed() -> impl Strategy<Value = String> {
    let window = prop_oneof![
        (1..30i64).prop_map(|seconds| format!("{seconds}s")),
        (1..5usize).prop_map(|points| format!("{points} points")),
        Just("day".to_owned()),
    ];
    let input = prop_oneof![Just("t"), Just("u")];
    let leaf = prop_oneof![
        (-20..20i32).prop_map(|number| format!("{number}")),
        input.clone().prop_map(str::to_owned),
        (
            prop_oneof![Just("mean"), Just("max"), Just("median"), Just("count"), Just("sum")],
            input.clone(),
            window.clone()
        )
            .prop_map(|(name, input, window)| format!("{name}({input}, \"{window}\")")),
        (prop_oneof![Just("delta"), Just("rate"), Just("smooth")], input.clone(), window)
            .prop_map(|(name, input, window)| format!("{name}({input}, '{window}')")),
        input.prop_map(|input| format!("age({input})")),
    ];
    let tree = leaf.prop_recursive(4, 24, 3, |inner| {
        let operator =
            prop_oneof![Just("+"), Just("-"), Just("*"), Just("/"), Just("<"), Just("&&"), Just("%")];
        prop_oneof![
            (inner.clone(), operator, inner.clone()).prop_map(|(a, sign, b)| format!("({a}) {sign} ({b})")),
            (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, b, c)| format!("if({a}, {b}, {c})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("coalesce({a}, {b})")),
            inner.prop_map(|a| format!("sqrt({a})")),
        ]
    });
    tree.prop_map(|tree| format!("({tree}) + 0 * coalesce(t, u, 0)"))
}

/// Some points, sorted; those of one millisecond among them.
fn some_points() -> impl Strategy<Value = Vec<Point>> {
    let point =
        (0..60i64, -9..9i32).prop_map(|(time, value)| Point { time: LATE + time * 500, value: value.into() });
    prop::collection::vec(point, 0..30).prop_map(|mut points| {
        Point::sort(&mut points);
        points
    })
}

proptest! {
    #[test]
    fn no_text_panics_or_is_refused_without_a_reason(source in "\\PC{0,80}") {
        if let Err(error) = Expression::new(&source, &["t"], "UTC") {
            prop_assert!(!error.to_string().is_empty());
        }
    }

    #[test]
    fn no_heap_of_words_panics(words in prop::collection::vec(
        prop::sample::select(vec![
            "t", "u", "(", ")", ",", "+", "-", "*", "/", "%", "<", "<=", "==", "&&", "||", "!", "1", "0", "1e300", "mean",
            "delta", "if", "age", "pow", "smooth", "meansmooth", "'10m'", "\"day\"", "'3 points'",
        ]),
        0..40,
    )) {
        let source = words.join(" ");
        if let Ok(expression) = Expression::new(&source, &["t", "u"], "UTC") {
            let point = [Point { time: 0, value: 1.0 }];
            let value = expression.evaluate(0, &[&point, &[]]).value;
            prop_assert!(value.is_none_or(f64::is_finite));
        }
    }

    #[test]
    fn evaluating_takes_bounded_work_and_gives_finite_values(source in well_formed(), t in some_points(), u in some_points(), at in 0..40i64) {
        let expression = Expression::new(&source, &["t", "u"], "UTC");
        prop_assume!(expression.is_ok());
        let Evaluated { value, points } = expression.unwrap().evaluate(LATE + at * SECOND, &[&t, &u]);
        prop_assert!(value.is_none_or(f64::is_finite));
        prop_assert!(points <= MOST_WINDOWS * (t.len() + u.len()) + MOST_OPERATIONS);
    }

    /// What is needed is enough: with all other points left out, the value is the same.
    #[test]
    fn the_points_that_are_needed_are_enough(source in well_formed(), t in some_points(), u in some_points(), at in 0..40i64) {
        let expression = Expression::new(&source, &["t", "u"], "UTC");
        prop_assume!(expression.is_ok());
        let (expression, at) = (expression.unwrap(), LATE + at * SECOND);
        let needed = |input: usize, points: &[Point]| {
            let points: Vec<Point> = points.iter().copied().filter(|point| point.time <= at).collect();
            let Need { from, points: number } = expression.need(input, at);
            let first = points.partition_point(|point| point.time < from).min(points.len().saturating_sub(number));
            points[first..].to_vec()
        };
        let of_needed = expression.evaluate(at, &[&needed(0, &t), &needed(1, &u)]).value;
        prop_assert_eq!(of_needed, expression.evaluate(at, &[&t, &u]).value);
    }

    /// Beyond the reach of a point, the values are the same with it and without.
    #[test]
    fn a_point_changes_no_value_beyond_its_reach(source in well_formed(), t in some_points(), u in some_points(), late in 0..60i64, at in 0..40i64) {
        let expression = Expression::new(&source, &["t", "u"], "UTC");
        prop_assume!(expression.is_ok());
        let (expression, time, at) = (expression.unwrap(), LATE + late * 500, LATE + at * SECOND);
        let Reach { until, points } = expression.reach(0, time);
        let between = t.iter().filter(|point| point.time > time && point.time <= at).count();
        prop_assume!(at < time || (at >= until && between >= points));
        let mut with = t.clone();
        with.push(Point { time, value: 77.0 });
        Point::sort(&mut with);
        prop_assert_eq!(expression.evaluate(at, &[&with, &u]).value, expression.evaluate(at, &[&t, &u]).value);
    }
}

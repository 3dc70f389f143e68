use super::*;
use crate::figure::{Provenance, Row};
use crate::published::{Published, Read};

const TITLE: &str = "a figure";

fn figure(series: &[(&str, &[f64])]) -> [Figure; 1] {
    let rows = series.iter().flat_map(|(label, values)| {
        let row =
            |(value, x): (&f64, u32)| Row::new(*label, *value, "ms", Provenance::Estimate).at(f64::from(x));
        values.iter().zip(1..).map(row)
    });
    [Figure { title: TITLE, across: Some("hops"), rows: rows.collect() }]
}

fn holds(statement: &Statement, figures: &[Figure]) -> bool {
    statement.verdict(figures) == Verdict::Holds
}

fn series(label: &str) -> Series {
    Series::new(TITLE, label)
}

#[test]
fn of_what_is_not_there_nothing_holds() {
    let (a, b) = (series("a"), series("b"));
    let statements = [
        Statement::Published(a.clone(), Tolerance::Time),
        Statement::Below(a.clone(), b.clone()),
        Statement::FarBelow(a.clone(), b.clone(), 50.0),
        Statement::Same(a.clone(), b.clone(), Tolerance::Time),
        Statement::Grows(a.clone()),
        Statement::SameAdded(a.clone(), b.clone(), Tolerance::Time),
        Statement::HardlyMore(a.clone(), b.clone(), 10.0),
        Statement::Linear(a.clone(), Tolerance::Time),
        Statement::SomeOf(a.clone()),
        Statement::NoneOf(a.clone()),
    ];
    for statement in statements {
        assert!(!holds(&statement, &[]), "{statement:?}");
        let is_of_a_alone = statement.series().len() == 1;
        assert!(is_of_a_alone || !holds(&statement, &figure(&[("a", &[1.0, 2.0])])), "{statement:?}");
    }
}

#[test]
fn a_series_is_below_another_only_at_every_place() {
    let below = Statement::Below(series("a"), series("b"));
    assert!(holds(&below, &figure(&[("a", &[1.0, 2.0]), ("b", &[2.0, 3.0, 0.0])])));
    assert!(!holds(&below, &figure(&[("a", &[1.0, 3.0]), ("b", &[2.0, 3.0])])));
}

#[test]
fn the_least_is_below_each_of_the_others() {
    let least = Statement::Least(series("a"), vec![series("b"), series("c")]);
    assert!(holds(&least, &figure(&[("a", &[1.0]), ("b", &[2.0]), ("c", &[3.0])])));
    assert!(!holds(&least, &figure(&[("a", &[1.0]), ("b", &[2.0]), ("c", &[0.5])])));
    assert!(!holds(&least, &figure(&[("a", &[1.0]), ("b", &[2.0])])), "c is not there");
}

#[test]
fn the_most_is_above_each_of_the_others() {
    let most = Statement::Most(series("a"), vec![series("b"), series("c")]);
    assert!(holds(&most, &figure(&[("a", &[4.0]), ("b", &[2.0]), ("c", &[3.0])])));
    assert!(!holds(&most, &figure(&[("a", &[4.0]), ("b", &[2.0]), ("c", &[4.0])])));
    assert!(!holds(&most, &figure(&[("a", &[4.0]), ("b", &[2.0])])), "c is not there");
}

#[test]
fn far_below_is_below_a_part_at_every_place() {
    let far_below = Statement::FarBelow(series("a"), series("b"), 50.0);
    assert!(holds(&far_below, &figure(&[("a", &[1.0, 1.9]), ("b", &[3.0, 4.0])])));
    assert!(!holds(&far_below, &figure(&[("a", &[1.0, 2.0]), ("b", &[3.0, 4.0])])));
}

#[test]
fn the_same_is_within_the_tolerance_at_every_place() {
    let same = Statement::Same(series("a"), series("b"), Tolerance::Loss);
    assert!(holds(&same, &figure(&[("a", &[95.0, 100.0]), ("b", &[100.0, 95.0])])));
    assert!(!holds(&same, &figure(&[("a", &[95.0, 94.0]), ("b", &[100.0, 100.0])])));
}

#[test]
fn below_from_a_place_on_says_nothing_of_those_before() {
    let figures = figure(&[("a", &[5.0, 2.0, 2.0]), ("b", &[1.0, 3.0, 3.0])]);
    let from = |x| holds(&Statement::BelowFrom(series("a"), series("b"), x), &figures);
    assert_eq!([from(1.0), from(2.0), from(3.0), from(4.0)], [false, true, true, false]);
}

#[test]
fn growth_has_no_step_back_and_none_on_the_spot() {
    let grows = Statement::Grows(series("a"));
    assert!(holds(&grows, &figure(&[("a", &[1.0, 1.1, 5.0])])));
    assert!(!holds(&grows, &figure(&[("a", &[1.0, 2.0, 2.0])])));
    assert!(!holds(&grows, &figure(&[("a", &[1.0])])));
}

#[test]
fn what_is_added_is_compared_with_its_mean() {
    let same = Statement::SameAdded(series("a"), series("b"), Tolerance::Time);
    assert!(holds(&same, &figure(&[("a", &[11.0, 22.0, 33.0]), ("b", &[1.0, 12.0, 23.0])])));
    assert!(!holds(&same, &figure(&[("a", &[11.0, 22.0, 63.0]), ("b", &[1.0, 12.0, 23.0])])));
}

#[test]
fn in_proportion_is_what_takes_equal_steps_upwards() {
    let even = Statement::Linear(series("a"), Tolerance::Energy);
    assert!(holds(&even, &figure(&[("a", &[5.0, 7.0, 9.1])])));
    assert!(!holds(&even, &figure(&[("a", &[5.0, 7.0, 27.0])])));
    assert!(!holds(&even, &figure(&[("a", &[9.0, 7.0, 5.0])])));
}

#[test]
fn hardly_more_is_hardly_less_too() {
    let hardly = Statement::HardlyMore(series("a"), series("b"), 10.0);
    assert!(holds(&hardly, &figure(&[("a", &[10.5, 9.5]), ("b", &[10.0, 10.0])])));
    assert!(!holds(&hardly, &figure(&[("a", &[10.5, 8.5]), ("b", &[10.0, 10.0])])));
}

#[test]
fn all_that_the_paper_has_must_be_the_papers() {
    let mut figures = figure(&[("a", &[100.0, 7.0])]);
    let published = Statement::Published(series("a"), Tolerance::Time);
    assert!(!holds(&published, &figures), "the paper says nothing");
    figures[0].rows[0] =
        figures[0].rows[0].clone().beside(Some(Published { value: 90.0, read: Read::Prose }));
    assert!(holds(&published, &figures));
    figures[0].rows[0].value = 300.0;
    assert!(!holds(&published, &figures));
}

#[test]
fn the_values_are_told_with_their_places_and_unit() {
    let figures = figure(&[("a", &[1.0, 2.5]), ("b", &[2.0, 3.0])]);
    let checked = Statement::Below(series("a"), series("b")).check(&figures);
    assert_eq!(checked.verdict, Verdict::Holds);
    assert_eq!(checked.values, "a: 1, 2.5 ms at 1, 2 (hops); b: 2, 3 ms at 1, 2 (hops)");
}

/// The same, each value of several runs.
fn figure_of_runs(series: &[(&str, &[&[f64]])]) -> [Figure; 1] {
    let rows = series.iter().flat_map(|(label, values)| {
        values.iter().zip(1..).map(|(runs, x)| Sample::of(runs).row(*label, "ms").at(f64::from(x)))
    });
    [Figure { title: TITLE, across: Some("hops"), rows: rows.collect() }]
}

#[test]
fn what_runs_do_not_tell_is_not_decided_and_the_same_seeds_are_compared_with_each_other() {
    let below = Statement::Below(series("a"), series("b"));
    let apart = figure_of_runs(&[("a", &[&[1.0, 50.0, 99.0]]), ("b", &[&[2.0, 51.5, 100.1]])]);
    assert_eq!(below.verdict(&apart), Verdict::Holds, "each run is above its own, though all overlap");
    let crossed = figure_of_runs(&[("a", &[&[1.0, 50.0, 99.0]]), ("b", &[&[100.1, 2.0, 51.5]])]);
    assert_eq!(below.verdict(&crossed), Verdict::NotDecided, "the means are the same as before");
    let why = below.check(&crossed).values;
    assert!(
        why.contains(". With 95 % confidence, a less b at 1 is -") && why.ends_with(" with 3 runs"),
        "{why}"
    );
}

#[test]
fn a_difference_that_runs_leave_between_is_and_is_not_the_papers() {
    let published = Statement::Published(series("a"), Tolerance::Time);
    let of = |runs: &[f64]| {
        let mut figures = figure_of_runs(&[("a", &[runs])]);
        figures[0].rows[0] =
            figures[0].rows[0].clone().beside(Some(Published { value: 100.0, read: Read::Prose }));
        published.verdict(&figures)
    };
    assert_eq!(of(&[99.0, 101.0, 100.0]), Verdict::Holds);
    assert_eq!(of(&[2.0, 198.0, 100.0]), Verdict::NotDecided, "the mean is what the paper says");
    assert_eq!(of(&[1.0, 2.0, 3.0]), Verdict::DoesNotHold);
}

#[test]
fn growth_and_what_is_added_are_those_of_each_seed() {
    let even = figure_of_runs(&[
        ("a", &[&[11.0, 51.1], &[22.1, 62.0], &[33.0, 73.1]]),
        ("b", &[&[1.0, 41.0], &[12.0, 52.0], &[23.0, 63.0]]),
    ]);
    for statement in [
        Statement::Grows(series("a")),
        Statement::Linear(series("a"), Tolerance::Time),
        Statement::SameAdded(series("a"), series("b"), Tolerance::Time),
    ] {
        assert_eq!(statement.verdict(&even), Verdict::Holds, "{statement:?}");
    }
    let uneven = figure_of_runs(&[
        ("a", &[&[11.0, 51.0], &[22.1, 42.0], &[33.0, 73.1]]),
        ("b", &[&[1.0, 41.0], &[12.0, 52.0], &[23.0, 63.0]]),
    ]);
    assert_eq!(Statement::Grows(series("a")).verdict(&uneven), Verdict::NotDecided);
    let same = Statement::SameAdded(series("a"), series("b"), Tolerance::Time);
    assert_eq!(same.verdict(&uneven), Verdict::NotDecided);
}

#[test]
fn hardly_more_is_judged_at_both_ends() {
    let hardly = |runs: &[f64]| {
        let figures = figure_of_runs(&[("a", &[runs]), ("b", &[&[200.0, 201.0, 202.0]])]);
        Statement::HardlyMore(series("a"), series("b"), 10.0).verdict(&figures)
    };
    assert_eq!(hardly(&[210.0, 211.0, 212.1]), Verdict::Holds);
    assert_eq!(hardly(&[160.0, 161.0, 162.0]), Verdict::DoesNotHold);
    assert_eq!(hardly(&[200.0, 240.0, 200.0]), Verdict::NotDecided);
}

#[test]
fn all_hold_only_together() {
    let figures = figure(&[("a", &[1.0]), ("b", &[2.0]), ("c", &[3.0])]);
    let below = |one, other| Statement::Below(series(one), series(other));
    assert!(holds(&Statement::All(vec![below("a", "b"), below("b", "c")]), &figures));
    assert!(!holds(&Statement::All(vec![below("a", "b"), below("c", "b")]), &figures));
    assert!(!holds(&Statement::All(vec![below("a", "b"), below("a", "d")]), &figures), "d is not there");
}

#[test]
fn where_the_paper_has_some_none_is_not_enough() {
    let mut figures = figure(&[("a", &[0.0, 0.0])]);
    let row = figures[0].rows[0].clone();
    figures[0].rows[0] = row.beside(Some(Published { value: 5.0, read: Read::Printed }));
    assert!(holds(&Statement::Published(series("a"), Tolerance::Loss), &figures), "by the tolerance alone");
    let some = Statement::SomeWherePublished(series("a"));
    assert!(!holds(&some, &figures));
    figures[0].rows[0].value = 1.0;
    assert!(holds(&some, &figures), "the paper says nothing of the second");
}

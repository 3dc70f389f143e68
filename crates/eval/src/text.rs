//! An evaluation as text: a table for each figure, and below them the claims.

use core::fmt::{self, Write};

use crate::evaluation::Evaluation;
use crate::figure::{Axis, Figure, Row};
use crate::published::Unchecked;
use crate::relative_error;

/// What an experiment has shown, for a terminal.
pub fn text(evaluation: &Evaluation) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = write(&mut out, evaluation);
    out
}

fn write(out: &mut String, evaluation: &Evaluation) -> fmt::Result {
    writeln!(out, "{}: {}", evaluation.experiment, evaluation.source)?;
    writeln!(out, "  It shows {}.", evaluation.shows)?;
    writeln!(out, "  Network: {}.", evaluation.parameters.network)?;
    writeln!(out, "  Routing: {}.", evaluation.parameters.routing)?;
    evaluation.figures.iter().try_for_each(|figure| table(out, figure))?;
    writeln!(out)?;
    for claim in &evaluation.claims {
        let verdict = format!("{}:", claim.verdict.name());
        writeln!(out, "  {verdict:<15} {}\n    {}", claim.text, claim.why)?;
    }
    if let Some(sentence) = relative_error::sentence(evaluation) {
        writeln!(out, "  {sentence}.")?;
    }
    for Unchecked { section, says, why, .. } in &evaluation.unchecked {
        writeln!(out, "  {:<15} {says} (section {section})\n    {why}", "not checked:")?;
    }
    writeln!(out)
}

/// How much room a title has beside the headings, in characters.
const TITLE: usize = 52;

fn table(out: &mut String, figure: &Figure) -> fmt::Result {
    let is_measured = figure.rows.iter().any(|row| row.measured.is_some());
    let measured = |text: &str| if is_measured { format!(" {text:>10}") } else { String::new() };
    // What the values of an axis mean one by one is a line of its own.
    let (over, meanings) = match figure.axis() {
        Some(Axis { name, is_enumerated: true, .. }) => ("", Some(name)),
        Some(Axis { name, unit, .. }) => (unit.unwrap_or(name), None),
        None => ("", None),
    };
    // A title that would run into the headings has a line of its own.
    let (above, beside) = match figure.title.chars().count() > TITLE {
        true => (figure.title, ""),
        false => ("", figure.title),
    };
    writeln!(out, "{}", if above.is_empty() { String::new() } else { format!("\n  {above}") })?;
    writeln!(
        out,
        "  {beside:<TITLE$} {over:>10} {:>10} {:>7} {:>10}{}",
        "ours",
        "± 95 %",
        "published",
        measured("yours")
    )?;
    meanings.iter().try_for_each(|meanings| writeln!(out, "    by {meanings}"))?;
    let given = |value: Option<f64>| value.map_or("-".into(), |value| value.to_string());
    for row in &figure.rows {
        let places = places(row);
        writeln!(
            out,
            "  {:<52} {:>10} {:>10.places$} {:>7} {:>10}{} {:<5} {}",
            row.label,
            row.x.map_or(String::new(), |x| x.to_string()),
            row.value,
            half(row).map_or(String::new(), |half| format!("{half:.places$}")),
            given(row.published),
            measured(&given(row.measured)),
            row.unit,
            row.provenance.name()
        )?;
    }
    Ok(())
}

/// Half the width of a row's interval.
fn half(row: &Row) -> Option<f64> {
    row.interval.map(|[low, high]| (high - low) / 2.0)
}

/// How many places a value has that mean something: two digits of how far it may be off, three of what is below 1, and all of what is counted.
fn places(row: &Row) -> usize {
    let of = |digits: i32, size: f64| (digits - 1 - size.log10().floor() as i32).clamp(0, 4) as usize;
    let half = half(row).unwrap_or_default();
    match row.value.abs() {
        0.0 => 0,
        value if half == 0.0 && value.fract() == 0.0 => 0,
        value if value >= 1.0 && half == 0.0 => 2,
        value if value >= 1.0 => of(2, half).min(2),
        value => of(3, value).min(if half == 0.0 { 4 } else { of(2, half) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::Provenance;

    fn places_of(value: f64, interval: Option<[f64; 2]>) -> usize {
        places(&Row { interval, ..Row::new("", value, "ms", Provenance::Estimate) })
    }

    #[test]
    fn a_value_has_no_more_places_than_its_interval_leaves_certain() {
        assert_eq!(places_of(333.05, Some([331.25, 334.85])), 1);
        assert_eq!(places_of(49.24, Some([48.46, 50.02])), 2);
        assert_eq!(places_of(316.7, Some([218.0, 415.0])), 0);
        assert_eq!(places_of(0.0312, Some([0.0310, 0.0314])), 4);
    }

    #[test]
    fn what_is_certain_has_the_places_that_it_needs() {
        assert_eq!(places_of(0.032, None), 4);
        assert_eq!(places_of(0.27, None), 3);
        assert_eq!(places_of(30.284, Some([30.284, 30.284])), 2);
        assert_eq!(places_of(30.284, Some([30.283, 30.285])), 2);
        assert_eq!([places_of(16432.0, None), places_of(0.0, None)], [0, 0]);
        assert_eq!(places_of(0.0, Some([0.0, 7.1])), 0, "nothing was counted, and more may be");
    }
}

//! Whether the values of an experiment are as certain as the paper's are said to be.

use core::fmt::Write;

use crate::evaluation::Evaluation;
use crate::figure::{Figure, Row};
use crate::plot::number;

/// So many values that are less certain are named.
const NAMED: usize = 20;

/// Whether every value is known as well as this, if it has to be: so many per cent of it to either side.
pub(crate) fn is_within(figures: &[Figure], most: Option<f64>) -> bool {
    let mut rows = figures.iter().flat_map(|figure| &figure.rows);
    most.is_none_or(|most| rows.all(|row| relative_error(row).is_none_or(|error| error <= most)))
}

/// Which values are known as well as those of the paper, in a sentence; nothing where the paper does not say how well, or no value is of runs.
pub(crate) fn sentence(evaluation: &Evaluation) -> Option<String> {
    let most = evaluation.relative_error?;
    let rows = evaluation.figures.iter().flat_map(|figure| &figure.rows);
    let errors: Vec<_> = rows.filter_map(|row| Some((row, relative_error(row)?))).collect();
    if errors.is_empty() {
        return None;
    }
    let others: Vec<_> = errors.iter().filter(|(_, error)| *error > most).collect();
    let mut out = format!(
        "The paper's results have a relative error of at most {most} %: with {} runs, {} of {} values here do",
        evaluation.parameters.runs,
        errors.len() - others.len(),
        errors.len()
    );
    for (place, (row, error)) in others.iter().take(NAMED).enumerate() {
        let before = if place == 0 { ", and these do not: " } else { "; " };
        let at = row.x.map_or(String::new(), |x| format!(" at {}", number(x)));
        // Writing to a string does not fail.
        let _ = write!(out, "{before}{}{at}, {} %", row.label, number(*error));
    }
    if others.len() > NAMED {
        let _ = write!(out, "; and {} more", others.len() - NAMED);
    }
    Some(out)
}

/// Half the 95 % confidence interval of a value in which chance has a say, in per cent of it: of the mean of runs, or of a share, and endless where
/// there is none. A value that is known exactly has no error.
fn relative_error(row: &Row) -> Option<f64> {
    if row.runs.is_empty() && row.interval.is_none() {
        return None;
    }
    let half = row.interval.map_or(f64::INFINITY, |[low, high]| (high - low) / 2.0);
    let error = 100.0 * half / row.value.abs();
    Some(match half {
        0.0 => 0.0,
        _ if error.is_nan() => f64::INFINITY,
        _ => error,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::Figure;
    use crate::sample::Sample;
    use crate::setup::Parameters;

    #[test]
    fn values_that_are_less_certain_than_the_papers_are_named() {
        let row = |label: &str, runs: &[f64]| Sample::of(runs).row(label, "ms");
        // With four runs, t is 3.18: intervals of 1.6 and 16 % of the mean.
        let rows = vec![
            row("AH", &[99.0, 101.0, 99.0, 101.0]),
            row("ESP", &[90.0, 110.0, 90.0, 110.0]).at(8.0),
            row("DTLS", &[7.0, 7.0, 7.0, 7.0]),
            // The interval of Wilson is 4 % of it to either side.
            Sample::share(380.0, 400.0).row("handshakes", "of 100"),
            Row::new("limit", 3.0, "ms", crate::Provenance::Published),
        ];
        let mut evaluation = Evaluation {
            schema: 1,
            experiment: "derubertis2013-fig3",
            source: String::new(),
            paper: String::new(),
            relative_error: Some(5.0),
            at: "",
            shows: "",
            missing: &[],
            is_own: false,
            reproduced: true,
            parameters: Parameters::of("derubertis2013-fig3", 4, "").unwrap(),
            figures: vec![Figure { title: "Time", across: None, rows }],
            claims: Vec::new(),
            unchecked: Vec::new(),
        };
        let said = sentence(&evaluation).unwrap();
        assert!(
            said.contains("at most 5 %: with 4 runs, 3 of 4 values here do, and these do not: ESP at 8, 18"),
            "{said}"
        );
        assert!(!is_within(&evaluation.figures, Some(5.0)) && is_within(&evaluation.figures, Some(50.0)));
        assert!(is_within(&evaluation.figures, None));
        evaluation.relative_error = Some(50.0);
        assert!(sentence(&evaluation).unwrap().ends_with("4 of 4 values here do"));
        evaluation.figures[0].rows.push(row("none", &[f64::NAN, f64::NAN]));
        assert!(sentence(&evaluation).unwrap().contains("4 of 5 values here do, and these do not: none"));
        assert!(!is_within(&evaluation.figures, Some(50.0)));
        evaluation.relative_error = None;
        assert_eq!(sentence(&evaluation), None);
    }
}

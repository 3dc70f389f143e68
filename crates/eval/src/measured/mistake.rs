//! What is wrong in a file of measurements.

/// A line of a file of measurements that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Its number, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub why: String,
}

impl Mistake {
    /// What the reader of CSV complains of.
    pub(super) fn of(error: &csv::Error) -> Self {
        let why = match error.kind() {
            csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
                format!("{len} columns instead of {expected_len}")
            }
            _ => error.to_string(),
        };
        Self { line: error.position().map_or(1, csv::Position::line), why }
    }
}

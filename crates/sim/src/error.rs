//! Why a scenario cannot be simulated.

use core::fmt;

/// Why a scenario cannot be simulated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    /// The scenario's file.
    pub file: String,
    /// The line, where one is to blame.
    pub line: Option<usize>,
    /// What is wrong and what to do.
    pub message: String,
}

impl ScenarioError {
    /// An error that no line is to blame for.
    pub(crate) fn of_file(file: impl Into<String>, message: impl ToString) -> Self {
        Self { file: file.into(), line: None, message: message.to_string() }
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file, self.message),
            None => write!(f, "{}: {}", self.file, self.message),
        }
    }
}

impl core::error::Error for ScenarioError {}

//! Why an experiment cannot be made.

use core::fmt;

/// Why an experiment could not be carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(pub String);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

impl From<sixlock_sim::ScenarioError> for Error {
    fn from(error: sixlock_sim::ScenarioError) -> Self {
        Self(error.to_string())
    }
}

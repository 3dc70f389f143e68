//! Why something makes no expression.

use std::fmt;

/// Why something makes no expression, in words for those who wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionError {
    position: Option<usize>,
    message: String,
}

impl ExpressionError {
    /// Which character of the expression it is about, the first being 1; `None` if it is about no single one.
    pub fn position(&self) -> Option<usize> {
        self.position
    }
}

impl fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.position {
            Some(position) => write!(f, "character {position}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for ExpressionError {}

/// An error about no single character.
pub(crate) fn refuse(message: impl Into<String>) -> ExpressionError {
    ExpressionError { position: None, message: message.into() }
}

/// An error about the character at `position`, the first being 1.
pub(crate) fn refuse_at(position: usize, message: impl Into<String>) -> ExpressionError {
    ExpressionError { position: Some(position), message: message.into() }
}

//! The names of inputs.

use crate::error::{ExpressionError, refuse};
use crate::limits::MOST_INPUTS;

/// The longest name of an input, in characters.
const LONGEST_NAME: usize = 32;

/// Whether `name` can stand for an input in an expression.
pub fn is_input_name(name: &str) -> bool {
    let is_start = |char: char| char.is_ascii_alphabetic() || char == '_';
    name.starts_with(is_start) && name.len() <= LONGEST_NAME && name.chars().all(is_of_name)
}

/// Whether a name may go on with `char`.
pub(crate) fn is_of_name(char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '_'
}

pub(crate) fn check<S: AsRef<str>>(names: &[S]) -> Result<(), ExpressionError> {
    if names.is_empty() || names.len() > MOST_INPUTS {
        return Err(refuse(format!("a computed stream has 1 to {MOST_INPUTS} inputs")));
    }
    for (n, name) in names.iter().map(AsRef::as_ref).enumerate() {
        if !is_input_name(name) {
            return Err(refuse(format!(
                "{name:?} cannot name an input: a name has 1 to {LONGEST_NAME} letters (a to z), digits and _, and begins with no digit"
            )));
        }
        if names[..n].iter().any(|other| other.as_ref() == name) {
            return Err(refuse(format!("two inputs are named {name}")));
        }
    }
    Ok(())
}

//! Keys of a scenario that have another value than its file gives them.

use core::fmt;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::ScenarioError;

/// A key of a scenario's file, and the value that it has instead of the one there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    key: String,
    value: String,
    /// Both as a line of TOML.
    line: String,
}

impl Setting {
    /// The key, with its table's before a dot (`radio.loss`), and its value: a number, `true`, `false`, or a string, which needs no
    /// quotes.
    ///
    /// # Errors
    /// Says what is no key or no value.
    pub fn new(key: &str, value: &str) -> Result<Self, ScenarioError> {
        let is_name = |name: &str| {
            !name.is_empty()
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
        };
        let wrong = |message| ScenarioError { file: format!("{key} = {value}"), line: None, message };
        if !key.split('.').all(is_name) {
            return Err(wrong("the key is a name, with its table's before a dot, such as radio.loss".into()));
        }
        let is_scalar = DeValue::parse(value).is_ok_and(|value| {
            let value = value.get_ref();
            value.is_integer() || value.is_float() || value.is_bool() || value.is_str()
        });
        let quoted = match is_scalar {
            true => value.to_owned(),
            false if value.contains('\'') || value.chars().any(char::is_control) => {
                return Err(wrong("the value is a number, true, false, or a string in double quotes".into()));
            }
            false => format!("'{value}'"),
        };
        Ok(Self { key: key.into(), value: value.into(), line: format!("{key} = {quoted}") })
    }

    /// Its key.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Its value.
    pub fn value(&self) -> &str {
        &self.value
    }

    /// Puts it into `document`, whose text ends before `beyond`: what errors would point at lies there.
    pub(super) fn put<'i>(&'i self, document: &mut DeTable<'i>, beyond: usize) -> Result<(), ScenarioError> {
        let table = DeTable::parse(&self.line)
            .map_err(|error| ScenarioError::of_file(self.to_string(), error.message()))?;
        replace(document, table.into_inner(), beyond);
        Ok(())
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}", self.key, self.value)
    }
}

/// Gives keys of `table` the values that they have in `values`.
fn replace<'i>(table: &mut DeTable<'i>, values: DeTable<'i>, beyond: usize) {
    for (key, value) in values {
        let key = Spanned::new(beyond..beyond, key.into_inner());
        match (table.get_mut(&key).map(Spanned::get_mut), value.into_inner()) {
            (Some(DeValue::Table(there)), DeValue::Table(values)) => replace(there, values, beyond),
            (_, value) => {
                let value = match value {
                    DeValue::Table(values) => {
                        let mut new = DeTable::new();
                        replace(&mut new, values, beyond);
                        DeValue::Table(new)
                    }
                    value => value,
                };
                // A key that is there keeps its place in the file otherwise.
                table.remove(&key);
                table.insert(key, Spanned::new(beyond..beyond, value));
            }
        }
    }
}

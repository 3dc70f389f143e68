//! Ids and names. Either can stand in a path, so nothing is both: digits alone are an id, and no user, resource or token is
//! named so that somebody could take it for one.

pub(crate) const LABEL_RULE: &str = "a name or label has 1 to 64 characters, without /, characters that cannot be seen and spaces but the common one, and is not a number";

/// What something is called: its id or its name, never either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reference<'a> {
    Id(i64),
    Name(&'a str),
}

impl<'a> Reference<'a> {
    /// An id is written as the cloud writes it: in digits, without a sign and without leading zeros. All else is a name.
    pub(crate) fn read(text: &'a str) -> Self {
        let written = text == "0" || !text.starts_with('0');
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        match text.parse() {
            Ok(id) if digits && written => Self::Id(id),
            _ => Self::Name(text),
        }
    }

    /// The id, if it is one. Bound to a statement, nothing equals no row's.
    pub(crate) fn id(self) -> Option<i64> {
        match self {
            Self::Id(id) => Some(id),
            Self::Name(_) => None,
        }
    }

    /// The name, if it is one. Bound to a statement, nothing equals no row's.
    pub(crate) fn name(self) -> Option<&'a str> {
        match self {
            Self::Id(_) => None,
            Self::Name(name) => Some(name),
        }
    }
}

/// Whether `text` can be a name or label: something that no id is, and that nobody takes for one.
pub(crate) fn is_label(text: &str) -> bool {
    is_segment(text) && !is_number(text)
}

/// Whether `text` can stand between two slashes: a label, or a number, where no ids are.
pub(crate) fn is_segment(text: &str) -> bool {
    (1..=64).contains(&text.chars().count())
        && text.trim() == text
        && !text.chars().any(|char| char == '/' || is_other_space(char) || sixlock_ingest::is_hidden(char))
        && text != "."
        && text != ".."
}

/// Whether `char` is a space that looks like the common one, or like none.
fn is_other_space(char: char) -> bool {
    char.is_whitespace() && char != ' '
}

/// Whether `one` and `other` are the same but for the case of letters. Letters of several alphabets that look alike are not
/// the same: administrators choose such names of users (who sign up choose from ASCII alone), and the tables that tell (Unicode Technical Standard 39) are long.
pub(crate) fn differ_by_case_at_most(one: &str, other: &str) -> bool {
    one.chars().flat_map(char::to_lowercase).eq(other.chars().flat_map(char::to_lowercase))
}

/// Whether `text` is digits, with signs before them or without.
fn is_number(text: &str) -> bool {
    let digits = text.trim_start_matches(['+', '-']);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_cloud_writes_as_an_id_is_one() {
        for (text, id) in [("0", 0), ("1", 1), ("10", 10), ("9223372036854775807", i64::MAX)] {
            assert_eq!(Reference::read(text), Reference::Id(id), "{text}");
        }
        for text in ["", "+1", "-1", "01", "00", " 1", "1 ", "1.0", "1e3", "0x1", "9223372036854775808", "a1"]
        {
            assert_eq!(Reference::read(text), Reference::Name(text), "{text}");
        }
    }

    #[test]
    fn a_name_is_nothing_that_could_be_an_id() {
        for text in
            ["a\u{a0}b", "a\u{2003}b", "a\u{3000}b", "0", "1", "01", "+1", "-1", "+-1", "9223372036854775808"]
        {
            assert!(!is_label(text), "{text}");
        }
        for text in ["a", "a b", "1a", "+a", "-", "1-2", "node-1", "1.5"] {
            assert!(is_label(text) && matches!(Reference::read(text), Reference::Name(_)), "{text}");
        }
    }
}

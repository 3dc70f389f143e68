//! The words of an expression.

use crate::error::{ExpressionError, refuse_at};
use crate::names::is_of_name;

/// A word.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    Number(f64),
    Name(String),
    /// What stands between quotation marks.
    Text(String),
    /// An operator, a bracket or a comma.
    Sign(&'static str),
}

/// The signs, those that others begin like first.
const SIGNS: [&str; 19] =
    ["<=", ">=", "==", "!=", "&&", "||", "<", ">", "+", "-", "*", "/", "%", "!", "(", ")", ",", "=", "&"];

/// Splits `source` into words, each with the place of its first character, the first being 1.
pub(crate) fn split(source: &str) -> Result<Vec<(usize, Token)>, ExpressionError> {
    let mut tokens = Vec::new();
    let (mut rest, mut position) = (source, 1);
    while let Some(first) = rest.chars().next() {
        let (length, token) = match first {
            _ if first.is_whitespace() => (first.len_utf8(), None),
            '0'..='9' | '.' => number(rest, position).map(|(length, token)| (length, Some(token)))?,
            '"' | '\'' => text(rest, first, position).map(|(length, token)| (length, Some(token)))?,
            _ if is_of_name(first) => {
                let length = rest.find(|char| !is_of_name(char)).unwrap_or(rest.len());
                (length, Some(Token::Name(rest[..length].to_owned())))
            }
            _ => {
                let sign = SIGNS.into_iter().find(|sign| rest.starts_with(sign));
                let sign =
                    sign.ok_or_else(|| refuse_at(position, format!("{first:?} means nothing here")))?;
                (sign.len(), Some(Token::Sign(sign)))
            }
        };
        let (read, behind) = rest.split_at(length);
        tokens.extend(token.map(|token| (position, token)));
        position += read.chars().count();
        rest = behind;
    }
    Ok(tokens)
}

/// The number at the beginning of `rest`, and its length.
fn number(rest: &str, position: usize) -> Result<(usize, Token), ExpressionError> {
    let bytes = rest.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut length = digits(0);
    if bytes.get(length) == Some(&b'.') {
        length += 1 + digits(length + 1);
    }
    if matches!(bytes.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
        length += 1 + sign + digits(length + 1 + sign);
    }
    let behind = rest[length..].chars().next().is_some_and(|char| is_of_name(char) || char == '.');
    let number = rest[..length].parse().ok().filter(|number: &f64| number.is_finite() && !behind);
    let number = number.ok_or_else(|| {
        let until = rest.find(|char: char| !is_of_name(char) && char != '.').unwrap_or(rest.len());
        let start: String = rest[..until].chars().take(20).collect();
        refuse_at(position, format!("{start:?} is not a number"))
    })?;
    Ok((length, Token::Number(number)))
}

/// What stands between two of `mark` at the beginning of `rest`, and the length with these.
fn text(rest: &str, mark: char, position: usize) -> Result<(usize, Token), ExpressionError> {
    let end =
        rest[1..].find(mark).ok_or_else(|| refuse_at(position, format!("a second {mark} is missing")))?;
    Ok((end + 2, Token::Text(rest[1..end + 1].to_owned())))
}

//! As much of JSON ([RFC 8259](https://www.rfc-editor.org/rfc/rfc8259)) as reading a pack takes.

use core::fmt;

use crate::text::{Text, unescape};

/// Why text is not JSON, or not as SenML uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonError {
    /// The text is not UTF-8.
    Utf8,
    /// The text ends too early or has something else where this belongs.
    Syntax,
    /// A string holds a control character, or an escape that stands for nothing.
    String,
    /// A number is not spelt as JSON spells numbers.
    Number,
    /// Values are nested too deeply.
    Depth,
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Utf8 => "it is not UTF-8",
            Self::Syntax => "it ends too early, or something else stands where a part of it belongs",
            Self::String => "a string holds a control character, or an escape that stands for nothing",
            Self::Number => "a number is not written as JSON writes numbers",
            Self::Depth => "values are nested too deeply",
        })
    }
}

impl core::error::Error for JsonError {}

/// How deep values of unknown fields may be nested.
const MAX_DEPTH: u8 = 16;

/// A place in JSON text.
#[derive(Clone, Debug)]
pub(crate) struct Scanner<'a> {
    rest: &'a str,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Result<Self, JsonError> {
        core::str::from_utf8(bytes).map(|rest| Self { rest }).map_err(|_| JsonError::Utf8)
    }

    /// Whether only white space is left.
    pub(crate) fn at_end(&mut self) -> bool {
        self.skip_space();
        self.rest.is_empty()
    }

    /// Passes `token` after any white space, if it stands there.
    pub(crate) fn accept(&mut self, token: &str) -> bool {
        self.skip_space();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Passes `token`, which has to stand there.
    pub(crate) fn expect(&mut self, token: &str) -> Result<(), JsonError> {
        if self.accept(token) { Ok(()) } else { Err(JsonError::Syntax) }
    }

    pub(crate) fn string(&mut self) -> Result<Text<'a>, JsonError> {
        self.expect("\"")?;
        let mut chars = self.rest.chars();
        loop {
            let before = chars.as_str();
            match chars.next().ok_or(JsonError::Syntax)? {
                '"' => {
                    let inside = self.rest.len() - before.len();
                    let text = self.rest.get(..inside).ok_or(JsonError::Syntax)?;
                    self.rest = chars.as_str();
                    return Ok(Text::escaped(text));
                }
                '\\' => {
                    unescape(&mut chars).ok_or(JsonError::String)?;
                }
                '\0'..' ' => return Err(JsonError::String),
                _ => {}
            }
        }
    }

    pub(crate) fn number(&mut self) -> Result<&'a str, JsonError> {
        self.skip_space();
        let start = self.rest;
        self.accept_char('-');
        if !self.accept_char('0') {
            self.digits()?;
        }
        if self.accept_char('.') {
            self.digits()?;
        }
        if self.accept_char('e') || self.accept_char('E') {
            let _ = self.accept_char('+') || self.accept_char('-');
            self.digits()?;
        }
        start.get(..start.len() - self.rest.len()).ok_or(JsonError::Number)
    }

    pub(crate) fn boolean(&mut self) -> Result<bool, JsonError> {
        if self.accept("true") {
            return Ok(true);
        }
        self.expect("false").map(|()| false)
    }

    /// Passes any value. Nesting is counted, not recursed into.
    pub(crate) fn skip_value(&mut self) -> Result<(), JsonError> {
        let (mut depth, mut objects) = (0u8, 0u16);
        loop {
            if self.accept("{") {
                depth += 1;
                objects = objects << 1 | 1;
                if !self.accept("}") {
                    self.key_of_value(depth)?;
                    continue;
                }
                (depth, objects) = (depth - 1, objects >> 1);
            } else if self.accept("[") {
                depth += 1;
                objects <<= 1;
                if !self.accept("]") {
                    if depth > MAX_DEPTH - 1 {
                        return Err(JsonError::Depth);
                    }
                    continue;
                }
                (depth, objects) = (depth - 1, objects >> 1);
            } else {
                self.scalar()?;
            }
            // A value is complete: close what it closes, then go on to the next.
            loop {
                if depth == 0 {
                    return Ok(());
                }
                let in_object = objects & 1 == 1;
                if self.accept(",") {
                    if in_object {
                        self.key_of_value(depth)?;
                    }
                    break;
                }
                self.expect(if in_object { "}" } else { "]" })?;
                (depth, objects) = (depth - 1, objects >> 1);
            }
        }
    }

    fn key_of_value(&mut self, depth: u8) -> Result<(), JsonError> {
        if depth > MAX_DEPTH - 1 {
            return Err(JsonError::Depth);
        }
        self.string()?;
        self.expect(":")
    }

    fn scalar(&mut self) -> Result<(), JsonError> {
        self.skip_space();
        match self.rest.as_bytes().first() {
            Some(b'"') => self.string().map(|_| ()),
            Some(b't' | b'f') => self.boolean().map(|_| ()),
            Some(b'n') => self.expect("null"),
            Some(b'-' | b'0'..=b'9') => self.number().map(|_| ()),
            _ => Err(JsonError::Syntax),
        }
    }

    fn digits(&mut self) -> Result<(), JsonError> {
        let rest = self.rest.trim_start_matches(|char: char| char.is_ascii_digit());
        if rest.len() == self.rest.len() {
            return Err(JsonError::Number);
        }
        self.rest = rest;
        Ok(())
    }

    /// Passes `char` if it stands right here.
    fn accept_char(&mut self, char: char) -> bool {
        let rest = self.rest.strip_prefix(char);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    extern crate std;
    use proptest::prelude::*;
    use std::string::String;
    use std::vec::Vec;

    fn skip(text: &str) -> Result<bool, JsonError> {
        let mut scanner = Scanner::new(text.as_bytes())?;
        scanner.skip_value()?;
        Ok(scanner.at_end())
    }

    #[test]
    fn values_of_any_kind_are_passed_whole() {
        for text in [
            "{}",
            "[ ]",
            r#"{"a":[1,{"b":null},[]],"c":{"d":{}}} "#,
            "[[],{},\"]\",true,-1.5e+7]",
            "0",
            "\"\\u00e9\"",
        ] {
            assert_eq!(skip(text), Ok(true), "{text}");
        }
    }

    #[test]
    fn what_is_not_json_is_refused_with_the_reason() {
        for (text, error) in [
            ("", JsonError::Syntax),
            ("[1,]", JsonError::Syntax),
            ("{\"a\":1,}", JsonError::Syntax),
            ("{\"a\" 1}", JsonError::Syntax),
            ("[1}", JsonError::Syntax),
            ("[1", JsonError::Syntax),
            ("nul", JsonError::Syntax),
            ("\"open", JsonError::Syntax),
            ("\"\n\"", JsonError::String),
            (r#""\x""#, JsonError::String),
            (r#""\ud800""#, JsonError::String),
            (r#""\udc00""#, JsonError::String),
            ("-", JsonError::Number),
            ("1.", JsonError::Number),
            ("1e", JsonError::Number),
        ] {
            assert_eq!(skip(text), Err(error), "{text}");
        }
        assert_eq!(skip("01"), Ok(false));
    }

    #[test]
    fn nesting_has_a_limit() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert_eq!(skip(&nested(16)), Ok(true));
        assert_eq!(skip(&nested(17)), Err(JsonError::Depth));
        assert_eq!(skip(&"[".repeat(100_000)), Err(JsonError::Depth));
        assert_eq!(skip(&"{\"a\":".repeat(100_000)), Err(JsonError::Depth));
    }

    #[test]
    fn escapes_stand_for_their_characters() {
        let mut scanner = Scanner::new(br#""\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00""#).unwrap();
        let text = scanner.string().unwrap();
        assert!(text == *"\"\\/\u{8}\u{c}\n\r\té😀");
        assert_eq!(text.write(&mut [0; 13]), None);
        assert_eq!(text.write(&mut [0; 14]), Some("\"\\/\u{8}\u{c}\n\r\té😀"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_passed_or_refused_without_a_panic(
            bytes in prop::collection::vec(prop::sample::select(b"[]{}\",:\\u0d8-.e1tn \n".to_vec()), 0..40),
        ) {
            let text = String::from_utf8(bytes).unwrap();
            let _ = skip(&text);
            let mut scanner = Scanner::new(text.as_bytes()).unwrap();
            if let Ok(text) = scanner.string() {
                let _: Vec<char> = text.chars().collect();
            }
        }
    }
}

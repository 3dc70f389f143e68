//! Regular expressions: linear in the text and, bounded, in their own size.

use regex::{Regex, RegexBuilder};

/// The longest expression, in bytes.
const LONGEST: usize = 256;
/// How much memory an expression may take when it is compiled, in bytes: what `[0-9]{1000}` would take is refused.
const LARGEST: usize = 1 << 16;

/// A regular expression that finds values, and maybe times beside them.
#[derive(Clone, Debug)]
pub(crate) struct Pattern(Regex);

/// The group that holds the value; without it the first group does, and without any the whole match.
const VALUE: &str = "value";
/// The group that holds the time.
const TIME: &str = "time";

impl Pattern {
    pub(crate) fn new(text: &str) -> Result<Self, String> {
        if text.len() > LONGEST {
            return Err(format!("a regular expression has at most {LONGEST} bytes"));
        }
        let regex = RegexBuilder::new(text)
            .size_limit(LARGEST)
            .dfa_size_limit(16 * LARGEST)
            .nest_limit(32)
            .build()
            .map_err(|error| match error {
                regex::Error::CompiledTooBig(_) => {
                    "the regular expression is too large: repeat fewer times".into()
                }
                error => format!("not a regular expression: {error}"),
            })?;
        Ok(Self(regex))
    }

    /// Whether it has a group for the time.
    pub(crate) fn has_time(&self) -> bool {
        self.0.capture_names().flatten().any(|name| name == TIME)
    }

    /// The values in `text` with their times.
    pub(crate) fn find<'t>(&self, text: &'t str) -> impl Iterator<Item = (&'t str, Option<&'t str>)> {
        self.0.captures_iter(text).filter_map(|groups| {
            let first = || {
                groups
                    .iter()
                    .skip(1)
                    .zip(self.0.capture_names().skip(1))
                    .find(|(_, name)| *name != Some(TIME))
            };
            let value = match groups.name(VALUE) {
                Some(value) => Some(value),
                None if self.0.capture_names().flatten().any(|name| name == VALUE) => None,
                None => first().map_or(groups.get(0), |(group, _)| group),
            };
            Some((value?.as_str(), groups.name(TIME).map(|time| time.as_str())))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_is_its_group_or_the_first_or_the_match() {
        let find = |pattern: &str, text: &'static str| {
            let pattern = Pattern::new(pattern).unwrap();
            pattern.find(text).collect::<Vec<_>>()
        };
        let text = "12:00 t=21.5 C, 12:05 t=22 C";
        assert_eq!(find(r"\d+\.\d", text), [("21.5", None)]);
        assert_eq!(find(r"t=(\S+) C", text), [("21.5", None), ("22", None)]);
        assert_eq!(
            find(r"(?<time>\d+:\d+) t=(?<value>\S+)", text),
            [("21.5", Some("12:00")), ("22", Some("12:05"))]
        );
        assert_eq!(find(r"(?<time>\d+:\d+) t=(\S+)", text), [("21.5", Some("12:00")), ("22", Some("12:05"))]);
        assert_eq!(find(r"x=(?<value>\d)|t=\d", text), []);
    }

    #[test]
    fn what_is_no_expression_or_too_large_a_one_is_refused_with_the_reason() {
        for (pattern, why) in [
            ("(", "unclosed group"),
            ("[0-9]{100}{100}", "too large"),
            (r"\w{200}", "too large"),
            (r"(a)\1", "backreferences"),
            (&"a".repeat(257), "256"),
            (&"(".repeat(100), "not a regular expression"),
        ] {
            let error = Pattern::new(pattern).unwrap_err();
            assert!(error.contains(why), "{pattern}: {error}");
        }
    }
}

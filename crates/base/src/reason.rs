use core::fmt;

/// Writes the sentence that documents a reason so that it can follow other words: without its capital and its full stop. A reason thus has
/// one wording, in its documentation and in messages.
pub fn write_reason(f: &mut fmt::Formatter<'_>, documented: &str) -> fmt::Result {
    let sentence = documented.trim();
    let sentence = sentence.strip_suffix('.').unwrap_or(sentence);
    let mut rest = sentence.chars();
    if let Some(first) = rest.next() {
        fmt::Write::write_char(f, first.to_ascii_lowercase())?;
    }
    f.write_str(rest.as_str())
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::string::ToString;

    use super::*;

    struct Documented(&'static str);

    impl fmt::Display for Documented {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write_reason(f, self.0)
        }
    }

    #[test]
    fn a_sentence_loses_its_capital_and_its_full_stop() {
        assert_eq!(Documented(" Its ICV is wrong.").to_string(), "its ICV is wrong");
        assert_eq!(Documented("").to_string(), "");
    }
}

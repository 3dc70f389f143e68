//! What names may hold.

use crate::LONGEST_LABEL;

/// Whether nobody can see `char` in a name: control characters, those that turn the direction of what stands beside them, and those
/// without width. With them, one name looks like another
/// ([Unicode Technical Report 36](https://www.unicode.org/reports/tr36/#visual_spoofing)).
pub const fn is_hidden(char: char) -> bool {
    matches!(
        char,
        '\u{0}'..='\u{1f}'
            | '\u{7f}'..='\u{9f}'
            | '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
    )
}

/// Whether `label` can be that of a stream.
pub fn is_stream_label(label: &str) -> bool {
    (1..=LONGEST_LABEL).contains(&label.len()) && !label.chars().any(is_hidden)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_in_no_name_and_what_can_is() {
        for name in ["t", "température", "温度", "حرارة", "a b", "kitchen-1", "😀"] {
            assert!(is_stream_label(name), "{name}");
        }
        for char in ['\u{202e}', '\u{202a}', '\u{2066}', '\u{2069}', '\u{200b}', '\u{200d}', '\u{feff}', '\n']
        {
            assert!(!is_stream_label(&format!("a{char}b")), "{char:?}");
        }
        assert!((0..=0x10ffff).filter_map(char::from_u32).all(|char| !char.is_control() || is_hidden(char)));
    }
}

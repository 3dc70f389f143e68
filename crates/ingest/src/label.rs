//! What names may hold.

use crate::LONGEST_LABEL;

/// Whether nobody can see `char` in a name: control characters, those that turn the direction of what stands beside them, those
/// that are not shown, and blank ones. With them, one name looks like another
/// ([Unicode Technical Report 36](https://www.unicode.org/reports/tr36/#visual_spoofing)).
pub const fn is_hidden(char: char) -> bool {
    is_default_ignorable(char)
        || matches!(
            char,
            '\u{0}'..='\u{1f}'
                | '\u{7f}'..='\u{9f}'
                // Separators of lines and paragraphs.
                | '\u{2028}'..='\u{2029}'
                // The blank Braille pattern.
                | '\u{2800}'
                // Interlinear annotation.
                | '\u{fff9}'..='\u{fffb}'
        )
        || is_bidi_control(char)
}

/// Unicode's `Default_Ignorable_Code_Point`
/// ([DerivedCoreProperties](https://www.unicode.org/Public/16.0.0/ucd/DerivedCoreProperties.txt)).
const fn is_default_ignorable(char: char) -> bool {
    matches!(
        char,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fff8}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Whether `char` turns the direction of the text beside it: Unicode's `Bidi_Control`
/// ([PropList](https://www.unicode.org/Public/16.0.0/ucd/PropList.txt)).
pub const fn is_bidi_control(char: char) -> bool {
    matches!(
        char,
        '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
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
        for (first, last) in [
            (0x34f, 0x34f),
            (0x115f, 0x1160),
            (0x17b4, 0x17b5),
            (0x180b, 0x180f),
            (0x2800, 0x2800),
            (0x3164, 0x3164),
            (0xfe00, 0xfe0f),
            (0xffa0, 0xffa0),
            (0xfff9, 0xfffb),
            (0xe0000, 0xe0fff),
        ] {
            for char in (first..=last).filter_map(char::from_u32) {
                assert!(!is_stream_label(&format!("a{char}b")), "{char:?}");
            }
        }
        assert!(
            (0..=0x10ffff).filter_map(char::from_u32).all(|char| !is_bidi_control(char) || is_hidden(char))
        );
        for char in ['\u{202e}', '\u{202a}', '\u{2066}', '\u{2069}', '\u{200b}', '\u{200d}', '\u{feff}', '\n']
        {
            assert!(!is_stream_label(&format!("a{char}b")), "{char:?}");
        }
        assert!((0..=0x10ffff).filter_map(char::from_u32).all(|char| !char.is_control() || is_hidden(char)));
    }
}

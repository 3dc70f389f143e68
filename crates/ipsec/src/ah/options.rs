//! Options of hop-by-hop and destination headers, some of which change on the way.

/// The bit of an option's type that says so ([RFC 8200 section 4.2](https://www.rfc-editor.org/rfc/rfc8200#section-4.2)).
const MUTABLE: u8 = 1 << 5;

const PAD_1: u8 = 0;

/// The first option in `options` with its length, type and length fields included.
fn first(options: &[u8]) -> Option<usize> {
    let length = match options {
        [PAD_1, ..] => 1,
        [_, length, ..] => 2 + usize::from(*length),
        _ => return None,
    };
    (length <= options.len()).then_some(length)
}

/// Whether the options of `header` end where it does.
pub(super) fn fit(header: &[u8]) -> bool {
    let Some(mut rest) = header.get(2..) else { return false };
    while !rest.is_empty() {
        match first(rest).and_then(|length| rest.get(length..)) {
            Some(behind) => rest = behind,
            None => return false,
        }
    }
    true
}

/// Adds a header from its length field on, with zeros for the data of options that change on the way.
pub(super) fn feed(header: &[u8], add: &mut impl FnMut(&[u8])) {
    let Some((length, mut rest)) = header.split_first() else { return };
    add(&[*length]);
    while let Some((option, behind)) = first(rest).and_then(|length| rest.split_at_checked(length)) {
        match option {
            [kind, length, data @ ..] if kind & MUTABLE != 0 => {
                add(&[*kind, *length]);
                for _ in data {
                    add(&[0]);
                }
            }
            unchanged => add(unchanged),
        }
        rest = behind;
    }
}

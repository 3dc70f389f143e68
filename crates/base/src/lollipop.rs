//! Sequence counters that tell a reboot from a turn ([RFC 6550 section 7.2](https://www.rfc-editor.org/rfc/rfc6550#section-7.2)): those
//! of RPL, and the transaction ids of registrations.

use core::cmp::Ordering;

/// Counters that are further apart tell nothing of each other.
pub const WINDOW: u8 = 16;

/// The first value of a counter. From here it counts to 255 once, and then from 0 to 127 for ever.
pub const FIRST: u8 = 240;

/// How `a` stands to `b`; `None` if they are too far apart to be compared.
pub fn compare(a: u8, b: u8) -> Option<Ordering> {
    match (a > 127, b > 127) {
        (true, false) => Some(compare_restarted(a, b)),
        (false, true) => Some(compare_restarted(b, a).reverse()),
        (true, true) => (a.abs_diff(b) <= WINDOW).then(|| a.cmp(&b)),
        (false, false) => match a.wrapping_sub(b) & 127 {
            0 => Some(Ordering::Equal),
            1..=WINDOW => Some(Ordering::Greater),
            ahead if ahead >= 128 - WINDOW => Some(Ordering::Less),
            _ => None,
        },
    }
}

/// How a counter that has begun stands to one that has gone round.
fn compare_restarted(begun: u8, gone_round: u8) -> Ordering {
    if 256 - u16::from(begun) + u16::from(gone_round) <= WINDOW.into() {
        Ordering::Less
    } else {
        Ordering::Greater
    }
}

/// The value behind `value`.
pub fn next(value: u8) -> u8 {
    if value & 127 == 127 { 0 } else { value + 1 }
}

/// Whether `a` is newer than `b`, or may be: who has rebooted often is believed.
pub fn may_be_newer(a: u8, b: u8) -> bool {
    matches!(compare(a, b), Some(Ordering::Greater) | None)
}

/// The value of a counter that has been raised `count` times.
pub const fn value(count: u32) -> u8 {
    match count {
        0..=15 => FIRST + count as u8,
        _ => ((count - 16) & 127) as u8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mistake 15: comparison of counters (contiki-ng#201), by the examples of RFC 6550 section 7.2.
    #[test]
    fn counters_compare_as_the_examples_of_the_rfc() {
        for (a, b, expected) in [
            (240, 5, Some(Ordering::Greater)),
            (250, 5, Some(Ordering::Less)),
            (127, 127, Some(Ordering::Equal)),
            (0, 127, Some(Ordering::Greater)),
            (15, 127, Some(Ordering::Greater)),
            (16, 127, None),
            (255, 0, Some(Ordering::Less)),
            (255, 15, Some(Ordering::Less)),
            (255, 16, Some(Ordering::Greater)),
            (240, 255, Some(Ordering::Less)),
            (128, 255, None),
            (60, 100, None),
        ] {
            assert_eq!(compare(a, b), expected, "{a} and {b}");
            assert_eq!(compare(b, a), expected.map(Ordering::reverse), "{b} and {a}");
        }
    }

    #[test]
    fn each_value_is_newer_than_the_sixteen_before_it_and_every_pair_is_antisymmetric() {
        for count in 0..1000 {
            for before in 1..=WINDOW.into() {
                let Some(earlier) = u32::checked_sub(count, before) else { continue };
                assert_eq!(compare(value(count), value(earlier)), Some(Ordering::Greater), "{count}");
            }
        }
        for a in 0..=255 {
            for b in 0..=255 {
                assert_eq!(compare(a, b), compare(b, a).map(Ordering::reverse));
                assert_eq!(compare(a, b) == Some(Ordering::Equal), a == b);
            }
        }
    }
}

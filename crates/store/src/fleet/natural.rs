//! The order in which people look for names: numbers within them by their values, letters without their case.

use std::cmp::Ordering;

/// Compares two names: `sensor2` is before `sensor10`. Only those that are the same are equal.
pub(crate) fn natural(one: &str, other: &str) -> Ordering {
    let (mut left, mut right) = (one, other);
    loop {
        let (Some(first), Some(second)) = (left.chars().next(), right.chars().next()) else {
            // Who ends first is first; what differs by case or leading zeros alone is told apart by that.
            return left.len().cmp(&right.len()).then_with(|| one.cmp(other));
        };
        let order = if first.is_ascii_digit() && second.is_ascii_digit() {
            numbers(digits(&mut left), digits(&mut right))
        } else {
            left = &left[first.len_utf8()..];
            right = &right[second.len_utf8()..];
            first.to_lowercase().cmp(second.to_lowercase())
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

/// Takes the digits that `text` begins with.
fn digits<'a>(text: &mut &'a str) -> &'a str {
    let end = text.find(|char: char| !char.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    *text = rest;
    digits
}

/// Compares two numbers, however long they are.
fn numbers(one: &str, other: &str) -> Ordering {
    let (one, other) = (one.trim_start_matches('0'), other.trim_start_matches('0'));
    one.len().cmp(&other.len()).then_with(|| one.cmp(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_are_in_the_order_of_their_values() {
        let sorted = [
            "1",
            "2",
            "10",
            "a",
            "A2",
            "a10",
            "a10b2",
            "a10b10",
            "b",
            "sensor02",
            "sensor2",
            "Sensor10",
            "sensor10 x",
            "sensor99999999999999999999",
            "sensor100000000000000000000",
            "Äpfel",
        ];
        for (n, one) in sorted.iter().enumerate() {
            for (m, other) in sorted.iter().enumerate() {
                assert_eq!(natural(one, other), n.cmp(&m), "{one} {other}");
            }
        }
    }
}

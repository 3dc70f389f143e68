//! Which seeds a long test tries.

use std::env;
use std::ops::RangeInclusive;

/// Which of a test's seeds to try, by their position from 1: as the environment's `variable` says, `1000` for the first thousand or
/// `201..400` for those from the 201st to the 400th, so that a long test runs in parts; the first `usual` ones if it says nothing.
///
/// # Panics
///
/// If the variable says anything else.
pub fn seeds_to_try(variable: &str, usual: usize) -> RangeInclusive<usize> {
    let Ok(said) = env::var(variable) else { return 1..=usual };
    let (first, last) = said.split_once("..").unwrap_or(("1", &said));
    match (first.parse(), last.parse()) {
        (Ok(first), Ok(last)) if 1 <= first && first <= last => first..=last,
        _ => panic!(
            "{variable} is a number of seeds, such as 1000, or says from which to which, such as 201..400: {said}"
        ),
    }
}

//! When one option makes another superfluous.

use sixlock_sim::Spread;

use crate::objective::{OBJECTIVES, Values};

/// Whether `one` is, with 95 % confidence, at least as good as `other` in every objective, and better in one. Both have the same seeds,
/// in one order: the differences of a seed are compared, so that what chance does to both does not count.
pub(crate) fn dominates(one: &[Values], other: &[Values]) -> bool {
    if one.len().min(other.len()) < 2 {
        return false;
    }
    let mut is_better = false;
    for (index, objective) in OBJECTIVES.iter().enumerate() {
        let mut gains = Vec::new();
        let mut lacks = false;
        for (one, other) in one.iter().zip(other) {
            match (one[index], other[index]) {
                (Some(one), Some(other)) => {
                    gains.push(if objective.is_gain { one - other } else { other - one })
                }
                // What a run does not come to at all is worse than any value.
                (None, Some(_)) => return false,
                (Some(_), None) => lacks = true,
                (None, None) => {}
            }
        }
        // Few pairs that have both values say little by their interval, where the others say that it is better.
        let is_never_worse = lacks && gains.iter().all(|gain| *gain >= 0.0);
        let (low, mean) = match (Spread::of(&gains), &gains[..]) {
            (Some(spread), _) => (spread.interval()[0], spread.mean),
            (None, [gain]) => (*gain, *gain),
            (None, _) => (0.0, 0.0),
        };
        if low < 0.0 && !is_never_worse {
            return false;
        }
        is_better |= mean > 0.0 || lacks;
    }
    is_better
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values by the first objective, of which more is better, and the second, of which less is; the others are equal.
    fn runs(values: &[(f64, f64)]) -> Vec<Values> {
        assert!(OBJECTIVES[0].is_gain && !OBJECTIVES[1].is_gain);
        values.iter().map(|&(gain, cost)| [Some(gain), Some(cost), None, Some(1.0), Some(0.0)]).collect()
    }

    #[test]
    fn one_that_is_surely_no_worse_in_anything_and_better_in_something_makes_another_superfluous() {
        let good = runs(&[(99.0, 10.0), (97.0, 12.0), (98.0, 11.0)]);
        let slower = runs(&[(99.0, 15.0), (97.0, 17.0), (98.0, 16.0)]);
        assert!(dominates(&good, &slower) && !dominates(&slower, &good));
        let slower_and_surer = runs(&[(99.5, 15.0), (97.5, 17.0), (98.5, 16.0)]);
        assert!(!dominates(&good, &slower_and_surer) && !dominates(&slower_and_surer, &good));
    }

    #[test]
    fn nothing_makes_itself_superfluous() {
        let good = runs(&[(99.0, 10.0), (97.0, 12.0), (98.0, 11.0)]);
        assert!(!dominates(&good, &good));
    }

    #[test]
    fn what_chance_may_have_done_decides_nothing() {
        let one = runs(&[(99.0, 10.0), (97.0, 12.0), (98.0, 11.0)]);
        let by_chance = runs(&[(99.0, 10.5), (97.0, 11.0), (98.0, 12.5)]);
        assert!(!dominates(&one, &by_chance) && !dominates(&by_chance, &one));
        assert!(!dominates(&one[..1], &runs(&[(98.0, 20.0)])), "a single seed decides nothing");
    }

    #[test]
    fn a_run_without_a_value_is_worse_than_any() {
        let good = runs(&[(1.0, 9.0), (1.0, 9.0)]);
        let mut silent = good.clone();
        silent[1][1] = None;
        assert!(dominates(&good, &silent) && !dominates(&silent, &good));
        // The two pairs that have both values have a wide interval, but in no pair it is worse.
        let slow = runs(&[(1.0, 10.0), (1.0, 11.0), (1.0, 9.0), (1.0, 10.0), (1.0, 12.0)]);
        let mut silent = runs(&[(1.0, 10.1), (1.0, 15.0), (1.0, 0.0), (1.0, 0.0), (1.0, 0.0)]);
        silent[2..].iter_mut().for_each(|run| run[1] = None);
        assert!(dominates(&slow, &silent) && !dominates(&silent, &slow));
        silent[0][1] = Some(9.0);
        assert!(!dominates(&slow, &silent));
    }
}

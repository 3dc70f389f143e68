//! What several runs say of a number, in the cell of a table or in those of CSV.

use sixlock_sim::Estimate;

use crate::columns::NOTHING;

/// For people: the mean, with half of its 95 % interval.
pub(crate) fn cell(estimate: Estimate) -> String {
    match estimate {
        Estimate::Nothing => NOTHING.into(),
        Estimate::One(value) => format!("{value:.2}"),
        Estimate::Several { spread, .. } => format!("{:.2} ± {:.2}", spread.mean, spread.half()),
    }
}

/// The names of a column for [`csv`].
pub(crate) fn csv_heading(column: &str) -> String {
    format!("{column},{column}.low,{column}.high")
}

/// For programs: the mean, and where its 95 % interval begins and ends.
pub(crate) fn csv(estimate: Estimate) -> String {
    match estimate {
        Estimate::Nothing => ",,".into(),
        Estimate::One(value) => format!("{},,", exact(value)),
        Estimate::Several { spread, interval, .. } => {
            let [mean, low, high] = [spread.mean, interval[0], interval[1]].map(exact);
            format!("{mean},{low},{high}")
        }
    }
}

/// The number as it was before adding up left something behind its twelfth place.
pub(crate) fn exact(number: f64) -> f64 {
    format!("{number:.11e}").parse().unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_adding_up_leaves_is_no_part_of_a_number() {
        assert_eq!(exact(0.1 + 0.2).to_string(), "0.3");
        assert_eq!(exact(100.0 * 1.1).to_string(), "110");
        for number in [0.0, 1e-9, 36521582.01, 123_456_789_012.0, -4.5, f64::INFINITY] {
            assert_eq!(exact(number), number);
        }
    }
}

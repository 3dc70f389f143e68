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
        Estimate::One(value) => format!("{value},,"),
        Estimate::Several { spread, interval: [low, high], .. } => format!("{},{low},{high}", spread.mean),
    }
}

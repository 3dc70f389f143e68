//! How often a device reports.

use crate::error::Error;

/// How often a device may report, in seconds: up to a year.
const PERIODS_S: std::ops::RangeInclusive<i64> = 1..=366 * 86_400;

/// Refuses how often no device reports.
pub(crate) fn check_period(period_s: Option<i64>) -> Result<(), Error> {
    period_s
        .is_none_or(|period| PERIODS_S.contains(&period))
        .then_some(())
        .ok_or(Error::Invalid("period_s is null, or seconds from 1 to 31622400 (a year)"))
}

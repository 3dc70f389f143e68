//! The values that an axis has room for.

use crate::figure::Row;

/// All values that rows show.
pub(super) fn shown(rows: &[Row]) -> impl Iterator<Item = f64> + Clone + '_ {
    rows.iter().flat_map(|row| {
        row.interval.unwrap_or([row.value; 2]).into_iter().chain(row.published).chain(row.measured)
    })
}

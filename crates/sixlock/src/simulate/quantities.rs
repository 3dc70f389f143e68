//! What is told of several runs.

use sixlock_sim::{Estimate, Quantity, Report};

pub(super) const QUANTITIES: [Quantity; 6] = [
    Quantity::DELIVERED,
    Quantity::ROUND_TRIP,
    Quantity::BYTES,
    Quantity::ENERGY,
    Quantity::ENERGY_WITHOUT_LISTENING,
    Quantity::LIFE,
];

/// What those of `reports` say of `quantity` which have it.
pub(super) fn estimate(quantity: &Quantity, reports: &[Report]) -> Estimate {
    let values: Vec<_> = reports.iter().filter_map(|report| quantity.of(report)).collect();
    quantity.estimate(&values)
}

use sixlock_ipv6::rpl::INFINITE_RANK;

use crate::objective::{MAX_LINK_METRIC, ObjectiveFunction};
use crate::rank::dag_rank;

/// Objective function zero ([RFC 6552](https://www.rfc-editor.org/rfc/rfc6552)): the fewest hops, in which a bad link counts as
/// several. The step of rank is 3 ETX - 2, as in [RFC 8180 section 5.1.1](https://www.rfc-editor.org/rfc/rfc8180#section-5.1.1); the
/// rank factor is 1 and nothing is stretched.
pub enum Of0 {}

/// The least and the greatest step of rank ([RFC 6552 section 6.3](https://www.rfc-editor.org/rfc/rfc6552#section-6.3)).
const STEPS: (u16, u16) = (1, 9);

impl ObjectiveFunction for Of0 {
    const CODE_POINT: u16 = 0;
    const MIN_HOP_RANK_INCREASE: u16 = 256;

    fn path_cost(neighbour: u16, etx: u16, min_hop_rank_increase: u16) -> u16 {
        if etx > MAX_LINK_METRIC {
            return INFINITE_RANK;
        }
        let step = (3 * etx / 128).saturating_sub(2).clamp(STEPS.0, STEPS.1);
        neighbour.saturating_add(step.saturating_mul(min_hop_rank_increase))
    }

    fn rank(_: u16, path_cost: u16, _: u16) -> u16 {
        path_cost
    }

    fn is_better(new: u16, current: u16, min_hop_rank_increase: u16) -> bool {
        dag_rank(new, min_hop_rank_increase) < dag_rank(current, min_hop_rank_increase)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_good_link_is_one_step_and_a_bad_one_is_more() {
        for (etx, steps) in [(128, 1), (170, 1), (192, 2), (256, 4), (384, 7), (512, 9)] {
            assert_eq!(Of0::path_cost(256, etx, 256), 256 + steps * 256, "{etx}");
        }
        assert_eq!(Of0::path_cost(256, MAX_LINK_METRIC + 1, 256), INFINITE_RANK);
        assert_eq!(Of0::path_cost(0xff00, 512, 256), INFINITE_RANK, "no rank wraps");
    }

    #[test]
    fn a_parent_is_changed_for_one_hop_less() {
        assert!(Of0::is_better(511, 512, 256));
        assert!(!Of0::is_better(512, 767, 256));
    }
}

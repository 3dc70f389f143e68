use sixlock_ipv6::rpl::INFINITE_RANK;

use crate::link::ETX;
use crate::objective::{MAX_LINK_METRIC, ObjectiveFunction};

/// Objective function zero ([RFC 6552](https://www.rfc-editor.org/rfc/rfc6552)): the fewest hops, in which a bad link counts as
/// several. The step of rank is 3 ETX - 2, as in [RFC 8180 section 5.1.1](https://www.rfc-editor.org/rfc/rfc8180#section-5.1.1), with its
/// fraction: rounded, it would jump by a whole hop wherever ETX varies around a boundary. The rank factor is 1 and nothing is stretched.
pub enum Of0 {}

/// The least and the greatest step of rank ([RFC 6552 section 6.3](https://www.rfc-editor.org/rfc/rfc6552#section-6.3)).
const STEPS: (u16, u16) = (1, 9);

/// By how much a path must be better, in halves of [`Of0::MIN_HOP_RANK_INCREASE`]: as much as an ETX of 1.5, like that of MRHOF.
const PARENT_SWITCH_THRESHOLD: u16 = 9;

impl ObjectiveFunction for Of0 {
    const CODE_POINT: u16 = 0;
    const MIN_HOP_RANK_INCREASE: u16 = 256;

    fn path_cost(neighbour: u16, etx: u16, min_hop_rank_increase: u16) -> u16 {
        if etx > MAX_LINK_METRIC {
            return INFINITE_RANK;
        }
        let step = (3 * etx).saturating_sub(2 * ETX).clamp(STEPS.0 * ETX, STEPS.1 * ETX);
        let increase = u32::from(step) * u32::from(min_hop_rank_increase) / u32::from(ETX);
        let cost = u32::from(neighbour).saturating_add(increase);
        u16::try_from(cost).unwrap_or(INFINITE_RANK)
    }

    fn rank(_: u16, path_cost: u16, _: u16) -> u16 {
        path_cost
    }

    /// With hysteresis, which RFC 6552 leaves open. [RFC 8180 section 6.4](https://www.rfc-editor.org/rfc/rfc8180#section-6.4) recommends
    /// 640 for these ranks, an ETX of 0.83: where frames are lost, several times as many parents change.
    fn is_better(new: u16, current: u16, min_hop_rank_increase: u16) -> bool {
        current.saturating_sub(new) >= (min_hop_rank_increase / 2).saturating_mul(PARENT_SWITCH_THRESHOLD)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_good_link_is_one_step_and_a_bad_one_is_more() {
        for (etx, rank) in
            [(128, 256), (129, 262), (160, 448), (192, 640), (256, 1024), (384, 1792), (512, 2304)]
        {
            assert_eq!(Of0::path_cost(256, etx, 256), 256 + rank, "{etx}");
        }
        assert_eq!(Of0::path_cost(256, 0, 256), 512, "a step is at least 1");
        assert_eq!(Of0::path_cost(256, MAX_LINK_METRIC + 1, 256), INFINITE_RANK);
        assert_eq!(Of0::path_cost(0xff00, 512, 256), INFINITE_RANK, "no rank wraps");
    }

    #[test]
    fn a_parent_is_changed_for_a_path_that_is_better_by_the_threshold() {
        assert!(Of0::is_better(512, 512 + 1152, 256));
        assert!(!Of0::is_better(513, 512 + 1152, 256));
        assert!(!Of0::is_better(600, 512, 256));
        assert!(!Of0::is_better(1, u16::MAX, u16::MAX), "no threshold wraps");
    }

    #[test]
    fn choices_between_two_links_that_vary_come_to_rest() {
        let (mut current, mut changes) = (Of0::path_cost(512, 170, 256), 0);
        for n in 0..1000_u16 {
            let new = Of0::path_cost(512, 128 + n % 64, 256);
            if Of0::is_better(new, current, 256) {
                (current, changes) = (new, changes + 1);
            }
        }
        assert_eq!(changes, 0);
    }
}

use sixlock_ipv6::rpl::INFINITE_RANK;

use crate::objective::ObjectiveFunction;
use crate::rank::dag_rank;

/// The minimum rank with hysteresis, of ETX ([RFC 6719](https://www.rfc-editor.org/rfc/rfc6719)). The rank is the path's ETX itself, in
/// units of 1/128; therefore DIOs carry no metric container
/// ([RFC 6719 section 3.5](https://www.rfc-editor.org/rfc/rfc6719#section-3.5)). The parent set is the preferred parent alone.
pub enum Mrhof {}

/// The ETX of the worst link that is used ([RFC 6719 section 5](https://www.rfc-editor.org/rfc/rfc6719#section-5)).
pub const MAX_LINK_METRIC: u16 = 512;

/// The cost of the worst path that is used.
const MAX_PATH_COST: u16 = 32768;

/// By how much a path must be better.
const PARENT_SWITCH_THRESHOLD: u16 = 192;

impl ObjectiveFunction for Mrhof {
    const CODE_POINT: u16 = 1;
    const MIN_HOP_RANK_INCREASE: u16 = 128;

    fn path_cost(neighbour: u16, etx: u16, _: u16) -> u16 {
        match neighbour.saturating_add(etx) {
            cost if etx <= MAX_LINK_METRIC && cost <= MAX_PATH_COST => cost,
            _ => INFINITE_RANK,
        }
    }

    /// The cost, or the next integral rank behind the parent's if that is more
    /// ([RFC 6719 section 3.3](https://www.rfc-editor.org/rfc/rfc6719#section-3.3)).
    fn rank(parent: u16, path_cost: u16, min_hop_rank_increase: u16) -> u16 {
        let next = dag_rank(parent, min_hop_rank_increase).saturating_add(1);
        path_cost.max(next.saturating_mul(min_hop_rank_increase))
    }

    fn is_better(new: u16, current: u16, _: u16) -> bool {
        current.saturating_sub(new) >= PARENT_SWITCH_THRESHOLD
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mistake 13: the unit of ETX is 1/128, and there are limits (contiki#1403).
    #[test]
    fn costs_are_etx_in_units_of_128_up_to_the_limits() {
        assert_eq!(Mrhof::path_cost(128, 128, 128), 256);
        assert_eq!(Mrhof::path_cost(128, 512, 128), 640);
        assert_eq!(Mrhof::path_cost(128, 513, 128), INFINITE_RANK, "MAX_LINK_METRIC");
        assert_eq!(Mrhof::path_cost(32768 - 128, 128, 128), 32768);
        assert_eq!(Mrhof::path_cost(32768 - 127, 128, 128), INFINITE_RANK, "MAX_PATH_COST");
        assert_eq!(Mrhof::path_cost(INFINITE_RANK, 128, 128), INFINITE_RANK);
    }

    #[test]
    fn the_rank_is_the_cost_and_at_least_the_next_integral_rank() {
        assert_eq!(Mrhof::rank(128, 320, 128), 320);
        assert_eq!(Mrhof::rank(130, 258, 128), 258);
        assert_eq!(Mrhof::rank(256, 384, 256), 512, "ranks of a parent are never its child's");
        assert_eq!(Mrhof::rank(INFINITE_RANK, INFINITE_RANK, 128), INFINITE_RANK);
    }

    #[test]
    fn a_parent_is_changed_for_a_path_that_is_better_by_the_threshold() {
        assert!(Mrhof::is_better(308, 500, 128));
        assert!(!Mrhof::is_better(309, 500, 128));
        assert!(!Mrhof::is_better(600, 500, 128));
    }

    /// Mistake 13: with links that stay as they are, choices come to rest (contiki-ng#503).
    #[test]
    fn choices_between_two_links_that_vary_come_to_rest() {
        let (mut current, mut changes) = (300, 0);
        for n in 0..1000_u16 {
            let new = 250 + n % 100;
            if Mrhof::is_better(new, current, 128) {
                (current, changes) = (new, changes + 1);
            }
        }
        assert_eq!(changes, 0);
    }
}

use sixlock_ipv6::rpl::INFINITE_RANK;

/// The integer part of `rank`, which orders nodes
/// ([RFC 6550 section 3.5.1](https://www.rfc-editor.org/rfc/rfc6550#section-3.5.1)); no `min_hop_rank_increase` of a configuration
/// that was taken is 0.
pub(crate) fn dag_rank(rank: u16, min_hop_rank_increase: u16) -> u16 {
    rank.checked_div(min_hop_rank_increase).unwrap_or(INFINITE_RANK)
}

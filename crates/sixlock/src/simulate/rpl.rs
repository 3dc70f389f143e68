//! How networks formed themselves by RPL, for people.

use std::collections::BTreeMap;
use std::io::{self, Write};

use sixlock_sim::Report;

/// Prints who joined and when, what that took, and how long the ways are at the end; nothing where RPL did not route.
pub(super) fn print(out: &mut impl Write, reports: &[Report]) -> io::Result<()> {
    let sum = |figure: fn(&Report) -> Option<u64>| reports.iter().map(figure).sum::<Option<u64>>();
    let (Some(frames), Some(bytes)) = (sum(Report::control_frames), sum(Report::control_bytes)) else {
        return Ok(());
    };
    let nodes = || reports.iter().flat_map(|report| &report.nodes);
    let mut times: Vec<_> = nodes().filter_map(|node| node.joined_s).collect();
    times.sort_by(f64::total_cmp);
    write!(out, "RPL: {} of {} nodes joined", times.len(), nodes().count())?;
    // Nearest rank, as of the other medians.
    if let (Some(median), Some(last)) = (times.get(times.len().saturating_sub(1) / 2), times.last()) {
        write!(out, ", after {median:.1} s in the median and {last:.1} s at the latest")?;
    }
    let taken: u64 = nodes().filter_map(|node| node.parent_changes).map(u64::from).sum();
    write!(out, "; parents were taken {taken} times, the first of each node included")?;
    writeln!(out, "; {frames} frames and {bytes} bytes carried its messages")?;
    let mut hops: BTreeMap<u32, usize> = BTreeMap::new();
    for count in nodes().filter_map(|node| node.hops) {
        *hops.entry(count).or_default() += 1;
    }
    let lost = nodes().filter(|node| node.hops.is_none()).count();
    let ways = hops.iter().map(|(hops, count)| format!("{count} of {hops}"));
    let lost = (lost > 0).then(|| format!("{lost} nodes without a way"));
    let ways: Vec<_> = ways.chain(lost).collect();
    writeln!(out, "ways at the end, by hops: {}", ways.join(", "))
}

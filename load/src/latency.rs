//! How long posts took.

use std::time::Duration;

/// How long each post took, from when it was due until it was acknowledged.
#[derive(Clone, Debug, Default)]
pub struct Latencies(Vec<Duration>);

impl Latencies {
    pub(crate) fn add(&mut self, latency: Duration) {
        self.0.push(latency);
    }

    /// Takes those of other posts, too.
    pub(crate) fn append(&mut self, mut other: Self) {
        self.0.append(&mut other.0);
    }

    /// How many posts there were.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The latency that `share` of all posts did not exceed; nothing if there was no post.
    pub fn quantile(&self, share: f64) -> Option<Duration> {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let rank = (sorted.len() as f64 * share).ceil() as usize;
        sorted.get(rank.max(1) - 1).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_the_least_latency_that_its_share_does_not_exceed() {
        let mut latencies = Latencies::default();
        assert_eq!(latencies.quantile(0.5), None);
        for millis in (1..=100).rev() {
            latencies.add(Duration::from_millis(millis));
        }
        let expected = [(0.0, 1), (0.5, 50), (0.99, 99), (0.991, 100), (1.0, 100)];
        for (share, millis) in expected {
            assert_eq!(latencies.quantile(share), Some(Duration::from_millis(millis)), "{share}");
        }
    }
}

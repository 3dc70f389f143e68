//! Which topics are observed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::ids::Topic;

/// The topics that are observed by peers which may do so: whose first answer was a success. It has an entry for each observation at most, and
/// those are limited. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct ObservedTopics(Arc<Mutex<BTreeMap<Topic, Observations>>>);

/// The observations of a topic.
#[derive(Debug, Default)]
struct Observations {
    admitted: usize,
    /// Those whose first answer is being found.
    pending: usize,
    /// Whether changes of it may have been passed over while one was pending.
    passed: bool,
}

impl ObservedTopics {
    /// Returns whether a topic is observed that `is_meant`. If none is, changes of those may be passed over now: who begins to observe one
    /// of them at this moment is told of it once more.
    pub fn any(&self, is_meant: impl Fn(Topic) -> bool) -> bool {
        let mut topics = self.topics();
        let any = topics.iter().any(|(topic, of)| of.admitted > 0 && is_meant(*topic));
        if !any {
            topics.iter_mut().for_each(|(topic, of)| of.passed |= is_meant(*topic));
        }
        any
    }

    /// The first answer to one who wants to observe `topic` is being found.
    pub(crate) fn begin(&self, topic: Topic) {
        self.topics().entry(topic).or_default().pending += 1;
    }

    /// It was a success. Returns whether changes of the topic may have been passed over meanwhile.
    pub(crate) fn admit(&self, topic: Topic) -> bool {
        let mut topics = self.topics();
        let of = topics.entry(topic).or_default();
        of.pending = of.pending.saturating_sub(1);
        of.admitted += 1;
        if of.pending == 0 { std::mem::take(&mut of.passed) } else { of.passed }
    }

    /// An observation is over.
    pub(crate) fn end(&self, topic: Topic, was_admitted: bool) {
        let mut topics = self.topics();
        let Some(of) = topics.get_mut(&topic) else { return };
        let count = if was_admitted { &mut of.admitted } else { &mut of.pending };
        *count = count.saturating_sub(1);
        if of.admitted == 0 && of.pending == 0 {
            topics.remove(&topic);
        }
    }

    fn topics(&self) -> MutexGuard<'_, BTreeMap<Topic, Observations>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FromIterator<Topic> for ObservedTopics {
    /// That of one observation of each of these.
    fn from_iter<T: IntoIterator<Item = Topic>>(topics: T) -> Self {
        let observed = Self::default();
        for topic in topics {
            observed.admit(topic);
        }
        observed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_is_observed_from_its_first_admitted_observation_to_the_end_of_its_last() {
        let (observed, topic) = (ObservedTopics::default(), Topic(-1));
        let is_observed = || observed.any(|topic| topic.0 < 0);
        observed.begin(topic);
        assert!(!is_observed(), "it may yet be refused");
        observed.end(topic, false);
        for _ in 0..2 {
            observed.begin(topic);
            observed.admit(topic);
        }
        observed.end(topic, true);
        assert!(is_observed());
        assert!(!observed.any(|topic| topic.0 > 0));
        observed.end(topic, true);
        assert!(!is_observed() && observed.topics().is_empty());
    }

    #[test]
    fn whoever_was_passed_over_while_waiting_for_the_first_answer_is_told_again() {
        let (observed, topic, other) = (ObservedTopics::default(), Topic(-1), Topic(1));
        let look = || observed.any(|topic| topic.0 < 0);
        for topic in [topic, other] {
            observed.begin(topic);
        }
        assert!(!look());
        assert!(observed.admit(topic) && !observed.admit(other));
        // From now on nothing is passed over.
        observed.begin(topic);
        assert!(look());
        assert!(!observed.admit(topic));
    }
}

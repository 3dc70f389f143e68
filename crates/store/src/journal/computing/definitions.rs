//! What is computed, as a journal remembers it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use sixlock_expression::Expression;

use crate::ids::StreamId;

/// What computes a stream.
#[derive(Clone, Debug)]
pub(crate) struct Definition {
    pub(crate) expression: Arc<Expression>,
    /// Its inputs in their order.
    pub(crate) inputs: Vec<StreamId>,
    /// Nothing before this is computed any more: points of it, or of its inputs, are not kept.
    pub(crate) kept_from: i64,
}

/// All that is computed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Definitions {
    definitions: HashMap<StreamId, Definition>,
    /// The streams that are computed from a stream: each, and which of its inputs that is.
    dependents: HashMap<StreamId, Vec<(StreamId, usize)>>,
    /// How many computed streams stand above each other at most, down to the one named.
    levels: HashMap<StreamId, usize>,
    /// All computed streams, also those that cannot be computed.
    computed: BTreeSet<StreamId>,
}

impl Definitions {
    /// Of these computed streams, without cycles. One without a definition cannot be computed: an input of it is gone.
    pub(crate) fn new(streams: impl IntoIterator<Item = (StreamId, Option<Definition>)>) -> Self {
        let mut all = Self::default();
        for (stream, definition) in streams {
            all.computed.insert(stream);
            let Some(definition) = definition else { continue };
            for (input, of) in definition.inputs.iter().enumerate() {
                all.dependents.entry(*of).or_default().push((stream, input));
            }
            all.definitions.insert(stream, definition);
        }
        all.levels = levels(&all.definitions);
        // What has no level is computed from itself, which nobody can have saved.
        all.definitions.retain(|stream, _| all.levels.contains_key(stream));
        all
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.computed.is_empty()
    }

    /// Whether a stream is computed, so that nothing else is stored in it.
    pub(crate) fn is_computed(&self, stream: StreamId) -> bool {
        self.computed.contains(&stream)
    }

    /// Whether something is computed from a stream.
    pub(crate) fn is_input(&self, stream: StreamId) -> bool {
        self.dependents.contains_key(&stream)
    }

    pub(crate) fn of(&self, stream: StreamId) -> Option<&Definition> {
        self.definitions.get(&stream)
    }

    /// The streams that are computed from `stream`: each with its level and which of its inputs that is.
    pub(crate) fn dependents(&self, stream: StreamId) -> impl Iterator<Item = (usize, StreamId, usize)> {
        let dependents = self.dependents.get(&stream).into_iter().flatten();
        dependents.filter_map(|&(stream, input)| Some((self.level(stream)?, stream, input)))
    }

    pub(crate) fn level(&self, stream: StreamId) -> Option<usize> {
        self.levels.get(&stream).copied()
    }
}

/// The level of each stream that is not computed from itself: one more than the highest of its inputs.
fn levels(definitions: &HashMap<StreamId, Definition>) -> HashMap<StreamId, usize> {
    let mut levels = HashMap::new();
    let mut waiting: BTreeMap<StreamId, &Definition> =
        definitions.iter().map(|(stream, definition)| (*stream, definition)).collect();
    loop {
        let known = levels.len();
        waiting.retain(|stream, definition| {
            let computed = definition.inputs.iter().filter(|input| definitions.contains_key(input));
            let inputs: Option<Vec<usize>> = computed.map(|input| levels.get(input).copied()).collect();
            if let Some(inputs) = &inputs {
                levels.insert(*stream, inputs.iter().max().map_or(0, |level| level + 1));
            }
            inputs.is_none()
        });
        if levels.len() == known {
            return levels;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_stands_above_all_that_it_is_computed_from_and_one_in_a_cycle_is_left_out() {
        let definition = |inputs: &[i64]| {
            let names: Vec<String> = (0..inputs.len()).map(|n| format!("i{n}")).collect();
            let expression = Expression::new(&names.join("+"), &names, "UTC").unwrap().into();
            Some(Definition {
                expression,
                inputs: inputs.iter().copied().map(StreamId).collect(),
                kept_from: 0,
            })
        };
        let all = Definitions::new([
            (StreamId(5), definition(&[1, 2])),
            (StreamId(4), definition(&[5, 1])),
            (StreamId(6), definition(&[4, 5])),
            (StreamId(7), definition(&[8])),
            (StreamId(8), definition(&[7])),
            (StreamId(9), None),
        ]);
        let level = |stream| all.level(StreamId(stream));
        assert_eq!([5, 4, 6].map(level), [Some(0), Some(1), Some(2)]);
        assert_eq!([1, 7, 8, 9].map(level), [None; 4]);
        let dependents: Vec<_> = all.dependents(StreamId(1)).collect();
        assert_eq!(dependents, [(0, StreamId(5), 0), (1, StreamId(4), 1)]);
        assert_eq!(all.dependents(StreamId(7)).count(), 0);
        assert!(
            all.is_computed(StreamId(9)) && all.is_computed(StreamId(7)) && !all.is_computed(StreamId(1))
        );
    }
}

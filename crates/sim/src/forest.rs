//! The trees that nodes form by their parents.

/// Who is whose parent, by station, as far as it is known: trees whose roots are border routers, save where nodes are each other's parents
/// for a while.
pub(crate) struct Forest {
    parents: Vec<Option<u32>>,
    children: Vec<Vec<u32>>,
}

impl Forest {
    /// So many stations without parents.
    pub(crate) fn new(stations: usize) -> Self {
        Self { parents: vec![None; stations], children: vec![Vec::new(); stations] }
    }

    /// The parent of `station` is this one from now on, or none is known.
    pub(crate) fn attach(&mut self, station: u32, parent: Option<u32>) {
        let before = core::mem::replace(&mut self.parents[station as usize], parent);
        if before == parent {
            return;
        }
        if let Some(before) = before {
            self.children[before as usize].retain(|&child| child != station);
        }
        if let Some(parent) = parent {
            self.children[parent as usize].push(station);
        }
    }

    /// `station`, its parent, and so on to the root, or as many as there are stations, if they lead round in a circle.
    pub(crate) fn way(&self, station: u32) -> impl Iterator<Item = u32> {
        let parent = |at: &u32| self.parents[*at as usize];
        core::iter::successors(Some(station), parent).take(self.parents.len())
    }

    /// The last of the parents of `station`, itself if it has none; nothing if they lead round in a circle.
    pub(crate) fn root(&self, station: u32) -> Option<u32> {
        self.way(station).find(|&at| self.parents[at as usize].is_none())
    }

    /// Those whose parents lead to `station`, and itself, in order. Its own must not lead round in a circle.
    pub(crate) fn below(&self, station: u32) -> Vec<u32> {
        let mut found = vec![station];
        let mut seen = 0;
        while let Some(&at) = found.get(seen) {
            found.extend(&self.children[at as usize]);
            seen += 1;
        }
        found.sort_unstable();
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_change_as_nodes_choose_other_parents() {
        let mut forest = Forest::new(6);
        for (station, parent) in [(1, 0), (2, 1), (3, 2), (4, 1)] {
            forest.attach(station, Some(parent));
        }
        assert_eq!((forest.root(3), forest.below(1)), (Some(0), vec![1, 2, 3, 4]));
        forest.attach(2, Some(5));
        assert_eq!((forest.root(3), forest.below(1), forest.below(5)), (Some(5), vec![1, 4], vec![2, 3, 5]));
        forest.attach(2, Some(3));
        assert_eq!(forest.root(3), None, "they are each other's parents");
        forest.attach(2, None);
        assert_eq!((forest.root(3), forest.below(2)), (Some(2), vec![2, 3]));
    }
}

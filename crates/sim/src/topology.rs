//! Where nodes stand and which way their packets go.

use core::fmt;
use std::collections::BTreeSet;

pub(crate) use crate::geometry::within;
use crate::numbers::Numbers;
use crate::radio_model::{Radio, RadioModel};
use crate::random::{Probability, Purpose, Stream};

/// Where the nodes of a scenario stand. The border router is node 0, the others are 1 and up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Topology {
    /// The router and then the nodes, in a line.
    Chain {
        /// How many nodes, the router not counted.
        nodes: u32,
        /// Millimetres between neighbours.
        spacing: i32,
    },
    /// The nodes row by row in the smallest square that holds them; the router stands beside the
    /// first, at a corner.
    Grid {
        /// How many nodes, the router not counted.
        nodes: u32,
        /// Millimetres between neighbours in a row or column.
        spacing: i32,
    },
    /// The nodes anywhere in a field, as the seed draws them: again and again, until each has a way to the router over links that
    /// carry frames both ways. The router stands in the middle of the field; several are spread evenly over it.
    Random {
        /// How many nodes, the router not counted.
        nodes: u32,
        /// Millimetres from west to east.
        width: i32,
        /// Millimetres from south to north.
        height: i32,
        /// How many border routers.
        routers: u32,
    },
    /// Each node where it says. The router stands at the origin unless it is listed.
    List(Vec<Placement>),
}

/// Where one node stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The node's id.
    pub id: u32,
    /// Millimetres east.
    pub x: i32,
    /// Millimetres north.
    pub y: i32,
    /// Its next hop towards the router; without one, the shortest way is found.
    pub parent: Option<u32>,
}

/// Why nodes cannot stand so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TopologyError {
    /// There is nobody but the router.
    Empty,
    /// Two nodes have this id, or it is the first that is missing between 1 and the highest.
    Ids(u32),
    /// This node's parent does not exist, or is the node itself.
    Parent(u32),
    /// This node's parent is out of its radio range.
    ParentOutOfRange(u32),
    /// The parents of this node lead round in a circle.
    Circle(u32),
    /// This node would stand further away than positions go.
    TooFar(u32),
    /// No way in radio range leads from these nodes to the router.
    Unreachable(Vec<u32>),
}

impl TopologyError {
    /// The first node to blame, if one is.
    pub(crate) fn node(&self) -> Option<u32> {
        match self {
            Self::Empty => None,
            Self::Ids(id)
            | Self::Parent(id)
            | Self::ParentOutOfRange(id)
            | Self::Circle(id)
            | Self::TooFar(id) => Some(*id),
            Self::Unreachable(ids) => ids.first().copied(),
        }
    }
}

/// Spells ids in ascending order: `1, 3 to 5`.
fn spell(ids: &[u32]) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for &id in ids {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == id => *last = id,
            _ => runs.push((id, id)),
        }
    }
    let run = |&(first, last): &(u32, u32)| match last - first {
        0 => first.to_string(),
        _ => format!("{first} to {last}"),
    };
    runs.iter().map(run).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for TopologyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("a network needs a [[node]] beside the router"),
            Self::Ids(id) => write!(f, "each id from 1 to the highest must be there once: look at id {id}"),
            Self::Parent(id) => write!(f, "node {id} names a parent that is no other node"),
            Self::ParentOutOfRange(id) => write!(f, "node {id} is out of its parent's radio range"),
            Self::Circle(id) => write!(f, "the parents of node {id} lead round in a circle"),
            Self::TooFar(id) => {
                write!(
                    f,
                    "node {id} would stand more than 2147 km away: have fewer nodes, or a shorter spacing"
                )
            }
            Self::Unreachable(ids) => {
                let (noun, ids) = (if ids.len() == 1 { "node" } else { "nodes" }, spell(ids));
                write!(f, "no way leads from {noun} {ids} to the router")
            }
        }
    }
}

impl core::error::Error for TopologyError {}

/// A topology laid out: positions and the routing tree, indexed by station.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// (x, y) in millimetres: of the border router, the nodes from 1 on, and the other border routers.
    pub positions: Vec<(i32, i32)>,
    /// Each node's next hop towards the nearest router; a router's own is itself.
    pub parents: Vec<u32>,
    /// How many hops each node is from it.
    pub hops: Vec<u32>,
    /// How many border routers there are.
    pub routers: u32,
    /// The links that carry frames one way only, by who sends and who does not hear it: it is disturbed by them all the same.
    pub(crate) deaf: BTreeSet<(u32, u32)>,
}

/// Which links there are.
#[derive(Clone, Debug)]
pub struct Links {
    /// How far a frame can be received at most, in millimetres.
    pub range: i32,
    /// How likely a link carries frames in one direction only.
    pub one_way: Probability,
    /// What else keeps frames from arriving within that range.
    pub(crate) radio: Radio,
    /// The nodes that are hosts, through which no way leads.
    pub(crate) hosts: BTreeSet<u32>,
    /// The nodes that forward, if others are to do so only for those that have no other way; without them, all forward alike.
    pub(crate) forwarders: Option<BTreeSet<u32>>,
}

/// How often a random field is drawn until it is one network.
const DRAWS: u32 = 10_000;

impl Layout {
    /// How many stations there are, border routers included.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> u32 {
        self.len() as u32 - self.routers
    }

    /// How its stations are numbered.
    pub(crate) fn numbers(&self) -> Numbers {
        Numbers { nodes: self.nodes(), routers: self.routers }
    }

    /// Whether there is nobody at all.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// Whether these two nodes stand within `range`, and each hears the other.
    pub fn carries_both_ways(&self, a: u32, b: u32, range: i32) -> bool {
        let [here, there] = [a, b].map(|node| self.positions[node as usize]);
        within(here, there, range) && !self.is_one_way(a, b)
    }

    /// Whether one of these two, who stand within range of each other, does not hear the other.
    fn is_one_way(&self, a: u32, b: u32) -> bool {
        self.deaf.contains(&(a, b)) || self.deaf.contains(&(b, a))
    }

    /// The way of `node` to the router: itself and each next hop, the router left out.
    pub fn way(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let next_hop = |node: &u32| self.parents.get(*node as usize).copied();
        core::iter::successors(Some(node), next_hop).take_while(|&node| !self.numbers().is_router(node))
    }

    /// How many hops packets go from one node to another, by the last router that the ways of both have in common.
    pub(crate) fn hops_between(&self, one: u32, other: u32) -> u32 {
        let ways = [one, other].map(|node| self.way(node).collect::<Vec<_>>());
        let [own, others] = ways.each_ref().map(|way| way.iter().rev());
        let common = own.zip(others).take_while(|(own, other)| own == other).count();
        ways.map(|way| (way.len() - common) as u32).iter().sum()
    }

    /// Lets `node` stand elsewhere. Which of its new links carry frames one way only is drawn from `stream`. Ways stay as they are.
    pub(crate) fn move_to(
        &mut self,
        node: u32,
        to: (i32, i32),
        Links { range, one_way, radio, .. }: &Links,
        (seed, stream): (u64, &mut Stream),
    ) {
        let (range, one_way) = (*range, *one_way);
        let from = core::mem::replace(&mut self.positions[node as usize], to);
        for (other, &place) in (0..).zip(&self.positions).filter(|&(other, _)| other != node) {
            match (within(from, place, range), within(to, place, range)) {
                (false, true) => self.deaf.extend(draw_deaf_end((node, other), one_way, stream)),
                (true, false) => self.deaf.retain(|link| ![(node, other), (other, node)].contains(link)),
                _ => {}
            }
        }
        if !matches!(radio.model, RadioModel::UnitDisk { .. }) {
            self.deaf.retain(|&(from, to)| from != node && to != node);
            self.deaf.extend(radio.dead_links(seed, &self.positions, node..node + 1));
        }
    }

    /// The nodes whose way to the router leads over `node`, each with `node`'s next hop to it.
    pub fn routes_below(&self, node: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        (1..self.len() as u32).filter_map(move |destination| {
            let mut next_hop = destination;
            while next_hop != 0 {
                let parent = self.parents[next_hop as usize];
                if parent == node {
                    return Some((destination, next_hop));
                }
                next_hop = parent;
            }
            None
        })
    }
}

/// For each position the others within `range` of it, in order.
pub(crate) fn near(positions: &[(i32, i32)], range: i32) -> Vec<Vec<u32>> {
    let mut from_west: Vec<_> = (0..).zip(positions).map(|(node, &at)| (at, node)).collect();
    from_west.sort_unstable();
    let mut near = vec![Vec::new(); positions.len()];
    for (place, &(here, node)) in from_west.iter().enumerate() {
        let not_too_far_east = |&&(there, _): &&((i32, i32), u32)| there.0.saturating_sub(range) <= here.0;
        for &(there, other) in from_west.iter().skip(place + 1).take_while(not_too_far_east) {
            if within(here, there, range) {
                near[node as usize].push(other);
                near[other as usize].push(node);
            }
        }
    }
    near.iter_mut().for_each(|others| others.sort_unstable());
    near
}

impl Topology {
    /// What a network is called that has no name: its kind, and how many nodes it has.
    pub(crate) fn name(&self) -> String {
        let (kind, nodes) = match self {
            Self::Chain { nodes, .. } => ("chain", *nodes),
            Self::Grid { nodes, .. } => ("grid", *nodes),
            Self::Random { nodes, .. } => ("random", *nodes),
            Self::List(placements) => ("list", placements.iter().filter(|node| node.id != 0).count() as u32),
        };
        format!("{kind}-{nodes}")
    }

    /// Positions and the routing tree: shortest paths by hop count over links that carry frames both ways, the lowest id among equals,
    /// save where a parent is given.
    ///
    /// # Errors
    /// Names the node that cannot stand so.
    pub fn lay_out(&self, links: Links, seed: u64) -> Result<Layout, TopologyError> {
        let mut stream = Stream::new(seed, 0, Purpose::Field);
        let mut laid_out = self.lay_out_once(&links, seed, &mut stream);
        for _ in 0..DRAWS {
            match (self, &laid_out) {
                (Self::Random { .. }, Err(TopologyError::Unreachable(_))) => {
                    laid_out = self.lay_out_once(&links, seed, &mut stream);
                }
                _ => break,
            }
        }
        laid_out
    }

    fn lay_out_once(
        &self,
        Links { range, one_way, radio, hosts, forwarders }: &Links,
        seed: u64,
        stream: &mut Stream,
    ) -> Result<Layout, TopologyError> {
        let (range, one_way) = (*range, *one_way);
        let (positions, given) = self.place(stream)?;
        let near = near(&positions, range);
        let mut deaf = draw_deaf(&near, one_way, stream);
        deaf.append(&mut radio.dead_links(seed, &positions, 0..positions.len() as u32));
        let mut layout = shortest_paths(positions, self.routers(), deaf, &near, (hosts, forwarders.as_ref()));
        for (id, parent) in given.into_iter().enumerate() {
            let Some(parent) = parent else { continue };
            if parent as usize >= layout.len() || parent as usize == id {
                return Err(TopologyError::Parent(id as u32));
            }
            if !within(layout.positions[id], layout.positions[parent as usize], range) {
                return Err(TopologyError::ParentOutOfRange(id as u32));
            }
            layout.parents[id] = parent;
        }
        let mut unreachable = Vec::new();
        for id in 1..=layout.nodes() {
            match count_hops(&layout, id)? {
                Some(hops) => layout.hops[id as usize] = hops,
                None => unreachable.push(id),
            }
        }
        if unreachable.is_empty() { Ok(layout) } else { Err(TopologyError::Unreachable(unreachable)) }
    }

    /// How many border routers it has.
    pub(crate) fn routers(&self) -> u32 {
        match *self {
            Self::Random { routers, .. } => routers,
            Self::Chain { .. } | Self::Grid { .. } | Self::List(_) => 1,
        }
    }

    fn place(&self, stream: &mut Stream) -> Result<Placed, TopologyError> {
        match *self {
            Self::Chain { nodes, spacing } => {
                let along = |id| Ok((steps(id, spacing).ok_or(TopologyError::TooFar(id))?, 0));
                Ok(((0..=nodes).map(along).collect::<Result<_, _>>()?, Vec::new()))
            }
            Self::Grid { nodes, spacing } => {
                let side = (1..=nodes).find(|side| side * side >= nodes).unwrap_or(1);
                let cell = |cell: u32| {
                    let position = steps(cell % side, spacing).zip(steps(cell / side, spacing));
                    position.ok_or(TopologyError::TooFar(cell + 1))
                };
                let positions = core::iter::once(Ok((0, 0))).chain((0..nodes).map(cell));
                Ok((positions.collect::<Result<_, _>>()?, Vec::new()))
            }
            Self::Random { nodes, width, height, routers } => {
                let mut along = |length: i32| stream.below(length.max(1) as u64) as i32;
                let field: Vec<_> = (0..nodes).map(|_| (along(width), along(height))).collect();
                let mut spread = spread(routers, width, height);
                let first = spread.next();
                Ok((first.into_iter().chain(field).chain(spread).collect(), Vec::new()))
            }
            Self::List(ref placements) => {
                let listed_router = placements.first().filter(|first| first.id == 0);
                let mut positions = vec![listed_router.map_or((0, 0), |router| (router.x, router.y))];
                let mut given = vec![None];
                for placement in placements.iter().skip(usize::from(listed_router.is_some())) {
                    if placement.id as usize != positions.len() {
                        return Err(TopologyError::Ids(placement.id.min(positions.len() as u32)));
                    }
                    positions.push((placement.x, placement.y));
                    given.push(placement.parent);
                }
                if positions.len() == 1 {
                    return Err(TopologyError::Empty);
                }
                Ok((positions, given))
            }
        }
    }
}

/// So many times `spacing`, in millimetres, if positions go so far.
fn steps(count: u32, spacing: i32) -> Option<i32> {
    i32::try_from(count).ok()?.checked_mul(spacing)
}

/// Where so many border routers stand in a field: in rows of as many each, in the middle of parts that are as large.
fn spread(routers: u32, width: i32, height: i32) -> impl Iterator<Item = (i32, i32)> {
    let square = f64::from(routers) * f64::from(height) / f64::from(width);
    let rows = (square.sqrt().round() as u32).clamp(1, routers.max(1));
    let middle = |length: i32, part: u32, parts: u32| {
        (i64::from(length) * i64::from(2 * part + 1) / i64::from(2 * parts)) as i32
    };
    (0..rows).flat_map(move |row| {
        let before = |row: u32| u64::from(row) * u64::from(routers) / u64::from(rows);
        let columns = (before(row + 1) - before(row)) as u32;
        (0..columns).map(move |column| (middle(width, column, columns), middle(height, row, rows)))
    })
}

/// Positions, and the parents that were given.
type Placed = (Vec<(i32, i32)>, Vec<Option<u32>>);

const UNREACHED: u32 = u32::MAX;

/// The links that carry frames one way only, and which way.
fn draw_deaf(near: &[Vec<u32>], one_way: Probability, stream: &mut Stream) -> BTreeSet<(u32, u32)> {
    let mut deaf = BTreeSet::new();
    if !one_way.happens_ever() {
        return deaf;
    }
    for (b, others) in (0..).zip(near) {
        for &a in others.iter().take_while(|&&a| a < b) {
            deaf.extend(draw_deaf_end((a, b), one_way, stream));
        }
    }
    deaf
}

/// Who of the two does not hear the other, if the link carries frames one way only: behind that other.
fn draw_deaf_end((a, b): (u32, u32), one_way: Probability, stream: &mut Stream) -> Option<(u32, u32)> {
    one_way.happens(stream).then(|| if stream.below(2) == 0 { (a, b) } else { (b, a) })
}

/// Breadth first from the routers and through `forwarders`, and then on through others. A node's parent is the lowest id among those one hop nearer.
fn shortest_paths(
    positions: Vec<(i32, i32)>,
    routers: u32,
    deaf: BTreeSet<(u32, u32)>,
    near: &[Vec<u32>],
    (hosts, forwarders): (&BTreeSet<u32>, Option<&BTreeSet<u32>>),
) -> Layout {
    let unreached = vec![UNREACHED; positions.len()];
    let mut layout = Layout { positions, parents: unreached.clone(), hops: unreached, routers, deaf };
    let mut ring: Vec<_> = layout.numbers().routers().map(|router| router as usize).collect();
    for &router in &ring {
        (layout.parents[router], layout.hops[router]) = (router as u32, 0);
    }
    let (mut others, mut others_forward) = (Vec::new(), false);
    while !ring.is_empty() {
        let mut next = Vec::new();
        for here in ring {
            let id = here as u32;
            if hosts.contains(&id) {
                continue;
            }
            let is_other =
                forwarders.is_some_and(|them| !them.contains(&id)) && !layout.numbers().is_router(id);
            if is_other && !others_forward {
                others.push(here);
                continue;
            }
            for &there in &near[here] {
                let (from, far) = (here as u32, there as usize);
                let is_reached = layout.hops[far] != UNREACHED;
                if !is_reached && !layout.is_one_way(from, there) {
                    (layout.parents[far], layout.hops[far]) = (from, layout.hops[here] + 1);
                    next.push(far);
                }
            }
        }
        next.sort_unstable();
        if next.is_empty() && !others_forward {
            others_forward = true;
            next = std::mem::take(&mut others);
        }
        ring = next;
    }
    layout
}

/// How many hops it is to the router; nothing if no way leads there.
fn count_hops(layout: &Layout, node: u32) -> Result<Option<u32>, TopologyError> {
    let mut at = node;
    for hops in 0..layout.len() as u32 {
        match at {
            UNREACHED => return Ok(None),
            _ if layout.numbers().is_router(at) => return Ok(Some(hops)),
            _ => at = layout.parents[at as usize],
        }
    }
    Err(TopologyError::Circle(node))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;

    fn links(range: i32) -> Links {
        Radio { range, ..Scenario::default().radio }.links()
    }

    fn list(nodes: &[(u32, i32, i32, Option<u32>)]) -> Topology {
        Topology::List(nodes.iter().map(|&(id, x, y, parent)| Placement { id, x, y, parent }).collect())
    }

    #[test]
    fn a_chain_counts_its_hops() {
        let layout = Topology::Chain { nodes: 6, spacing: 40_000 }.lay_out(links(50_000), 1).unwrap();
        assert_eq!(layout.parents, [0, 0, 1, 2, 3, 4, 5]);
        assert_eq!(layout.hops, [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(layout.routes_below(4).collect::<Vec<_>>(), [(5, 5), (6, 5)]);
        assert_eq!(layout.routes_below(0).count(), 6);
        assert_eq!(layout.routes_below(6).count(), 0);
        assert_eq!([(1, 4), (5, 2), (3, 3)].map(|(one, other)| layout.hops_between(one, other)), [3, 3, 0]);
    }

    #[test]
    fn others_than_forwarders_lead_only_to_those_that_have_no_other_way() {
        // Two ways to node 3, of which the one through node 2 is longer; and node 5 behind node 4 alone.
        let nodes = list(&[
            (1, 40_000, 0, None),
            (2, 40_000, 40_000, None),
            (3, 80_000, 0, None),
            (4, 120_000, 0, None),
            (5, 160_000, 0, None),
            (6, 0, 40_000, None),
        ]);
        let parents = |forwarders: Option<&[u32]>| {
            let forwarders = forwarders.map(|them| them.iter().copied().collect());
            nodes.lay_out(Links { forwarders, ..links(60_000) }, 1).unwrap().parents
        };
        assert_eq!(parents(None), [0, 0, 0, 1, 3, 4, 0]);
        assert_eq!(parents(Some(&[2])), [0, 0, 0, 2, 3, 4, 0]);
        assert_eq!(parents(Some(&[])), parents(None));
    }

    #[test]
    fn who_stands_further_away_than_positions_go_is_named() {
        let chain = Topology::Chain { nodes: 60, spacing: 45_000_000 };
        assert!(matches!(chain.lay_out(links(50_000_000), 1), Err(TopologyError::TooFar(48))));
        let grid = Topology::Grid { nodes: 3_000, spacing: 45_000_000 };
        assert!(matches!(grid.lay_out(links(50_000_000), 1), Err(TopologyError::TooFar(49))));
    }

    #[test]
    fn packets_go_by_the_last_router_that_both_ways_have_in_common() {
        let branches = list(&[
            (1, 40_000, 0, None),
            (2, 80_000, 0, None),
            (3, 40_000, 40_000, None),
            (4, -40_000, 0, None),
        ]);
        let layout = branches.lay_out(links(50_000), 1).unwrap();
        assert_eq!(layout.parents, [0, 0, 1, 1, 0]);
        assert_eq!([(2, 3), (3, 1), (2, 4)].map(|(one, other)| layout.hops_between(one, other)), [2, 1, 3]);
    }

    #[test]
    fn a_grid_is_square_and_takes_the_lowest_id_among_equal_ways() {
        let layout = Topology::Grid { nodes: 100, spacing: 40_000 }.lay_out(links(50_000), 1).unwrap();
        assert_eq!(layout.positions[100], (360_000, 360_000));
        // Beside the router stand the corner's node and, in range, its two neighbours.
        assert_eq!((layout.parents[1], layout.parents[2], layout.parents[11]), (0, 0, 0));
        // Node 12 could go over 1's neighbours 2 or 11 alike.
        assert_eq!((layout.parents[12], layout.hops[12]), (2, 2));
        assert_eq!(layout.hops[100], 18);
        for (node, &parent) in layout.parents.iter().enumerate().skip(1) {
            assert_eq!(layout.hops[node], layout.hops[parent as usize] + 1);
        }
    }

    #[test]
    fn a_list_takes_given_parents_and_finds_the_others() {
        let layout =
            list(&[(1, 30, 0, None), (2, 40, 0, Some(1)), (3, 90, 0, None)]).lay_out(links(50), 1).unwrap();
        assert_eq!(layout.parents, [0, 0, 1, 2]);
        assert_eq!(layout.hops, [0, 1, 2, 3]);
        let moved = list(&[(0, 100, 0, None), (1, 100, 50, None)]).lay_out(links(50), 1).unwrap();
        assert_eq!(moved.positions, [(100, 0), (100, 50)]);
    }

    #[test]
    fn ids_are_spelled_in_runs() {
        assert_eq!(spell(&[1]), "1");
        assert_eq!(spell(&[1, 2, 4, 7, 8, 9]), "1 to 2, 4, 7 to 9");
    }

    #[test]
    fn a_network_that_cannot_work_is_refused_with_the_node_to_blame() {
        for (nodes, error) in [
            (vec![], TopologyError::Empty),
            (vec![(0, 0, 0, None)], TopologyError::Empty),
            (vec![(1, 0, 0, None), (3, 0, 0, None)], TopologyError::Ids(2)),
            (vec![(1, 0, 0, None), (1, 0, 0, None)], TopologyError::Ids(1)),
            (vec![(1, 0, 0, Some(1))], TopologyError::Parent(1)),
            (vec![(1, 0, 0, Some(9))], TopologyError::Parent(1)),
            (vec![(1, 10, 0, None), (2, 60, 0, Some(0))], TopologyError::ParentOutOfRange(2)),
            (vec![(1, 10, 0, Some(2)), (2, 20, 0, Some(1))], TopologyError::Circle(1)),
            (vec![(1, 10, 0, None), (2, 61, 0, None)], TopologyError::Unreachable(vec![2])),
            (
                vec![
                    (1, 10, 0, None),
                    (2, 61, 0, None),
                    (3, 5, 0, None),
                    (4, 65, 0, Some(2)),
                    (5, 90, 90, None),
                ],
                TopologyError::Unreachable(vec![2, 4, 5]),
            ),
        ] {
            assert_eq!(list(&nodes).lay_out(links(50), 1), Err(error), "{nodes:?}");
        }
        let chain = Topology::Chain { nodes: 2, spacing: 60 };
        assert_eq!(chain.lay_out(links(50), 1), Err(TopologyError::Unreachable(vec![1, 2])));
    }

    #[test]
    fn a_random_field_is_one_network_of_its_seed_and_some_links_carry_frames_one_way() {
        let field = Topology::Random { nodes: 50, width: 220_000, height: 220_000, routers: 1 };
        let links = Links { one_way: Probability::new(0.2).unwrap(), ..links(50_000) };
        let layout = field.lay_out(links.clone(), 7).unwrap();
        assert_eq!(layout, field.lay_out(links.clone(), 7).unwrap());
        assert_ne!(layout.positions, field.lay_out(links.clone(), 8).unwrap().positions);
        assert_eq!((layout.len(), layout.positions[0]), (51, (110_000, 110_000)));
        assert!(
            layout.positions.iter().all(|&(x, y)| (0..220_000).contains(&x) && (0..220_000).contains(&y))
        );
        for (node, &parent) in layout.parents.iter().enumerate().skip(1) {
            let link = (node as u32, parent);
            assert!(!layout.deaf.contains(&link) && !layout.deaf.contains(&(link.1, link.0)));
        }
        let near = |a: usize, b: usize| within(layout.positions[a], layout.positions[b], 50_000);
        let all = (0..51).flat_map(|b| (0..b).map(move |a| (a, b))).filter(|&(a, b)| near(a, b)).count();
        assert!((all / 8..all / 3).contains(&layout.deaf.len()), "{} of {all}", layout.deaf.len());
        let sparse = Topology::Random { nodes: 2, width: 9_000_000, height: 9_000_000, routers: 1 };
        assert!(matches!(sparse.lay_out(links, 1), Err(TopologyError::Unreachable(_))));
    }

    #[test]
    fn border_routers_are_spread_evenly_and_each_node_goes_to_the_nearest() {
        let field = |routers| Topology::Random { nodes: 50, width: 300_000, height: 200_000, routers };
        let one = field(1).lay_out(links(80_000), 7).unwrap();
        let layout = field(6).lay_out(links(80_000), 7).unwrap();
        assert_eq!((layout.len(), layout.nodes()), (56, 50));
        assert_eq!(layout.positions[1..51], one.positions[1..], "nodes stand where they would with one");
        let routers: Vec<_> = layout.numbers().routers().map(|at| layout.positions[at as usize]).collect();
        let columns = [50_000, 150_000, 250_000];
        assert_eq!(routers, [50_000, 150_000].map(|y| columns.map(|x| (x, y))).concat());
        for node in 1..=50 {
            let parent = layout.parents[node] as usize;
            assert_eq!(layout.hops[node], layout.hops[parent] + 1);
            assert!(layout.hops[node] <= one.hops[node].max(2));
            assert_eq!(layout.way(node as u32).count() as u32, layout.hops[node]);
        }
    }
}

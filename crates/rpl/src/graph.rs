use sixlock_base::{Array, Duration, Eui64, Instant, New, lollipop};
use sixlock_ipv6::rpl::{INFINITE_LIFETIME, Transit};

use crate::error::Error;

/// A node and its parent, or a host that does not speak RPL and its router, as the root knows them: `[Member; N]` is room for `N`.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    node: Eui64,
    parent: Eui64,
    sequence: u8,
    /// In units of the DODAG.
    lifetime: u8,
    /// Whether it is a host that does not speak RPL: it is nobody's parent.
    is_external: bool,
    /// When it ends, or, if it has no end, when it was last heard of.
    ends: Instant,
}

impl New for Member {
    const NEW: Self = Self {
        node: Eui64([0; 8]),
        parent: Eui64([0; 8]),
        sequence: 0,
        lifetime: 0,
        is_external: false,
        ends: Instant::from_millis(0),
    };
}

/// The longest route, in hops.
pub const MAX_HOPS: usize = 32;

/// A route: the nodes on it in the order of a packet that goes by it, the last one its destination, or the router of a destination that
/// does not speak RPL.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path<'a> {
    members: &'a [Member],
    /// Where they stand there, from the last one upwards: their addresses would take much of a microcontroller's stack.
    nodes: [u16; MAX_HOPS],
    len: usize,
    /// Whether the destination is a host behind the last one.
    pub(crate) is_external: bool,
}

impl Path<'_> {
    /// The neighbour of the root.
    pub(crate) fn first(&self) -> Option<Eui64> {
        self.node(*self.nodes.get(self.len.checked_sub(1)?)?)
    }

    /// The nodes behind it.
    pub(crate) fn rest(&self) -> impl Iterator<Item = Eui64> + Clone {
        let before = self.nodes.get(..self.len.saturating_sub(1)).unwrap_or_default();
        before.iter().rev().filter_map(|at| self.node(*at))
    }

    fn node(&self, at: u16) -> Option<Eui64> {
        self.members.get(usize::from(at)).map(|member| member.node)
    }
}

/// The nodes of the DODAG with their parents, in order, as many as there is room for in `A`.
///
/// When there is no room, those whose time is over make room, then one without an end that was not heard of for an hour, and for a node
/// that speaks RPL then a host that does not; else a new one is refused. A DAO speaks for its sender, which fills one place, and for
/// hosts below it. These take the place of no node.
pub(crate) struct Graph<A> {
    members: A,
    len: usize,
    /// No time is over before this one.
    due: Option<Instant>,
}

/// For how long a node without an end is kept when there is no room for another.
const ENDLESS: u32 = 3_600_000;

impl<A: Array<Member>> Graph<A> {
    const FITS: () = assert!(A::LEN <= u16::MAX as usize, "a graph holds at most 65,535 nodes");

    pub(crate) const fn new() -> Self {
        let () = Self::FITS;
        Self { members: A::NEW, len: 0, due: None }
    }

    fn listed(&self) -> &[Member] {
        self.members.as_ref().get(..self.len).unwrap_or_default()
    }

    fn find(&self, node: Eui64) -> Result<usize, usize> {
        self.listed().binary_search_by_key(&node, |member| member.node)
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.len
    }

    /// Takes in that `parent` is the parent of `node`, for `millis` milliseconds or without an end.
    pub(crate) fn update(
        &mut self,
        now: Instant,
        (node, parent): (Eui64, Eui64),
        transit: &Transit,
        millis: Option<u32>,
    ) -> Result<(), Error> {
        let new = Member {
            node,
            parent,
            sequence: transit.path_sequence,
            lifetime: transit.path_lifetime,
            is_external: transit.external,
            ends: now + Duration::from_millis(millis.unwrap_or(0)),
        };
        if let Ok(at) = self.find(node)
            && let Some(member) = self.members.as_mut().get_mut(at)
        {
            match (member.is_external, new.is_external) {
                (false, true) => return Err(Error::Target),
                // It speaks RPL now, and has a sequence of its own.
                (true, false) => {}
                _ if new.sequence == member.sequence => {}
                _ if !lollipop::may_be_newer(new.sequence, member.sequence) => return Err(Error::Stale),
                _ => {}
            }
            *member = new;
            self.will_end(&new);
            return Ok(());
        }
        if self.len == A::LEN {
            self.expire(now);
        }
        if self.len == A::LEN {
            let is_old = |member: &Member| {
                member.lifetime == INFINITE_LIFETIME && now.since(member.ends).millis() >= ENDLESS
            };
            let at = self.listed().iter().position(is_old);
            let host = || self.listed().iter().position(|member| member.is_external && !new.is_external);
            let at = at.or_else(host).ok_or(Error::Full)?;
            self.remove_at(at);
        }
        let (Ok(at) | Err(at)) = self.find(node);
        self.members.make_room(self.len + 1);
        let members = self.members.as_mut();
        members.copy_within(at..self.len, at + 1);
        *members.get_mut(at).ok_or(Error::Full)? = new;
        self.len += 1;
        self.will_end(&new);
        Ok(())
    }

    fn will_end(&mut self, member: &Member) {
        if member.lifetime != INFINITE_LIFETIME {
            self.due = Instant::earliest(self.due, Some(member.ends));
        }
    }

    fn remove_at(&mut self, at: usize) {
        self.members.as_mut().copy_within(at + 1..self.len, at);
        self.len -= 1;
    }

    /// Takes `node` out, if what is known of it is no newer than `sequence`, as `sender` says: itself, or the router of a host; whether it
    /// was there.
    pub(crate) fn withdraw(&mut self, node: Eui64, sender: Eui64, sequence: u8) -> bool {
        let Ok(at) = self.find(node) else { return false };
        let Some(&Member { parent, sequence: known, is_external, .. }) = self.listed().get(at) else {
            return false;
        };
        let is_its_own = sender == if is_external { parent } else { node };
        let is_newer = is_its_own && (sequence == known || lollipop::may_be_newer(sequence, known));
        if is_newer {
            self.remove_at(at);
        }
        is_newer
    }

    /// Takes `node` out; whether it was there.
    pub(crate) fn remove(&mut self, node: Eui64) -> bool {
        let found = self.find(node);
        if let Ok(at) = found {
            self.remove_at(at);
        }
        found.is_ok()
    }

    /// Takes those out whose time is over; whether there were any.
    pub(crate) fn expire(&mut self, now: Instant) -> bool {
        let before = self.len;
        let mut kept = 0;
        let members = self.members.as_mut();
        for at in 0..self.len {
            let Some(member) = members.get(at).copied() else { break };
            if member.lifetime == INFINITE_LIFETIME || !now.has_reached(member.ends) {
                if let Some(place) = members.get_mut(kept) {
                    *place = member;
                }
                kept += 1;
            }
        }
        self.len = kept;
        let ending = self.listed().iter().filter(|member| member.lifetime != INFINITE_LIFETIME);
        self.due = ending.fold(None, |due, member| Instant::earliest(due, Some(member.ends)));
        kept < before
    }

    /// When to call [`Graph::expire`]: when the next one's time is over, or before that, as some are heard of again meanwhile.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.due
    }

    /// The router of a host that does not speak RPL.
    pub(crate) fn router_of(&self, host: Eui64) -> Option<Eui64> {
        let member = self.listed().get(self.find(host).ok()?)?;
        member.is_external.then_some(member.parent)
    }

    /// The route from `root` to `node`; `None` if a node on it is not known, or speaks no RPL, if it is longer than [`MAX_HOPS`], or leads
    /// nowhere because nodes are each other's parents.
    pub(crate) fn path(&self, root: Eui64, node: Eui64) -> Option<Path<'_>> {
        let router = self.router_of(node);
        let members = self.listed();
        let mut path = Path { members, nodes: [0; MAX_HOPS], len: 0, is_external: router.is_some() };
        let mut node = router.unwrap_or(node);
        while node != root {
            let at = self.find(node).ok()?;
            *path.nodes.get_mut(path.len)? = at as u16;
            path.len += 1;
            let member = members.get(at)?;
            node = Some(member.parent).filter(|_| !member.is_external)?;
        }
        Some(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    extern crate std;
    use std::vec::Vec;

    const ROOT: Eui64 = Eui64::of_node(0);

    fn transit(path_sequence: u8, path_lifetime: u8) -> Transit {
        Transit {
            external: false,
            invalidate: false,
            path_control: 0,
            path_sequence,
            path_lifetime,
            parent: None,
        }
    }

    fn at(seconds: u32) -> Instant {
        Instant::from_millis(seconds * 1000)
    }

    fn node(id: u32) -> Eui64 {
        Eui64::of_node(id)
    }

    fn add<A: Array<Member>>(graph: &mut Graph<A>, id: u32, parent: u32, sequence: u8) -> Result<(), Error> {
        graph.update(at(0), (node(id), node(parent)), &transit(sequence, 30), Some(1_800_000))
    }

    fn route<A: Array<Member>>(graph: &Graph<A>, id: u32) -> Option<Vec<u32>> {
        let path = graph.path(ROOT, node(id))?;
        let nodes = path.first().into_iter().chain(path.rest());
        Some(nodes.map(|node| node.node_id().unwrap()).collect())
    }

    #[test]
    fn a_route_leads_over_the_parents_from_the_root_down() {
        let mut graph = Graph::<[Member; 5]>::new();
        for (id, parent) in [(4, 2), (2, 9), (9, 0), (1, 0)] {
            add(&mut graph, id, parent, 240).unwrap();
        }
        assert_eq!(route(&graph, 4), Some([9, 2, 4].into()));
        assert_eq!(route(&graph, 1), Some([1].into()));
        assert_eq!(route(&graph, 3), None);
        assert!(graph.remove(node(2)) && !graph.remove(node(2)));
        assert_eq!(route(&graph, 4), None, "a node on the way is not known");
        assert_eq!(graph.path(ROOT, ROOT).and_then(|path| path.first()), None);
    }

    #[test]
    fn nodes_that_are_each_others_parents_have_no_route() {
        let mut graph = Graph::<[Member; 40]>::new();
        add(&mut graph, 1, 2, 240).unwrap();
        add(&mut graph, 2, 1, 240).unwrap();
        assert_eq!(route(&graph, 1), None);
        for id in 0..32 {
            add(&mut graph, 100 + id, if id == 0 { 0 } else { 99 + id }, 240).unwrap();
        }
        assert_eq!(route(&graph, 131).map(|route| route.len()), Some(MAX_HOPS));
        add(&mut graph, 132, 131, 240).unwrap();
        assert_eq!(route(&graph, 132), None, "it is longer than routes are");
    }

    #[test]
    fn what_is_older_changes_nothing() {
        let mut graph = Graph::<[Member; 3]>::new();
        add(&mut graph, 1, 0, 245).unwrap();
        assert_eq!(add(&mut graph, 1, 2, 244), Err(Error::Stale));
        assert!(!graph.withdraw(node(1), node(1), 244));
        assert_eq!(route(&graph, 1), Some([1].into()));
        add(&mut graph, 1, 2, 245).unwrap();
        assert_eq!(route(&graph, 1), None);
        assert!(!graph.withdraw(node(1), node(2), 246), "it is not its own to say");
        assert!(graph.withdraw(node(1), node(1), 246));
    }

    /// Mistake 1: nodes without an end do not keep others out for ever.
    #[test]
    fn a_full_graph_makes_room_by_what_is_over_and_then_by_what_never_ends() {
        let mut graph = Graph::<[Member; 2]>::new();
        add(&mut graph, 1, 0, 240).unwrap();
        graph.update(at(0), (node(2), ROOT), &transit(240, 255), None).unwrap();
        let third = |graph: &mut Graph<[Member; 2]>, now| {
            graph.update(now, (node(3), ROOT), &transit(240, 90), Some(5_400_000))
        };
        assert_eq!(third(&mut graph, at(1799)), Err(Error::Full));
        assert_eq!(third(&mut graph, at(1800)), Ok(()));
        assert_eq!((route(&graph, 1), route(&graph, 3)), (None, Some([3].into())));
        let fourth = |graph: &mut Graph<[Member; 2]>, now| {
            graph.update(now, (node(4), ROOT), &transit(240, 30), Some(1_800_000))
        };
        assert_eq!(fourth(&mut graph, at(3599)), Err(Error::Full));
        assert_eq!(fourth(&mut graph, at(3600)), Ok(()));
        assert_eq!(graph.poll_timeout(), Some(at(5400)));
        assert!(graph.expire(at(5400)));
        assert_eq!((graph.count(), route(&graph, 3)), (1, Some([3].into())));
        assert!(graph.expire(at(7200)) && !graph.expire(at(7200)));
        assert_eq!((graph.count(), graph.poll_timeout()), (0, None));
    }
}

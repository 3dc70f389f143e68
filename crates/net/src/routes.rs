use core::net::Ipv6Addr;

use sixlock_base::{Array, Eui64, LINK_LOCAL_PREFIX, MESH_PREFIX, New};

/// Where packets go that no listed route covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Uplink {
    /// Nowhere.
    None,
    /// To this neighbour, whatever their destination: a node inside the mesh.
    NextHop(Eui64),
    /// Out of the mesh through this node, if their destination is outside: a border router.
    External,
}

/// The next hop of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextHop {
    /// A neighbour.
    Neighbour(Eui64),
    /// The network outside, beyond this border router.
    External,
}

/// The route table is full: the new route was not added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoutesFull;

/// The route to a node of the mesh: `[Route; N]` is room for `N`.
#[derive(Clone, Copy)]
pub struct Route {
    destination: Eui64,
    next_hop: Eui64,
}

impl New for Route {
    const NEW: Self = Self { destination: Eui64([0; 8]), next_hop: Eui64([0; 8]) };
}

/// Routes to nodes of the mesh, in order of destination, as many as there is room for in `A`.
pub(crate) struct Routes<A> {
    routes: A,
    len: usize,
}

impl<A: Array<Route>> Routes<A> {
    pub(crate) const fn new() -> Self {
        Self { routes: A::NEW, len: 0 }
    }

    fn listed(&self) -> &[Route] {
        &self.routes.as_ref()[..self.len]
    }

    fn find(&self, destination: Eui64) -> Result<usize, usize> {
        self.listed().binary_search_by_key(&destination, |route| route.destination)
    }

    pub(crate) fn insert(&mut self, destination: Eui64, next_hop: Eui64) -> Result<(), RoutesFull> {
        let (found, routes) = (self.find(destination), self.routes.as_mut());
        match found {
            Ok(at) => routes[at].next_hop = next_hop,
            Err(_) if self.len == A::LEN => return Err(RoutesFull),
            Err(at) => {
                routes.copy_within(at..self.len, at + 1);
                routes[at] = Route { destination, next_hop };
                self.len += 1;
            }
        }
        Ok(())
    }

    /// Takes the route to `destination` out; whether there was one.
    pub(crate) fn remove(&mut self, destination: Eui64) -> bool {
        let Ok(at) = self.find(destination) else { return false };
        self.routes.as_mut().copy_within(at + 1..self.len, at);
        self.len -= 1;
        true
    }

    /// The next hop towards the unicast address `destination`: link-local addresses are a neighbour's own,
    /// those of the mesh have routes, and the rest is the uplink's.
    pub(crate) fn next_hop(&self, destination: Ipv6Addr, uplink: Uplink) -> Option<NextHop> {
        let octets = destination.octets();
        let node = Eui64::of_address(destination);
        if octets[..8] == LINK_LOCAL_PREFIX {
            return Some(NextHop::Neighbour(node));
        }
        let in_mesh = octets[..8] == MESH_PREFIX;
        match (self.find(node), uplink) {
            (Ok(at), _) if in_mesh => self.listed().get(at).map(|route| NextHop::Neighbour(route.next_hop)),
            (_, Uplink::NextHop(next_hop)) => Some(NextHop::Neighbour(next_hop)),
            (_, Uplink::External) if !in_mesh => Some(NextHop::External),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(id: u32) -> Eui64 {
        Eui64::of_node(id)
    }

    fn mesh(id: u32) -> Ipv6Addr {
        node(id).with_prefix(MESH_PREFIX)
    }

    #[test]
    fn the_table_keeps_what_it_was_given_up_to_its_limit() {
        let mut routes = Routes::<[Route; 3]>::new();
        for id in [5, 1, 3] {
            routes.insert(node(id), node(id + 10)).unwrap();
        }
        assert_eq!(routes.insert(node(2), node(9)), Err(RoutesFull));
        routes.insert(node(3), node(33)).unwrap();
        let next = |routes: &Routes<[Route; 3]>, id| routes.next_hop(mesh(id), Uplink::None);
        assert_eq!(next(&routes, 1), Some(NextHop::Neighbour(node(11))));
        assert_eq!(next(&routes, 3), Some(NextHop::Neighbour(node(33))));
        assert_eq!(next(&routes, 5), Some(NextHop::Neighbour(node(15))));
        assert_eq!(next(&routes, 2), None);
    }

    #[test]
    fn a_route_that_was_removed_leaves_room_and_the_others_as_they_were() {
        let mut routes = Routes::<[Route; 3]>::new();
        for id in [5, 1, 3] {
            routes.insert(node(id), node(id + 10)).unwrap();
        }
        assert!(!routes.remove(node(2)), "there is none");
        for (removed, left) in [(1, [3, 5]), (5, [1, 3]), (3, [1, 5])] {
            assert!(routes.remove(node(removed)) && !routes.remove(node(removed)));
            let next = |id| routes.next_hop(mesh(id), Uplink::None);
            assert_eq!(next(removed), None);
            assert_eq!(left.map(next), left.map(|id| Some(NextHop::Neighbour(node(id + 10)))));
            routes.insert(node(removed), node(removed + 10)).unwrap();
            assert_eq!(routes.insert(node(9), node(9)), Err(RoutesFull));
        }
    }

    #[test]
    fn what_is_not_listed_is_the_uplinks() {
        let routes = Routes::<[Route; 0]>::new();
        let outside = "fd00:c::1".parse().unwrap();
        // Outside the mesh, the interface identifier names no node of it.
        let look_alike = node(1).with_prefix([0x20, 1, 0xd, 0xb8, 0, 0, 0, 0]);
        let parent = Some(NextHop::Neighbour(node(9)));
        for (destination, none, next_hop, external) in [
            (mesh(1), None, parent, None),
            (outside, None, parent, Some(NextHop::External)),
            (look_alike, None, parent, Some(NextHop::External)),
        ] {
            assert_eq!(routes.next_hop(destination, Uplink::None), none);
            assert_eq!(routes.next_hop(destination, Uplink::NextHop(node(9))), next_hop);
            assert_eq!(routes.next_hop(destination, Uplink::External), external);
        }
        let link_local = node(4).with_prefix(LINK_LOCAL_PREFIX);
        assert_eq!(routes.next_hop(link_local, Uplink::External), Some(NextHop::Neighbour(node(4))));
    }
}

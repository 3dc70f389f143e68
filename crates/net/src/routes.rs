use core::fmt;
use core::net::Ipv6Addr;

use sixlock_base::{Array, Eui64, MESH_PREFIX, New};

use crate::router::Router;

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

impl fmt::Display for RoutesFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the route table is full")
    }
}

impl core::error::Error for RoutesFull {}

/// The route to a node of the mesh: `[Route; N]` is room for `N`.
#[derive(Clone, Copy)]
pub struct Route {
    destination: Eui64,
    next_hop: Eui64,
}

impl New for Route {
    const NEW: Self = Self { destination: Eui64([0; 8]), next_hop: Eui64([0; 8]) };
}

/// Routes to nodes of the mesh that were listed, in order of destination, as many as there is room for in `A`: `[Route; N]`.
pub struct Routes<A> {
    routes: A,
    len: usize,
}

impl<A: Array<Route>> New for Routes<A> {
    const NEW: Self = Self { routes: A::NEW, len: 0 };
}

impl<A: Array<Route>> Routes<A> {
    fn listed(&self) -> &[Route] {
        &self.routes.as_ref()[..self.len]
    }

    fn find(&self, destination: Eui64) -> Result<usize, usize> {
        self.listed().binary_search_by_key(&destination, |route| route.destination)
    }

    /// Lists or changes the route to the node `destination`, a neighbour if it is its own `next_hop`. When the
    /// table is full, a new route is refused.
    pub fn add(&mut self, destination: Eui64, next_hop: Eui64) -> Result<(), RoutesFull> {
        match self.find(destination) {
            Ok(at) => self.routes.as_mut()[at].next_hop = next_hop,
            Err(_) if self.len == A::LEN => return Err(RoutesFull),
            Err(at) => {
                self.routes.make_room(self.len + 1);
                let routes = self.routes.as_mut();
                routes.copy_within(at..self.len, at + 1);
                routes[at] = Route { destination, next_hop };
                self.len += 1;
            }
        }
        Ok(())
    }

    /// Takes the route to the node `destination` off the list; whether there was one.
    pub fn remove(&mut self, destination: Eui64) -> bool {
        let Ok(at) = self.find(destination) else { return false };
        self.routes.as_mut().copy_within(at + 1..self.len, at);
        self.len -= 1;
        true
    }
}

impl<A: Array<Route>> Router for Routes<A> {
    fn next_hop(&self, destination: Ipv6Addr) -> Option<Eui64> {
        // Outside the mesh, the interface identifier names no node of it.
        let in_mesh = destination.octets()[..8] == MESH_PREFIX;
        let at = self.find(Eui64::of_address(destination)).ok().filter(|_| in_mesh)?;
        self.listed().get(at).map(|route| route.next_hop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(id: u32) -> Eui64 {
        Eui64::of_node(id)
    }

    fn next(routes: &Routes<[Route; 3]>, id: u32) -> Option<Eui64> {
        routes.next_hop(node(id).with_prefix(MESH_PREFIX))
    }

    #[test]
    fn the_table_keeps_what_it_was_given_up_to_its_limit() {
        let mut routes = Routes::<[Route; 3]>::NEW;
        for id in [5, 1, 3] {
            routes.add(node(id), node(id + 10)).unwrap();
        }
        assert_eq!(routes.add(node(2), node(9)), Err(RoutesFull));
        routes.add(node(3), node(33)).unwrap();
        assert_eq!(next(&routes, 1), Some(node(11)));
        assert_eq!(next(&routes, 3), Some(node(33)));
        assert_eq!(next(&routes, 5), Some(node(15)));
        assert_eq!(next(&routes, 2), None);
    }

    #[test]
    fn a_route_that_was_removed_leaves_room_and_the_others_as_they_were() {
        let mut routes = Routes::<[Route; 3]>::NEW;
        for id in [5, 1, 3] {
            routes.add(node(id), node(id + 10)).unwrap();
        }
        assert!(!routes.remove(node(2)), "there is none");
        for (removed, left) in [(1, [3, 5]), (5, [1, 3]), (3, [1, 5])] {
            assert!(routes.remove(node(removed)) && !routes.remove(node(removed)));
            assert_eq!(next(&routes, removed), None);
            assert_eq!(left.map(|id| next(&routes, id)), left.map(|id| Some(node(id + 10))));
            routes.add(node(removed), node(removed + 10)).unwrap();
            assert_eq!(routes.add(node(9), node(9)), Err(RoutesFull));
        }
    }

    #[test]
    fn outside_the_mesh_an_interface_identifier_names_no_node() {
        let mut routes = Routes::<[Route; 3]>::NEW;
        routes.add(node(1), node(1)).unwrap();
        assert_eq!(next(&routes, 1), Some(node(1)));
        assert_eq!(routes.next_hop(node(1).with_prefix([0x20, 1, 0xd, 0xb8, 0, 0, 0, 0])), None);
    }
}

use sixlock_base::{Array, Eui64, Instant, New};
use sixlock_ipv6::rpl::{Dao, ModeOfOperation, Options, PacketInformation};

use crate::error::{DataError, Error};
use crate::graph::{Graph, Member};
use crate::output;
use crate::packet;
use crate::root::{self, DaoContext, Down, Knowledge, Own};
use crate::routes::Route;
use crate::storing::{Acks, Storing};

/// What a root in storing mode keeps: routes to nodes, as many as there is room for in `A`, and the routers of hosts that do not speak
/// RPL, as many as in `H`. These it is told by DAOs that no router on the way reads.
pub struct StoringRoot<A, H> {
    storing: Storing<A>,
    hosts: Graph<H>,
    acks: Acks,
}

impl<A: Array<Route>, H: Array<Member>> New for StoringRoot<A, H> {
    const NEW: Self = Self { storing: Storing::NEW, hosts: Graph::new(), acks: Acks::NEW };
}

impl<A: Array<Route>, H: Array<Member>> StoringRoot<A, H> {
    /// The root has no parent that would be told of routes that are no more.
    fn forget_ended(&mut self) {
        self.storing.routes.unsay();
    }
}

impl<A: Array<Route>, H: Array<Member>> Knowledge for StoringRoot<A, H> {
    const MODE: ModeOfOperation = ModeOfOperation::STORING;

    fn count(&self) -> usize {
        self.storing.routes.count() + self.hosts.count()
    }

    fn next_hop(&self, _: Eui64, node: Eui64) -> Option<Eui64> {
        let routes = &self.storing.routes;
        routes.next_hop(node).or_else(|| routes.next_hop(self.hosts.router_of(node)?))
    }

    fn handle(&mut self, context: DaoContext<'_>, dao: &Dao, options: Options<'_>) -> Result<bool, Error> {
        let Some(from) = output::neighbour_of(context.source) else {
            let routes = &self.storing.routes;
            return root::handle_from_afar(
                &mut self.hosts,
                &mut self.acks,
                context,
                dao,
                options,
                |target| routes.next_hop(target).is_none(),
            );
        };
        let changed = self.storing.handle_dao(
            context.now,
            context.root.prefix,
            (context.root.address, from),
            dao,
            options,
            context.dodag,
        );
        self.forget_ended();
        changed
    }

    fn handle_outcome(&mut self, neighbour: Eui64, is_acknowledged: bool) -> bool {
        let ended = self.storing.routes.record(neighbour, is_acknowledged);
        self.forget_ended();
        ended
    }

    fn forget(&mut self, node: Eui64, by: Eui64) -> bool {
        let forgotten = self.storing.routes.withdraw_one(node, by);
        self.forget_ended();
        forgotten
    }

    fn poll_timeout(&self) -> Option<Instant> {
        Instant::earliest(self.storing.routes.poll_timeout(), self.hosts.poll_timeout())
    }

    fn handle_timeout(&mut self, now: Instant) -> bool {
        let ended = self.storing.routes.expire(now);
        self.forget_ended();
        let is_due = self.hosts.poll_timeout().is_some_and(|due| now.has_reached(due));
        is_due && self.hosts.expire(now) || ended
    }

    fn has_output(&self) -> bool {
        self.storing.has_output() || !self.acks.is_empty()
    }

    fn poll_transmit(&mut self, root: Own, instance: u8, out: &mut [u8]) -> Option<usize> {
        match self.acks.pop() {
            Some(ack) => ack.write_afar(root.prefix, &root.address, instance, out),
            None => self.storing.poll_transmit(root.prefix, root.address, instance, out),
        }
    }

    fn reads_option_down(&self, node: Eui64) -> bool {
        self.hosts.router_of(node).is_none()
    }

    /// Into a packet of this host goes the option, around one of another a header with it
    /// ([RFC 9008 section 7.1](https://www.rfc-editor.org/rfc/rfc9008#section-7.1)). What is for a host that does not speak RPL stays as it
    /// is, in a header that its router takes off.
    fn send_down(
        &self,
        root: Own,
        node: Eui64,
        packet: Down<'_>,
        (kind, information): (u8, PacketInformation),
    ) -> Result<usize, DataError> {
        self.next_hop(root.address, node).ok_or(DataError::NoRoute)?;
        let Down { buffer, len, is_own } = packet;
        // One that has come to speak RPL tells the way itself.
        let speaks = self.storing.routes.next_hop(node).is_some();
        let router = self.hosts.router_of(node).filter(|_| !speaks);
        let len = match (is_own, router) {
            (true, None) => packet::insert(buffer, len, kind, information),
            // It is protected first.
            (true, Some(_)) => Some(len),
            (false, _) => {
                let addresses = (root.global(root.address), root.global(router.unwrap_or(node)));
                packet::tunnel_with_option(buffer, len, addresses, kind, information)
            }
        };
        len.ok_or(DataError::NoRoom)
    }
}

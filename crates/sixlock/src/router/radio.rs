//! A border router on a radio channel made of UDP.

use std::collections::HashSet;
use std::error::Error;

use sixlock_base::{Counter, Eui64, Instant, MESH_PREFIX};
use sixlock_crypto::Soft;
use sixlock_gateway::{Datagrams, Exit, Gateway, Link, Stack};
use sixlock_ieee802154::{Address, Endpoint, Header};
use sixlock_node::{PayloadCompression, RadioMachine};
use sixlock_router::Inbound;
use sixlock_sim::{CLOUD, FlowId, GatewayError, Peering};

use super::border_router::{BorderRouter, Parts, outbound};
use super::machine::{Hosts, Machine, MeshSecurity, Rules};
use crate::keys::MAX_NODES;
use crate::neighbour_file::NeighbourFile;
use crate::protection::{Compression, Reassembly, compress};
use crate::routing::RouterRouting;
use crate::station::{Context, Moment, Station, interface};

/// The longest IPv6 packet, in bytes.
const MTU: usize = 1280;

type Layers<R> = Stack<
    Link<true, MAX_NODES, 4>,
    Datagrams<MTU, 32>,
    R,
    MeshSecurity,
    Compression<{ 2 * MAX_NODES }>,
    Reassembly,
>;

/// A border router that has a radio.
pub(super) type Radio<R> = Gateway<Soft, Layers<R>, 1024, Hosts, Rules>;

impl<R: RouterRouting> Machine for Radio<R> {
    const SPEAKS_RPL: bool = R::SPEAKS_RPL;

    fn security(&mut self) -> &mut MeshSecurity {
        self.interface().security()
    }

    fn internet(&mut self) -> &mut Hosts {
        Gateway::internet(self)
    }

    fn firewall(&mut self) -> &mut Rules {
        Gateway::firewall(self)
    }

    fn compress(&mut self, peering: &Peering) {
        compress(self.interface().compression(), peering);
    }

    fn open(&mut self, cx: &mut Context<'_>, node: Eui64, port: u16) -> FlowId {
        Gateway::open(self, cx, CLOUD, node.with_prefix(MESH_PREFIX), port)
    }

    fn handle_upstream(
        &mut self,
        cx: &mut Context<'_>,
        time: Moment,
        flow: FlowId,
        payload: &[u8],
    ) -> Result<(), GatewayError> {
        Gateway::handle_upstream(self, cx, time.at, flow, payload)
    }

    fn handle_packet<'b>(
        &'b mut self,
        cx: &mut Context<'_>,
        time: Moment,
        buffer: &'b mut [u8],
        len: usize,
    ) -> Option<&'b [u8]> {
        Gateway::handle_packet(self, cx, time.at, buffer, len)
    }
}

/// A border router on its channel.
pub(super) struct RadioStation<R: RouterRouting> {
    router: BorderRouter<Radio<R>>,
    /// The network's nodes. With secured links, frames of others are dropped before anything is remembered of their senders.
    members: HashSet<Eui64>,
    /// What its neighbours' frame counters have reached, if links are secured.
    neighbours: Option<NeighbourFile>,
}

impl<R: RouterRouting> RadioStation<R> {
    pub(super) fn new(
        mut parts: Parts,
        neighbours: Option<NeighbourFile>,
        exit: Exit,
        compression: Option<PayloadCompression>,
    ) -> Result<Self, Box<dyn Error>> {
        let start = Instant::from_millis(0);
        let config = interface(0, parts.network.llsec.as_ref(), R::SPEAKS_RPL)?;
        let mut machine = Box::new(Radio::<R>::new(&mut parts.lent.cx(start), &config, exit));
        let interface = machine.interface();
        interface.compression().payloads = compression;
        for (neighbour, counter) in neighbours.iter().flat_map(NeighbourFile::counters) {
            // The table has as much room as the file.
            interface.restore_frame_counter(neighbour, counter);
        }
        let nodes = parts.network.nodes.iter().map(|node| node.id);
        interface.routing().begin(&mut parts.lent.cx(start), nodes)?;
        let members = parts.network.nodes.iter().map(|node| Eui64::of_node(node.id)).collect();
        Ok(Self { router: BorderRouter::new(machine, parts, start)?, members, neighbours })
    }

    fn receive(&mut self, time: Moment, mut frame: Vec<u8>) {
        let Self { router, members, neighbours } = self;
        let mut cx = router.lent.cx(time.now);
        if neighbours.is_some() && !is_of(members, &frame) {
            return cx.counters.count(Counter::MacNeighboursFull);
        }
        let mut left = None;
        router.machine.handle_frame(&mut cx, time.at, &mut frame, |upstream| left = Some(outbound(upstream)));
        let latest = router.machine.interface().latest_frame_counter();
        if !neighbours.as_mut().is_none_or(|file| file.keep(latest)) {
            left = None;
        }
        if let Some(left) = left {
            router.leave(time.now, left);
        }
    }
}

/// Whether a frame says that one of these sent it, or does not say it, as acknowledgements do not.
fn is_of(members: &HashSet<Eui64>, frame: &[u8]) -> bool {
    match Header::parse(frame).map(|(header, _)| header.source) {
        Ok(Some(Endpoint { address: Address::Extended(source), .. })) => members.contains(&source),
        _ => true,
    }
}

impl<R: RouterRouting> Station for RadioStation<R> {
    type Machine = Radio<R>;

    fn lend(&mut self, now: Instant) -> (&mut Radio<R>, Context<'_>) {
        (&mut self.router.machine, self.router.lent.cx(now))
    }

    fn handle(&mut self, time: Moment, inbound: Inbound) {
        match self.router.handle(time, inbound) {
            Some(Inbound::Frame(frame)) => self.receive(time, frame),
            Some(Inbound::ChannelFull(newcomers)) => {
                to_stderr!(
                    "the radio channel is full: {newcomers} newcomers have found no place free; stations that send no frames give theirs up"
                );
            }
            _ => {}
        }
    }

    fn settle(&mut self, time: Moment) {
        if let Some(neighbours) = &mut self.neighbours {
            neighbours.settle(time.now);
        }
        self.router.settle(time.now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_in_the_name_of_no_member_is_of_none() {
        let members = HashSet::from([1, 2].map(Eui64::of_node));
        let frame = |source: u32| {
            // Data, both addresses extended, in the same PAN; the lowest byte of an address is first.
            let mut frame = vec![0x41, 0xcc, 7, 0xcd, 0xab];
            for address in [Eui64::of_node(0), Eui64::of_node(source)] {
                frame.extend(address.0.iter().rev());
            }
            frame
        };
        assert!(is_of(&members, &frame(1)) && is_of(&members, &frame(2)));
        assert!(!is_of(&members, &frame(3)));
        assert!(is_of(&members, &[2, 0, 7]), "an acknowledgement");
    }
}

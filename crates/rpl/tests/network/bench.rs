//! One node alone, to which a test says what it wants.

use std::net::Ipv6Addr;

use sixlock_base::{Counter, Duration, Eui64, Instant, MESH_PREFIX};
use sixlock_ipv6::Header;
use sixlock_ipv6::rpl::{
    ALL_RPL_NODES, Builder, Configuration, Dao, DaoAck, Dio, INFINITE_RANK, Message, ModeOfOperation, Prefix,
    RplOption, Status, Transit,
};
use sixlock_rpl::objective::Mrhof;
use sixlock_rpl::{Error, Event, Node, Profile, Settings};
use sixlock_testing::Rig;

use crate::network::{eui, link_local, mesh};

/// The node on the bench.
pub(crate) const OWN: u32 = 100;

pub(crate) struct Bench<P: Profile> {
    pub(crate) node: Node<P>,
    pub(crate) rig: Rig,
    pub(crate) mode: ModeOfOperation,
}

/// A packet that the node sent.
pub(crate) struct Sent {
    pub(crate) source: Ipv6Addr,
    pub(crate) destination: Ipv6Addr,
    pub(crate) bytes: Vec<u8>,
}

impl Sent {
    pub(crate) fn message(&self) -> Message {
        Message::parse(self.source, self.destination, &self.bytes[Header::LEN..]).unwrap().0
    }

    pub(crate) fn options(&self) -> Vec<RplOption<'_>> {
        let message = &self.bytes[Header::LEN..];
        Message::parse(self.source, self.destination, message).unwrap().1.iter().collect()
    }

    /// The targets of a DAO or DCO, with the lifetime and sequence of each.
    pub(crate) fn targets(&self) -> Vec<(u32, u8, u8)> {
        let mut targets = Vec::new();
        for option in self.options() {
            match option {
                RplOption::Target { prefix, .. } => {
                    let node = Eui64::of_address(prefix.as_host().unwrap()).node_id().unwrap();
                    targets.push((node, 0, 0));
                }
                RplOption::Transit(transit) => {
                    let last = targets.last_mut().unwrap();
                    (last.1, last.2) = (transit.path_lifetime, transit.path_sequence);
                }
                _ => {}
            }
        }
        targets
    }
}

pub(crate) fn configuration() -> Configuration {
    Settings::usual::<Mrhof>(MESH_PREFIX).configuration
}

/// The ICMPv6 message with these options.
pub(crate) fn built(
    source: Ipv6Addr,
    destination: Ipv6Addr,
    message: &Message,
    options: &[RplOption<'_>],
) -> Vec<u8> {
    let mut out = vec![0; 1200];
    let mut builder = Builder::new(&mut out, message).unwrap();
    options.iter().for_each(|option| builder.option(option).unwrap());
    let length = builder.finish(source, destination);
    out.truncate(length);
    out
}

pub(crate) fn target(id: u32) -> RplOption<'static> {
    RplOption::Target { prefix: Prefix::host(mesh(id)), flags: 0 }
}

pub(crate) fn transit(path_sequence: u8, path_lifetime: u8) -> Transit {
    Transit { external: false, invalidate: true, path_control: 0, path_sequence, path_lifetime, parent: None }
}

pub(crate) fn reaches(id: u32, path_sequence: u8, path_lifetime: u8) -> [RplOption<'static>; 2] {
    [target(id), RplOption::Transit(transit(path_sequence, path_lifetime))]
}

impl<P: Profile> Bench<P> {
    pub(crate) fn new(mode: ModeOfOperation) -> Self {
        let mut bench = Self { node: Node::new(), rig: Rig::seeded(7), mode };
        bench.start();
        bench
    }

    pub(crate) fn start(&mut self) {
        self.node.start(&mut self.rig.cx(), eui(OWN), 0).unwrap();
    }

    /// What a router of that rank says.
    pub(crate) fn dio_of(&self, rank: u16) -> Dio {
        Dio {
            instance: 0,
            version: 240,
            rank,
            grounded: true,
            mode: self.mode,
            preference: 0,
            dtsn: 240,
            dodag: mesh(0),
        }
    }

    pub(crate) fn hear(
        &mut self,
        from: u32,
        message: &Message,
        options: &[RplOption<'_>],
    ) -> Result<(), Error> {
        self.hear_at(link_local(from), ALL_RPL_NODES, message, options)
    }

    pub(crate) fn hear_at(
        &mut self,
        source: Ipv6Addr,
        destination: Ipv6Addr,
        message: &Message,
        options: &[RplOption<'_>],
    ) -> Result<(), Error> {
        let bytes = built(source, destination, message, options);
        self.node.handle(&mut self.rig.cx(), source, destination, &bytes)
    }

    /// Hears a DIO of that rank.
    pub(crate) fn dio(&mut self, from: u32, rank: u16) -> Result<(), Error> {
        let dio = self.dio_of(rank);
        self.hear(from, &Message::Dio(dio), &[RplOption::Configuration(configuration())])
    }

    /// Hears a DAO of a node below it.
    pub(crate) fn dao(&mut self, from: u32, sequence: u8, options: &[RplOption<'_>]) -> Result<(), Error> {
        let dao = Dao { instance: 0, wants_ack: true, sequence, dodag: None };
        self.hear_at(link_local(from), link_local(OWN), &Message::Dao(dao), options)
    }

    pub(crate) fn dao_ack(&mut self, from: Ipv6Addr, sequence: u8, status: Status) -> Result<(), Error> {
        let ack = DaoAck { instance: 0, sequence, status, dodag: None };
        self.hear_at(from, link_local(OWN), &Message::DaoAck(ack), &[])
    }

    pub(crate) fn outcome(&mut self, neighbour: u32, is_acknowledged: bool) {
        self.node.handle_outcome(&mut self.rig.cx(), eui(neighbour), is_acknowledged, 1);
    }

    /// Hears of a router and is heard by it.
    pub(crate) fn meet(&mut self, id: u32, rank: u16) {
        self.dio(id, rank).unwrap();
        (0..20).for_each(|_| self.outcome(id, true));
    }

    /// Lets time pass; what the node sends meanwhile. Frames to neighbours are acknowledged or not, as it is said.
    pub(crate) fn pass(&mut self, millis: u32, is_acknowledged: bool) -> Vec<Sent> {
        let end = self.rig.now + Duration::from_millis(millis);
        let mut sent = self.sent(is_acknowledged);
        while let Some(due) = self.node.poll_timeout().filter(|due| end.has_reached(*due)) {
            // What is due already, is due now.
            self.rig.now = if due.has_reached(self.rig.now) { due } else { self.rig.now };
            self.node.handle_timeout(&mut self.rig.cx());
            sent.extend(self.sent(is_acknowledged));
        }
        self.rig.now = end;
        sent
    }

    fn sent(&mut self, is_acknowledged: bool) -> Vec<Sent> {
        let mut all = Vec::new();
        let mut out = [0; 200];
        while let Some(length) = self.node.poll_transmit(&mut self.rig.cx(), &mut out) {
            let (header, _) = Header::parse(&out[..length]).unwrap();
            let (source, destination) = (header.source, header.destination);
            all.push(Sent { source, destination, bytes: out[..length].to_vec() });
            if !destination.is_multicast() {
                let next_hop = self.node.next_hop(destination).unwrap();
                self.node.handle_outcome(&mut self.rig.cx(), next_hop, is_acknowledged, 1);
            }
        }
        assert!(!self.node.has_output());
        all
    }

    pub(crate) fn parent(&self) -> Option<u32> {
        self.node.parent().and_then(Eui64::node_id)
    }

    pub(crate) fn events(&mut self) -> Vec<Event> {
        std::iter::from_fn(|| self.node.poll_event()).collect()
    }

    pub(crate) fn is_detached(&self) -> bool {
        self.node.rank() == INFINITE_RANK
    }

    pub(crate) fn count(&self, counter: Counter) -> u32 {
        self.rig.count(counter)
    }

    pub(crate) fn now(&self) -> Instant {
        self.rig.now
    }
}

pub(crate) fn is_dio(sent: &Sent) -> bool {
    matches!(sent.message(), Message::Dio(_))
}

pub(crate) fn daos(sent: Vec<Sent>) -> Vec<Sent> {
    sent.into_iter().filter(|sent| matches!(sent.message(), Message::Dao(_))).collect()
}

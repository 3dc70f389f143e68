//! A router that joins by a border router, and lets others join by itself.

use sixlock_base::{Eui64, Slot};
use sixlock_ipv6::nd::{ALL_NODES, ALL_ROUTERS, Message, NdOption, Status};
use sixlock_net::neighbour_discovery::{
    DefaultRouter, Error, Event, LearntContext, Registration, Router, Transmit,
};
use sixlock_testing::Rig;

use crate::bench::*;

type TestRouter = Router<[Slot<DefaultRouter>; 2], [Slot<LearntContext>; 2], [Slot<Registration>; 8]>;

impl Machine for TestRouter {
    fn timeout(&self) -> Option<sixlock_base::Instant> {
        self.poll_timeout()
    }

    fn elapse(&mut self, rig: &mut Rig) {
        self.handle_timeout(&mut rig.cx());
    }

    fn take(&mut self, rig: &mut Rig, from: Eui64, packet: &Packet) -> Result<(), Error> {
        let (header, message) = packet.parts();
        self.handle(&mut rig.cx(), from, &header, &message);
        Ok(())
    }

    fn send(&mut self, rig: &Rig, out: &mut [u8]) -> Option<Transmit> {
        self.poll_transmit(rig.now, out)
    }

    fn has_more(&self) -> bool {
        self.has_output()
    }

    fn event(&mut self) -> Option<Event> {
        self.poll_event()
    }
}

const BORDER: u32 = 0;

/// A router and the border router.
struct Pair {
    router: Lone<TestRouter>,
    border: Lone<SizedRegistrar<16>>,
    /// What the router has sent to hosts.
    to_hosts: Vec<Packet>,
    /// And to all.
    to_all: Vec<Packet>,
    /// Whether the two hear each other.
    is_linked: bool,
}

impl Pair {
    fn new() -> Self {
        let mut router = Lone { machine: TestRouter::new(), rig: Rig::near_wrap(1) };
        router.machine.start(&mut router.rig.cx(), node(ROUTER), &SETTINGS);
        let mut border = Lone { machine: SizedRegistrar::new(), rig: Rig::near_wrap(1) };
        border.machine.start(node(BORDER));
        border.machine.configure(network(true));
        assert!(border.machine.add_context(context(3, 600)));
        Self { router, border, to_hosts: Vec::new(), to_all: Vec::new(), is_linked: true }
    }

    /// Lets what waits go to and fro.
    fn exchange(&mut self) {
        loop {
            let sent = self.router.sent();
            let answered = self.border.sent();
            if sent.is_empty() && answered.is_empty() {
                return;
            }
            for (to, packet) in sent {
                if packet.destination == ALL_NODES {
                    self.to_all.push(packet);
                    continue;
                }
                match to.and_then(Eui64::node_id) {
                    Some(HOST) => self.to_hosts.push(packet),
                    _ if self.is_linked => drop(self.border.handle(ROUTER, &packet)),
                    _ => {}
                }
            }
            for (_, packet) in answered.into_iter().filter(|_| self.is_linked) {
                self.router.handle(BORDER, &packet).unwrap();
            }
        }
    }

    fn pass(&mut self, seconds: u32) {
        for _ in 0..seconds {
            for rig in [&mut self.router.rig, &mut self.border.rig] {
                rig.pass(1_000);
            }
            self.router.machine.elapse(&mut self.router.rig);
            self.border.machine.elapse(&mut self.border.rig);
            self.exchange();
        }
    }

    /// What the router answers a host that solicits it.
    fn solicit(&mut self) -> Option<Packet> {
        let destination = link_local(ROUTER);
        let packet =
            Packet::new(link_local(HOST), destination, Message::RouterSolicitation, &[source_address(HOST)]);
        self.router.handle(HOST, &packet).unwrap();
        self.pass(3);
        self.to_hosts.pop()
    }

    /// What it answers the host that asks for an address, with a verifier; once the border router was asked.
    fn register(&mut self, address: u32, owner: u32, transaction: u8) -> Option<Status> {
        let asked = |target| {
            let registration = NdOption::AddressRegistration(registration(owner, Some(transaction), 60));
            let options = [source_address(HOST), registration];
            Packet::new(
                link_local(HOST),
                link_local(ROUTER),
                Message::NeighbourSolicitation { target },
                &options,
            )
        };
        self.router.handle(HOST, &asked(global(address))).unwrap();
        self.exchange();
        self.to_hosts.pop()?.registration().map(|registration| registration.status)
    }
}

fn option<T>(packet: &Packet, find: impl FnMut(&NdOption) -> Option<T>) -> T {
    packet.options.iter().find_map(find).unwrap()
}

#[test]
fn it_is_no_router_to_others_before_its_own_address_is_registered() {
    let mut pair = Pair::new();
    pair.is_linked = false;
    assert_eq!(pair.solicit().map(|packet| packet.message), None);
    assert_eq!(pair.register(HOST, HOST, 1), None);
    pair.is_linked = true;
    pair.pass(60);
    assert_eq!(pair.router.machine.host().address(), Some(global(ROUTER)));
    assert!(pair.solicit().is_some());
    assert_eq!(pair.register(HOST, HOST, 1), Some(Status::SUCCESS));
    assert!(pair.border.machine.registrations().any(|known| known.address() == global(HOST)));
}

#[test]
fn it_tells_what_it_was_told_for_as_long_as_that_is_valid() {
    let mut pair = Pair::new();
    pair.pass(60);
    let first = pair.solicit().unwrap();
    pair.pass(600);
    let second = pair.solicit().unwrap();
    for packet in [&first, &second] {
        let border_router = option(packet, |option| match option {
            NdOption::BorderRouter(border_router) => Some(*border_router),
            _ => None,
        });
        assert_eq!((border_router.address, border_router.version), (global(BORDER), 1));
        let context = option(packet, |option| match option {
            NdOption::Context(context) => Some(*context),
            _ => None,
        });
        assert_eq!(
            (context.id, context.prefix, context.compresses),
            (3, super::bench::context(3, 1).prefix, true)
        );
        let capabilities = option(packet, |option| match option {
            NdOption::Capabilities(capabilities) => Some(*capabilities),
            _ => None,
        });
        assert!(
            capabilities.router && !capabilities.border_router && capabilities.extended_duplicate_address
        );
    }
    let valid = |packet: &Packet| {
        option(packet, |option| match option {
            NdOption::PrefixInformation(told) => Some(told.valid),
            _ => None,
        })
    };
    // It has asked nobody meanwhile: that is half of the router's lifetime away.
    let passed = valid(&first) - valid(&second);
    assert!((600..=610).contains(&passed), "{passed}");
}

#[test]
fn an_address_of_another_is_refused_and_one_of_a_neighbour_that_wants_no_way_is_not_direct() {
    let mut pair = Pair::new();
    pair.pass(60);
    assert_eq!(pair.register(9, 8, 1), Some(Status::SUCCESS));
    assert_eq!(pair.register(9, 7, 1), Some(Status::DUPLICATE_ADDRESS));
    // The border router itself has one, and the router has one.
    assert_eq!(pair.register(BORDER, 7, 1), Some(Status::DUPLICATE_ADDRESS));
    assert_eq!(pair.register(ROUTER, 7, 1), Some(Status::DUPLICATE_ADDRESS));
    let known = pair.router.machine.registrations().find(|known| known.address() == global(9));
    assert_eq!(known.and_then(Registration::neighbour), Some(node(HOST)));
    assert_eq!(
        pair.router.machine.neighbour(global(9)),
        None,
        "its node tells its way by the routing protocol"
    );
}

#[test]
fn when_its_router_is_gone_it_is_none_to_others() {
    let mut pair = Pair::new();
    pair.pass(60);
    assert!(pair.solicit().is_some());
    pair.router.events();
    pair.is_linked = false;
    pair.pass(2 * 3_600);
    assert!(pair.router.events().contains(&Event::Lost));
    assert_eq!(pair.router.machine.host().address(), None);
    assert!(pair.solicit().is_none());
    pair.is_linked = true;
    pair.pass(600);
    assert!(pair.solicit().is_some());
}

/// RFC 4861 section 6.2.4.
#[test]
fn when_it_has_become_a_router_it_tells_all_three_times() {
    let mut pair = Pair::new();
    pair.is_linked = false;
    pair.pass(60);
    assert_eq!(pair.to_all.len(), 0);
    pair.is_linked = true;
    pair.pass(600);
    assert_eq!(pair.to_all.len(), 3);
    let is_advertisement = |packet: &Packet| matches!(packet.message, Message::RouterAdvertisement { .. });
    assert!(pair.to_all.iter().all(|packet| packet.destination == ALL_NODES && is_advertisement(packet)));
}

fn solicitation(id: u32) -> Packet {
    Packet::new(link_local(id), ALL_ROUTERS, Message::RouterSolicitation, &[source_address(id)])
}

#[test]
fn its_own_router_that_looks_for_one_does_not_find_it() {
    let mut pair = Pair::new();
    pair.pass(60);
    let told = [HOST, BORDER].map(|id| {
        pair.router.handle(id, &solicitation(id)).unwrap();
        pair.router.pass(2).into_iter().filter(|(to, _)| *to == Some(node(id))).count()
    });
    assert_eq!(told, [1, 0]);
}

#[test]
fn what_it_has_for_others_waits_while_it_is_no_router() {
    let mut pair = Pair::new();
    pair.pass(60);
    pair.router.handle(HOST, &solicitation(HOST)).unwrap();
    // Its own router is none any more, before it has answered.
    let options = [NdOption::BorderRouter(network(true).border_router), source_address(BORDER)];
    let gone = Packet::new(link_local(BORDER), ALL_NODES, advertisement(0), &options);
    pair.router.handle(BORDER, &gone).unwrap();
    assert_eq!(pair.router.machine.host().address(), None);
    let to_host =
        |sent: Vec<(Option<Eui64>, Packet)>| sent.iter().filter(|(to, _)| *to == Some(node(HOST))).count();
    assert_eq!(to_host(pair.router.pass(5)), 0);
    assert!(!pair.router.machine.has_output(), "who is asked to write writes something");
}

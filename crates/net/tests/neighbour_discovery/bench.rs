//! Messages, and what machines are driven by.

use std::net::Ipv6Addr;

use sixlock_base::{Eui64, LINK_LOCAL_PREFIX, Slot};
use sixlock_ipv6::nd::{
    AddressRegistration, BorderRouter, Builder, Capabilities, Context, HOP_LIMIT, LinkLayerAddress, Message,
    NdOption, Prefix, PrefixInformation, RouterAdvertisement, Rovr, Status,
};
use sixlock_ipv6::{Header, next_header};
use sixlock_net::neighbour_discovery::{
    DefaultRouter, Error, Event, Host, LearntContext, Network, Registrar, Registration, Settings, Transmit,
};
use sixlock_testing::Rig;

pub(crate) type TestHost = Host<[Slot<DefaultRouter>; 2], [Slot<LearntContext>; 2]>;
pub(crate) type SizedRegistrar<const N: usize> = Registrar<[Slot<Registration>; N], [Slot<Context>; 2]>;
pub(crate) type TestRegistrar = SizedRegistrar<4>;

pub(crate) const PREFIX: [u8; 8] = [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0];
pub(crate) const OTHER_PREFIX: [u8; 8] = [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 1];

/// The host under test.
pub(crate) const HOST: u32 = 5;
/// The router under test, or that of the host.
pub(crate) const ROUTER: u32 = 1;

pub(crate) fn node(id: u32) -> Eui64 {
    Eui64::of_node(id)
}

pub(crate) fn link_local(id: u32) -> Ipv6Addr {
    node(id).with_prefix(LINK_LOCAL_PREFIX)
}

pub(crate) fn global(id: u32) -> Ipv6Addr {
    node(id).with_prefix(PREFIX)
}

pub(crate) fn rovr(id: u32) -> Rovr {
    Rovr(node(id).0)
}

/// A packet that a neighbour sends.
#[derive(Clone, Debug)]
pub(crate) struct Packet {
    pub(crate) source: Ipv6Addr,
    pub(crate) destination: Ipv6Addr,
    pub(crate) hop_limit: u8,
    pub(crate) message: Message,
    pub(crate) options: Vec<NdOption>,
}

impl Packet {
    pub(crate) fn new(
        source: Ipv6Addr,
        destination: Ipv6Addr,
        message: Message,
        options: &[NdOption],
    ) -> Self {
        Self { source, destination, hop_limit: HOP_LIMIT, message, options: options.to_vec() }
    }

    /// Its header and the ICMPv6 message.
    pub(crate) fn parts(&self) -> (Header, Vec<u8>) {
        let mut bytes = vec![0; 500];
        let mut builder = Builder::new(&mut bytes, &self.message).unwrap();
        for option in &self.options {
            builder.option(option).unwrap();
        }
        let length = builder.finish(self.source, self.destination);
        bytes.truncate(length);
        let header = Header {
            traffic_class: 0,
            flow_label: 0,
            payload_length: length as u16,
            next_header: next_header::ICMPV6,
            hop_limit: self.hop_limit,
            source: self.source,
            destination: self.destination,
        };
        (header, bytes)
    }

    /// What a machine has written.
    pub(crate) fn parse(packet: &[u8]) -> Self {
        let (header, payload) = Header::parse(packet).unwrap();
        assert_eq!(header.next_header, next_header::ICMPV6);
        assert_eq!(packet.len(), Header::LEN + payload.len());
        let (message, options) = Message::parse(header.source, header.destination, payload).unwrap();
        Self {
            source: header.source,
            destination: header.destination,
            hop_limit: header.hop_limit,
            message,
            options: options.iter().collect(),
        }
    }

    pub(crate) fn registration(&self) -> Option<AddressRegistration> {
        self.options.iter().find_map(|option| match option {
            NdOption::AddressRegistration(registration) => Some(*registration),
            _ => None,
        })
    }
}

pub(crate) fn source_address(id: u32) -> NdOption {
    NdOption::SourceLinkLayerAddress(LinkLayerAddress::Extended(node(id).0))
}

pub(crate) fn information(prefix: [u8; 8], valid: u32) -> PrefixInformation {
    PrefixInformation {
        length: 64,
        on_link: false,
        autonomous: true,
        is_router_address: false,
        valid,
        preferred: valid,
        address: Eui64([2, 0, 0, 0, 0, 0, 0, 0]).with_prefix(prefix),
    }
}

pub(crate) fn capabilities(extended_registration: bool) -> NdOption {
    NdOption::Capabilities(Capabilities { router: true, extended_registration, ..Capabilities::NONE })
}

pub(crate) fn context(id: u8, lifetime: u16) -> Context {
    let prefix = Prefix::of_64_bits(PREFIX);
    Context { id, compresses: true, lifetime, prefix }
}

pub(crate) fn advertisement(lifetime: u16) -> Message {
    Message::RouterAdvertisement(RouterAdvertisement {
        hop_limit: 64,
        managed: false,
        other_configuration: false,
        lifetime,
        reachable_time: 0,
        retransmission_time: 0,
    })
}

pub(crate) fn registration(id: u32, transaction: Option<u8>, lifetime: u16) -> AddressRegistration {
    AddressRegistration {
        status: Status::SUCCESS,
        opaque: 0,
        opaque_kind: 0,
        wants_reachability: false,
        transaction,
        lifetime,
        rovr: rovr(id),
    }
}

pub(crate) const SETTINGS: Settings = Settings {
    lifetime: 60,
    wants_reachability: true,
    capabilities: Capabilities::NONE,
    rovr: Rovr(Eui64::of_node(HOST).0),
};

pub(crate) fn network(is_border_router: bool) -> Network {
    Network {
        router_lifetime: 1_800,
        prefix: Some(information(PREFIX, 86_400)),
        border_router: BorderRouter { version: 1, lifetime: 0, address: global(0) },
        is_border_router,
        reads_extended: true,
        is_routing_registrar: true,
        generic_compression: false,
    }
}

/// A machine with what it is lent, and what it has sent.
pub(crate) struct Lone<M> {
    pub(crate) machine: M,
    pub(crate) rig: Rig,
}

pub(crate) trait Machine {
    fn timeout(&self) -> Option<sixlock_base::Instant>;
    fn elapse(&mut self, rig: &mut Rig);
    fn take(&mut self, rig: &mut Rig, from: Eui64, packet: &Packet) -> Result<(), Error>;
    fn send(&mut self, rig: &Rig, out: &mut [u8]) -> Option<Transmit>;
    fn has_more(&self) -> bool;
    fn event(&mut self) -> Option<Event>;
}

impl Machine for TestHost {
    fn timeout(&self) -> Option<sixlock_base::Instant> {
        self.poll_timeout()
    }

    fn elapse(&mut self, rig: &mut Rig) {
        self.handle_timeout(&mut rig.cx());
    }

    fn take(&mut self, rig: &mut Rig, from: Eui64, packet: &Packet) -> Result<(), Error> {
        let (header, message) = packet.parts();
        self.handle(&mut rig.cx(), from, &header, &message)
    }

    fn send(&mut self, _: &Rig, out: &mut [u8]) -> Option<Transmit> {
        self.poll_transmit(out)
    }

    fn has_more(&self) -> bool {
        self.has_output()
    }

    fn event(&mut self) -> Option<Event> {
        self.poll_event()
    }
}

impl<const N: usize> Machine for SizedRegistrar<N> {
    fn timeout(&self) -> Option<sixlock_base::Instant> {
        self.poll_timeout()
    }

    fn elapse(&mut self, rig: &mut Rig) {
        self.handle_timeout(rig.now);
    }

    fn take(&mut self, rig: &mut Rig, from: Eui64, packet: &Packet) -> Result<(), Error> {
        let (header, message) = packet.parts();
        self.handle(&mut rig.cx(), from, &header, &message)
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

impl<M: Machine> Lone<M> {
    pub(crate) fn handle(&mut self, from: u32, packet: &Packet) -> Result<(), Error> {
        self.machine.take(&mut self.rig, node(from), packet)
    }

    /// All that it sends now, each with the neighbour that it goes to.
    pub(crate) fn sent(&mut self) -> Vec<(Option<Eui64>, Packet)> {
        let mut out = [0; 500];
        let mut all = Vec::new();
        while let Some(Transmit { len, neighbour }) = self.machine.send(&self.rig, &mut out) {
            all.push((neighbour, Packet::parse(&out[..len])));
        }
        assert!(!self.machine.has_more());
        all
    }

    /// The only packet that it sends now.
    pub(crate) fn sole(&mut self) -> Packet {
        let mut all = self.sent();
        assert_eq!(all.len(), 1, "{all:?}");
        all.remove(0).1
    }

    /// Lets time pass to its next timeout; how many milliseconds.
    pub(crate) fn wait(&mut self) -> u32 {
        let due = self.machine.timeout().expect("a timeout");
        let waited = if self.rig.now.has_reached(due) { 0 } else { due.since(self.rig.now).millis() };
        self.rig.pass(waited);
        self.machine.elapse(&mut self.rig);
        waited
    }

    /// Lets so many seconds pass, and drops what it sends.
    pub(crate) fn pass(&mut self, seconds: u32) -> Vec<(Option<Eui64>, Packet)> {
        let end = self.rig.now + sixlock_base::Duration::from_secs(seconds);
        let mut all = Vec::new();
        while let Some(due) = self.machine.timeout().filter(|due| end.has_reached(*due)) {
            if !self.rig.now.has_reached(due) {
                self.rig.now = due;
            }
            self.machine.elapse(&mut self.rig);
            all.extend(self.sent());
        }
        self.rig.now = end;
        all
    }

    pub(crate) fn events(&mut self) -> Vec<Event> {
        std::iter::from_fn(|| self.machine.event()).collect()
    }
}

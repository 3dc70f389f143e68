//! How stations come to the prefix of the mesh: it is given to all, or told by neighbour discovery.

use core::cell::Cell;
use core::net::Ipv6Addr;

use sixlock_base::{Cx, Entropy, Eui64, Instant, MESH_PREFIX, New, Slot};
use sixlock_ipv6::Header;
use sixlock_ipv6::nd::{
    BorderRouter, Capabilities, Context, Prefix, PrefixInformation, RegisteredAddress, Rovr,
};
use sixlock_ipv6::rpl::source_route::MOST_LEFT_OUT;
use sixlock_net::neighbour_discovery::{
    DefaultRouter, Event, Host, LearntContext, Network, Registrar, Registration, Router, Settings, Transmit,
};
use sixlock_net::{Discovery, RoutingPrefix};

use crate::network::CLOUD;
use crate::sizes::{MEMBERS, NEIGHBOURS};
use crate::table::Table;

/// The addresses of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addressing {
    /// The first 64 bits of the addresses of nodes.
    pub prefix: [u8; 8],
    /// How nodes come to it.
    pub discovery: DiscoveryKind,
    /// How many leading octets of nodes' addresses source routes take for common to all.
    pub common_octets: u8,
}

impl Default for Addressing {
    fn default() -> Self {
        Self { prefix: MESH_PREFIX, discovery: DiscoveryKind::Given, common_octets: MOST_LEFT_OUT }
    }
}

impl Addressing {
    /// Whether the cloud has an address of it.
    pub(crate) fn of_cloud(&self) -> bool {
        CLOUD.octets()[..8] == self.prefix
    }

    /// The address of a node in the mesh.
    pub(crate) fn of(&self, node: Eui64) -> Ipv6Addr {
        node.with_prefix(self.prefix)
    }
}

/// How nodes come to the prefix of the mesh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DiscoveryKind {
    /// They know it from the start, and the context of header compression that it is.
    #[default]
    Given,
    /// By RPL: they take the one that the root's DIOs tell (RFC 6550 section 6.7.10), and know none when they start.
    Rpl,
    /// By neighbour discovery for 6LoWPAN (RFC 6775, RFC 8505): they know nothing when they start.
    NeighbourDiscovery,
}

/// By what a station begins.
pub(crate) struct Begins {
    pub(crate) addressing: Addressing,
    /// By what routers know it from another with its address.
    pub(crate) rovr: Rovr,
    /// Whether it reads payloads that are compressed by GHC.
    pub(crate) generic_compression: bool,
    /// Whether it is a host, which is no router and takes no part in the routing protocol.
    pub(crate) is_host: bool,
}

/// Room for routers that a node hears, and for those of which it knows the contexts.
const ROUTERS: usize = 4;
const CONTEXTS: usize = 2;

/// For how many minutes nodes register.
const REGISTRATION: u16 = 60;

/// For how many seconds the border router's prefix is valid.
const PREFIX_LIFETIME: u32 = 86_400;
/// The same of its context, in minutes.
const CONTEXT_LIFETIME: u16 = 1_440;
/// For how many seconds it is a default router.
const ROUTER_LIFETIME: u16 = 1_800;

/// Each node registers two addresses, one of them at its router alone.
type Known = Table<Slot<Registration>, { MEMBERS + NEIGHBOURS }>;

type Contexts = [Slot<Context>; CONTEXTS];
/// A node that is a host alone.
type SizedHost = Host<[Slot<DefaultRouter>; ROUTERS], [Slot<LearntContext>; CONTEXTS]>;
/// A node.
type SizedRouter = Router<[Slot<DefaultRouter>; ROUTERS], [Slot<LearntContext>; CONTEXTS], Known>;

enum By {
    Given([u8; 8]),
    Routing(Box<RoutingPrefix>),
    Host(Box<SizedHost>),
    Router(Box<SizedRouter>),
    BorderRouter(Box<Registrar<Known, Contexts>>),
}

/// How a station comes to its prefix. It is remembered when it has something to do: each station is asked after each event, and most
/// events have nothing to do with it.
pub(crate) struct AnyDiscovery {
    by: By,
    timeout: Cell<Option<Option<Instant>>>,
    has_output: Cell<Option<bool>>,
}

impl AnyDiscovery {
    const fn with(by: By) -> Self {
        Self { by, timeout: Cell::new(None), has_output: Cell::new(None) }
    }

    /// Lets the station at `address`, the border router or another, begin as the network has it.
    pub(crate) fn start<C, E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        address: Eui64,
        begins: &Begins,
        is_border_router: bool,
    ) {
        let Begins { addressing, rovr, generic_compression, is_host } = *begins;
        *self = Self::with(match (addressing.discovery, is_border_router) {
            (DiscoveryKind::Given, _) => By::Given(addressing.prefix),
            (DiscoveryKind::Rpl, true) => By::Routing(Box::new(RoutingPrefix::known(addressing.prefix))),
            (DiscoveryKind::Rpl, false) => By::Routing(Box::new(RoutingPrefix::NEW)),
            (_, true) => By::BorderRouter(Box::new(border_router(address, begins))),
            (_, false) => {
                let capabilities =
                    Capabilities { extended_registration: true, generic_compression, ..Capabilities::NONE };
                // A router tells its way by RPL itself.
                let settings =
                    Settings { lifetime: REGISTRATION, wants_reachability: is_host, capabilities, rovr };
                if is_host {
                    let mut host = Box::new(Host::new());
                    host.start(cx, address, &settings);
                    By::Host(host)
                } else {
                    let mut router = Box::new(Router::new());
                    router.start(cx, address, &settings);
                    By::Router(router)
                }
            }
        });
    }

    fn change(&mut self) -> &mut By {
        self.timeout.take();
        self.has_output.take();
        &mut self.by
    }

    /// What has changed, once.
    pub(crate) fn poll_event(&mut self) -> Option<Event> {
        match &mut self.by {
            By::Given(_) | By::Routing(_) => None,
            By::Host(host) => host.poll_event(),
            By::Router(router) => router.poll_event(),
            By::BorderRouter(registrar) => registrar.poll_event(),
        }
    }

    /// The router at which a host has registered its address; nothing while it has none, and of a node that is a router itself.
    pub(crate) fn router_of_host(&self) -> Option<Eui64> {
        match &self.by {
            By::Host(host) => host.address().and(host.router()),
            _ => None,
        }
    }

    /// Whether it is that of a host.
    pub(crate) fn is_of_host(&self) -> bool {
        matches!(self.by, By::Host(_))
    }

    /// The router at which a node has registered its address, and that address; nothing while it has none, or where none is registered.
    pub(crate) fn registration(&self) -> Option<(Eui64, Ipv6Addr)> {
        match &self.by {
            By::Given(_) | By::Routing(_) | By::BorderRouter(_) => None,
            By::Host(host) => host.router().zip(host.address()),
            By::Router(router) => router.host().router().zip(router.host().address()),
        }
    }
}

fn border_router(address: Eui64, begins: &Begins) -> Registrar<Known, Contexts> {
    let addressing = begins.addressing;
    let mut registrar = Registrar::new();
    let prefix = Prefix::of_64_bits(addressing.prefix);
    registrar.start(address);
    registrar.configure(Network {
        router_lifetime: ROUTER_LIFETIME,
        prefix: Some(PrefixInformation {
            length: 64,
            on_link: false,
            autonomous: true,
            is_router_address: false,
            valid: PREFIX_LIFETIME,
            preferred: PREFIX_LIFETIME,
            address: prefix.address(),
        }),
        border_router: BorderRouter { version: 1, lifetime: 0, address: addressing.of(address) },
        is_border_router: true,
        reads_extended: true,
        is_routing_registrar: true,
        generic_compression: begins.generic_compression,
    });
    registrar.add_context(Context { id: 0, compresses: true, lifetime: CONTEXT_LIFETIME, prefix });
    registrar.announce();
    registrar
}

impl New for AnyDiscovery {
    const NEW: Self = Self::with(By::Given(MESH_PREFIX));
}

/// Asks what a station discovers by.
macro_rules! asked {
    ($discovery:expr, $given:pat => $of_given:expr, $by:ident => $call:expr) => {
        match $discovery {
            $given => $of_given,
            By::Routing($by) => $call,
            By::Host($by) => $call,
            By::Router($by) => $call,
            By::BorderRouter($by) => $call,
        }
    };
}

impl Discovery for AnyDiscovery {
    const DISCOVERS: bool = true;
    const ASKS_ROUTER: bool = true;

    fn take_prefix(&mut self, prefix: Option<[u8; 8]>) {
        if let By::Routing(routing) = &mut self.by {
            routing.take_prefix(prefix);
        }
    }

    fn prefix(&self) -> Option<[u8; 8]> {
        asked!(&self.by, By::Given(prefix) => Some(*prefix), by => Discovery::prefix(&**by))
    }

    fn usable_prefix(&self) -> Option<[u8; 8]> {
        asked!(&self.by, By::Given(prefix) => Some(*prefix), by => by.usable_prefix())
    }

    fn contexts(&self) -> impl Iterator<Item = Context> + '_ {
        let given = |prefix: [u8; 8]| Context {
            id: 0,
            compresses: true,
            lifetime: u16::MAX,
            prefix: Prefix::of_64_bits(prefix),
        };
        let contexts: [Option<Context>; CONTEXTS] = asked!(
            &self.by,
            By::Given(prefix) => [Some(given(*prefix)), None],
            by => {
                let mut all = Discovery::contexts(&**by);
                [all.next(), all.next()]
            }
        );
        contexts.into_iter().flatten()
    }

    fn compresses_generically(&self, neighbour: Eui64) -> bool {
        asked!(&self.by, By::Given(_) => true, by => by.compresses_generically(neighbour))
    }

    fn default_router(&self) -> Option<Eui64> {
        asked!(&self.by, By::Given(_) => None, by => by.default_router())
    }

    fn neighbour(&self, destination: Ipv6Addr) -> Option<Eui64> {
        asked!(&self.by, By::Given(_) => None, by => Discovery::neighbour(&**by, destination))
    }

    fn poll_registered(&mut self) -> bool {
        match &mut self.by {
            By::Router(router) => router.poll_registered(),
            _ => false,
        }
    }

    fn registered(&self, now: Instant) -> impl Iterator<Item = RegisteredAddress> + '_ {
        let router = match &self.by {
            By::Router(router) => Some(router),
            _ => None,
        };
        router.into_iter().flat_map(move |router| router.registered(now))
    }

    fn handle<C, E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        from: Eui64,
        header: &Header,
        message: &[u8],
    ) {
        asked!(self.change(), By::Given(_) => (), by => Discovery::handle(&mut **by, cx, from, header, message));
    }

    fn has_output(&self) -> bool {
        let asks = || asked!(&self.by, By::Given(_) => false, by => by.has_output());
        let says = self.has_output.get().unwrap_or_else(asks);
        self.has_output.set(Some(says));
        says
    }

    fn poll_transmit(&mut self, now: Instant, out: &mut [u8]) -> Option<Transmit> {
        asked!(self.change(), By::Given(_) => None, by => Discovery::poll_transmit(&mut **by, now, out))
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let asks = || asked!(&self.by, By::Given(_) => None, by => by.poll_timeout());
        let says = self.timeout.get().unwrap_or_else(asks);
        self.timeout.set(Some(says));
        says
    }

    fn handle_timeout<C, E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        asked!(self.change(), By::Given(_) => (), by => Discovery::handle_timeout(&mut **by, cx));
    }
}

use core::net::Ipv6Addr;

use sixlock_base::{Array, Instant, Slot};
use sixlock_ipv6::Error;
use sixlock_ipv6::nd::{BorderRouter, Builder, Context, PrefixInformation};

/// What a router tells hosts of its network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    /// For how many seconds it is a default router.
    pub router_lifetime: u16,
    /// The prefix that hosts make their addresses of, 64 bits; `None` if they have those on the link only.
    pub prefix: Option<PrefixInformation>,
    /// The border router, whose registry says whether an address is free.
    pub border_router: BorderRouter,
    /// Whether this router is that one.
    pub is_border_router: bool,
    /// Whether the border router reads extended duplicate address messages; one that is this router does.
    pub reads_extended: bool,
    /// Whether this router makes registered addresses reachable from elsewhere.
    pub is_routing_registrar: bool,
    /// Whether this router reads what generic header compression has compressed.
    pub generic_compression: bool,
}

/// What a router knows of its network and tells those who ask: it was configured so, or as a host it was told so.
pub(super) trait Tells {
    /// Whether it may be the border router.
    const MAY_BE_BORDER_ROUTER: bool;

    /// Whether it is the border router.
    fn is_border_router(&self) -> bool;

    /// The prefix that addresses of the network begin with.
    fn address_prefix(&self) -> Option<&[u8; 8]>;

    /// Whether an address has that prefix.
    fn has_prefix_of(&self, address: &Ipv6Addr) -> bool {
        self.address_prefix().is_some_and(|prefix| address.octets()[..8] == *prefix)
    }

    /// The border router's address.
    fn border_router_address(&self) -> &Ipv6Addr;

    /// [`Network::router_lifetime`].
    fn router_lifetime(&self) -> u16;

    /// [`Network::reads_extended`].
    fn reads_extended(&self) -> bool;

    /// [`Network::is_routing_registrar`].
    fn is_routing_registrar(&self) -> bool;

    /// [`Network::generic_compression`].
    fn generic_compression(&self) -> bool;

    /// Writes the options of an advertisement that tell of the network.
    fn write(&self, now: Instant, builder: &mut Builder<'_>) -> Result<(), Error>;
}

/// A network as it was configured, with as many contexts as there is room for in `C`.
pub(super) struct Configured<C> {
    network: Network,
    /// The bits of its prefix.
    prefix: Option<[u8; 8]>,
    contexts: C,
}

impl<C: Array<Slot<Context>>> Configured<C> {
    pub(super) fn new(network: Network) -> Self {
        let prefix = network.prefix.map(|told| {
            let [prefix @ .., _, _, _, _, _, _, _, _] = told.address.octets();
            prefix
        });
        Self { network, prefix, contexts: C::NEW }
    }

    /// Adds a context, or changes it; whether there was room.
    pub(super) fn add_context(&mut self, context: Context) -> bool {
        let places = self.contexts.as_mut();
        let holds = |place: &Slot<Context>| place.get().is_some_and(|known| known.id == context.id);
        let free = || places.iter().position(|place| !place.is_full());
        let at = places.iter().position(holds).or_else(free);
        match at.and_then(|at| places.get_mut(at)) {
            Some(place) => {
                *place = Slot::Full(context);
                true
            }
            None => false,
        }
    }

    pub(super) fn contexts(&self) -> impl Iterator<Item = &Context> {
        self.contexts.as_ref().iter().filter_map(Slot::get)
    }
}

impl<C: Array<Slot<Context>>> Tells for Configured<C> {
    const MAY_BE_BORDER_ROUTER: bool = true;

    fn is_border_router(&self) -> bool {
        self.network.is_border_router
    }

    fn address_prefix(&self) -> Option<&[u8; 8]> {
        self.prefix.as_ref()
    }

    fn border_router_address(&self) -> &Ipv6Addr {
        &self.network.border_router.address
    }

    fn router_lifetime(&self) -> u16 {
        self.network.router_lifetime
    }

    fn reads_extended(&self) -> bool {
        self.network.reads_extended
    }

    fn is_routing_registrar(&self) -> bool {
        self.network.is_routing_registrar
    }

    fn generic_compression(&self) -> bool {
        self.network.generic_compression
    }

    fn write(&self, _: Instant, builder: &mut Builder<'_>) -> Result<(), Error> {
        builder.border_router(&self.network.border_router)?;
        if let Some(prefix) = self.network.prefix {
            // No address is on the link but those of neighbours (RFC 6775 section 6.1).
            builder.prefix_information(&PrefixInformation { on_link: false, ..prefix })?;
        }
        self.contexts().try_for_each(|context| builder.context(context))
    }
}

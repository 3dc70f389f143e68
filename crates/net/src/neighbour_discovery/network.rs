use sixlock_ipv6::nd::{BorderRouter, PrefixInformation};

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

impl Network {
    /// The prefix that addresses of it begin with.
    pub(super) fn address_prefix(&self) -> Option<[u8; 8]> {
        self.prefix.map(|told| {
            let [prefix @ .., _, _, _, _, _, _, _, _] = told.address.octets();
            prefix
        })
    }
}

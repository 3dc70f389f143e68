use sixlock_base::Eui64;
use sixlock_net::Discovery;
use sixlock_sixlowpan::ipsec::Context;
use sixlock_sixlowpan::{AddressContexts, WithAddresses};

/// What both ends of a link share, with what a node has discovered of its neighbours.
pub(crate) fn discovered<'a>(
    shared: &'a mut impl Context,
    discovery: &'a impl Discovery,
) -> impl Context + 'a {
    WithAddresses::new(shared, Discovered(discovery), |neighbour: Eui64| {
        discovery.compresses_generically(neighbour)
    })
}

/// The contexts that a node has discovered. Those of other lengths than 64 bits it does not use, and refuses.
struct Discovered<'a, D>(&'a D);

impl<D> Clone for Discovered<'_, D> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<D> Copy for Discovered<'_, D> {}

/// The length of the prefixes, in bits.
const LENGTH: u8 = 64;

impl<D: Discovery> AddressContexts for Discovered<'_, D> {
    const MANY: bool = true;

    fn prefix_of(self, id: u8) -> Option<[u8; 8]> {
        let known =
            self.0.contexts().find(|context| context.id == id && context.prefix.length() == LENGTH)?;
        known.prefix.address().octets().first_chunk().copied()
    }

    /// One that does not compress any more, or not yet, is for what comes in alone
    /// ([RFC 6775 section 7.2](https://www.rfc-editor.org/rfc/rfc6775#section-7.2)).
    fn context_of(self, prefix: &[u8]) -> Option<u8> {
        let is_of = |context: &sixlock_ipv6::nd::Context| {
            context.compresses
                && context.prefix.length() == LENGTH
                && context.prefix.address().octets()[..8] == *prefix
        };
        self.0.contexts().find(is_of).map(|context| context.id)
    }
}

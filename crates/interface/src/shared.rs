use sixlock_base::Eui64;
use sixlock_net::Discovery;
use sixlock_sixlowpan::ipsec::{Context, Flow, Format, Known};
use sixlock_sixlowpan::{AddressContexts, PayloadCompression};

/// What both ends of a link share for header compression: the contexts of addresses that a node has discovered, and all else as it knows it.
pub(crate) struct Shared<'a, X, D> {
    compression: &'a mut X,
    discovery: &'a D,
}

impl<'a, X, D> Shared<'a, X, D> {
    pub(crate) fn new(compression: &'a mut X, discovery: &'a D) -> Self {
        Self { compression, discovery }
    }
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

    fn put_prefix(self, id: u8, prefix: &mut [u8]) -> bool {
        let known = self.0.contexts().find(|context| context.id == id && context.prefix.length() == LENGTH);
        if let Some(context) = &known {
            prefix.copy_from_slice(&context.prefix.address().octets()[..8]);
        }
        known.is_some()
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

impl<X: Context, D: Discovery> Context for Shared<'_, X, D> {
    fn addresses(&self) -> impl AddressContexts {
        Discovered(self.discovery)
    }

    fn is_stateless(&self) -> bool {
        self.compression.is_stateless()
    }

    fn payloads(&self) -> Option<PayloadCompression> {
        self.compression.payloads()
    }

    fn format(&self) -> Option<Format> {
        self.compression.format()
    }

    fn default_spi(&self) -> u32 {
        self.compression.default_spi()
    }

    fn is_known_to_receiver(&self, flow: &Flow<'_>, sequence: u32, ah_len: usize) -> bool {
        self.compression.is_known_to_receiver(flow, sequence, ah_len)
    }

    fn known(&self, flow: &Flow<'_>) -> Option<Known> {
        self.compression.known(flow)
    }

    fn default_ah_len(&self) -> usize {
        self.compression.default_ah_len()
    }

    fn received(&mut self, packet: &[u8]) {
        self.compression.received(packet);
    }

    fn sent(&mut self, packet: &[u8]) {
        self.compression.sent(packet);
    }

    fn widen(&mut self) {
        self.compression.widen();
    }

    fn ask(&mut self, neighbour: Eui64) {
        self.compression.ask(neighbour);
    }

    fn poll_ask(&mut self) -> Option<Eui64> {
        self.compression.poll_ask()
    }
}

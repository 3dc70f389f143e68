use sixlock_base::Eui64;

use crate::PayloadCompression;
use crate::contexts::AddressContexts;
use crate::ipsec::{Context, Flow, Format, Known};

/// What both ends of a link share, with what neighbours have told: other contexts of addresses, and who of them reads GHC.
pub struct WithAddresses<'a, X, A, F> {
    shared: &'a mut X,
    addresses: A,
    reads_ghc: F,
}

impl<'a, X, A, F: Fn(Eui64) -> bool> WithAddresses<'a, X, A, F> {
    /// What `shared` knows, and `addresses` instead of its own. To a neighbour of which `reads_ghc` is false, no payload is compressed by
    /// GHC.
    pub fn new(shared: &'a mut X, addresses: A, reads_ghc: F) -> Self {
        Self { shared, addresses, reads_ghc }
    }
}

impl<X: Context, A: AddressContexts, F: Fn(Eui64) -> bool> Context for WithAddresses<'_, X, A, F> {
    fn addresses(&self) -> impl AddressContexts {
        self.addresses
    }

    fn is_stateless(&self) -> bool {
        self.shared.is_stateless()
    }

    fn compress_from(&self) -> usize {
        self.shared.compress_from()
    }

    fn payloads(&self) -> Option<PayloadCompression> {
        self.shared.payloads()
    }

    fn payloads_to(&self, neighbour: Eui64) -> Option<PayloadCompression> {
        let payloads = self.shared.payloads_to(neighbour)?;
        (payloads != PayloadCompression::Ghc || (self.reads_ghc)(neighbour)).then_some(payloads)
    }

    fn format(&self) -> Option<Format> {
        self.shared.format()
    }

    fn default_spi(&self) -> u32 {
        self.shared.default_spi()
    }

    fn is_known_to_receiver(&self, flow: &Flow<'_>, sequence: u32, ah_len: usize) -> bool {
        self.shared.is_known_to_receiver(flow, sequence, ah_len)
    }

    fn known(&self, flow: &Flow<'_>) -> Option<Known> {
        self.shared.known(flow)
    }

    fn default_ah_len(&self) -> usize {
        self.shared.default_ah_len()
    }

    fn received(&mut self, packet: &[u8]) {
        self.shared.received(packet);
    }

    fn sent(&mut self, packet: &[u8]) {
        self.shared.sent(packet);
    }

    fn widen(&mut self) {
        self.shared.widen();
    }

    fn ask(&mut self, neighbour: Eui64) {
        self.shared.ask(neighbour);
    }

    fn poll_ask(&mut self) -> Option<Eui64> {
        self.shared.poll_ask()
    }
}

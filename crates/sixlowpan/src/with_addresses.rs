use sixlock_base::Eui64;

use crate::PayloadCompression;
use crate::contexts::AddressContexts;
use crate::ipsec::{Context, Flow, Format, Known};

/// What both ends of a link share, with other contexts of addresses.
pub struct WithAddresses<'a, X, A> {
    shared: &'a mut X,
    addresses: A,
}

impl<'a, X, A> WithAddresses<'a, X, A> {
    /// What `shared` knows, and `addresses` instead of its own.
    pub fn new(shared: &'a mut X, addresses: A) -> Self {
        Self { shared, addresses }
    }
}

impl<X: Context, A: AddressContexts> Context for WithAddresses<'_, X, A> {
    fn addresses(&self) -> impl AddressContexts {
        self.addresses
    }

    fn is_stateless(&self) -> bool {
        self.shared.is_stateless()
    }

    fn payloads(&self) -> Option<PayloadCompression> {
        self.shared.payloads()
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

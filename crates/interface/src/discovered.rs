use sixlock_net::Discovery;
use sixlock_sixlowpan::AddressContexts;

/// The contexts that a node has discovered. Those of other lengths than 64 bits it does not use, and refuses.
pub(crate) struct Discovered<'a, D>(pub(crate) &'a D);

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

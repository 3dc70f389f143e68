use crate::{Call, Delegate, part};

/// A backend made of parts of others. For a chip whose accelerator does AES and nothing else, it is
/// `Provider<Accelerator, Tiny, Tiny>`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Provider<A, H, K = ()> {
    /// The backend for AES.
    pub ciphers: A,
    /// The backend for hashes.
    pub hashes: H,
    /// The backend for P-256; `()` if there is none.
    pub p256: K,
}

macro_rules! delegates {
    ($($part:ident to $field:ident: $backend:ident,)*) => {$(
        impl<A, H, K> Delegate<part::$part> for Provider<A, H, K> {
            type Backend = $backend;

            fn backend(&mut self, _: Call) -> &mut $backend {
                &mut self.$field
            }
        }
    )*};
}

delegates! {
    Ciphers to ciphers: A,
    PacketCiphers to ciphers: A,
    Hashes to hashes: H,
    P256 to p256: K,
}

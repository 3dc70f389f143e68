use sixlock_base::New;

use crate::contexts::{AddressContexts, MeshContext};
use crate::ipsec::Context;

/// For links whose other ends were told of no context, and restore no next header but that of UDP: those of Linux, whose modules
/// for the others refuse them.
#[derive(Clone, Copy, Debug)]
pub struct Stateless;

impl New for Stateless {
    const NEW: Self = Self;
}

/// What comes in may use context 0; nothing that goes out does.
#[derive(Clone, Copy)]
struct ReadOnly;

impl AddressContexts for ReadOnly {
    const MANY: bool = false;

    fn prefix_of(self, id: u8) -> Option<[u8; 8]> {
        MeshContext.prefix_of(id)
    }

    fn context_of(self, _: &[u8]) -> Option<u8> {
        None
    }
}

impl Context for Stateless {
    fn addresses(&self) -> impl AddressContexts {
        ReadOnly
    }

    fn is_stateless(&self) -> bool {
        true
    }
}

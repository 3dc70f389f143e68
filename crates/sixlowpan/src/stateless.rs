use sixlock_base::New;

use crate::ipsec::Context;

/// For links whose other ends were told of no context, and restore no next header but that of UDP: those of Linux, whose modules
/// for the others refuse them.
#[derive(Clone, Copy, Debug)]
pub struct Stateless;

impl New for Stateless {
    const NEW: Self = Self;
}

impl Context for Stateless {
    fn is_stateless(&self) -> bool {
        true
    }
}

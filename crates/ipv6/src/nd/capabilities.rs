use crate::Error;
use crate::flag::flag;

/// The 6LoWPAN capability indication option: what its sender can do
/// ([RFC 7400 section 3.3](https://www.rfc-editor.org/rfc/rfc7400#section-3.3),
/// [RFC 8505 section 4.3](https://www.rfc-editor.org/rfc/rfc8505#section-4.3)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// It reads extended duplicate address messages (D).
    pub extended_duplicate_address: bool,
    /// It is a router (L).
    pub router: bool,
    /// It is a border router (B).
    pub border_router: bool,
    /// It makes registered addresses reachable (P).
    pub routing_registrar: bool,
    /// It takes registrations in the extended form (E).
    pub extended_registration: bool,
    /// It reads what generic header compression (GHC) has compressed (G).
    pub generic_compression: bool,
}

const D: u8 = 0x20;
const L: u8 = 0x10;
const B: u8 = 0x08;
const P: u8 = 0x04;
const E: u8 = 0x02;
const G: u8 = 0x01;

impl Capabilities {
    /// None of them.
    pub const NONE: Self = Self {
        extended_duplicate_address: false,
        router: false,
        border_router: false,
        routing_registrar: false,
        extended_registration: false,
        generic_compression: false,
    };

    pub(super) const LEN: usize = 6;

    pub(super) fn parse(data: &[u8]) -> Result<Self, Error> {
        let &[_, flags, _, _, _, _] = <&[u8; Self::LEN]>::try_from(data).map_err(|_| Error::Length)?;
        let has = |bit| flags & bit != 0;
        Ok(Self {
            extended_duplicate_address: has(D),
            router: has(L),
            border_router: has(B),
            routing_registrar: has(P),
            extended_registration: has(E),
            generic_compression: has(G),
        })
    }

    pub(super) fn to_bytes(self) -> [u8; Self::LEN] {
        let flags = flag(self.extended_duplicate_address, D)
            | flag(self.router, L)
            | flag(self.border_router, B)
            | flag(self.routing_registrar, P)
            | flag(self.extended_registration, E)
            | flag(self.generic_compression, G);
        [0, flags, 0, 0, 0, 0]
    }
}

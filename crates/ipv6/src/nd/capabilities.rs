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

    /// The same as it stands in a message.
    pub const fn encode(self) -> EncodedCapabilities {
        let flags = flag(self.extended_duplicate_address, D)
            | flag(self.router, L)
            | flag(self.border_router, B)
            | flag(self.routing_registrar, P)
            | flag(self.extended_registration, E)
            | flag(self.generic_compression, G);
        EncodedCapabilities(flags)
    }
}

/// [`Capabilities`] as they stand in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncodedCapabilities(u8);

impl EncodedCapabilities {
    /// None of them.
    pub const NONE: Self = Self(0);

    /// [`Capabilities::extended_duplicate_address`].
    pub const EXTENDED_DUPLICATE_ADDRESS: Self = Self(D);
    /// [`Capabilities::router`].
    pub const ROUTER: Self = Self(L);
    /// [`Capabilities::border_router`].
    pub const BORDER_ROUTER: Self = Self(B);
    /// [`Capabilities::routing_registrar`].
    pub const ROUTING_REGISTRAR: Self = Self(P);
    /// [`Capabilities::extended_registration`].
    pub const EXTENDED_REGISTRATION: Self = Self(E);
    /// [`Capabilities::generic_compression`].
    pub const GENERIC_COMPRESSION: Self = Self(G);

    pub(super) const LEN: usize = 6;

    /// Those in the data of an option.
    pub(super) fn of(data: &[u8]) -> Self {
        Self(data.get(1).copied().unwrap_or(0))
    }

    pub(super) fn bytes(self) -> [u8; Self::LEN] {
        [0, self.0, 0, 0, 0, 0]
    }

    /// Whether all of these are among them.
    pub const fn has(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }

    /// These and others, if `adds` says so.
    #[must_use]
    pub const fn with(self, others: Self, adds: bool) -> Self {
        if adds { Self(self.0 | others.0) } else { self }
    }

    pub(super) fn decode(self) -> Capabilities {
        let has = |bit| self.0 & bit != 0;
        Capabilities {
            extended_duplicate_address: has(D),
            router: has(L),
            border_router: has(B),
            routing_registrar: has(P),
            extended_registration: has(E),
            generic_compression: has(G),
        }
    }
}

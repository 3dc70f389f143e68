use crate::Error;
use crate::flag::flag;

/// The address registration option, also in its extended form
/// ([RFC 6775 section 4.1](https://www.rfc-editor.org/rfc/rfc6775#section-4.1),
/// [RFC 8505 section 4.1](https://www.rfc-editor.org/rfc/rfc8505#section-4.1)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressRegistration {
    /// What became of the registration; [`Status::SUCCESS`] in a solicitation.
    pub status: Status,
    /// What a routing protocol is told; zero in the form of RFC 6775.
    pub opaque: u8,
    /// What [`AddressRegistration::opaque`] means, two bits: zero is a routing topology, the others are reserved.
    pub opaque_kind: u8,
    /// Whether the router is to make the address reachable from elsewhere.
    pub wants_reachability: bool,
    /// The transaction id, which orders registrations of an address; `None` in the form of RFC 6775.
    pub transaction: Option<u8>,
    /// For how many minutes the address is registered; 0 ends the registration.
    pub lifetime: u16,
    /// Whose the address is.
    pub rovr: Rovr,
}

/// A registration ownership verifier of 64 bits: an EUI-64, or what proves that its sender owns the address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rovr(pub [u8; 8]);

/// What became of a registration ([RFC 8505 table 1](https://www.rfc-editor.org/rfc/rfc8505#section-4.1)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status(pub u8);

impl Status {
    /// The address is registered.
    pub const SUCCESS: Self = Self(0);
    /// The address is another's.
    pub const DUPLICATE_ADDRESS: Self = Self(1);
    /// The router has no room for it.
    pub const NEIGHBOUR_CACHE_FULL: Self = Self(2);
    /// The registration is not the most recent of the address.
    pub const MOVED: Self = Self(3);
    /// The registration was removed.
    pub const REMOVED: Self = Self(4);
    /// The owner is to prove that the address is its own.
    pub const VALIDATION_REQUESTED: Self = Self(5);
    /// The source of the solicitation is another's.
    pub const DUPLICATE_SOURCE_ADDRESS: Self = Self(6);
    /// The source of the solicitation is no link-local address.
    pub const INVALID_SOURCE_ADDRESS: Self = Self(7);
    /// The address cannot be used on this link.
    pub const TOPOLOGICALLY_INCORRECT: Self = Self(8);
    /// The border router has no room for it.
    pub const REGISTRY_SATURATED: Self = Self(9);
    /// The proof that the address is its owner's is wrong.
    pub const VALIDATION_FAILED: Self = Self(10);
}

const OPAQUE_KIND_SHIFT: u8 = 2;
const OPAQUE_KIND: u8 = 3;
const REACHABILITY: u8 = 0x02;
const TRANSACTION: u8 = 0x01;

impl AddressRegistration {
    pub(super) const LEN: usize = 14;

    pub(super) fn to_bytes(self) -> [u8; Self::LEN] {
        let has_transaction = flag(self.transaction.is_some(), TRANSACTION);
        let reachability = flag(self.wants_reachability, REACHABILITY);
        let mut bytes = [0; Self::LEN];
        bytes[0] = self.status.0;
        bytes[1] = self.opaque;
        bytes[2] = (self.opaque_kind & OPAQUE_KIND) << OPAQUE_KIND_SHIFT | reachability | has_transaction;
        bytes[3] = self.transaction.unwrap_or(0);
        bytes[4..6].copy_from_slice(&self.lifetime.to_be_bytes());
        bytes[6..].copy_from_slice(&self.rovr.0);
        bytes
    }
}

/// An [`AddressRegistration`] as it stands in a message; what is reserved in it is zero.
// What registers an address, and the table of them, take the least code so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncodedRegistration([u8; AddressRegistration::LEN]);

impl EncodedRegistration {
    /// One of nobody.
    pub const NONE: Self = Self([0; AddressRegistration::LEN]);

    /// Reads it from the data of an option.
    #[inline(never)]
    pub(super) fn read(&mut self, data: &[u8]) -> Result<(), Error> {
        self.0 = *<&[u8; AddressRegistration::LEN]>::try_from(data).map_err(|_| Error::Length)?;
        self.0[2] &= OPAQUE_KIND << OPAQUE_KIND_SHIFT | REACHABILITY | TRANSACTION;
        if self.0[2] & TRANSACTION == 0 {
            self.0[3] = 0;
        }
        Ok(())
    }

    /// A successful one without transaction id, that wants nothing of a routing protocol.
    pub fn new(lifetime: u16, rovr: &Rovr) -> Self {
        let mut registration = Self::NONE;
        registration.set_lifetime(lifetime);
        registration.0[6..].copy_from_slice(&rovr.0);
        registration
    }

    /// One whose lifetime and verifier stand one behind the other, as in any message.
    pub(super) fn of_parts(status: Status, transaction: Option<u8>, lifetime_and_rovr: &[u8; 10]) -> Self {
        let mut registration = Self::NONE;
        registration.0[4..].copy_from_slice(lifetime_and_rovr);
        registration.set_status(status);
        registration.set_transaction(transaction);
        registration
    }

    /// What it says.
    pub fn decode(&self) -> AddressRegistration {
        AddressRegistration {
            status: self.status(),
            opaque: self.0[1],
            opaque_kind: self.0[2] >> OPAQUE_KIND_SHIFT,
            wants_reachability: self.wants_reachability(),
            transaction: self.transaction(),
            lifetime: self.lifetime(),
            rovr: Rovr(*self.rovr()),
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Its [`AddressRegistration::status`].
    pub fn status(&self) -> Status {
        Status(self.0[0])
    }

    /// The same with another status.
    pub fn set_status(&mut self, status: Status) {
        self.0[0] = status.0;
    }

    /// Its [`AddressRegistration::wants_reachability`].
    pub fn wants_reachability(&self) -> bool {
        self.0[2] & REACHABILITY != 0
    }

    /// Makes it say that it wants that.
    pub fn set_wants_reachability(&mut self) {
        self.0[2] |= REACHABILITY;
    }

    /// Its [`AddressRegistration::transaction`].
    pub fn transaction(&self) -> Option<u8> {
        (self.0[2] & TRANSACTION != 0).then_some(self.0[3])
    }

    /// Gives it another one.
    pub fn set_transaction(&mut self, transaction: Option<u8>) {
        self.0[2] = self.0[2] & !TRANSACTION | flag(transaction.is_some(), TRANSACTION);
        self.0[3] = transaction.unwrap_or(0);
    }

    /// Takes away what a routing protocol is told.
    pub fn clear_opaque(&mut self) {
        self.0[1] = 0;
        self.0[2] &= REACHABILITY | TRANSACTION;
    }

    /// Its [`AddressRegistration::lifetime`].
    pub fn lifetime(&self) -> u16 {
        u16::from_be_bytes([self.0[4], self.0[5]])
    }

    /// Gives it another one.
    pub fn set_lifetime(&mut self, minutes: u16) {
        [self.0[4], self.0[5]] = minutes.to_be_bytes();
    }

    /// Its [`AddressRegistration::rovr`].
    pub fn rovr(&self) -> &[u8; 8] {
        let [_, _, _, _, _, _, rovr @ ..] = &self.0;
        rovr
    }
}

/// An absolute slot number: how many timeslots have passed since the network began, in 40 bits.
///
/// At slots of 10 ms it ends after 348 years.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Asn(u64);

impl Asn {
    /// The last one.
    pub const MAX: Self = Self((1 << 40) - 1);

    /// The slot of this number, if it has no more than 40 bits.
    pub const fn new(number: u64) -> Option<Self> {
        if number <= Self::MAX.0 { Some(Self(number)) } else { None }
    }

    /// Its number.
    pub const fn number(self) -> u64 {
        self.0
    }

    /// The slot that comes `slots` later; `None` behind the last.
    pub const fn after(self, slots: u64) -> Option<Self> {
        match self.0.checked_add(slots) {
            Some(number) => Self::new(number),
            None => None,
        }
    }

    /// The number as elements carry it, lowest byte first.
    pub const fn to_le_bytes(self) -> [u8; 5] {
        let [a, b, c, d, e, ..] = self.0.to_le_bytes();
        [a, b, c, d, e]
    }

    /// The same, read.
    pub const fn from_le_bytes([a, b, c, d, e]: [u8; 5]) -> Self {
        Self(u64::from_le_bytes([a, b, c, d, e, 0, 0, 0]))
    }

    /// The number as nonces carry it, highest byte first.
    pub const fn to_be_bytes(self) -> [u8; 5] {
        let [a, b, c, d, e] = self.to_le_bytes();
        [e, d, c, b, a]
    }
}

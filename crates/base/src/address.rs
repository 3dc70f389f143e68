//! Link-layer and mesh addresses.

use core::net::Ipv6Addr;

/// The 64-bit prefix of link-local addresses, fe80::/64.
pub const LINK_LOCAL_PREFIX: [u8; 8] = [0xfe, 0x80, 0, 0, 0, 0, 0, 0];

/// The 64-bit prefix of the mesh, fd00::/64: 6LoWPAN context 0.
pub const MESH_PREFIX: [u8; 8] = [0xfd, 0x00, 0, 0, 0, 0, 0, 0];

/// The bit of an EUI-64's first octet that an interface identifier has inverted.
const UNIVERSAL_LOCAL: u8 = 0x02;

/// An EUI-64 in the order it is written (big-endian); IEEE 802.15.4 sends it reversed.
///
/// It lies at even addresses so that 16-bit processors copy it by words; but not on AVR, whose stack LLVM does not align.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(not(target_arch = "avr"), repr(align(2)))]
pub struct Eui64(pub [u8; 8]);

impl Eui64 {
    /// The EUI-64 of node `id` (0 = border router): `02:12:74:00:00:NN:NN:NN`.
    pub const fn of_node(id: u32) -> Self {
        let [_, high, middle, low] = id.to_be_bytes();
        Self([0x02, 0x12, 0x74, 0, 0, high, middle, low])
    }

    /// The node id, if this EUI-64 was made by [`Eui64::of_node`].
    pub const fn node_id(self) -> Option<u32> {
        match self.0 {
            [0x02, 0x12, 0x74, 0, 0, high, middle, low] => Some(u32::from_be_bytes([0, high, middle, low])),
            _ => None,
        }
    }

    /// The interface identifier: the EUI-64 with its universal/local bit inverted
    /// ([RFC 4291 appendix A](https://www.rfc-editor.org/rfc/rfc4291#appendix-A)).
    pub const fn interface_id(self) -> [u8; 8] {
        let mut id = self.0;
        id[0] ^= UNIVERSAL_LOCAL;
        id
    }

    /// The EUI-64 whose interface identifier is `id`.
    pub const fn from_interface_id(mut id: [u8; 8]) -> Self {
        id[0] ^= UNIVERSAL_LOCAL;
        Self(id)
    }

    /// The address formed from a 64-bit `prefix` and this EUI-64's interface identifier.
    pub fn with_prefix(self, prefix: [u8; 8]) -> Ipv6Addr {
        let mut octets = [0; 16];
        self.put_address(&prefix, &mut octets);
        Ipv6Addr::from(octets)
    }

    /// Writes the octets of that address to `out`.
    #[inline(always)]
    pub fn put_address(&self, prefix: &[u8; 8], out: &mut [u8; 16]) {
        let (front, id) = out.split_at_mut(8);
        front.copy_from_slice(prefix);
        id.copy_from_slice(&self.0);
        id[0] ^= UNIVERSAL_LOCAL;
    }

    /// Whether the interface identifier of `address` is made of it.
    #[inline(never)]
    pub fn is_of(&self, address: &Ipv6Addr) -> bool {
        address.octets()[8..] == self.interface_id()
    }

    /// The EUI-64 that `address`' interface identifier was made of.
    // Where nothing is known of their alignment, 16-bit processors copy eight octets one by one.
    #[inline(never)]
    pub fn of_address(address: Ipv6Addr) -> Self {
        let mut id = [0; 8];
        id.copy_from_slice(&address.octets()[8..]);
        Self::from_interface_id(id)
    }
}

/// Whether `address` is a unicast address inside the mesh (mesh prefix or link-local).
pub fn on_mesh(address: Ipv6Addr) -> bool {
    let octets = address.octets();
    octets[..8] == MESH_PREFIX || octets[..8] == LINK_LOCAL_PREFIX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_addresses_are_those_of_the_contract() {
        let eui = Eui64::of_node(0x01_02_03);
        assert_eq!(eui.0, [2, 0x12, 0x74, 0, 0, 1, 2, 3]);
        assert_eq!(eui.node_id(), Some(0x01_02_03));
        let address: Ipv6Addr = "fd00::12:7400:1:203".parse().unwrap();
        assert_eq!(eui.with_prefix(MESH_PREFIX), address);
        assert_eq!(Eui64::of_address(address), eui);
        assert!(on_mesh(address));
        assert!(!on_mesh("fd00:c::1".parse().unwrap()));
    }
}

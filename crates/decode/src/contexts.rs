//! The contexts by which addresses are compressed in a capture.

use std::net::Ipv6Addr;

use sixlock_base::MESH_PREFIX;
use sixlock_ipv6::nd::{Message, NdOption};
use sixlock_ipv6::{Header, extension, next_header};
use sixlock_sixlowpan::AddressContexts;

/// The contexts by their ids, of 64 bits each. Context 0 is the usual prefix until something else is heard of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AddressPrefixes([Option<[u8; 8]>; 16]);

impl Default for AddressPrefixes {
    fn default() -> Self {
        let mut prefixes = [None; 16];
        prefixes[0] = Some(MESH_PREFIX);
        Self(prefixes)
    }
}

/// The length of the prefixes, in bits.
const LENGTH: u8 = 64;

impl AddressPrefixes {
    /// Takes in a context as a key log has it: `0: 2001:db8:7::/64`.
    pub(crate) fn add_line(&mut self, line: &str) -> Option<()> {
        let (id, prefix) = line.split_once(": ")?;
        let (address, length) = prefix.split_once('/')?;
        if length.parse() != Ok(LENGTH) {
            return None;
        }
        let place = self.0.get_mut(id.parse::<usize>().ok()?)?;
        *place = address.parse::<Ipv6Addr>().ok()?.octets().first_chunk().copied();
        Some(())
    }

    /// Takes in what a packet tells of contexts, if it is a router advertisement. Those of other lengths are not read.
    pub(crate) fn learn(&mut self, packet: &[u8]) {
        let Ok((header, _)) = Header::parse(packet) else { return };
        let upper = extension::process(packet).ok().filter(|upper| upper.protocol == next_header::ICMPV6);
        let Some(message) = upper.and_then(|upper| packet.get(upper.at..)) else { return };
        let Ok((Message::RouterAdvertisement(_), options)) =
            Message::parse(header.source, header.destination, message)
        else {
            return;
        };
        for option in options.iter() {
            if let NdOption::Context(context) = option
                && context.prefix.length() == LENGTH
                && let Some(place) = self.0.get_mut(usize::from(context.id))
            {
                *place = context.prefix.address().octets().first_chunk().copied();
            }
        }
    }
}

impl AddressContexts for &AddressPrefixes {
    const MANY: bool = true;

    fn prefix_of(self, id: u8) -> Option<[u8; 8]> {
        self.0.get(usize::from(id)).copied().flatten()
    }

    fn context_of(self, prefix: &[u8]) -> Option<u8> {
        let is_of = |known: &Option<[u8; 8]>| known.is_some_and(|known| known == *prefix);
        self.0.iter().position(is_of).map(|id| id as u8)
    }
}

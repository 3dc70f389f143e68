use sixlock_base::{Duration, Instant, LINK_LOCAL_PREFIX, MESH_PREFIX, New};
use sixlock_ipv6::rpl::{Prefix, PrefixInformation};

use crate::time;

/// The prefix of the mesh, of which the addresses of its nodes are made.
pub trait MeshPrefix: Copy {
    /// The prefix, if it is known.
    fn get(&self) -> Option<&[u8; 8]>;

    /// Whether DIOs tell it.
    const IS_TOLD: bool = false;

    /// Takes in the prefix that the node is given; whether it had another before.
    fn give(&mut self, _: Option<[u8; 8]>) -> bool {
        false
    }

    /// Takes in the prefixes that a DIO of the parent tells; whether it was another before.
    fn learn(&mut self, _: Instant, _: impl Iterator<Item = PrefixInformation> + Clone) -> bool {
        false
    }

    /// What the node's own DIOs tell.
    fn information(&self) -> Option<PrefixInformation> {
        None
    }

    /// When its lifetime is over, if it has an end.
    fn ends(&self) -> Option<Instant> {
        None
    }
}

/// A root begins with it.
impl MeshPrefix for [u8; 8] {
    fn get(&self) -> Option<&[u8; 8]> {
        Some(self)
    }
}

/// Of nodes that are told no prefix, it is [`MESH_PREFIX`].
impl MeshPrefix for () {
    fn get(&self) -> Option<&[u8; 8]> {
        Some(&MESH_PREFIX)
    }
}

/// A prefix that a node is given: until then it tells nobody the way to itself, nor of its DODAG.
#[derive(Clone, Copy, Debug)]
pub struct GivenPrefix(Option<[u8; 8]>);

impl New for GivenPrefix {
    const NEW: Self = Self(None);
}

impl MeshPrefix for GivenPrefix {
    fn get(&self) -> Option<&[u8; 8]> {
        self.0.as_ref()
    }

    fn give(&mut self, prefix: Option<[u8; 8]>) -> bool {
        core::mem::replace(&mut self.0, prefix) != prefix
    }
}

/// A prefix that DIOs tell, those of the parent, and that the node's own tell on: the same, and for as long. Until then, and when its time is
/// over, the node tells nobody the way to itself, nor of its DODAG.
#[derive(Clone, Copy, Debug)]
pub struct ToldPrefix {
    prefix: Option<[u8; 8]>,
    /// For how many seconds it is valid from when it was told.
    valid: u32,
    /// When its time is over; a time that is longer than can be waited for ends when that is over.
    ends: Option<Instant>,
}

/// The lifetime that has no end.
const INFINITE: u32 = u32::MAX;

impl New for ToldPrefix {
    const NEW: Self = Self { prefix: None, valid: 0, ends: None };
}

impl ToldPrefix {
    /// A prefix without an end, as a root tells it.
    pub(crate) const fn forever(prefix: [u8; 8]) -> Self {
        Self { prefix: Some(prefix), valid: INFINITE, ends: None }
    }
}

/// The prefix that nodes may make addresses of, if it is one
/// ([RFC 6550 section 6.7.10](https://www.rfc-editor.org/rfc/rfc6550#section-6.7.10)).
fn usable_prefix(information: &PrefixInformation) -> Option<[u8; 8]> {
    let [prefix @ .., _, _, _, _, _, _, _, _] = information.address.octets();
    let is_usable = information.autonomous
        && information.length == 64
        && information.preferred <= information.valid
        && prefix != LINK_LOCAL_PREFIX
        && !information.address.is_multicast();
    is_usable.then_some(prefix)
}

impl MeshPrefix for ToldPrefix {
    const IS_TOLD: bool = true;

    fn get(&self) -> Option<&[u8; 8]> {
        self.prefix.as_ref()
    }

    /// The one that it has stays, if it is told again; else it is the first that is valid.
    fn learn(&mut self, now: Instant, prefixes: impl Iterator<Item = PrefixInformation> + Clone) -> bool {
        let usable =
            prefixes.filter_map(|information| Some((usable_prefix(&information)?, information.valid)));
        let before = self.prefix;
        let again = usable.clone().find(|(prefix, _)| Some(*prefix) == before);
        let Some((prefix, valid)) =
            again.filter(|(_, valid)| *valid > 0).or_else(|| usable.clone().find(|(_, valid)| *valid > 0))
        else {
            if again.is_some() {
                *self = Self::NEW;
            }
            return self.prefix != before;
        };
        let ends = now + Duration::from_millis(time::millis(valid));
        *self = Self { prefix: Some(prefix), valid, ends: (valid != INFINITE).then_some(ends) };
        self.prefix != before
    }

    fn information(&self) -> Option<PrefixInformation> {
        Some(PrefixInformation {
            length: 64,
            on_link: false,
            autonomous: true,
            is_router_address: false,
            valid: self.valid,
            preferred: self.valid,
            address: Prefix::of_64_bits(self.prefix?).address(),
        })
    }

    fn ends(&self) -> Option<Instant> {
        self.ends
    }
}

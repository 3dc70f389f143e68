use sixlock_base::{MESH_PREFIX, New};

/// The prefix of the mesh, of which the addresses of its nodes are made.
pub trait MeshPrefix: Copy {
    /// The prefix, if it is known.
    fn get(&self) -> Option<&[u8; 8]>;

    /// Takes in the prefix that the node is given; whether it had another before.
    fn give(&mut self, _: Option<[u8; 8]>) -> bool {
        false
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

/// A prefix that a node is given: until then it tells nobody the way to itself.
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

//! How a device proves whose readings they are: what its own data says, for the way that its image goes.

use core::convert::Infallible;

use sixlock_lockstep::Device;
use sixlock_node::{Channel, DtlsPsk, Identity, Name, Plain, PreSharedKey, Resource};

use crate::Backend;

/// A way to the cloud that a device's own data can be for.
pub trait Way: Channel<Backend> {
    /// What the data says for this way; nothing if there is no such way.
    fn access(device: &Device<'_>) -> Option<Self::Access>;
}

impl Way for Infallible {
    fn access(_: &Device<'_>) -> Option<Self> {
        None
    }
}

impl Way for Plain {
    fn access(device: &Device<'_>) -> Option<Resource> {
        let [id, key] = [device.identity, device.key].map(Name::from_slice);
        Some(Resource { id: id.ok()?, key: key.ok()? })
    }
}

impl Way for DtlsPsk<Backend> {
    fn access(device: &Device<'_>) -> Option<Identity> {
        let name = Name::from_slice(device.identity).ok()?;
        Some(Identity { name, key: PreSharedKey::new(device.key).ok()? })
    }
}

use sixlock_crypto::Crypto;

use heapless::Vec;

use super::Channel;
use crate::config::{MAX_NAME, Resource, TooLong};

/// In the clear: each request says whose it is, unless the resource has no id. Then the cloud must know the node by its address.
pub struct Plain {
    id: Vec<u8, MAX_NAME>,
    key: Vec<u8, MAX_NAME>,
}

impl<C: Crypto> Channel<C> for Plain {
    type Access<'a> = Resource<'a>;

    const NEW: Self = Self { id: Vec::new(), key: Vec::new() };

    fn start(&mut self, access: &Resource<'_>) -> Result<(), TooLong> {
        self.id.extend_from_slice(access.id).map_err(|_| TooLong)?;
        self.key.extend_from_slice(access.key).map_err(|_| TooLong)
    }

    fn resource(&self) -> Option<Resource<'_>> {
        (!self.id.is_empty()).then_some(Resource { id: &self.id, key: &self.key })
    }

    fn is_open(&self) -> bool {
        true
    }
}

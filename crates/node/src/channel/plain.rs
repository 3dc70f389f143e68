use sixlock_crypto::Crypto;
use sixlock_dtls::Config as DtlsConfig;

use super::Channel;
use crate::config::Resource;

/// In the clear: each request says whose it is.
pub struct Plain(Resource);

impl<C: Crypto> Channel<C> for Plain {
    type Access = Resource;

    fn new(access: Resource, _: DtlsConfig) -> Self {
        Self(access)
    }

    fn resource(&self) -> Option<&Resource> {
        Some(&self.0)
    }

    fn is_open(&self) -> bool {
        true
    }
}

//! The cryptographic backends that images for microcontrollers link.

/// A backend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceBackend {
    /// [`Tiny`](sixlock_crypto::Tiny): the least memory.
    #[default]
    Tiny,
    /// The same with [`Tables`](sixlock_crypto::Tables): AES with the keys of all rounds in RAM and a table of columns in flash.
    Tables,
}

impl DeviceBackend {
    pub(crate) const ALL: [(&str, Self); 2] = [("tiny", Self::Tiny), ("tables", Self::Tables)];

    /// Its name in scenarios, in `firmware/images.toml` and in files of costs.
    pub fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(_, backend)| *backend == self).map_or("", |(name, _)| name)
    }
}

//! The files of a device: its own, and with public keys those for other programs beside it.

use std::error::Error;
use std::path::{Path, PathBuf};

use sixlock_base::{Security, TransportSuite};
use sixlock_cloud::public_keys::{KeyPair, pem};
use sixlock_cloud::replace_private;

use super::device_file::{Associations, CloudTable, DeviceFile, DeviceTable, LinkKey, MeshTable};
use super::key::Key;
use super::network_file::{self, NetworkFile};
use super::registry::{CloudKeys, Registry};
use super::secret_file::to_toml;
use crate::args::{DeviceOptions, WhichCloud};

/// What goes into a device's files and does not come with its key.
pub(super) struct DeviceSettings {
    coaps: String,
    /// What the cloud proves itself by, if the device has a public key.
    cloud: Option<CloudKeys>,
    link: Option<LinkKey>,
    pub(super) mesh: Option<MeshTable>,
    pub(super) ipsec: Option<Associations>,
}

/// What a device proves itself by.
pub(super) struct Proves<'a> {
    pub(super) identity: &'a str,
    /// The pre-shared key, if there is no key pair.
    pub(super) key: &'a str,
    pub(super) pair: Option<KeyPair>,
    /// In PEM.
    pub(super) certificate: Option<String>,
}

impl DeviceSettings {
    /// Found before anything is changed, so that a key that was made can be written.
    pub(super) fn gather(
        registry: &Registry,
        mode: Security,
        options: &DeviceOptions,
        cloud: &WhichCloud,
    ) -> Result<Self, Box<dyn Error>> {
        let coaps = match &options.coaps {
            Some(address) => address.clone(),
            None => registry.coaps()?,
        };
        let link = match (mode.link, &options.link_key) {
            (None, _) => None,
            (Some(suite), Some(path)) => Some(LinkKey::open(path, suite)?),
            (Some(_), None) if cloud.url.is_some() => {
                return Err(
                    "all devices of a network share its link key; name the file with --link-key".into()
                );
            }
            (Some(suite), None) => Some(LinkKey::open(&cloud.data.join("link.key"), suite)?),
        };
        let is_public = mode.transport.is_some_and(TransportSuite::has_public_keys);
        let cloud = is_public.then(|| registry.cloud_keys()).transpose()?;
        Ok(Self { coaps, cloud, link, mesh: None, ipsec: None })
    }

    /// Adds the device to the nodes of the border router's file.
    pub(super) fn join(&mut self, path: &Path, label: &str, mode: Security) -> Result<(), Box<dyn Error>> {
        let mut network = NetworkFile::open(path)?;
        let routing = network.routing;
        let node = network.add(label, mode, self.link.as_ref())?;
        (self.mesh, self.ipsec) = (Some(MeshTable { id: node.id, routing }), node.ipsec.clone());
        network.cloud = Some(network_file::CloudTable { coaps: self.coaps.clone() });
        network.write(path)
    }

    /// Writes a device's file and those beside it, in place of any that are there.
    pub(super) fn write(
        self,
        path: &Path,
        (name, resource): (&str, i64),
        mode: Security,
        Proves { identity, key, pair, certificate }: Proves<'_>,
    ) -> Result<DeviceFile, Box<dyn Error>> {
        let lost = |error: Box<dyn Error>| {
            format!(
                "{}: {error}; the new key is lost: make another with sixlock keys rotate '{name}' --overlap 0s --out FILE",
                path.display()
            )
        };
        let mut cloud = CloudTable { coaps: self.coaps, ..CloudTable::default() };
        let der = |pem: &str| pem::read(pem).certificates.into_iter().next().map(Key::from);
        if let (Some(pair), Some(keys)) = (&pair, &self.cloud) {
            let (shown, known) = match &certificate {
                Some(certificate) => {
                    (cloud.authority_hex, cloud.name) = (der(&keys.authority), Some(keys.name.clone()));
                    (certificate.clone(), &keys.authority)
                }
                None => {
                    let point = pem::read(&keys.public_key).public_key;
                    cloud.public_key_hex = point.map(|point| Key::from(point.to_vec()));
                    (pem::public_key(&pair.point), &keys.public_key)
                }
            };
            let [own, other] = pem_paths(path);
            let mut text = pem::private_key(pair);
            text.push_str(&shown);
            replace_private(&own, text.trim_end()).map_err(|error| lost(error.into()))?;
            replace_private(&other, known.trim_end()).map_err(|error| lost(error.into()))?;
        }
        let key = pair.map_or_else(|| key.to_owned(), |pair| Key::from(pair.secret.to_vec()).hex());
        let certificate_hex = certificate.as_deref().and_then(der);
        let (resource, mode, identity) = (resource.to_string(), mode.to_string(), identity.into());
        let file = DeviceFile {
            device: DeviceTable { name: name.into(), resource, mode, identity, key, certificate_hex },
            cloud,
            llsec: self.link,
            mesh: self.mesh,
            ipsec: self.ipsec,
        };
        let text = to_toml(&file).map_err(lost)?;
        replace_private(path, &text).map_err(|error| lost(error.into()))?;
        Ok(file)
    }
}

/// The file that is named, or one named like the device.
pub(super) fn device_path(options: &DeviceOptions, label: &str) -> PathBuf {
    options.out.clone().unwrap_or_else(|| format!("{label}.toml").into())
}

/// The files beside that of a device with a public key: its private key with what it shows of itself, and what it knows the
/// cloud by.
pub(super) fn pem_paths(device: &Path) -> [PathBuf; 2] {
    [device.with_extension("pem"), device.with_extension("cloud.pem")]
}

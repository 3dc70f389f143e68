//! What a device needs to know of itself and of its cloud: a TOML file that only its owner reads.
//!
//! | | `dtls-psk` | `dtls-rpk` | `dtls-x509` |
//! | --- | --- | --- | --- |
//! | `device.identity` | the key's name | SHA-256 of the public key, as SubjectPublicKeyInfo | the name in its certificate |
//! | `device.key` | the key: its characters | the private key | the private key |
//! | `device.certificate_hex` | – | – | its certificate, signed by the cloud's authority |
//! | `cloud.public_key_hex` | – | the cloud's public key | – |
//! | `cloud.authority_hex` | – | – | the certificate of the authority that signed the cloud's |
//! | `cloud.name` | – | – | the name in the cloud's certificate |
//!
//! Keys are of P-256: a private one is 64 hexadecimal digits, a public one 130, the point uncompressed. Certificates are DER, in
//! hexadecimal digits.

use std::error::Error;
use std::io::ErrorKind;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sixlock_base::{LinkSuite, NetworkSuite, Security};
use sixlock_cloud::public_keys::KeyPair;
use sixlock_cloud::{create_private, read_private};
use sixlock_crypto::AES_128_KEY;

use super::key::Key;
use super::secret_file::read;
use crate::args::Routing;

/// The device file.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeviceFile {
    pub(crate) device: DeviceTable,
    pub(crate) cloud: CloudTable,
    pub(crate) llsec: Option<LinkKey>,
    pub(crate) mesh: Option<MeshTable>,
    pub(crate) ipsec: Option<Associations>,
}

/// Who the device is.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeviceTable {
    pub(crate) name: String,
    pub(crate) resource: String,
    pub(crate) mode: String,
    pub(crate) identity: String,
    pub(crate) key: String,
    pub(crate) certificate_hex: Option<Key>,
}

/// Where it posts to.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CloudTable {
    pub(crate) coaps: String,
    pub(crate) public_key_hex: Option<Key>,
    pub(crate) authority_hex: Option<Key>,
    pub(crate) name: Option<String>,
}

/// Who it is among the nodes of its network.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MeshTable {
    /// Its number, of which its address is made; the border router has 0.
    pub(crate) id: u32,
    /// How it finds its way. Files of earlier versions do not say so.
    #[serde(default)]
    pub(crate) routing: Routing,
}

impl DeviceFile {
    /// Reads the file at `path`.
    pub(crate) fn read(path: &Path) -> Result<Self, Box<dyn Error>> {
        read(path)
    }

    /// Its security mode.
    pub(crate) fn mode(&self) -> Result<Security, Box<dyn Error>> {
        self.device.mode.parse().map_err(|error| format!("mode \"{}\": {error}", self.device.mode).into())
    }

    /// Its key pair, if its key is a private one.
    pub(crate) fn key_pair(&self) -> Option<KeyPair> {
        let secret = Key::from_hex(&self.device.key)?;
        KeyPair::of(<[u8; 32]>::try_from(secret.bytes()).ok()?.into())
    }
}

/// The link key that all devices of a network share, and the security level.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LinkKey {
    key_hex: Key,
    pub(crate) index: u8,
    level: u8,
}

impl LinkKey {
    /// The key in `path`, made if the file is not there.
    pub(crate) fn open(path: &Path, suite: LinkSuite) -> Result<Self, Box<dyn Error>> {
        let told = |error| format!("{}: {error}", path.display());
        let key_hex = match read_private(path) {
            Ok(text) => Key::from_hex(text.trim())
                .filter(|key| key.bytes().len() == AES_128_KEY)
                .ok_or_else(|| format!("{} does not hold 32 hexadecimal digits", path.display()))?,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let key = Key::random(AES_128_KEY)?;
                create_private(path, &key.hex()).map_err(told)?;
                key
            }
            Err(error) => return Err(told(error).into()),
        };
        Ok(Self { key_hex, index: 1, level: suite.level() })
    }

    /// The suite and the key.
    pub(crate) fn suite(&self) -> Result<(LinkSuite, [u8; AES_128_KEY]), Box<dyn Error>> {
        let suite = LinkSuite::of_level(self.level)
            .ok_or_else(|| format!("llsec: there is no security level {}", self.level))?;
        let key = self.key_hex.bytes().try_into().map_err(|_| "llsec: key_hex is 32 hexadecimal digits")?;
        Ok((suite, key))
    }
}

/// The two associations of IPsec between a node and the far end, under keys of their own.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Associations {
    /// The security parameters index of both; header compression leaves 1 out.
    pub(crate) spi: u32,
    /// The key that the node sends under.
    pub(crate) from_node_hex: Key,
    /// The key that the far end sends under.
    pub(crate) to_node_hex: Key,
}

impl Associations {
    /// New ones.
    pub(crate) fn random(suite: NetworkSuite) -> Result<Self, getrandom::Error> {
        let len = suite.key_len();
        Ok(Self { spi: 1, from_node_hex: Key::random(len)?, to_node_hex: Key::random(len)? })
    }
}

#[cfg(test)]
mod tests {
    use super::super::secret_file::to_toml;
    use super::*;

    #[test]
    fn a_device_file_is_read_as_it_was_written() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("link.key");
        let link = LinkKey::open(&path, LinkSuite::Ccm128).unwrap();
        assert_eq!(
            LinkKey::open(&path, LinkSuite::Ccm32).unwrap().key_hex,
            link.key_hex,
            "one key for a network"
        );
        let mode = "llsec:ccm-128+esp:gcm+dtls-psk";
        let suite = mode.parse::<Security>().unwrap().network.unwrap();
        let file = DeviceFile {
            device: DeviceTable {
                name: r#"a "b" \n"#.into(),
                resource: "7".into(),
                mode: mode.into(),
                identity: "it's".into(),
                key: "k".into(),
                certificate_hex: Key::from_hex("3000"),
            },
            cloud: CloudTable {
                coaps: "127.0.0.1:5684".into(),
                authority_hex: Key::from_hex("3001"),
                ..CloudTable::default()
            },
            llsec: Some(link),
            mesh: Some(MeshTable { id: 3, routing: Routing::Rpl }),
            ipsec: Some(Associations::random(suite).unwrap()),
        };
        let text = to_toml(&file).unwrap();
        let read: toml::Table = text.parse().unwrap();
        assert_eq!(read["device"]["name"].as_str(), Some(r#"a "b" \n"#));
        assert_eq!(read["device"]["identity"].as_str(), Some("it's"));
        assert_eq!(read["device"]["certificate_hex"].as_str(), Some("3000"));
        assert_eq!(read["cloud"]["coaps"].as_str(), Some("127.0.0.1:5684"));
        assert_eq!(read["cloud"]["authority_hex"].as_str(), Some("3001"));
        assert!(read["cloud"].get("name").is_none());
        assert_eq!(read["llsec"]["level"].as_integer(), Some(7));
        assert_eq!(read["llsec"]["key_hex"].as_str().unwrap().len(), 32);
        assert_eq!(read["ipsec"]["to_node_hex"].as_str().unwrap().len(), 2 * suite.key_len());

        let device = directory.path().join("device.toml");
        create_private(&device, &text).unwrap();
        let again = DeviceFile::read(&device).unwrap();
        assert_eq!(to_toml(&again).unwrap(), text);
        assert_eq!(again.llsec.unwrap().suite().unwrap().0, LinkSuite::Ccm128);
        std::fs::write(&device, text.replace("spi", "sbi")).unwrap();
        let line = 1 + text.lines().position(|line| line.starts_with("spi")).unwrap();
        let error = DeviceFile::read(&device).unwrap_err().to_string();
        assert!(error.contains(&format!("device.toml: line {line}: unknown field `sbi`")), "{error}");
        std::fs::write(&device, text.replace("to_node_hex = \"", "to_node_hex = \"x")).unwrap();
        let error = DeviceFile::read(&device).unwrap_err().to_string();
        assert!(error.contains("pairs of hexadecimal digits"), "{error}");
        std::fs::write(&path, "not a key").unwrap();
        assert!(LinkKey::open(&path, LinkSuite::Ccm64).is_err());
    }
}

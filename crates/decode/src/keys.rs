//! The keys that open sealed layers.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::net::Ipv6Addr;

use serde::Deserialize;
use sixlock_base::Security;
use sixlock_crypto::{AES_128_KEY, Soft};
use sixlock_dtls::MASTER_SECRET;
use sixlock_dtls_msg::RANDOM;
use sixlock_ipsec::AnyTransform;
use sixlock_sixlowpan::ipsec::Format;
use toml::Spanned;

use crate::contexts::AddressPrefixes;
use crate::ipsec::Association;
use crate::shown::unhex;

/// How key logs of the simulator name the key of link security, which their format knows nothing of.
const LINK_KEY: &str = "# IEEE 802.15.4 key, index ";

/// How they name a context by which addresses are compressed.
const CONTEXT: &str = "# 6LoWPAN context ";

/// How they name the key of an association of IPsec.
const ASSOCIATION: &str = "# IPsec ";

/// Keys of link security, of associations of IPsec and of DTLS sessions.
#[derive(Clone)]
pub struct Keys {
    /// Those of the links by their index.
    pub(crate) link: BTreeMap<u8, [u8; AES_128_KEY]>,
    /// Master secrets by the client's random value.
    pub(crate) masters: BTreeMap<[u8; RANDOM], [u8; MASTER_SECRET]>,
    /// By what addresses are compressed, as far as nothing in the capture says so.
    pub(crate) contexts: AddressPrefixes,
    /// Associations of IPsec.
    pub(crate) associations: Vec<Association>,
    /// How headers of AH and ESP are compressed.
    pub(crate) format: Format,
    /// The index that they leave out.
    pub(crate) default_spi: u32,
}

impl Default for Keys {
    /// None; AH and ESP are compressed as the simulator does.
    fn default() -> Self {
        Self {
            link: BTreeMap::new(),
            masters: BTreeMap::new(),
            contexts: AddressPrefixes::default(),
            associations: Vec::new(),
            format: Format::default(),
            default_spi: 1,
        }
    }
}

/// Why a file of keys is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeysError {
    /// The line.
    pub line: usize,
    /// What is wrong there.
    pub message: String,
}

impl fmt::Display for KeysError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl Error for KeysError {}

/// What of a TOML file matters here.
#[derive(Deserialize)]
struct TomlFile {
    llsec: Option<LinkKey>,
    ipsec: Option<Compression>,
    #[serde(default)]
    association: Vec<TomlAssociation>,
}

/// What both ends of a link know of compressed AH and ESP.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Compression {
    format: Option<FormatName>,
    default_spi: Option<u32>,
}

#[derive(Deserialize)]
enum FormatName {
    #[serde(rename = "2012")]
    Paper2012,
    #[serde(rename = "drafts")]
    Drafts,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TomlAssociation {
    suite: String,
    source: Ipv6Addr,
    destination: Ipv6Addr,
    spi: u32,
    key_hex: Spanned<String>,
}

#[derive(Deserialize)]
struct LinkKey {
    key_hex: Spanned<String>,
    index: u8,
}

impl Keys {
    /// Adds the keys in `text`: a key log as `sixlock sim` writes it, which is one of NSS with all other keys as comments,
    /// or TOML, such as a device file with the table `[llsec]`.
    ///
    /// # Errors
    /// When `text` is neither.
    pub fn add(&mut self, text: &str) -> Result<(), KeysError> {
        if text.lines().any(|line| line.trim_start().starts_with('[')) {
            return self.add_toml(text);
        }
        for (line, number) in text.lines().zip(1..) {
            self.add_line(line.trim())
                .map_err(|message| KeysError { line: number, message: message.into() })?;
        }
        Ok(())
    }

    fn add_line(&mut self, line: &str) -> Result<(), &'static str> {
        if let Some(rest) = line.strip_prefix(LINK_KEY) {
            let (index, key) =
                rest.split_once(": ").ok_or("a key of the links is an index, a colon and the key")?;
            let index = index.parse().map_err(|_| "the index of a key of the links is 0 to 255")?;
            self.link.insert(index, link_key(key)?);
            return Ok(());
        }
        if let Some(rest) = line.strip_prefix(CONTEXT) {
            return self
                .contexts
                .add_line(rest)
                .ok_or("a context of 6LoWPAN is an id from 0 to 15, a colon and a prefix of 64 bits, as sim writes them");
        }
        if let Some(rest) = line.strip_prefix(ASSOCIATION) {
            self.associations.push(association_line(rest).ok_or(
                "behind \"# IPsec\" stand a suite, two addresses, an index and a key, as sim writes them",
            )?);
            return Ok(());
        }
        let mut words = line.split_whitespace();
        match words.next() {
            None => Ok(()),
            Some(label) if label.starts_with('#') => Ok(()),
            Some("CLIENT_RANDOM") => {
                let mut bytes = || words.next().and_then(unhex);
                let random = bytes().and_then(|bytes| bytes.try_into().ok());
                let master = bytes().and_then(|bytes| bytes.try_into().ok());
                let (Some(random), Some(master), None) = (random, master, words.next()) else {
                    return Err("behind CLIENT_RANDOM stand 32 bytes and 48 bytes in hexadecimal");
                };
                self.masters.insert(random, master);
                Ok(())
            }
            // Those of other versions of TLS.
            Some(label) if label.contains('_') && label.bytes().all(|byte| !byte.is_ascii_lowercase()) => {
                Ok(())
            }
            Some(_) => Err("this is neither a line of a key log nor of a device file"),
        }
    }

    fn add_toml(&mut self, text: &str) -> Result<(), KeysError> {
        let error = |at: usize, message: &str| {
            let line = 1 + text.bytes().take(at).filter(|&byte| byte == b'\n').count();
            KeysError { line, message: message.into() }
        };
        let file: TomlFile = toml::from_str(text)
            .map_err(|wrong| error(wrong.span().map_or(0, |span| span.start), wrong.message()))?;
        if let Some(LinkKey { key_hex, index }) = file.llsec {
            let key = link_key(key_hex.get_ref()).map_err(|message| error(key_hex.span().start, message))?;
            self.link.insert(index, key);
        }
        if let Some(Compression { format, default_spi }) = file.ipsec {
            self.format = match format {
                Some(FormatName::Paper2012) => Format::Paper2012,
                Some(FormatName::Drafts) => Format::Drafts,
                None => self.format,
            };
            self.default_spi = default_spi.unwrap_or(self.default_spi);
        }
        for TomlAssociation { suite, source, destination, spi, key_hex } in file.association {
            let association = association(&suite, source, destination, spi, key_hex.get_ref());
            let message =
                "suite and key of an association do not fit: suites are those of modes, such as esp:ctr-xcbc";
            self.associations.push(association.ok_or_else(|| error(key_hex.span().start, message))?);
        }
        Ok(())
    }
}

/// An association as a key log has it: `esp:ctr-xcbc, fd00::1 to fd00:c::1, index 1: HEX`.
fn association_line(line: &str) -> Option<Association> {
    let (front, key) = line.rsplit_once(": ")?;
    let mut parts = front.split(", ");
    let suite = parts.next()?;
    let (source, destination) = parts.next()?.split_once(" to ")?;
    let spi = parts.next()?.strip_prefix("index ")?.parse().ok()?;
    association(suite, source.parse().ok()?, destination.parse().ok()?, spi, key)
}

/// An association, if there is such a suite and it has keys of this length.
fn association(
    suite: &str,
    source: Ipv6Addr,
    destination: Ipv6Addr,
    spi: u32,
    key: &str,
) -> Option<Association> {
    let (suite, key) = (Security::any(suite).ok()?.network?, unhex(key.trim())?);
    AnyTransform::new(&mut Soft, suite, &key).ok()?;
    Some(Association { source, destination, spi, suite, key })
}

fn link_key(hex: &str) -> Result<[u8; AES_128_KEY], &'static str> {
    unhex(hex.trim())
        .and_then(|key| key.try_into().ok())
        .ok_or("a key of the links is 16 bytes in hexadecimal")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use sixlock_base::{EspSuite, NetworkSuite};

    #[test]
    fn a_key_log_is_read_with_the_key_of_the_links() {
        let log = format!(
            "# a comment\n\n# IEEE 802.15.4 key, index 1: {}\nCLIENT_RANDOM {} {}\nSERVER_TRAFFIC_SECRET_0 00 00\n",
            "0f".repeat(16),
            "ab".repeat(32),
            "CD".repeat(48)
        );
        let mut keys = Keys::default();
        keys.add(&log).unwrap();
        assert_eq!(keys.link, BTreeMap::from([(1, [0x0f; 16])]));
        assert_eq!(keys.masters, BTreeMap::from([([0xab; 32], [0xcd; 48])]));
    }

    #[test]
    fn a_device_file_is_read() {
        let file = "[device]\nname = \"a\"\n\n[llsec]\nkey_hex = \"000102030405060708090a0b0c0d0e0f\"\nindex = 3\nlevel = 6\n";
        let mut keys = Keys::default();
        keys.add(file).unwrap();
        assert_eq!(keys.link, BTreeMap::from([(3, core::array::from_fn(|n| n as u8))]));
    }

    #[test]
    fn an_association_is_read_from_either() {
        let key = "00".repeat(36);
        let log = format!("# IPsec esp:ctr-xcbc, fd00::1 to fd00:c::1, index 7: {key}\n");
        let toml = format!(
            "[ipsec]\nformat = \"drafts\"\ndefault_spi = 9\n[[association]]\nsuite = \"esp:ctr-xcbc\"\nsource = \"fd00::1\"\n\
             destination = \"fd00:c::1\"\nspi = 7\nkey_hex = \"{key}\"\n"
        );
        let [mut from_log, mut from_toml] = [Keys::default(), Keys::default()];
        from_log.add(&log).unwrap();
        from_toml.add(&toml).unwrap();
        let expected = Association {
            source: "fd00::1".parse().unwrap(),
            destination: "fd00:c::1".parse().unwrap(),
            spi: 7,
            suite: NetworkSuite::Esp(EspSuite::CtrXcbc),
            key: vec![0; 36],
        };
        assert_eq!(from_log.associations, [expected]);
        assert_eq!(from_log.associations, from_toml.associations);
        assert_eq!((from_log.format, from_log.default_spi), (Format::Paper2012, 1));
        assert_eq!((from_toml.format, from_toml.default_spi), (Format::Drafts, 9));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (text, line, message) in [
            ("\nCLIENT_RANDOM 00 00", 2, "behind CLIENT_RANDOM stand 32 bytes and 48 bytes in hexadecimal"),
            ("# IEEE 802.15.4 key, index 1: 0g", 1, "a key of the links is 16 bytes in hexadecimal"),
            (
                "# 6LoWPAN context 0: 2001:db8::/48",
                1,
                "a context of 6LoWPAN is an id from 0 to 15, a colon and a prefix of 64 bits, as sim writes them",
            ),
            (
                "# 6LoWPAN context 16: 2001:db8::/64",
                1,
                "a context of 6LoWPAN is an id from 0 to 15, a colon and a prefix of 64 bits, as sim writes them",
            ),
            ("# IEEE 802.15.4 key, index 256: 00", 1, "the index of a key of the links is 0 to 255"),
            (
                "# IPsec ah:xcbc, fd00::1 to fd00::2, index 1: 00",
                1,
                "behind \"# IPsec\" stand a suite, two addresses, an index and a key, as sim writes them",
            ),
            ("hello", 1, "this is neither a line of a key log nor of a device file"),
            ("[llsec]\nkey_hex = \"00\"\nindex = 1", 2, "a key of the links is 16 bytes in hexadecimal"),
        ] {
            let error = KeysError { line, message: message.into() };
            assert_eq!(Keys::default().add(text), Err(error));
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(CLIENT_RANDOM |\\[llsec\\]|key_hex = |# IEEE 802.15.4 key, index |1: |[0-9a-f]|é|\n){0,12}") {
            let _ = Keys::default().add(&text);
        }
    }
}

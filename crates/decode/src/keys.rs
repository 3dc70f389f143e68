//! The keys that open sealed layers.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;

use serde::Deserialize;
use sixlock_crypto::AES_128_KEY;
use sixlock_dtls::MASTER_SECRET;
use sixlock_dtls_msg::RANDOM;

use crate::shown::unhex;

/// How key logs of the simulator name the key of link security, which their format knows nothing of.
const LINK_KEY: &str = "# IEEE 802.15.4 key, index ";

/// Keys of link security and of DTLS sessions.
#[derive(Clone, Default)]
pub struct Keys {
    /// Those of the links by their index.
    pub(crate) link: BTreeMap<u8, [u8; AES_128_KEY]>,
    /// Master secrets by the client's random value.
    pub(crate) masters: BTreeMap<[u8; RANDOM], [u8; MASTER_SECRET]>,
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

/// What of a device file matters here.
#[derive(Deserialize)]
struct DeviceFile {
    llsec: Option<LinkKey>,
}

#[derive(Deserialize)]
struct LinkKey {
    key_hex: String,
    index: u8,
}

impl Keys {
    /// Adds the keys in `text`: a key log as `sixlock sim` writes it, which is one of NSS with the key of the links as a
    /// comment, or a device file with the table `[llsec]`.
    ///
    /// # Errors
    /// When `text` is neither.
    pub fn add(&mut self, text: &str) -> Result<(), KeysError> {
        if text.lines().any(|line| line.trim_start().starts_with('[')) {
            return self.add_device_file(text);
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

    fn add_device_file(&mut self, text: &str) -> Result<(), KeysError> {
        let error = |at: usize, message: &str| {
            let line = 1 + text.bytes().take(at).filter(|&byte| byte == b'\n').count();
            KeysError { line, message: message.into() }
        };
        let file: DeviceFile = toml::from_str(text)
            .map_err(|wrong| error(wrong.span().map_or(0, |span| span.start), wrong.message()))?;
        if let Some(LinkKey { key_hex, index }) = file.llsec {
            let at = text.find("key_hex").unwrap_or(0);
            self.link.insert(index, link_key(&key_hex).map_err(|message| error(at, message))?);
        }
        Ok(())
    }
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
    fn what_is_wrong_is_said_with_its_line() {
        for (text, line, message) in [
            ("\nCLIENT_RANDOM 00 00", 2, "behind CLIENT_RANDOM stand 32 bytes and 48 bytes in hexadecimal"),
            ("# IEEE 802.15.4 key, index 1: 0g", 1, "a key of the links is 16 bytes in hexadecimal"),
            ("# IEEE 802.15.4 key, index 256: 00", 1, "the index of a key of the links is 0 to 255"),
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

//! What a device needs to know of itself and of its cloud: a TOML file that only its owner reads.

use std::error::Error;
use std::fmt::Write;
use std::io::ErrorKind;
use std::path::Path;

use sixlock_base::LinkSuite;
use sixlock_cloud::{create_private, read_private};

/// The device file.
pub(crate) struct DeviceFile {
    pub(crate) name: String,
    pub(crate) resource: String,
    pub(crate) mode: String,
    pub(crate) identity: String,
    pub(crate) key: String,
    pub(crate) coaps: String,
    pub(crate) link: Option<LinkKey>,
}

impl DeviceFile {
    /// The file's text.
    pub(crate) fn to_toml(&self) -> String {
        let Self { name, resource, mode, identity, key, coaps, link } = self;
        let mut text = String::from("[device]\n");
        let fields =
            [("name", name), ("resource", resource), ("mode", mode), ("identity", identity), ("key", key)];
        for (field, value) in fields {
            // Nothing fails that is written to memory.
            let _ = writeln!(text, "{field} = {}", quoted(value));
        }
        let _ = writeln!(text, "\n[cloud]\ncoaps = {}", quoted(coaps));
        if let Some(LinkKey { hex, level }) = link {
            let _ = writeln!(text, "\n[llsec]\nkey_hex = {}\nindex = 1\nlevel = {level}", quoted(hex));
        }
        text
    }
}

/// A TOML string; what it holds has no control characters.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The link key that all devices of a network share, and the security level.
pub(crate) struct LinkKey {
    hex: String,
    level: u8,
}

impl LinkKey {
    /// The key in `path`, made if the file is not there.
    pub(crate) fn open(path: &Path, suite: LinkSuite) -> Result<Self, Box<dyn Error>> {
        let level = suite.level();
        let told = |error| format!("{}: {error}", path.display());
        let hex = match read_private(path) {
            Ok(text) => text.trim().to_owned(),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let mut key = [0; 16];
                getrandom::fill(&mut key)?;
                let hex: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
                create_private(path, &hex).map_err(told)?;
                hex
            }
            Err(error) => return Err(told(error).into()),
        };
        if hex.len() != 32 || !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(format!("{} does not hold 32 hexadecimal digits", path.display()).into());
        }
        Ok(Self { hex, level })
    }
}

/// The line that posts a reading as the device, for a shell.
pub(crate) fn coap_client(file: &DeviceFile) -> String {
    let word = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
    format!(
        "coap-client-openssl -u {} -k {} -m post -t 110 -e {} {}",
        word(&file.identity),
        word(&file.key),
        word(r#"[{"n":"temperature","u":"Cel","v":21.5}]"#),
        word(&format!("coaps://{}/resources/data", file.coaps))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_file_is_read_as_it_was_meant() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("link.key");
        let link = LinkKey::open(&path, LinkSuite::Ccm128).unwrap();
        assert_eq!(LinkKey::open(&path, LinkSuite::Ccm32).unwrap().hex, link.hex, "one key for a network");
        let file = DeviceFile {
            name: r#"a "b" \n"#.into(),
            resource: "7".into(),
            mode: "llsec:ccm-128+dtls-psk".into(),
            identity: "it's".into(),
            key: "k".into(),
            coaps: "127.0.0.1:5684".into(),
            link: Some(link),
        };
        let read: toml::Table = file.to_toml().parse().unwrap();
        assert_eq!(read["device"]["name"].as_str(), Some(r#"a "b" \n"#));
        assert_eq!(read["device"]["identity"].as_str(), Some("it's"));
        assert_eq!(read["cloud"]["coaps"].as_str(), Some("127.0.0.1:5684"));
        assert_eq!(read["llsec"]["level"].as_integer(), Some(7));
        assert_eq!(read["llsec"]["key_hex"].as_str().unwrap().len(), 32);
        assert!(coap_client(&file).starts_with(r"coap-client-openssl -u 'it'\''s' -k 'k' "));
        std::fs::write(&path, "not a key").unwrap();
        assert!(LinkKey::open(&path, LinkSuite::Ccm64).is_err());
    }
}

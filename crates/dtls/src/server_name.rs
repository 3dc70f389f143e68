//! Server name indication ([RFC 6066 section 3](https://www.rfc-editor.org/rfc/rfc6066#section-3)).

use core::net::IpAddr;

use sixlock_dtls_msg::{Extension, ExtensionType};

use crate::OptionalPart;

/// The longest name of a host, in bytes, without a dot at its end.
pub const MAX_HOST_NAME: usize = 253;
/// Before the name: the length of the list of names, which has one, the name's type (host_name is 0), and its length.
const HEADER: usize = 5;

/// The name of the host that a client wants to speak with, or none.
pub struct ServerName {
    /// Of the extension's content; 0 for none.
    length: u16,
    content: [u8; HEADER + MAX_HOST_NAME],
}

impl ServerName {
    /// Sets the name. Clears it if `host` is not a valid host name: an IP address, not ASCII, empty, or longer than
    /// [`MAX_HOST_NAME`] bytes. A dot at its end is left out.
    pub(crate) fn set(&mut self, host: &str) {
        self.length = 0;
        let name = host.strip_suffix('.').unwrap_or(host);
        let may_be_said =
            (1..=MAX_HOST_NAME).contains(&name.len()) && name.is_ascii() && name.parse::<IpAddr>().is_err();
        if !may_be_said {
            return;
        }
        let length = name.len() as u16;
        let (header, rest) = self.content.split_at_mut(HEADER);
        let [list, of_name] = [length + 3, length].map(u16::to_be_bytes);
        header.copy_from_slice(&[list[0], list[1], 0, of_name[0], of_name[1]]);
        rest[..name.len()].copy_from_slice(name.as_bytes());
        self.length = HEADER as u16 + length;
    }

    /// What a hello says of it.
    pub(crate) fn extension(&self) -> Option<Extension<'_>> {
        let data = self.content.get(..self.length.into()).filter(|content| !content.is_empty())?;
        Some(Extension { kind: ExtensionType::SERVER_NAME, data })
    }
}

impl OptionalPart<ServerName> for ServerName {
    const EMPTY: Self = Self { length: 0, content: [0; HEADER + MAX_HOST_NAME] };

    fn get(&self) -> Option<&ServerName> {
        Some(self)
    }

    fn get_mut(&mut self) -> Option<&mut ServerName> {
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;

    #[test]
    fn a_name_stands_in_a_list_of_one() {
        let mut name = ServerName::EMPTY;
        assert!(name.extension().is_none());
        for said in ["host.example", "host.example."] {
            name.set(said);
            let extension = name.extension().unwrap();
            assert_eq!(extension.data, [&[0, 15, 0, 0, 12][..], b"host.example"].concat());
        }
    }

    #[test]
    fn addresses_and_what_is_no_name_are_not_said() {
        let mut name = ServerName::EMPTY;
        let long = "a".repeat(MAX_HOST_NAME + 1);
        for not_said in ["192.0.2.1", "2001:db8::1", "", ".", "münchen.example", &long] {
            name.set("host.example");
            name.set(not_said);
            assert!(name.extension().is_none(), "{not_said}");
        }
        name.set(&long[1..]);
        assert_eq!(name.extension().unwrap().data.len(), 258);
    }
}

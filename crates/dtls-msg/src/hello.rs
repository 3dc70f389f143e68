use crate::{Error, Version, Window, reader::Reader};

/// Length of a hello's random value, in bytes.
pub const RANDOM: usize = 32;

/// The compression method that does not compress.
pub const NULL_COMPRESSION: u8 = 0;

/// The longest session id, in bytes.
pub const MAX_SESSION_ID: usize = 32;

/// A cipher suite, by its registered number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CipherSuite(pub u16);

impl CipherSuite {
    /// `TLS_PSK_WITH_AES_128_GCM_SHA256` ([RFC 5487](https://www.rfc-editor.org/rfc/rfc5487)).
    pub const PSK_WITH_AES_128_GCM_SHA256: Self = Self(0x00a8);
    /// `TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256` ([RFC 5289](https://www.rfc-editor.org/rfc/rfc5289)).
    pub const ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: Self = Self(0xc02b);
    /// `TLS_PSK_WITH_AES_128_CCM` ([RFC 6655](https://www.rfc-editor.org/rfc/rfc6655)).
    pub const PSK_WITH_AES_128_CCM: Self = Self(0xc0a4);
    /// `TLS_PSK_WITH_AES_128_CCM_8` ([RFC 6655](https://www.rfc-editor.org/rfc/rfc6655)).
    pub const PSK_WITH_AES_128_CCM_8: Self = Self(0xc0a8);
    /// `TLS_ECDHE_ECDSA_WITH_AES_128_CCM` ([RFC 7251](https://www.rfc-editor.org/rfc/rfc7251)).
    pub const ECDHE_ECDSA_WITH_AES_128_CCM: Self = Self(0xc0ac);
    /// `TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8` ([RFC 7251](https://www.rfc-editor.org/rfc/rfc7251)).
    pub const ECDHE_ECDSA_WITH_AES_128_CCM_8: Self = Self(0xc0ae);
    /// `TLS_ECDHE_PSK_WITH_AES_128_GCM_SHA256` ([RFC 8442](https://www.rfc-editor.org/rfc/rfc8442)).
    pub const ECDHE_PSK_WITH_AES_128_GCM_SHA256: Self = Self(0xd001);
    /// `TLS_ECDHE_PSK_WITH_AES_128_CCM_8_SHA256` ([RFC 8442](https://www.rfc-editor.org/rfc/rfc8442)).
    pub const ECDHE_PSK_WITH_AES_128_CCM_8_SHA256: Self = Self(0xd003);
    /// `TLS_ECDHE_PSK_WITH_AES_128_CCM_SHA256` ([RFC 8442](https://www.rfc-editor.org/rfc/rfc8442)).
    pub const ECDHE_PSK_WITH_AES_128_CCM_SHA256: Self = Self(0xd005);
    /// Not a suite: the client knows secure renegotiation ([RFC 5746](https://www.rfc-editor.org/rfc/rfc5746)).
    pub const EMPTY_RENEGOTIATION_INFO_SCSV: Self = Self(0x00ff);
}

/// A list of cipher suites as it stands in a ClientHello, without its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CipherSuites<'a>(pub &'a [u8]);

impl CipherSuites<'_> {
    /// Whether `suite` is in the list.
    pub fn contains(self, suite: CipherSuite) -> bool {
        self.0.chunks_exact(2).any(|pair| pair == suite.0.to_be_bytes())
    }
}

/// The type of an extension, by its registered number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtensionType(pub u16);

impl ExtensionType {
    /// The longest record that either side may send ([RFC 6066](https://www.rfc-editor.org/rfc/rfc6066)).
    pub const MAX_FRAGMENT_LENGTH: Self = Self(0x0001);
    /// The groups that the client knows ([RFC 8422](https://www.rfc-editor.org/rfc/rfc8422)).
    pub const SUPPORTED_GROUPS: Self = Self(0x000a);
    /// The forms of points that the sender knows ([RFC 8422](https://www.rfc-editor.org/rfc/rfc8422)).
    pub const EC_POINT_FORMATS: Self = Self(0x000b);
    /// The algorithms of signatures that the client knows ([RFC 5246](https://www.rfc-editor.org/rfc/rfc5246)).
    pub const SIGNATURE_ALGORITHMS: Self = Self(0x000d);
    /// How the client's certificate may be written ([RFC 7250](https://www.rfc-editor.org/rfc/rfc7250)).
    pub const CLIENT_CERTIFICATE_TYPE: Self = Self(0x0013);
    /// How the server's certificate may be written ([RFC 7250](https://www.rfc-editor.org/rfc/rfc7250)).
    pub const SERVER_CERTIFICATE_TYPE: Self = Self(0x0014);
    /// The longest record that the sender takes ([RFC 8449](https://www.rfc-editor.org/rfc/rfc8449)).
    pub const RECORD_SIZE_LIMIT: Self = Self(0x001c);
    /// The master secret is bound to the whole handshake ([RFC 7627](https://www.rfc-editor.org/rfc/rfc7627)).
    pub const EXTENDED_MASTER_SECRET: Self = Self(0x0017);
    /// The client takes session tickets, or presents one ([RFC 5077](https://www.rfc-editor.org/rfc/rfc5077)).
    pub const SESSION_TICKET: Self = Self(0x0023);
    /// Records carry the id of their session ([RFC 9146](https://www.rfc-editor.org/rfc/rfc9146)).
    pub const CONNECTION_ID: Self = Self(0x0036);
    /// The name of the host that the client wants to speak with ([RFC 6066](https://www.rfc-editor.org/rfc/rfc6066)).
    pub const SERVER_NAME: Self = Self(0x0000);
    /// Secure renegotiation ([RFC 5746](https://www.rfc-editor.org/rfc/rfc5746)).
    pub const RENEGOTIATION_INFO: Self = Self(0xff01);
}

/// An extension of a hello.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extension<'a> {
    /// Its type.
    pub kind: ExtensionType,
    /// Its content.
    pub data: &'a [u8],
}

impl Extension<'_> {
    /// Bytes before the content of an extension: its type and its length.
    const HEADER: usize = 4;

    /// Emits the extension.
    pub fn emit(&self, window: &mut Window<'_>) {
        window.put(&self.kind.0.to_be_bytes());
        window.put_vector16(self.data);
    }
}

/// Extensions as they stand in a hello, without their common length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extensions<'a>(pub &'a [u8]);

impl<'a> Extensions<'a> {
    /// The extensions in `bytes`, each complete.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(bytes);
        while !reader.is_empty() {
            reader.u16()?;
            reader.vector16()?;
        }
        Ok(Self(bytes))
    }

    /// Every extension in order, up to one that is not complete.
    pub fn iter(self) -> impl Iterator<Item = Extension<'a>> {
        let mut reader = Reader::new(self.0);
        core::iter::from_fn(move || {
            let kind = ExtensionType(reader.u16().ok()?);
            Some(Extension { kind, data: reader.vector16().ok()? })
        })
    }

    /// The content of the extension of type `kind`.
    pub fn find(self, kind: ExtensionType) -> Option<&'a [u8]> {
        self.iter().find(|extension| extension.kind == kind).map(|extension| extension.data)
    }

    /// Whether the extension of type `kind` comes at most once, as each must
    /// ([RFC 5246 section 7.4.1.4](https://www.rfc-editor.org/rfc/rfc5246#section-7.4.1.4)).
    pub fn comes_once_at_most(self, kind: ExtensionType) -> bool {
        self.iter().filter(|extension| extension.kind == kind).nth(1).is_none()
    }

    /// The extensions behind their length, which may be absent when there are none.
    fn read(mut reader: Reader<'a>) -> Result<Self, Error> {
        let bytes = if reader.is_empty() { &[] } else { reader.vector16()? };
        reader.end()?;
        Self::parse(bytes)
    }

    fn emit(self, window: &mut Window<'_>) {
        if !self.0.is_empty() {
            window.put_vector16(self.0);
        }
    }

    /// Emits more extensions behind them.
    fn emit_with(self, more: &[Extension<'_>], window: &mut Window<'_>) {
        let lengths = more.iter().map(|extension| Extension::HEADER + extension.data.len());
        let length = self.0.len() + lengths.sum::<usize>();
        window.put(&(length as u16).to_be_bytes());
        window.put(self.0);
        more.iter().for_each(|extension| extension.emit(window));
    }
}

/// A ClientHello ([RFC 6347 section 4.2.1](https://www.rfc-editor.org/rfc/rfc6347#section-4.2.1)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientHello<'a> {
    /// The latest version the client knows.
    pub version: Version,
    /// The client's random value.
    pub random: &'a [u8; RANDOM],
    /// The session to resume, at most 32 bytes; empty for none.
    pub session_id: &'a [u8],
    /// The server's cookie, at most 255 bytes; empty at first.
    pub cookie: &'a [u8],
    /// What the client offers, the most wanted first.
    pub cipher_suites: CipherSuites<'a>,
    /// The compression methods it knows.
    pub compression_methods: &'a [u8],
    /// Its extensions.
    pub extensions: Extensions<'a>,
}

impl<'a> ClientHello<'a> {
    /// Reads the body of the message.
    pub fn parse(body: &'a [u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(body);
        let hello = Self {
            version: Version(reader.u16()?),
            random: reader.array()?,
            session_id: session_id(&mut reader)?,
            cookie: reader.vector8()?,
            cipher_suites: CipherSuites(reader.vector16()?),
            compression_methods: reader.vector8()?,
            extensions: Extensions::read(reader)?,
        };
        let suites = hello.cipher_suites.0.len();
        if suites == 0 || !suites.is_multiple_of(2) || hello.compression_methods.is_empty() {
            return Err(Error::Length);
        }
        Ok(hello)
    }

    /// Emits the body of the message.
    pub fn emit(&self, window: &mut Window<'_>) {
        self.emit_front(window);
        self.extensions.emit(window);
    }

    /// Emits the body of the message with more extensions, behind the others.
    pub fn emit_with(&self, more: &[Extension<'_>], window: &mut Window<'_>) {
        self.emit_front(window);
        self.extensions.emit_with(more, window);
    }

    /// Emits what stands before the extensions.
    #[inline(always)]
    fn emit_front(&self, window: &mut Window<'_>) {
        window.put(&self.version.0.to_be_bytes());
        window.put(self.random);
        window.put_vector8(self.session_id);
        window.put_vector8(self.cookie);
        window.put_vector16(self.cipher_suites.0);
        window.put_vector8(self.compression_methods);
    }
}

/// A ServerHello.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerHello<'a> {
    /// The chosen version.
    pub version: Version,
    /// The server's random value.
    pub random: &'a [u8; RANDOM],
    /// The session's id, at most 32 bytes; empty if it cannot be resumed.
    pub session_id: &'a [u8],
    /// The chosen suite.
    pub cipher_suite: CipherSuite,
    /// The chosen compression method.
    pub compression_method: u8,
    /// The extensions the server takes up.
    pub extensions: Extensions<'a>,
}

impl<'a> ServerHello<'a> {
    /// Reads the body of the message.
    pub fn parse(body: &'a [u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(body);
        Ok(Self {
            version: Version(reader.u16()?),
            random: reader.array()?,
            session_id: session_id(&mut reader)?,
            cipher_suite: CipherSuite(reader.u16()?),
            compression_method: reader.u8()?,
            extensions: Extensions::read(reader)?,
        })
    }

    /// Emits the body of the message.
    pub fn emit(&self, window: &mut Window<'_>) {
        self.emit_front(window);
        self.extensions.emit(window);
    }

    /// Emits the body of the message with more extensions, behind the others.
    pub fn emit_with(&self, more: &[Extension<'_>], window: &mut Window<'_>) {
        self.emit_front(window);
        self.extensions.emit_with(more, window);
    }

    /// Emits what stands before the extensions.
    #[inline(always)]
    fn emit_front(&self, window: &mut Window<'_>) {
        window.put(&self.version.0.to_be_bytes());
        window.put(self.random);
        window.put_vector8(self.session_id);
        window.put(&self.cipher_suite.0.to_be_bytes());
        window.put(&[self.compression_method]);
    }
}

/// A HelloVerifyRequest ([RFC 6347 section 4.2.1](https://www.rfc-editor.org/rfc/rfc6347#section-4.2.1)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HelloVerifyRequest<'a> {
    /// The version the message is written in, which is not the one that will be chosen.
    pub version: Version,
    /// The cookie, at most 255 bytes.
    pub cookie: &'a [u8],
}

impl<'a> HelloVerifyRequest<'a> {
    /// Reads the body of the message.
    pub fn parse(body: &'a [u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(body);
        let message = Self { version: Version(reader.u16()?), cookie: reader.vector8()? };
        reader.end()?;
        Ok(message)
    }

    /// Emits the body of the message.
    pub fn emit(&self, window: &mut Window<'_>) {
        window.put(&self.version.0.to_be_bytes());
        window.put_vector8(self.cookie);
    }
}

fn session_id<'a>(reader: &mut Reader<'a>) -> Result<&'a [u8], Error> {
    let id = reader.vector8()?;
    if id.len() <= MAX_SESSION_ID { Ok(id) } else { Err(Error::Length) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Window;
    use proptest::prelude::*;
    extern crate std;
    use std::vec;
    use std::vec::Vec;

    fn emitted(emit: impl FnOnce(&mut Window<'_>)) -> Vec<u8> {
        let mut out = vec![0; 2048];
        let mut window = Window::new(0, &mut out);
        emit(&mut window);
        let filled = window.filled();
        out.truncate(filled);
        out
    }

    fn bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(any::<u8>(), 0..=most)
    }

    fn extensions() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec((any::<u16>(), bytes(20)), 0..5).prop_map(|list| {
            emitted(|window| {
                for (kind, data) in &list {
                    Extension { kind: ExtensionType(*kind), data }.emit(window);
                }
            })
        })
    }

    proptest! {
        #[test]
        fn a_client_hello_is_read_as_it_was_emitted(
            version: u16, random: [u8; 32], session_id in bytes(32), cookie in bytes(255),
            suites in prop::collection::vec(any::<[u8; 2]>(), 1..9), compression in prop::collection::vec(any::<u8>(), 1..4),
            extensions in extensions(),
        ) {
            let suites = suites.concat();
            let hello = ClientHello {
                version: Version(version), random: &random, session_id: &session_id, cookie: &cookie,
                cipher_suites: CipherSuites(&suites), compression_methods: &compression,
                extensions: Extensions::parse(&extensions).unwrap(),
            };
            let body = emitted(|window| hello.emit(window));
            prop_assert_eq!(ClientHello::parse(&body), Ok(hello));
            let last = Extension { kind: ExtensionType::SESSION_TICKET, data: &cookie };
            let all = [&extensions, &emitted(|window| last.emit(window))[..]].concat();
            let body_with = emitted(|window| hello.emit_with(&[last], window));
            prop_assert_eq!(ClientHello::parse(&body_with), Ok(ClientHello { extensions: Extensions(&all), ..hello }));
            for end in 0..body.len() {
                if let Ok(shorter) = ClientHello::parse(&body[..end]) {
                    prop_assert_eq!(shorter, ClientHello { extensions: Extensions(&[]), ..hello });
                }
            }
        }

        #[test]
        fn a_server_hello_is_read_as_it_was_emitted(
            version: u16, random: [u8; 32], session_id in bytes(32), suite: u16, compression_method: u8, extensions in extensions(),
        ) {
            let hello = ServerHello {
                version: Version(version), random: &random, session_id: &session_id, cipher_suite: CipherSuite(suite),
                compression_method, extensions: Extensions::parse(&extensions).unwrap(),
            };
            let body = emitted(|window| hello.emit(window));
            prop_assert_eq!(ServerHello::parse(&body), Ok(hello));
        }

        #[test]
        fn a_cookie_is_read_as_it_was_emitted(version: u16, cookie in bytes(255)) {
            let message = HelloVerifyRequest { version: Version(version), cookie: &cookie };
            let body = emitted(|window| message.emit(window));
            prop_assert_eq!(HelloVerifyRequest::parse(&body), Ok(message));
        }

        #[test]
        fn no_bytes_do_harm(bytes in bytes(200)) {
            if let Ok(hello) = ClientHello::parse(&bytes) {
                prop_assert!(hello.extensions.iter().count() * 4 <= bytes.len());
            }
            if let Ok(message) = HelloVerifyRequest::parse(&bytes) {
                prop_assert_eq!(emitted(|window| message.emit(window)), bytes.clone());
            }
            let _ = ServerHello::parse(&bytes);
        }
    }

    #[test]
    fn lists_and_extensions_are_searched() {
        let suites = CipherSuites(&[0xc0, 0xa8, 0x00, 0xff]);
        assert!(suites.contains(CipherSuite::PSK_WITH_AES_128_CCM_8));
        assert!(suites.contains(CipherSuite::EMPTY_RENEGOTIATION_INFO_SCSV));
        assert!(!suites.contains(CipherSuite(0xa800)), "a suite does not straddle two entries");
        let extensions = Extensions::parse(&[0, 0x17, 0, 0, 0xff, 1, 0, 1, 0]).unwrap();
        assert_eq!(extensions.find(ExtensionType::EXTENDED_MASTER_SECRET), Some(&[][..]));
        assert_eq!(extensions.find(ExtensionType::RENEGOTIATION_INFO), Some(&[0][..]));
        assert_eq!(extensions.find(ExtensionType(1)), None);
        assert_eq!(Extensions::parse(&[0, 0x17, 0, 1]), Err(Error::Truncated));
    }
}

/// The format of a payload ([RFC 7252 section 12.3](https://www.rfc-editor.org/rfc/rfc7252#section-12.3)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentFormat(pub u16);

impl ContentFormat {
    /// `text/plain; charset=utf-8`.
    pub const TEXT: Self = Self(0);
    /// `application/link-format`.
    pub const LINK_FORMAT: Self = Self(40);
    /// `application/octet-stream`.
    pub const OCTET_STREAM: Self = Self(42);
    /// `application/json`.
    pub const JSON: Self = Self(50);
    /// `application/cbor`.
    pub const CBOR: Self = Self(60);
    /// `application/senml+json`.
    pub const SENML_JSON: Self = Self(110);
    /// `application/senml+cbor`.
    pub const SENML_CBOR: Self = Self(112);
}

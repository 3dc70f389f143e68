//! Packs in CBOR ([RFC 8428 section 6](https://www.rfc-editor.org/rfc/rfc8428#section-6)), `application/senml+cbor`.

mod decoder;
mod reader;
mod writer;

pub use decoder::CborError;
pub use reader::PackReader;
pub use writer::PackWriter;

/// The major types of CBOR ([RFC 8949 section 3.1](https://www.rfc-editor.org/rfc/rfc8949#section-3.1)).
mod major {
    pub(super) const UNSIGNED: u8 = 0;
    pub(super) const NEGATIVE: u8 = 1;
    pub(super) const BYTES: u8 = 2;
    pub(super) const TEXT: u8 = 3;
    pub(super) const ARRAY: u8 = 4;
    pub(super) const MAP: u8 = 5;
    pub(super) const TAG: u8 = 6;
    pub(super) const SIMPLE: u8 = 7;
}

/// The tag of decimal fractions.
const DECIMAL_FRACTION: u8 = 4;
const FALSE: u8 = 20;
const TRUE: u8 = 21;

/// The labels of RFC 8428's table 4.
mod label {
    pub(super) const BASE_VERSION: i8 = -1;
    pub(super) const BASE_NAME: i8 = -2;
    pub(super) const BASE_TIME: i8 = -3;
    pub(super) const BASE_UNIT: i8 = -4;
    pub(super) const BASE_VALUE: i8 = -5;
    pub(super) const BASE_SUM: i8 = -6;
    pub(super) const NAME: i8 = 0;
    pub(super) const UNIT: i8 = 1;
    pub(super) const VALUE: i8 = 2;
    pub(super) const STRING_VALUE: i8 = 3;
    pub(super) const BOOLEAN_VALUE: i8 = 4;
    pub(super) const SUM: i8 = 5;
    pub(super) const TIME: i8 = 6;
    pub(super) const UPDATE_TIME: i8 = 7;
    pub(super) const DATA_VALUE: i8 = 8;
}

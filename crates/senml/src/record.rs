use core::fmt;

use crate::cbor::CborError;
use crate::json::JsonError;
use crate::number::{Number, Numeral};
use crate::text::{Text, write_chars};

/// The highest version of SenML that is understood, which is also that of a record that states none.
const VERSION: u8 = 10;

/// Why a pack is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadError {
    /// It is not JSON.
    Json(JsonError),
    /// It is not CBOR.
    Cbor(CborError),
    /// Its version is not known, or its records are not all of the same.
    Version,
    /// A field occurs twice in a record.
    Duplicate,
    /// A record has no value and no sum, or more than one value.
    Value,
    /// A record's name, base name included, is empty or holds a character that no name may hold.
    Name,
    /// A field that has to be understood is not known.
    Unknown,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(error) => write!(f, "the payload is not SenML JSON: {error}"),
            Self::Cbor(error) => write!(f, "the payload is not SenML CBOR: {error}"),
            Self::Version => {
                f.write_str("the pack is of a version that is not known, or its records are of several")
            }
            Self::Duplicate => f.write_str("a record states a field twice"),
            Self::Value => f.write_str("a record has no value, or more than one"),
            Self::Name => f.write_str("a record's name is empty or holds a character that none may hold"),
            Self::Unknown => f.write_str("a record has a field that must be understood and is not"),
        }
    }
}

impl core::error::Error for ReadError {}

impl From<JsonError> for ReadError {
    fn from(error: JsonError) -> Self {
        Self::Json(error)
    }
}

impl From<CborError> for ReadError {
    fn from(error: CborError) -> Self {
        Self::Cbor(error)
    }
}

/// The value of a record.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    /// A number (`v`, and `bv` added).
    Number(Number<'a>),
    /// A text (`vs`).
    Text(Text<'a>),
    /// A truth value (`vb`).
    Boolean(bool),
    /// Bytes (`vd`).
    Data(Data<'a>),
}

/// The bytes of a value.
#[derive(Clone, Copy, Debug)]
pub enum Data<'a> {
    /// In base64url, as JSON packs hold them.
    Base64Url(Text<'a>),
    /// As they are.
    Bytes(&'a [u8]),
}

/// One record, resolved: what the pack's base fields say is filled in.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    base_name: Text<'a>,
    name: Text<'a>,
    /// The unit, if one is stated.
    pub unit: Option<Text<'a>>,
    /// The value; a record without one has a sum.
    pub value: Option<Value<'a>>,
    /// The integrated sum, if one is stated.
    pub sum: Option<Number<'a>>,
    /// The time, in seconds: since 1970 if at least 2^28, before now or after it if less; nothing if the
    /// record states none.
    pub time: Option<Number<'a>>,
}

impl<'a> Record<'a> {
    /// The characters of the name: the base name's, then the record's own; all of them ASCII.
    pub fn name_chars(&self) -> impl Iterator<Item = char> + use<'a> {
        self.base_name.chars().chain(self.name.chars())
    }

    /// The part of the name that the record itself states.
    pub fn own_name(&self) -> Text<'a> {
        self.name
    }

    /// The part of the name that the pack's base name gives.
    pub fn base_name(&self) -> Text<'a> {
        self.base_name
    }

    /// Writes the name to the front of `out`; nothing if it does not fit.
    pub fn write_name<'o>(&self, out: &'o mut [u8]) -> Option<&'o str> {
        write_chars(self.name_chars(), out)
    }

    /// Whether the name is one ([RFC 8428 section 4.5.1](https://www.rfc-editor.org/rfc/rfc8428#section-4.5.1)).
    fn has_valid_name(&self) -> bool {
        let mut chars = self.name_chars();
        chars.next().is_some_and(|first| first.is_ascii_alphanumeric())
            && chars.all(|char| char.is_ascii_alphanumeric() || matches!(char, '-' | ':' | '.' | '/' | '_'))
    }
}

/// The base fields, in force until another record states them anew.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Base<'a> {
    pub(crate) name: Option<Text<'a>>,
    pub(crate) time: Option<Numeral<'a>>,
    pub(crate) unit: Option<Text<'a>>,
    pub(crate) value: Option<Numeral<'a>>,
    pub(crate) sum: Option<Numeral<'a>>,
    /// The version; 0 stands for one that does not fit.
    pub(crate) version: Option<u8>,
}

impl Base<'_> {
    /// Whether no base field is stated.
    fn is_empty(&self) -> bool {
        self.name.is_none()
            && self.time.is_none()
            && self.unit.is_none()
            && self.value.is_none()
            && self.sum.is_none()
            && self.version.is_none()
    }
}

/// What one record states.
#[derive(Default)]
pub(crate) struct Fields<'a> {
    pub(crate) base: Base<'a>,
    pub(crate) name: Option<Text<'a>>,
    pub(crate) unit: Option<Text<'a>>,
    pub(crate) value: Option<Value<'a>>,
    pub(crate) sum: Option<Numeral<'a>>,
    pub(crate) time: Option<Numeral<'a>>,
    pub(crate) update_time: Option<Numeral<'a>>,
}

impl Fields<'_> {
    /// Whether base fields are stated, and nothing else is.
    fn are_base_only(&self) -> bool {
        !self.base.is_empty()
            && self.name.is_none()
            && self.unit.is_none()
            && self.value.is_none()
            && self.sum.is_none()
            && self.time.is_none()
            && self.update_time.is_none()
    }
}

impl<'a> Base<'a> {
    /// Fills the base fields in ([RFC 8428 section 4.6](https://www.rfc-editor.org/rfc/rfc8428#section-4.6)). Returns `None` for a
    /// record of base fields alone, which measures nothing and sets the base for the records after it.
    pub(crate) fn resolve(&mut self, fields: Fields<'a>) -> Result<Option<Record<'a>>, ReadError> {
        self.update(&fields.base)?;
        if fields.are_base_only() {
            return Ok(None);
        }
        let base = self;
        let value = match fields.value {
            Some(Value::Number(number)) => Some(Value::Number(Number { base: base.value, ..number })),
            value => value,
        };
        let sum = total(base.sum, fields.sum);
        // A base value alone is no value: https://www.rfc-editor.org/rfc/rfc8428#section-4.2
        if value.is_none() && sum.is_none() {
            return Err(ReadError::Value);
        }
        let record = Record {
            base_name: base.name.unwrap_or(Text::EMPTY),
            name: fields.name.unwrap_or(Text::EMPTY),
            unit: fields.unit.or(base.unit),
            value,
            sum,
            time: total(base.time, fields.time),
        };
        if record.has_valid_name() { Ok(Some(record)) } else { Err(ReadError::Name) }
    }

    /// Keeps the base fields that a record states beside those of the records before it.
    fn update(&mut self, new: &Self) -> Result<(), ReadError> {
        *self = Base {
            name: new.name.or(self.name),
            time: new.time.or(self.time),
            unit: new.unit.or(self.unit),
            value: new.value.or(self.value),
            sum: new.sum.or(self.sum),
            version: Some(self.version_with(new.version)?),
        };
        Ok(())
    }

    /// The version of the pack, of which a record states `new`. The first record decides, also one that states none
    /// ([RFC 8428 section 4.4](https://www.rfc-editor.org/rfc/rfc8428#section-4.4)).
    fn version_with(&self, new: Option<u8>) -> Result<u8, ReadError> {
        let version = self.version.or(new).unwrap_or(VERSION);
        let is_same = new.is_none_or(|new| new == version);
        if is_same && (1..=VERSION).contains(&version) { Ok(version) } else { Err(ReadError::Version) }
    }
}

/// The number that a base field and a record's field make, if either is there.
fn total<'a>(base: Option<Numeral<'a>>, own: Option<Numeral<'a>>) -> Option<Number<'a>> {
    (base.is_some() || own.is_some()).then_some(Number { base, own })
}

/// Keeps what a field states, unless it states it a second time.
pub(crate) fn set<T>(field: &mut Option<T>, value: T) -> Result<(), ReadError> {
    match field.replace(value) {
        None => Ok(()),
        Some(_) => Err(ReadError::Duplicate),
    }
}

/// Keeps a record's value, unless it has one.
pub(crate) fn set_value<'a>(field: &mut Option<Value<'a>>, value: Value<'a>) -> Result<(), ReadError> {
    set(field, value).map_err(|_| ReadError::Value)
}

/// Keeps a number as a record's value.
pub(crate) fn set_number<'a>(field: &mut Option<Value<'a>>, own: Numeral<'a>) -> Result<(), ReadError> {
    set_value(field, Value::Number(Number { base: None, own: Some(own) }))
}

use core::ops::Add;
use core::str::FromStr;

use crate::json::{JsonError, Scanner, Text, write_chars};

/// The highest version of SenML that is understood.
const VERSION: u8 = 10;

/// Why a pack is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadError {
    /// It is not JSON.
    Json(JsonError),
    /// Its version is not known.
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

impl From<JsonError> for ReadError {
    fn from(error: JsonError) -> Self {
        Self::Json(error)
    }
}

/// A number of a record: what the record says and the pack's base, to be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number<'a> {
    /// The base, in JSON's spelling; `0` if there is none.
    pub base: &'a str,
    /// The record's own part, in JSON's spelling; `0` if there is none.
    pub own: &'a str,
}

impl Number<'_> {
    /// The number in a type of the caller's choice; a floating-point type may make infinities of huge numbers.
    pub fn sum<T: FromStr + Add<Output = T>>(&self) -> Option<T> {
        let own = self.own.parse().ok()?;
        if self.base == ZERO {
            return Some(own);
        }
        let base: T = self.base.parse().ok()?;
        Some(base + own)
    }
}

const ZERO: &str = "0";

/// The value of a record.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    /// A number (`v`, and `bv` added).
    Number(Number<'a>),
    /// A text (`vs`).
    Text(Text<'a>),
    /// A truth value (`vb`).
    Boolean(bool),
    /// Bytes, in base64url (`vd`).
    Data(Text<'a>),
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

/// Reads a pack record by record. The first error ends it: a pack is good as a whole or not at all, so that its
/// user acts on no record before the last has been read.
#[derive(Clone, Debug)]
pub struct PackReader<'a> {
    json: Scanner<'a>,
    base: Base<'a>,
    place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    First,
    Next,
    End,
}

/// The base fields, in force until another record states them anew.
#[derive(Clone, Copy, Debug, Default)]
struct Base<'a> {
    name: Option<Text<'a>>,
    time: Option<&'a str>,
    unit: Option<Text<'a>>,
    value: Option<&'a str>,
    sum: Option<&'a str>,
    version: Option<&'a str>,
}

/// What one record states.
#[derive(Default)]
struct Fields<'a> {
    base: Base<'a>,
    name: Option<Text<'a>>,
    unit: Option<Text<'a>>,
    value: Option<Value<'a>>,
    sum: Option<&'a str>,
    time: Option<&'a str>,
    update_time: Option<&'a str>,
}

impl<'a> PackReader<'a> {
    /// Begins to read `pack`.
    pub fn new(pack: &'a [u8]) -> Result<Self, ReadError> {
        let mut json = Scanner::new(pack)?;
        json.expect("[")?;
        Ok(Self { json, base: Base::default(), place: Place::First })
    }

    fn read(&mut self) -> Result<Option<Record<'a>>, ReadError> {
        if self.place == Place::End {
            return Ok(None);
        }
        if self.json.accept("]") {
            self.place = Place::End;
            return if self.json.at_end() { Ok(None) } else { Err(JsonError::Syntax.into()) };
        }
        if self.place == Place::Next {
            self.json.expect(",")?;
        }
        self.place = Place::Next;
        let fields = self.fields()?;
        self.resolve(fields).map(Some)
    }

    fn fields(&mut self) -> Result<Fields<'a>, ReadError> {
        let (json, mut fields) = (&mut self.json, Fields::default());
        json.expect("{")?;
        if json.accept("}") {
            return Ok(fields);
        }
        loop {
            let label = json.string()?;
            json.expect(":")?;
            let base = &mut fields.base;
            // The longest label is four characters long.
            match label.write(&mut [0; 4]) {
                Some("bver") => set(&mut base.version, json.number()?)?,
                Some("bn") => set(&mut base.name, json.string()?)?,
                Some("bt") => set(&mut base.time, json.number()?)?,
                Some("bu") => set(&mut base.unit, json.string()?)?,
                Some("bv") => set(&mut base.value, json.number()?)?,
                Some("bs") => set(&mut base.sum, json.number()?)?,
                Some("n") => set(&mut fields.name, json.string()?)?,
                Some("u") => set(&mut fields.unit, json.string()?)?,
                Some("v") => {
                    let number = Number { base: ZERO, own: json.number()? };
                    set_value(&mut fields.value, Value::Number(number))?;
                }
                Some("vs") => set_value(&mut fields.value, Value::Text(json.string()?))?,
                Some("vb") => set_value(&mut fields.value, Value::Boolean(json.boolean()?))?,
                Some("vd") => set_value(&mut fields.value, Value::Data(json.string()?))?,
                Some("s") => set(&mut fields.sum, json.number()?)?,
                Some("t") => set(&mut fields.time, json.number()?)?,
                Some("ut") => set(&mut fields.update_time, json.number()?)?,
                // RFC 8428 section 4.4: a label ending so marks a field that must not be passed over.
                _ if label.chars().last() == Some('_') => return Err(ReadError::Unknown),
                _ => json.skip_value()?,
            }
            if !json.accept(",") {
                json.expect("}")?;
                return Ok(fields);
            }
        }
    }

    /// Fills in the base fields ([RFC 8428 section 4.6](https://www.rfc-editor.org/rfc/rfc8428#section-4.6)).
    fn resolve(&mut self, fields: Fields<'a>) -> Result<Record<'a>, ReadError> {
        let (base, new) = (&mut self.base, fields.base);
        if let Some(version) = new.version {
            let known = version.parse::<u8>().is_ok_and(|version| (1..=VERSION).contains(&version));
            // Every record that states a version states the same one.
            if !known || base.version.is_some_and(|earlier| earlier != version) {
                return Err(ReadError::Version);
            }
        }
        *base = Base {
            name: new.name.or(base.name),
            time: new.time.or(base.time),
            unit: new.unit.or(base.unit),
            value: new.value.or(base.value),
            sum: new.sum.or(base.sum),
            version: new.version.or(base.version),
        };
        let value = match fields.value {
            Some(Value::Number(number)) => {
                Some(Value::Number(Number { base: base.value.unwrap_or(ZERO), ..number }))
            }
            value => value,
        };
        let sum = total(base.sum, fields.sum);
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
        if record.has_valid_name() { Ok(record) } else { Err(ReadError::Name) }
    }
}

impl<'a> Iterator for PackReader<'a> {
    type Item = Result<Record<'a>, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let record = self.read();
        if record.is_err() {
            self.place = Place::End;
        }
        record.transpose()
    }
}

/// The number that a base field and a record's field make, if either is there.
fn total<'a>(base: Option<&'a str>, own: Option<&'a str>) -> Option<Number<'a>> {
    (base.is_some() || own.is_some()).then(|| Number { base: base.unwrap_or(ZERO), own: own.unwrap_or(ZERO) })
}

fn set<T>(field: &mut Option<T>, value: T) -> Result<(), ReadError> {
    match field.replace(value) {
        None => Ok(()),
        Some(_) => Err(ReadError::Duplicate),
    }
}

fn set_value<'a>(field: &mut Option<Value<'a>>, value: Value<'a>) -> Result<(), ReadError> {
    set(field, value).map_err(|_| ReadError::Value)
}

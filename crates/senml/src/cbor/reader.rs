use super::decoder::{CborError, Count, Decoder};
use super::{label, major};
use crate::record::{Base, Data, Fields, ReadError, Record, Value, set, set_number, set_value};
use crate::text::Text;

/// Reads a pack record by record. The first error ends it: a pack is good as a whole or not at all, so that its
/// user acts on no record before the last has been read.
#[derive(Clone, Debug)]
pub struct PackReader<'a> {
    cbor: Decoder<'a>,
    base: Base<'a>,
    left: Count,
    ended: bool,
}

impl<'a> PackReader<'a> {
    /// Begins to read `pack`.
    pub fn new(pack: &'a [u8]) -> Result<Self, ReadError> {
        let mut cbor = Decoder::new(pack);
        let left = cbor.begin(major::ARRAY)?;
        Ok(Self { cbor, base: Base::default(), left, ended: false })
    }

    fn read(&mut self) -> Result<Option<Record<'a>>, ReadError> {
        while self.more()? {
            let fields = self.fields()?;
            if let Some(record) = self.base.resolve(fields)? {
                return Ok(Some(record));
            }
        }
        Ok(None)
    }

    /// Whether another record follows.
    fn more(&mut self) -> Result<bool, ReadError> {
        if self.ended || self.cbor.more(&mut self.left) {
            return Ok(!self.ended);
        }
        self.ended = true;
        if self.cbor.at_end() { Ok(false) } else { Err(CborError::Trailing.into()) }
    }

    fn fields(&mut self) -> Result<Fields<'a>, ReadError> {
        let (cbor, mut fields) = (&mut self.cbor, Fields::default());
        let mut left = cbor.begin(major::MAP)?;
        while cbor.more(&mut left) {
            let base = &mut fields.base;
            match cbor.label()? {
                Ok(label::BASE_VERSION) => set(&mut base.version, cbor.version()?)?,
                Ok(label::BASE_NAME) => set(&mut base.name, Text::plain(cbor.text()?))?,
                Ok(label::BASE_TIME) => set(&mut base.time, cbor.number()?)?,
                Ok(label::BASE_UNIT) => set(&mut base.unit, Text::plain(cbor.text()?))?,
                Ok(label::BASE_VALUE) => set(&mut base.value, cbor.number()?)?,
                Ok(label::BASE_SUM) => set(&mut base.sum, cbor.number()?)?,
                Ok(label::NAME) => set(&mut fields.name, Text::plain(cbor.text()?))?,
                Ok(label::UNIT) => set(&mut fields.unit, Text::plain(cbor.text()?))?,
                Ok(label::VALUE) => set_number(&mut fields.value, cbor.number()?)?,
                Ok(label::STRING_VALUE) => {
                    set_value(&mut fields.value, Value::Text(Text::plain(cbor.text()?)))?;
                }
                Ok(label::BOOLEAN_VALUE) => set_value(&mut fields.value, Value::Boolean(cbor.boolean()?))?,
                Ok(label::SUM) => set(&mut fields.sum, cbor.number()?)?,
                Ok(label::TIME) => set(&mut fields.time, cbor.number()?)?,
                Ok(label::UPDATE_TIME) => set(&mut fields.update_time, cbor.number()?)?,
                Ok(label::DATA_VALUE) => {
                    set_value(&mut fields.value, Value::Data(Data::Bytes(cbor.bytes()?)))?;
                }
                // Fields to come have texts for labels; the underscore means what it means in JSON.
                Err(extension) if extension.ends_with('_') => return Err(ReadError::Unknown),
                _ => cbor.skip_value()?,
            }
        }
        Ok(fields)
    }
}

impl<'a> Iterator for PackReader<'a> {
    type Item = Result<Record<'a>, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let record = self.read();
        self.ended |= record.is_err();
        record.transpose()
    }
}

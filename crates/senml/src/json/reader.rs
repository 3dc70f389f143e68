use super::JsonError;
use super::scanner::Scanner;
use crate::Decimal;
use crate::number::Numeral;
use crate::record::{Base, Data, Fields, ReadError, Record, Value, set, set_number, set_value};

/// Reads a pack record by record. The first error ends it: a pack is good as a whole or not at all, so that its
/// user acts on no record before the last has been read.
#[derive(Clone, Debug)]
pub struct PackReader<'a> {
    json: Scanner<'a>,
    base: Base<'a>,
    place: Position,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Position {
    First,
    Next,
    End,
}

impl<'a> PackReader<'a> {
    /// Begins to read `pack`.
    pub fn new(pack: &'a [u8]) -> Result<Self, ReadError> {
        let mut json = Scanner::new(pack)?;
        json.expect("[")?;
        Ok(Self { json, base: Base::default(), place: Position::First })
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

    /// Whether another record follows; passes what stands before it.
    fn more(&mut self) -> Result<bool, ReadError> {
        if self.place == Position::End {
            return Ok(false);
        }
        if self.json.accept("]") {
            self.place = Position::End;
            return if self.json.at_end() { Ok(false) } else { Err(JsonError::Syntax.into()) };
        }
        if self.place == Position::Next {
            self.json.expect(",")?;
        }
        self.place = Position::Next;
        Ok(true)
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
                Some("bver") => set(&mut base.version, version(json.number()?))?,
                Some("bn") => set(&mut base.name, json.string()?)?,
                Some("bt") => set(&mut base.time, numeral(json)?)?,
                Some("bu") => set(&mut base.unit, json.string()?)?,
                Some("bv") => set(&mut base.value, numeral(json)?)?,
                Some("bs") => set(&mut base.sum, numeral(json)?)?,
                Some("n") => set(&mut fields.name, json.string()?)?,
                Some("u") => set(&mut fields.unit, json.string()?)?,
                Some("v") => set_number(&mut fields.value, numeral(json)?)?,
                Some("vs") => set_value(&mut fields.value, Value::Text(json.string()?))?,
                Some("vb") => set_value(&mut fields.value, Value::Boolean(json.boolean()?))?,
                Some("vd") => set_value(&mut fields.value, Value::Data(Data::Base64Url(json.string()?)))?,
                Some("s") => set(&mut fields.sum, numeral(json)?)?,
                Some("t") => set(&mut fields.time, numeral(json)?)?,
                Some("ut") => set(&mut fields.update_time, numeral(json)?)?,
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
}

/// The version that a number stands for, however JSON spells it; 0 if it is none up to 255.
fn version(number: &str) -> u8 {
    let Some(Decimal { mantissa, mut exponent }) = Decimal::parse(number) else { return 0 };
    // Unsigned: devices link no signed division of 32 bits.
    let mut mantissa = mantissa.try_into().unwrap_or(0_u32);
    while exponent < 0 && mantissa % 10 == 0 && mantissa != 0 {
        (mantissa, exponent) = (mantissa / 10, exponent + 1);
    }
    let number = match exponent {
        0 => Some(mantissa),
        1 => mantissa.checked_mul(10),
        2 => mantissa.checked_mul(100),
        _ => None,
    };
    number.and_then(|number| number.try_into().ok()).unwrap_or(0)
}

fn numeral<'a>(json: &mut Scanner<'a>) -> Result<Numeral<'a>, ReadError> {
    Ok(Numeral::Json(json.number()?))
}

impl<'a> Iterator for PackReader<'a> {
    type Item = Result<Record<'a>, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let record = self.read();
        if record.is_err() {
            self.place = Position::End;
        }
        record.transpose()
    }
}

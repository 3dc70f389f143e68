use super::{DECIMAL_FRACTION, FALSE, TRUE, label, major};
use crate::Decimal;
use crate::output::{NoRoom, Output};
use crate::reading::Reading;

/// Writes a SenML pack in CBOR: the base name in the first record, then each record's name, unit and value.
#[derive(Debug)]
pub struct PackWriter<'a, 'n> {
    out: Output<'a>,
    base_name: &'n str,
    records: u32,
}

impl<'a, 'n> PackWriter<'a, 'n> {
    /// Begins a pack whose names all start with `base_name`.
    pub fn new(out: &'a mut [u8], base_name: &'n str) -> Self {
        Self { out: Output::new(out), base_name, records: 0 }
    }

    /// Adds a record; an empty `unit` is left out.
    ///
    /// After an error, the pack has to be given up.
    pub fn record(&mut self, name: &str, unit: &str, reading: Reading<'_>) -> Result<&mut Self, NoRoom> {
        let base_name = if self.records == 0 { self.base_name } else { "" };
        let texts = [(label::BASE_NAME, base_name), (label::NAME, name), (label::UNIT, unit)];
        let stated = || texts.into_iter().filter(|(label, text)| *label == label::NAME || !text.is_empty());
        self.records += 1;
        self.out.head(major::MAP, stated().count() as u32 + 1);
        for (label, text) in stated() {
            self.out.integer(label.into());
            self.out.text(text);
        }
        match reading {
            Reading::Number(number) => {
                self.out.integer(label::VALUE.into());
                self.out.number(number);
            }
            Reading::Text(text) => {
                self.out.integer(label::STRING_VALUE.into());
                self.out.text(text);
            }
            Reading::Boolean(boolean) => {
                self.out.integer(label::BOOLEAN_VALUE.into());
                self.out.head(major::SIMPLE, if boolean { TRUE } else { FALSE }.into());
            }
        }
        self.out.len().map(|_| self)
    }

    /// Ends the pack and returns its length.
    pub fn finish(mut self) -> Result<usize, NoRoom> {
        // A pack states how many records it holds, which is known only now.
        let mut head = [0; 5];
        let mut first = Output::new(&mut head);
        first.head(major::ARRAY, self.records);
        let len = first.len()?;
        self.out.put_first(head.get(..len).ok_or(NoRoom)?);
        self.out.len()
    }
}

impl Output<'_> {
    /// Writes the head of an item, in its shortest form.
    fn head(&mut self, major: u8, argument: u32) {
        let major = major << 5;
        let bytes = argument.to_be_bytes();
        match (bytes, argument) {
            ([.., least], 0..24) => self.put(&[major | least]),
            ([.., least], 0..0x100) => self.put(&[major | 24, least]),
            ([.., high, low], 0..0x1_0000) => self.put(&[major | 25, high, low]),
            _ => {
                self.put(&[major | 26]);
                self.put(&bytes);
            }
        }
    }

    fn integer(&mut self, integer: i32) {
        // -1 - n is n with all bits turned over.
        match integer {
            0.. => self.head(major::UNSIGNED, integer.unsigned_abs()),
            _ => self.head(major::NEGATIVE, (!integer).unsigned_abs()),
        }
    }

    fn text(&mut self, text: &str) {
        // A text of more bytes than can be told finds no room either.
        self.head(major::TEXT, u32::try_from(text.len()).unwrap_or(u32::MAX));
        self.put(text.as_bytes());
    }

    fn number(&mut self, Decimal { mantissa, exponent }: Decimal) {
        if exponent != 0 {
            self.head(major::TAG, DECIMAL_FRACTION.into());
            self.head(major::ARRAY, 2);
            self.integer(exponent.into());
        }
        self.integer(mantissa);
    }
}

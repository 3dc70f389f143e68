use crate::DeviceName;
use crate::output::{NoRoom, Output};
use crate::reading::Reading;

/// Writes a SenML pack in JSON: the base name in the first record, then each record's name, unit and value.
#[derive(Debug)]
pub struct PackWriter<'a, 'n> {
    out: Output<'a>,
    base_name: &'n [u8],
    empty: bool,
}

impl<'a, 'n> PackWriter<'a, 'n> {
    /// Begins a pack whose names all start with `base_name`.
    pub fn new(out: &'a mut [u8], base_name: &'n str) -> Self {
        Self { out: Output::new(out), base_name: base_name.as_bytes(), empty: true }
    }

    /// Begins a pack of a device.
    pub fn of_device(out: &'a mut [u8], name: &'n DeviceName) -> Self {
        Self { out: Output::new(out), base_name: name.as_bytes(), empty: true }
    }

    /// Adds a record; an empty `unit` is left out.
    ///
    /// After an error, the pack has to be given up.
    pub fn record(&mut self, name: &str, unit: &str, reading: Reading<'_>) -> Result<&mut Self, NoRoom> {
        if self.empty {
            self.out.put(b"[{");
            if !self.base_name.is_empty() {
                self.out.put(b"\"bn\":");
                self.out.string(self.base_name);
                self.out.put(b",");
            }
            self.empty = false;
        } else {
            self.out.put(b",{");
        }
        self.out.put(b"\"n\":");
        self.out.string(name.as_bytes());
        if !unit.is_empty() {
            self.out.put(b",\"u\":");
            self.out.string(unit.as_bytes());
        }
        match reading {
            Reading::Number(number) => {
                self.out.put(b",\"v\":");
                number.write(&mut self.out);
            }
            Reading::Text(text) => {
                self.out.put(b",\"vs\":");
                self.out.string(text.as_bytes());
            }
            Reading::Boolean(true) => self.out.put(b",\"vb\":true"),
            Reading::Boolean(false) => self.out.put(b",\"vb\":false"),
        }
        self.out.put(b"}");
        self.out.len().map(|_| self)
    }

    /// Ends the pack and returns its length.
    pub fn finish(mut self) -> Result<usize, NoRoom> {
        self.out.put(if self.empty { b"[]" } else { b"]" });
        self.out.len()
    }
}

impl Output<'_> {
    /// Writes `text` as a JSON string ([RFC 8259 section 7](https://www.rfc-editor.org/rfc/rfc8259#section-7)).
    #[inline(never)]
    fn string(&mut self, text: &[u8]) {
        self.put_byte(b'"');
        for &byte in text {
            match byte {
                b'"' | b'\\' => self.put(&[b'\\', byte]),
                0..0x20 => {
                    let low = byte & 0xf;
                    let low = if low < 10 { b'0' + low } else { b'a' - 10 + low };
                    self.put(&[b'\\', b'u', b'0', b'0', b'0' + (byte >> 4), low]);
                }
                _ => self.put_byte(byte),
            }
        }
        self.put_byte(b'"');
    }
}

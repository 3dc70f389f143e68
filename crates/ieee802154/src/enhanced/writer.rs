use super::elements::{Follows, HEADER_TERMINATION_1, HEADER_TERMINATION_2, MLME, PAYLOAD_TERMINATION};
use crate::Error;

/// Writes information elements behind one another, in this order: header elements, their end, payload elements, their end.
#[derive(Debug)]
pub struct ElementWriter<'b> {
    out: &'b mut [u8],
    len: usize,
}

impl<'b> ElementWriter<'b> {
    /// One that writes to the front of `out`.
    pub const fn new(out: &'b mut [u8]) -> Self {
        Self { out, len: 0 }
    }

    /// How many bytes it has written.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether it has written nothing.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let end = self.len + bytes.len();
        self.out.get_mut(self.len..end).ok_or(Error::BufferFull)?.copy_from_slice(bytes);
        self.len = end;
        Ok(())
    }

    fn element(&mut self, descriptor: u16, content: &[u8], longest: u16) -> Result<(), Error> {
        let len = u16::try_from(content.len()).map_err(|_| Error::InformationElement)?;
        if len > longest {
            return Err(Error::InformationElement);
        }
        self.put(&(descriptor | len).to_le_bytes())?;
        self.put(content)
    }

    /// A header element, of at most 127 bytes.
    pub fn header(&mut self, id: u8, content: &[u8]) -> Result<(), Error> {
        self.element(u16::from(id) << 7, content, 0x7f)
    }

    /// The end of the header elements. It may be left out if the frame ends with them.
    pub fn end_header(&mut self, follows: Follows) -> Result<(), Error> {
        let id = match follows {
            Follows::PayloadElements => HEADER_TERMINATION_1,
            Follows::Payload => HEADER_TERMINATION_2,
        };
        self.header(id, &[])
    }

    /// A payload element of the group [`MLME`], with what `nested` writes inside.
    pub fn mlme(&mut self, nested: impl FnOnce(&mut Self) -> Result<(), Error>) -> Result<(), Error> {
        let at = self.len;
        self.put(&[0; 2])?;
        nested(self)?;
        let len = u16::try_from(self.len - at - 2).ok().filter(|&len| len <= 0x7ff);
        let descriptor = 1 << 15 | u16::from(MLME) << 11 | len.ok_or(Error::InformationElement)?;
        self.out[at..at + 2].copy_from_slice(&descriptor.to_le_bytes());
        Ok(())
    }

    /// A nested element of a number of 7 bits, of at most 255 bytes.
    pub fn short(&mut self, id: u8, content: &[u8]) -> Result<(), Error> {
        self.element(u16::from(id & 0x7f) << 8, content, 0xff)
    }

    /// A nested element of a number of 4 bits, of at most 2047 bytes.
    pub fn long(&mut self, id: u8, content: &[u8]) -> Result<(), Error> {
        self.element(1 << 15 | u16::from(id & 0xf) << 11, content, 0x7ff)
    }

    /// The end of the payload elements. It may be left out if the frame ends with them.
    pub fn end_payload(&mut self) -> Result<(), Error> {
        self.put(&(1 << 15 | u16::from(PAYLOAD_TERMINATION) << 11).to_le_bytes())
    }
}

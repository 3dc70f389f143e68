use crate::Error;
use crate::fields::Reader;

/// The group of payload elements that hold nested ones for the MAC (7.4.3).
pub const MLME: u8 = 1;

/// The group of the payload element that ends those before a payload (7.4.3.4).
pub const PAYLOAD_TERMINATION: u8 = 0xf;

/// The header element that ends those before payload elements (7.4.2.18).
pub(super) const HEADER_TERMINATION_1: u8 = 0x7e;

/// The header element that ends those before a payload (7.4.2.19).
pub(super) const HEADER_TERMINATION_2: u8 = 0x7f;

/// An information element: its number, which is its id in headers, its group in payloads and its sub-id when it is nested, and its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element<'f> {
    /// The number.
    pub id: u8,
    /// The content.
    pub content: &'f [u8],
}

/// What follows the header elements of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follows {
    /// Payload elements.
    PayloadElements,
    /// The payload, or nothing.
    Payload,
}

/// The header elements of a frame (7.4.2), one after the other.
#[derive(Clone, Debug)]
pub struct HeaderElements<'f> {
    rest: &'f [u8],
    follows: Option<Follows>,
}

impl<'f> HeaderElements<'f> {
    /// Those at the front of `bytes`, which follow the header.
    pub const fn new(bytes: &'f [u8]) -> Self {
        Self { rest: bytes, follows: None }
    }

    /// What follows them, and of what kind it is, when all have been read: `None` before.
    pub fn follows(&self) -> Option<(Follows, &'f [u8])> {
        Some((self.follows?, self.rest))
    }

    fn read(&mut self) -> Result<Option<Element<'f>>, Error> {
        let mut fields = Reader(self.rest);
        let descriptor = fields.u16()?;
        if descriptor >> 15 != 0 {
            return Err(Error::InformationElement);
        }
        let id = (descriptor >> 7) as u8;
        let content = fields.slice(usize::from(descriptor & 0x7f))?;
        self.rest = fields.0;
        self.follows = match id {
            HEADER_TERMINATION_1 => Some(Follows::PayloadElements),
            HEADER_TERMINATION_2 => Some(Follows::Payload),
            _ => return Ok(Some(Element { id, content })),
        };
        if content.is_empty() { Ok(None) } else { Err(Error::InformationElement) }
    }
}

impl<'f> Iterator for HeaderElements<'f> {
    type Item = Result<Element<'f>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.follows.is_none() && self.rest.is_empty() {
            self.follows = Some(Follows::Payload);
        }
        if self.follows.is_some() {
            return None;
        }
        let read = self.read();
        if read.is_err() {
            (self.rest, self.follows) = (&[], Some(Follows::Payload));
        }
        read.transpose()
    }
}

/// The payload elements of a frame (7.4.3), one after the other.
#[derive(Clone, Debug)]
pub struct PayloadElements<'f> {
    rest: &'f [u8],
    is_over: bool,
}

impl<'f> PayloadElements<'f> {
    /// Those at the front of `bytes`, which follow the header elements.
    pub const fn new(bytes: &'f [u8]) -> Self {
        Self { rest: bytes, is_over: false }
    }

    /// The payload behind them, when all have been read: `None` before.
    pub fn payload(&self) -> Option<&'f [u8]> {
        self.is_over.then_some(self.rest)
    }

    fn read(&mut self) -> Result<Option<Element<'f>>, Error> {
        let mut fields = Reader(self.rest);
        let descriptor = fields.u16()?;
        if descriptor >> 15 == 0 {
            return Err(Error::InformationElement);
        }
        let id = (descriptor >> 11) as u8 & 0xf;
        let content = fields.slice(usize::from(descriptor & 0x7ff))?;
        self.rest = fields.0;
        self.is_over = id == PAYLOAD_TERMINATION;
        match (self.is_over, content) {
            (false, content) => Ok(Some(Element { id, content })),
            (true, []) => Ok(None),
            (true, _) => Err(Error::InformationElement),
        }
    }
}

impl<'f> Iterator for PayloadElements<'f> {
    type Item = Result<Element<'f>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.is_over |= self.rest.is_empty();
        if self.is_over {
            return None;
        }
        let read = self.read();
        if read.is_err() {
            (self.rest, self.is_over) = (&[], true);
        }
        read.transpose()
    }
}

/// The elements inside a payload element of the group [`MLME`] (7.4.4), one after the other.
#[derive(Clone, Debug)]
pub struct NestedElements<'f>(&'f [u8]);

impl<'f> NestedElements<'f> {
    /// Those in this content.
    pub const fn new(content: &'f [u8]) -> Self {
        Self(content)
    }

    fn read(&mut self) -> Result<Element<'f>, Error> {
        let mut fields = Reader(self.0);
        let descriptor = fields.u16()?;
        let (id, len) = if descriptor >> 15 == 0 {
            ((descriptor >> 8) as u8, descriptor & 0xff)
        } else {
            ((descriptor >> 11) as u8 & 0xf, descriptor & 0x7ff)
        };
        let content = fields.slice(usize::from(len))?;
        self.0 = fields.0;
        Ok(Element { id, content })
    }
}

impl<'f> Iterator for NestedElements<'f> {
    type Item = Result<Element<'f>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let read = self.read();
        if read.is_err() {
            self.0 = &[];
        }
        Some(read)
    }
}

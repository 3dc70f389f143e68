//! A cursor over DER ([X.690](https://www.itu.int/rec/T-REC-X.690)). Nothing nests deeper than its caller goes.

use crate::Error;

pub(crate) const BOOLEAN: u8 = 0x01;
pub(crate) const INTEGER: u8 = 0x02;
pub(crate) const BIT_STRING: u8 = 0x03;
pub(crate) const OCTET_STRING: u8 = 0x04;
pub(crate) const OBJECT_IDENTIFIER: u8 = 0x06;
pub(crate) const SEQUENCE: u8 = 0x30;
pub(crate) const SET: u8 = 0x31;

/// The tag of the primitive element number `n` of a choice or with a default.
pub(crate) const fn context(n: u8) -> u8 {
    0x80 | n
}

/// The tag of the element number `n` that holds others.
pub(crate) const fn context_constructed(n: u8) -> u8 {
    0xa0 | n
}

#[derive(Clone, Copy)]
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The only element of `bytes`, which has this tag.
    pub(crate) fn only(bytes: &'a [u8], tag: u8) -> Result<Self, Error> {
        let mut reader = Self(bytes);
        let content = reader.expect(tag)?;
        reader.end()?;
        Ok(Self(content))
    }

    fn take(&mut self, n: usize) -> Result<&'a [u8], Error> {
        let (taken, rest) = self.0.split_at_checked(n).ok_or(Error::Encoding)?;
        self.0 = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, Error> {
        let (&byte, rest) = self.0.split_first().ok_or(Error::Encoding)?;
        self.0 = rest;
        Ok(byte)
    }

    /// The next element: its tag and its content. Tags have one byte, lengths the fewest bytes that they can and two at most.
    pub(crate) fn element(&mut self) -> Result<(u8, &'a [u8]), Error> {
        let tag = self.byte()?;
        if tag & 0x1f == 0x1f {
            return Err(Error::Encoding);
        }
        let length = match self.byte()? {
            short @ 0..=0x7f => short.into(),
            0x81 => match self.byte()? {
                0..=0x7f => return Err(Error::Encoding),
                length => length.into(),
            },
            0x82 => match u16::from_be_bytes([self.byte()?, self.byte()?]) {
                0..0x100 => return Err(Error::Encoding),
                length => length.into(),
            },
            _ => return Err(Error::Encoding),
        };
        Ok((tag, self.take(length)?))
    }

    /// The content of the next element, which has this tag.
    pub(crate) fn expect(&mut self, tag: u8) -> Result<&'a [u8], Error> {
        match self.element()? {
            (found, content) if found == tag => Ok(content),
            _ => Err(Error::Encoding),
        }
    }

    /// The content of the next element, an object identifier: at least one number, the last of which comes to its end.
    pub(crate) fn object_identifier(&mut self) -> Result<&'a [u8], Error> {
        let content = self.expect(OBJECT_IDENTIFIER)?;
        if content.last().is_some_and(|last| *last < 0x80) { Ok(content) } else { Err(Error::Encoding) }
    }

    /// The content of the next element, if it has this tag.
    pub(crate) fn optional(&mut self, tag: u8) -> Result<Option<&'a [u8]>, Error> {
        if self.0.first() == Some(&tag) { self.expect(tag).map(Some) } else { Ok(None) }
    }

    /// The next element, which has this tag, with its tag and length.
    pub(crate) fn whole(&mut self, tag: u8) -> Result<&'a [u8], Error> {
        let before = self.0;
        self.expect(tag)?;
        before.get(..before.len() - self.0.len()).ok_or(Error::Encoding)
    }

    /// The next element, a truth value that is false by default. DER leaves a value out that is the default; the one that is
    /// written all the same is taken.
    pub(crate) fn boolean_or_false(&mut self) -> Result<bool, Error> {
        match self.optional(BOOLEAN)? {
            None | Some([0]) => Ok(false),
            Some([0xff]) => Ok(true),
            Some(_) => Err(Error::Encoding),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn end(self) -> Result<(), Error> {
        if self.0.is_empty() { Ok(()) } else { Err(Error::Encoding) }
    }
}

/// The digits of a number above zero that is written with the fewest bytes, without the zero that stands before what would be taken
/// for a sign.
pub(crate) fn positive(content: &[u8]) -> Result<&[u8], Error> {
    match content {
        [0, digits @ ..] if digits.first().is_some_and(|first| first & 0x80 != 0) => Ok(digits),
        digits @ [1..0x80, ..] => Ok(digits),
        _ => Err(Error::Encoding),
    }
}

/// What writes DER, the last byte first: lengths are known when their turn comes.
pub(crate) struct Writer<'o> {
    out: &'o mut [u8],
    /// Where what was written begins.
    at: usize,
    fits: bool,
}

impl<'o> Writer<'o> {
    /// Writes to the end of `out`.
    pub(crate) fn new(out: &'o mut [u8]) -> Self {
        let at = out.len();
        Self { out, at, fits: true }
    }

    /// Writes `bytes` before what was written.
    pub(crate) fn put(&mut self, bytes: &[u8]) {
        let at = self.at.checked_sub(bytes.len());
        match at.and_then(|at| self.out.get_mut(at..self.at)) {
            Some(room) => {
                room.copy_from_slice(bytes);
                self.at -= bytes.len();
            }
            None => self.fits = false,
        }
    }

    /// Writes `bytes` behind all that was written.
    pub(crate) fn append(&mut self, bytes: &[u8]) {
        let from = self.at;
        // It makes room, and is overwritten.
        self.put(bytes);
        if self.fits {
            let written = self.out.get_mut(self.at..).unwrap_or_default();
            written.copy_within(from - self.at.., 0);
            let (_, back) = written.split_at_mut(written.len() - bytes.len());
            back.copy_from_slice(bytes);
        }
    }

    /// Writes an element with this tag and what `content` writes.
    pub(crate) fn element(&mut self, tag: u8, content: impl FnOnce(&mut Self)) {
        let end = self.at;
        content(self);
        self.front(tag, end - self.at);
    }

    /// Makes one element of all that was written.
    pub(crate) fn wrap(&mut self, tag: u8) {
        self.front(tag, self.out.len() - self.at);
    }

    /// A tag, and a length of two bytes at most behind its own.
    fn front(&mut self, tag: u8, length: usize) {
        let [high, low] = match u16::try_from(length) {
            Ok(length) => length.to_be_bytes(),
            Err(_) => return self.fits = false,
        };
        match length {
            0..0x80 => self.put(&[tag, low]),
            0x80..0x100 => self.put(&[tag, 0x81, low]),
            _ => self.put(&[tag, 0x82, high, low]),
        }
    }

    /// All that was written; none if there was no room for it.
    pub(crate) fn written(&self) -> Option<&[u8]> {
        self.out.get(self.at..).filter(|_| self.fits)
    }

    /// The same, for as long as there is what it was written to.
    pub(crate) fn into_written(self) -> Option<&'o [u8]> {
        let Self { out, at, fits } = self;
        let out: &'o [u8] = out;
        out.get(at..).filter(|_| fits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_one_form() {
        let element = |bytes: &[u8]| Reader::new(bytes).element().map(|(tag, content)| (tag, content.len()));
        assert_eq!(element(&[4, 2, 9, 9]), Ok((4, 2)));
        let mut long = [0; 3 + 0x80];
        long[..3].copy_from_slice(&[4, 0x81, 0x80]);
        assert_eq!(element(&long), Ok((4, 0x80)));
        let mut longer = [0; 4 + 0x100];
        longer[..4].copy_from_slice(&[4, 0x82, 1, 0]);
        assert_eq!(element(&longer), Ok((4, 0x100)));
        for refused in [
            &[4, 0x81, 0x7f][..],
            &[4, 0x82, 0, 0x80],
            &[4, 0x80],
            &[4, 0x83, 0, 0, 1],
            &[0x1f, 0],
            &[4, 1],
            &[4],
            &[],
        ] {
            let mut padded = [0; 200];
            padded[..refused.len()].copy_from_slice(refused);
            let bytes = if refused.len() > 2 { &padded[..] } else { refused };
            assert_eq!(element(bytes), Err(Error::Encoding), "{refused:?}");
        }
    }

    #[test]
    fn a_truth_value_has_two_forms_and_may_be_left_out() {
        let read = |bytes: &[u8]| Reader::new(bytes).boolean_or_false();
        assert_eq!(
            (read(&[]), read(&[BOOLEAN, 1, 0]), read(&[INTEGER, 1, 1])),
            (Ok(false), Ok(false), Ok(false))
        );
        assert_eq!(read(&[BOOLEAN, 1, 0xff]), Ok(true));
        for refused in [&[BOOLEAN, 1, 1][..], &[BOOLEAN, 0], &[BOOLEAN, 2, 0, 0], &[BOOLEAN, 1]] {
            assert_eq!(read(refused), Err(Error::Encoding), "{refused:?}");
        }
    }

    #[test]
    fn a_number_has_one_form() {
        assert_eq!(positive(&[1]), Ok(&[1][..]));
        assert_eq!(positive(&[0x7f, 0]), Ok(&[0x7f, 0][..]));
        assert_eq!(positive(&[0, 0x80]), Ok(&[0x80][..]));
        for refused in [&[][..], &[0], &[0, 0x7f], &[0, 0], &[0, 0, 0x80], &[0x80], &[0xff, 0x80]] {
            assert_eq!(positive(refused), Err(Error::Encoding), "{refused:?}");
        }
    }

    #[test]
    fn what_was_written_is_read_again_and_no_room_is_noticed() {
        for length in [0, 1, 0x7f, 0x80, 0xff, 0x100, 0x180] {
            let mut out = [0; 0x200];
            let content = &[7; 0x180][..length];
            let mut writer = Writer::new(&mut out);
            writer.element(OCTET_STRING, |string| string.put(content));
            writer.append(&[5, 6]);
            writer.wrap(SEQUENCE);
            let mut outer = Reader::only(writer.into_written().unwrap(), SEQUENCE).unwrap();
            assert_eq!((outer.expect(OCTET_STRING), outer.0), (Ok(content), &[5, 6][..]));
            for room in 0..length + 2 {
                let mut writer = Writer::new(&mut out[..room]);
                writer.element(OCTET_STRING, |string| string.put(content));
                writer.append(&[0]);
                assert_eq!(writer.written(), None);
            }
        }
    }

    #[test]
    fn an_element_may_be_there_and_is_lent_whole() {
        let mut reader = Reader::new(&[INTEGER, 1, 7, SEQUENCE, 0]);
        assert_eq!(reader.optional(BOOLEAN), Ok(None));
        assert_eq!(reader.optional(INTEGER), Ok(Some(&[7][..])));
        assert_eq!(reader.whole(SEQUENCE), Ok(&[SEQUENCE, 0][..]));
        assert!(reader.is_empty() && reader.end().is_ok());
    }
}

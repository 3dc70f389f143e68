use core::str::Chars;

/// A text of a pack; compared and iterated as the text it stands for.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    raw: &'a str,
    /// Whether a backslash begins an escape, as in JSON.
    escaped: bool,
}

impl<'a> Text<'a> {
    /// The text without characters.
    pub(crate) const EMPTY: Self = Self::plain("");

    /// A text that is spelt as it is.
    pub(crate) const fn plain(raw: &'a str) -> Self {
        Self { raw, escaped: false }
    }

    /// The inside of a JSON string, escapes and all.
    pub(crate) const fn escaped(raw: &'a str) -> Self {
        Self { raw, escaped: true }
    }

    /// The text's characters.
    pub fn chars(&self) -> impl Iterator<Item = char> + use<'a> {
        let Self { raw, escaped } = *self;
        let mut raw = raw.chars();
        core::iter::from_fn(move || match raw.next()? {
            '\\' if escaped => unescape(&mut raw),
            plain => Some(plain),
        })
    }

    /// Writes the text to the front of `out`; nothing if it does not fit.
    pub fn write<'o>(&self, out: &'o mut [u8]) -> Option<&'o str> {
        write_chars(self.chars(), out)
    }
}

impl PartialEq<str> for Text<'_> {
    fn eq(&self, other: &str) -> bool {
        self.chars().eq(other.chars())
    }
}

/// Writes `chars` to the front of `out`; nothing if they do not fit.
pub(crate) fn write_chars(chars: impl Iterator<Item = char>, out: &mut [u8]) -> Option<&str> {
    let mut len = 0;
    for char in chars {
        let room = out.get_mut(len..)?;
        if room.len() < char.len_utf8() {
            return None;
        }
        len += char.encode_utf8(room).len();
    }
    core::str::from_utf8(out.get(..len)?).ok()
}

/// The character that an escape of JSON stands for, after its backslash.
pub(crate) fn unescape(raw: &mut Chars<'_>) -> Option<char> {
    Some(match raw.next()? {
        quoted @ ('"' | '\\' | '/') => quoted,
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'u' => match hex_digits(raw)? {
            high @ 0xd800..0xdc00 => {
                let low = (raw.next()? == '\\' && raw.next()? == 'u').then(|| hex_digits(raw))??;
                let low = low.checked_sub(0xdc00).filter(|&low| low < 0x400)?;
                char::from_u32(0x10000 + ((high - 0xd800) << 10 | low))?
            }
            code => char::from_u32(code)?,
        },
        _ => return None,
    })
}

fn hex_digits(raw: &mut Chars<'_>) -> Option<u32> {
    (0..4).try_fold(0, |code, _| Some(code << 4 | raw.next()?.to_digit(16)?))
}

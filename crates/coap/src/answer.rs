use sixlock_coap_msg::{Block, BuildError, Builder, Code, ContentFormat, HEADER, MAX_TOKEN, OptionNumber};

/// The most that one of these options takes besides its value: their numbers are less than 269 apart, and so are their
/// lengths.
const OPTION_HEAD: usize = 3;

/// What a request is answered with: a code, what the response's options say, and a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer<'a> {
    /// The code.
    pub code: Code,
    /// Which state of the resource it is: 1 to 8 bytes.
    pub etag: Option<&'a [u8]>,
    /// That the resource is observed, and where in the order of notifications this one stands: 24 bits.
    pub observe: Option<u32>,
    /// The payload's format.
    pub format: Option<ContentFormat>,
    /// After how many seconds it may be another, or a refused request may be sent again
    /// ([RFC 7252 section 5.10.5](https://www.rfc-editor.org/rfc/rfc7252#section-5.10.5)); without it, 60.
    pub max_age: Option<u32>,
    /// Which part of the whole the payload is.
    pub block2: Option<Block>,
    /// Which part of the request's whole was taken.
    pub block1: Option<Block>,
    /// How long the whole is that the payload is a part of.
    pub size2: Option<u32>,
    /// How long the whole of a request may be.
    pub size1: Option<u32>,
    /// What the client is to repeat, which shows that it is where it says: 1 to 40 bytes.
    pub echo: Option<&'a [u8]>,
    /// The payload.
    pub payload: &'a [u8],
}

impl<'a> Answer<'a> {
    /// A code and nothing else.
    pub const fn new(code: Code) -> Self {
        Self {
            code,
            etag: None,
            observe: None,
            format: None,
            max_age: None,
            block2: None,
            block1: None,
            size2: None,
            size1: None,
            echo: None,
            payload: &[],
        }
    }

    /// A code and a payload of a format.
    pub const fn content(code: Code, format: ContentFormat, payload: &'a [u8]) -> Self {
        Self { format: Some(format), payload, ..Self::new(code) }
    }

    /// No message with this answer is longer.
    pub fn max_len(&self) -> usize {
        let options = self.options().into_iter().flatten();
        let options: usize = options.map(|(_, value)| OPTION_HEAD + value.max_len()).sum();
        HEADER + MAX_TOKEN + options + 1 + self.payload.len()
    }

    /// Writes options and payload.
    pub(crate) fn write(&self, mut builder: Builder<'_>) -> Result<usize, BuildError> {
        for (number, value) in self.options().into_iter().flatten() {
            match value {
                Value::Bytes(bytes) => builder.option(number, bytes)?,
                Value::Number(value) => builder.option_uint(number, value)?,
            };
        }
        builder.finish_with(self.payload)
    }

    /// The options, by ascending number.
    fn options(&self) -> [Option<(OptionNumber, Value<'a>)>; 9] {
        let bytes = |number, value: Option<&'a [u8]>| Some((number, Value::Bytes(value?)));
        let number = |number, value: Option<u32>| Some((number, Value::Number(value?)));
        [
            bytes(OptionNumber::ETAG, self.etag),
            number(OptionNumber::OBSERVE, self.observe),
            number(OptionNumber::CONTENT_FORMAT, self.format.map(|format| format.0.into())),
            number(OptionNumber::MAX_AGE, self.max_age),
            number(OptionNumber::BLOCK2, self.block2.map(Block::value)),
            number(OptionNumber::BLOCK1, self.block1.map(Block::value)),
            number(OptionNumber::SIZE2, self.size2),
            number(OptionNumber::SIZE1, self.size1),
            bytes(OptionNumber::ECHO, self.echo),
        ]
    }
}

/// The value of an option.
enum Value<'a> {
    Bytes(&'a [u8]),
    Number(u32),
}

impl Value<'_> {
    const fn max_len(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Number(value) => (u32::BITS - value.leading_zeros()).div_ceil(8) as usize,
        }
    }
}

impl From<Code> for Answer<'_> {
    fn from(code: Code) -> Self {
        Self::new(code)
    }
}

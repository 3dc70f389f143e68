use core::fmt;

use crate::option::split;
use crate::{
    CoapOption, Code, ContentFormat, HEADER, MAX_TOKEN, OptionNumber, Options, PAYLOAD_MARKER, Type, VERSION,
};

/// Why bytes are not a CoAP message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParseError {
    /// Shorter than the fixed header.
    TooShort,
    /// Not version 1.
    Version,
    /// The token is longer than eight bytes or than the message.
    Token,
    /// The code is of a reserved class.
    Code,
    /// An empty message with something in it.
    NotEmpty,
    /// An option's delta or length is reserved, runs beyond the message or beyond the last option number.
    Option,
    /// A payload marker with no payload behind it.
    NoPayload,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooShort => "the message is shorter than the fixed header",
            Self::Version => "the message is not of version 1 of CoAP",
            Self::Token => "the token is longer than eight bytes or than the message",
            Self::Code => "the code is of a reserved class",
            Self::NotEmpty => "the empty message has something in it",
            Self::Option => "an option's delta or length is reserved, or runs beyond the message or the last option number",
            Self::NoPayload => "no payload follows the payload marker",
        })
    }
}

impl core::error::Error for ParseError {}

/// A received message: a view of its bytes, checked when it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    message_type: Type,
    code: Code,
    id: u16,
    token: &'a [u8],
    options: &'a [u8],
    payload: &'a [u8],
}

impl<'a> Message<'a> {
    /// Checks `datagram` and views it as a message
    /// ([RFC 7252 section 3](https://www.rfc-editor.org/rfc/rfc7252#section-3)).
    ///
    /// What does not parse is answered by [`reset_for`].
    pub fn parse(datagram: &'a [u8]) -> Result<Self, ParseError> {
        let &[first, code, id_high, id_low, ref rest @ ..] = datagram else {
            return Err(ParseError::TooShort);
        };
        if first >> 6 != VERSION {
            return Err(ParseError::Version);
        }
        let code = Code(code);
        let token_len = usize::from(first & 0xf);
        if token_len > MAX_TOKEN {
            return Err(ParseError::Token);
        }
        if code == Code::EMPTY && (token_len != 0 || !rest.is_empty()) {
            return Err(ParseError::NotEmpty);
        }
        if matches!(code.class(), 1 | 6 | 7) {
            return Err(ParseError::Code);
        }
        let (token, body) = rest.split_at_checked(token_len).ok_or(ParseError::Token)?;
        let (options, payload) = split_body(body)?;
        let message_type = Type::from_bits(first >> 4);
        Ok(Self { message_type, code, id: u16::from_be_bytes([id_high, id_low]), token, options, payload })
    }

    /// The type.
    pub const fn message_type(&self) -> Type {
        self.message_type
    }

    /// The method or response code.
    pub const fn code(&self) -> Code {
        self.code
    }

    /// The message id.
    pub const fn id(&self) -> u16 {
        self.id
    }

    /// The token.
    pub const fn token(&self) -> &'a [u8] {
        self.token
    }

    /// Every option, by ascending number.
    pub const fn options(&self) -> Options<'a> {
        Options::new(self.options)
    }

    /// The payload; empty if there is none.
    pub const fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// The values of the option `number`, as often as it occurs. Values of a length the option
    /// does not allow are passed over, as if the option were unknown
    /// ([RFC 7252 section 5.4.3](https://www.rfc-editor.org/rfc/rfc7252#section-5.4.3)).
    pub fn values(&self, number: OptionNumber) -> impl Iterator<Item = CoapOption<'a>> + use<'a> {
        self.options().filter(move |option| option.number == number && number.allows_len(option.value.len()))
    }

    /// The first value of the option `number`.
    pub fn value(&self, number: OptionNumber) -> Option<CoapOption<'a>> {
        self.values(number).next()
    }

    /// The payload's format, if it is stated.
    pub fn content_format(&self) -> Option<ContentFormat> {
        let number = self.value(OptionNumber::CONTENT_FORMAT)?.uint()?;
        u16::try_from(number).ok().map(ContentFormat)
    }

    /// The segments of the request's path.
    pub fn path(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        self.values(OptionNumber::URI_PATH).map(|option| option.value)
    }

    /// Whether the request's path has exactly these segments.
    pub fn path_is(&self, segments: &[&str]) -> bool {
        self.path().eq(segments.iter().map(|segment| segment.as_bytes()))
    }

    /// The value of the query argument `name=value`.
    pub fn query(&self, name: &str) -> Option<&'a [u8]> {
        self.values(OptionNumber::URI_QUERY).find_map(|option| {
            let rest = option.value.strip_prefix(name.as_bytes())?;
            rest.strip_prefix(b"=")
        })
    }

    /// The first critical option that a recipient knowing only the critical options `known` has to refuse: one it
    /// does not know, one whose value has a length its definition does not allow, or one that occurs too often
    /// ([RFC 7252 section 5.4](https://www.rfc-editor.org/rfc/rfc7252#section-5.4)).
    pub fn unacceptable_option(&self, known: &[OptionNumber]) -> Option<OptionNumber> {
        let mut previous = None;
        self.options().find_map(|CoapOption { number, value }| {
            let repeated = previous.replace(number) == Some(number) && !number.is_repeatable();
            let acceptable = known.contains(&number) && number.allows_len(value.len()) && !repeated;
            (number.is_critical() && !acceptable).then_some(number)
        })
    }
}

/// Splits what follows the token into options and payload.
fn split_body(body: &[u8]) -> Result<(&[u8], &[u8]), ParseError> {
    let (mut rest, mut number) = (body, 0);
    loop {
        match rest {
            [] => return Ok((body, rest)),
            [PAYLOAD_MARKER] => return Err(ParseError::NoPayload),
            [PAYLOAD_MARKER, payload @ ..] => {
                let options = body.get(..body.len() - rest.len()).ok_or(ParseError::Option)?;
                return Ok((options, payload));
            }
            _ => (number, _, rest) = split(number, rest).ok_or(ParseError::Option)?,
        }
    }
}

/// The empty message of `message_type` and `id`: a ping, an acknowledgement or a reset.
pub const fn empty(message_type: Type, id: u16) -> [u8; HEADER] {
    let [high, low] = id.to_be_bytes();
    [VERSION << 6 | (message_type as u8) << 4, Code::EMPTY.0, high, low]
}

/// The reset that rejects `datagram`, if it is a confirmable message that may be rejected; anything else that
/// cannot be used is silently ignored
/// ([RFC 7252 section 4.2](https://www.rfc-editor.org/rfc/rfc7252#section-4.2)).
pub fn reset_for(datagram: &[u8]) -> Option<[u8; HEADER]> {
    let &[first, _, id_high, id_low, ..] = datagram else { return None };
    let confirmable = first >> 6 == VERSION && Type::from_bits(first >> 4) == Type::Confirmable;
    confirmable.then(|| empty(Type::Reset, u16::from_be_bytes([id_high, id_low])))
}

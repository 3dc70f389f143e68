//! Headers of DTLS compressed by Lithe (Raza et al., 2013; draft-raza-dice-compressed-dtls-00). They follow UDP's
//! compressed header, whose byte then begins with 11011 and not with 11110.
//!
//! | byte | of | carried |
//! |---|---|---|
//! | 1001 V EC SN SN | a record | its type, version if V, one byte of epoch or two if EC, the last 2, 3, 4 or 6 of the number |
//! | 1000 V EC SN F | a record with a message of the handshake | version if V, epoch so, the last 2 or 6 bytes of the number; the message's type and number |
//! | 1010 SI C CS CM | ClientHello, after that | the random value; session id, cookie, suites and compression methods, each if its bit is set |
//! | 1011 V SI CS CM | ServerHello, after that | version if V; the random value; session id, suite and compression method, each if its bit is set |
//!
//! Not carried are DTLS 1.2, the empty session id and cookie, TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8 and no compression. Lengths
//! are those of the datagram, which is one record. F would say that the message is a fragment: its length could not be told
//! then, so that it is neither sent nor accepted, and such a fragment is compressed as a record.
//!
//! One thing is added to the draft: the first bit of a record's type, which is of no type that there is, says that the explicit nonce
//! ([RFC 5288 section 3](https://www.rfc-editor.org/rfc/rfc5288#section-3)) is not carried, as it is the epoch and sequence number.

use crate::Error;
use crate::cursor::{Reader, Writer};

/// Lengths of a record's header and of that of a message in it, in bytes, and where their lengths stand.
pub(crate) const RECORD_LEN: usize = 13;
pub(crate) const HANDSHAKE_LEN: usize = 12;
/// The most bytes that these become.
const MAX_RECORD: usize = 14;
pub(crate) const RECORD_LENGTH_AT: usize = 11;
pub(crate) const MESSAGE_LENGTH_AT: usize = RECORD_LEN + 1;
pub(crate) const FRAGMENT_LENGTH_AT: usize = RECORD_LEN + 9;

const KIND_MASK: u8 = 0b1111_0000;
const RECORD_WITH_HANDSHAKE: u8 = 0b1000_0000;
const RECORD: u8 = 0b1001_0000;
const CLIENT_HELLO: u8 = 0b1010_0000;
const SERVER_HELLO: u8 = 0b1011_0000;

// A record's byte.
const VERSION_CARRIED: u8 = 1 << 3;
const EPOCH_WHOLE: u8 = 1 << 2;
const HANDSHAKE_NUMBER_WHOLE: u8 = 1 << 1;
const FRAGMENT: u8 = 1;

/// How many of a number's 6 bytes are carried, by the last two bits of a record's byte.
const NUMBER_LENGTHS: [usize; 4] = [2, 3, 4, 6];

/// In the type of a record: its explicit nonce is not carried.
const NONCE_ELIDED: u8 = 1 << 7;
/// Length of an explicit nonce, and of epoch and sequence number together.
const NONCE_LEN: usize = 8;
const EPOCH_AT: usize = 3;

// The byte of a hello.
const CLIENT_SESSION_ID: u8 = 1 << 3;
const COOKIE: u8 = 1 << 2;
const SERVER_SESSION_ID: u8 = 1 << 2;
const SUITES: u8 = 1 << 1;
const COMPRESSION: u8 = 1;

const HANDSHAKE: u8 = 22;
const IS_CLIENT_HELLO: u8 = 1;
const IS_SERVER_HELLO: u8 = 2;
const DTLS_1_2: [u8; 2] = [0xfe, 0xfd];
const RANDOM_LEN: usize = 32;
/// TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8.
const SUITE: [u8; 2] = [0xc0, 0xae];

/// Compresses the record in `datagram`, if it can be restored and fits. Returns how many bytes of it were compressed.
pub(crate) fn emit(datagram: &[u8], out: &mut Writer<'_>) -> Option<usize> {
    // A first fragment is filled up to a multiple of 8 bytes.
    let filling = |consumed| datagram.len().saturating_sub(consumed).min(7);
    let record = Record::parse(datagram).filter(|_| out.free() >= MAX_RECORD + filling(RECORD_LEN))?;
    let consumed = record.emit(out);
    let Some(hello) = record.message.and_then(|message| message.hello) else { return Some(consumed) };
    // A hello that does not fit stays as it is.
    let with_hello = consumed + hello.length;
    if out.free() < hello.compressed_len() + filling(with_hello) {
        return Some(consumed);
    }
    hello.emit(out);
    Some(with_hello)
}

/// A record, the only one of its datagram.
struct Record<'a> {
    header: &'a [u8; RECORD_LEN],
    body: &'a [u8],
    /// The message of the handshake that it carries whole.
    message: Option<Message<'a>>,
}

/// A message of the handshake.
struct Message<'a> {
    header: &'a [u8; HANDSHAKE_LEN],
    /// The part of its body that is compressed.
    hello: Option<Hello<'a>>,
}

/// A ClientHello or ServerHello.
struct Hello<'a> {
    /// Its byte.
    byte: u8,
    version: &'a [u8],
    random: &'a [u8],
    /// The fields that are carried.
    carried: [&'a [u8]; 4],
    /// How much of the message all of this is.
    length: usize,
}

impl<'a> Record<'a> {
    /// The record that `datagram` is, if it can be restored.
    fn parse(datagram: &'a [u8]) -> Option<Self> {
        let (header, body) = datagram.split_first_chunk::<RECORD_LEN>()?;
        let [kind, .., high, low] = *header;
        let is_all = usize::from(u16::from_be_bytes([high, low])) == body.len();
        (is_all && kind & NONCE_ELIDED == 0).then(|| Self {
            header,
            body,
            message: Message::parse(kind, body),
        })
    }

    /// Writes its headers; returns how much of the datagram they are.
    fn emit(&self, out: &mut Writer<'_>) -> usize {
        let [kind, version @ .., _, _, _, _, _, _, _, _, _, _] = *self.header;
        let [_, _, _, epoch @ .., _, _, _, _, _, _, _, _] = *self.header;
        let [_, _, _, _, _, number @ .., _, _] = *self.header;
        let zeros = number.iter().take_while(|&&byte| byte == 0).count();
        let (mut byte, carried) = match (&self.message, zeros) {
            (Some(_), 4..) => (RECORD_WITH_HANDSHAKE, 2),
            (Some(_), _) => (RECORD_WITH_HANDSHAKE | HANDSHAKE_NUMBER_WHOLE, 6),
            (None, 4..) => (RECORD, 2),
            (None, 3) => (RECORD | 1, 3),
            (None, 2) => (RECORD | 2, 4),
            (None, _) => (RECORD | 3, 6),
        };
        let is_other = version != DTLS_1_2;
        let is_late = epoch[0] != 0;
        byte |= if is_other { VERSION_CARRIED } else { 0 };
        byte |= if is_late { EPOCH_WHOLE } else { 0 };
        out.put(&[byte]);
        let nonce_elided = self.message.is_none()
            && self.header.get(EPOCH_AT..RECORD_LENGTH_AT) == self.body.get(..NONCE_LEN);
        if self.message.is_none() {
            out.put(&[kind | if nonce_elided { NONCE_ELIDED } else { 0 }]);
        }
        out.put(if is_other { &version } else { &[] });
        out.put(if is_late { &epoch } else { &epoch[1..] });
        out.put(&number[6 - carried..]);
        match &self.message {
            Some(message) => {
                let [message_type, _, _, _, high, low, ..] = *message.header;
                out.put(&[message_type, high, low]);
                RECORD_LEN + HANDSHAKE_LEN
            }
            None => RECORD_LEN + if nonce_elided { NONCE_LEN } else { 0 },
        }
    }
}

impl<'a> Message<'a> {
    /// The message that a record of this type carries whole, if it does and it can be restored.
    fn parse(kind: u8, body: &'a [u8]) -> Option<Self> {
        let (header, body) = body.split_first_chunk::<HANDSHAKE_LEN>()?;
        let [message_type, length @ .., _, _, _, _, _, _, _, _] = *header;
        let [.., offset0, offset1, offset2, fragment0, fragment1, fragment2] = *header;
        let [0, high, low] = length else { return None };
        let is_whole = kind == HANDSHAKE
            && usize::from(u16::from_be_bytes([high, low])) == body.len()
            && [offset0, offset1, offset2] == [0; 3]
            && [fragment0, fragment1, fragment2] == length;
        if !is_whole {
            return None;
        }
        let Some(announced_by) = announced_by(message_type) else {
            return Some(Self { header, hello: None });
        };
        let hello = Hello::parse(announced_by, body);
        // A body that goes as it is must not begin as a compressed one does.
        let is_told = body.first().is_none_or(|&first| first & KIND_MASK != announced_by);
        is_told.then_some(Self { header, hello })
    }
}

/// A field of a hello that is carried if a bit says so, and else is these bytes.
struct Field {
    bit: u8,
    elided: &'static [u8],
    /// Length of the length that it begins with, in bytes; if it is 0, the field is always as long.
    prefix: usize,
}

/// What follows the random value of a ClientHello, and of a ServerHello.
static CLIENT_FIELDS: [Field; 4] = [
    Field { bit: CLIENT_SESSION_ID, elided: &[0], prefix: 1 },
    Field { bit: COOKIE, elided: &[0], prefix: 1 },
    Field { bit: SUITES, elided: &[0, 2, SUITE[0], SUITE[1]], prefix: 2 },
    Field { bit: COMPRESSION, elided: &[1, 0], prefix: 1 },
];
static SERVER_FIELDS: [Field; 3] = [
    Field { bit: SERVER_SESSION_ID, elided: &[0], prefix: 1 },
    Field { bit: SUITES, elided: &SUITE, prefix: 0 },
    Field { bit: COMPRESSION, elided: &[0], prefix: 0 },
];

/// The fields of the hello that this byte announces.
fn fields(byte: u8) -> &'static [Field] {
    if byte & KIND_MASK == CLIENT_HELLO { &CLIENT_FIELDS } else { &SERVER_FIELDS }
}

/// The byte that announces a message of this type, if it is a hello.
fn announced_by(message_type: u8) -> Option<u8> {
    match message_type {
        IS_CLIENT_HELLO => Some(CLIENT_HELLO),
        IS_SERVER_HELLO => Some(SERVER_HELLO),
        _ => None,
    }
}

impl<'a> Hello<'a> {
    /// The hello, announced so, that the message begins with.
    fn parse(announced_by: u8, body: &'a [u8]) -> Option<Self> {
        let (version, rest) = body.split_first_chunk::<2>()?;
        let (random, mut rest) = rest.split_at_checked(RANDOM_LEN)?;
        let mut hello = Self { byte: announced_by, version: &[], random, carried: [&[]; 4], length: 0 };
        if *version != DTLS_1_2 {
            if announced_by == CLIENT_HELLO {
                return None;
            }
            hello.byte |= VERSION_CARRIED;
            hello.version = version;
        }
        for (field, carried) in fields(announced_by).iter().zip(&mut hello.carried) {
            let length = field.length(rest.get(..field.prefix)?);
            let (bytes, behind) = rest.split_at_checked(length)?;
            rest = behind;
            if bytes != field.elided {
                hello.byte |= field.bit;
                *carried = bytes;
            }
        }
        hello.length = body.len() - rest.len();
        Some(hello)
    }

    fn compressed_len(&self) -> usize {
        self.carried.iter().fold(1 + self.version.len() + self.random.len(), |sum, field| sum + field.len())
    }

    fn emit(&self, out: &mut Writer<'_>) {
        out.put(&[self.byte]);
        out.put(self.version);
        out.put(self.random);
        for field in self.carried {
            out.put(field);
        }
    }
}

impl Field {
    /// Its length, if it is carried, by its prefix.
    fn length(&self, prefix: &[u8]) -> usize {
        match *prefix {
            [length] => 1 + usize::from(length),
            [high, low] => 2 + usize::from(u16::from_be_bytes([high, low])),
            _ => self.elided.len(),
        }
    }
}

/// Restores a record; the lengths are still zero. Returns whether it has the header of a message, with more of them.
pub(crate) fn restore(reader: &mut Reader<'_>, out: &mut Writer<'_>) -> Result<bool, Error> {
    let byte = reader.byte();
    reader.consumed()?;
    let with_message = match byte & KIND_MASK {
        RECORD => false,
        RECORD_WITH_HANDSHAKE if byte & FRAGMENT == 0 => true,
        _ => return Err(Error::UnknownNextHeader),
    };
    let mut kind = if with_message { HANDSHAKE } else { reader.byte() };
    let nonce_elided = kind & NONCE_ELIDED != 0;
    kind &= !NONCE_ELIDED;
    let [v0, v1] = if byte & VERSION_CARRIED != 0 { reader.array() } else { DTLS_1_2 };
    let mut nonce = [0; NONCE_LEN];
    reader.fill(&mut nonce[if byte & EPOCH_WHOLE != 0 { 0 } else { 1 }..2]);
    let number_length = match with_message {
        true if byte & HANDSHAKE_NUMBER_WHOLE != 0 => 6,
        true => 2,
        false => NUMBER_LENGTHS[usize::from(byte & 3)],
    };
    reader.fill(&mut nonce[NONCE_LEN - number_length..]);
    out.put(&[kind, v0, v1]);
    out.put(&nonce);
    out.put(&[0; 2]);
    if nonce_elided {
        out.put(&nonce);
    }
    if with_message {
        let [message_type, high, low] = reader.array();
        out.put(&[message_type, 0, 0, 0, high, low, 0, 0, 0, 0, 0, 0]);
        if let Some(announced_by) = announced_by(message_type)
            && reader.peek().is_some_and(|byte| byte & KIND_MASK == announced_by)
        {
            restore_hello(reader, out);
        }
    }
    reader.consumed()?;
    Ok(with_message)
}

fn restore_hello(reader: &mut Reader<'_>, out: &mut Writer<'_>) {
    let byte = reader.byte();
    let version_carried = byte & KIND_MASK == SERVER_HELLO && byte & VERSION_CARRIED != 0;
    out.put(if version_carried { reader.take(2) } else { &DTLS_1_2 });
    out.put(reader.take(RANDOM_LEN));
    for field in fields(byte) {
        if byte & field.bit != 0 {
            let prefix = reader.take(field.prefix);
            out.put(prefix);
            out.put(reader.take(field.length(prefix).saturating_sub(prefix.len())));
        } else {
            out.put(field.elided);
        }
    }
}

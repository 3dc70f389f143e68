//! Address modes ([RFC 6282 section 3.1.1](https://www.rfc-editor.org/rfc/rfc6282#section-3.1.1)).

use sixlock_base::LINK_LOCAL_PREFIX;

use crate::contexts::AddressContexts;
use crate::cursor::{Reader, Writer};
use crate::{Error, LinkAddresses};

/// Length of a context's prefix in bits, as multicast addresses made from it carry it.
const CONTEXT_BITS: u8 = 64;

/// What stands before the 16 bits of a short address in an interface identifier.
const SHORT_ID: [u8; 6] = [0, 0, 0, 0xff, 0xfe, 0];

/// Interface identifiers of the header around an IPv6 header: of the frame, or of the IPv6
/// header it is inside of ([RFC 6282 section 3.2.2](https://www.rfc-editor.org/rfc/rfc6282#section-3.2.2)).
#[derive(Clone, Copy)]
pub(crate) struct Encapsulating {
    pub(crate) source: [u8; 8],
    pub(crate) destination: [u8; 8],
}

impl From<LinkAddresses> for Encapsulating {
    fn from(link: LinkAddresses) -> Self {
        Self { source: link.source.interface_id(), destination: link.destination.interface_id() }
    }
}

/// An address mode: the bits in the IPHC header that say what is left out.
#[derive(Clone, Copy)]
pub(crate) struct Mode {
    /// SAC or DAC: the prefix is that of a context.
    pub(crate) context: bool,
    /// SAM or DAM.
    pub(crate) mode: u8,
}

/// The context by which a destination is compressed, if there is one.
pub(crate) fn context_of_destination(address: &[u8; 16], contexts: impl AddressContexts) -> Option<u8> {
    match address {
        [0xff, ..] => context_of_multicast(address, contexts),
        _ => contexts.context_of(&address[..8]),
    }
}

/// The same for a multicast address: one made from a unicast prefix ([RFC 3306](https://www.rfc-editor.org/rfc/rfc3306)) has one.
fn context_of_multicast(address: &[u8; 16], contexts: impl AddressContexts) -> Option<u8> {
    if address[3] == CONTEXT_BITS { contexts.context_of(&address[4..12]) } else { None }
}

/// Writes what cannot be left out of a source address.
pub(crate) fn emit_source(
    address: &[u8; 16],
    id: &[u8; 8],
    contexts: impl AddressContexts,
    out: &mut Writer<'_>,
) -> Mode {
    if *address == [0; 16] {
        return Mode { context: true, mode: 0 };
    }
    emit_unicast(address, id, contexts, out)
}

/// Writes what cannot be left out of a unicast address, whatever it is.
pub(crate) fn emit_unicast(
    address: &[u8; 16],
    id: &[u8; 8],
    contexts: impl AddressContexts,
    out: &mut Writer<'_>,
) -> Mode {
    let context = contexts.context_of(&address[..8]).is_some();
    let mode = if !context && address[..8] != LINK_LOCAL_PREFIX {
        0
    } else if address[8..] == *id {
        3
    } else if address[8..14] == SHORT_ID {
        2
    } else {
        1
    };
    out.put(&address[16 - inline_bytes(mode)..]);
    Mode { context, mode }
}

/// Writes what cannot be left out of a multicast address.
pub(crate) fn emit_multicast(
    address: &[u8; 16],
    contexts: impl AddressContexts,
    out: &mut Writer<'_>,
) -> Mode {
    let zeros = |from: usize, to: usize| address[from..to].iter().all(|&byte| byte == 0);
    let stateless = |mode| Mode { context: false, mode };
    if address[1] == 2 && zeros(2, 15) {
        out.put(&address[15..]);
        stateless(3)
    } else if zeros(2, 13) {
        out.put(&address[1..2]);
        out.put(&address[13..]);
        stateless(2)
    } else if zeros(2, 11) {
        out.put(&address[1..2]);
        out.put(&address[11..]);
        stateless(1)
    } else if context_of_multicast(address, contexts).is_some() {
        out.put(&address[1..3]);
        out.put(&address[12..]);
        Mode { context: true, mode: 0 }
    } else {
        out.put(address);
        stateless(0)
    }
}

/// Writes the source address of a mode to `address`, which is all zero; `context_id` is the context that the mode names.
pub(crate) fn parse_source(
    mode: Mode,
    contexts: impl AddressContexts,
    context_id: u8,
    id: &[u8; 8],
    reader: &mut Reader<'_>,
    address: &mut [u8; 16],
) -> Result<(), Error> {
    match mode {
        Mode { context: true, mode: 0 } => Ok(()),
        mode => parse_unicast(mode, contexts, context_id, id, reader, address),
    }
}

/// Writes the unicast address of a mode to `address`, which is all zero.
pub(crate) fn parse_unicast(
    mode: Mode,
    contexts: impl AddressContexts,
    context_id: u8,
    id: &[u8; 8],
    reader: &mut Reader<'_>,
    address: &mut [u8; 16],
) -> Result<(), Error> {
    match mode {
        Mode { context: false, mode: 0 } => {
            reader.fill(address);
            return Ok(());
        }
        Mode { context: true, mode: 0 } => return Err(Error::ReservedMode),
        Mode { context: true, .. } => {
            let prefix = contexts.prefix_of(context_id).ok_or(Error::UnknownContext)?;
            address[..8].copy_from_slice(&prefix);
        }
        Mode { context: false, .. } => address[..8].copy_from_slice(&LINK_LOCAL_PREFIX),
    }
    match mode.mode {
        1 => reader.fill(&mut address[8..]),
        2 => {
            address[8..14].copy_from_slice(&SHORT_ID);
            reader.fill(&mut address[14..]);
        }
        _ => address[8..].copy_from_slice(id),
    }
    Ok(())
}

/// Writes the multicast address of a mode to `address`, which is all zero.
pub(crate) fn parse_multicast(
    mode: Mode,
    contexts: impl AddressContexts,
    context_id: u8,
    reader: &mut Reader<'_>,
    address: &mut [u8; 16],
) -> Result<(), Error> {
    address[0] = 0xff;
    match mode {
        Mode { context: true, mode: 0 } => {
            let prefix = contexts.prefix_of(context_id).ok_or(Error::UnknownContext)?;
            reader.fill(&mut address[1..3]);
            address[3] = CONTEXT_BITS;
            address[4..12].copy_from_slice(&prefix);
            reader.fill(&mut address[12..]);
        }
        Mode { context: true, .. } => return Err(Error::ReservedMode),
        Mode { mode: 0, .. } => reader.fill(address),
        Mode { mode: 1, .. } => {
            address[1] = reader.byte();
            reader.fill(&mut address[11..]);
        }
        Mode { mode: 2, .. } => {
            address[1] = reader.byte();
            reader.fill(&mut address[13..]);
        }
        Mode { .. } => {
            address[1] = 2;
            address[15] = reader.byte();
        }
    }
    Ok(())
}

/// How many of a unicast address' last bytes a mode carries.
fn inline_bytes(mode: u8) -> usize {
    match mode {
        0 => 16,
        1 => 8,
        2 => 2,
        _ => 0,
    }
}

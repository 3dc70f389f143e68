//! AH or ESP directly behind an IPv6 header, in transport mode, with the cryptography that it takes. There is no policy, no
//! replay window, no counter that outlasts a reboot, and no other header: nobody is to use it.

use sixlock_base::Entropy;
use sixlock_ipsec::{Mode, PacketBuffer, Protocol, Sending, SequenceNumber, Transform};
use sixlock_ipv6::extension::Upper;
use sixlock_ipv6::{Header, ah, esp};

use crate::{DATAGRAM, Random, datagram, wait};

/// Where an IPv6 header has its next header field.
const NAMED_AT: usize = Header::NEXT_HEADER_AT;

/// Opens the packets that come in under `inbound`, and sends them back under `outbound`.
pub fn echo<B: Copy, T: Transform<B>>(mut crypto: B, inbound: &T, outbound: &T) -> ! {
    let packet = datagram();
    let (mut length, mut number) = (0, 0);
    loop {
        let task = wait(length, None);
        length = match open(&mut crypto, inbound, packet, task.length) {
            Some(length) => {
                number += 1;
                protect(&mut crypto, outbound, &mut Random::default(), packet, length, number).unwrap_or(0)
            }
            None => 0,
        };
    }
}

/// The packet's length without AH or ESP.
fn open<B, T: Transform<B>>(
    crypto: &mut B,
    transform: &T,
    packet: &mut [u8; DATAGRAM],
    length: usize,
) -> Option<usize> {
    let packet = packet.get_mut(..length)?;
    let (protocol, behind) = (*packet.get(NAMED_AT)?, packet.get(Header::LEN..)?);
    let number = match Protocol::named(protocol).filter(|named| *named == transform.protocol())? {
        Protocol::Ah => ah::Header::parse(behind).ok()?.0.sequence,
        Protocol::Esp => esp::Header::parse(behind).ok()?.0.sequence,
    };
    let found = Upper { protocol, at: Header::LEN, named_at: NAMED_AT };
    let opened = transform.open(crypto, packet, &found, SequenceNumber::new(0, number), true).ok()?;
    let payload = opened.payload.len();
    packet.copy_within(opened.payload, Header::LEN);
    *packet.get_mut(NAMED_AT)? = opened.next_header;
    let told = packet.get_mut(Header::PAYLOAD_LENGTH_AT..)?.first_chunk_mut()?;
    *told = (payload as u16).to_be_bytes();
    Some(Header::LEN + payload)
}

/// The packet's length with AH or ESP.
fn protect<B, T: Transform<B>>(
    crypto: &mut B,
    transform: &T,
    entropy: &mut impl Entropy,
    packet: &mut [u8; DATAGRAM],
    length: usize,
    number: u32,
) -> Option<usize> {
    let number = SequenceNumber::new(0, number);
    let sending = Sending { spi: 1, number, extended: true, mode: Mode::Transport };
    let mut room = PacketBuffer::new(packet, 0, length)?;
    transform.protect(crypto, entropy, &sending, &mut room).ok()?;
    Some(room.packet().len())
}

//! Lets an image with AH or ESP of `firmware/alone` open packets and protect them anew, or the one with neither send them back,
//! and prints how many bytes of stack that took: `transform none|ah|esp IMAGE`

mod alone;

use std::path::Path;
use std::process::ExitCode;

use sixlock_base::{AhSuite, EspSuite, NetworkSuite};
use sixlock_crypto::Soft;
use sixlock_interface::ipsec::{AnyTransform, Mode, PacketBuffer, Sending, SequenceNumber, Transform};
use sixlock_ipv6::Header;
use sixlock_ipv6::extension::Upper;
use sixlock_ipv6::icmpv6::{Echo, Message};
use sixlock_testing::{Random, packets};

use alone::{DATAGRAM_LEN, Device, Failure};

/// The keys of `firmware/alone/src/bin/`, of AES-CTR with its nonce and of AES-XCBC-MAC: to the device, and from it.
const KEYS: [(&[u8; 20], &[u8; 16]); 2] =
    [(b"from host to dev ctr", b"from host to dev"), (b"from dev to host ctr", b"from dev to host")];

/// How much stack it takes to answer packets of several lengths; what has a bit that is wrong, it does not answer.
fn measure(suite: NetworkSuite, image: &Path) -> Result<u32, Failure> {
    let key = |(cipher, code): (&[u8; 20], &[u8; 16])| match suite {
        NetworkSuite::Ah(_) => code.to_vec(),
        _ => [&cipher[..], code].concat(),
    };
    let transform = |keys| AnyTransform::new(&mut Soft, suite, &key(keys)).map_err(|_| "a key is wrong");
    let (to, from) = (transform(KEYS[0])?, transform(KEYS[1])?);
    let (mut device, mut entropy) = (Device::start(image)?, Random::new(2));
    let ends = ["fd00:c::1".parse()?, "fd00::212:7400:0:1".parse()?];
    for (number, len) in (1..).zip([0, 1, 15, 60, 140]) {
        let echo = Echo { identifier: 1, sequence: number as u16 };
        let plain = packets::icmpv6(ends[0], ends[1], 64, Message::EchoRequest(echo), &vec![0x42; len]);
        let mut buffer = plain.clone();
        buffer.resize(DATAGRAM_LEN, 0);
        let sending =
            Sending { spi: 1, number: SequenceNumber::new(0, number), extended: true, mode: Mode::Transport };
        let mut room = PacketBuffer::new(&mut buffer, 0, plain.len()).ok_or("there is no room")?;
        to.protect(&mut Soft, &mut entropy, &sending, &mut room).map_err(|error| format!("{error:?}"))?;
        let packet = room.packet().to_vec();
        let mut forged = packet.clone();
        *forged.last_mut().ok_or("nothing was protected")? ^= 1;
        if !device.task(&forged, &mut entropy)?.is_empty() {
            return Err("it answers what was forged".into());
        }
        let mut answer = device.task(&packet, &mut entropy)?;
        let protocol = *answer.get(Header::NEXT_HEADER_AT).ok_or("it does not answer")?;
        let found = Upper { protocol, at: Header::LEN, named_at: Header::NEXT_HEADER_AT };
        let opened = from
            .open(&mut Soft, &mut answer, &found, SequenceNumber::new(0, number), true)
            .map_err(|error| format!("its answer of {len} bytes does not open: {error:?}"))?;
        if answer.get(opened.payload) != plain.get(Header::LEN..) {
            return Err(format!("another packet of {len} bytes came back").into());
        }
    }
    device.stack_peak()
}

/// How much it takes to send back what has come in.
fn measure_none(image: &Path) -> Result<u32, Failure> {
    let mut device = Device::start(image)?;
    if device.task(b"a packet", &mut Random::new(2))? != b"a packet" {
        return Err("another packet came back".into());
    }
    device.stack_peak()
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some("none") => alone::print_stacks(arguments, measure_none),
        Some("ah") => alone::print_stacks(arguments, |image| measure(NetworkSuite::Ah(AhSuite::Xcbc), image)),
        Some("esp") => {
            alone::print_stacks(arguments, |image| measure(NetworkSuite::Esp(EspSuite::CtrXcbc), image))
        }
        _ => {
            eprintln!("usage: transform none|ah|esp IMAGE");
            ExitCode::from(2)
        }
    }
}

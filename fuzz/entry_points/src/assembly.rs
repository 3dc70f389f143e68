//! IPv6 fragments at a host.

use sixlock_ipv6::{Header, extension, next_header, tunnel};
use sixlock_net::{Fragments, Reassembler};
use sixlock_testing::Rig;

use crate::split;

/// Fragments of packets: the first byte of each says whether IPsec has opened it, and how much time passes. What comes in a header
/// of a router is taken out of it, and may be a fragment again.
pub(crate) fn assembly(input: &[u8]) -> usize {
    let mut rig = Rig::seeded(12);
    let mut host = Reassembler::<1792, 2>::new();
    let mut taken = 0;
    for fragment in split(input) {
        let Some((&choice, fragment)) = fragment.split_first() else { continue };
        let opened = choice & 1 == 1;
        rig.pass(u32::from(choice >> 1) * 100);
        host.handle_timeout(&mut rig.cx());
        let mut came = host.handle(&mut rig.cx(), fragment, opened).unwrap_or(None);
        while let Some(whole) = came.take() {
            taken += 1;
            let (buffer, len) = host.buffer_mut(&whole);
            let (_, payload) = Header::parse(&buffer[..len]).expect("what is put together is a packet");
            assert_eq!(Header::LEN + payload.len(), len);
            let upper = extension::process(&buffer[..len]).ok();
            let upper = upper.filter(|upper| upper.protocol == next_header::IPV6);
            match upper.map(|upper| tunnel::decapsulate(buffer, upper.at..len)) {
                Some(Ok(len)) => {
                    host.truncate(&whole, len);
                    came = host.handle_again(&mut rig.cx(), whole, opened);
                }
                _ => host.release(whole),
            }
        }
    }
    taken
}

//! Where packets wait, and how those leave that are longer than the link carries.

use sixlock_base::{Cx, Entropy};
use sixlock_ipv6::{extension, next_header};
use sixlock_lowpan::{LinkAddresses, Lowpan, Pool, Received, SendError};
use sixlock_net::{Fragments, fragment};

use crate::Layers;

/// Where a packet waits.
#[derive(Debug)]
pub(crate) enum Buffer<W> {
    /// In the one that it came in, as one packet.
    Pool(Received),
    /// In that in which it was put together.
    Whole(W),
}

/// A packet that the layers `L` have put together from fragments.
pub type WholeOf<C, L> = <<L as Layers<C>>::Reassembly as Fragments>::Whole;

/// Where a packet waits: the buffer, and the packet's length.
pub(crate) fn bytes_of<'a, F: Fragments, P: Pool>(
    lowpan: &'a mut Lowpan<P>,
    fragments: &'a mut F,
    buffer: &Buffer<F::Whole>,
) -> (&'a mut [u8], usize) {
    match buffer {
        Buffer::Pool(received) => lowpan.buffer_mut(received),
        Buffer::Whole(whole) => fragments.buffer_mut(whole),
    }
}

/// Whether the packet is a fragment of one.
pub(crate) fn is_fragment(packet: &[u8]) -> bool {
    extension::skip(packet).is_some_and(|upper| upper.protocol == next_header::FRAGMENT)
}

/// Sends a packet over the link, in fragments if it is longer than the link carries and this host puts some together as well.
pub(crate) fn send_or_fragment<C, E: Entropy, N, F: Fragments, P: Pool>(
    lowpan: &mut Lowpan<P>,
    cx: &mut Cx<'_, C, E, N>,
    link: LinkAddresses,
    packet: &[u8],
) -> Result<(), SendError> {
    if !F::ASSEMBLES || packet.len() <= Lowpan::<P>::MTU {
        return lowpan.send(cx, link, packet);
    }
    let identification = cx.entropy.next_u32();
    let mut sent = Ok(());
    fragment(packet, Lowpan::<P>::MTU, identification, |piece| {
        sent = lowpan.send(cx, link, piece);
        sent.is_ok()
    });
    sent
}

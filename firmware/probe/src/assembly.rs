//! Packets taken apart and put together.

use sixlock_base::Cx;
use sixlock_net::{Fragments, Reassembler, fragment};

use crate::io;

pub type Assembly = Reassembler<1600, 1>;

const PACKET: usize = 200;

#[inline(never)]
pub fn probe<C, E, N>(cx: &mut Cx<'_, C, E, N>, assembly: &mut Assembly) {
    let buffer = io::bytes::<PACKET>();
    let len = usize::from(io::byte());
    let packet = buffer.get(..len).unwrap_or_default();
    match io::byte() {
        0 => {
            let all = fragment(packet, usize::from(io::byte()), io::number(), |piece| {
                io::write(piece);
                io::byte() != 0
            });
            io::write(&[all.into()]);
        }
        1 => {
            let Ok(Some(whole)) = assembly.handle(cx, packet, io::byte() != 0) else { return };
            io::write(assembly.buffer_mut(&whole).0);
            let next = match assembly.handle_again(cx, whole, io::byte() != 0) {
                Some(whole) => Some(whole),
                None => assembly.handle_timeout(cx),
            };
            if let Some(whole) = next {
                assembly.release(whole);
            }
        }
        _ => io::write(&[assembly.poll_timeout().is_some().into()]),
    }
    io::write(&buffer);
}

//! A server that does nothing but answer: what the system lets any server do that takes and gives datagrams as the cloud does.

use std::io::{self, IoSlice, IoSliceMut};
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::AsRawFd;

use nix::sys::socket::{MsgFlags, MultiHeaders, SockaddrStorage, recvmmsg, sendmmsg};

/// Datagrams of one call of the system, as many as the cloud has.
const BATCH: usize = 32;
/// Room for a datagram.
const ROOM: usize = 2048;

/// Answers each request with 2.05 and as many bytes as it had, for as long as the process runs; says first where.
pub fn echo() -> io::Result<()> {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    println!("ready coap={}", socket.local_addr()?);
    let mut bytes = vec![[0; ROOM]; BATCH];
    loop {
        let mut headers = MultiHeaders::<SockaddrStorage>::preallocate(BATCH, None);
        let mut rooms: Vec<_> = bytes.iter_mut().map(|room| [IoSliceMut::new(room)]).collect();
        let received =
            recvmmsg(socket.as_raw_fd(), &mut headers, rooms.iter_mut(), MsgFlags::MSG_WAITFORONE, None)?;
        let (lengths, from): (Vec<usize>, Vec<_>) = received.map(|one| (one.bytes, one.address)).unzip();
        let answers: Vec<_> = bytes
            .iter_mut()
            .zip(lengths)
            .map(|(room, length)| {
                answer(&mut room[..length]);
                [IoSlice::new(&room[..length])]
            })
            .collect();
        let mut headers = MultiHeaders::preallocate(answers.len(), None);
        let mut sent = 0;
        while sent < answers.len() {
            let flags = MsgFlags::empty();
            sent += sendmmsg(socket.as_raw_fd(), &mut headers, &answers[sent..], &from[sent..], [], flags)?
                .count();
        }
    }
}

/// Makes an acknowledgement with an answer of a request, and a payload of what follows its token.
fn answer(message: &mut [u8]) {
    let [first, code, ..] = message else { return };
    let token = usize::from(*first & 0x0f);
    (*first, *code) = (0x60 | *first & 0x0f, 0x45);
    if let Some(marker) = message.get_mut(4 + token) {
        *marker = 0xff;
    }
}

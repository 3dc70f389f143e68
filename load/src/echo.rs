//! A server that does nothing but answer: what the system lets any server do that takes and gives datagrams as the cloud does.

use std::io::{self, IoSlice, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::thread;

use nix::sys::socket::{
    AddressFamily, MsgFlags, MultiHeaders, SockFlag, SockType, SockaddrIn, SockaddrStorage, bind, recvmmsg,
    sendmmsg, setsockopt, socket, sockopt::ReusePort,
};

/// Datagrams of one call of the system, as many as the cloud has.
const BATCH: usize = 32;
/// Room for a datagram.
const ROOM: usize = 2048;

/// Answers each request with 2.05 and as many bytes as it had, by so many threads, each with its own socket at the same port, for as long
/// as the process runs; says first where.
pub fn echo(threads: usize) -> io::Result<()> {
    let mut address = SockaddrIn::new(127, 0, 0, 1, 0);
    let mut sockets = Vec::new();
    for _ in 0..threads {
        let next = socket(AddressFamily::Inet, SockType::Datagram, SockFlag::empty(), None)?;
        setsockopt(&next, ReusePort, &true)?;
        bind(next.as_raw_fd(), &address)?;
        let next = UdpSocket::from(next);
        if let SocketAddr::V4(bound) = next.local_addr()? {
            address = bound.into();
        }
        sockets.push(next);
    }
    println!("ready coap={address}");
    thread::scope(|scope| {
        let threads: Vec<_> = sockets.iter().map(|socket| scope.spawn(|| serve(socket))).collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into())))
    })
}

fn serve(socket: &UdpSocket) -> io::Result<()> {
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

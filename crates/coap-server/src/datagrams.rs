//! Datagrams that are received and sent through sockets: many in one call of the system.

use std::io::{self, IoSlice, IoSliceMut};
use std::net::{SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::AsRawFd;

use nix::sys::socket::{MsgFlags, MultiHeaders, SockaddrStorage, recvmmsg, sendmmsg};
use sixlock_dtls::is_client_hello;
use sixlock_endpoint::Transport;
use tokio::io::Interest;
use tokio::net::UdpSocket;

/// Datagrams of one call.
pub(crate) const BATCH: usize = 32;
/// The longest datagram there is.
const LONGEST: usize = 65_535;

/// Datagrams that came in.
pub(crate) struct Incoming {
    bytes: Vec<u8>,
    /// How long each is, and where it came from.
    datagrams: Vec<(usize, SocketAddr)>,
}

impl Incoming {
    /// Room for [`BATCH`] datagrams.
    pub(crate) fn new() -> Self {
        Self { bytes: vec![0; BATCH * LONGEST], datagrams: Vec::with_capacity(BATCH) }
    }

    /// Takes what `socket` has, and puts it in the place of what was here.
    pub(crate) fn receive(&mut self, socket: &UdpSocket) -> io::Result<()> {
        let Self { bytes, datagrams } = self;
        datagrams.clear();
        let received = socket.try_io(Interest::READABLE, || {
            let mut headers = MultiHeaders::<SockaddrStorage>::preallocate(BATCH, None);
            let mut rooms: Vec<[IoSliceMut<'_>; 1]> =
                bytes.chunks_exact_mut(LONGEST).map(|room| [IoSliceMut::new(room)]).collect();
            let flags = MsgFlags::MSG_DONTWAIT;
            let received = recvmmsg(socket.as_raw_fd(), &mut headers, rooms.iter_mut(), flags, None)?;
            datagrams.extend(received.map(|one| (one.bytes, address(one.address))));
            // That there was no more saves the call that would find none.
            if datagrams.len() < BATCH { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(()) }
        });
        if datagrams.is_empty() { received } else { Ok(()) }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.datagrams.len()
    }

    /// Returns whether the datagram number `n`, received through `scheme`, begins with a ClientHello.
    pub(crate) fn is_hello(&mut self, transport: Transport, n: usize) -> bool {
        transport == Transport::Dtls && self.get(n).is_some_and(|(datagram, _)| is_client_hello(datagram))
    }

    /// The datagram number `n`, and where it came from.
    pub(crate) fn get(&mut self, n: usize) -> Option<(&mut [u8], SocketAddr)> {
        let &(length, from) = self.datagrams.get(n)?;
        Some((self.bytes.get_mut(n * LONGEST..)?.get_mut(..length)?, from))
    }
}

fn address(from: Option<SockaddrStorage>) -> SocketAddr {
    let v4 = || from?.as_sockaddr_in().map(|from| SocketAddrV4::from(*from).into());
    let v6 = || from?.as_sockaddr_in6().map(|from| SocketAddrV6::from(*from).into());
    // The sockets are of no other family.
    v4().or_else(v6).unwrap_or_else(|| SocketAddr::from(([0; 4], 0)))
}

/// Datagrams that wait to be sent.
#[derive(Default)]
pub(crate) struct Outgoing {
    /// As many as there ever were at a time: they are not cleared.
    bytes: Vec<u8>,
    datagrams: Vec<Queued>,
}

struct Queued {
    transport: Transport,
    to: SocketAddr,
    /// Where it begins.
    start: usize,
    length: usize,
}

impl Outgoing {
    /// Whether there are enough for a call.
    pub(crate) fn is_full(&self) -> bool {
        self.datagrams.len() >= BATCH
    }

    /// Lends a room of `room` bytes for the next datagram; whether `write` has put one there.
    pub(crate) fn push(
        &mut self,
        room: usize,
        write: impl FnOnce(&mut [u8]) -> Option<(Transport, SocketAddr, usize)>,
    ) -> bool {
        let start = self.datagrams.last().map_or(0, |last| last.start + last.length);
        let end = start + room;
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        let written = self.bytes.get_mut(start..end).and_then(write);
        self.datagrams.extend(written.map(|(transport, to, length)| Queued { transport, to, start, length }));
        written.is_some()
    }

    /// Sends the datagrams for this socket. One that cannot be sent is lost: its receiver asks again.
    pub(crate) async fn send(&self, transport: Transport, socket: &UdpSocket) {
        let datagrams: Vec<&Queued> =
            self.datagrams.iter().filter(|datagram| datagram.transport == transport).collect();
        let mut rest = &datagrams[..];
        while !rest.is_empty() {
            match socket.try_io(Interest::WRITABLE, || self.give(socket, rest)) {
                Ok(sent) => rest = rest.get(sent.max(1)..).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if socket.writable().await.is_err() {
                        return;
                    }
                }
                Err(_) => rest = rest.get(1..).unwrap_or_default(),
            }
        }
    }

    /// Hands datagrams to the system; how many it took.
    fn give(&self, socket: &UdpSocket, datagrams: &[&Queued]) -> io::Result<usize> {
        let bytes = |datagram: &Queued| {
            let bytes = self.bytes.get(datagram.start..).and_then(|bytes| bytes.get(..datagram.length));
            [IoSlice::new(bytes.unwrap_or_default())]
        };
        let slices: Vec<[IoSlice<'_>; 1]> = datagrams.iter().map(|datagram| bytes(datagram)).collect();
        let addresses: Vec<Option<SockaddrStorage>> =
            datagrams.iter().map(|datagram| Some(datagram.to.into())).collect();
        let mut headers = MultiHeaders::preallocate(datagrams.len(), None);
        let flags = MsgFlags::MSG_DONTWAIT;
        Ok(sendmmsg(socket.as_raw_fd(), &mut headers, &slices, &addresses, [], flags)?.count())
    }

    /// Forgets them.
    pub(crate) fn clear(&mut self) {
        self.datagrams.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn socket(address: &str) -> (UdpSocket, SocketAddr) {
        let socket = UdpSocket::bind(address).await.unwrap();
        let address = socket.local_addr().unwrap();
        (socket, address)
    }

    #[tokio::test]
    async fn datagrams_arrive_in_order_and_one_that_cannot_be_sent_holds_up_none() {
        for loopback in ["127.0.0.1:0", "[::1]:0"] {
            let ((sender, from), (receiver, to)) = (socket(loopback).await, socket(loopback).await);
            let mut outgoing = Outgoing::default();
            for n in 0..3 * BATCH as u8 {
                let too_long = n == 5;
                let length = if too_long { 70_000 } else { usize::from(n) };
                assert!(outgoing.push(length + 10, |room| {
                    room[..length].fill(n);
                    Some((Transport::Dtls, to, length))
                }));
            }
            assert!(outgoing.push(10, |_| Some((Transport::Udp, to, 10))), "this is for another socket");
            assert!(!outgoing.push(10, |_| None));
            assert!(outgoing.is_full());
            outgoing.send(Transport::Dtls, &sender).await;
            let (mut incoming, mut got) = (Incoming::new(), Vec::new());
            while got.len() < 3 * BATCH - 1 {
                receiver.readable().await.unwrap();
                if incoming.receive(&receiver).is_err() {
                    continue;
                }
                assert!((1..=BATCH).contains(&incoming.len()));
                for n in 0..incoming.len() {
                    let (bytes, who) = incoming.get(n).unwrap();
                    assert_eq!(who, from);
                    got.push(bytes.to_vec());
                }
                assert_eq!(incoming.get(incoming.len()), None);
            }
            let expected = (0..3 * BATCH as u8).filter(|n| *n != 5).map(|n| vec![n; usize::from(n)]);
            assert!(got.into_iter().eq(expected));
            outgoing.clear();
            assert!(!outgoing.is_full());
        }
    }
}

//! Sockets of shards: one of each, at the same port.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;

use nix::sys::socket::{
    AddressFamily, SockFlag, SockType, SockaddrStorage, bind, setsockopt, socket,
    sockopt::{RcvBuf, ReusePort},
};

/// Bytes that may wait at a socket, if the system allows that many: what comes at once when all devices come back after a power cut.
const WAITING: usize = 4 << 20;

/// The sockets of a shard.
pub struct Sockets {
    /// For CoAP over DTLS.
    pub secure: UdpSocket,
    /// For CoAP without DTLS, if that is switched on.
    pub plain: Option<UdpSocket>,
}

/// Binds `count` sockets to `address`, and tells which that is. The system spreads what comes by its sender's address and port:
/// what comes from the same ones comes to the same socket.
pub fn bind_all(address: SocketAddr, count: u16) -> io::Result<(Vec<UdpSocket>, SocketAddr)> {
    // The first asks for the port without sharing it: it gets none that somebody has.
    let first = UdpSocket::bind(address)?;
    first.set_nonblocking(true)?;
    let address = first.local_addr()?;
    let mut sockets = vec![first];
    if count > 1 {
        setsockopt(&sockets[0], ReusePort, &true)?;
    }
    for _ in 1..count {
        let family = if address.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 };
        let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
        let next = socket(family, SockType::Datagram, flags, None)?;
        setsockopt(&next, ReusePort, &true)?;
        bind(next.as_raw_fd(), &SockaddrStorage::from(address))?;
        sockets.push(next.into());
    }
    for socket in &sockets {
        setsockopt(socket, RcvBuf, &WAITING)?;
    }
    Ok((sockets, address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sockets_share_a_port_that_nobody_else_gets_and_each_hears_some() {
        for loopback in ["127.0.0.1:0", "[::1]:0"] {
            let (sockets, address) = bind_all(loopback.parse().unwrap(), 2).unwrap();
            assert_eq!(bind_all(address, 2).unwrap_err().kind(), io::ErrorKind::AddrInUse);
            let mut heard = [false; 2];
            while heard != [true; 2] {
                let sender = UdpSocket::bind(loopback).unwrap();
                sender.send_to(b"hello", address).unwrap();
                for (socket, heard) in sockets.iter().zip(&mut heard) {
                    *heard |= socket.recv(&mut [0; 8]).is_ok();
                }
            }
        }
    }
}

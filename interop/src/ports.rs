use std::io;
use std::net::{Ipv4Addr, UdpSocket};

/// The first of two UDP ports in a row that are free: libcoap's servers take one for coap and the next for coaps.
///
/// # Errors
/// When loopback seems to have none.
pub fn two_free_ports() -> io::Result<u16> {
    for _ in 0..100 {
        let first = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        if let Some(second) = first.checked_add(1)
            && UdpSocket::bind((Ipv4Addr::LOCALHOST, second)).is_ok()
        {
            return Ok(first);
        }
    }
    Err(io::ErrorKind::AddrInUse.into())
}

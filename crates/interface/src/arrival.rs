//! What comes in for who drives the interface.

use core::convert::Infallible;
use core::net::Ipv6Addr;
use core::ops::Range;

use crate::buffer::Buffer;

/// What has come in for who drives the interface. `W` is a packet that was put together from fragments.
#[derive(Debug)]
pub enum Arrival<W = Infallible> {
    /// A datagram for this host.
    Datagram(Delivered<W>),
    /// A packet for a host outside the mesh, at a border router.
    External(External<W>),
}

/// A packet for a host outside the mesh that waits in its buffer, to be looked at with [`Interface::packet`](crate::Interface::packet) and ended
/// with [`Interface::release_packet`](crate::Interface::release_packet).
#[derive(Debug)]
#[must_use = "its buffer stays taken until it is released"]
pub struct External<W = Infallible> {
    pub(crate) buffer: Buffer<W>,
    pub(crate) len: usize,
    /// Whether policy has let it in already.
    pub(crate) is_admitted: bool,
}

/// A UDP datagram that has come in and waits in its buffer, to be looked at with
/// [`Interface::datagram`](crate::Interface::datagram) and ended with [`Interface::release`](crate::Interface::release) or [`Interface::echo`](crate::Interface::echo).
#[derive(Debug)]
#[must_use = "its buffer stays taken until it is released"]
pub struct Delivered<W = Infallible> {
    pub(crate) buffer: Buffer<W>,
    pub(crate) source: Ipv6Addr,
    pub(crate) source_port: u16,
    pub(crate) destination: Ipv6Addr,
    pub(crate) destination_port: u16,
    pub(crate) payload: Range<usize>,
}

/// A UDP datagram, lent.
#[derive(Debug)]
pub struct Datagram<'a> {
    /// Who sent it.
    pub source: Ipv6Addr,
    /// The sender's port.
    pub source_port: u16,
    /// Whom it is for: this host, or several.
    pub destination: Ipv6Addr,
    /// The port it is for.
    pub destination_port: u16,
    /// What it carries.
    pub payload: &'a mut [u8],
}

use std::fmt;
use std::io::{self, ErrorKind};
use std::net::Ipv6Addr;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, TrySendError};

use tokio::task::JoinSet;
use tun_rs::{AsyncDevice, DeviceBuilder};

use crate::Inbound;

/// The longest packet that the mesh carries; the system fragments or refuses longer ones by itself.
const MTU: u16 = 1280;
/// What a tunnel to a security gateway puts around a packet, at most.
const TUNNEL: u16 = 120;

/// This machine's address on the interface. It is outside the mesh's `fd00::/64`.
pub const HOST: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 1, 0, 0, 0, 1);
/// Where a security gateway's end of tunnels with this machine is.
pub const GATEWAY: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 1, 0, 0, 0, 2);
/// The prefix in which that address and the whole mesh are on the interface, so that the route to the mesh comes with
/// the address.
const PREFIX: u8 = 63;

/// An interface of this machine, a TUN device, through which its programs and the mesh exchange IPv6 packets. It goes
/// when this value is dropped.
pub struct Tun(Arc<AsyncDevice>);

/// Why there is no interface.
#[derive(Debug)]
pub enum TunError {
    /// The process may not make one.
    NotPermitted(io::Error),
    /// The system has no TUN devices.
    NoDevice(io::Error),
    /// There is an interface of this name.
    NameTaken(String),
    /// The system does not make it.
    Open(String, io::Error),
    /// The system gives it no IPv6 address.
    Configure(String, io::Error),
}

impl fmt::Display for TunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotPermitted(_) => f.write_str(
                "a network interface needs the capability CAP_NET_ADMIN: start with sudo, or once: \
                 sudo setcap cap_net_admin+ep \"$(command -v sixlock)\"",
            ),
            Self::NoDevice(_) => f.write_str("there is no /dev/net/tun: sudo modprobe tun makes it"),
            Self::NameTaken(name) => write!(f, "there is an interface {name} already: choose another name"),
            Self::Open(name, _) => write!(f, "the interface {name} cannot be made"),
            Self::Configure(name, _) => write!(
                f,
                "the interface {name} gets no IPv6 address: is IPv6 off (sysctl net.ipv6.conf.all.disable_ipv6)?"
            ),
        }
    }
}

impl std::error::Error for TunError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::NameTaken(_) => None,
            Self::NotPermitted(error)
            | Self::NoDevice(error)
            | Self::Open(_, error)
            | Self::Configure(_, error) => Some(error),
        }
    }
}

impl Tun {
    /// Makes the interface `name`, with the address [`HOST`] and the route to the mesh, and with room for `tunnels` around the
    /// packets that go there.
    ///
    /// # Errors
    /// When the system refuses it.
    pub fn open(name: &str, tunnels: bool) -> Result<Self, TunError> {
        let mtu = if tunnels { MTU + TUNNEL } else { MTU };
        let device = DeviceBuilder::new().name(name).mtu(mtu).build_async().map_err(|error| {
            match (error.kind(), error.raw_os_error()) {
                (ErrorKind::PermissionDenied, _) => TunError::NotPermitted(error),
                (ErrorKind::NotFound, _) => TunError::NoDevice(error),
                (ErrorKind::ResourceBusy, _) => TunError::NameTaken(name.to_owned()),
                _ => TunError::Open(name.to_owned(), error),
            }
        })?;
        device.add_address_v6(HOST, PREFIX).map_err(|error| TunError::Configure(name.to_owned(), error))?;
        Ok(Self(Arc::new(device)))
    }

    /// Hands in the packets that come for the mesh, as a task of `readers`.
    pub(crate) fn read(&self, inbound: SyncSender<Inbound>, readers: &mut JoinSet<()>) {
        let device = self.0.clone();
        readers.spawn(async move {
            let mut buffer = vec![0; usize::from(u16::MAX)];
            while let Ok(len) = device.recv(&mut buffer).await {
                if is_of_link(&buffer[..len]) {
                    continue;
                }
                let packet = Inbound::Packet(buffer[..len].to_vec());
                if let Err(TrySendError::Disconnected(_)) = inbound.try_send(packet) {
                    return;
                }
            }
        });
    }

    /// Sends a packet to this machine.
    pub(crate) async fn send(&self, packet: &[u8]) {
        // What the interface does not take is lost, like on the way.
        let _ = self.0.send(packet).await;
    }
}

/// Where the destination of an IPv6 packet is in its header.
const DESTINATION: usize = 24;

/// Whether a packet is for all stations, or all routers, of the interface itself: the system looks for a router, and says which groups it
/// listens to. Nobody is there beside it, and no router sends such packets on
/// ([RFC 4291 section 2.7](https://www.rfc-editor.org/rfc/rfc4291#section-2.7)).
fn is_of_link(packet: &[u8]) -> bool {
    let destination = packet.get(DESTINATION..).and_then(<[u8]>::first_chunk::<16>);
    let &[first, scope, ..] = destination.unwrap_or(&[0; 16]);
    first == 0xff && scope & 0x0f <= LINK_LOCAL
}

/// The scope of multicast addresses of a link, behind that of an interface.
const LINK_LOCAL: u8 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(destination: &str) -> Vec<u8> {
        let mut packet = vec![0; DESTINATION];
        packet[0] = 0x60;
        packet.extend(destination.parse::<Ipv6Addr>().unwrap().octets());
        packet
    }

    #[test]
    fn what_the_system_says_on_the_link_alone_goes_nowhere() {
        for destination in ["ff02::2", "ff02::16", "ff12::1", "ff01::1"] {
            assert!(is_of_link(&packet(destination)), "{destination}");
        }
        for destination in ["fd00::1", "fe80::1", "ff03::fc", "ff05::1", "ff0e::1"] {
            assert!(!is_of_link(&packet(destination)), "{destination}");
        }
        assert!(!is_of_link(&packet("ff02::2")[..DESTINATION + 15]));
    }
}

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
                let packet = Inbound::Packet(buffer[..len].to_vec());
                if let Err(TrySendError::Disconnected(_)) = inbound.try_send(packet) {
                    return;
                }
            }
        });
    }

    pub(crate) async fn send(&self, packet: &[u8]) {
        // What the interface does not take is lost, like on the way.
        let _ = self.0.send(packet).await;
    }
}

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, TrySendError};
use std::time::Duration;

use sixlock_gateway::{FlowId, IDLE};
use tokio::net::UdpSocket;
use tokio::sync::mpsc::Receiver;
use tokio::task::AbortHandle;

use crate::{Inbound, Outbound, Services, Tun};

/// The largest UDP payload, in bytes.
const MAX_DATAGRAM: usize = 65_527;

/// Where the cloud of the mesh really is.
#[derive(Clone, Copy, Debug)]
pub struct Uplink {
    /// Its CoAP socket, if it has one.
    pub coap: Option<SocketAddr>,
    /// Its CoAPs socket.
    pub coaps: SocketAddr,
}

impl Uplink {
    /// The UDP port of CoAP.
    pub const COAP: u16 = 5683;
    /// The UDP port of CoAPs.
    pub const COAPS: u16 = 5684;

    fn address(&self, port: u16) -> Option<SocketAddr> {
        match port {
            Self::COAP => self.coap,
            Self::COAPS => Some(self.coaps),
            _ => None,
        }
    }
}

struct Flow {
    id: FlowId,
    socket: Arc<UdpSocket>,
    reader: AbortHandle,
}

impl Drop for Flow {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

/// Carries datagrams between a gateway and sockets, those of its flows and those of `services`, and packets between
/// it and `tun`, until the gateway's end of `outbound` is closed.
///
/// There are as many sockets as the gateway has flows: a flow that takes the place of another
/// takes its socket away. When `inbound` is full, what comes is dropped, as a busy link drops it.
pub async fn run(
    uplink: Uplink,
    services: Services,
    tun: Option<Tun>,
    mut outbound: Receiver<Outbound>,
    inbound: SyncSender<Inbound>,
) {
    let mut readers = services.read(&inbound);
    if let Some(tun) = &tun {
        tun.read(inbound.clone(), &mut readers);
    }
    let mut flows = BTreeMap::<usize, Flow>::new();
    while let Some(message) = outbound.recv().await {
        match message {
            Outbound::Packet(packet) => {
                if let Some(tun) = &tun {
                    tun.send(&packet).await;
                }
            }
            Outbound::Answer { client, payload } => services.send(client, &payload).await,
            Outbound::Datagram { flow, port, payload } => {
                let Some(address) = uplink.address(port) else { continue };
                if let Some(socket) = socket_of(flow, address, &mut flows, &inbound).await {
                    // What a socket does not take is lost, like on the way.
                    let _ = socket.send(&payload).await;
                }
            }
        }
    }
}

/// The socket of a flow to `cloud`, opened if there is none. When the system is out of sockets there is none,
/// and the flow's next datagram tries again.
async fn socket_of(
    id: FlowId,
    cloud: SocketAddr,
    flows: &mut BTreeMap<usize, Flow>,
    inbound: &SyncSender<Inbound>,
) -> Option<Arc<UdpSocket>> {
    let known = flows.get(&id.index()).filter(|flow| flow.id == id && !flow.reader.is_finished());
    if let Some(flow) = known {
        return Some(flow.socket.clone());
    }
    let socket = Arc::new(open(cloud).await.ok()?);
    let reader = tokio::spawn(read(id, socket.clone(), inbound.clone())).abort_handle();
    flows.insert(id.index(), Flow { id, socket: socket.clone(), reader });
    Some(socket)
}

async fn open(cloud: SocketAddr) -> io::Result<UdpSocket> {
    let any: SocketAddr = match cloud {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let socket = UdpSocket::bind(any).await?;
    socket.connect(cloud).await?;
    Ok(socket)
}

/// Hands what comes in to the flow, until it has been idle for too long.
async fn read(flow: FlowId, socket: Arc<UdpSocket>, inbound: SyncSender<Inbound>) {
    let idle = Duration::from_millis(IDLE.millis().into());
    let mut buffer = vec![0; MAX_DATAGRAM];
    while let Ok(received) = tokio::time::timeout(idle, socket.recv(&mut buffer)).await {
        // The cloud may be down for a while: its host then says that nobody listens.
        let Ok(len) = received else { continue };
        let payload = buffer[..len].to_vec();
        if let Err(TrySendError::Disconnected(_)) = inbound.try_send(Inbound::Datagram { flow, payload }) {
            return;
        }
    }
}

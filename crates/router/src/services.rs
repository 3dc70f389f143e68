use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, TrySendError};

use sixlock_gateway::FlowId;
use tokio::net::UdpSocket;
use tokio::task::JoinSet;

use crate::{Client, Inbound};

/// Longer than any datagram that the mesh carries, also in a record of DTLS: what is cut off here is refused there.
const MAX_DATAGRAM: usize = 1500;

/// Services inside the mesh, each published at a port of its own.
pub struct Services(Vec<Arc<UdpSocket>>);

impl Services {
    /// Takes a port for each service at these addresses: those from `first` on, or free ones.
    ///
    /// # Errors
    /// When the system has none, or no more sockets, or an address is not its own, or a port is taken.
    pub async fn bind(addresses: &[IpAddr], first: Option<u16>) -> io::Result<Self> {
        let mut sockets = Vec::new();
        for (place, &address) in addresses.iter().enumerate() {
            let port = match first {
                Some(first) => usize::from(first) + place,
                None => 0,
            };
            let port = u16::try_from(port).map_err(|_| io::Error::other("the ports end at 65535"))?;
            sockets.push(Arc::new(UdpSocket::bind((address, port)).await?));
        }
        Ok(Self(sockets))
    }

    /// Where each service is published.
    ///
    /// # Errors
    /// When the system does not know.
    pub fn addresses(&self) -> io::Result<Vec<SocketAddr>> {
        self.0.iter().map(|socket| socket.local_addr()).collect()
    }

    /// Hands in what clients send, until the set is dropped.
    pub(crate) fn read(&self, inbound: &SyncSender<Inbound>) -> JoinSet<()> {
        let mut readers = JoinSet::new();
        for (service, socket) in self.0.iter().enumerate() {
            readers.spawn(read(service, socket.clone(), inbound.clone()));
        }
        readers
    }

    /// Sends an answer.
    pub(crate) async fn send(&self, client: Client, payload: &[u8]) {
        if let Some(socket) = self.0.get(client.service) {
            // What a socket does not take is lost, like on the way.
            let _ = socket.send_to(payload, client.address).await;
        }
    }
}

async fn read(service: usize, socket: Arc<UdpSocket>, inbound: SyncSender<Inbound>) {
    let mut buffer = vec![0; MAX_DATAGRAM];
    loop {
        // A client that has gone shows up as an error, too.
        let Ok((len, address)) = socket.recv_from(&mut buffer).await else { continue };
        let request =
            Inbound::Request { client: Client { service, address }, payload: buffer[..len].to_vec() };
        if let Err(TrySendError::Disconnected(_)) = inbound.try_send(request) {
            return;
        }
    }
}

/// Which flow of the gateway belongs to which client: as many as the gateway has flows.
#[derive(Debug, Default)]
pub struct Clients {
    flows: BTreeMap<Client, FlowId>,
    /// By a flow's place, in which another flow may have come since.
    clients: BTreeMap<usize, (FlowId, Client)>,
}

impl Clients {
    /// The flow of a client.
    pub fn flow(&self, client: Client) -> Option<FlowId> {
        self.flows.get(&client).copied()
    }

    /// The client of a flow, unless it goes to the cloud.
    pub fn client(&self, flow: FlowId) -> Option<Client> {
        self.clients.get(&flow.index()).filter(|(id, _)| *id == flow).map(|&(_, client)| client)
    }

    /// Notes that `client` has the new flow `flow`, which ends the one whose place it took.
    pub fn insert(&mut self, client: Client, flow: FlowId) {
        if let Some((old, other)) = self.clients.insert(flow.index(), (flow, client))
            && self.flows.get(&other) == Some(&old)
        {
            self.flows.remove(&other);
        }
        self.flows.insert(client, flow);
    }
}

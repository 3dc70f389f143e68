//! Services of nodes, published at sockets: to this machine's programs as they are, or behind DTLS to clients of a security gateway. One
//! that speaks DTLS itself is published as it is, to this machine's programs alone.

use std::error::Error;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;

use serde_json::{Value, json};
use sixlock_base::{Eui64, MESH_PREFIX};
use sixlock_dtls::is_client_hello;
use sixlock_node::COAPS_PORT;
use sixlock_router::{Client, Clients, Outbound, Services};
use sixlock_sim::{FlowId, GatewayError, Simulation};

use crate::secure_services::{Keys, SecureServices};
use crate::station::Context;

/// A UDP service of a node: its name, and at which port.
pub(crate) type Service = (&'static str, u16);

/// The node's own CoAP server behind DTLS.
pub(crate) const DEVICE_COAPS: Service = ("device_coaps", COAPS_PORT);

/// Where it is published: who reaches the mesh from elsewhere proves to the border router first who they are.
const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// The border router of the mesh that the services are in.
pub(crate) trait Router {
    /// Begins a flow from outside to a node's port.
    fn open_flow(&mut self, node: u32, port: u16) -> Option<FlowId>;

    /// Sends a datagram in a flow. What the mesh does not take is lost, as on any link.
    fn send(&mut self, flow: FlowId, payload: &[u8]) -> Result<(), GatewayError>;
}

impl Router for Simulation {
    fn open_flow(&mut self, node: u32, port: u16) -> Option<FlowId> {
        self.open_flow(node, port)
    }

    fn send(&mut self, flow: FlowId, payload: &[u8]) -> Result<(), GatewayError> {
        self.handle_upstream(flow, payload)
    }
}

/// Who speaks with which service, and how.
#[derive(Default)]
pub(crate) struct Published {
    /// Of which node, and at which of its ports.
    services: Vec<(u32, u16)>,
    clients: Clients,
    /// DTLS between clients and those services that have none, if they are behind it.
    secure: Option<SecureServices>,
}

impl Published {
    /// Services, and the keys of those who may speak DTLS to them; without, they are not behind it.
    pub(crate) fn new<N>(cx: &mut Context<'_, N>, services: Vec<(u32, u16)>, clients: Option<Keys>) -> Self {
        let secure = clients.map(|keys| SecureServices::new(cx, keys));
        Self { services, clients: Clients::default(), secure }
    }

    /// What a client says in a datagram.
    pub(crate) fn open<N>(
        &mut self,
        cx: &mut Context<'_, N>,
        client: Client,
        datagram: Vec<u8>,
    ) -> Vec<Vec<u8>> {
        match self.secure_for(client) {
            Some(secure) => secure.open(cx, client, datagram),
            None => vec![datagram],
        }
    }

    /// Sends what a client says to the service it is for, in the client's flow.
    pub(crate) fn ask(&mut self, router: &mut impl Router, client: Client, payload: &[u8]) {
        let known = self.clients.flow(client);
        if known.is_some_and(|flow| router.send(flow, payload) != Err(GatewayError::UnknownFlow)) {
            return;
        }
        let Some(&(node, port)) = self.services.get(client.service) else { return };
        // Nothing else begins a session there, and each flow takes the place of another.
        if port == COAPS_PORT && !is_client_hello(payload) {
            return;
        }
        if let Some(flow) = router.open_flow(node, port) {
            self.clients.insert(client, flow);
            let _ = router.send(flow, payload);
        }
    }

    /// How what leaves the mesh goes on: as the answer of a service, if it is in a client's flow; not at all if that client has gone.
    pub(crate) fn leave<N>(&mut self, cx: &mut Context<'_, N>, outbound: Outbound) -> Option<Outbound> {
        let Outbound::Datagram { flow, port, payload } = outbound else { return Some(outbound) };
        let Some(client) = self.clients.client(flow) else {
            return Some(Outbound::Datagram { flow, port, payload });
        };
        let payload = match self.secure_for(client) {
            Some(secure) => secure.seal(cx, client, &payload)?,
            None => payload,
        };
        Some(Outbound::Answer { client, payload })
    }

    /// The DTLS that is between a client and its service.
    fn secure_for(&mut self, client: Client) -> Option<&mut SecureServices> {
        let speaks_dtls = self.services.get(client.service).is_some_and(|&(_, port)| port == COAPS_PORT);
        self.secure.as_mut().filter(|_| !speaks_dtls)
    }

    /// What DTLS itself has to say; to be called again and again.
    pub(crate) fn poll_transmit<N>(&mut self, cx: &mut Context<'_, N>) -> Option<Outbound> {
        let (client, payload) = self.secure.as_mut()?.poll_transmit(cx)?;
        Some(Outbound::Answer { client, payload })
    }
}

/// Sockets for services, and where they are.
pub(crate) struct Bound {
    /// The sockets.
    pub(crate) sockets: Services,
    /// Of which node, and at which of its ports.
    pub(crate) services: Vec<(u32, u16)>,
    /// What is to be told of each node: its address in the mesh, and where its services are published.
    pub(crate) endpoints: Vec<Value>,
    /// The names of the last node's services.
    names: Vec<String>,
}

impl Bound {
    /// Where the nodes' own CoAP servers behind DTLS are published.
    pub(crate) fn device_coaps(&self) -> io::Result<Vec<SocketAddr>> {
        let of_device = |(&(_, port), address)| (port == COAPS_PORT).then_some(address);
        Ok(self.services.iter().zip(self.sockets.addresses()?).filter_map(of_device).collect())
    }

    /// What a person is told: where the last of the nodes is reached, and in which file all are.
    pub(crate) fn summary(&self, file: &Path) -> String {
        let file = file.display();
        match self.endpoints.last() {
            Some(node) if !self.names.is_empty() => {
                let at = |name: &String| format!(" {name}={}", node[name].as_str().unwrap_or_default());
                let services: String = self.names.iter().map(at).collect();
                format!("node {} is reached at{services}; all are in {file}", node["id"])
            }
            _ => format!("nodes serve nothing; their addresses are in {file}"),
        }
    }
}

/// Publishes the services of `nodes` at `address`, and those that speak DTLS themselves at loopback, at the ports from `first` on or at free ones; with `dtls`, those behind it that have none.
pub(crate) async fn bind(
    (address, first): (IpAddr, Option<u16>),
    nodes: &[(u32, Vec<Service>)],
    dtls: bool,
) -> Result<Bound, Box<dyn Error>> {
    let all: Vec<_> = nodes
        .iter()
        .flat_map(|(node, services)| services.iter().map(move |&(_, port)| (*node, port)))
        .collect();
    let place = |&(_, port): &(u32, u16)| if port == COAPS_PORT { LOOPBACK } else { address };
    let addresses: Vec<_> = all.iter().map(place).collect();
    let sockets = Services::bind(&addresses, first).await.map_err(|error| {
        let ports = first.map(|first| format!(" and {} ports from {first} on", all.len())).unwrap_or_default();
        format!(
            "no sockets at {address}{ports}: {error}; another address is [internet] listen in the file of --gateway, and other ports are \
             --ports PORT"
        )
    })?;
    let mut addresses = sockets.addresses()?.into_iter();
    let name = |(name, port): Service| match dtls && port != COAPS_PORT {
        true => format!("{name}s"),
        false => name.to_owned(),
    };
    let mut endpoints = Vec::new();
    for (id, services) in nodes {
        let mut node = json!({ "id": id, "address": Eui64::of_node(*id).with_prefix(MESH_PREFIX) });
        for (&service, address) in services.iter().zip(&mut addresses) {
            node[name(service)] = json!(address);
        }
        endpoints.push(node);
    }
    let names = nodes.last().map(|(_, services)| services.iter().map(|&service| name(service)).collect());
    Ok(Bound { sockets, services: all, endpoints, names: names.unwrap_or_default() })
}

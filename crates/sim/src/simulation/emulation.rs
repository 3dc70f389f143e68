//! How the nodes of a scenario that are emulated get what makes them theirs.

use sixlock_base::{Duration, Eui64, MESH_PREFIX};
use sixlock_lockstep::{
    CertifiedKeys, Cloud as CloudData, Device as DeviceData, LinkKey, NETWORK, NetworkKeys, ROUTES, RawKeys,
    Route,
};
use sixlock_node::{Access, Config, ECHO_PORT, InterfaceConfig, KeyRing, Resource};

use crate::application::Part;
use crate::built_image::built_image;
use crate::devices::Device;
use crate::emulated::{Emulated, Shadow};
use crate::network::CHANNEL;
use crate::platform::EmulatedNode;
use crate::protection::Peering;
use crate::routing::RoutingKind;
use crate::scenario::Scenario;
use crate::topology::Layout;

/// What emulated nodes take part in.
pub(super) struct Emulation<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) layout: &'a Layout,
    /// The associations of all nodes.
    pub(super) peerings: &'a [Peering],
}

impl Emulation<'_> {
    /// Starts node `id` in an emulator.
    pub(super) fn start(
        &self,
        id: u32,
        node: &EmulatedNode,
        config: &Config<Part<'_>>,
        device: &Device,
        shadow: Option<Shadow>,
    ) -> Result<Emulated, String> {
        let Self { scenario, layout, .. } = self;
        let Config { interface: InterfaceConfig { mac, .. }, cloud, serves, echoes } = config;
        let is_listed = scenario.routing == RoutingKind::Static;
        let routes: Vec<_> = layout
            .routes_below(id)
            .filter(|_| is_listed)
            .map(|(destination, next_hop)| {
                let [destination, next_hop] = [destination, next_hop].map(Eui64::of_node);
                Route { destination, next_hop }.to_bytes()
            })
            .collect();
        if routes.len() > ROUTES {
            return Err(format!("{} nodes lie behind it, and an image has {ROUTES} routes", routes.len()));
        }
        let (identity, key) = match cloud.as_ref().map(|cloud| cloud.access) {
            Some(Part::Posts { access: Access::Plain(Resource { id, key }), .. }) => (id, key),
            _ => (device.identity.as_bytes(), device.key.as_bytes()),
        };
        // What an image that measures is told of its peer.
        let measured = scenario.measured_echoes().filter(|(node, _)| *node == id).map(|(_, peer)| {
            let period = Duration::from_millis((scenario.traffic.period.micros() / 1000) as u32);
            let address = Eui64::of_node(peer).with_prefix(MESH_PREFIX);
            let cloud = CloudData { address, port: ECHO_PORT, period, first: period };
            (cloud, layout.hops_between(id, peer).to_string())
        });
        let identity = measured.as_ref().map_or(identity, |(_, hops)| hops.as_bytes());
        let posts = cloud.as_ref().map(|cloud| CloudData {
            address: cloud.address,
            port: cloud.port,
            period: cloud.period,
            first: cloud.first,
        });
        let data = DeviceData {
            address: mac.address,
            pan_id: mac.pan_id,
            channel: CHANNEL,
            min_be: mac.csma.min_be,
            max_be: mac.csma.max_be,
            max_backoffs: mac.csma.max_backoffs,
            max_retries: mac.csma.max_retries,
            ack: mac.ack,
            link: mac.security.as_ref().map(|security| LinkKey {
                suite: security.suite,
                key: security.key,
                index: security.key_index,
            }),
            // RPL finds its own.
            parent: if is_listed { Eui64::of_node(layout.parents[id as usize]) } else { Eui64([0; 8]) },
            routes: &routes,
            cloud: measured.as_ref().map(|(cloud, _)| *cloud).or(posts),
            identity,
            key,
            serves: *serves,
            echoes: *echoes,
        };
        let network = self.network(id)?.map(|network| ("NETWORK", network.to_vec()));
        let keys = device.keys.map(public_keys).transpose()?;
        let further: Vec<_> = network.into_iter().chain(keys).collect();
        let image = match &node.image {
            Some(image) => image.clone(),
            None => built_image(&node.platform, scenario, id)?,
        };
        if !image.exists() {
            return Err(format!("{} is not there: scripts/firmware.sh images builds it", image.display()));
        }
        Emulated::start(scenario.seed, id, &image, &data, &further, shadow).map_err(|error| error.to_string())
    }

    /// What node `id` is told of IPsec, if there is any.
    fn network(&self, id: u32) -> Result<Option<[u8; NETWORK]>, String> {
        let mut own = self.peerings.iter().filter(|peering| peering.id == id);
        let Some(peering) = own.next() else { return Ok(None) };
        if let Some(other) = own.next() {
            return Err(format!("an image has IPsec with one host, and {} is another", other.host));
        }
        let keys = NetworkKeys {
            suite: peering.suite,
            host: peering.host,
            outbound: &peering.from_node,
            inbound: &peering.from_host,
        };
        keys.emit().map(Some).map_err(|_| format!("the keys of {} are longer than an image's", peering.suite))
    }
}

/// What a node is told of its keys and the cloud's, and the symbol where that is written.
fn public_keys(ring: &KeyRing) -> Result<(&'static str, Vec<u8>), String> {
    let KeyRing { secret, credentials, trusted } = ring;
    if let (Some(own), &[cloud]) = (credentials.raw_public_key, trusted.raw_public_keys) {
        return Ok(("RAW_KEYS", RawKeys { secret, points: &[own, cloud] }.emit().to_vec()));
    }
    let trust = trusted.certificates.as_ref();
    let (Some(trust), &[certificate]) = (trust, credentials.certificates) else {
        return Err("an image shows one key, raw or in one certificate, and knows one cloud's".into());
    };
    let (&[authority], Some(cloud)) = (trust.authorities, trust.name) else {
        return Err("an image knows one authority, and the cloud by its name".into());
    };
    let keys = CertifiedKeys { secret, certificate, authority, cloud }.emit();
    keys.map(|keys| ("CERTIFIED_KEYS", keys.to_vec()))
        .map_err(|_| "its certificate, or its authority's, is longer than an image's".into())
}

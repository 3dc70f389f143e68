//! How a device knows where packets go: by the routes that its own data lists, or by RPL.

use sixlock_base::MESH_PREFIX;
use sixlock_interface::Routing;
use sixlock_interface::rpl::RplRoot;
use sixlock_lockstep::Device;
use sixlock_node::rpl::RplNode;
use sixlock_node::{Datagrams, Route, Routes};
use sixlock_rpl::objective::Mrhof;
use sixlock_rpl::{
    Advertiser, ExternalHost, Externals, GivenPrefix, Knowledge, Member, Neighbour, Profile, Settings,
    SourceRoutes,
};

use crate::lent::{self, Context};
use crate::sizes::{
    BRIDGE_MTU, BRIDGE_POOL, HOSTS, LEAF_PARENTS, MEMBERS, MTU, PARENTS, POOL, ROUTES, RPL_MTU,
};

/// The routes that the device's own data lists.
pub type Listed = Routes<[Route; ROUTES]>;
/// None: what is not for a neighbour goes to the parent that the device's own data names, or to the router that neighbour discovery has found.
pub type NoRoutes = Routes<[Route; 0]>;
/// RPL as a router, in a DODAG whose root alone knows the ways downwards.
pub type RplRouter = RplNode<Router>;
/// RPL as a leaf: it forwards for nobody, in a DODAG of either kind.
pub type RplLeaf = RplNode<Leaf>;

/// RPL as a router whose prefix neighbour discovery finds, and which tells the root of the hosts that have registered at it.
pub type RplRegistrar = RplNode<Registrar>;

/// RPL as the root, which alone knows the ways downwards.
pub type RplSource = RplRoot<SourceRoutes<[Member; MEMBERS]>>;

/// What makes a router of RPL.
pub enum Router {}

impl Profile for Router {
    type Neighbours = [Neighbour; PARENTS];
    type Objective = Mrhof;
    type Advertising = Advertiser;
    type Downward = ();
    type Prefix = ();
    type External = ();
}

/// What makes a router of RPL at which hosts register.
pub enum Registrar {}

impl Profile for Registrar {
    type Neighbours = [Neighbour; PARENTS];
    type Objective = Mrhof;
    type Advertising = Advertiser;
    type Downward = ();
    type Prefix = GivenPrefix;
    type External = Externals<[ExternalHost; HOSTS]>;
}

/// What makes a leaf of RPL.
pub enum Leaf {}

impl Profile for Leaf {
    type Neighbours = [Neighbour; LEAF_PARENTS];
    type Objective = Mrhof;
    type Advertising = ();
    type Downward = ();
    type Prefix = ();
    type External = ();
}

/// The RPL instance that devices take part in.
const INSTANCE: u8 = 0;

/// What knows where packets go, and begins by a device's own data.
#[expect(private_interfaces, reason = "images name it, and only the application calls it")]
pub trait DeviceRouting: Routing {
    /// The buffers of packets that carry what this adds to them.
    type Datagrams;

    /// Begins as the data says, if it can.
    fn start<B>(&mut self, cx: &mut Context<B>, device: &Device<'_>) -> bool;
}

#[expect(private_interfaces, reason = "as above")]
impl<const LISTED: usize> DeviceRouting for Routes<[Route; LISTED]> {
    type Datagrams = Datagrams<MTU, POOL>;

    fn start<B>(&mut self, _: &mut Context<B>, device: &Device<'_>) -> bool {
        lent::add_routes(device, self)
    }
}

#[expect(private_interfaces, reason = "as above")]
impl<P: Profile> DeviceRouting for RplNode<P> {
    type Datagrams = Datagrams<RPL_MTU, POOL>;

    /// Data that lists routes is for another image.
    fn start<B>(&mut self, cx: &mut Context<B>, device: &Device<'_>) -> bool {
        device.routes.is_empty() && self.0.start(cx, device.address, INSTANCE).is_ok()
    }
}

#[expect(private_interfaces, reason = "as above")]
impl<K: Knowledge> DeviceRouting for RplRoot<K> {
    type Datagrams = Datagrams<BRIDGE_MTU, BRIDGE_POOL>;

    /// Data that lists routes is for another image.
    fn start<B>(&mut self, cx: &mut Context<B>, device: &Device<'_>) -> bool {
        let settings = Settings { instance: INSTANCE, ..Settings::usual::<Mrhof>(MESH_PREFIX) };
        device.routes.is_empty() && self.0.start(cx, device.address, &settings).is_ok()
    }
}

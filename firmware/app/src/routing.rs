//! How a device knows where packets go: by the routes that its own data lists, or by RPL.

use sixlock_interface::Routing;
use sixlock_lockstep::Device;
use sixlock_node::rpl::RplNode;
use sixlock_node::{Route, Routes};
use sixlock_rpl::objective::Mrhof;
use sixlock_rpl::{Advertiser, Neighbour, Profile};

use crate::lent::{self, Context};
use crate::sizes::{LEAF_PARENTS, PARENTS, ROUTES};

/// The routes that the device's own data lists.
pub type Listed = Routes<[Route; ROUTES]>;
/// RPL as a router, in a DODAG whose root alone knows the ways downwards.
pub type RplRouter = RplNode<Router>;
/// RPL as a leaf: it forwards for nobody, in a DODAG of either kind.
pub type RplLeaf = RplNode<Leaf>;

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
    /// Begins as the data says, if it can.
    fn start(&mut self, cx: &mut Context, device: &Device<'_>) -> bool;
}

#[expect(private_interfaces, reason = "as above")]
impl DeviceRouting for Listed {
    fn start(&mut self, _: &mut Context, device: &Device<'_>) -> bool {
        lent::add_routes(device, self)
    }
}

#[expect(private_interfaces, reason = "as above")]
impl<P: Profile> DeviceRouting for RplNode<P> {
    /// Data that lists routes is for another image.
    fn start(&mut self, cx: &mut Context, device: &Device<'_>) -> bool {
        device.routes.is_empty() && self.0.start(cx, device.address, INSTANCE).is_ok()
    }
}

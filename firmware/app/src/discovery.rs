//! How a device comes to its prefix and its router: both are given, or it finds them by neighbour discovery.

use sixlock_base::{Array, Slot};
use sixlock_interface::Discovery;
use sixlock_ipv6::nd::{Capabilities, Rovr};
use sixlock_lockstep::Device;
use sixlock_net::neighbour_discovery::{DefaultRouter, Host, LearntContext, Registration, Router, Settings};

use crate::lent::Context;
use crate::sizes::{CONTEXTS, REGISTRATIONS, ROUTERS};

/// A host, which registers its address at a router.
pub type DiscoveringHost = Host<[Slot<DefaultRouter>; ROUTERS], [Slot<LearntContext>; CONTEXTS]>;
/// A router, which does the same, and then others register at it.
pub type DiscoveringRouter = Router<
    [Slot<DefaultRouter>; ROUTERS],
    [Slot<LearntContext>; CONTEXTS],
    [Slot<Registration>; REGISTRATIONS],
>;

/// For how many minutes a device registers.
const LIFETIME: u16 = 60;

/// How a device comes to its prefix and its router.
#[expect(private_interfaces, reason = "images name it, and only the application calls it")]
pub trait DeviceDiscovery: Discovery {
    /// Begins as the device's own data says.
    fn start<B>(&mut self, cx: &mut Context<B>, device: &Device<'_>);
}

#[expect(private_interfaces, reason = "as above")]
impl DeviceDiscovery for () {
    #[inline(always)]
    fn start<B>(&mut self, _: &mut Context<B>, _: &Device<'_>) {}
}

#[expect(private_interfaces, reason = "as above")]
impl<R: Array<Slot<DefaultRouter>>, C: Array<Slot<LearntContext>>> DeviceDiscovery for Host<R, C> {
    fn start<B>(&mut self, cx: &mut Context<B>, device: &Device<'_>) {
        self.start(cx, device.address, &settings(device, true));
    }
}

#[expect(private_interfaces, reason = "as above")]
impl<R, C, N> DeviceDiscovery for Router<R, C, N>
where
    R: Array<Slot<DefaultRouter>>,
    C: Array<Slot<LearntContext>>,
    N: Array<Slot<Registration>>,
{
    fn start<B>(&mut self, cx: &mut Context<B>, device: &Device<'_>) {
        self.start(cx, device.address, &settings(device, false));
    }
}

/// What a device asks for. To a host its router tells others the way; a router tells that itself, by RPL.
fn settings(device: &Device<'_>, is_host: bool) -> Settings {
    Settings {
        lifetime: LIFETIME,
        wants_reachability: is_host,
        capabilities: Capabilities { extended_registration: true, ..Capabilities::NONE },
        rovr: Rovr(device.address.0),
    }
}

//! How a node or border router that is a program finds its ways: they are listed, or it speaks RPL.

use std::error::Error;

use sixlock_base::{Eui64, MESH_PREFIX};
use sixlock_node::rpl::{RplNode, RplRoot};
use sixlock_node::{Route, Routes, Routing};
use sixlock_rpl::objective::Mrhof;
use sixlock_rpl::{Advertiser, Member, Neighbour, Profile, Settings, SourceRoutes};

use crate::keys::MAX_NODES;
use crate::station::Context;

/// The RPL instance of networks.
const INSTANCE: u8 = 0;

/// A router of RPL, in a DODAG whose root alone knows the ways down.
pub(crate) enum Router {}

impl Profile for Router {
    /// All hear all on a channel made of UDP; when there are more, those that are worse parents are forgotten.
    type Neighbours = [Neighbour; 32];
    type Objective = Mrhof;
    type Advertising = Advertiser;
    type Downward = ();
    type Prefix = ();
    type External = ();
}

/// How a node finds its way to the border router.
pub(crate) trait NodeRouting: Routing {
    /// Whether it speaks RPL.
    const SPEAKS_RPL: bool;

    /// Begins at the node with this address.
    fn begin(&mut self, cx: &mut Context<'_>, address: Eui64) -> Result<(), Box<dyn Error>>;
}

/// Whatever is for others goes to the border router.
impl NodeRouting for Routes<[Route; 1]> {
    const SPEAKS_RPL: bool = false;

    fn begin(&mut self, _: &mut Context<'_>, _: Eui64) -> Result<(), Box<dyn Error>> {
        Ok(())
    }
}

impl NodeRouting for RplNode<Router> {
    const SPEAKS_RPL: bool = true;

    fn begin(&mut self, cx: &mut Context<'_>, address: Eui64) -> Result<(), Box<dyn Error>> {
        let started = self.0.start(cx, address, INSTANCE);
        Ok(started.map_err(|error| format!("RPL has no durable sequence number: {error:?}"))?)
    }
}

/// Where packets of a border router go: its nodes are listed.
pub(crate) type Listed = Routes<[Route; MAX_NODES]>;

/// The same of the root of a DODAG, which knows the ways down.
pub(crate) type Root = RplRoot<SourceRoutes<[Member; MAX_NODES]>>;

/// How a border router finds the ways to nodes.
pub(crate) trait RouterRouting: Routing {
    /// Whether it speaks RPL.
    const SPEAKS_RPL: bool;

    /// Begins, in a network of these nodes.
    fn begin(&mut self, cx: &mut Context<'_>, nodes: impl Iterator<Item = u32>)
    -> Result<(), Box<dyn Error>>;
}

/// Each node is a neighbour.
impl RouterRouting for Listed {
    const SPEAKS_RPL: bool = false;

    fn begin(
        &mut self,
        _: &mut Context<'_>,
        mut nodes: impl Iterator<Item = u32>,
    ) -> Result<(), Box<dyn Error>> {
        nodes.try_for_each(|id| {
            let address = Eui64::of_node(id);
            let added = self.add(address, address);
            Ok(added.map_err(|_| format!("node {id}: a network has at most {MAX_NODES} nodes"))?)
        })
    }
}

/// Nodes tell of themselves.
impl RouterRouting for Root {
    const SPEAKS_RPL: bool = true;

    fn begin(&mut self, cx: &mut Context<'_>, _: impl Iterator<Item = u32>) -> Result<(), Box<dyn Error>> {
        let started = self.0.start(cx, Eui64::of_node(0), &Settings::usual::<Mrhof>(MESH_PREFIX));
        Ok(started.map_err(|error| format!("RPL has no durable version: {error:?}"))?)
    }
}

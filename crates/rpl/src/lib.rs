//! RPL, the routing protocol for low-power and lossy networks ([RFC 6550](https://www.rfc-editor.org/rfc/rfc6550)): a [`Root`], and
//! [`Node`]s that are routers or leaves.
//!
//! Nodes of the mesh build a graph towards the root (a DODAG) by DIOs, which Trickle times; each chooses its parent by an
//! [objective function](objective::ObjectiveFunction) from what became of its frames. By DAOs the root, or each router, learns the ways
//! down: [`SourceRoutes`] or [`Storing`]. A host that does not speak RPL may hang below a router, which tells the root the way to it
//! ([`Externals`]), puts a header around what it sends, and takes one off what it gets
//! ([RFC 9010](https://www.rfc-editor.org/rfc/rfc9010)).
//!
//! A machine takes control messages in by `handle`, what became of frames by `handle_outcome` and the time by `handle_timeout`; it
//! writes whole packets in `poll_transmit`. Data packets pass `originate` where they are made, `forward` at each router, and
//! `encapsulate` at the root, before they go to `next_hop`.
//!
//! Limits: targets are single nodes of the mesh, one RPL instance at a time, and no floating DODAGs. Not here are the secure modes (links are secured below it),
//! multicast (storing mode with it is refused, and there is no MPL), and the compression of RFC 8138. Of RFC 9010, the root does not keep
//! registrations alive in the name of routers (a router asks the border router itself), a rejected DAO ends no registration, and hosts
//! join no groups.
//!
//! # Use
//! 1. [`Root::start`], with an address and [`Settings`]: [`Settings::usual`] makes them of the mesh's prefix, as
//!    `Settings::usual::<Mrhof>(prefix)`. Or [`Node::start`], with an address and the RPL instance.
//! 2. `handle` with each control message, `handle_outcome` with what became of each frame to a neighbour, and `handle_timeout` at
//!    `poll_timeout`.
//! 3. After each of these, `poll_transmit` until there is none, and `poll_event` until there is none.
//!
//! A root and a router, in memory: `examples/dodag.rs`.
#![no_std]

mod advertising;
mod dao;
mod dodag;
mod error;
mod event;
mod external;
mod graph;
mod link;
mod neighbours;
mod node;
pub mod objective;
mod output;
mod packet;
mod prefix;
mod rank;
mod root;
mod routes;
mod sequence;
mod solicitation;
mod storing;
mod storing_root;
mod time;
mod trickle;

pub use advertising::{Advertiser, Advertising};
pub use error::{DataError, Error};
pub use event::Event;
pub use external::{ExternalHost, ExternalTargets, Externals};
pub use graph::{MAX_HOPS, Member};
pub use link::{ETX, Link};
pub use neighbours::Neighbour;
pub use node::{Node, Profile};
pub use prefix::{GivenPrefix, MeshPrefix, ToldPrefix};
pub use root::{Knowledge, Root, Settings, SourceRoutes, StartError};
pub use routes::Route;
pub use storing::{Downward, Storing};
pub use storing_root::StoringRoot;
pub use trickle::Trickle;

//! How a device proves whose readings they are: what its own data says, for the way that its image goes.

use core::convert::Infallible;

use sixlock_crypto::Tiny;
use sixlock_lockstep::Device;
use sixlock_node::{Application, Identity, PreShared, Resource, Sensor};

use crate::lent::Backend;
use crate::sizes::{SERVED, SESSIONS};

/// Readings posted by CoAP, in the clear.
pub type Plain = Sensor<Tiny, sixlock_node::Plain>;
/// Readings posted by CoAP through a DTLS session.
pub type DtlsPsk = Sensor<Tiny, sixlock_node::DtlsPsk<Tiny>>;
/// Readings kept for who asks, and others' taken in, by CoAP through DTLS sessions.
pub type Server = sixlock_node::Server<Tiny, PreShared, SESSIONS, SERVED>;
/// No readings: it sends back what it gets through DTLS sessions.
pub type Echoes = sixlock_node::EchoServer<Tiny, PreShared, SESSIONS>;
/// No readings.
pub type NoCloud = ();

/// A way to the cloud that a device's own data can be for.
pub trait CloudAccess<B: Backend = Tiny>: Application<B> {
    /// What the data says for this way; nothing if there is no such way.
    fn access<'a>(device: &Device<'a>) -> Option<Self::Access<'a>>;
}

impl CloudAccess for Server {
    fn access<'a>(device: &Device<'a>) -> Option<Identity<'a>> {
        Some(Identity { name: device.identity, key: device.key })
    }
}

impl CloudAccess for Echoes {
    fn access<'a>(device: &Device<'a>) -> Option<Identity<'a>> {
        Some(Identity { name: device.identity, key: device.key })
    }
}

impl<B: Backend> CloudAccess<B> for NoCloud {
    fn access<'a>(_: &Device<'a>) -> Option<Infallible> {
        None
    }
}

impl CloudAccess for Plain {
    fn access<'a>(device: &Device<'a>) -> Option<Resource<'a>> {
        Some(Resource { id: device.identity, key: device.key })
    }
}

impl CloudAccess for DtlsPsk {
    fn access<'a>(device: &Device<'a>) -> Option<Identity<'a>> {
        Some(Identity { name: device.identity, key: device.key })
    }
}

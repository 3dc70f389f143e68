//! Who is at the far end: the cloud, or a host that sends echoes.

use sixlock_base::Counters;
use sixlock_dtls::Refusal;

use crate::cloud::Cloud;
use crate::drops::Drops;
use crate::echo_host::EchoHost;

/// Who is at the far end.
pub(crate) enum RemoteHost {
    Cloud(Box<Cloud>),
    Echo(EchoHost),
    Outside,
}

impl RemoteHost {
    /// What it has counted, if it counts.
    pub(crate) fn counters(&self) -> Option<&Counters> {
        match self {
            Self::Cloud(cloud) => Some(cloud.counters()),
            Self::Echo(host) => host.counters(),
            Self::Outside => None,
        }
    }

    /// Why DTLS there has refused something since this was last called, and of which node that was.
    pub(crate) fn take_refusals(&mut self) -> Vec<(u32, Refusal)> {
        match self {
            Self::Cloud(cloud) => cloud.take_refusals(),
            Self::Echo(host) => host.take_refusals(),
            Self::Outside => Vec::new(),
        }
    }

    /// What its pools hold, by name.
    pub(crate) fn occupied(&self) -> Vec<(&'static str, usize)> {
        match self {
            Self::Cloud(cloud) => cloud.occupied().into(),
            Self::Echo(host) => host.occupied().into(),
            Self::Outside => Vec::new(),
        }
    }

    /// What it has dropped, if it is inside the simulation. Echoes in the clear are all taken in.
    pub(crate) fn drops(&self) -> Drops {
        self.counters().map_or(Drops::default(), Drops::of)
    }
}

//! Who is at the far end: the cloud, or a host that sends echoes.

use sixlock_base::Counters;

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
    fn counters(&self) -> Option<&Counters> {
        match self {
            Self::Cloud(cloud) => Some(cloud.counters()),
            Self::Echo(host) => host.counters(),
            Self::Outside => None,
        }
    }

    /// What it has dropped, if it is inside the simulation. Echoes in the clear are all taken in.
    pub(crate) fn drops(&self) -> Drops {
        self.counters().map_or(Drops::default(), Drops::of)
    }
}

use sixlock_base::Array;
use sixlock_crypto::Crypto;

use crate::indirect::Sleeper;
use crate::layer::MacLayer;
use crate::listening::Listening;
use crate::neighbours::Neighbour;
use crate::queue::Frame;
use crate::rules::ChannelAccess;

/// Which MAC is linked, what of it, and how large its tables are.
pub trait LinkLayer: Sized {
    /// The MAC, which computes with `C`: a [`Mac`](crate::Mac), or a [`Tsch`](crate::tsch::Tsch).
    type Mac<C: Crypto>: MacLayer<C>;
    /// Whether link security is linked.
    const SECURED: bool;
    /// Whether CSMA-CA, the wait for acknowledgements and retries are linked: see [`Csma::NONE`](crate::Csma::NONE).
    const CSMA: bool;
    /// The neighbours whose frames are taken.
    type Neighbours: Array<Neighbour>;
    /// The frames to be sent.
    type Queue: Array<Frame>;
    /// The times and rules of channel access.
    type Access: ChannelAccess;
    /// When it listens.
    type Listening: Listening;
    /// The neighbours for which frames wait until they ask for them.
    type Sleepers: Array<Sleeper>;
}

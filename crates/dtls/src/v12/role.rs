use super::version::Version12;
use crate::engine::role::HandshakeRole;
use crate::{FeatureSet, Profile};

/// Which side of a session: [`Client`](crate::Client) or [`Server`](crate::Server). A device links the one it is.
pub trait Role: HandshakeRole<Version = Version12<FeaturesOf<Self>>> {
    /// What it can do beyond what every session needs.
    type Profile: Profile<Features = Self::Features>;

    /// What its handshakes have memory for.
    type Features: FeatureSet;
}

/// What the handshakes of a role have memory for.
pub type FeaturesOf<R> = <R as Role>::Features;

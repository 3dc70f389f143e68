//! Rows of the database.

use serde::Serialize;
use utoipa::ToSchema;

macro_rules! ids {
    ($($(#[doc = $doc:literal])* $name:ident,)*) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, ToSchema)]
        #[serde(transparent)]
        pub struct $name(pub i64);
    )*};
}

ids! {
    /// The row of a user.
    UserId,
    /// The row of a resource.
    ResourceId,
    /// The row of a stream.
    StreamId,
    /// The row of a parser.
    ParserId,
    /// The row of a point; the live feed counts in them.
    PointId,
    /// The row of a credential.
    CredentialId,
    /// The row of a command.
    CommandId,
    /// The row of a rule.
    RuleId,
    /// The row of an alert.
    AlertId,
    /// The row of a channel.
    ChannelId,
    /// The row of a broker.
    BrokerId,
    /// The row of a group of users.
    GroupId,
}

/// A page of a list in the order of ids.
#[derive(Clone, Copy, Debug)]
pub struct Listing {
    /// At most so many.
    pub limit: i64,
    /// Only those with greater ids.
    pub after: i64,
}

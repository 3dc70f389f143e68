//! Groups of users, to which they give devices and single streams: what a member may do with those of others.
//!
//! A group is its owner's, who is a member like the others and may not leave. Nobody is in a group who has not said so.

mod access;
mod details;
mod devices;
mod group;
mod members;
mod streams;
#[cfg(test)]
mod tests;

pub use access::GroupAccess;
pub use details::GroupDetails;
pub use devices::{GroupDevice, GroupOfResource, GroupResource};
pub use group::UserGroup;
pub use members::{GroupMember, Membership};
pub use streams::GroupStream;

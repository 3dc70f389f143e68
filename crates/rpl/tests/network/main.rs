//! Networks of RPL nodes in virtual time, and single nodes.

mod bench;
mod data;
mod downward;
mod external;
mod fields;
mod joining;
mod network;
mod prefix;

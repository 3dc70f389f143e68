//! Networks of RPL nodes in virtual time, and single nodes.

mod bench;
mod data;
mod downward;
mod fields;
mod joining;
mod network;
mod prefix;

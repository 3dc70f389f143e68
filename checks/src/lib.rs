//! The rules of the workspace, as functions from what they judge to what breaks them.
//!
//! `tests/workspace.rs` applies them to this workspace.

pub mod documentation;
pub mod documents;
pub mod examples;
pub mod floors;
pub mod measurements;
pub mod names;
pub mod patches;
pub mod publishing;
pub mod readers;
pub mod readmes;
pub mod rings;
pub mod sentences;
pub mod sources;
pub mod test_log;
pub mod versions;
pub mod workspace;

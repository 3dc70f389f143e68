//! The audit record: one JSON line in `audit.jsonl` for each refusal and each action that matters to security.

mod budget;
mod file;
mod reader;
mod writer;

pub use reader::AuditReader;
pub use writer::{Audit, append};

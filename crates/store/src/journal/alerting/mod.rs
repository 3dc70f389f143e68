//! Alerts: what a journal decides because of what was posted, in the same commit.
//!
//! Each rule judges the readings of its stream one by one, in the order in which they were accepted. A reading whose time is before that of
//! the newest one judged decides nothing. What is to be told stands in the outbox when the post is answered.

mod alert_rows;
mod in_sqlite;
mod judge;
mod silence;
#[cfg(test)]
mod tests;

pub(super) use in_sqlite::{Accepted, Alerting};

//! The MAC of IEEE 802.15.4-2006 as a machine without a radio: unslotted CSMA-CA,
//! acknowledgements, retries, duplicate rejection and link security; and ContikiMAC, where radios are to sleep. In [`tsch`], the
//! MAC of time slots.
//!
//! A driver owns the radio. It hands [`Mac`] every received frame, the outcome of each clear
//! channel assessment (CCA) and the end of each transmission, wakes it at
//! [`Mac::poll_timeout`], and after each call does what [`Mac::poll_radio`] says: a [`RadioCommand`] with the time when to begin.
//! A driver that cannot begin at a given time asks [`Mac::poll_radio_due`] instead, which says the same when that has come:
//! until then [`Mac::poll_timeout`] is that time. What drives either machine does so by [`MacLayer`].
#![no_std]

mod airtime;
mod config;
pub mod contikimac;
mod csma;
mod event;
mod frame_security;
mod indirect;
mod layer;
mod link;
mod links;
mod listening;
mod mac;
mod neighbours;
mod polling;
mod queue;
mod radio;
mod receive;
mod rules;
mod transmit;
pub mod tsch;
mod verbs;

pub use airtime::airtime;
pub use config::{Config, Csma, LinkSecurity};
pub use event::{BROADCAST, Event, Outcome, TransmitId};
pub use frame_security::security_level;
pub use indirect::Sleeper;
pub use layer::{MacLayer, RadioCommand, Received, SendError};
pub use link::LinkLayer;
pub use links::{DutyCycled, Link, TimeSlotted};
pub use listening::{AlwaysOn, Listening, Sleepy};
pub use mac::Mac;
pub use neighbours::Neighbour;
pub use polling::Polling;
pub use rules::{Backoff, ChannelAccess, ContikiCsma, Rules, Standard};

//! The MAC as a machine: a few of them on a radio channel in virtual time.

mod air;
mod contikimac;
mod exchange;
mod indirect;
mod null;
mod radios;
mod rules;
mod security;
mod sleepers;

//! What an image in an emulator and who drives it have in common, laid out the same on every
//! processor: integers are little-endian, and nothing is aligned.
//!
//! - [`Exchange`], in RAM, stands for the radio, the timers and the sensors. The image has it in
//!   a static called `EXCHANGE` and calls a function `exchange` between any two of its tasks. The
//!   driver stops it there, reads what the task wants, and lets it run on with what happens next.
//! - [`Device`], in flash, is what makes one device of an image that is the same for all: its
//!   addresses, routes and keys. It lies at the symbol `DEVICE` and is written before the image
//!   is loaded, like on a board.
//! - [`NetworkKeys`], in flash at the symbol `NETWORK`, is the same for IPsec, in images that have it.
//! - [`RawKeys`] at `RAW_KEYS` and [`CertifiedKeys`] at `CERTIFIED_KEYS` are the same for public keys.
#![no_std]

mod device;
mod exchange;
mod fields;
mod network;
mod public_keys;

pub use device::{BLANK, Cloud, DEVICE, Device, DeviceError, LinkKey, ROUTE, ROUTES, Route};
pub use exchange::{Command, DeviceEvent, ENTROPY, Exchange, FRAME, Flags, RECORD};
pub use network::{NETWORK, NetworkKeys};
pub use public_keys::{CERTIFIED_KEYS, CertifiedKeys, RAW_KEYS, RawKeys};

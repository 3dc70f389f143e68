//! SenML ([RFC 8428](https://www.rfc-editor.org/rfc/rfc8428)) in JSON and in CBOR: for each a writer for devices,
//! without floating point or allocation, and a bounded reader for servers that borrows the pack.
//!
//! # Use
//! A device makes a [`json::PackWriter`] or a [`cbor::PackWriter`], adds each record, and ends it. A server iterates over a
//! [`json::PackReader`] or a [`cbor::PackReader`], and takes no record before the last was read. `examples/readings.rs` does both.
//!
//! ```
//! use sixlock_senml::{Decimal, Reading, json};
//!
//! let mut pack = [0; 64];
//! let mut writer = json::PackWriter::new(&mut pack, "");
//! writer.record("t", "Cel", Reading::Number(Decimal::new(215, -1)))?;
//! let length = writer.finish()?;
//! assert_eq!(&pack[..length], br#"[{"n":"t","u":"Cel","v":21.5}]"#);
//! # Ok::<(), sixlock_senml::NoRoom>(())
//! ```
#![no_std]

pub mod cbor;
mod decimal;
mod device;
pub mod json;
mod number;
mod output;
mod reading;
mod record;
mod text;

pub use decimal::Decimal;
pub use device::DeviceName;
pub use number::{Integer, Number, Numeral};
pub use output::NoRoom;
pub use reading::Reading;
pub use record::{Data, ReadError, Record, Value};
pub use text::Text;

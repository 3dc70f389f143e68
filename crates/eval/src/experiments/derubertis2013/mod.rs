//! De Rubertis et al. (2013): AH, ESP and DTLS at an MB851 that sends back what it gets.

pub(super) mod fig_3;
pub(super) mod fig_4;
pub(super) mod fig_5;
pub(super) mod fig_6;
pub(super) mod fig_7;
pub(super) mod handshake;
mod testbed;

use self::testbed::{SIZES, Taken, Testbed, WAYS};
use super::sample::Sample;
use crate::figure::Figure;

const PAPER: &str = include_str!("../../../../../published/derubertis2013.toml");

/// A value counts as the paper's if it is within this part of it.
const NEARLY: f64 = 0.25;
/// The first size beyond which a datagram takes two frames, however it is secured.
const IN_TWO_FRAMES: u16 = 96;

/// A figure of one value for each size and each way.
fn by_size(
    testbed: &Testbed,
    title: &'static str,
    unit: &'static str,
    value: fn(&Taken) -> Sample,
) -> Figure {
    let rows = WAYS.into_iter().flat_map(|way| {
        SIZES.map(|bytes| testbed.get(way, bytes, value).row(way.label, unit).at(bytes.into()))
    });
    Figure { title, across: Some("payload, bytes"), rows: rows.collect() }
}

fn is_nearly(value: f64, said: f64) -> bool {
    (value / said - 1.0).abs() < NEARLY
}

//! The header of ContikiMAC in front of a payload, and the padding behind it.
//!
//! Its first byte is 0, with which nothing of 6LoWPAN begins
//! ([RFC 4944 section 5.1](https://www.rfc-editor.org/rfc/rfc4944#section-5.1)): it is known by that.

use sixlock_mac::contikimac::{HEADER, unpadded};

use crate::layer::{ContikiMac, Layer};

/// The payload in `received`. The header in front of it and the padding behind it are a layer, if they are there.
pub(crate) fn payload<'f>(received: &'f [u8], layers: &mut Vec<Layer>) -> &'f [u8] {
    let Some(payload) = unpadded(received) else { return received };
    let padding = received.len() - HEADER - payload.len();
    layers.push(Layer::ContikiMac(ContikiMac { bytes: HEADER + padding, payload: payload.len(), padding }));
    payload
}

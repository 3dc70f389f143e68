//! An attacker that sends noise.

use sixlock_ieee802154::MAX_FRAME;

use crate::time::Span;

use super::behaviour::{AttackerContext, Behaviour, Sending};
use super::packets::bytes;

/// Sends the longest frames, of no meaning, whether or not the channel is clear.
pub(super) struct Jam;

impl Behaviour for Jam {
    fn act(&mut self, context: &mut AttackerContext) -> Vec<Sending> {
        let frame = bytes(&mut context.stream, MAX_FRAME);
        vec![Sending { after: Span::ZERO, antenna: 0, frame, is_polite: false }]
    }
}

//! An attacker that sends again what it has heard.

use sixlock_ieee802154::{FrameType, Header};

use crate::time::Span;

use super::behaviour::{AttackerContext, Behaviour, Sending};

/// Sends each data frame again, as it was, so long after it has heard it.
pub(super) struct Replay {
    pub(super) after: Span,
}

impl Behaviour for Replay {
    fn hear(&mut self, _: &mut AttackerContext, _: usize, frame: &[u8]) -> Vec<Sending> {
        match Header::parse(frame) {
            Ok((header, _)) if header.frame_type == FrameType::Data => {
                vec![Sending { after: self.after, ..Sending::soon(frame.to_vec()) }]
            }
            _ => Vec::new(),
        }
    }
}

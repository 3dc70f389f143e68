//! An attacker that makes two places of a network one.

use std::collections::{BTreeSet, VecDeque};

use sixlock_base::Eui64;
use sixlock_ieee802154::{FrameType, Header};

use crate::time::Span;

use super::behaviour::{AttackerContext, Behaviour, Sending};
use super::frames;

/// How many stations are remembered at each end.
const STATIONS: usize = 64;
/// How many frames are remembered that were carried: one that is heard again is not carried back.
const CARRIED: usize = 32;

/// Sends each data frame that is heard at one end at the other, at once and as it is. An acknowledgement would come too late by the
/// same way: the end that hears a frame acknowledges it, if whom it is for is heard at the other end alone.
#[derive(Default)]
pub(super) struct Wormhole {
    /// Who was heard at each end.
    heard: [BTreeSet<Eui64>; 2],
    carried: VecDeque<Vec<u8>>,
}

impl Behaviour for Wormhole {
    fn hear(&mut self, _: &mut AttackerContext, antenna: usize, frame: &[u8]) -> Vec<Sending> {
        let Ok((header, _)) = Header::parse(frame) else { return Vec::new() };
        let Some(ends) = frames::ends(&header).filter(|_| header.frame_type == FrameType::Data) else {
            return Vec::new();
        };
        if self.carried.iter().any(|carried| carried == frame) {
            return Vec::new();
        }
        let other = 1 - antenna;
        if self.heard[antenna].len() < STATIONS && !self.heard[other].contains(&ends.source) {
            self.heard[antenna].insert(ends.source);
        }
        let is_there = self.heard[other].contains(&ends.destination);
        if header.ack_request && !is_there {
            // Who it is for is near this end, or nowhere.
            return Vec::new();
        }
        if self.carried.len() == CARRIED {
            self.carried.pop_front();
        }
        self.carried.push_back(frame.to_vec());
        let there = Sending { after: Span::ZERO, antenna: other, frame: frame.to_vec(), is_polite: true };
        let ack = header.ack_request.then(|| Sending::ack(antenna, header.sequence));
        ack.into_iter().chain([there]).collect()
    }
}

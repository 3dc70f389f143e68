//! How fast a border router without a CPU of its own may send, where nothing else keeps it from outrunning its neighbours.
//!
//! With acknowledgements, a frame that comes too early is repeated. With the NullMAC it is lost, unless who sends is as slow as who
//! receives: so the router makes its frames as fast as a node of the network does.

use std::sync::Arc;

use sixlock_base::{Engines, LinkSuite};
use sixlock_crypto::{AES_128_KEY, BlockCiphers, CcmNonce, Tag};
use sixlock_ieee802154::{FCS, MAX_FRAME};
use sixlock_node::security_level;

use crate::costs::{Costs, Step, Work};
use crate::engine::Accelerated;
use crate::error::ScenarioError;
use crate::platform::Platform;
use crate::time::Span;

/// The header of a secured frame, in bytes.
const HEADER: usize = 27;

/// What each frame takes a node on a platform.
pub(crate) struct FrameTime {
    platform: Platform,
    costs: Arc<Costs>,
    link: Option<LinkSuite>,
    engines: Engines,
}

impl FrameTime {
    /// That of nodes on `platform` whose link is so secured.
    pub(crate) fn of(
        platform: Platform,
        link: Option<LinkSuite>,
        engines: Engines,
    ) -> Result<Self, ScenarioError> {
        Ok(Self { costs: Arc::new(platform.costs()?), platform, link, engines })
    }

    /// How long the CPU is at work from the end of one frame to the beginning of the next, which has `len` bytes and is made
    /// meanwhile.
    pub(crate) fn frame(&self, len: usize) -> Span {
        let mut crypto = Accelerated::new(Some((self.platform.clone(), self.engines)));
        if let Some(suite) = self.link {
            let (level, tag) = security_level(suite);
            let mut tag = Tag::empty(tag);
            let key = crypto.aes_128(&[0; AES_128_KEY]);
            crypto.take();
            let mut frame = [0; MAX_FRAME];
            let sealed = len.min(MAX_FRAME).saturating_sub(tag.bytes().len() + FCS);
            let clear = if level.is_encrypted() { HEADER.min(sealed) } else { sealed };
            let (clear, payload) = frame[..sealed].split_at_mut(clear);
            crypto.ccm_seal(&key, CcmNonce::Thirteen(&[0; 13]), clear, payload, &mut tag);
        }
        let done = crypto.take();
        let mut work = Work::new(done.cpu);
        let steps = [Step::Transmitted, Step::RadioTimer, Step::ChannelAssessment, Step::ChannelAssessed];
        for step in steps.into_iter().chain([Step::FrameMade, Step::FragmentMade, Step::Transmission]) {
            work.add(step, len);
        }
        if self.link.is_some() {
            work.add(Step::FrameSealed, len);
        }
        self.platform.duration(self.costs.of(&work)) + done.lasts + self.platform.profile().bus(len)
    }
}

//! The random generator of firmware.

use sixlock_base::Entropy;
use sixlock_lockstep::ENTROPY;

use crate::random::{Purpose, Stream};

/// The random bytes of a block that is filled anew with each task, the last first, like the firmware's.
pub(crate) struct RandomBlock {
    stream: Stream,
    block: [u8; ENTROPY],
    left: usize,
}

impl Entropy for RandomBlock {
    fn fill(&mut self, out: &mut [u8]) {
        for byte in out {
            if self.left == 0 {
                self.renew();
                self.left = ENTROPY;
            }
            self.left -= 1;
            *byte = self.block[self.left];
        }
    }
}

impl RandomBlock {
    pub(crate) fn new(seed: u64, id: u32) -> Self {
        Self { stream: Stream::new(seed, id, Purpose::Entropy), block: [0; ENTROPY], left: 0 }
    }

    /// Fills the block anew, which happens whenever a task begins.
    pub(crate) fn renew(&mut self) {
        self.stream.fill(&mut self.block);
    }
}

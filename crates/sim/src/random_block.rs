//! The random generator of firmware.

use sixlock_base::Entropy;
use sixlock_lockstep::ENTROPY;

use crate::random::{Purpose, Stream};

/// The words of a block.
const WORDS: u64 = {
    assert!(ENTROPY.is_multiple_of(4), "blocks begin with whole words of the stream");
    ENTROPY as u64 / 4
};

/// The random bytes of a block that is filled anew with each task, the last first, like the firmware's. Few tasks use any: the block is
/// drawn only then.
pub(crate) struct RandomBlock {
    stream: Stream,
    /// How many blocks there have been, and how many before the one that was drawn last and that one.
    begun: u64,
    drawn: u64,
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
            if self.drawn < self.begun {
                self.stream.go_to((self.begun - 1) * WORDS);
                self.stream.fill(&mut self.block);
                self.drawn = self.begun;
            }
            self.left -= 1;
            *byte = self.block[self.left];
        }
    }
}

impl RandomBlock {
    pub(crate) fn new(seed: u64, id: u32) -> Self {
        Self {
            stream: Stream::new(seed, id, Purpose::Entropy),
            begun: 0,
            drawn: 0,
            block: [0; ENTROPY],
            left: 0,
        }
    }

    /// Fills the block anew, which happens whenever a task begins.
    pub(crate) fn renew(&mut self) {
        self.begun += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_what_it_would_be_had_all_before_it_been_drawn() {
        let (mut random, mut stream) = (RandomBlock::new(1, 2), Stream::new(1, 2, Purpose::Entropy));
        let mut blocks = [[0; ENTROPY]; 4];
        blocks.iter_mut().for_each(|block| stream.fill(block));
        let mut byte = || {
            let mut byte = [0];
            random.fill(&mut byte);
            byte[0]
        };
        assert_eq!([byte(), byte()], [blocks[0][ENTROPY - 1], blocks[0][ENTROPY - 2]]);
        (0..3).for_each(|_| random.renew());
        let mut byte = [0];
        random.fill(&mut byte);
        assert_eq!(byte[0], blocks[3][ENTROPY - 3]);
    }
}

//! What an engine takes for its jobs, from data sheets and measurements. `docs/platforms.md` shows the figures beside their sources.

use sixlock_crypto::ipsec::AES_BLOCK;

use crate::accelerator::Accelerator;
use crate::platform::Platform;
use crate::profile::Profile;

/// The longest frame, in bytes.
const FRAME: usize = 127;
/// What addresses a place in a CC2420's memory, in bytes.
const ADDRESS: usize = 2;

/// What an engine does in one go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Job {
    /// It encrypts a block with AES-128.
    AesBlock,
    /// It seals or opens, with CCM, a frame in the radio's buffer.
    Frame {
        /// Bytes that are authenticated only.
        header: usize,
        /// Bytes that are encrypted, too.
        payload: usize,
    },
    /// It encrypts or decrypts a frame in the radio's buffer.
    FrameEncryption {
        /// Bytes that are encrypted.
        payload: usize,
    },
    /// It seals or opens, with CCM, anything else.
    Message {
        /// Bytes that are authenticated only.
        header: usize,
        /// Bytes that are encrypted, too.
        payload: usize,
    },
    /// It does this many blocks of AES, one after the other, under one key.
    AesBlocks(usize),
    /// It mixes a block into a SHA-256 computation.
    Sha256Block,
    /// It multiplies a point of P-256 by a scalar.
    P256Multiplication,
}

/// What a job takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// How long the engine works, in nanoseconds.
    pub engine: u64,
    /// How many bytes the CPU moves over the bus for it.
    pub bus: usize,
}

impl Effort {
    /// How long the CPU of a platform with these figures is busy with it, in nanoseconds.
    pub const fn lasts(&self, profile: &Profile) -> u64 {
        self.engine + self.bus as u64 * profile.bus_byte
    }
}

/// Blocks of AES in CCM: the first, the header behind its length, the payload twice, and the tag's.
const fn ccm_blocks(header: usize, payload: usize) -> usize {
    let header = if header == 0 { 0 } else { 2 + header };
    1 + header.div_ceil(AES_BLOCK) + 2 * payload.div_ceil(AES_BLOCK) + 1
}

impl Job {
    /// What the job takes the engine of `platform`; nothing if it has none, or one that cannot do it.
    pub fn on(self, platform: &Platform) -> Option<Effort> {
        match platform.accelerator()? {
            Accelerator::Cc2420 => self.on_cc2420(),
            Accelerator::Cc2538 => self.on_cc2538(),
            Accelerator::Stm32w => self.on_stm32w(),
        }
    }

    /// CC2420 data sheet (SWRS041), section 21 and table 8. CCM of 50 and 69 bytes takes 222 µs, which is 16 blocks; it is
    /// taken to be proportional to the blocks. The bus carries addresses, commands, and what is in the memory.
    const fn on_cc2420(self) -> Option<Effort> {
        Some(match self {
            // The block there, the command, and the block back.
            Self::AesBlock => Effort { engine: 14_000, bus: 2 * (ADDRESS + AES_BLOCK) + 1 },
            // The nonce, the two registers of how and where, and the command; the frame is in the buffer anyway.
            Self::Frame { header, payload } => Effort {
                engine: 222_000 * ccm_blocks(header, payload) as u64 / ccm_blocks(50, 69) as u64,
                bus: ADDRESS + AES_BLOCK + 2 * 3 + 1,
            },
            // As that, of the blocks that there are.
            Self::FrameEncryption { payload } => Effort {
                engine: 222_000 * payload.div_ceil(AES_BLOCK) as u64 / ccm_blocks(50, 69) as u64,
                bus: ADDRESS + AES_BLOCK + 2 * 3 + 1,
            },
            Self::Message { header, payload } => {
                return Self::AesBlocks(ccm_blocks(header, payload)).on_cc2420();
            }
            // The key, then block by block.
            Self::AesBlocks(blocks) => {
                let Some(block) = Self::AesBlock.on_cc2420() else { return None };
                Effort { engine: blocks as u64 * block.engine, bus: ADDRESS + AES_BLOCK + blocks * block.bus }
            }
            Self::Sha256Block | Self::P256Multiplication => return None,
        })
    }

    /// Measured by others: CCM* of a frame takes about 0.1 ms, most of which sets the engine up; so every frame's length
    /// begun is taken for one. SHA-256, not confirmed: two blocks, which are as long as a frame, take as long. P-256, as published: a
    /// sixth of a second.
    const fn on_cc2538(self) -> Option<Effort> {
        let engine = match self {
            Self::AesBlock => 100_000,
            Self::Frame { header, payload } | Self::Message { header, payload } => {
                100_000 * (header + payload).div_ceil(FRAME) as u64
            }
            Self::FrameEncryption { payload } => 100_000 * payload.div_ceil(FRAME) as u64,
            Self::AesBlocks(blocks) => 100_000 * (blocks * AES_BLOCK).div_ceil(FRAME) as u64,
            Self::Sha256Block => 50_000,
            Self::P256Multiplication => 166_667_000,
        };
        Some(Effort { engine, bus: 0 })
    }

    /// Not confirmed, as nothing is published: taken to be as fast as the CC2420's engine, with no bus before it.
    const fn on_stm32w(self) -> Option<Effort> {
        let engine = match self {
            Self::AesBlock => 14_000,
            Self::Frame { header, payload } | Self::Message { header, payload } => {
                14_000 * ccm_blocks(header, payload) as u64
            }
            Self::FrameEncryption { payload } => 14_000 * payload.div_ceil(AES_BLOCK) as u64,
            Self::AesBlocks(blocks) => 14_000 * blocks as u64,
            Self::Sha256Block | Self::P256Multiplication => return None,
        };
        Some(Effort { engine, bus: 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn engine(platform: &Platform, job: Job) -> Option<u64> {
        job.on(platform).map(|effort| effort.engine)
    }

    #[test]
    fn jobs_of_the_published_sizes_take_the_published_times() {
        let published = Job::Frame { header: 50, payload: 69 };
        for platform in [Platform::tmote_sky(), Platform::micaz()] {
            assert_eq!(engine(&platform, published), Some(222_000));
            assert_eq!(engine(&platform, Job::AesBlock), Some(14_000));
        }
        let frame = Job::Frame { header: 23, payload: 94 };
        assert_eq!(engine(&Platform::openmote(), frame), Some(100_000));
        // Counter mode of 104 bytes, as those 15 were the header of a frame of 119: 99 µs.
        let encryption = engine(&Platform::tmote_sky(), Job::FrameEncryption { payload: 104 }).unwrap();
        assert!(encryption.abs_diff(99_000) < 3_000, "{encryption} ns");
    }

    /// Sixteen blocks by themselves would take 224 µs, and take 222 µs together.
    #[test]
    fn a_frame_takes_the_cc2420_about_as_long_as_its_blocks() {
        for (header, payload) in [(0, 16), (23, 20), (23, 94), (50, 69)] {
            let blocks = ccm_blocks(header, payload) as u64;
            let frame = engine(&Platform::tmote_sky(), Job::Frame { header, payload }).unwrap();
            assert!(
                frame.abs_diff(blocks * 14_000) * 100 <= frame,
                "{header} and {payload} bytes: {frame} ns"
            );
        }
    }

    #[test]
    fn the_bus_costs_more_than_the_engine_where_there_is_one() {
        let sky = *Platform::tmote_sky().profile();
        let block = Job::AesBlock.on(&Platform::tmote_sky()).unwrap();
        assert_eq!(block.lasts(&sky), 14_000 + 37 * 4_100);
        let record = Job::Message { header: 13, payload: 48 };
        // The key, and two blocks beside one of header and twice three of payload.
        assert_eq!(
            record.on(&Platform::tmote_sky()).unwrap(),
            Effort { engine: 9 * 14_000, bus: 18 + 9 * 37 }
        );
        assert_eq!(record.on(&Platform::mb851()).unwrap(), Effort { engine: 9 * 14_000, bus: 0 });
    }

    #[test]
    fn one_engine_hashes_and_multiplies_points() {
        for job in [Job::Sha256Block, Job::P256Multiplication] {
            let does: Vec<_> = Platform::all().filter(|platform| engine(platform, job).is_some()).collect();
            assert_eq!(does, [Platform::openmote()]);
        }
        assert_eq!(engine(&Platform::openmote(), Job::P256Multiplication), Some(166_667_000));
    }
}

//! Accelerators, modelled: software computes what an engine would, and how long the engine takes is known from its data
//! sheet.
//!
//! The CPU is at work meanwhile: on the bus to the engine, or waiting, as no job lasts so long that it could sleep.
//! `docs/platforms.md` shows the figures beside their sources.

use sixlock_base::Engines;
use sixlock_crypto::{
    AES_128_KEY, AuthenticationFailed, CcmNonce, CcmTag, Crypto, Metered, Operation, Operations,
    SHA_256_DIGEST, Soft, Tag,
};

use crate::platform::Platform;
use crate::profile::Profile;
use crate::time::Span;
use crate::trial::{Use, Witness, fingerprint};

mod ipsec;
mod p256;

const AES_BLOCK: usize = 16;
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
    /// What the job takes the engine of `platform`; nothing if it cannot do it.
    pub const fn on(self, platform: Platform) -> Option<Effort> {
        match platform {
            Platform::TmoteSky | Platform::MicaZ => self.on_cc2420(),
            Platform::OpenMote => self.on_cc2538(),
            Platform::Mb851 => self.on_stm32w(),
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

/// The primitives of a node, some of which an engine does.
pub struct Accelerated {
    /// Where the engine is, and what it is taken for; nothing if the CPU does all.
    engine: Option<(Platform, Engines)>,
    /// What the CPU does.
    cpu: Metered<Soft>,
    /// What the engine does.
    done: Metered<Soft>,
    /// How long the engine's jobs last, in nanoseconds, as far as it is not known from what was done.
    lasts: u64,
    /// Sees each use of a key and nonce, if somebody is to.
    witness: Option<Witness>,
}

/// What was done since it was last asked about.
pub(crate) struct Done {
    /// By the CPU.
    pub(crate) cpu: Operations,
    /// By an engine.
    pub(crate) engine: Operations,
    /// How long the engine's jobs have kept the CPU busy.
    pub(crate) lasts: Span,
}

impl Accelerated {
    /// Primitives of which the engine of a platform does those of the layers that it is taken for.
    pub(crate) fn new(engine: Option<(Platform, Engines)>) -> Self {
        Self { engine, cpu: Metered::new(Soft), done: Metered::new(Soft), lasts: 0, witness: None }
    }

    /// Lets a witness see each use of a key and nonce from now on.
    pub(crate) fn show(&mut self, witness: Witness) {
        self.witness = Some(witness);
    }

    /// What was done since this was last called.
    pub(crate) fn take(&mut self) -> Done {
        let (cpu, engine) = (self.cpu.take(), self.done.take());
        let hashing = self.effort(Job::Sha256Block, |_| true).unwrap_or(0);
        let lasts =
            core::mem::take(&mut self.lasts) + u64::from(engine.get(Operation::Sha256Block)) * hashing;
        Done { cpu, engine, lasts: Span::from_micros(lasts.div_ceil(1000)) }
    }

    /// How long the engine's job keeps the CPU busy, if there is one that does it and is `wanted`.
    fn effort(&self, job: Job, wanted: impl FnOnce(Engines) -> bool) -> Option<u64> {
        let (platform, engines) = self.engine?;
        let effort = job.on(platform).filter(|_| wanted(engines))?;
        Some(effort.lasts(&Profile::of(platform)))
    }

    /// Who seals or opens with CCM. Frames have longer nonces than the records of DTLS.
    fn ccm(&mut self, nonce: &CcmNonce<'_>, header: usize, payload: usize, tag: &Tag) -> &mut Metered<Soft> {
        let effort = match nonce {
            CcmNonce::Thirteen(_) if tag.bytes().is_empty() => {
                self.effort(Job::FrameEncryption { payload }, |engines| engines.link)
            }
            CcmNonce::Thirteen(_) => self.effort(Job::Frame { header, payload }, |engines| engines.link),
            CcmNonce::Twelve(_) => self.effort(Job::Message { header, payload }, |engines| engines.transport),
        };
        self.lasts += effort.unwrap_or(0);
        if effort.is_some() { &mut self.done } else { &mut self.cpu }
    }

    /// Who hashes for DTLS.
    fn hash(&mut self) -> &mut Metered<Soft> {
        match self.effort(Job::Sha256Block, |engines| engines.transport) {
            Some(_) => &mut self.done,
            None => &mut self.cpu,
        }
    }
}

/// A use of a key of CCM, by what the key makes of nothing.
fn ccm_use(key: &<Soft as Crypto>::Aes128, nonce: &[u8]) -> Use {
    let mut name = Tag::empty(CcmTag::Sixteen);
    Soft.ccm_seal(key, CcmNonce::Twelve(&[0; 12]), &[], &mut [], &mut name);
    [name.bytes(), nonce].concat()
}

impl Crypto for Accelerated {
    type Aes128 = <Metered<Soft> as Crypto>::Aes128;
    type AesGcm = <Metered<Soft> as Crypto>::AesGcm;
    type Sha256 = <Metered<Soft> as Crypto>::Sha256;
    type HmacKey = <Metered<Soft> as Crypto>::HmacKey;

    /// With an engine nobody prepares keys: it is handed them as they are.
    fn aes_128(&mut self, key: &[u8; AES_128_KEY]) -> Self::Aes128 {
        if self.engine.is_some() { self.done.aes_128(key) } else { self.cpu.aes_128(key) }
    }

    fn ccm_seal(
        &mut self,
        key: &Self::Aes128,
        nonce: CcmNonce<'_>,
        aad: &[u8],
        data: &mut [u8],
        tag: &mut Tag,
    ) {
        if let Some(witness) = &mut self.witness {
            let name = match &nonce {
                CcmNonce::Thirteen(nonce) => ccm_use(key, &nonce[..]),
                CcmNonce::Twelve(nonce) => ccm_use(key, &nonce[..]),
            };
            witness.protects(name, fingerprint(&[aad, data]));
        }
        self.ccm(&nonce, aad.len(), data.len(), tag).ccm_seal(key, nonce, aad, data, tag);
    }

    fn ccm_open(
        &mut self,
        key: &Self::Aes128,
        nonce: CcmNonce<'_>,
        aad: &[u8],
        data: &mut [u8],
        tag: &Tag,
    ) -> Result<(), AuthenticationFailed> {
        let name = self.witness.is_some().then(|| match &nonce {
            CcmNonce::Thirteen(nonce) => ccm_use(key, &nonce[..]),
            CcmNonce::Twelve(nonce) => ccm_use(key, &nonce[..]),
        });
        let opened = self.ccm(&nonce, aad.len(), data.len(), tag).ccm_open(key, nonce, aad, data, tag);
        if let (Some(witness), Some(name), Ok(())) = (&mut self.witness, name, opened) {
            witness.opens(name, fingerprint(&[aad, data]));
        }
        opened
    }

    fn aes_gcm(&mut self, key: &Self::Aes128) -> Self::AesGcm {
        self.cpu.aes_gcm(key)
    }

    fn gcm_seal(&mut self, key: &Self::AesGcm, nonce: &[u8; 12], aad: &[u8], data: &mut [u8]) -> [u8; 16] {
        self.cpu.gcm_seal(key, nonce, aad, data)
    }

    fn gcm_open(
        &mut self,
        key: &Self::AesGcm,
        nonce: &[u8; 12],
        aad: &[u8],
        data: &mut [u8],
        tag: &[u8; 16],
    ) -> Result<(), AuthenticationFailed> {
        self.cpu.gcm_open(key, nonce, aad, data, tag)
    }

    fn sha256(&mut self) -> Self::Sha256 {
        self.hash().sha256()
    }

    fn sha256_update(&mut self, hash: &mut Self::Sha256, data: &[u8]) {
        self.hash().sha256_update(hash, data);
    }

    fn sha256_finish(&mut self, hash: Self::Sha256) -> [u8; SHA_256_DIGEST] {
        self.hash().sha256_finish(hash)
    }

    fn hmac_key(&mut self, key: &[u8]) -> Self::HmacKey {
        self.hash().hmac_key(key)
    }

    fn hmac_sha256(&mut self, key: &Self::HmacKey, parts: &[&[u8]]) -> [u8; SHA_256_DIGEST] {
        self.hash().hmac_sha256(key, parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixlock_crypto::p256::P256 as _;

    const BOTH: Engines = Engines { link: true, network: false, transport: true };

    fn engine(platform: Platform, job: Job) -> Option<u64> {
        job.on(platform).map(|effort| effort.engine)
    }

    #[test]
    fn jobs_of_the_published_sizes_take_the_published_times() {
        let published = Job::Frame { header: 50, payload: 69 };
        for platform in [Platform::TmoteSky, Platform::MicaZ] {
            assert_eq!(engine(platform, published), Some(222_000));
            assert_eq!(engine(platform, Job::AesBlock), Some(14_000));
        }
        let frame = Job::Frame { header: 23, payload: 94 };
        assert_eq!(engine(Platform::OpenMote, frame), Some(100_000));
        // Counter mode of 104 bytes, as those 15 were the header of a frame of 119: 99 µs.
        let encryption = engine(Platform::TmoteSky, Job::FrameEncryption { payload: 104 }).unwrap();
        assert!(encryption.abs_diff(99_000) < 3_000, "{encryption} ns");
    }

    /// Sixteen blocks by themselves would take 224 µs, and take 222 µs together.
    #[test]
    fn a_frame_takes_the_cc2420_about_as_long_as_its_blocks() {
        for (header, payload) in [(0, 16), (23, 20), (23, 94), (50, 69)] {
            let blocks = ccm_blocks(header, payload) as u64;
            let frame = engine(Platform::TmoteSky, Job::Frame { header, payload }).unwrap();
            assert!(
                frame.abs_diff(blocks * 14_000) * 100 <= frame,
                "{header} and {payload} bytes: {frame} ns"
            );
        }
    }

    #[test]
    fn the_bus_costs_more_than_the_engine_where_there_is_one() {
        let sky = Profile::of(Platform::TmoteSky);
        let block = Job::AesBlock.on(Platform::TmoteSky).unwrap();
        assert_eq!(block.lasts(&sky), 14_000 + 37 * 4_100);
        let record = Job::Message { header: 13, payload: 48 };
        // The key, and two blocks beside one of header and twice three of payload.
        assert_eq!(record.on(Platform::TmoteSky).unwrap(), Effort { engine: 9 * 14_000, bus: 18 + 9 * 37 });
        assert_eq!(record.on(Platform::Mb851).unwrap(), Effort { engine: 9 * 14_000, bus: 0 });
    }

    #[test]
    fn one_engine_hashes_and_multiplies_points() {
        for job in [Job::Sha256Block, Job::P256Multiplication] {
            let does = |platform| engine(platform, job).is_some();
            assert_eq!(Platform::ALL.map(|(_, platform)| does(platform)), [false, false, true, false]);
        }
        assert_eq!(engine(Platform::OpenMote, Job::P256Multiplication), Some(166_667_000));
    }

    /// What is done of a frame, a record and a hash.
    fn done(engine: Option<(Platform, Engines)>) -> (Done, Vec<u8>) {
        let mut crypto = Accelerated::new(engine);
        let key = crypto.aes_128(&[7; AES_128_KEY]);
        let mut bytes = vec![0x42; 60];
        let mut tag = Tag::empty(CcmTag::Eight);
        crypto.ccm_seal(&key, CcmNonce::Thirteen(&[1; 13]), &[2; 23], &mut bytes, &mut tag);
        crypto.ccm_seal(&key, CcmNonce::Twelve(&[3; 12]), &[4; 13], &mut bytes, &mut tag);
        bytes.extend(tag.bytes());
        let key = crypto.hmac_key(b"key");
        bytes.extend(crypto.hmac_sha256(&key, &[b"message"]));
        (crypto.take(), bytes)
    }

    #[test]
    fn an_engine_computes_what_the_cpu_would_and_nothing_is_charged_twice() {
        let (all, expected) = done(None);
        assert_eq!((all.engine, all.lasts), (Operations::default(), Span::ZERO));
        for (_, platform) in Platform::ALL {
            let (link, transport) = (Engines { transport: false, ..BOTH }, Engines { link: false, ..BOTH });
            for engines in [link, transport, BOTH] {
                let (done, bytes) = done(Some((platform, engines)));
                assert_eq!(bytes, expected);
                assert!(done.lasts > Span::ZERO);
                for (operation, count) in all.cpu.iter() {
                    assert_eq!(
                        done.cpu.get(operation) + done.engine.get(operation),
                        count,
                        "{}",
                        operation.name()
                    );
                }
                let [seals, hmacs] =
                    [Operation::CcmSeal, Operation::HmacSha256].map(|kind| done.cpu.get(kind));
                assert_eq!(seals, if engines == BOTH { 0 } else { 1 });
                let hashes = platform == Platform::OpenMote && engines.transport;
                assert_eq!(hmacs, u32::from(!hashes));
            }
        }
    }

    #[test]
    fn points_are_multiplied_by_the_one_engine_that_can() {
        for (_, platform) in Platform::ALL {
            let mut crypto = Accelerated::new(Some((platform, BOTH)));
            let (secret, digest) = ([7; 32], [3; 32]);
            let point = crypto.p256_public_key(&secret).unwrap();
            let signature = crypto.p256_sign(&secret, &digest).unwrap();
            assert_eq!(crypto.p256_verify(&point, &digest, &signature), Ok(()));
            assert!(crypto.p256_agree(&secret, &point).is_some());
            let done = crypto.take();
            let (engine, lasts) = match platform {
                Platform::OpenMote => (1, Span::from_micros(5 * 166_667)),
                _ => (0, Span::ZERO),
            };
            assert_eq!(done.lasts, lasts);
            assert_eq!(done.engine.get(Operation::P256Agree), engine);
            assert_eq!(done.cpu.get(Operation::P256Agree), 1 - engine);
        }
    }

    #[test]
    fn what_was_done_lasts_as_long_as_its_jobs() {
        let (done, _) = done(Some((Platform::OpenMote, BOTH)));
        // A frame, a record, and an HMAC of four blocks.
        assert_eq!(done.lasts, Span::from_micros(100 + 100 + 4 * 50));
    }
}

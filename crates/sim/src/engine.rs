//! Accelerators, modelled: software computes what an engine would, and how long the engine takes is known from its data
//! sheet.
//!
//! The CPU is at work meanwhile: on the bus to the engine, or waiting, as no job lasts so long that it could sleep.

mod ciphers;
mod job;

use sixlock_base::Engines;
use sixlock_crypto::ipsec::{AES_BLOCK, MacWork};
use sixlock_crypto::{Call, Delegate, Operation, Operations, Soft, part};

pub use self::job::{Effort, Job};
use crate::platform::Platform;
use crate::time::Span;
use crate::trial::Witness;

/// The length of CCM's nonce in IEEE 802.15.4, in bytes.
const LINK_NONCE: usize = 13;
/// The length of CCM's nonce in IPsec, in bytes.
const NETWORK_NONCE: usize = 11;

/// The primitives of a node, some of which an engine does.
pub struct Accelerated {
    /// Where the engine is, and the layers that it works for; nothing if the CPU does all.
    engine: Option<(Platform, Engines)>,
    /// What computes, for either.
    backend: Soft,
    /// What the CPU does.
    cpu: Operations,
    /// What the engine does.
    done: Operations,
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
    /// Primitives of which the engine of a platform does those of the layers that it works for.
    pub(crate) fn new(engine: Option<(Platform, Engines)>) -> Self {
        let [cpu, done] = [Operations::default(); 2];
        Self { engine, backend: Soft, cpu, done, lasts: 0, witness: None }
    }

    /// Lets a witness see each use of a key and nonce from now on.
    pub(crate) fn show(&mut self, witness: Witness) {
        self.witness = Some(witness);
    }

    /// What was done since this was last called.
    pub(crate) fn take(&mut self) -> Done {
        let (cpu, engine) = (core::mem::take(&mut self.cpu), core::mem::take(&mut self.done));
        let hashing = self.lasts(Job::Sha256Block).unwrap_or(0);
        let lasts =
            core::mem::take(&mut self.lasts) + u64::from(engine.get(Operation::Sha256Block)) * hashing;
        Done { cpu, engine, lasts: Span::from_micros(lasts.div_ceil(1000)) }
    }

    /// How long a job of the engine keeps the CPU busy, in nanoseconds; `None` if the engine cannot do it.
    fn lasts(&self, job: Job) -> Option<u64> {
        let (platform, _) = self.engine.as_ref()?;
        Some(job.on(platform)?.lasts(platform.profile()))
    }

    /// How long the engine takes for a call, in nanoseconds, as far as it is known from the call; `None` if the CPU does it.
    fn effort(&self, call: Call) -> Option<u64> {
        let &(_, engines) = self.engine.as_ref()?;
        // With an engine nobody prepares keys: it is handed them as they are.
        if call == Call::Aes128Key {
            return Some(0);
        }
        let (is_wanted, job, times) = jobs(call, engines)?;
        self.lasts(job).filter(|_| is_wanted).map(|lasts| times * lasts)
    }

    /// Counts what a call takes, for the engine or for the CPU.
    fn account(&mut self, call: Call) -> &mut Soft {
        match self.effort(call) {
            Some(effort) => {
                self.lasts += effort;
                self.done.count(call);
            }
            None => self.cpu.count(call),
        }
        &mut self.backend
    }
}

/// Whether the layer that makes a call wants the engine, the job that the call is to it, and how often it does that job. Blocks of
/// a hash are known when they were counted only. `None` if no engine does it: SHA-1 and the multiplication of GCM are the CPU's.
fn jobs(call: Call, engines: Engines) -> Option<(bool, Job, u64)> {
    let Engines { link, network, transport } = engines;
    Some(match call {
        Call::Ccm { nonce: LINK_NONCE, data: payload, tag: 0, .. } => {
            (link, Job::FrameEncryption { payload }, 1)
        }
        Call::Ccm { nonce, aad: header, data: payload, .. } => match nonce {
            LINK_NONCE => (link, Job::Frame { header, payload }, 1),
            NETWORK_NONCE => (network, Job::Message { header, payload }, 1),
            _ => (transport, Job::Message { header, payload }, 1),
        },
        Call::Ctr { data } => (network, Job::AesBlocks(data.div_ceil(AES_BLOCK)), 1),
        Call::Cbc { blocks, .. } => (network, Job::AesBlocks(blocks), 1),
        Call::Mac { work: MacWork::Aes, message } => {
            (network, Job::AesBlocks(message.div_ceil(AES_BLOCK).max(1)), 1)
        }
        Call::MacKey(MacWork::Sha256) | Call::Mac { work: MacWork::Sha256, .. } => {
            (network, Job::Sha256Block, 0)
        }
        Call::Sha256Begin
        | Call::Sha256Update { .. }
        | Call::Sha256Finish { .. }
        | Call::HmacKey { .. }
        | Call::Hmac { .. } => (transport, Job::Sha256Block, 0),
        // The engine multiplies points. What else a signature takes is little beside that, and left out.
        Call::P256PublicKey | Call::P256Agree | Call::P256Sign => (transport, Job::P256Multiplication, 1),
        Call::P256Verify => (transport, Job::P256Multiplication, 2),
        _ => return None,
    })
}

macro_rules! delegates {
    ($($part:ident)*) => {$(
        impl Delegate<part::$part> for Accelerated {
            type Backend = Soft;

            fn backend(&mut self, call: Call) -> &mut Soft {
                self.account(call)
            }
        }
    )*};
}

// The other ciphers show their keys to the witness.
delegates! { PacketCiphers Hashes P256 }

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accelerator::Accelerator;
    use sixlock_crypto::ipsec::{Authenticate, HmacSha1, HmacSha256, MacAlgorithm, PacketCipher as _, Xcbc};
    use sixlock_crypto::p256::P256 as _;
    use sixlock_crypto::{AES_128_KEY, BlockCiphers as _, CcmNonce, CcmTag, Hashes as _, Tag};

    const BOTH: Engines = Engines { link: true, network: false, transport: true };

    /// The boards that have an engine.
    fn boards() -> impl Iterator<Item = Platform> {
        Platform::all().filter(|platform| platform.accelerator().is_some())
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
        for platform in boards() {
            let (link, transport) = (Engines { transport: false, ..BOTH }, Engines { link: false, ..BOTH });
            for engines in [link, transport, BOTH] {
                let (done, bytes) = done(Some((platform.clone(), engines)));
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
                let hashes = platform == Platform::openmote() && engines.transport;
                assert_eq!(hmacs, u32::from(!hashes));
            }
        }
    }

    #[test]
    fn points_are_multiplied_by_the_one_engine_that_can() {
        for platform in boards() {
            let mut crypto = Accelerated::new(Some((platform.clone(), BOTH)));
            let (secret, digest) = ([7; 32], [3; 32]);
            let point = crypto.p256_public_key(&secret).unwrap();
            let signature = crypto.p256_sign(&secret, &digest).unwrap();
            assert_eq!(crypto.p256_verify(&point, &digest, &signature), Ok(()));
            assert!(crypto.p256_agree(&secret, &point).is_some());
            let done = crypto.take();
            let (engine, lasts) = match platform.accelerator() {
                Some(Accelerator::Cc2538) => (1, Span::from_micros(5 * 166_667)),
                _ => (0, Span::ZERO),
            };
            assert_eq!(done.lasts, lasts);
            assert_eq!(done.engine.get(Operation::P256Agree), engine);
            assert_eq!(done.cpu.get(Operation::P256Agree), 1 - engine);
        }
    }

    #[test]
    fn what_was_done_lasts_as_long_as_its_jobs() {
        let (done, _) = done(Some((Platform::openmote(), BOTH)));
        // A frame, a record, and an HMAC of four blocks.
        assert_eq!(done.lasts, Span::from_micros(100 + 100 + 4 * 50));
    }

    const NETWORK: Engines = Engines { network: true, ..Engines::NONE };

    fn code<A: MacAlgorithm>(crypto: &mut Accelerated, message: &[u8]) -> Vec<u8>
    where
        Accelerated: Authenticate<A>,
    {
        let key = Authenticate::<A>::authentication_key(crypto, &[5; 64][..A::KEY]).unwrap();
        let mut state = Authenticate::<A>::begin(crypto, &key);
        Authenticate::<A>::update(crypto, &mut state, message);
        Authenticate::<A>::finish(crypto, state).as_ref().to_vec()
    }

    /// What is done of a packet by each algorithm.
    fn done_of_packets(engine: Option<(Platform, Engines)>) -> (Done, Vec<u8>) {
        let mut crypto = Accelerated::new(engine);
        let (key, mut bytes) = (crypto.aes_128(&[7; AES_128_KEY]), vec![0x42; 64]);
        crypto.aes_ctr(&key, &[1; AES_BLOCK], &mut bytes);
        let cbc = crypto.aes_cbc(&[8; AES_128_KEY]);
        crypto.cbc_encrypt(&cbc, &[2; AES_BLOCK], bytes.as_chunks_mut().0);
        let mut icv = [0; 8];
        crypto.packet_ccm_seal(&key, &[3; 11], &[4; 8], &mut bytes, &mut icv);
        let key = crypto.aes_128(&[9; AES_128_KEY]);
        let gcm = crypto.aes_gcm(&key);
        let tag = crypto.gcm_seal(&gcm, &[3; 12], &[4; 8], &mut bytes);
        let codes = [
            code::<Xcbc>(&mut crypto, &bytes),
            code::<HmacSha1>(&mut crypto, &bytes),
            code::<HmacSha256>(&mut crypto, &bytes),
        ];
        (crypto.take(), [&bytes[..], &icv, &tag, &codes.concat()].concat())
    }

    #[test]
    fn of_packets_an_engine_computes_what_the_cpu_would_and_nothing_is_charged_twice() {
        let (all, expected) = done_of_packets(None);
        assert_eq!(all.lasts, Span::ZERO);
        for platform in boards() {
            let (done, bytes) = done_of_packets(Some((platform.clone(), NETWORK)));
            assert_eq!(bytes, expected);
            assert!(done.lasts > Span::ZERO);
            for (operation, count) in all.cpu.iter() {
                let both = done.cpu.get(operation) + done.engine.get(operation);
                assert_eq!(both, count, "{}", operation.name());
            }
            let by_cpu = |operation| done.cpu.get(operation) > 0;
            assert!(!by_cpu(Operation::AesMacBlock) && !by_cpu(Operation::CcmSeal));
            assert!(by_cpu(Operation::Sha1Block) && by_cpu(Operation::GcmBlock));
            assert_eq!(by_cpu(Operation::Sha256Block), platform != Platform::openmote());
        }
    }
}

//! What an engine does for IPsec: AES, block by block or in counter mode, and SHA-256 where it hashes. The rest, SHA-1 and
//! the multiplication of GCM, is the CPU's.

use sixlock_crypto::ipsec::{Authenticate, MacAlgorithm, MacWork, PacketCipher};
use sixlock_crypto::{AES_128_KEY, AuthenticationFailed, Metered, Soft};

use super::{AES_BLOCK, Accelerated, Job};

/// A code under way, the length of whose message is known.
pub struct AcceleratedMac<S> {
    state: S,
    len: usize,
}

impl Accelerated {
    /// Who does so many blocks of AES.
    fn aes(&mut self, blocks: usize) -> &mut Metered<Soft> {
        let effort = self.effort(Job::AesBlocks(blocks), |engines| engines.network);
        self.lasts += effort.unwrap_or(0);
        if effort.is_some() { &mut self.done } else { &mut self.cpu }
    }

    /// Who hashes for a code, and prepares its key.
    fn mac_hash(&mut self, work: MacWork) -> &mut Metered<Soft> {
        match work {
            MacWork::Sha256 if self.effort(Job::Sha256Block, |engines| engines.network).is_some() => {
                &mut self.done
            }
            MacWork::Sha256 | MacWork::Sha1 | MacWork::Aes => &mut self.cpu,
        }
    }

    /// Who computes a code of `len` bytes.
    fn mac(&mut self, work: MacWork, len: usize) -> &mut Metered<Soft> {
        match work {
            MacWork::Aes => self.aes(len.div_ceil(AES_BLOCK).max(1)),
            MacWork::Sha256 | MacWork::Sha1 => self.mac_hash(work),
        }
    }

    /// Who seals or opens with CCM.
    fn packet_ccm(&mut self, header: usize, payload: usize) -> &mut Metered<Soft> {
        let effort = self.effort(Job::Message { header, payload }, |engines| engines.network);
        self.lasts += effort.unwrap_or(0);
        if effort.is_some() { &mut self.done } else { &mut self.cpu }
    }
}

impl<A: MacAlgorithm> Authenticate<A> for Accelerated
where
    Metered<Soft>: Authenticate<A>,
{
    type Key = <Metered<Soft> as Authenticate<A>>::Key;
    type State<'k>
        = AcceleratedMac<<Metered<Soft> as Authenticate<A>>::State<'k>>
    where
        Self: 'k;

    fn authentication_key(&mut self, key: &[u8]) -> Option<Self::Key> {
        self.mac_hash(A::WORK).authentication_key(key)
    }

    fn begin<'k>(&mut self, key: &'k Self::Key) -> Self::State<'k> {
        AcceleratedMac { state: self.cpu.begin(key), len: 0 }
    }

    fn update(&mut self, mac: &mut Self::State<'_>, data: &[u8]) {
        mac.len += data.len();
        self.cpu.update(&mut mac.state, data);
    }

    fn finish(&mut self, mac: Self::State<'_>) -> A::Code {
        self.mac(A::WORK, mac.len).finish(mac.state)
    }
}

impl PacketCipher for Accelerated {
    type AesCbc = <Metered<Soft> as PacketCipher>::AesCbc;

    fn aes_ctr(&mut self, key: &Self::Aes128, first: &[u8; AES_BLOCK], data: &mut [u8]) {
        self.aes(data.len().div_ceil(AES_BLOCK)).aes_ctr(key, first, data);
    }

    fn aes_cbc(&mut self, key: &[u8; AES_128_KEY]) -> Self::AesCbc {
        self.cpu.aes_cbc(key)
    }

    fn cbc_encrypt(&mut self, key: &Self::AesCbc, iv: &[u8; AES_BLOCK], blocks: &mut [[u8; AES_BLOCK]]) {
        self.aes(blocks.len()).cbc_encrypt(key, iv, blocks);
    }

    fn cbc_decrypt(&mut self, key: &Self::AesCbc, iv: &[u8; AES_BLOCK], blocks: &mut [[u8; AES_BLOCK]]) {
        self.aes(blocks.len()).cbc_decrypt(key, iv, blocks);
    }

    fn packet_ccm_seal(
        &mut self,
        key: &Self::Aes128,
        nonce: &[u8; 11],
        aad: &[u8],
        data: &mut [u8],
        icv: &mut [u8],
    ) {
        self.packet_ccm(aad.len(), data.len()).packet_ccm_seal(key, nonce, aad, data, icv);
    }

    fn packet_ccm_open(
        &mut self,
        key: &Self::Aes128,
        nonce: &[u8; 11],
        aad: &[u8],
        data: &mut [u8],
        icv: &[u8],
    ) -> Result<(), AuthenticationFailed> {
        self.packet_ccm(aad.len(), data.len()).packet_ccm_open(key, nonce, aad, data, icv)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Done;
    use crate::platform::Platform;
    use crate::time::Span;
    use sixlock_base::Engines;
    use sixlock_crypto::ipsec::{HmacSha1, HmacSha256, Xcbc};
    use sixlock_crypto::{Crypto, Operation};

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
    fn done(engine: Option<(Platform, Engines)>) -> (Done, Vec<u8>) {
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
    fn an_engine_computes_what_the_cpu_would_and_nothing_is_charged_twice() {
        let (all, expected) = done(None);
        assert_eq!(all.lasts, Span::ZERO);
        for (_, platform) in Platform::ALL {
            let (done, bytes) = done(Some((platform, NETWORK)));
            assert_eq!(bytes, expected);
            assert!(done.lasts > Span::ZERO);
            for (operation, count) in all.cpu.iter() {
                let both = done.cpu.get(operation) + done.engine.get(operation);
                assert_eq!(both, count, "{}", operation.name());
            }
            let by_cpu = |operation| done.cpu.get(operation) > 0;
            assert!(!by_cpu(Operation::AesMacBlock) && !by_cpu(Operation::CcmSeal));
            assert!(by_cpu(Operation::Sha1Block) && by_cpu(Operation::GcmBlock));
            assert_eq!(by_cpu(Operation::Sha256Block), platform != Platform::OpenMote);
        }
    }
}

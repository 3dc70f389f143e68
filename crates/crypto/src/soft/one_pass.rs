//! Counter mode and a chain of blocks over the same data at once. The chain waits for each of its blocks, and leaves the CPU's AES idle
//! meanwhile: the key stream of the blocks after them is made in that time.

use core::ops::Range;

use aes::Aes128Enc;
use aes::cipher::array::typenum::U16;
use aes::cipher::{BlockCipherEncBackend, BlockCipherEncClosure, BlockCipherEncrypt, BlockSizeUser};

use crate::ipsec::{AES_BLOCK, CounterMode, Direction};
use crate::masked::{MaskedKey, MaskedMac, xor};

/// Computes the masked code of `message`, and encrypts or decrypts its bytes `data` meanwhile. Returns `None`, and does nothing, unless
/// whole blocks stand before the data and the CPU does AES.
pub(super) fn code(
    direction: Direction,
    key: &MaskedKey<Aes128Enc>,
    cipher: CounterMode<'_, Aes128Enc>,
    message: &mut [u8],
    data: Range<usize>,
) -> Option<[u8; AES_BLOCK]> {
    if !data.start.is_multiple_of(AES_BLOCK) || !aes::hardware_accelerated() {
        return None;
    }
    let mut state = MaskedMac::new(key);
    let (front, rest) = message.split_at_mut_checked(data.start)?;
    let (blocks, tail) = rest.get_mut(..data.len())?.as_chunks_mut();
    let (added, tail) = (blocks.as_flattened().len(), tail.len());
    state.update(front);
    let (code, chain) = state.chain()?;
    let mut behind = [0; AES_BLOCK];
    let work = Stream { direction, first: cipher.first, blocks, behind: &mut behind, code, chain };
    cipher.key.encrypt_with_backend(work);
    let rest = rest.get_mut(added..)?;
    let apply = |rest: &mut [u8]| {
        for (byte, other) in rest.iter_mut().take(tail).zip(behind) {
            *byte ^= other;
        }
    };
    if direction == Direction::Encrypt {
        apply(rest);
    }
    state.update(rest);
    if direction == Direction::Decrypt {
        apply(rest);
    }
    Some(state.finish())
}

/// The counter block `n` blocks after `first`
/// ([RFC 3686 section 4](https://www.rfc-editor.org/rfc/rfc3686#section-4)).
#[inline(always)]
fn counter_block(first: &[u8; AES_BLOCK], n: usize) -> [u8; AES_BLOCK] {
    let first = u128::from_be_bytes(*first);
    let counter = (first as u32).wrapping_add(n as u32);
    (first >> u32::BITS << u32::BITS | u128::from(counter)).to_be_bytes()
}

/// The work, with the cipher's key ready and that of the code not yet.
struct Stream<'a> {
    direction: Direction,
    first: &'a [u8; AES_BLOCK],
    blocks: &'a mut [[u8; AES_BLOCK]],
    /// The key stream after the blocks.
    behind: &'a mut [u8; AES_BLOCK],
    code: &'a Aes128Enc,
    chain: &'a mut [u8; AES_BLOCK],
}

impl BlockSizeUser for Stream<'_> {
    type BlockSize = U16;
}

impl BlockCipherEncClosure for Stream<'_> {
    fn call<B: BlockCipherEncBackend<BlockSize = U16>>(self, cipher: &B) {
        self.code.encrypt_with_backend(Both { cipher, work: self });
    }
}

/// The work, with both keys ready.
struct Both<'a, B> {
    cipher: &'a B,
    work: Stream<'a>,
}

impl<B> BlockSizeUser for Both<'_, B> {
    type BlockSize = U16;
}

impl<B: BlockCipherEncBackend<BlockSize = U16>> BlockCipherEncClosure for Both<'_, B> {
    fn call<D: BlockCipherEncBackend<BlockSize = U16>>(self, code: &D) {
        let Stream { direction, first, blocks, behind, chain: end, .. } = self.work;
        let key_stream = |n| {
            let mut block = counter_block(first, n);
            self.cipher.encrypt_block_inplace((&mut block).into());
            block
        };
        *behind = key_stream(blocks.len());
        let mut chain = *end;
        // Chosen once: chosen for each block, LLVM makes of it vectors of 512 bits where the CPU has them, which take longer.
        match direction {
            Direction::Encrypt => {
                for (n, block) in blocks.iter_mut().enumerate() {
                    xor(block, &key_stream(n));
                    code.encrypt_block_inplace((&mut chain).into());
                    xor(&mut chain, block);
                }
            }
            Direction::Decrypt => {
                for (n, block) in blocks.iter_mut().enumerate() {
                    code.encrypt_block_inplace((&mut chain).into());
                    xor(&mut chain, block);
                    xor(block, &key_stream(n));
                }
            }
        }
        *end = chain;
    }
}

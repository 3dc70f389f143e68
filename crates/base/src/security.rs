//! The security choices and their spelling on command lines and in scenarios.

use core::fmt;
use core::str::FromStr;

/// The prefix of a device's identity where the device is the server, so that a handshake in one direction proves nothing in the other.
pub const ASKED_IDENTITY: &str = "ask.";

macro_rules! suites {
    ($(#[doc = $doc:literal])* $name:ident { $($(#[doc = $vdoc:literal])* $variant:ident = $label:literal,)* }) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[doc = $vdoc])* $variant,)* }

        impl $name {
            /// Every suite.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The suite's name in a mode string.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $label,)* }
            }

            /// The suite with this name.
            pub fn by_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|suite| suite.name() == name)
            }
        }
    };
}

suites! {
    /// A suite of IEEE 802.15.4 link-layer security: AES-CCM*, or its CBC-MAC or encryption alone.
    LinkSuite {
        /// Security level 1: a 32-bit MIC. Who listens reads everything.
        CbcMac32 = "cbc-mac-32",
        /// Security level 2: a 64-bit MIC, in the clear as well.
        CbcMac64 = "cbc-mac-64",
        /// Security level 3: a 128-bit MIC, in the clear as well.
        CbcMac128 = "cbc-mac-128",
        /// Security level 4: encryption alone. It accepts forgeries, and is here to be compared with.
        Ctr = "ctr",
        /// Security level 5: encryption and a 32-bit MIC.
        Ccm32 = "ccm-32",
        /// Security level 6: encryption and a 64-bit MIC.
        Ccm64 = "ccm-64",
        /// Security level 7: encryption and a 128-bit MIC.
        Ccm128 = "ccm-128",
    }
}

impl LinkSuite {
    /// The number of its security level.
    pub const fn level(self) -> u8 {
        match self {
            Self::CbcMac32 => 1,
            Self::CbcMac64 => 2,
            Self::CbcMac128 => 3,
            Self::Ctr => 4,
            Self::Ccm32 => 5,
            Self::Ccm64 => 6,
            Self::Ccm128 => 7,
        }
    }

    /// The suite of the security level with this number.
    pub const fn of_level(level: u8) -> Option<Self> {
        Some(match level {
            1 => Self::CbcMac32,
            2 => Self::CbcMac64,
            3 => Self::CbcMac128,
            4 => Self::Ctr,
            5 => Self::Ccm32,
            6 => Self::Ccm64,
            7 => Self::Ccm128,
            _ => return None,
        })
    }

    /// Whether forged and replayed frames are refused.
    pub const fn authenticates(self) -> bool {
        !matches!(self, Self::Ctr)
    }

    /// Whether a frame's payload is secret.
    pub const fn encrypts(self) -> bool {
        matches!(self, Self::Ctr | Self::Ccm32 | Self::Ccm64 | Self::Ccm128)
    }
}

suites! {
    /// A suite of AH: what the ICV is.
    AhSuite {
        /// AES-XCBC-MAC-96.
        Xcbc = "xcbc",
        /// AES-CMAC-96.
        Cmac = "cmac",
        /// HMAC-SHA1-96.
        HmacSha1 = "hmac-sha1",
        /// HMAC-SHA256-128.
        HmacSha256 = "hmac-sha256",
    }
}

suites! {
    /// A suite of ESP: what encrypts, and what the ICV is.
    EspSuite {
        /// AES in counter mode and AES-XCBC-MAC-96.
        CtrXcbc = "ctr-xcbc",
        /// AES in counter mode and AES-CMAC-96.
        CtrCmac = "ctr-cmac",
        /// AES in counter mode and HMAC-SHA1-96.
        CtrHmacSha1 = "ctr-hmac-sha1",
        /// AES in counter mode and HMAC-SHA256-128.
        CtrHmacSha256 = "ctr-hmac-sha256",
        /// AES-CBC and AES-XCBC-MAC-96.
        CbcXcbc = "cbc-xcbc",
        /// AES-CBC and AES-CMAC-96.
        CbcCmac = "cbc-cmac",
        /// AES-CBC and HMAC-SHA1-96.
        CbcHmacSha1 = "cbc-hmac-sha1",
        /// AES-CBC and HMAC-SHA256-128.
        CbcHmacSha256 = "cbc-hmac-sha256",
        /// AES-XCBC-MAC-96 without encryption.
        NullXcbc = "null-xcbc",
        /// AES-CMAC-96 without encryption.
        NullCmac = "null-cmac",
        /// HMAC-SHA1-96 without encryption.
        NullHmacSha1 = "null-hmac-sha1",
        /// HMAC-SHA256-128 without encryption.
        NullHmacSha256 = "null-hmac-sha256",
        /// AES-GCM with an ICV of 16 bytes.
        Gcm = "gcm",
        /// The same with an implicit initialization vector.
        GcmImplicit = "gcm-implicit",
        /// AES-CCM with an ICV of 8 bytes.
        Ccm8 = "ccm-8",
        /// The same with an implicit initialization vector.
        Ccm8Implicit = "ccm-8-implicit",
        /// AES-CCM with an ICV of 12 bytes.
        Ccm12 = "ccm-12",
        /// AES-CCM with an ICV of 16 bytes.
        Ccm16 = "ccm-16",
        /// AES in counter mode alone: it accepts forgeries, and is here to be compared with.
        Ctr = "ctr",
        /// AES-CBC alone: the same.
        Cbc = "cbc",
    }
}

suites! {
    /// What protects the transport.
    TransportSuite {
        /// DTLS 1.2 with a pre-shared key: `TLS_PSK_WITH_AES_128_CCM_8`.
        DtlsPsk = "dtls-psk",
        /// DTLS 1.2 with raw public keys: `TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8`, RFC 7250.
        DtlsRpk = "dtls-rpk",
        /// DTLS 1.2 with certificates: `TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8`.
        DtlsX509 = "dtls-x509",
    }
}

impl TransportSuite {
    /// Whether its ends prove with key pairs who they are, and not with a shared secret.
    pub const fn has_public_keys(self) -> bool {
        match self {
            Self::DtlsPsk => false,
            Self::DtlsRpk | Self::DtlsX509 => true,
        }
    }
}

impl AhSuite {
    /// Length of its key in bytes.
    pub const fn key_len(self) -> usize {
        match self {
            Self::Xcbc | Self::Cmac => 16,
            Self::HmacSha1 => 20,
            Self::HmacSha256 => 32,
        }
    }
}

/// What protects IPv6 packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NetworkSuite {
    /// AH, which authenticates them, headers included.
    Ah(AhSuite),
    /// ESP, which encrypts and authenticates what they carry.
    Esp(EspSuite),
    /// ESP in joint mode: it compresses the UDP header that it encrypts. Only two ends of Sixlock do.
    Joint(EspSuite),
}

/// What stands before the suite of ESP in joint mode.
const JOINT: &str = "joint-";

impl NetworkSuite {
    /// The one that a part of a mode string names: nothing if that is the name of neither.
    fn by_name(name: &str, suite: Option<&str>) -> Option<Result<Self, ParseSecurityError>> {
        let unknown = ParseSecurityError::UnknownSuite;
        Some(match (name, suite) {
            ("ah", None) => Ok(Self::Ah(AhSuite::Xcbc)),
            ("ah", Some(suite)) => AhSuite::by_name(suite).map(Self::Ah).ok_or(unknown),
            ("esp", None) => Ok(Self::Esp(EspSuite::CtrXcbc)),
            ("esp", Some(suite)) => match suite.strip_prefix(JOINT) {
                Some(suite) => EspSuite::by_name(suite).map(Self::Joint).ok_or(unknown),
                None => EspSuite::by_name(suite).map(Self::Esp).ok_or(unknown),
            },
            _ => return None,
        })
    }

    /// Length of an association's keying material in bytes: the cipher's key with its nonce or salt, then the code's.
    pub const fn key_len(self) -> usize {
        use EspSuite::*;
        const CTR: usize = 20;
        const CBC: usize = 16;
        match self {
            Self::Ah(suite) => suite.key_len(),
            Self::Esp(suite) | Self::Joint(suite) => match suite {
                CtrXcbc => CTR + AhSuite::Xcbc.key_len(),
                CtrCmac => CTR + AhSuite::Cmac.key_len(),
                CtrHmacSha1 => CTR + AhSuite::HmacSha1.key_len(),
                CtrHmacSha256 => CTR + AhSuite::HmacSha256.key_len(),
                CbcXcbc => CBC + AhSuite::Xcbc.key_len(),
                CbcCmac => CBC + AhSuite::Cmac.key_len(),
                CbcHmacSha1 => CBC + AhSuite::HmacSha1.key_len(),
                CbcHmacSha256 => CBC + AhSuite::HmacSha256.key_len(),
                NullXcbc => AhSuite::Xcbc.key_len(),
                NullCmac => AhSuite::Cmac.key_len(),
                NullHmacSha1 => AhSuite::HmacSha1.key_len(),
                NullHmacSha256 => AhSuite::HmacSha256.key_len(),
                Gcm | GcmImplicit => 20,
                Ccm8 | Ccm8Implicit | Ccm12 | Ccm16 => 19,
                Ctr => CTR,
                Cbc => CBC,
            },
        }
    }

    /// Whether forged and replayed packets are refused.
    pub const fn authenticates(self) -> bool {
        !matches!(self, Self::Esp(EspSuite::Ctr | EspSuite::Cbc) | Self::Joint(EspSuite::Ctr | EspSuite::Cbc))
    }

    /// Whether what packets carry is secret.
    pub const fn encrypts(self) -> bool {
        use EspSuite::{NullCmac, NullHmacSha1, NullHmacSha256, NullXcbc};
        match self {
            Self::Ah(_) => false,
            Self::Esp(suite) | Self::Joint(suite) => {
                !matches!(suite, NullXcbc | NullCmac | NullHmacSha1 | NullHmacSha256)
            }
        }
    }
}

impl fmt::Display for NetworkSuite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ah(suite) => write!(f, "ah:{}", suite.name()),
            Self::Esp(suite) => write!(f, "esp:{}", suite.name()),
            Self::Joint(suite) => write!(f, "esp:{JOINT}{}", suite.name()),
        }
    }
}

/// How a node's traffic is protected: one optional choice a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Security {
    /// Hop by hop, at the link.
    pub link: Option<LinkSuite>,
    /// End to end, by IPsec.
    pub network: Option<NetworkSuite>,
    /// End to end, at the transport.
    pub transport: Option<TransportSuite>,
    /// Which of them an accelerator computes.
    pub engines: Engines,
}

/// The layers whose cryptography an accelerator computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Engines {
    /// The link's.
    pub link: bool,
    /// That of IPsec.
    pub network: bool,
    /// The transport's.
    pub transport: bool,
}

impl Engines {
    /// No layer's: the CPU computes all.
    pub const NONE: Self = Self { link: false, network: false, transport: false };
}

/// What takes the accelerator, behind a part of a mode string.
const ENGINE: &str = "engine";

/// A mode string that names no security mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParseSecurityError {
    /// A part is not a known mode.
    UnknownPart,
    /// The suite behind the colon is not one of this mode.
    UnknownSuite,
    /// Two parts protect the same layer.
    LayerTwice,
    /// `none` stands beside another part.
    NoneWithOthers,
    /// What stands behind an `@` is not `engine`.
    UnknownPlace,
    /// An accelerator is asked for where there is none.
    NoEngine,
    /// A suite accepts forged packets, where that is not wanted.
    Unauthenticated,
}

impl fmt::Display for ParseSecurityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnknownPart => {
                "unknown security mode; use none, or llsec, ah or esp, and dtls-psk, dtls-rpk or dtls-x509 joined by + (for example llsec:ccm-64+esp)"
            }
            Self::UnknownSuite => {
                "unknown suite; use llsec:ccm-32, ccm-64, ccm-128, cbc-mac-32 to -128 or ctr; ah:xcbc, cmac, hmac-sha1 or hmac-sha256; esp:gcm, \
                gcm-implicit, ccm-8, ccm-8-implicit, ccm-12 or ccm-16, or ctr-, cbc- or null- before a suite of ah; and joint- before any of esp, where both ends are Sixlock"
            }
            Self::LayerTwice => "two parts of the security mode protect the same layer",
            Self::NoneWithOthers => "security mode none cannot be joined with another",
            Self::UnknownPlace => "a part of a security mode is computed by the CPU or, with @engine, by an accelerator",
            Self::NoEngine => "the native platform has no engine: leave @engine out",
            Self::Unauthenticated => {
                "llsec:ctr, esp:ctr and esp:cbc accept forged packets: choose another suite; to compare with them, simulate a \
                scenario that says unauthenticated = true"
            }
        })
    }
}

impl core::error::Error for ParseSecurityError {}

impl FromStr for Security {
    type Err = ParseSecurityError;

    /// A mode for traffic that matters, in which the CPU computes all.
    fn from_str(mode: &str) -> Result<Self, ParseSecurityError> {
        let security = Self::any(mode)?;
        if security.engines != Engines::NONE {
            return Err(ParseSecurityError::NoEngine);
        }
        match security.unauthenticated() {
            Some(_) => Err(ParseSecurityError::Unauthenticated),
            None => Ok(security),
        }
    }
}

impl Security {
    /// Any mode that there is: `@engine` behind a part takes the accelerator, and suites may accept forgeries. Whether there is
    /// the one, and the others are wanted, the caller knows.
    ///
    /// # Errors
    /// When `mode` names no mode.
    pub fn any(mode: &str) -> Result<Self, ParseSecurityError> {
        let mut security = Self::default();
        if mode == "none" {
            return Ok(security);
        }
        for part in mode.split('+') {
            let (part, engine) = match part.split_once('@') {
                Some((part, ENGINE)) => (part, true),
                Some(_) => return Err(ParseSecurityError::UnknownPlace),
                None => (part, false),
            };
            let (name, suite) = match part.split_once(':') {
                Some((name, suite)) => (name, Some(suite)),
                None => (part, None),
            };
            if name == "none" {
                return Err(ParseSecurityError::NoneWithOthers);
            } else if name == "llsec" {
                let suite = match suite {
                    None => LinkSuite::Ccm64,
                    Some(suite) => LinkSuite::by_name(suite).ok_or(ParseSecurityError::UnknownSuite)?,
                };
                if security.link.replace(suite).is_some() {
                    return Err(ParseSecurityError::LayerTwice);
                }
                security.engines.link = engine;
            } else if let Some(network) = NetworkSuite::by_name(name, suite) {
                if security.network.replace(network?).is_some() {
                    return Err(ParseSecurityError::LayerTwice);
                }
                security.engines.network = engine;
            } else if let Some(transport) = TransportSuite::by_name(part) {
                if security.transport.replace(transport).is_some() {
                    return Err(ParseSecurityError::LayerTwice);
                }
                security.engines.transport = engine;
            } else {
                return Err(ParseSecurityError::UnknownPart);
            }
        }
        Ok(security)
    }
}

/// A suite that accepts forged and replayed packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unauthenticated {
    /// Of the link.
    Link(LinkSuite),
    /// Of IPsec.
    Network(NetworkSuite),
}

impl fmt::Display for Unauthenticated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Link(suite) => write!(f, "llsec:{}", suite.name()),
            Self::Network(suite) => suite.fmt(f),
        }
    }
}

impl Security {
    /// The first of its suites that accepts forgeries, whatever the others do: each is judged by itself. Suites whose MIC
    /// leaves all in the clear do not.
    pub fn unauthenticated(&self) -> Option<Unauthenticated> {
        let link = self.link.filter(|suite| !suite.authenticates()).map(Unauthenticated::Link);
        link.or(self.network.filter(|suite| !suite.authenticates()).map(Unauthenticated::Network))
    }
}

impl fmt::Display for Security {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        let mut part = |part: fmt::Arguments<'_>, engine| {
            let place = if engine { "@engine" } else { "" };
            write!(f, "{separator}{part}{place}")?;
            separator = "+";
            Ok(())
        };
        if let Some(link) = self.link {
            part(format_args!("llsec:{}", link.name()), self.engines.link)?;
        }
        if let Some(network) = self.network {
            part(format_args!("{network}"), self.engines.network)?;
        }
        if let Some(transport) = self.transport {
            part(format_args!("{}", transport.name()), self.engines.transport)?;
        }
        if *self == Self::default() { f.write_str("none") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    extern crate std;
    use std::string::ToString;

    #[test]
    fn mode_strings_round_trip() {
        for mode in [
            "none",
            "llsec:ccm-32",
            "llsec:ccm-64",
            "llsec:cbc-mac-128",
            "ah:hmac-sha256",
            "esp:cbc-hmac-sha1",
            "esp:joint-ctr-xcbc",
            "llsec:ccm-64+esp:joint-gcm-implicit",
            "llsec:ccm-64+ah:cmac",
            "llsec:ccm-32+esp:gcm-implicit+dtls-psk",
            "dtls-psk",
            "llsec:ccm-128+dtls-psk",
            "esp:gcm+dtls-rpk",
            "dtls-x509",
        ] {
            assert_eq!(mode.parse::<Security>().unwrap().to_string(), mode);
        }
        assert_eq!("llsec".parse::<Security>().unwrap().link, Some(LinkSuite::Ccm64));
        assert_eq!("esp+llsec".parse::<Security>().unwrap().to_string(), "llsec:ccm-64+esp:ctr-xcbc");
        assert_eq!("ah".parse::<Security>().unwrap().network, Some(NetworkSuite::Ah(AhSuite::Xcbc)));
    }

    #[test]
    fn encryption_alone_authenticates_nothing() {
        let esp = EspSuite::ALL.iter().map(|suite| std::format!("esp:{}", suite.name()));
        let ah = AhSuite::ALL.iter().map(|suite| std::format!("ah:{}", suite.name()));
        let link = LinkSuite::ALL.iter().map(|suite| std::format!("llsec:{}", suite.name()));
        for mode in esp.chain(ah).chain(link) {
            let security = Security::any(&mode).unwrap();
            let alone = ["esp:ctr", "esp:cbc", "llsec:ctr"].contains(&&*mode);
            let wrong = security.unauthenticated().map(|suite| suite.to_string());
            assert_eq!(wrong, alone.then(|| mode.clone()));
            let expected = if alone { Err(ParseSecurityError::Unauthenticated) } else { Ok(security) };
            assert_eq!(mode.parse(), expected);
        }
        // That another layer authenticates mends nothing: its ends are others.
        let both = Security::any("llsec:ccm-64+esp:ctr").unwrap();
        assert_eq!(both.unauthenticated(), Some(Unauthenticated::Network(NetworkSuite::Esp(EspSuite::Ctr))));
    }

    #[test]
    fn link_suites_are_known_by_their_levels() {
        for level in 0..=255 {
            let suite = LinkSuite::of_level(level);
            assert_eq!(suite.is_some(), matches!(level, 1..=7), "{level}");
            assert!(suite.is_none_or(|suite| suite.level() == level));
        }
        assert!(LinkSuite::ALL.iter().all(|&suite| LinkSuite::of_level(suite.level()) == Some(suite)));
    }

    #[test]
    fn a_part_is_computed_by_an_accelerator_where_that_is_allowed() {
        for (mode, link, network, transport) in [
            ("llsec:ccm-64@engine", true, false, false),
            ("llsec:ccm-64@engine+dtls-psk", true, false, false),
            ("llsec:ccm-64+ah:xcbc@engine", false, true, false),
            ("llsec:ccm-64+dtls-psk@engine", false, false, true),
            ("llsec:ccm-64@engine+esp:ccm-8@engine+dtls-psk@engine", true, true, true),
        ] {
            let security = Security::any(mode).unwrap();
            assert_eq!(security.engines, Engines { link, network, transport });
            assert_eq!(security.to_string(), mode);
            assert_eq!(mode.parse::<Security>(), Err(ParseSecurityError::NoEngine));
        }
        assert_eq!(Security::any("dtls-psk"), "dtls-psk".parse());
    }

    #[test]
    fn what_names_no_mode_is_refused_with_the_reason() {
        for (mode, error) in [
            ("", ParseSecurityError::UnknownPart),
            ("dtls", ParseSecurityError::UnknownPart),
            ("llsec:rot13", ParseSecurityError::UnknownSuite),
            ("llsec+llsec", ParseSecurityError::LayerTwice),
            ("dtls-rpk+dtls-x509", ParseSecurityError::LayerTwice),
            ("ah:sha-1", ParseSecurityError::UnknownSuite),
            ("esp:xcbc", ParseSecurityError::UnknownSuite),
            ("esp:joint", ParseSecurityError::UnknownSuite),
            ("esp:joint-joint-gcm", ParseSecurityError::UnknownSuite),
            ("ah:joint-xcbc", ParseSecurityError::UnknownSuite),
            ("esp:joint-ctr", ParseSecurityError::Unauthenticated),
            ("ah+esp", ParseSecurityError::LayerTwice),
            ("none+llsec", ParseSecurityError::NoneWithOthers),
            ("none@engine", ParseSecurityError::NoneWithOthers),
            ("llsec@dsp", ParseSecurityError::UnknownPlace),
            ("llsec@engine@engine", ParseSecurityError::UnknownPlace),
        ] {
            assert_eq!(mode.parse::<Security>(), Err(error), "{mode}");
        }
    }
}

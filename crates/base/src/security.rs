//! The security choices and their spelling on command lines and in scenarios.

use core::fmt;
use core::str::FromStr;

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

            fn by_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|suite| suite.name() == name)
            }
        }
    };
}

suites! {
    /// A suite of IEEE 802.15.4 link-layer security: AES-CCM* with encryption and a MIC.
    LinkSuite {
        /// Security level 5: encryption and a 32-bit MIC.
        Ccm32 = "ccm-32",
        /// Security level 6: encryption and a 64-bit MIC.
        Ccm64 = "ccm-64",
        /// Security level 7: encryption and a 128-bit MIC.
        Ccm128 = "ccm-128",
    }
}

suites! {
    /// What protects the transport.
    TransportSuite {
        /// DTLS 1.2 with a pre-shared key: `TLS_PSK_WITH_AES_128_CCM_8`.
        DtlsPsk = "dtls-psk",
    }
}

/// How a node's traffic is protected: one optional choice a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Security {
    /// Hop by hop, at the link.
    pub link: Option<LinkSuite>,
    /// End to end, at the transport.
    pub transport: Option<TransportSuite>,
}

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
}

impl fmt::Display for ParseSecurityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnknownPart => {
                "unknown security mode; use none, or llsec and dtls-psk joined by + (for example llsec:ccm-64+dtls-psk)"
            }
            Self::UnknownSuite => "unknown llsec suite; use llsec:ccm-32, llsec:ccm-64 or llsec:ccm-128",
            Self::LayerTwice => "two parts of the security mode protect the same layer",
            Self::NoneWithOthers => "security mode none cannot be joined with another",
        })
    }
}

impl core::error::Error for ParseSecurityError {}

impl FromStr for Security {
    type Err = ParseSecurityError;

    fn from_str(mode: &str) -> Result<Self, ParseSecurityError> {
        let mut security = Self::default();
        if mode == "none" {
            return Ok(security);
        }
        for part in mode.split('+') {
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
            } else if let Some(transport) = TransportSuite::by_name(part) {
                if security.transport.replace(transport).is_some() {
                    return Err(ParseSecurityError::LayerTwice);
                }
            } else {
                return Err(ParseSecurityError::UnknownPart);
            }
        }
        Ok(security)
    }
}

impl fmt::Display for Security {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.link, self.transport) {
            (None, None) => f.write_str("none"),
            (Some(link), None) => write!(f, "llsec:{}", link.name()),
            (None, Some(transport)) => f.write_str(transport.name()),
            (Some(link), Some(transport)) => write!(f, "llsec:{}+{}", link.name(), transport.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    extern crate std;
    use std::string::ToString;

    #[test]
    fn mode_strings_round_trip() {
        for mode in ["none", "llsec:ccm-32", "llsec:ccm-64", "dtls-psk", "llsec:ccm-128+dtls-psk"] {
            assert_eq!(mode.parse::<Security>().unwrap().to_string(), mode);
        }
        assert_eq!("llsec".parse::<Security>().unwrap().link, Some(LinkSuite::Ccm64));
    }

    #[test]
    fn what_names_no_mode_is_refused_with_the_reason() {
        for (mode, error) in [
            ("", ParseSecurityError::UnknownPart),
            ("dtls", ParseSecurityError::UnknownPart),
            ("llsec:rot13", ParseSecurityError::UnknownSuite),
            ("llsec+llsec", ParseSecurityError::LayerTwice),
            ("none+llsec", ParseSecurityError::NoneWithOthers),
        ] {
            assert_eq!(mode.parse::<Security>(), Err(error), "{mode}");
        }
    }
}

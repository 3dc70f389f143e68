use core::fmt;

use crate::Error;

/// Whether an alert ends the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum AlertLevel {
    /// The connection may go on.
    Warning = 1,
    /// The connection is over.
    Fatal = 2,
}

/// What an alert says, by its registered number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlertDescription(pub u8);

impl AlertDescription {
    /// The sender will send no more.
    pub const CLOSE_NOTIFY: Self = Self(0);
    /// No acceptable set of parameters.
    pub const HANDSHAKE_FAILURE: Self = Self(40);
    /// A certificate cannot be read, or a signature in it is wrong.
    pub const BAD_CERTIFICATE: Self = Self(42);
    /// A certificate is of a type that is not taken.
    pub const UNSUPPORTED_CERTIFICATE: Self = Self(43);
    /// A certificate is not valid at this time.
    pub const CERTIFICATE_EXPIRED: Self = Self(45);
    /// A certificate is not acceptable for another reason.
    pub const CERTIFICATE_UNKNOWN: Self = Self(46);
    /// A field has a value it may not have, or an extension comes twice.
    pub const ILLEGAL_PARAMETER: Self = Self(47);
    /// Nobody who is trusted signed a certificate.
    pub const UNKNOWN_CA: Self = Self(48);
    /// A handshake cryptographic operation failed: a Finished that does not verify.
    pub const DECRYPT_ERROR: Self = Self(51);
    /// Something went wrong that has nothing to do with the peer.
    pub const INTERNAL_ERROR: Self = Self(80);
    /// The version is not supported.
    pub const PROTOCOL_VERSION: Self = Self(70);
    /// The sender does not renegotiate.
    pub const NO_RENEGOTIATION: Self = Self(100);
}

impl fmt::Display for AlertDescription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::CLOSE_NOTIFY => f.write_str("close notify"),
            Self(number) => write!(f, "alert {number}"),
        }
    }
}

/// An alert ([RFC 5246 section 7.2](https://www.rfc-editor.org/rfc/rfc5246#section-7.2)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alert {
    /// Whether it ends the connection.
    pub level: AlertLevel,
    /// What it says.
    pub description: AlertDescription,
}

impl Alert {
    /// Length of an alert, in bytes.
    pub const LENGTH: usize = 2;
    /// The closing of a connection.
    pub const CLOSE_NOTIFY: Self =
        Self { level: AlertLevel::Warning, description: AlertDescription::CLOSE_NOTIFY };

    /// A fatal alert.
    pub const fn fatal(description: AlertDescription) -> Self {
        Self { level: AlertLevel::Fatal, description }
    }

    /// Reads an alert.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let &[level, description] = bytes else {
            return Err(if bytes.len() < Self::LENGTH { Error::Truncated } else { Error::TrailingBytes });
        };
        let level = match level {
            1 => AlertLevel::Warning,
            2 => AlertLevel::Fatal,
            _ => return Err(Error::UnknownType),
        };
        Ok(Self { level, description: AlertDescription(description) })
    }

    /// The alert's bytes.
    pub const fn to_bytes(self) -> [u8; Self::LENGTH] {
        [self.level as u8, self.description.0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_of_bytes_is_an_alert_or_refused() {
        for level in 0..=255 {
            for description in 0..=255 {
                let bytes = [level, description];
                match Alert::parse(&bytes) {
                    Ok(alert) => assert_eq!(alert.to_bytes(), bytes),
                    Err(error) => assert_eq!((error, (1..=2).contains(&level)), (Error::UnknownType, false)),
                }
            }
        }
        assert_eq!(Alert::parse(&[1]), Err(Error::Truncated));
        assert_eq!(Alert::parse(&[1, 0, 0]), Err(Error::TrailingBytes));
    }
}

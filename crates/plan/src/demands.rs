//! What is demanded of a network: the table `[plan]` of its file.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use sixlock_base::TransportSuite;
use sixlock_sim::{Span, parse_duration};

use crate::condition::Condition;
use crate::protection::{Forger, Reader};

/// What is demanded. Security is a condition: an option that does not meet it is not simulated. The rest is compared with what runs come
/// to.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Demands {
    /// Who must not read readings.
    pub secret_from: Vec<Reader>,
    /// Who must neither forge nor replay them.
    pub unforgeable_by: Vec<Forger>,
    /// Whether who gets a node's keys must not read what was recorded before.
    pub forward_secrecy: bool,
    /// What the far end speaks; everything if nothing is named.
    pub far_end: Vec<FarEnd>,
    /// The values of `[mac] listen` to be tried; that of the file alone if there are none.
    pub listen: Vec<String>,
    /// The conditions that may be otherwise: of each is told what that would change; every one if nothing is said.
    pub conditions: Option<Vec<Condition>>,
    /// How many bytes of flash a device has.
    pub flash: Option<u32>,
    /// How many bytes of RAM.
    pub ram: Option<u32>,
    /// The least share of due readings that is to be delivered, in per cent.
    #[serde(deserialize_with = "percent")]
    pub delivered: Option<f64>,
    /// The longest time from a reading to its confirmation, of 95 % of the slowest node's.
    #[serde(deserialize_with = "span")]
    pub latency: Option<Span>,
    /// How long the battery of every node is to last.
    #[serde(deserialize_with = "span")]
    pub life: Option<Span>,
}

/// What a far end speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FarEnd {
    /// CoAP without DTLS.
    Coap,
    /// CoAP over DTLS with pre-shared keys.
    DtlsPsk,
    /// CoAP over DTLS with raw public keys.
    DtlsRpk,
    /// CoAP over DTLS with certificates.
    DtlsX509,
}

impl FarEnd {
    /// What nodes with this transport security speak.
    pub const fn of(transport: Option<TransportSuite>) -> Self {
        match transport {
            None => Self::Coap,
            Some(TransportSuite::DtlsPsk) => Self::DtlsPsk,
            Some(TransportSuite::DtlsRpk) => Self::DtlsRpk,
            Some(TransportSuite::DtlsX509) => Self::DtlsX509,
        }
    }
}

fn percent<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    match f64::deserialize(deserializer)? {
        percent if (0.0..=100.0).contains(&percent) => Ok(Some(percent)),
        _ => Err(D::Error::custom("a share lies between 0.0 and 100.0, in per cent")),
    }
}

/// A span of time; `y` stands for 365 days.
fn span<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Span>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let years = text.strip_suffix('y').and_then(|years| years.parse::<f64>().ok());
    let parsed = match years {
        Some(years) => parse_duration(&format!("{}h", (years * 8760.0).round())),
        None => parse_duration(&text),
    };
    parsed.map(Some).map_err(|error| D::Error::custom(format!("{error}, or \"2y\" for 730 days")))
}

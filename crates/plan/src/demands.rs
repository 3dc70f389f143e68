//! What is demanded of a network: the table `[plan]` of its file.

use sixlock_base::TransportSuite;
use sixlock_sim::toml_reader::Section;
use sixlock_sim::{ScenarioError, Span, parse_duration};

use crate::condition::Condition;
use crate::protection::{Forger, Reader};

/// What is demanded. Security is a condition: an option that does not meet it is not simulated. The rest is compared with what runs come
/// to.
#[derive(Clone, Debug, Default, PartialEq)]
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
    pub delivered: Option<f64>,
    /// The longest time from a reading to its confirmation, of 95 % of the slowest node's.
    pub latency: Option<Span>,
    /// How long the battery of every node is to last.
    pub life: Option<Span>,
}

/// What a far end speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// Each by its name in a file.
    const NAMED: [(&str, Self); 4] = [
        ("coap", Self::Coap),
        ("dtls-psk", Self::DtlsPsk),
        ("dtls-rpk", Self::DtlsRpk),
        ("dtls-x509", Self::DtlsX509),
    ];

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

/// What the table says.
pub(crate) fn read(mut table: Section<'_, '_>) -> Result<Demands, ScenarioError> {
    let demands = Demands {
        secret_from: table.choices("secret_from", &Reader::NAMED)?.unwrap_or_default(),
        unforgeable_by: table.choices("unforgeable_by", &Forger::NAMED)?.unwrap_or_default(),
        forward_secrecy: table.boolean("forward_secrecy", false)?,
        far_end: far_end(&mut table)?,
        listen: table.strings("listen")?.into_iter().map(Into::into).collect(),
        conditions: table.choices("conditions", &Condition::NAMED)?,
        flash: bytes(&mut table, "flash")?,
        ram: bytes(&mut table, "ram")?,
        delivered: percent(&mut table, "delivered")?,
        latency: span(&mut table, "latency", "2s")?,
        life: span(&mut table, "life", "2y")?,
    };
    if demands.listen.is_empty() && table.span("listen").is_some() {
        let message = "listen names nothing: leave it out for what the scenario has";
        return Err(table.error("listen", message));
    }
    table.finish()?;
    Ok(demands)
}

fn far_end(table: &mut Section<'_, '_>) -> Result<Vec<FarEnd>, ScenarioError> {
    const KEY: &str = "far_end";
    match table.choices(KEY, &FarEnd::NAMED)? {
        Some(speaks) if speaks.is_empty() => {
            let message = "far_end names nothing: leave it out if the far end speaks everything";
            Err(table.error(KEY, message.to_owned()))
        }
        speaks => Ok(speaks.unwrap_or_default()),
    }
}

fn bytes(table: &mut Section<'_, '_>, key: &'static str) -> Result<Option<u32>, ScenarioError> {
    let number = table.optional_integer(key, 1..=u32::MAX.into());
    let number = number.map_err(|_| {
        let form = "write it without quotes and unit, such as 65536 for 64 KB";
        table.error(key, format!("{key} is not a whole number of bytes above 0: {form}"))
    })?;
    Ok(number.and_then(|number| u32::try_from(number).ok()))
}

fn percent(table: &mut Section<'_, '_>, key: &'static str) -> Result<Option<f64>, ScenarioError> {
    let percent = table.float(key, 0.0).ok().filter(|percent| (0.0..=100.0).contains(percent));
    let percent = percent.ok_or_else(|| {
        let form = "write it without quotes, such as 99.5";
        table.error(key, format!("{key} is not a share between 0.0 and 100.0, in per cent: {form}"))
    })?;
    if percent > 0.0 && percent < 1.0 {
        let form =
            format!("{key} is in per cent, of which {percent} is less than one: write {}", 100.0 * percent);
        return Err(table.error(key, form));
    }
    Ok(table.span(key).map(|_| percent))
}

/// A span of time; `y` stands for 365 days.
fn span(
    table: &mut Section<'_, '_>,
    key: &'static str,
    example: &str,
) -> Result<Option<Span>, ScenarioError> {
    let form = format!("write it in quotes with its unit, such as \"{example}\"");
    let text = table.string(key).map_err(|_| table.error(key, format!("{key} is not a time: {form}")))?;
    let Some(text) = text else { return Ok(None) };
    let years = text.strip_suffix('y').and_then(|years| years.parse::<f64>().ok());
    let parsed = match years {
        Some(years) => parse_duration(&format!("{}h", (years * 8760.0).round())),
        None => parse_duration(text),
    };
    parsed.map(Some).map_err(|error| {
        // What is no time is told what would be one, but for years.
        let rest = if error.contains("such as") {
            "; two years are \"2y\"".into()
        } else {
            format!(", such as \"{example}\"")
        };
        table.error(key, format!("{key}: {error}{rest}"))
    })
}

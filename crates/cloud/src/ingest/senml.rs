//! SenML packs in JSON ([RFC 8428](https://www.rfc-editor.org/rfc/rfc8428)).

use sixlock_senml::json::PackReader;
use sixlock_senml::{Record, Text, Value};

use crate::Error;
use crate::store::{LONGEST_STREAM_LABEL as LONGEST_LABEL, LONGEST_UNIT, Reading};

/// The readings of a SenML pack that arrived at `arrival`: all of them, or the reason why not.
pub(crate) fn read(pack: &[u8], arrival: i64) -> Result<Vec<Reading>, Error> {
    let malformed = |_| Error::Invalid("the payload is not SenML JSON");
    let mut readings = Vec::new();
    for record in PackReader::new(pack).map_err(malformed)? {
        readings.push(read_record(&record.map_err(malformed)?, arrival)?);
    }
    if readings.is_empty() {
        return Err(Error::Invalid("the pack is empty"));
    }
    Ok(readings)
}

fn read_record(record: &Record<'_>, arrival: i64) -> Result<Reading, Error> {
    let Some(Value::Number(value)) = record.value else {
        return Err(Error::Invalid("a record's value is not a number"));
    };
    let value = value.sum(f64::from_bits).filter(|value| value.is_finite());
    let unit = record.unit.map(|unit| short(unit, LONGEST_UNIT)).transpose()?;
    Ok(Reading {
        stream: label(record)?,
        unit,
        time: time(record, arrival)?,
        value: value.ok_or(Error::Invalid("a record's value is too large"))?,
    })
}

/// The label of a record's stream. A resource is one device, so the URN of the device, which names begin with
/// ([RFC 9039](https://www.rfc-editor.org/rfc/rfc9039)), tells nothing within it.
fn label(record: &Record<'_>) -> Result<String, Error> {
    let name: String = record.name_chars().take(LONGEST_LABEL + 1).collect();
    if name.len() > LONGEST_LABEL {
        return Err(Error::Invalid("a record's name is too long"));
    }
    let within = name.strip_prefix("urn:").and_then(|urn| urn.rsplit_once(':')).map(|(_, within)| within);
    match within {
        Some(within) if !within.is_empty() => Ok(within.to_owned()),
        _ => Ok(name),
    }
}

fn short(text: Text<'_>, longest: usize) -> Result<String, Error> {
    let short: String = text.chars().take(longest + 1).collect();
    if short.chars().count() > longest {
        return Err(Error::Invalid("a record's unit is too long"));
    }
    Ok(short)
}

/// When a reading was taken: on arrival, or when the device says it was.
fn time(record: &Record<'_>, arrival: i64) -> Result<i64, Error> {
    // RFC 8428 section 4.5.3: less than 2^28 seconds are counted from now, others from 1970.
    const RELATIVE: f64 = 268_435_456.0;
    // The year 9999; what is later is a mistake.
    const LATEST: f64 = 253_402_300_800.0;
    let Some(time) = record.time else { return Ok(arrival) };
    match time.sum(f64::from_bits) {
        Some(seconds) if seconds.abs() < RELATIVE => Ok(arrival + (seconds * 1000.0) as i64),
        Some(seconds) if (RELATIVE..LATEST).contains(&seconds) => Ok((seconds * 1000.0) as i64),
        _ => Err(Error::Invalid("a record's time is not one")),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_lose_the_device_and_times_are_resolved() {
        let first = |pack: &str| {
            let readings = super::read(pack.as_bytes(), 5_000_000).unwrap();
            (readings[0].stream.clone(), readings[0].time)
        };
        assert_eq!(first(r#"[{"bn":"urn:dev:mac:01:","n":"a/b","v":1}]"#), ("a/b".into(), 5_000_000));
        assert_eq!(first(r#"[{"n":"room:a","v":1,"t":-1.5}]"#), ("room:a".into(), 4_998_500));
        assert_eq!(
            first(r#"[{"bn":"urn:dev:mac:01:","v":1,"t":300000000}]"#),
            ("urn:dev:mac:01:".into(), 300_000_000_000)
        );
    }
}

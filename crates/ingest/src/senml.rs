//! SenML packs.

use sixlock_senml::{ReadError, Record, Text, Value as Stated};

use crate::time::LATEST_SECONDS;
use crate::{LONGEST_LABEL, LONGEST_UNIT, MOST_READINGS, Reading, Refused, Value, is_hidden};

/// The readings of a pack that arrived at `arrival`.
pub(crate) fn read<'a>(
    records: Result<impl Iterator<Item = Result<Record<'a>, ReadError>>, ReadError>,
    arrival: i64,
) -> Result<Vec<Reading>, Refused> {
    let mut readings = Vec::new();
    for record in records.map_err(malformed)?.take(MOST_READINGS + 1) {
        readings.push(read_record(&record.map_err(malformed)?, arrival)?);
    }
    if readings.is_empty() {
        return Err(Refused::new("the pack is empty"));
    }
    Ok(readings)
}

fn malformed(error: ReadError) -> Refused {
    Refused::new(error.to_string())
}

fn read_record(record: &Record<'_>, arrival: i64) -> Result<Reading, Refused> {
    let value = match record.value {
        Some(Stated::Number(value)) => {
            let number = value.sum(f64::from_bits).filter(|value| value.is_finite());
            Value::Number(number.ok_or_else(|| Refused::new("a record's value is too large"))?)
        }
        Some(Stated::Boolean(value)) => Value::Boolean(value),
        Some(Stated::Text(value)) => Value::text(value.chars()),
        Some(Stated::Data(_)) => {
            return Err(Refused::new(
                "a record's value is bytes (vd): streams hold numbers (v), texts (vs) and truth values (vb)",
            ));
        }
        None => return Err(Refused::new("a record has a sum (s) and no value: streams hold values")),
    };
    Ok(Reading {
        stream: label(record)?,
        unit: record.unit.map(unit).transpose()?,
        time: time(record, arrival)?,
        value,
    })
}

/// The label of a record's stream. A resource is one device, so the URN of the device, which names begin with
/// ([RFC 9039](https://www.rfc-editor.org/rfc/rfc9039)), tells nothing within it.
fn label(record: &Record<'_>) -> Result<String, Refused> {
    let name: String = record.name_chars().take(LONGEST_LABEL + 1).collect();
    if name.len() > LONGEST_LABEL {
        return Err(Refused::new("a record's name is too long"));
    }
    let within = name.strip_prefix("urn:").and_then(|urn| urn.rsplit_once(':')).map(|(_, within)| within);
    match within {
        Some(within) if !within.is_empty() => Ok(within.to_owned()),
        _ => Ok(name),
    }
}

fn unit(text: Text<'_>) -> Result<String, Refused> {
    let unit: String = text.chars().take(LONGEST_UNIT + 1).collect();
    if unit.chars().count() > LONGEST_UNIT {
        return Err(Refused::new("a record's unit is too long"));
    }
    if unit.chars().any(is_hidden) {
        return Err(Refused::new("a record's unit holds a character that cannot be seen"));
    }
    Ok(unit)
}

/// When a reading was taken: on arrival, or when the device says it was.
fn time(record: &Record<'_>, arrival: i64) -> Result<i64, Refused> {
    // RFC 8428 section 4.5.3: less than 2^28 seconds are counted from now, others from 1970.
    const RELATIVE: f64 = 268_435_456.0;
    let Some(time) = record.time else { return Ok(arrival) };
    match time.sum(f64::from_bits) {
        Some(seconds) if seconds.abs() < RELATIVE => Ok(arrival + (seconds * 1000.0) as i64),
        Some(seconds) if (RELATIVE..LATEST_SECONDS).contains(&seconds) => Ok((seconds * 1000.0) as i64),
        _ => Err(Refused::new("a record's time is not one")),
    }
}

#[cfg(test)]
mod tests {
    use sixlock_senml::json::PackReader;

    fn first(pack: &str) -> (String, i64) {
        let readings = super::read(PackReader::new(pack.as_bytes()), 5_000_000).unwrap();
        (readings[0].stream.clone(), readings[0].time)
    }

    #[test]
    fn names_lose_the_device_and_times_are_resolved() {
        assert_eq!(first(r#"[{"bn":"urn:dev:mac:01:","n":"a/b","v":1}]"#), ("a/b".into(), 5_000_000));
        assert_eq!(first(r#"[{"n":"room:a","v":1,"t":-1.5}]"#), ("room:a".into(), 4_998_500));
        assert_eq!(
            first(r#"[{"bn":"urn:dev:mac:01:","v":1,"t":300000000}]"#),
            ("urn:dev:mac:01:".into(), 300_000_000_000)
        );
    }

    #[test]
    fn a_record_of_base_fields_alone_is_no_reading() {
        let pack =
            r#"[{"bn":"urn:dev:mac:01:","bu":"Cel"},{"n":"a","v":1},{"bu":"V","bv":5},{"n":"b","v":1}]"#;
        let readings = super::read(PackReader::new(pack.as_bytes()), 0).unwrap();
        let readings: Vec<_> =
            readings.iter().map(|read| (&*read.stream, read.unit.as_deref(), read.value.number())).collect();
        assert_eq!(readings, [("a", Some("Cel"), Some(1.0)), ("b", Some("V"), Some(6.0))]);
        let refused = super::read(PackReader::new(br#"[{"bn":"urn:dev:mac:01:"}]"#), 0).unwrap_err();
        assert_eq!(refused.to_string(), "the pack is empty");
    }
}

//! Writes a device's readings as a SenML pack in JSON and in CBOR, as RFC 8428 has it, prints both, and reads them again. Any reader of JSON
//! or CBOR reads them.
//!
//! `cargo run -p sixlock-senml --example readings`

use sixlock_base::Eui64;
use sixlock_senml::{Data, Decimal, DeviceName, Reading, Record, Value, cbor, json};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let name = DeviceName::new(Eui64::of_node(1));
    let readings = [
        ("temperature", "Cel", Reading::Number(Decimal::new(215, -1))),
        ("open", "", Reading::Boolean(true)),
        ("label", "", Reading::Text("cellar")),
    ];
    let (mut text, mut bytes) = ([0; 256], [0; 256]);
    let mut in_json = json::PackWriter::of_device(&mut text, &name);
    let mut in_cbor = cbor::PackWriter::new(&mut bytes, name.as_str());
    for (name, unit, reading) in readings {
        in_json.record(name, unit, reading)?;
        in_cbor.record(name, unit, reading)?;
    }
    let (text_length, length) = (in_json.finish()?, in_cbor.finish()?);
    println!("json {}", std::str::from_utf8(&text[..text_length])?);
    println!("cbor {}", bytes[..length].iter().map(|byte| format!("{byte:02x}")).collect::<String>());

    for record in json::PackReader::new(&text[..text_length])? {
        show("from json", &record?);
    }
    for record in cbor::PackReader::new(&bytes[..length])? {
        show("from cbor", &record?);
    }
    Ok(())
}

fn show(from: &str, record: &Record<'_>) {
    let name: String = record.name_chars().collect();
    let unit: String = record.unit.iter().flat_map(|unit| unit.chars()).collect();
    let value = match record.value {
        Some(Value::Number(number)) => number.sum(f64::from_bits).map(|number| number.to_string()),
        Some(Value::Text(text)) => Some(text.chars().collect()),
        Some(Value::Boolean(value)) => Some(value.to_string()),
        Some(Value::Data(Data::Bytes(bytes))) => Some(format!("{bytes:?}")),
        Some(Value::Data(Data::Base64Url(text))) => Some(text.chars().collect()),
        None => None,
    };
    println!("{from}: {name} {} {unit}", value.unwrap_or_default());
}

//! SenML packs.

use sixlock_senml::{ReadError, Record, Value, cbor, json};

/// A pack in JSON.
pub(crate) fn json(input: &[u8]) -> usize {
    json::PackReader::new(input).map_or(0, |records| pack(input, records))
}

/// A pack in CBOR.
pub(crate) fn cbor(input: &[u8]) -> usize {
    cbor::PackReader::new(input).map_or(0, |records| pack(input, records))
}

fn pack<'a>(input: &[u8], records: impl Iterator<Item = Result<Record<'a>, ReadError>>) -> usize {
    let mut taken = 0;
    let mut name = [0; 256];
    for record in records {
        let Ok(record) = record else { break };
        assert!(record.own_name().chars().count() <= input.len());
        let _ = record.write_name(&mut name);
        if let Some(Value::Number(number)) = record.value {
            let value = number.sum(f64::from_bits);
            assert!(value.is_some_and(|value| !value.is_nan()) || number.base.is_some());
        }
        taken += 1;
    }
    assert!(taken <= input.len());
    taken
}

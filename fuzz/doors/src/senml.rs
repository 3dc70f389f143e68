//! SenML packs.

use sixlock_senml::{PackReader, Value};

/// A pack in JSON.
pub(crate) fn pack(input: &[u8]) -> usize {
    let Ok(records) = PackReader::new(input) else { return 0 };
    let mut taken = 0;
    let mut name = [0; 256];
    for record in records {
        let Ok(record) = record else { break };
        assert!(record.name_chars().count() <= input.len());
        let _ = record.write_name(&mut name);
        if let Some(Value::Number(number)) = record.value {
            let _ = number.sum::<f64>();
        }
        taken += 1;
    }
    assert!(taken <= input.len());
    taken
}

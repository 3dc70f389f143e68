//! Payloads as trees of values: JSON, and CBOR as the JSON that comes nearest to it.

use ciborium::Value as Cbor;
use serde_json::{Map, Number, Value};

use crate::{DEEPEST, Format, MOST_VALUES, Refused};

/// The tree of a payload in JSON or CBOR.
pub(crate) fn read(format: Format, payload: &[u8]) -> Result<Value, Refused> {
    let tree = match format {
        Format::Cbor => {
            let mut rest = payload;
            let value = ciborium::de::from_reader_with_recursion_limit(&mut rest, 2 * DEEPEST)
                .map_err(|error| Refused::new(format!("the payload is not CBOR: {error}")))?;
            if !rest.is_empty() {
                return Err(Refused::new("the payload is not CBOR: more follows its one item"));
            }
            from_cbor(value)
        }
        _ => serde_json::from_slice(payload)
            .map_err(|error| Refused::new(format!("the payload is not JSON: {error}")))?,
    };
    let mut left = MOST_VALUES;
    check(&tree, DEEPEST, &mut left)?;
    Ok(tree)
}

/// Refuses trees that are too deep or too large.
fn check(value: &Value, deeper: usize, left: &mut usize) -> Result<(), Refused> {
    *left = left
        .checked_sub(1)
        .ok_or_else(|| Refused::new(format!("the payload holds more than {MOST_VALUES} values")))?;
    let too_deep = || Refused::new(format!("the payload is nested more than {DEEPEST} deep"));
    match value {
        Value::Array(items) => {
            let deeper = deeper.checked_sub(1).ok_or_else(too_deep)?;
            items.iter().try_for_each(|item| check(item, deeper, left))
        }
        Value::Object(members) => {
            let deeper = deeper.checked_sub(1).ok_or_else(too_deep)?;
            members.values().try_for_each(|member| check(member, deeper, left))
        }
        _ => Ok(()),
    }
}

/// What comes nearest in JSON. Integers as keys become their digits; bytes, and tags that say something else than
/// what they tag, become null.
fn from_cbor(value: Cbor) -> Value {
    const DECIMAL_FRACTION: u64 = 4;
    match value {
        Cbor::Integer(number) => match i64::try_from(number) {
            Ok(number) => number.into(),
            Err(_) => float(i128::from(number) as f64),
        },
        Cbor::Float(number) => float(number),
        Cbor::Bool(boolean) => boolean.into(),
        Cbor::Text(text) => text.into(),
        Cbor::Array(items) => items.into_iter().map(from_cbor).collect(),
        Cbor::Map(members) => {
            let members = members.into_iter().filter_map(|(key, value)| {
                let key = match key {
                    Cbor::Text(text) => text,
                    Cbor::Integer(number) => i128::from(number).to_string(),
                    _ => return None,
                };
                Some((key, from_cbor(value)))
            });
            Value::Object(members.collect::<Map<_, _>>())
        }
        // Times and "this is CBOR" leave what they tag as it is.
        Cbor::Tag(0 | 1 | 55799, value) => from_cbor(*value),
        Cbor::Tag(DECIMAL_FRACTION, fraction) => match fraction.as_array().map(Vec::as_slice) {
            Some([Cbor::Integer(exponent), Cbor::Integer(mantissa)]) => {
                let text = format!("{}e{}", i128::from(*mantissa), i128::from(*exponent));
                text.parse().map_or(Value::Null, float)
            }
            _ => Value::Null,
        },
        _ => Value::Null,
    }
}

fn float(number: f64) -> Value {
    Number::from_f64(number).map_or(Value::Null, Value::Number)
}

//! What is in the readings that nodes post.

use crate::environment::Reading;

/// The three values in a reading, in tenths.
pub(crate) fn values(payload: &[u8]) -> Option<[u64; 3]> {
    let text = core::str::from_utf8(payload).ok()?;
    let mut values = text.split("\"v\":").skip(1).map(tenths);
    let [a, b, c] = [values.next()??, values.next()??, values.next()??];
    values.next().is_none().then_some([a, b, c])
}

fn tenths(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (whole, fraction) = text[..end].split_once('.').unwrap_or((&text[..end], "0"));
    Some(whole.parse::<u64>().ok()? * 10 + fraction.parse::<u64>().ok().filter(|tenth| *tenth < 10)?)
}

/// Whether `payload` tells what a node has measured.
pub(crate) fn is_of(measured: Reading, payload: &[u8]) -> bool {
    let Reading { temperature, humidity, light } = measured;
    let measured = [temperature, humidity, 10 * light].map(|value| u64::try_from(value).ok());
    values(payload).is_some_and(|values| values.map(Some) == measured)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_tells_what_was_measured_or_something_else() {
        let payload = br#"[{"bn":"urn:dev:mac:0212740000000001:","n":"temperature","u":"Cel","v":21.4},{"n":"humidity","u":"%RH","v":43},{"n":"light","u":"lx","v":310}]"#;
        assert_eq!(values(payload), Some([214, 430, 3100]));
        let measured = Reading { temperature: 214, humidity: 430, light: 310 };
        assert!(is_of(measured, payload));
        assert!(!is_of(Reading { light: 311, ..measured }, payload));
        assert!(!is_of(measured, b"[]"));
    }
}

//! Quantities as scenarios and command lines spell them: a decimal number and its unit.

use core::net::Ipv6Addr;

use crate::time::Span;

/// The span that `text` spells: `2d`, `1.5h`, `10min`, `600s`, `20ms`, `320us`.
///
/// # Errors
/// Says what is wrong with it.
pub fn parse_span(text: &str) -> Result<Span, String> {
    let units = [
        ("d", 86_400_000_000),
        ("h", 3_600_000_000),
        ("min", 60_000_000),
        ("s", 1_000_000),
        ("ms", 1000),
        ("us", 1),
    ];
    parse(text, &units, "a time such as \"60s\", \"10min\", \"1h\", \"2d\" or \"20ms\"")
        .map(Span::from_micros)
}

/// The span that `text` spells, which must not be [`Span::ZERO`].
///
/// # Errors
/// Says what is wrong with it.
pub fn parse_duration(text: &str) -> Result<Span, String> {
    let span = parse_span(text)?;
    longer_than_nothing(span).map(|()| span)
}

/// Whether it is not [`Span::ZERO`].
pub(crate) fn longer_than_nothing(span: Span) -> Result<(), String> {
    match span {
        Span::ZERO => Err("it must be longer than nothing".into()),
        _ => Ok(()),
    }
}

/// The prefix of 64 bits that `text` spells: `2001:db8:7::/64`.
///
/// # Errors
/// Says what is wrong with it.
pub(crate) fn parse_prefix(text: &str) -> Result<[u8; 8], String> {
    let wrong = || format!("\"{text}\" is not a prefix such as \"2001:db8:7::/64\"");
    let (address, length) = text.split_once('/').ok_or_else(wrong)?;
    let address: Ipv6Addr = address.parse().map_err(|_| wrong())?;
    let (prefix, rest) =
        address.octets().split_first_chunk::<8>().map(|(a, b)| (*a, b.to_vec())).ok_or_else(wrong)?;
    match length {
        "64" if rest.iter().any(|&octet| octet != 0) => {
            Err(format!("\"{text}\" has bits behind its prefix: make them zero"))
        }
        "64" if address.is_multicast() || address.is_unicast_link_local() || prefix == [0; 8] => {
            Err(format!("\"{text}\" is no prefix of a network: take one such as \"2001:db8:7::/64\""))
        }
        "64" => Ok(prefix),
        _ => Err("a prefix of a mesh has 64 bits: end it with /64".into()),
    }
}

/// The length in millimetres that `text` spells: `40m`, `0.5m`, `1.2km`.
pub(crate) fn parse_length(text: &str) -> Result<i32, String> {
    const WANTED: &str = "a length such as \"40m\" or \"1.2km\"";
    let (text, sign) = match text.strip_prefix('-') {
        Some(positive) => (positive, -1),
        None => (text, 1),
    };
    let millimetres = parse(text, &[("km", 1_000_000), ("m", 1000)], WANTED)?;
    match i32::try_from(millimetres) {
        Ok(length) if length <= 100_000_000 => Ok(sign * length),
        _ => Err("lengths go up to 100km".into()),
    }
}

/// The parts per billion that `text` spells: `20ppm`, `0.5ppm`.
pub(crate) fn parse_drift(text: &str) -> Result<u32, String> {
    match parse(text, &[("ppm", 1000)], "a drift such as \"20ppm\"")? {
        drift @ 0..=1_000_000 => Ok(drift as u32),
        _ => Err("clocks run up to 1000ppm fast or slow".into()),
    }
}

/// The decibels that `text` spells with this unit, `dB` or `dBm`: `4dB`, `-95dBm`. To a thousandth.
pub(crate) fn parse_decibels(text: &str, unit: &str) -> Result<f64, String> {
    let example = if unit == "dB" { "a ratio such as \"3dB\"" } else { "a power such as \"-95dBm\"" };
    let (number, sign) = match text.strip_prefix('-') {
        Some(positive) => (positive, -1.0),
        None => (text, 1.0),
    };
    match parse(number, &[(unit, 1000)], example) {
        Ok(thousandths @ 0..=300_000) => Ok(sign * thousandths as f64 / 1000.0),
        Ok(_) => Err(format!("it lies between -300{unit} and 300{unit}")),
        Err(_) => Err(format!("\"{text}\" is not {example}")),
    }
}

/// The clock in kilohertz that `text` spells: `32MHz`, `7373kHz`.
pub(crate) fn parse_frequency(text: &str) -> Result<u64, String> {
    match parse(text, &[("MHz", 1000), ("kHz", 1)], "a clock such as \"32MHz\" or \"7373kHz\"")? {
        kilohertz @ 1..=10_000_000 => Ok(kilohertz),
        _ => Err("a clock has 1kHz to 10GHz".into()),
    }
}

/// The millivolts that `text` spells: `3V`, `3300mV`.
pub(crate) fn parse_voltage(text: &str) -> Result<u32, String> {
    match parse(text, &[("V", 1000), ("mV", 1)], "a voltage such as \"3V\" or \"3300mV\"")? {
        millivolts @ 1..=100_000 => Ok(millivolts as u32),
        _ => Err("a supply has 1mV to 100V".into()),
    }
}

/// The nanoamperes that `text` spells: `1.8mA`, `54.5uA`.
pub(crate) fn parse_current(text: &str) -> Result<u32, String> {
    let units = [("mA", 1_000_000), ("uA", 1000), ("nA", 1)];
    match parse(text, &units, "a current such as \"1.8mA\" or \"54.5uA\"")? {
        nanoamperes @ 0..=4_000_000_000 => Ok(nanoamperes as u32),
        _ => Err("a board draws at most 4000mA".into()),
    }
}

/// The nanoseconds that `text` spells: `4.1us`, `250ns`.
pub(crate) fn parse_nanoseconds(text: &str) -> Result<u64, String> {
    match parse(text, &[("us", 1000), ("ns", 1)], "a time such as \"4.1us\" or \"250ns\"")? {
        nanoseconds @ 0..=1_000_000 => Ok(nanoseconds),
        _ => Err("a byte takes at most 1000us".into()),
    }
}

/// The nanoseconds that `text` spells: `41us`, `8.5ms`.
pub(crate) fn parse_word_time(text: &str) -> Result<u64, String> {
    match parse(text, &[("ms", 1_000_000), ("us", 1000), ("ns", 1)], "a time such as \"41us\" or \"8.5ms\"")?
    {
        nanoseconds @ 1..=1_000_000_000 => Ok(nanoseconds),
        _ => Err("a word takes more than nothing, and at most 1000ms".into()),
    }
}

/// The ticks a second that `text` spells: `32768Hz`.
pub(crate) fn parse_ticks(text: &str) -> Result<u32, String> {
    match parse(text, &[("MHz", 1_000_000), ("kHz", 1000), ("Hz", 1)], "a timer such as \"32768Hz\"")? {
        ticks @ 1..=100_000_000 => Ok(ticks as u32),
        _ => Err("a timer has 1Hz to 100MHz".into()),
    }
}

/// The microampere-hours that `text` spells: `2500mAh`, `2.5Ah`.
pub(crate) fn parse_charge(text: &str) -> Result<u64, String> {
    match parse(text, &[("mAh", 1000), ("Ah", 1_000_000)], "a charge such as \"2500mAh\"")? {
        microampere_hours @ 1..=1_000_000_000_000 => Ok(microampere_hours),
        _ => Err("a battery holds more than nothing, and at most 1000000Ah".into()),
    }
}

/// The hundredths of a per cent in a year that `text` spells: `2%/year`.
pub(crate) fn parse_self_discharge(text: &str) -> Result<u32, String> {
    match parse(text, &[("%/year", 100)], "a share such as \"2%/year\"")? {
        share @ 0..=10_000 => Ok(share as u32),
        _ => Err("a battery loses at most 100%/year".into()),
    }
}

/// The bytes that `text` spells: `128B`.
pub(crate) fn parse_bytes(text: &str) -> Result<u32, String> {
    const WANTED: &str = "a number of bytes such as \"128B\"";
    let bytes = parse(text, &[("B", 1)], WANTED)?;
    u32::try_from(bytes).map_err(|_| format!("\"{text}\" is not {WANTED}"))
}

fn parse(text: &str, units: &[(&str, u64)], wanted: &str) -> Result<u64, String> {
    let wrong = || format!("\"{text}\" is not {wanted}");
    let unit_at = text.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(wrong)?;
    let (number, unit) = text.split_at(unit_at);
    let of_unit = units.iter().find(|(name, _)| *name == unit.trim());
    let &(_, scale) = of_unit.ok_or_else(|| wrong() + &meant(number, unit.trim(), units))?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let whole: u64 = whole.parse().map_err(|_| wrong())?;
    let mut place = scale;
    let mut value = whole.checked_mul(scale).ok_or_else(wrong)?;
    if fraction.is_empty() {
        return Err(wrong());
    }
    for digit in fraction.bytes() {
        if !digit.is_ascii_digit() {
            return Err(wrong());
        }
        place /= 10;
        if place == 0 && digit != b'0' {
            let finest = units.iter().min_by_key(|(_, scale)| scale).map_or("", |(name, _)| name);
            return Err(format!("\"{text}\" is finer than 1{finest}, the least that is told apart"));
        }
        value = value.checked_add(u64::from(digit - b'0') * place).ok_or_else(wrong)?;
    }
    Ok(value)
}

/// The end of an error about a number with a unit that is none of `units`: those that it may be, as one begins like the other.
fn meant(number: &str, unit: &str, units: &[(&str, u64)]) -> String {
    let unit = unit.to_ascii_lowercase();
    let begins_like = |name: &str| name.starts_with(&unit) || unit.starts_with(name);
    let like = units.iter().filter(|(name, _)| begins_like(&name.to_ascii_lowercase()));
    let like: Vec<_> = like.map(|(name, _)| format!("\"{number}{name}\"")).collect();
    if like.is_empty() || number.parse::<f64>().is_err() {
        return String::new();
    }
    format!("; did you mean {}?", like.join(" or "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_with_their_units() {
        assert_eq!(parse_span("600s"), Ok(Span::from_secs(600)));
        assert_eq!(parse_span("1.5 min"), Ok(Span::from_secs(90)));
        assert_eq!(parse_span("2d"), Ok(Span::from_secs(2 * 86_400)));
        assert_eq!(parse_duration("1ms"), Ok(Span::from_millis(1)));
        assert_eq!(parse_duration("0h"), Err("it must be longer than nothing".into()));
        assert_eq!(parse_span("0.25ms"), Ok(Span::from_micros(250)));
        assert_eq!(
            parse_current("0.50nA"),
            Err("\"0.50nA\" is finer than 1nA, the least that is told apart".into())
        );
        assert_eq!(parse_current("0.0010mA"), Ok(1000));
        assert_eq!(parse_length("40m"), Ok(40_000));
        assert_eq!(parse_length("-0.5m"), Ok(-500));
        assert_eq!(parse_length("1.2km"), Ok(1_200_000));
        assert_eq!([parse_drift("40ppm"), parse_drift("0.5ppm")], [Ok(40_000), Ok(500)]);
        assert_eq!(parse_decibels("58.5dB", "dB"), Ok(58.5));
        assert_eq!([parse_decibels("-95dBm", "dBm"), parse_decibels("0 dBm", "dBm")], [Ok(-95.0), Ok(0.0)]);
    }

    #[test]
    fn a_unit_that_begins_like_others_is_told_which_may_be_meant() {
        let hint = |wrong: Result<_, String>| {
            let wrong = wrong.map(|_: u64| ()).unwrap_err();
            wrong.split_once("; ").map(|(_, hint)| hint.to_owned())
        };
        let span = |text| hint(parse_span(text).map(Span::micros));
        assert_eq!(span("10m").as_deref(), Some("did you mean \"10min\" or \"10ms\"?"));
        assert_eq!(span("1.5 hours").as_deref(), Some("did you mean \"1.5h\"?"));
        assert_eq!(hint(parse_charge("225mAH")).as_deref(), Some("did you mean \"225mAh\"?"));
        for nothing_near in ["10x", "min", "1..5 m", "60"] {
            assert_eq!(span(nothing_near), None, "{nothing_near}");
        }
    }

    #[test]
    fn what_is_no_quantity_is_refused() {
        for wrong in ["", "s", "60", "1..s", "1.2.3s", ".s", "1.s", "-1s", "60 m", "99999999999999999999s"] {
            assert!(parse_span(wrong).is_err(), "{wrong}");
        }
        for wrong in ["20", "-1ppm", "1001ppm"] {
            assert!(parse_drift(wrong).is_err(), "{wrong}");
        }
        for wrong in ["4", "4dB", "--4dBm", "301dBm", "4m"] {
            assert!(parse_decibels(wrong, "dBm").is_err(), "{wrong}");
        }
        for wrong in ["40", "40s", "--1m", "101km"] {
            assert!(parse_length(wrong).is_err(), "{wrong}");
        }
    }
}

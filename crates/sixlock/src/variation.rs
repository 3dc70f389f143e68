//! A key of a scenario with the values that it takes in turn.

use core::str::FromStr;

/// Most values of a range.
const VALUES: i64 = 1_000;

/// A key of a scenario, and the values that it takes in turn: `radio.loss=0,0.1` or, with a step, `radio.loss=0..0.4:0.1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Variation {
    pub(crate) key: String,
    pub(crate) values: Vec<String>,
}

impl FromStr for Variation {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = "write KEY=VALUE,VALUE or KEY=FIRST..LAST:STEP, such as radio.loss=0..0.4:0.1";
        let (key, values) = text.split_once('=').ok_or(form)?;
        let key = key.trim();
        if key.is_empty() || values.trim().is_empty() {
            return Err(form.into());
        }
        let mut all = Vec::new();
        for value in values.split(',').map(str::trim) {
            match value.split_once("..") {
                // What begins otherwise is the path of a file.
                Some((first, rest))
                    if first.starts_with(|begin: char| begin.is_ascii_digit() || begin == '-') =>
                {
                    all.extend(range(first, rest)?);
                }
                _ if value.is_empty() => return Err(format!("there is no value between two commas: {form}")),
                _ => all.push(value.to_owned()),
            }
        }
        Ok(Self { key: key.into(), values: all })
    }
}

/// A number as it is written: `250` with 2 decimals and the unit `s` is `2.50s`.
#[derive(Clone, Copy)]
struct Decimal<'a> {
    digits: i64,
    decimals: u32,
    unit: &'a str,
}

impl<'a> Decimal<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let is_number = |character: char| character.is_ascii_digit() || character == '.';
        let unsigned = text.strip_prefix('-').unwrap_or(text);
        let end = unsigned.find(|character| !is_number(character)).unwrap_or(unsigned.len());
        let (number, unit) = unsigned.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let digits: i64 = format!("{whole}{fraction}").parse().ok()?;
        let sign = if unsigned.len() < text.len() { -1 } else { 1 };
        Some(Self { digits: sign * digits, decimals: u32::try_from(fraction.len()).ok()?, unit })
    }

    /// Its digits when it is written with so many decimals.
    fn with(self, decimals: u32) -> Option<i64> {
        self.digits.checked_mul(10_i64.checked_pow(decimals.checked_sub(self.decimals)?)?)
    }
}

/// The numbers from `first` on that `rest`, the last and the step, names.
fn range(first: &str, rest: &str) -> Result<Vec<String>, String> {
    let whole = || format!("{first}..{rest}");
    let (last, step) =
        rest.split_once(':').ok_or_else(|| format!("{}: a range ends with its step: {0}:1", whole()))?;
    let numbers = [first, last, step].map(|text| Decimal::parse(text.trim()));
    let [Some(first), Some(last), Some(step)] = numbers else {
        return Err(format!("{}: a range is of numbers, such as 0..0.4:0.1 or 10s..60s:10s", whole()));
    };
    if first.unit != last.unit || first.unit != step.unit {
        return Err(format!("{}: first, last and step have one unit", whole()));
    }
    let decimals = first.decimals.max(last.decimals).max(step.decimals);
    let too_long = || format!("{}: its numbers have too many digits", whole());
    let [first_digits, last_digits, step_digits] = [first, last, step].map(|number| number.with(decimals));
    let first_digits = first_digits.ok_or_else(too_long)?;
    let (last_digits, step_digits) = (last_digits.ok_or_else(too_long)?, step_digits.ok_or_else(too_long)?);
    let length = last_digits.checked_sub(first_digits).ok_or_else(too_long)?;
    if step_digits <= 0 || length < 0 {
        return Err(format!("{}: the last is not below the first, and the step is above 0", whole()));
    }
    if length / step_digits >= VALUES {
        return Err(format!("{}: a range has at most {VALUES} values", whole()));
    }
    let unit = first.unit;
    let rest = length % step_digits;
    if rest != 0 {
        let reached = spell(last_digits - rest, decimals, unit);
        return Err(format!(
            "{}: its steps do not come to its last, and end before: write {reached} for that",
            whole()
        ));
    }
    Ok((0..=length / step_digits)
        .map(|index| spell(first_digits + index * step_digits, decimals, unit))
        .collect())
}

fn spell(digits: i64, decimals: u32, unit: &str) -> String {
    let (sign, digits) = (if digits < 0 { "-" } else { "" }, digits.unsigned_abs());
    match decimals {
        0 => format!("{sign}{digits}{unit}"),
        _ => {
            let scale = 10_u64.pow(decimals);
            format!("{sign}{}.{:0width$}{unit}", digits / scale, digits % scale, width = decimals as usize)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_listed_or_lie_in_steps() {
        for (text, values) in [
            ("security=ah,esp:ctr-xcbc", "ah esp:ctr-xcbc"),
            ("radio.loss=0..0.4:0.1", "0.0 0.1 0.2 0.3 0.4"),
            ("radio.loss=0..0.9:0.3", "0.0 0.3 0.6 0.9"),
            ("traffic.period=10s..60s:25s, 2m", "10s 35s 60s 2m"),
            ("radio.floor=-1.5dBm..0.75dBm:0.75dBm", "-1.50dBm -0.75dBm 0.00dBm 0.75dBm"),
            ("platform.file=../boards/mine.toml", "../boards/mine.toml"),
            ("topology.nodes=7..7:1", "7"),
        ] {
            let variation: Variation = text.parse().unwrap();
            assert_eq!(variation.values.join(" "), values, "{text}");
            assert!(text.starts_with(&variation.key));
        }
    }

    #[test]
    fn what_is_no_variation_is_told_why() {
        for (text, why) in [
            ("radio.loss", "write KEY=VALUE"),
            ("=1", "write KEY=VALUE"),
            ("radio.loss=", "write KEY=VALUE"),
            ("radio.loss=0,,1", "no value between two commas"),
            ("radio.loss=0..0.4", "ends with its step"),
            ("radio.loss=0..much:1", "of numbers"),
            ("radio.loss=0..1:0", "step is above 0"),
            ("radio.loss=1..0:1", "not below the first"),
            ("radio.loss=0..1:0.3", "end before: write 0.9 for that"),
            ("traffic.period=1s..2m:1s", "one unit"),
            ("seed=0..1000:1", "at most 1000"),
            ("seed=0..9223372036854775807:0.1", "too many digits"),
        ] {
            let error = text.parse::<Variation>().unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}

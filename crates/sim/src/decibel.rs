//! Decibels, reckoned with the operations alone that every machine rounds alike: a scenario gives the same result on each of them.

/// ln 2, ln 10 and the terms of a series after which nothing changes any more.
const LN_2: f64 = core::f64::consts::LN_2;
const LN_10: f64 = core::f64::consts::LN_10;
const TERMS: u32 = 24;

/// A ratio of powers, which is positive and no subnormal number, in decibels.
pub(crate) fn of_ratio(ratio: f64) -> f64 {
    const MANTISSA: u64 = (1 << 52) - 1;
    let bits = ratio.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32 - 1023;
    let mantissa = f64::from_bits(bits & MANTISSA | 1023 << 52);
    // ln m = 2 (s + s³/3 + s⁵/5 + …), where s = (m - 1)/(m + 1).
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let (mut power, mut sum) = (s, 0.0);
    for term in 0..TERMS {
        sum += power / f64::from(2 * term + 1);
        power *= s * s;
    }
    10.0 * (2.0 * sum + f64::from(exponent) * LN_2) / LN_10
}

/// The ratio of powers that so many decibels are, of which there are at most 1,000 on both sides.
pub(crate) fn to_ratio(decibels: f64) -> f64 {
    let exponent = decibels.clamp(-1000.0, 1000.0) * LN_10 / (10.0 * LN_2);
    let whole = exponent.floor();
    let rest = (exponent - whole) * LN_2;
    let (mut term, mut sum) = (1.0, 0.0);
    for number in 1..=TERMS {
        sum += term;
        term *= rest / f64::from(number);
    }
    sum * f64::from_bits(((whole as i64 + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_and_decibels_agree_with_what_is_known() {
        for (ratio, decibels) in [
            (1.0, 0.0),
            (10.0, 10.0),
            (1000.0, 30.0),
            (2.0, 3.010_299_956_639_812),
            (0.5, -3.010_299_956_639_812),
        ] {
            assert!((of_ratio(ratio) - decibels).abs() < 1e-12, "{ratio}");
            assert!((to_ratio(decibels) / ratio - 1.0).abs() < 1e-12, "{decibels}");
        }
        for step in -1000..1000 {
            let decibels = f64::from(step) / 7.0;
            assert!((of_ratio(to_ratio(decibels)) - decibels).abs() < 1e-11, "{decibels}");
        }
    }
}

//! One-time codes that change with time ([RFC 6238](https://www.rfc-editor.org/rfc/rfc6238)): six digits, of HMAC-SHA1, as all
//! programs for them know.

use sixlock_crypto::ipsec::{HmacSha1, code};
use sixlock_crypto::{Soft, constant_time_eq};

/// Bytes of a secret.
pub(crate) const SECRET: usize = 20;
/// A code is good for so long.
const STEP_MS: i64 = 30_000;
/// Clocks may be wrong by so many steps.
const WINDOW: i64 = 1;

/// The step of the time `now`, in milliseconds since 1970.
pub(crate) fn step(now: i64) -> i64 {
    now.div_euclid(STEP_MS)
}

/// The code of a step.
pub(crate) fn of_step(secret: &[u8; SECRET], step: i64) -> String {
    // The key has the length that is asked for.
    let digest = code::<HmacSha1>(&mut Soft, secret, &[&step.to_be_bytes()]).unwrap_or([0; 20]);
    // https://www.rfc-editor.org/rfc/rfc4226#section-5.3
    let at = usize::from(digest[19] & 15);
    let number = u32::from_be_bytes([digest[at] & 127, digest[at + 1], digest[at + 2], digest[at + 3]]);
    format!("{:06}", number % 1_000_000)
}

/// The step near the time `now` that `given` is the code of.
pub(crate) fn step_of(secret: &[u8; SECRET], given: &str, now: i64) -> Option<i64> {
    let present = step(now);
    (present - WINDOW..=present + WINDOW)
        .find(|step| constant_time_eq(of_step(secret, *step).as_bytes(), given.as_bytes()))
}

/// `bytes` in the digits in which programs for codes take secrets
/// ([RFC 4648 section 6](https://www.rfc-editor.org/rfc/rfc4648#section-6)), without padding.
pub(crate) fn base32(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    let bit = |n: usize| bytes.get(n / 8).map_or(0, |byte| usize::from(byte >> (7 - n % 8) & 1));
    let digit = |first: usize| (first..first + 5).fold(0, |digit, n| digit << 1 | bit(n));
    (0..bytes.len() * 8).step_by(5).map(|first| char::from(DIGITS[digit(first)])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// That of the RFC's vectors.
    const RFC_SECRET: &[u8; SECRET] = b"12345678901234567890";

    #[test]
    fn codes_are_those_of_rfc_6238() {
        // Appendix B, of which six digits are the last.
        for (seconds, eight) in [
            (59, "94287082"),
            (1_111_111_109, "07081804"),
            (1_111_111_111, "14050471"),
            (1_234_567_890, "89005924"),
            (2_000_000_000, "69279037"),
            (20_000_000_000, "65353130"),
        ] {
            assert_eq!(of_step(RFC_SECRET, step(seconds * 1000)), eight[2..], "{seconds}");
        }
    }

    #[test]
    fn a_code_is_good_for_a_step_before_and_after_its_own() {
        let now = 1_111_111_111_000;
        for (away, good) in [(-2, false), (-1, true), (0, true), (1, true), (2, false)] {
            let given = of_step(RFC_SECRET, step(now) + away);
            assert_eq!(step_of(RFC_SECRET, &given, now), good.then_some(step(now) + away), "{away}");
        }
        assert_eq!(step_of(RFC_SECRET, "", now), None);
    }

    #[test]
    fn secrets_are_written_as_rfc_4648_says() {
        for (text, written) in
            [("", ""), ("f", "MY"), ("fo", "MZXQ"), ("foo", "MZXW6"), ("foobar", "MZXW6YTBOI")]
        {
            assert_eq!(base32(text.as_bytes()), written, "{text}");
        }
        assert_eq!(base32(RFC_SECRET), "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
    }
}

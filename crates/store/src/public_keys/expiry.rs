//! When certificates end.

use sixlock_x509::Certificate;

use super::time::{FOR_EVER, time};

/// Returns when the certificate in DER ends, in milliseconds since 1970; `None` if it is invalid.
pub fn expires(certificate: &[u8]) -> Option<i64> {
    let (_, end) = Certificate::parse(certificate).ok()?.validity();
    // A time is told by its digits, and these grow with the seconds.
    let (mut least, mut most) = (0, FOR_EVER);
    while least < most {
        let middle = least + (most - least) / 2;
        if time(middle) < end { least = middle + 1 } else { most = middle }
    }
    Some(least * 1000)
}

/// The day in UTC of a time in milliseconds since 1970, as `2028-11-22`.
pub fn date(time: i64) -> String {
    let date = jiff::Timestamp::from_millisecond(time).map(|time| time.strftime("%Y-%m-%d").to_string());
    date.unwrap_or_else(|_| "never".into())
}

#[cfg(test)]
mod tests {
    use super::super::{KeyPair, OwnKeys};
    use super::*;

    #[test]
    fn the_end_of_a_certificate_is_found_to_the_second() {
        let directory = tempfile::tempdir().unwrap();
        let own = OwnKeys::open(directory.path(), &Default::default()).unwrap();
        let pair = KeyPair::random().unwrap();
        for until in [1, 951_782_399, 951_782_400, 1_795_279_500, 2_524_607_999, 2_524_608_000, FOR_EVER] {
            let certificate = own.issue("node", &pair.point, until, &[]).unwrap();
            assert_eq!(expires(&certificate), Some(until * 1000));
        }
        assert_eq!(expires(own.authority()), Some(FOR_EVER * 1000));
        assert_eq!(expires(b"no certificate"), None);
    }
}

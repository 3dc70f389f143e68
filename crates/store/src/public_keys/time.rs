//! Times in certificates.

use sixlock_x509::Time;

/// The end of a certificate that is to be good for ever, in seconds after 1970
/// ([RFC 5280 section 4.1.2.5](https://www.rfc-editor.org/rfc/rfc5280#section-4.1.2.5)).
pub(super) const FOR_EVER: i64 = 253_402_300_799;
pub(super) const DAY: i64 = 86_400;

/// The time so many seconds after 1970.
pub fn time(seconds: i64) -> Time {
    let seconds = seconds.clamp(0, FOR_EVER);
    Time::new((seconds / DAY) as u32, (seconds % DAY) as u32)
}

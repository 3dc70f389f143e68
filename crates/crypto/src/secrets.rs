//! How secrets are compared and wiped.

/// Whether `a` and `b` are the same, in a time that depends on their lengths only.
pub fn constant_time_eq(a: &[u8], b: &[u8]) -> bool {
    let difference = a.iter().zip(b).fold(0, |difference, (a, b)| difference | (a ^ b));
    // The compiler is to know nothing of it: neither that it cannot become zero again, nor what it is for.
    a.len() == b.len() && core::hint::black_box(difference) == 0
}

/// Overwrites `secret` with zeros in a way the compiler keeps.
#[inline(never)]
pub fn wipe(secret: &mut [u8]) {
    zeroize::Zeroize::zeroize(secret);
}

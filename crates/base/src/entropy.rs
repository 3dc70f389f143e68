/// A source of unpredictable bytes.
///
/// A device seeds its generator so that no output repeats after a reboot; the simulator
/// derives it from the run's seed.
pub trait Entropy {
    /// Fills `out` with random bytes.
    fn fill(&mut self, out: &mut [u8]);

    /// A random 32-bit number.
    fn next_u32(&mut self) -> u32 {
        let mut bytes = [0; 4];
        self.fill(&mut bytes);
        u32::from_le_bytes(bytes)
    }
}

/// Entropy that is a function which fills bytes: that of `getrandom`, or `fill_bytes` of a generator.
#[derive(Clone, Copy, Debug)]
pub struct EntropyFrom<F>(F);

/// Returns entropy that calls `fill` for its bytes.
pub const fn entropy_from<F: FnMut(&mut [u8])>(fill: F) -> EntropyFrom<F> {
    EntropyFrom(fill)
}

impl<F: FnMut(&mut [u8])> Entropy for EntropyFrom<F> {
    fn fill(&mut self, out: &mut [u8]) {
        (self.0)(out);
    }
}

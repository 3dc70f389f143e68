use crate::{Counters, Cx, Instant};

/// An owner of what machines are lent: [`Environment::cx`] lends all of it for one call.
///
/// ```
/// use sixlock_base::{Environment, Instant, VolatileCounters, entropy_from};
///
/// // On a host, `getrandom::fill` gives the bytes; on a device, its generator.
/// let entropy = entropy_from(|bytes: &mut [u8]| bytes.fill(4));
/// let mut environment = Environment::new((), entropy, VolatileCounters::default());
/// let cx = environment.cx(Instant::from_millis(1_500));
/// assert_eq!(cx.now.millis(), 1_500);
/// ```
#[derive(Clone, Debug)]
pub struct Environment<C, E, N> {
    /// The crypto provider.
    pub crypto: C,
    /// The source of random bytes.
    pub entropy: E,
    /// Durable counter ranges.
    pub nv: N,
    /// Counts of what happened.
    pub counters: Counters,
}

impl<C, E, N> Environment<C, E, N> {
    /// An owner of these, in which nothing has happened.
    pub const fn new(crypto: C, entropy: E, nv: N) -> Self {
        Self { crypto, entropy, nv, counters: Counters::new() }
    }

    /// Lends all of it for a call at `now`.
    pub fn cx(&mut self, now: Instant) -> Cx<'_, C, E, N> {
        let Self { crypto, entropy, nv, counters } = self;
        Cx { now, crypto, entropy, nv, counters }
    }
}

//! How long cryptography takes a platform, outside of any network.

use sixlock_base::Engines;
use sixlock_crypto::Operation;

use crate::costs::{Costs, Step, Work};
use crate::engine::{Accelerated, Job};
use crate::error::ScenarioError;
use crate::platform::Platform;
use crate::time::Span;

/// What multiplies points of P-256, and how often.
const CURVES: [(Operation, u64); 4] = [
    (Operation::P256PublicKey, 1),
    (Operation::P256Agree, 1),
    (Operation::P256Sign, 1),
    (Operation::P256Verify, 2),
];

/// Primitives that are computed, with what a platform would take for them.
pub struct TimedCrypto {
    crypto: Accelerated,
    platform: Platform,
    costs: Costs,
}

/// How long something takes a platform.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CryptoTime {
    /// To multiply points of P-256.
    pub curves: Span,
    /// All else.
    pub rest: Span,
}

impl TimedCrypto {
    /// The primitives of `platform`, whose engine does those of the layers that it is taken for.
    ///
    /// # Errors
    /// Says what is wrong in the platform's file of costs.
    pub fn new(platform: Platform, engines: Engines) -> Result<Self, ScenarioError> {
        Ok(Self {
            costs: platform.costs()?,
            crypto: Accelerated::new(Some((platform.clone(), engines))),
            platform,
        })
    }

    /// The primitives.
    pub fn crypto(&mut self) -> &mut Accelerated {
        &mut self.crypto
    }

    /// How long that takes which was computed since this was last called, and these steps of the stack beside it.
    pub fn take(&mut self, steps: &[Step]) -> CryptoTime {
        let done = self.crypto.take();
        let mut work = Work::new(done.cpu);
        for step in steps {
            work.add(*step, 0);
        }
        let whole = self.platform.duration(self.costs.of(&work)) + done.lasts;
        let multiplication = Job::P256Multiplication.on(&self.platform);
        let engine = multiplication.map_or(0, |effort| effort.lasts(self.platform.profile()));
        let (mut nanoseconds, mut cost) = (0, 0.0);
        for (operation, times) in CURVES {
            nanoseconds += u64::from(done.engine.get(operation)) * times * engine;
            cost += f64::from(done.cpu.get(operation)) * self.costs.operations[operation as usize];
        }
        let curves = self.platform.duration(cost as u64) + Span::from_micros(nanoseconds / 1000);
        CryptoTime { curves, rest: whole.saturating_sub(curves) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixlock_crypto::Hashes as _;
    use sixlock_crypto::p256::P256 as _;

    #[test]
    fn curves_are_told_apart_in_software_and_in_the_engine() {
        for (transport, least, most) in [(true, 166_000, 167_000), (false, 160_000, 180_000)] {
            let mut timed =
                TimedCrypto::new(Platform::openmote(), Engines { transport, ..Engines::NONE }).unwrap();
            assert_eq!(timed.take(&[]), CryptoTime::default());
            timed.crypto().p256_public_key(&[7; 32]).unwrap();
            let key = timed.crypto().hmac_key(b"key");
            timed.crypto().hmac_sha256(&key, &[b"message"]);
            let lasted = timed.take(&[]);
            assert!((least..most).contains(&lasted.curves.micros()), "{lasted:?}");
            assert!((100..2_000).contains(&lasted.rest.micros()), "{lasted:?}");
            assert!(timed.take(&[Step::Handshake]).rest > Span::ZERO);
        }
    }
}

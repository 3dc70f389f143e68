//! Entropy for tests: bytes that a test can repeat, that it knows, or those of the system.

use sixlock_base::Entropy;

/// Pseudo-random bytes that follow from a seed: xorshift, of which one byte in four is given. Nothing that is secret may be made
/// of them.
#[derive(Clone, Debug)]
pub struct Random(u32);

impl Random {
    /// The bytes of this seed.
    pub fn new(seed: u32) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9) | 1)
    }

    /// A number below `n`.
    ///
    /// # Panics
    ///
    /// If `n` is 0.
    pub fn below(&mut self, n: u32) -> u32 {
        self.next_u32() % n
    }
}

impl Entropy for Random {
    fn fill(&mut self, out: &mut [u8]) {
        out.fill_with(|| {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 17;
            self.0 ^= self.0 << 5;
            (self.0 >> 11) as u8
        });
    }
}

/// The same bytes at each call, repeated to the length that is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Fixed<const N: usize>(pub [u8; N]);

impl<const N: usize> Entropy for Fixed<N> {
    fn fill(&mut self, out: &mut [u8]) {
        out.iter_mut().zip(self.0.iter().cycle()).for_each(|(byte, fixed)| *byte = *fixed);
    }
}

/// The random bytes of the operating system, for ends that talk to real peers: none may say what another has said.
#[derive(Clone, Copy, Debug)]
pub struct System;

impl Entropy for System {
    fn fill(&mut self, out: &mut [u8]) {
        getrandom::fill(out).expect("the system gives random bytes");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(mut entropy: impl Entropy, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        entropy.fill(&mut bytes);
        bytes
    }

    #[test]
    fn a_seed_gives_the_same_bytes_again_and_another_seed_gives_others() {
        assert_eq!(drawn(Random::new(7), 64), drawn(Random::new(7), 64));
        assert_ne!(drawn(Random::new(7), 64), drawn(Random::new(8), 64));
    }

    #[test]
    fn numbers_below_a_limit_are_all_drawn_about_as_often() {
        let mut random = Random::new(0);
        let mut drawn = [0; 6];
        for _ in 0..6000 {
            drawn[random.below(6) as usize] += 1;
        }
        assert!(drawn.iter().all(|count| (900..1100).contains(count)), "{drawn:?}");
    }

    #[test]
    fn the_system_gives_other_bytes_each_time() {
        assert_ne!(drawn(System, 32), drawn(System, 32));
    }

    #[test]
    fn fixed_bytes_are_repeated_from_the_first_at_each_call() {
        let mut fixed = Fixed([1, 2]);
        assert_eq!(drawn(fixed, 3), [1, 2, 1]);
        assert_eq!(fixed.next_u32(), 0x0201_0201);
        assert_eq!(fixed.next_u32(), 0x0201_0201);
    }
}

//! Randomness: one stream for each thing that draws, so that no draw shifts another's.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use sixlock_base::Entropy;

/// What a stream is drawn for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The node's own random generator: backoffs, nonces, initial numbers.
    Entropy,
    /// Losses of what this node hears from the node named.
    Loss {
        /// The transmitting node.
        source: u32,
    },
    /// When the node starts.
    Start,
    /// When the node's radio wakes up first.
    WakeUp,
    /// How fast or slow the node's clock runs.
    Drift,
    /// The node's keys.
    Keys,
    /// The keys of the node's IPsec.
    Associations,
    /// The node's private key.
    PrivateKey,
    /// When the power of the node fails.
    Power,
    /// What disturbs the network.
    Disturbance,
    /// What an attacker does.
    Attack,
    /// The scenario of a trial.
    Swarm,
    /// Where nodes stand, and which links carry frames one way only.
    Field,
    /// Which links carry frames one way only where the node stands from an event of the scenario on.
    Move {
        /// Which event.
        event: u32,
    },
    /// By how much the loss between the node and another differs from that of their distance.
    Shadowing {
        /// The other, whose number is higher.
        other: u32,
    },
    /// When the node's reading of this number is due.
    Traffic {
        /// Its number, wrapping.
        number: u32,
    },
    /// What the node's sensor of this number measures.
    Environment {
        /// Which of the node's sensors.
        sensor: u32,
    },
}

/// The random stream of one (seed, node, purpose).
#[derive(Clone, Debug)]
pub(crate) struct Stream(ChaCha8Rng);

impl Stream {
    /// The stream that `seed` gives `node` for `purpose`.
    pub(crate) fn new(seed: u64, node: u32, purpose: Purpose) -> Self {
        let (number, detail) = match purpose {
            Purpose::Entropy => (1, 0),
            Purpose::Loss { source } => (2, source),
            Purpose::Start => (3, 0),
            Purpose::Keys => (4, 0),
            Purpose::Environment { sensor } => (5, sensor),
            Purpose::Associations => (6, 0),
            Purpose::PrivateKey => (7, 0),
            Purpose::Power => (8, 0),
            Purpose::Disturbance => (9, 0),
            Purpose::Attack => (10, 0),
            Purpose::Swarm => (11, 0),
            Purpose::Drift => (12, 0),
            Purpose::Field => (13, 0),
            Purpose::Move { event } => (14, event),
            Purpose::Traffic { number } => (15, number),
            Purpose::Shadowing { other } => (16, other),
            Purpose::WakeUp => (17, 0),
        };
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        for (place, word) in [node, number, detail].into_iter().enumerate() {
            key[8 + 4 * place..12 + 4 * place].copy_from_slice(&u32::to_le_bytes(word));
        }
        Self(ChaCha8Rng::from_seed(key))
    }

    /// A number below `bound`, which is not zero; its bias is below 2^-32 of the bound.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Goes on with the stream's word of this number, wherever the stream stands.
    pub(crate) fn go_to(&mut self, number: u64) {
        self.0.set_word_pos(u128::from(number));
    }

    /// The stream's word of this number, wherever the stream stands.
    pub(crate) fn word_at(&mut self, number: u64) -> u32 {
        self.go_to(number);
        self.0.next_u32()
    }
}

impl Entropy for Stream {
    fn fill(&mut self, out: &mut [u8]) {
        self.0.fill_bytes(out);
    }

    fn next_u32(&mut self) -> u32 {
        self.0.next_u32()
    }
}

/// How likely something is, in units of 2^-32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Probability(u64);

impl Probability {
    /// Never.
    pub(crate) const NEVER: Self = Self(0);
    /// In any case.
    pub(crate) const ALWAYS: Self = Self(1 << 32);
    /// As likely as not.
    pub(crate) const HALF: Self = Self(1 << 31);

    /// The probability `p`, if it lies between 0 and 1.
    pub fn new(p: f64) -> Option<Self> {
        (0.0..=1.0).contains(&p).then_some(Self((p * 4_294_967_296.0) as u64))
    }

    /// Its value, between 0 and 1.
    pub fn share(self) -> f64 {
        self.0 as f64 / 4_294_967_296.0
    }

    /// Whether it ever happens.
    pub(crate) fn happens_ever(self) -> bool {
        self > Self::NEVER
    }

    /// That of the opposite.
    pub(crate) fn not(self) -> Self {
        Self(Self::ALWAYS.0 - self.0)
    }

    /// That which lies such a fraction of the way from this to another.
    pub(crate) fn towards(self, other: Self, fraction: f64) -> Self {
        let (from, to) = (self.0 as f64, other.0 as f64);
        Self((from + (to - from) * fraction.clamp(0.0, 1.0)) as u64)
    }

    /// It, in per cent to one digit.
    pub(crate) fn per_cent(self) -> String {
        let thousandths = (self.0 * 1000 + (1 << 31)) >> 32;
        format!("{}.{} %", thousandths / 10, thousandths % 10)
    }

    /// What happens with this probability, but several times in a row, `mean` times on average: how likely it begins where it
    /// did not happen, and how likely it ends where it did. It cannot happen so often in so short bursts that it would have to
    /// begin more than always.
    pub(crate) fn in_bursts(self, mean: u32) -> Option<(Self, Self)> {
        const ALWAYS: u64 = 1 << 32;
        let not = (ALWAYS - self.0).saturating_mul(mean.into());
        let begins = (u128::from(self.0) << 32).checked_div(not.into())?;
        let begins = u64::try_from(begins).ok().filter(|&begins| begins <= ALWAYS)?;
        Some((Self(begins), Self(ALWAYS / u64::from(mean))))
    }

    /// Whether it happens this time. Nothing is drawn for what never happens.
    pub(crate) fn happens(self, stream: &mut Stream) -> bool {
        self.0 > 0 && u64::from(stream.next_u32()) < self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_seed_node_and_purpose_and_repeat_by_all_three() {
        let first = |seed, node, purpose| Stream::new(seed, node, purpose).next_u32();
        let all = [
            first(1, 1, Purpose::Entropy),
            first(2, 1, Purpose::Entropy),
            first(1, 2, Purpose::Entropy),
            first(1, 1, Purpose::Start),
            first(1, 1, Purpose::Loss { source: 2 }),
            first(1, 1, Purpose::Loss { source: 3 }),
        ];
        for (n, value) in all.iter().enumerate() {
            assert!(!all[..n].contains(value));
        }
        assert_eq!(first(1, 1, Purpose::Entropy), all[0]);
    }

    #[test]
    fn probabilities_mean_what_they_say() {
        let mut stream = Stream::new(7, 0, Purpose::Entropy);
        let happened = |p: f64, stream: &mut Stream| {
            let probability = Probability::new(p).unwrap();
            (0..10_000).filter(|_| probability.happens(stream)).count()
        };
        assert_eq!(happened(0.0, &mut stream), 0);
        assert_eq!(happened(1.0, &mut stream), 10_000);
        assert!((1_850..2_150).contains(&happened(0.2, &mut stream)));
        for wrong in [-0.1, 1.1, f64::NAN] {
            assert_eq!(Probability::new(wrong), None);
        }
        for _ in 0..1000 {
            assert!(stream.below(3) < 3);
        }
    }

    #[test]
    fn what_happens_in_bursts_happens_as_often_and_as_long_as_is_said() {
        let mut stream = Stream::new(7, 0, Purpose::Entropy);
        let (begins, ends) = Probability::new(0.2).unwrap().in_bursts(4).unwrap();
        let (mut happens, mut happened, mut bursts) = (false, 0, 0);
        for _ in 0..40_000 {
            let did = happens;
            happens = if did { !ends.happens(&mut stream) } else { begins.happens(&mut stream) };
            happened += u32::from(happens);
            bursts += u32::from(happens && !did);
        }
        assert!((7_200..8_800).contains(&happened), "{happened} of 40,000");
        assert!((36..44).contains(&(10 * happened / bursts)), "{happened} in {bursts} bursts");
        for (share, mean, is_possible) in [(0.5, 1, true), (0.6, 1, false), (0.6, 2, true), (1.0, 9, false)] {
            assert_eq!(Probability::new(share).unwrap().in_bursts(mean).is_some(), is_possible, "{share}");
        }
    }

    #[test]
    fn a_word_is_the_same_from_wherever_it_is_asked() {
        let mut stream = Stream::new(7, 0, Purpose::Environment { sensor: 1 });
        let (late, early) = (stream.word_at(1000), stream.word_at(3));
        assert_eq!((stream.word_at(3), stream.word_at(1000)), (early, late));
    }
}

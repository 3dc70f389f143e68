//! What a transmission of one station is to another: whether it is received, how likely chance takes it, and how strong it is.
//!
//! Models differ in that alone: what overlaps and what is lost, the medium says of all of them.

mod links;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::decibel::{of_ratio, to_ratio};
use crate::geometry::{squared, within};
use crate::random::{Probability, Purpose, Stream};

pub use links::LinkTable;

/// A milliwatt in attowatts.
const MILLIWATT: f64 = 1e15;

/// Shadowing is drawn up to so many standard deviations, so that there is a distance from which on nothing is heard.
const DEVIATIONS: f64 = 3.0;

/// The radio medium.
#[derive(Clone, Debug, PartialEq)]
pub struct Radio {
    /// How far a frame can be received, in millimetres, in a unit disk.
    pub range: i32,
    /// How far a transmission disturbs others, in millimetres, around a unit disk.
    pub interference: i32,
    /// How likely a link in a unit disk carries frames in one direction only, drawn from the seed.
    pub one_way: Probability,
    /// Probability that a receiver in range loses a frame or an acknowledgement, before retries.
    pub loss: Probability,
    /// How many a link loses in a row, on average, of the frames that chance takes; without, each is as likely lost as any
    /// other.
    pub burst: Option<u32>,
    /// How fast or slow the crystals of nodes and border router run at most, in parts per billion: each its own, drawn from the
    /// seed. IEEE 802.15.4 allows 40,000.
    pub drift: u32,
    /// Who hears whom.
    pub model: RadioModel,
}

/// Who hears whom.
#[derive(Clone, Debug, PartialEq)]
pub enum RadioModel {
    /// Each who is in range, as well as another.
    UnitDisk {
        /// How likely a frame is lost at the end of the range, if that is more than close by; it grows with the square of the
        /// distance.
        loss_at_range: Option<Probability>,
    },
    /// As a file says, for each pair and direction.
    Links(Arc<LinkTable>),
    /// By how strong a signal is after a distance.
    LogDistance(LogDistance),
}

/// The log-distance path loss model, and what radios make of a signal's strength. Strengths in dBm, losses in dB.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogDistance {
    /// By how much a signal is weaker at the reference distance.
    pub reference_loss: f64,
    /// The reference distance, in millimetres. Up to it the loss is that of free space.
    pub reference_distance: i32,
    /// How fast a signal gets weaker from there on: the loss grows by ten times this with each tenfold distance.
    pub exponent: f64,
    /// How strong radios send.
    pub transmit_power: f64,
    /// The weakest signal that is received.
    pub sensitivity: f64,
    /// The weakest signal that disturbs others, and that an assessment of the channel senses.
    pub floor: f64,
    /// The standard deviation of the loss around that of the distance, drawn for each pair.
    pub shadowing: f64,
    /// By how much a frame must be stronger than all others together to be received.
    pub capture: f64,
}

impl Default for LogDistance {
    /// The model of IEEE 802.15.4-2006, E.5.3, for 2.4 GHz: 58.5 dB at 8 m, and 33 dB more for ten times the distance. Radios are
    /// CC2420s at full power: sensitivity -95 dBm, RSSI down to -100 dBm, co-channel rejection -3 dB (SWRS041).
    fn default() -> Self {
        Self {
            reference_loss: 58.5,
            reference_distance: 8_000,
            exponent: 3.3,
            transmit_power: 0.0,
            sensitivity: -95.0,
            floor: -100.0,
            shadowing: 0.0,
            capture: 3.0,
        }
    }
}

impl LogDistance {
    /// How strong a signal is so many millimetres away, before shadowing.
    fn strength(&self, distance: f64) -> f64 {
        let reference = f64::from(self.reference_distance);
        let exponent = if distance < reference { 2.0 } else { self.exponent };
        // Nobody stands nearer than a centimetre.
        self.transmit_power - self.reference_loss - exponent * of_ratio(distance.max(10.0) / reference)
    }

    /// By how much the loss between these two differs from that of their distance, the same both ways: a sum of twelve evenly
    /// distributed numbers, which is as good as normally distributed.
    fn shadow(&self, seed: u64, (a, b): (u32, u32)) -> f64 {
        if self.shadowing == 0.0 {
            return 0.0;
        }
        const UNIT: u64 = 1 << 32;
        let mut stream = Stream::new(seed, a.min(b), Purpose::Shadowing { other: a.max(b) });
        let sum: u64 = (0..12).map(|_| stream.below(UNIT)).sum();
        let deviations = sum as f64 / UNIT as f64 - 6.0;
        self.shadowing * deviations.clamp(-DEVIATIONS, DEVIATIONS)
    }

    /// Beyond how many millimetres no signal is as strong as this.
    fn reach(&self, strength: f64) -> i32 {
        let spare = self.transmit_power - self.reference_loss + DEVIATIONS * self.shadowing - strength;
        let exponent = if spare < 0.0 { 2.0 } else { self.exponent };
        let reach = f64::from(self.reference_distance) * to_ratio(spare / exponent);
        // Rounding is not to leave anybody out.
        (reach + 1.0).min(f64::from(i32::MAX / 2)) as i32
    }
}

/// What the transmissions of one station are to another that they disturb.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Link {
    /// How likely chance takes a frame, if frames are received at all.
    pub(crate) loss: Option<Probability>,
    /// How strong they are, in attowatts; nothing where the model knows no strengths.
    pub(crate) power: u64,
}

/// By how much a frame must be stronger than all others together to be received.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Capture(Option<f64>);

impl Capture {
    /// Whether a frame of this power is received beside others of so much power in all.
    pub(crate) fn holds(self, power: u64, others: u64) -> bool {
        self.0.is_some_and(|ratio| power as f64 >= ratio * others as f64)
    }
}

impl Radio {
    /// How far away anybody can be who receives a frame, in millimetres.
    pub(crate) fn receives_within(&self) -> i32 {
        match &self.model {
            RadioModel::UnitDisk { .. } => self.range,
            RadioModel::Links(_) => i32::MAX / 2,
            RadioModel::LogDistance(model) => model.reach(model.sensitivity),
        }
    }

    /// How far away anybody can be who is disturbed, in millimetres.
    pub(crate) fn disturbs_within(&self) -> i32 {
        match &self.model {
            RadioModel::UnitDisk { .. } => self.interference,
            RadioModel::Links(_) => i32::MAX / 2,
            RadioModel::LogDistance(model) => model.reach(model.floor),
        }
    }

    /// How likely a frame is lost where that is likeliest.
    pub(crate) fn worst_loss(&self) -> Probability {
        match &self.model {
            RadioModel::UnitDisk { loss_at_range } => loss_at_range.unwrap_or(self.loss),
            RadioModel::Links(table) => table.worst_loss(),
            RadioModel::LogDistance(_) => self.loss,
        }
    }

    /// By how much a frame must be stronger than others.
    pub(crate) fn capture(&self) -> Capture {
        Capture(match &self.model {
            RadioModel::LogDistance(model) => Some(to_ratio(model.capture)),
            RadioModel::UnitDisk { .. } | RadioModel::Links(_) => None,
        })
    }

    /// What transmissions of the first are to the second, who stand there; nothing if they do not even disturb it.
    pub(crate) fn link(&self, seed: u64, link: (u32, u32), from: (i32, i32), to: (i32, i32)) -> Option<Link> {
        match &self.model {
            RadioModel::UnitDisk { loss_at_range } => {
                let receives = within(from, to, self.range);
                let loss = || match loss_at_range {
                    Some(most) => self
                        .loss
                        .towards(*most, squared(from, to) as f64 / squared((0, 0), (self.range, 0)) as f64),
                    None => self.loss,
                };
                within(from, to, self.interference).then(|| Link { loss: receives.then(loss), power: 0 })
            }
            RadioModel::Links(table) => {
                let delivery = table.delivery(link)?;
                Some(Link { loss: delivery.happens_ever().then(|| delivery.not()), power: 0 })
            }
            RadioModel::LogDistance(model) => {
                let strength = model.strength((squared(from, to) as f64).sqrt()) - model.shadow(seed, link);
                let loss = (strength >= model.sensitivity).then_some(self.loss);
                (strength >= model.floor)
                    .then(|| Link { loss, power: (MILLIWATT * to_ratio(strength)) as u64 })
            }
        }
    }

    /// The links on which frames do not arrive, though who sends and who does not hear it are near enough to each other: those of `nodes`.
    pub(crate) fn dead_links(
        &self,
        seed: u64,
        positions: &[(i32, i32)],
        nodes: core::ops::Range<u32>,
    ) -> BTreeSet<(u32, u32)> {
        if let RadioModel::UnitDisk { .. } = self.model {
            return BTreeSet::new();
        }
        let (mut dead, range) = (BTreeSet::new(), self.receives_within());
        for node in nodes {
            let here = positions[node as usize];
            for (other, &there) in (0..).zip(positions).filter(|&(other, _)| other != node) {
                for (link, from, to) in [((node, other), here, there), ((other, node), there, here)] {
                    let receives = || self.link(seed, link, from, to).is_some_and(|link| link.loss.is_some());
                    if within(from, to, range) && !receives() {
                        dead.insert(link);
                    }
                }
            }
        }
        dead
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;

    fn radio(model: LogDistance) -> Radio {
        Radio { model: RadioModel::LogDistance(model), ..Scenario::default().radio }
    }

    fn metres(radio: &Radio, distance: f64) -> Option<Link> {
        radio.link(1, (0, 1), (0, 0), ((distance * 1000.0) as i32, 0))
    }

    /// The figures of IEEE 802.15.4-2006, E.5.3, and what they come to: 95 dB at 102 m, 100 dB at 145 m.
    #[test]
    fn a_signal_is_as_strong_as_the_standard_says() {
        let model = LogDistance::default();
        for (distance, loss) in [(1_000.0, 40.438), (8_000.0, 58.5), (80_000.0, 91.5)] {
            assert!((model.strength(distance) + loss).abs() < 0.001, "{}", model.strength(distance));
        }
        let radio = radio(model);
        let is_received = |distance| metres(&radio, distance).map(|link| link.loss.is_some());
        assert_eq!(
            [102.0, 102.3, 144.0, 146.0].map(is_received),
            [Some(true), Some(false), Some(false), None]
        );
        assert!((102_000..102_300).contains(&radio.receives_within()));
        // 91.5 dB below a milliwatt.
        assert_eq!(metres(&radio, 80.0).unwrap().power / 10_000, 70);
    }

    #[test]
    fn shadowing_is_of_a_pair_and_spreads_as_far_as_it_says() {
        let model = LogDistance { shadowing: 4.0, ..LogDistance::default() };
        let all: Vec<f64> = (1..2000).map(|other| model.shadow(7, (0, other))).collect();
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        let deviation =
            (all.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / all.len() as f64).sqrt();
        assert!(mean.abs() < 0.3 && (3.7..4.3).contains(&deviation), "{mean} ± {deviation}");
        assert!(all.iter().all(|value| value.abs() <= 12.0));
        assert_eq!(model.shadow(7, (3, 5)), model.shadow(7, (5, 3)));
        assert_ne!(model.shadow(7, (3, 5)), model.shadow(8, (3, 5)));
        let radio = radio(model);
        let positions: Vec<_> = (0..30).map(|node| (20_000 * node, 0)).collect();
        let dead = radio.dead_links(7, &positions, 0..30);
        assert!(dead.iter().all(|&(a, b)| dead.contains(&(b, a))) && !dead.is_empty());
        assert_eq!(
            radio.dead_links(7, &positions, 3..4).len(),
            dead.iter().filter(|&&(a, b)| a == 3 || b == 3).count()
        );
    }

    #[test]
    fn loss_grows_with_the_square_of_the_distance() {
        let probability = |p| Probability::new(p).unwrap();
        let radio = Radio {
            loss: probability(0.1),
            model: RadioModel::UnitDisk { loss_at_range: Some(probability(0.5)) },
            ..Scenario::default().radio
        };
        let at =
            |metres: i32| radio.link(1, (0, 1), (0, 0), (1000 * metres, 0)).unwrap().loss.unwrap().per_cent();
        assert_eq!([0, 25, 50].map(at), ["10.0 %", "20.0 %", "50.0 %"]);
    }
}

//! The radio medium: who hears whom, what collides and what is lost.
//!
//! In a unit disk a frame reaches every node in range and disturbs every node in interference range; other models say of each link what it is.
//! Propagation takes no time. A link may carry frames one way only. Whatever overlaps at a receiver is destroyed, all of it, but for a frame
//! that is so much stronger than all others together, where the model knows how strong they are; a node that
//! transmits, or whose radio is off, hears nothing, and nothing of which it missed the beginning. Where a network hops over channels, what is
//! on another than a node's radio is neither received nor sensed, and disturbs nothing. Chance takes frames one by one, or several in a row on
//! a link, by Gilbert's model: the link is good or bad, and may change with each frame.

use std::collections::{BTreeMap, BTreeSet};

use crate::meters::{RadioMeter, RadioState};
use crate::radio_model::{Capture, Link, Radio};
use crate::random::{Probability, Purpose, Stream};
use crate::time::{Span, Time};
use crate::topology::{near, within};

/// Symbols of a clear channel assessment, in microseconds.
pub(crate) const CCA: Span = Span::from_micros(8 * 16);

/// Bytes before the MAC frame: preamble, start of frame delimiter and length.
const PHY_HEADER: u64 = 6;

/// At 250 kbit/s.
const MICROS_PER_BYTE: u64 = 32;

/// How long a frame of `len` bytes, the FCS included, is on the air at 250 kbit/s, with its preamble.
pub fn airtime(len: usize) -> Span {
    Span::from_micros((PHY_HEADER + len as u64) * MICROS_PER_BYTE)
}

/// What became of a frame at a node in range of its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reception {
    /// It arrived.
    Received,
    /// Chance took it.
    Lost,
    /// Another transmission destroyed it, or the node's own, or the node's radio was off.
    Missed,
}

/// The medium and what each node hears of it.
pub(crate) struct Medium {
    seed: u64,
    radio: Radio,
    capture: Capture,
    /// How far the frames of a node reach and disturb, where that is another distance.
    reaches: BTreeMap<u32, i32>,
    /// Whether chance takes nothing any more.
    loses_nothing: bool,
    /// How many channels there are.
    channels: usize,
    /// For each node, those its transmissions reach, by id.
    reached: Vec<Vec<Reached>>,
    ears: Vec<Receiver>,
    /// What each node could hear on each channel: those of the first node, of the second, and so on.
    airs: Vec<Air>,
}

struct Reached {
    node: u32,
    /// The losses on this link; none if the transmission only disturbs.
    losses: Option<Losses>,
    /// How strong it is there, in attowatts.
    power: u64,
}

/// How likely a frame is lost.
#[derive(Clone, Copy)]
enum Chance {
    /// As likely as any other.
    Alone(Probability),
    /// As the one before was not, or was.
    InBursts { begins: Probability, ends: Probability },
}

impl Chance {
    /// That bursts can make so much loss, the scenario has been asked.
    fn of(loss: Probability, burst: Option<u32>) -> Self {
        match burst.and_then(|mean| loss.in_bursts(mean)) {
            Some((begins, ends)) => Self::InBursts { begins, ends },
            None => Self::Alone(loss),
        }
    }
}

/// What chance takes of the frames on a link.
struct Losses {
    stream: Stream,
    chance: Chance,
    /// The last one.
    lost: bool,
}

impl Losses {
    fn takes_next(&mut self) -> bool {
        self.lost = match self.chance {
            Chance::Alone(loss) => loss.happens(&mut self.stream),
            Chance::InBursts { begins, .. } if !self.lost => begins.happens(&mut self.stream),
            Chance::InBursts { ends, .. } => !ends.happens(&mut self.stream),
        };
        self.lost
    }
}

/// What one node hears.
#[derive(Clone, Default)]
struct Receiver {
    transmitting: bool,
    /// Whether its radio is off, but to assess the channel and to send.
    is_off: bool,
    assessing: bool,
    /// The channel that its radio is on, and the one that it transmits on.
    channel: u8,
    transmits_on: u8,
    /// The frame that it is receiving.
    receiving: Option<Incoming>,
    radio: RadioMeter,
}

/// What one node could hear on one channel.
#[derive(Clone, Copy, Default)]
struct Air {
    /// Transmissions of others under way that can be heard or that disturb.
    audible: u32,
    /// How strong they are together, in attowatts.
    heard: u64,
    /// Since when there are any.
    busy_since: Time,
    /// When the last of them ended.
    quiet_since: Option<Time>,
}

/// A frame under way at a receiver.
#[derive(Clone, Copy)]
struct Incoming {
    source: u32,
    power: u64,
    /// Whether nothing has destroyed it so far.
    intact: bool,
}

impl Receiver {
    /// There is another transmission on that channel, which disturbs what it receives there unless that is so much stronger.
    fn come(&mut self, air: &mut Air, channel: u8, power: u64, capture: Capture, now: Time) {
        if air.audible == 0 {
            air.busy_since = now;
        }
        air.audible += 1;
        air.heard += power;
        if let Some(incoming) = &mut self.receiving
            && self.channel == channel
        {
            incoming.intact &= capture.holds(incoming.power, air.heard - incoming.power);
        }
    }

    /// The transmission of `source` is there no more; whether it has received all of it so far.
    fn leave(&mut self, air: &mut Air, source: u32, power: u64, now: Time) -> bool {
        air.audible -= 1;
        air.heard -= power;
        if air.audible == 0 {
            air.quiet_since = Some(now);
        }
        let own = |incoming: &mut Incoming| incoming.source == source;
        let Some(incoming) = self.receiving.take_if(own) else { return false };
        self.meter(now);
        incoming.intact
    }

    /// Counts the time from `now` on for what the radio does now.
    fn meter(&mut self, now: Time) {
        let state = match (self.transmitting, self.receiving) {
            (true, _) => RadioState::Transmit,
            (false, Some(_)) => RadioState::Receive,
            (false, None) if self.is_off && !self.assessing => RadioState::Off,
            (false, None) => RadioState::Listen,
        };
        self.radio.enter(state, now);
    }
}

impl Medium {
    pub(crate) fn new(
        seed: u64,
        positions: &[(i32, i32)],
        deaf: &BTreeSet<(u32, u32)>,
        radio: &Radio,
    ) -> Self {
        let mut medium = Self {
            seed,
            radio: radio.clone(),
            capture: radio.capture(),
            reaches: BTreeMap::new(),
            loses_nothing: false,
            channels: 1,
            reached: positions.iter().map(|_| Vec::new()).collect(),
            ears: vec![Receiver::default(); positions.len()],
            airs: vec![Air::default(); positions.len()],
        };
        for (node, others) in (0..).zip(near(positions, radio.disturbs_within())) {
            for other in others {
                medium.link_at((node, other), positions, deaf, Time::ZERO);
            }
        }
        medium
    }

    /// The network hops over this many channels. All radios are on the first, and nothing is on the air yet.
    pub(crate) fn hop(&mut self, channels: u8) {
        self.channels = channels.into();
        self.airs = vec![Air::default(); self.ears.len() * self.channels];
    }

    /// The radio of `node` is on this channel from `now` on, counted from 0. What it was receiving on another is lost to it.
    pub(crate) fn tune(&mut self, node: u32, channel: u8, now: Time) {
        let ear = &mut self.ears[node as usize];
        if ear.channel != channel && usize::from(channel) < self.channels {
            ear.channel = channel;
            ear.receiving = None;
            ear.meter(now);
        }
    }

    /// `node` stands elsewhere from `now` on. Of a transmission under way it hears, and others hear of its own, what is left: too little
    /// to receive it, enough to be disturbed.
    pub(crate) fn relocate(
        &mut self,
        node: u32,
        positions: &[(i32, i32)],
        deaf: &BTreeSet<(u32, u32)>,
        now: Time,
    ) {
        for other in (0..positions.len() as u32).filter(|&other| other != node) {
            for link in [(node, other), (other, node)] {
                self.link_at(link, positions, deaf, now);
            }
        }
    }

    /// What transmissions of the first are to the second from `now` on, as they stand.
    fn link_at(
        &mut self,
        link: (u32, u32),
        positions: &[(i32, i32)],
        deaf: &BTreeSet<(u32, u32)>,
        now: Time,
    ) {
        let [from, to] = [link.0, link.1].map(|node| positions[node as usize]);
        let found = match self.reaches.get(&link.0) {
            Some(&reach) => within(from, to, reach).then_some(Link { loss: Some(self.radio.loss), power: 0 }),
            None => self.radio.link(self.seed, link, from, to),
        };
        let heard = |found: Link| Link { loss: found.loss.filter(|_| !deaf.contains(&link)), ..found };
        self.link(link, found.map(heard), now);
    }

    /// Frames of `node` reach so many millimetres from now on, and disturb no further; what reaches it stays the same.
    pub(crate) fn reach(
        &mut self,
        node: u32,
        range: i32,
        positions: &[(i32, i32)],
        deaf: &BTreeSet<(u32, u32)>,
    ) {
        self.reaches.insert(node, range);
        self.relocate(node, positions, deaf, Time::ZERO);
    }

    /// Transmissions of `source` are this to `node` from now on: they carry frames to it, disturb it, or neither.
    fn link(&mut self, (source, node): (u32, u32), found: Option<Link>, now: Time) {
        let Receiver { transmitting: is_under_way, transmits_on: channel, .. } = self.ears[source as usize];
        let (seed, burst, capture) = (self.seed, self.radio.burst, self.capture);
        let (reached, ear) = (&mut self.reached[source as usize], &mut self.ears[node as usize]);
        let air = &mut self.airs[node as usize * self.channels + usize::from(channel)];
        let losses = |loss| {
            let stream = Stream::new(seed, node, Purpose::Loss { source });
            Losses { stream, chance: Chance::of(loss, burst), lost: false }
        };
        match (reached.binary_search_by_key(&node, |reached| reached.node), found) {
            (Ok(at), Some(Link { loss, power })) => {
                let reached = &mut reached[at];
                if is_under_way {
                    air.heard = air.heard - reached.power + power;
                }
                reached.power = power;
                match (&mut reached.losses, loss) {
                    (Some(losses), Some(loss)) => losses.chance = Chance::of(loss, burst),
                    (none, loss) => *none = loss.map(losses),
                }
            }
            (Ok(at), None) => {
                let Reached { power, .. } = reached.remove(at);
                if is_under_way {
                    ear.leave(air, source, power, now);
                }
            }
            (Err(at), Some(Link { loss, power })) => {
                reached.insert(at, Reached { node, losses: loss.map(losses), power });
                if is_under_way {
                    ear.come(air, channel, power, capture, now);
                }
            }
            (Err(_), None) => {}
        }
    }

    /// Chance takes nothing from now on.
    pub(crate) fn lose_nothing(&mut self) {
        self.loses_nothing = true;
    }

    /// The radio of `node` listens from `now` on, or is off.
    pub(crate) fn listen(&mut self, node: u32, listens: bool, now: Time) {
        let ear = &mut self.ears[node as usize];
        ear.is_off = !listens;
        if !listens {
            ear.receiving = None;
        }
        ear.meter(now);
    }

    /// Whether the radio of `node` is off, but for what it assesses.
    pub(crate) fn is_off(&self, node: u32) -> bool {
        self.ears[node as usize].is_off
    }

    /// The radio of `node` begins to assess the channel at `now`, or has done so. One that is off receives nothing meanwhile.
    pub(crate) fn assess(&mut self, node: u32, begins: bool, now: Time) {
        let ear = &mut self.ears[node as usize];
        ear.assessing = begins;
        ear.meter(now);
    }

    /// `source` begins to transmit at `now`.
    pub(crate) fn begin(&mut self, source: u32, now: Time) {
        let own = &mut self.ears[source as usize];
        own.transmitting = true;
        own.receiving = None;
        own.transmits_on = own.channel;
        own.meter(now);
        let channel = own.channel;
        for reached in &self.reached[source as usize] {
            let ear = &mut self.ears[reached.node as usize];
            let air = &mut self.airs[reached.node as usize * self.channels + usize::from(channel)];
            ear.come(air, channel, reached.power, self.capture, now);
            let others = air.heard - reached.power;
            let is_alone = ear.receiving.is_none() && air.audible == 1;
            let is_heard = is_alone || self.capture.holds(reached.power, others);
            let listens = !ear.transmitting && !ear.is_off && ear.channel == channel;
            if reached.losses.is_some() && is_heard && listens {
                ear.receiving = Some(Incoming { source, power: reached.power, intact: true });
                ear.meter(now);
            }
        }
    }

    /// `source`'s transmission ends at `now`; `outcome` is told what became of it at each node in
    /// range, in order of their ids.
    pub(crate) fn end(&mut self, source: u32, now: Time, mut outcome: impl FnMut(u32, Reception)) {
        let own = &mut self.ears[source as usize];
        own.transmitting = false;
        own.meter(now);
        let channel = own.transmits_on;
        for reached in &mut self.reached[source as usize] {
            let air = &mut self.airs[reached.node as usize * self.channels + usize::from(channel)];
            let intact = self.ears[reached.node as usize].leave(air, source, reached.power, now);
            let Some(losses) = &mut reached.losses else { continue };
            let became = match intact {
                false => Reception::Missed,
                true if !self.loses_nothing && losses.takes_next() => Reception::Lost,
                true => Reception::Received,
            };
            outcome(reached.node, became);
        }
    }

    /// How long the radio of `node` has been in each state.
    pub(crate) fn radio(&self, node: u32) -> &RadioMeter {
        &self.ears[node as usize].radio
    }

    /// The same, to be told how to count.
    pub(crate) fn radio_meter(&mut self, node: u32) -> &mut RadioMeter {
        &mut self.ears[node as usize].radio
    }

    /// Whether a clear channel assessment of `node` that ends at `now` found the channel clear.
    pub(crate) fn is_clear(&self, node: u32, now: Time) -> bool {
        let channel = self.ears[node as usize].channel;
        let air = &self.airs[node as usize * self.channels + usize::from(channel)];
        let is_busy = air.audible > 0 && air.busy_since < now;
        let was_busy = air.quiet_since.is_some_and(|end| end + CCA > now);
        !is_busy && !was_busy
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::radio_model::{LinkTable, LogDistance, RadioModel};
    use crate::scenario::Scenario;
    use Reception::{Lost, Missed, Received};
    use std::sync::Arc;

    /// Nodes 40 m apart in a line, range and interference 50 m: each hears its neighbours only.
    fn line(nodes: i32, loss: f64) -> Medium {
        let positions: Vec<_> = (0..nodes).map(|node| (node * 40, 0)).collect();
        let loss = Probability::new(loss).unwrap();
        let radio = Radio { range: 50, interference: 50, loss, ..Scenario::default().radio };
        Medium::new(1, &positions, &BTreeSet::new(), &radio)
    }

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    fn end(medium: &mut Medium, source: u32, micros: u64) -> Vec<(u32, Reception)> {
        let mut outcomes = Vec::new();
        medium.end(source, at(micros), |node, outcome| outcomes.push((node, outcome)));
        outcomes
    }

    #[test]
    fn a_frame_reaches_those_in_range() {
        let mut medium = line(4, 0.0);
        medium.begin(1, at(0));
        assert_eq!(end(&mut medium, 1, 1000), [(0, Received), (2, Received)]);
        assert_eq!(airtime(127).micros(), 4256, "133 bytes at 32 µs");
    }

    #[test]
    fn frames_on_two_channels_neither_meet_nor_are_heard_on_the_other() {
        let mut medium = line(5, 0.0);
        medium.hop(16);
        medium.tune(3, 7, at(0));
        medium.begin(1, at(0));
        medium.begin(3, at(100));
        assert!(!medium.is_clear(2, at(500)));
        medium.tune(4, 7, at(500));
        assert!(!medium.is_clear(4, at(500)), "it is sensed at once");
        // Who tunes in later has missed the beginning, and who sends may tune before the end.
        medium.tune(3, 0, at(900));
        assert_eq!(end(&mut medium, 1, 1000), [(0, Received), (2, Received)]);
        assert_eq!(end(&mut medium, 3, 2000), [(2, Missed), (4, Missed)]);
        medium.tune(2, 7, at(2000));
        assert!(!medium.is_clear(2, at(2100)) && medium.is_clear(2, at(2128)));
        medium.tune(3, 7, at(2000));
        medium.begin(3, at(3000));
        medium.begin(1, at(3100));
        assert_eq!(end(&mut medium, 1, 3900), [(0, Received), (2, Missed)]);
        assert_eq!(end(&mut medium, 3, 4000), [(2, Received), (4, Received)]);
        medium.begin(1, at(5000));
        medium.tune(0, 3, at(5500));
        medium.tune(0, 0, at(5600));
        assert_eq!(end(&mut medium, 1, 6000), [(0, Missed), (2, Missed)], "it was away meanwhile");
    }

    #[test]
    fn hidden_terminals_collide_at_the_node_between_them() {
        let mut medium = line(5, 0.0);
        medium.begin(1, at(0));
        medium.begin(3, at(990));
        assert_eq!(end(&mut medium, 1, 1000), [(0, Received), (2, Missed)]);
        // The later one is destroyed too, though it outlasts the first.
        assert_eq!(end(&mut medium, 3, 2000), [(2, Missed), (4, Received)]);
    }

    #[test]
    fn frames_that_touch_but_do_not_overlap_both_arrive() {
        let mut medium = line(4, 0.0);
        medium.begin(1, at(0));
        assert_eq!(end(&mut medium, 1, 1000)[1], (2, Received));
        medium.begin(3, at(1000));
        assert_eq!(end(&mut medium, 3, 2000), [(2, Received)]);
    }

    #[test]
    fn who_transmits_hears_nothing_not_even_the_end() {
        let mut medium = line(2, 0.0);
        medium.begin(0, at(0));
        medium.begin(1, at(500));
        assert_eq!(end(&mut medium, 1, 800), [(0, Missed)]);
        assert_eq!(end(&mut medium, 0, 1000), [(1, Missed)]);
    }

    #[test]
    fn interference_destroys_beyond_range_and_is_sensed() {
        let positions = [(0, 0), (40, 0), (100, 0)];
        let radio = Radio { range: 50, interference: 70, ..Scenario::default().radio };
        let mut medium = Medium::new(1, &positions, &BTreeSet::new(), &radio);
        medium.begin(0, at(0));
        medium.begin(2, at(100));
        assert!(!medium.is_clear(1, at(200)));
        assert_eq!(end(&mut medium, 0, 1000), [(1, Missed)]);
        assert_eq!(end(&mut medium, 2, 1000), [], "nobody is in its range");
    }

    #[test]
    fn who_is_louder_is_heard_further_away_and_hears_no_more() {
        let positions: Vec<_> = (0..4).map(|node| (node * 40, 0)).collect();
        let mut medium = line(4, 0.0);
        medium.reach(0, 90, &positions, &BTreeSet::new());
        medium.begin(0, at(0));
        assert_eq!(end(&mut medium, 0, 1000), [(1, Received), (2, Received)]);
        medium.begin(2, at(2000));
        assert_eq!(end(&mut medium, 2, 3000), [(1, Received), (3, Received)]);
    }

    #[test]
    fn the_channel_is_clear_when_nothing_was_heard_for_eight_symbols() {
        let mut medium = line(3, 0.0);
        assert!(medium.is_clear(0, at(128)));
        medium.begin(1, at(1000));
        assert!(medium.is_clear(0, at(1000)), "what begins as the assessment ends is not sensed");
        assert!(!medium.is_clear(0, at(1001)));
        end(&mut medium, 1, 2000);
        assert!(!medium.is_clear(0, at(2127)));
        assert!(medium.is_clear(0, at(2128)));
        medium.begin(2, at(3000));
        assert!(medium.is_clear(0, at(3128)), "out of interference range");
    }

    /// Who moves away hears no more of what is under way, and who comes hears the rest, which disturbs it.
    #[test]
    fn who_moves_hears_others_from_then_on() {
        let (mut medium, none) = (line(4, 0.0), BTreeSet::new());
        medium.begin(1, at(0));
        medium.begin(3, at(100));
        // Node 0 goes from node 1 to node 3, and node 2 out of the way of both.
        let positions = [(150, 0), (40, 0), (900, 0), (120, 0)];
        for node in [0, 2] {
            medium.relocate(node, &positions, &none, at(500));
        }
        assert!(medium.is_clear(2, at(628)) && !medium.is_clear(0, at(628)));
        assert_eq!(end(&mut medium, 1, 1000), []);
        assert_eq!(end(&mut medium, 3, 1100), [(0, Missed)], "it missed the beginning");
        assert!(medium.is_clear(0, at(1228)));
        medium.begin(3, at(2000));
        assert_eq!(end(&mut medium, 3, 3000), [(0, Received)]);
        medium.begin(0, at(4000));
        assert_eq!(end(&mut medium, 0, 5000), [(3, Received)]);
        let deaf = BTreeSet::from([(3, 0)]);
        medium.relocate(0, &positions, &deaf, at(5000));
        medium.begin(3, at(6000));
        assert!(!medium.is_clear(0, at(6500)), "a link that carries nothing disturbs");
        assert_eq!(end(&mut medium, 3, 7000), []);
        medium.begin(0, at(8000));
        assert_eq!(end(&mut medium, 0, 9000), [(3, Received)]);
    }

    #[test]
    fn losses_on_a_link_are_its_own() {
        let outcomes = |nodes| {
            let mut medium = line(nodes, 0.3);
            (0..200)
                .map(|n| {
                    medium.begin(1, at(n * 1000));
                    end(&mut medium, 1, n * 1000 + 500)[0]
                })
                .collect::<Vec<_>>()
        };
        let alone = outcomes(2);
        assert_eq!(alone, outcomes(3), "another node does not shift them");
        let lost = alone.iter().filter(|(_, outcome)| *outcome == Lost).count();
        assert!((40..80).contains(&lost), "{lost} of 200");
    }

    /// Two senders in one line with the receiver between them: 10 and 20 m away, which is a difference of 33 dB times lg 2.
    fn heard(capture: f64) -> Medium {
        let model = RadioModel::LogDistance(LogDistance { capture, ..LogDistance::default() });
        let radio = Radio { model, ..Scenario::default().radio };
        Medium::new(1, &[(0, 0), (10_000, 0), (-20_000, 0)], &BTreeSet::new(), &radio)
    }

    #[test]
    fn the_stronger_of_two_frames_is_received_whichever_comes_first() {
        // It is 9.93 dB stronger.
        for (capture, first, at_first, at_second) in [
            (9.9, 1, Received, Missed),
            (9.9, 2, Missed, Received),
            (10.0, 1, Missed, Missed),
            (10.0, 2, Missed, Missed),
        ] {
            let (mut medium, second) = (heard(capture), 3 - first);
            medium.begin(first, at(0));
            medium.begin(second, at(100));
            let at_receiver = |outcomes: Vec<(u32, Reception)>| outcomes[0];
            assert_eq!(
                at_receiver(end(&mut medium, first, 1000)),
                (0, at_first),
                "{capture} dB, {first} first"
            );
            assert_eq!(
                at_receiver(end(&mut medium, second, 1100)),
                (0, at_second),
                "{capture} dB, {first} first"
            );
            assert!(medium.is_clear(0, at(1228)), "nothing is left of either");
            medium.begin(second, at(2000));
            assert_eq!(at_receiver(end(&mut medium, second, 3000)), (0, Received));
        }
    }

    #[test]
    fn links_of_a_file_deliver_as_it_says_and_disturb_nobody_else() {
        let table = LinkTable::parse("l", "from,to,delivery\n0,1,0.7\n2,1,0\n").unwrap();
        let radio = Radio { model: RadioModel::Links(Arc::new(table)), ..Scenario::default().radio };
        let mut medium = Medium::new(1, &[(0, 0); 4], &BTreeSet::new(), &radio);
        let outcomes: Vec<_> = (0..1000)
            .map(|n| {
                medium.begin(0, at(n * 1000));
                end(&mut medium, 0, n * 1000 + 500)
            })
            .collect();
        let received = outcomes.iter().filter(|outcome| **outcome == [(1, Received)]).count();
        assert!((650..750).contains(&received), "{received} of 1000");
        medium.begin(1, at(2_000_000));
        assert_eq!(end(&mut medium, 1, 2_001_000), [], "the other direction is not listed");
        medium.begin(0, at(3_000_000));
        medium.begin(3, at(3_000_100));
        assert!(!medium.is_clear(1, at(3_000_500)) && medium.is_clear(2, at(3_000_500)));
        medium.begin(2, at(3_000_600));
        assert_eq!(end(&mut medium, 0, 3_001_000), [(1, Missed)], "a link that delivers nothing disturbs");
    }
}

//! Attackers: stations that hear and send real frames, but run none of the protocol code.

mod antenna;
mod behaviour;
mod dodag;
mod flood;
mod forge;
pub(crate) mod frames;
mod jam;
mod packets;
mod replay;
mod sink_hole;
mod speak;
mod trail;
mod wormhole;

use std::collections::BTreeMap;

use sixlock_base::Eui64;

use crate::medium::Medium;
use crate::random::{Purpose, Stream};
use crate::scenario::{Attack, AttackKind, AttackedFrom, Flood, Scenario};
use crate::time::Time;
use crate::timer::Timer;
use crate::topology::{Layout, within};

use antenna::Antenna;
use behaviour::{AttackerContext, Behaviour, Sending};
use frames::LinkKey;

pub(crate) use packets::{datagram, ipv6};
pub(crate) use trail::{PacketFingerprint, Trail, fingerprint};

/// What an attacker has under way at most; what is more, it does not send.
const UNDER_WAY: usize = 512;

/// Something that an attacker is about to do.
enum PlannedAction {
    Act,
    /// To send a frame, whether or not the channel is clear.
    Send {
        antenna: usize,
        frame: Vec<u8>,
    },
    /// To have a frame wait until the channel is clear, behind those that wait already.
    Wait {
        antenna: usize,
        frame: Vec<u8>,
    },
    /// To send the first that waits, if the channel is clear.
    Try {
        antenna: usize,
    },
}

/// An attacker under way.
pub(crate) struct Attacker {
    pub(crate) attack: Attack,
    behaviour: Option<Box<dyn Behaviour>>,
    context: AttackerContext,
    /// The station number of its first antenna; that of the second follows.
    first: u32,
    due: BTreeMap<(Time, u64), PlannedAction>,
    planned: u64,
    timer: Timer,
    /// Packets that the node has dropped for it, which it has captured.
    dropped: u32,
    /// Readings that came to it, and the latest of each node.
    swallowed: u32,
    latest: BTreeMap<u32, u64>,
}

/// All attackers of a network.
#[derive(Default)]
pub(crate) struct Attackers {
    attackers: Vec<Attacker>,
    antennas: Vec<Antenna>,
    /// How many stations the network has.
    stations: u32,
}

impl Attackers {
    /// Those of a scenario. `link` is the key of its links.
    pub(crate) fn new(scenario: &Scenario, layout: &Layout, link: Option<LinkKey>) -> Self {
        let stations = layout.len() as u32;
        let mut all = Self { attackers: Vec::new(), antennas: Vec::new(), stations };
        for (attack, index) in scenario.attacks.iter().zip(0..) {
            let here = match attack.by {
                AttackedFrom::Position { x, y } => (x, y),
                AttackedFrom::Node(node) => layout.positions[node as usize],
            };
            let places = match attack.kind {
                AttackKind::Wormhole { x, y } => vec![here, (x, y)],
                _ => vec![here],
            };
            let first = stations + all.antennas.len() as u32;
            let antenna = |(place, at)| Antenna::new(index, place, at, attack.range);
            all.antennas.extend(places.into_iter().enumerate().map(antenna));
            let is_captured = matches!(attack.by, AttackedFrom::Node(_));
            let context = AttackerContext {
                own: Eui64::of_node(first),
                next: Eui64::of_node(nearest(layout, here, scenario.radio.receives_within())),
                target: Eui64::of_node(attack.target.unwrap_or(stations - 1)),
                link: link.filter(|_| is_captured),
                security: scenario.security,
                routing: scenario.routing,
                addressing: scenario.addressing,
                stream: Stream::new(scenario.seed, first, Purpose::Attack),
                sequence: 0,
                frame_counter: 0,
                guessed: 0,
            };
            let mut attacker = Attacker {
                attack: *attack,
                behaviour: behave(attack),
                context,
                first,
                due: BTreeMap::new(),
                planned: 0,
                timer: Timer::default(),
                dropped: 0,
                swallowed: 0,
                latest: BTreeMap::new(),
            };
            attacker.plan(Time::ZERO + attack.start, PlannedAction::Act);
            all.attackers.push(attacker);
        }
        all
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.attackers.is_empty()
    }

    /// Where their antennas are, in the order of station numbers, and how far those reach.
    pub(crate) fn places(&self) -> impl Iterator<Item = ((i32, i32), Option<i32>)> + '_ {
        self.antennas.iter().map(|antenna| (antenna.at, antenna.range))
    }

    /// The attackers, each with the station number of its first antenna.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Attacker, u32)> {
        self.attackers.iter().map(|attacker| (attacker, attacker.first))
    }

    fn antenna(&self, id: u32) -> Option<&Antenna> {
        self.antennas.get(id.checked_sub(self.stations)? as usize)
    }

    fn antenna_mut(&mut self, id: u32) -> Option<&mut Antenna> {
        self.antennas.get_mut(id.checked_sub(self.stations)? as usize)
    }

    /// What the station of this number sends, if it is an antenna of theirs.
    pub(crate) fn on_air(&self, id: u32) -> Option<&[u8]> {
        self.antenna(id).map(|antenna| &antenna.on_air[..])
    }

    /// Whose antenna the station of this number is, by the station number of that attacker.
    pub(crate) fn owner(&self, id: u32) -> Option<u32> {
        Some(self.attackers[self.antenna(id)?.attacker].first)
    }

    /// The transmission of an antenna has ended.
    pub(crate) fn transmitted(&mut self, id: u32, now: Time) {
        if let Some(antenna) = self.antenna_mut(id) {
            antenna.transmitted(now);
        }
    }

    /// The node that the attacker of this station number has captured has dropped so many packets more for it.
    pub(crate) fn note_dropped(&mut self, id: u32, dropped: u32) {
        if let Some(attacker) = self.attackers.iter_mut().find(|attacker| attacker.first == id) {
            attacker.dropped += dropped;
        }
    }

    /// A reading of a node came to the station of this number, which it was sent to: a sink-hole keeps it.
    pub(crate) fn swallow(&mut self, id: u32, now: Time, node: u32, reading: u64) {
        let Some(&Antenna { attacker, .. }) = self.antenna(id) else { return };
        let attacker = &mut self.attackers[attacker];
        if attacker.is_at_it(now) && attacker.latest.insert(node, reading) != Some(reading) {
            attacker.swallowed += 1;
        }
    }

    /// An antenna has heard a frame.
    pub(crate) fn hear(&mut self, id: u32, now: Time, frame: &[u8]) {
        let Some(&Antenna { attacker, place, .. }) = self.antenna(id) else { return };
        let attacker = &mut self.attackers[attacker];
        if let Some(behaviour) = &mut attacker.behaviour {
            behaviour.overhear(&attacker.context, frame);
        }
        if attacker.is_at_it(now)
            && let Some(behaviour) = &mut attacker.behaviour
        {
            let sendings = behaviour.hear(&mut attacker.context, place, frame);
            attacker.send(now, sendings);
        }
    }

    /// When which of them does something next, where that is not scheduled yet.
    pub(crate) fn poll_timers(&mut self) -> Vec<(Time, u32)> {
        let timer = |(attacker, index): (&mut Attacker, u32)| {
            let next = attacker.due.keys().next().map(|(time, _)| *time);
            Some((attacker.timer.set(next)?, index))
        };
        self.attackers.iter_mut().zip(0..).filter_map(timer).collect()
    }

    /// Does what is due at the attacker of this number: the antennas that begin to send.
    pub(crate) fn handle_timer(&mut self, index: u32, now: Time, medium: &Medium) -> Vec<u32> {
        let Self { attackers, antennas, stations } = self;
        let Some(attacker) = attackers.get_mut(index as usize) else { return Vec::new() };
        let mut begun = Vec::new();
        if !attacker.timer.fires(now) {
            return begun;
        }
        let own = &mut antennas[(attacker.first - *stations) as usize..][..attacker.antennas()];
        if !attacker.is_at_it(now) {
            attacker.due.clear();
            own.iter_mut().for_each(Antenna::give_up);
        }
        while let Some(entry) = attacker.due.first_entry().filter(|entry| entry.key().0 <= now) {
            let (antenna, frame) = match entry.remove() {
                PlannedAction::Act => {
                    attacker.act(now);
                    continue;
                }
                PlannedAction::Send { antenna, frame } => (antenna, Some(frame)),
                PlannedAction::Wait { antenna, frame } => {
                    if !own[antenna].wait(frame) {
                        continue;
                    }
                    (antenna, None)
                }
                PlannedAction::Try { antenna } => (antenna, None),
            };
            let id = attacker.first + antenna as u32;
            let sent = match frame {
                Some(frame) => own[antenna].send_now(frame),
                None => {
                    let (is_sent, again) =
                        own[antenna].try_first(now, medium.is_clear(id, now), &mut attacker.context.stream);
                    if let Some(time) = again {
                        attacker.plan(time, PlannedAction::Try { antenna });
                    }
                    is_sent
                }
            };
            begun.extend(sent.then_some(id));
        }
        begun
    }
}

impl Attacker {
    /// How many antennas it has.
    pub(crate) fn antennas(&self) -> usize {
        if let AttackKind::Wormhole { .. } = self.attack.kind { 2 } else { 1 }
    }

    /// Whether it sends packets of which can be told how far they travel.
    pub(crate) fn has_packets(&self) -> bool {
        !matches!(self.attack.kind, AttackKind::Jam | AttackKind::Wormhole { .. })
    }

    /// How many packets it has sent that nobody on the way reads, as their frames are sealed under a key that it has guessed.
    pub(crate) fn guessed(&self) -> u32 {
        self.context.guessed
    }

    /// How many packets it has dropped as the node that it has captured, if that is what it does.
    pub(crate) fn dropped(&self) -> Option<u32> {
        self.attack.kind.is_of_captured_nodes().then_some(self.dropped)
    }

    /// How many readings came to it, if it draws them.
    pub(crate) fn swallowed(&self) -> Option<u32> {
        (self.attack.kind == AttackKind::SinkHole).then_some(self.swallowed)
    }

    /// Whether it attacks at `now`.
    pub(crate) fn is_at_it(&self, now: Time) -> bool {
        let Attack { start, end, .. } = self.attack;
        now >= Time::ZERO + start && end.is_none_or(|end| now < Time::ZERO + end)
    }

    fn plan(&mut self, time: Time, due: PlannedAction) {
        self.due.insert((time, self.planned), due);
        self.planned += 1;
    }

    fn act(&mut self, now: Time) {
        let Some(behaviour) = &mut self.behaviour else { return };
        let sendings = behaviour.act(&mut self.context);
        self.send(now, sendings);
        let next = now + self.attack.every;
        if self.is_at_it(next) {
            self.plan(next, PlannedAction::Act);
        }
    }

    fn send(&mut self, now: Time, sendings: Vec<Sending>) {
        for Sending { after, antenna, frame, is_polite } in sendings {
            let due = if is_polite {
                PlannedAction::Wait { antenna, frame }
            } else {
                PlannedAction::Send { antenna, frame }
            };
            if self.due.len() < UNDER_WAY {
                self.plan(now + after, due);
            }
        }
    }
}

/// The station nearest to a place, of those in range; the border router if there is none.
fn nearest(layout: &Layout, here: (i32, i32), range: i32) -> u32 {
    let square = |a: i32, b: i32| (i64::from(a) - i64::from(b)).pow(2);
    let distance = |at: (i32, i32)| square(at.0, here.0) + square(at.1, here.1);
    let stations = layout.positions.iter().zip(0..).filter(|(at, _)| within(**at, here, range));
    stations.min_by_key(|(at, id)| (distance(**at), *id)).map_or(0, |(_, id)| id)
}

/// How an attacker behaves on the air. What a captured node drops, its own forwarding does.
fn behave(attack: &Attack) -> Option<Box<dyn Behaviour>> {
    Some(match attack.kind {
        AttackKind::Jam => Box::new(jam::Jam),
        AttackKind::Replay { after } => Box::new(replay::Replay { after }),
        AttackKind::Inject => Box::new(speak::Inject),
        AttackKind::Forge => Box::<forge::Forge>::default(),
        AttackKind::SinkHole => Box::new(sink_hole::SinkHole::default()),
        AttackKind::Flood(Flood::Hello) => Box::new(flood::Hellos::default()),
        AttackKind::Flood(Flood::Dio) => Box::new(flood::Dios::default()),
        AttackKind::Flood(Flood::Dao) => Box::new(flood::Daos::default()),
        AttackKind::Flood(Flood::Dis) => Box::new(flood::Diss),
        AttackKind::Flood(Flood::Handshakes) => Box::new(flood::Handshakes),
        AttackKind::Wormhole { .. } => Box::new(wormhole::Wormhole::default()),
        AttackKind::BlackHole | AttackKind::SelectiveForwarding { .. } => return None,
    })
}

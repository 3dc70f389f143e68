//! What each two flights of a handshake take a node, and what it does between them, with radios that sleep by ContikiMAC.

use sixlock_base::{Counter, Security};
use sixlock_sim::{Options, ScenarioBuilder, Simulation, StateTimes, Time};

use crate::error::Error;

/// Which side of the handshake the node is; the other is a host behind the border router, which takes no time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Client,
    Server,
}

impl Side {
    pub(super) const ALL: [Self; 2] = [Self::Client, Self::Server];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
        }
    }

    /// The numbers of the flights that the node sends and that are answered. One is measured together with its answer, as in the paper: so
    /// the first flight that a server receives and the last that it sends are not measured.
    pub(super) const fn first_of_two(self) -> &'static [usize] {
        match self {
            Self::Client => &[1, 3, 5],
            Self::Server => &[2, 4],
        }
    }

    /// A node that posts readings begins a handshake; with one that is to echo the host does.
    const fn traffic(self) -> &'static str {
        match self {
            Self::Client => "[traffic]\nperiod = \"5s\"",
            Self::Server => "[traffic]\nkind = \"echo\"\npayload = \"64B\"\nperiod = \"5s\"",
        }
    }

    /// Who sends the first flight.
    const fn first_sender(self) -> u32 {
        match self {
            Self::Client => NODE,
            Self::Server => ROUTER,
        }
    }
}

const NETWORK: &str = "duration = \"60s\"\n[platform]\nprofile = \"openmote\"\n\
    [topology]\nkind = \"chain\"\nnodes = 1";
const ROUTER: u32 = 0;
const NODE: u32 = 1;
const STATIONS: [u32; 2] = [ROUTER, NODE];
/// How many flights a handshake has.
const FLIGHTS: usize = 6;
/// The bytes of an acknowledgement: frames with more are of a flight.
const ACKNOWLEDGEMENT: u32 = 5;

/// How long the node's parts were in each state.
pub(super) struct Flights {
    /// From when the first frame of a flight of the node begins to when the last of its answer has come, of each of [`Side::first_of_two`].
    pub(super) two: Vec<StateTimes>,
    /// For the rest of the handshake, in which the node processes what has come and prepares what it sends.
    pub(super) between: StateTimes,
}

/// What is known of a flight: who sends it, and what the node's meters show when its first frame begins and when its last has ended.
struct Flight {
    sender: u32,
    begins: StateTimes,
    ends: StateTimes,
}

/// What is seen of a simulation at one time.
struct Seen {
    meters: StateTimes,
    /// What each of the stations has sent by now, in bytes, whole frames alone.
    sent: [u32; 2],
}

impl Seen {
    fn of(simulation: &Simulation) -> Self {
        let sent = |id| simulation.counters(id).map_or(0, |counters| counters.get(Counter::BytesSent));
        Self { meters: simulation.state_times(NODE).unwrap_or_default(), sent: STATIONS.map(sent) }
    }
}

/// The first handshake of a node.
pub(super) fn measure(side: Side, mode: &str, seed: u64) -> Result<Flights, Error> {
    let fails =
        |why: &str| Error(format!("{why} in a handshake by {mode} of a {}, seed {seed}", side.name()));
    let security = Security::any(mode).map_err(|error| Error(format!("{mode}: {error}")))?;
    let text = format!("{NETWORK}\n{}\n{}", super::CONTIKIMAC, side.traffic());
    let scenario =
        ScenarioBuilder::parse("securesense-fig15", &text)?.security(security).seed(seed).build()?;
    let mut simulation = Simulation::new(&scenario, Options::default())?;
    let end = Time::ZERO + scenario.duration();
    let mut flights = Vec::<Flight>::new();
    let mut before = Seen::of(&simulation);
    // When the node began to send what it sends, or has sent last.
    let (mut begins, mut was_sending) = (before.meters, false);
    while !has_session(&simulation) {
        let next = simulation.next_time().filter(|next| *next <= end);
        simulation.step_until(next.ok_or_else(|| fails("there is no session"))?);
        let now = Seen::of(&simulation);
        let is_sending = now.meters.tx > before.meters.tx;
        if is_sending && !was_sending {
            begins = before.meters;
        }
        was_sending = is_sending;
        for ((sender, sent), earlier) in STATIONS.into_iter().zip(now.sent).zip(before.sent) {
            if sent - earlier <= ACKNOWLEDGEMENT {
                continue;
            }
            match flights.last_mut() {
                Some(flight) if flight.sender == sender => flight.ends = now.meters,
                _ => flights.push(Flight { sender, begins, ends: now.meters }),
            }
        }
        before = now;
    }
    let is_repeated = [Counter::DtlsRetransmissions, Counter::DtlsDuplicates]
        .into_iter()
        .any(|counter| simulation.counters(NODE).is_none_or(|counters| counters.get(counter) > 0));
    let [first, .., last] = &flights[..] else { return Err(fails("there are no flights")) };
    if is_repeated || flights.len() != FLIGHTS || first.sender != side.first_sender() {
        return Err(fails("a flight is sent again"));
    }
    let (from, to) = match side {
        Side::Client => (first.begins, before.meters),
        Side::Server => (first.ends, last.begins),
    };
    let two = side.first_of_two().iter().filter_map(|&number| {
        let [own, answer] = flights.get(number - 1..=number)? else { return None };
        Some(answer.ends.since(&own.begins))
    });
    let two: Vec<_> = two.collect();
    let between = two.iter().fold(to.since(&from), |rest, flights| rest.since(flights));
    Ok(Flights { two, between })
}

/// Whether the handshake has come to a session.
fn has_session(simulation: &Simulation) -> bool {
    // What the task that is under way will have counted is counted when it begins.
    let is_about_to =
        simulation.counters(NODE).is_some_and(|counters| counters.get(Counter::DtlsHandshakes) > 0);
    is_about_to
        && simulation
            .report()
            .nodes
            .iter()
            .any(|node| node.handshake.as_ref().is_some_and(|all| all.done > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flights_and_what_is_between_them_are_told_apart() {
        for side in Side::ALL {
            let Flights { two, between } = measure(side, "dtls-rpk@engine", 1).unwrap();
            assert_eq!(two.len(), side.first_of_two().len());
            for flights in &two {
                // Each has a frame that is sent and one that comes in, and no multiplication of the engine, which takes a sixth of a second.
                let [tx, rx, cpu] = [flights.tx, flights.rx, flights.cpu].map(|span| span.micros());
                assert!(tx > 2000 && rx > 2000 && cpu < 100_000, "{side:?}: {flights:?}");
            }
            // A pair of keys, a signature, an agreement, and two multiplications for a signature of the other side.
            let multiplications = between.engine.as_secs() * 6.0;
            assert!((5.0..5.1).contains(&multiplications), "{side:?}: {between:?}");
            assert!(between.tx.micros() < 2000, "acknowledgements alone: {between:?}");
        }
    }
}

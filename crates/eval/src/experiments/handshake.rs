//! One handshake of a node that posts readings, and what it takes.

use sixlock_base::Counter;
use sixlock_sim::{Energy, Options, Platform, Scenario, Simulation, Span, StateTimes, Time};

use crate::error::Error;

/// What is known of one handshake.
pub(super) struct Taken {
    /// Whether there was a session at all.
    pub(super) has_session: bool,
    /// Attempts that failed before.
    failures: u32,
    /// How long it took until there was one, in seconds.
    pub(super) seconds: f64,
    /// For how much of that the client's CPU was at work, in seconds.
    pub(super) cpu: f64,
    /// What all stations sent until then, in bytes.
    pub(super) bytes: f64,
    /// What the client consumed until then, CPU at work and radio sending and receiving, in millijoules.
    pub(super) energy: f64,
}

impl Taken {
    /// Whether the first attempt came to a session.
    pub(super) fn succeeded(&self) -> bool {
        self.has_session && self.failures == 0
    }
}

/// The first handshake of `client`, an OpenMote, in a network of which it is the last node.
pub(super) fn handshake(scenario: &Scenario, client: u32) -> Result<Taken, Error> {
    let mut simulation = Simulation::new(scenario, Options::default())?;
    let count = |simulation: &Simulation, counter| count(simulation, client, counter);
    let end = Time::ZERO + scenario.duration();
    let at_work =
        |simulation: &Simulation| simulation.state_times(client).map_or(0.0, |times| times.cpu.as_secs());
    let began = until(&mut simulation, client, Counter::ReadingsSent, end);
    let before = at_work(&simulation);
    let ended = until(&mut simulation, client, Counter::DtlsHandshakes, end);
    let nothing = Span::from_micros(0);
    let times =
        simulation.state_times(client).map(|times| StateTimes { lpm: nothing, listen: nothing, ..times });
    Ok(Taken {
        has_session: count(&simulation, Counter::DtlsHandshakes) > 0,
        failures: count(&simulation, Counter::DtlsHandshakesFailed),
        seconds: ended.since(began).as_secs(),
        cpu: at_work(&simulation) - before,
        bytes: (0..=client)
            .filter_map(|id| simulation.counters(id))
            .map(|c| c.get(Counter::BytesSent))
            .sum::<u32>()
            .into(),
        energy: times.map_or(0.0, |times| Energy::of(Platform::openmote().profile(), &times).total()),
    })
}

/// Simulates until `node` has counted something, or `end` if that is earlier; returns when that was.
pub(super) fn until(simulation: &mut Simulation, node: u32, counter: Counter, end: Time) -> Time {
    while count(simulation, node, counter) == 0 && simulation.now() < end {
        simulation.step_until(simulation.next_time().map_or(end, |next| next.min(end)));
    }
    simulation.now()
}

fn count(simulation: &Simulation, node: u32, counter: Counter) -> u32 {
    simulation.counters(node).map_or(0, |counters| counters.get(counter))
}

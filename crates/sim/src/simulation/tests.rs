//! What happens to IPsec when a border router starts anew, and when its numbers grow long.

use sixlock_base::Counter;

use super::*;
use crate::options::Options;
use crate::scenario::Scenario;
use crate::time::Span;

fn chain(to: &str, period: &str, security: &str) -> Scenario {
    let text = format!(
        "security = \"{security}\"\n[topology]\nkind = \"chain\"\nnodes = 4\n\
        [traffic]\nkind = \"echo\"\nto = {to}\npayload = \"20B\"\nperiod = \"{period}\""
    );
    Scenario::parse("chain", &text).unwrap_or_else(|error| panic!("{error}"))
}

fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

/// How many echoes were sent, and how many have come back.
fn echoes(simulation: &Simulation) -> (u64, u64) {
    let nodes = simulation.report().nodes;
    (nodes.iter().map(|node| node.sent).sum(), nodes.iter().map(|node| node.delivered).sum())
}

fn counted(simulation: &Simulation, counter: Counter) -> u32 {
    simulation.stations.iter().map(|station| station.counters.get(counter)).sum()
}

#[test]
fn a_border_router_that_starts_anew_is_told_again_within_a_round_trip() {
    for security in ["ah", "esp"] {
        let scenario = chain("\"cloud\"", "1s", security);
        let mut simulation = Simulation::new(&scenario, Options::default()).unwrap();
        // Between two echoes, and not with a packet whose number is whole anyway.
        let mut until = 20_000;
        while echoes(&simulation).0 != echoes(&simulation).1 || until == 20_000 {
            until += 10;
            simulation.step_until(at(until));
        }
        let Simulation { mut stations, far, .. } = Simulation::new(&scenario, Options::default()).unwrap();
        let router = &mut simulation.stations[0];
        core::mem::swap(router, &mut stations[0]);
        // All but what is durable is as at its first start.
        router.nv = core::mem::take(&mut stations[0].nv);
        simulation.far = far;
        simulation.step_until(at(until + 30_000));
        let asked = counted(&simulation, Counter::LowpanWidened);
        assert_eq!(counted(&simulation, Counter::LowpanUnknownSequence), 1, "{security}");
        assert_eq!(asked, 1, "{security}: its neighbour has been asked");
        simulation.step_until(at(until + 31_000));
        let (sent, back) = echoes(&simulation);
        assert!(sent > 4 * 49 && (1..=4).contains(&(sent - back)), "{security}: {back} of {sent}");
    }
}

#[test]
fn numbers_grow_beyond_16_and_32_bits_without_a_loss() {
    // The last block of numbers before each.
    for (security, block) in [("ah", (1 << 6) - 1), ("esp", (1 << 22) - 1)] {
        let mut simulation = Simulation::new(&chain("2", "60ms", security), Options::default()).unwrap();
        for station in &mut simulation.stations {
            station.nv.ipsec_sequence = block;
        }
        simulation.step_until(at(70_000));
        let (sent, back) = echoes(&simulation);
        assert!(sent > 1024 + 100 && sent - back <= 1, "{security}: {back} of {sent} from {block}");
        for refused in [Counter::IpsecReplayed, Counter::IpsecBadIcv, Counter::IpsecNotProtected] {
            assert_eq!(counted(&simulation, refused), 0, "{security}: {}", refused.name());
        }
    }
}

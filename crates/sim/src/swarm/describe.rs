//! A network and what it goes through, in words.

use crate::routing::RoutingKind;
use crate::scenario::{
    Destination, LogDistance, Mac, Pattern, Radio, RadioModel, Scenario, Traffic, TrafficKind,
};
use crate::security_gateway::NodesSide;
use crate::time::{Span, Time};
use crate::topology::Topology;
use crate::trial::{Attack, Disturbance, Plan, Reach};

/// A network and what it goes through, in one line.
pub(super) fn describe(scenario: &Scenario, plan: &Plan) -> String {
    let Radio { loss, burst, drift, one_way, .. } = scenario.radio;
    let mut words = vec![
        scenario.security.to_string(),
        stations(&scenario.topology),
        traffic(&scenario.traffic),
        mac(scenario.mac),
        format!("loss {}", loss.per_cent()),
    ];
    words.extend(burst.map(|mean| format!("in bursts of {mean}")));
    words.extend(one_way.happens_ever().then(|| format!("{} of the links one-way", one_way.per_cent())));
    if let RadioModel::LogDistance(model) = &scenario.radio.model {
        let LogDistance { shadowing, capture, .. } = model;
        words.push(format!(
            "signals weaker with the distance, {shadowing} dB of shadowing, capture at {capture} dB"
        ));
    }
    words.extend(scenario.gateway.as_ref().map(gateway));
    words.extend((drift > 0).then(|| format!("clocks off by up to {} ppm", drift / 1000)));
    words.extend(scenario.compression.map(|compression| format!("{compression:?} compression")));
    words.extend((scenario.routing != RoutingKind::Static).then(|| "RPL".to_string()));
    words.extend(disturbance("frames", &plan.frames));
    words.extend(disturbance("datagrams", &plan.datagrams));
    words.extend(plan.attack.map(attack));
    let power = plan.power_fails;
    words.extend(power.happens_ever().then(|| format!("power fails at {} of the writes", power.per_cent())));
    let at = |time: Time| seconds(time.since(Time::ZERO));
    words.extend((plan.clocks > Time::ZERO).then(|| format!("clocks begin at {}", at(plan.clocks))));
    words.extend(plan.power_cuts.iter().map(|&(time, id)| format!("power of {id} fails at {}", at(time))));
    words.extend(plan.restarts.iter().map(|&time| format!("the far end starts anew at {}", at(time))));
    words.push(format!("quiet from {}", at(plan.quiet)));
    words.join(", ")
}

fn seconds(span: Span) -> String {
    format!("{} s", span.as_secs())
}

fn gateway(nodes: &NodesSide) -> String {
    let but = nodes.link_only.first().map_or(String::new(), |id| format!(" but for node {id}"));
    let enforce = if nodes.enforce { " alone" } else { "" };
    format!("tunnels{enforce} to a security gateway{but}")
}

fn stations(topology: &Topology) -> String {
    match topology {
        Topology::Chain { nodes, .. } => format!("a chain of {nodes}"),
        Topology::Grid { nodes, .. } => format!("a grid of {nodes}"),
        Topology::Random { nodes, routers: 1, .. } => format!("a random field of {nodes}"),
        Topology::Random { nodes, routers, .. } => {
            format!("a random field of {nodes} and {routers} border routers")
        }
        Topology::List(placed) => format!("a tree of {}", placed.len() - 1),
    }
}

fn traffic(traffic: &Traffic) -> String {
    let mut period = seconds(traffic.period);
    if let Pattern::Periodic { jitter } = traffic.pattern
        && jitter > Span::ZERO
    {
        period += &format!(" and up to {} late", seconds(jitter));
    }
    match (traffic.kind, traffic.to) {
        (TrafficKind::Echo { payload }, Destination::Cloud) => {
            format!("an echo of {payload} bytes every {period}")
        }
        (TrafficKind::Echo { payload }, Destination::Node(node)) => {
            format!("an echo of {payload} bytes to node {node} every {period}")
        }
        (TrafficKind::Report, Destination::Cloud) => format!("a report every {period}"),
        (TrafficKind::Report, Destination::Node(node)) => format!("a report to node {node} every {period}"),
    }
}

fn mac(mac: Mac) -> String {
    match mac {
        Mac::Null => "NullMAC".into(),
        Mac::Csma(csma) => {
            let acks = if csma.ack { "with" } else { "without" };
            format!(
                "CSMA-CA, BE {} to {}, {} retries, {acks} acknowledgements",
                csma.min_be, csma.max_be, csma.max_retries
            )
        }
    }
}

fn disturbance(what: &str, disturbance: &Disturbance) -> Option<String> {
    let Disturbance { lose, duplicate, delay, damage } = disturbance;
    let all = [("lost", lose), ("twice", duplicate), ("late", delay), ("damaged", damage)];
    let some = all.iter().filter(|(_, share)| share.happens_ever());
    let some: Vec<_> = some.map(|(how, share)| format!("{} {how}", share.per_cent())).collect();
    (!some.is_empty()).then(|| format!("{what} {}", some.join(" and ")))
}

fn attack(Attack { reach: Reach { air, internet, link_key }, pause }: Attack) -> String {
    let places = [(air, "air"), (internet, "Internet")];
    let places: Vec<_> = places.iter().filter(|(there, _)| *there).map(|(_, place)| *place).collect();
    let key = if link_key { " with the link key" } else { "" };
    format!("an attacker on {}{key}, at least every {}", places.join(" and "), seconds(pause))
}

use crate::radio_model::RadioModel;
use crate::routing::RoutingKind;
use crate::scenario::{Destination, Scenario, TrafficKind};
use crate::time::Span;
use crate::topology::{Layout, within};
use crate::units::longer_than_nothing;

use super::{Attack, AttackKind, AttackedFrom, Flood};

/// The most attackers of a scenario.
const MAX_ATTACKERS: usize = 16;
/// The shortest time between two frames.
const LEAST_PAUSE: Span = Span::from_millis(1);

/// What is wrong with the attack of this number.
type Fault = (usize, String);

/// Whether the attacks of a scenario can be simulated.
pub(in crate::scenario) fn check(scenario: &Scenario, layout: &Layout) -> Result<(), Fault> {
    if scenario.attacks.len() > MAX_ATTACKERS {
        let message = format!("a network has at most {MAX_ATTACKERS} attackers: leave this one out");
        return Err((MAX_ATTACKERS, message));
    }
    for (index, attack) in scenario.attacks.iter().enumerate() {
        check_one(scenario, layout, attack).map_err(|message| (index, message))?;
        if let Some(before) = scenario.attacks[..index].iter().find(|before| drop_the_same(before, attack)) {
            let message =
                format!("its node is a {} at the same time: leave one of them out", before.kind.name());
            return Err((index, message));
        }
    }
    Ok(())
}

/// Whether both drop at one time what one node forwards: the second would find nothing.
fn drop_the_same(one: &Attack, other: &Attack) -> bool {
    let ends_before = |one: &Attack, other: &Attack| one.end.is_some_and(|end| end <= other.start);
    one.kind.is_of_captured_nodes()
        && other.kind.is_of_captured_nodes()
        && one.by == other.by
        && !ends_before(one, other)
        && !ends_before(other, one)
}

/// Whether the radio model says who hears the attacker and whom it hears.
fn check_radio(scenario: &Scenario, attack: &Attack) -> Result<(), String> {
    let is_place = matches!(attack.by, AttackedFrom::Position { .. });
    match scenario.radio.model {
        RadioModel::Links(_) if is_place => {
            Err("a file of links has none of a stranger's: capture a node, or set [radio] model to another"
                .into())
        }
        RadioModel::Links(_) | RadioModel::LogDistance(_) if attack.range.is_some() => {
            Err("range: attackers are louder than nodes in [radio] model = \"unit-disk\" only".into())
        }
        _ => Ok(()),
    }
}

fn check_one(scenario: &Scenario, layout: &Layout, attack: &Attack) -> Result<(), String> {
    let name = attack.kind.name();
    check_times(scenario, attack)?;
    check_nodes(scenario, layout, attack)?;
    if attack.kind.is_on_rpl() && scenario.routing == RoutingKind::Static {
        return Err(format!("a {name} is an attack on RPL: set [routing] kind to \"rpl\""));
    }
    check_radio(scenario, attack)?;
    if attack.range.is_some_and(|range| range <= 0) {
        return Err("range: it must be more than nothing".into());
    }
    let is_report = scenario.traffic.kind == TrafficKind::Report && scenario.traffic.to == Destination::Cloud;
    match attack.kind {
        AttackKind::Forge if !is_report => Err(
            "readings are forged where nodes post readings to the cloud: set [traffic] kind to \"report\""
                .into(),
        ),
        AttackKind::Wormhole { x, y } => {
            let is_near = place(layout, attack.by)
                .is_some_and(|here| within(here, (x, y), scenario.radio.interference));
            match is_near {
                true => Err("the ends of a wormhole disturb each other: place them further apart".into()),
                false => Ok(()),
            }
        }
        AttackKind::Flood(Flood::Hello) if attack.range.is_none_or(|range| range <= scenario.radio.range) => {
            Err("a hello-flood is louder than nodes are: give it a range longer than that of [radio]".into())
        }
        _ => Ok(()),
    }
}

fn check_times(scenario: &Scenario, attack: &Attack) -> Result<(), String> {
    let Attack { start, end, every, .. } = *attack;
    if start >= scenario.duration {
        return Err("start: the simulation is over by then".into());
    }
    if end.is_some_and(|end| end <= start) {
        return Err("end: it must be later than start".into());
    }
    if every < LEAST_PAUSE {
        return Err("every: no attacker sends more than a frame in 1ms".into());
    }
    match attack.kind {
        AttackKind::Replay { after } => longer_than_nothing(after).map_err(|wrong| format!("after: {wrong}")),
        _ => Ok(()),
    }
}

fn check_nodes(scenario: &Scenario, layout: &Layout, attack: &Attack) -> Result<(), String> {
    let last = layout.nodes();
    if let Some(target) = attack.target.filter(|&target| !(1..=last).contains(&target)) {
        return Err(format!("target: there is no node {target}, the last node is {last}"));
    }
    match attack.by {
        AttackedFrom::Node(node) if node > last || node == 0 => {
            Err(format!("there is no node {node} that could be captured: the last node is {last}"))
        }
        AttackedFrom::Node(node) if attack.kind.is_of_captured_nodes() => match scenario.platform_of(node) {
            Some(platform) => Err(format!(
                "node {node} runs on {}, whose firmware forwards as it is: name a native node",
                platform.name()
            )),
            None => Ok(()),
        },
        AttackedFrom::Position { .. } if attack.kind.is_of_captured_nodes() => {
            Err(format!("a {} is a captured node", attack.kind.name()))
        }
        AttackedFrom::Node(_) => Ok(()),
        AttackedFrom::Position { .. } => match attack.kind {
            AttackKind::Jam | AttackKind::Replay { .. } | AttackKind::Wormhole { .. } => Ok(()),
            _ if hears_somebody(scenario, layout, attack) => Ok(()),
            _ => Err("nobody is in range of the attacker: move it, or raise its range".into()),
        },
    }
}

fn hears_somebody(scenario: &Scenario, layout: &Layout, attack: &Attack) -> bool {
    let range = attack.range.unwrap_or(scenario.radio.range);
    place(layout, attack.by)
        .is_some_and(|here| layout.positions.iter().any(|&there| within(here, there, range)))
}

/// Where an attacker is.
fn place(layout: &Layout, by: AttackedFrom) -> Option<(i32, i32)> {
    match by {
        AttackedFrom::Position { x, y } => Some((x, y)),
        AttackedFrom::Node(node) => layout.positions.get(node as usize).copied(),
    }
}

//! Runs an image of a microcontroller between two native nodes, and prints how many bytes of stack it has used: the
//! peak over a minute, or two with public keys, or ten in time slots, in which it makes its handshake, if it has any, sends and forwards. Exits with 1 if something that it
//! sent did not arrive, but for an echo before RPL has formed the network, or those before all have joined it in time slots. One that measures runs until
//! it has reported.
//!
//! Usage: stack PLATFORM SECURITY report|echo|serve|leaf|measure [null|contikimac|sleepy|tsch] [rpl] [nd] [tables] [IMAGE], for example: stack tmote-sky llsec report. To
//! serve is to take in the reports of the two native nodes, or with public keys of the last; a leaf gets echoes, and forwards none; null is
//! the NullMAC, with contikimac all radios sleep, with sleepy its receiver is off and no node stands behind it, with tsch all are in time slots, rpl lets all nodes
//! speak RPL, nd lets them discover their neighbours, among which a leaf is a host, and with tables its
//! AES reads a table of columns; an image is one that is not chosen by all that.

#[path = "../tests/line/mod.rs"]
mod line;

use std::error::Error;

use sixlock_node::meter::{ECHOES, LAST_LINE, SIZES};
use sixlock_sim::{
    DeviceBackend, EmulatedNode, Mac, Objective, Options, Platform, RoutingKind, RplMode, ScenarioBuilder,
    Simulation, Span, Time,
};

/// The node that is emulated.
const EMULATED: u32 = 2;
/// The one that answers it if it measures, and the pause between two such echoes, in seconds.
const PEER: u32 = 3;
const PAUSE: u64 = 2;
/// The client that its server with public keys knows.
const ONLY_CLIENT: u32 = 3;
/// How images speak RPL.
const RPL: RoutingKind = RoutingKind::Rpl { objective: Objective::Mrhof, mode: RplMode::NonStoring };
/// How their radios sleep.
const SLEEPS: &str = "kind = \"contiki-csma\"\nlisten = \"contikimac\"";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [platform, security, traffic, rest @ ..] = &arguments[..] else {
        return Err(
            "usage: stack PLATFORM SECURITY report|echo|serve|leaf|measure [null|contikimac|sleepy|tsch] [rpl] [nd] [tables] [IMAGE]"
                .into(),
        );
    };
    let is_said = |word: &str| rest.iter().any(|said| said == word);
    let (sleeps, polls, discovers) = (is_said("contikimac"), is_said("sleepy"), is_said("nd"));
    let is_slotted = is_said("tsch");
    let is_host = discovers && traffic == "leaf";
    let measures = traffic == "measure";
    let has_public_keys = matches!(security.as_str(), "dtls-rpk" | "dtls-x509");
    let has_to_send = |id| match traffic.as_str() {
        "serve" if has_public_keys => id == ONLY_CLIENT,
        "serve" => id != EMULATED,
        "leaf" => id == EMULATED,
        "measure" => false,
        _ => true,
    };
    let traffic = match traffic.as_str() {
        "serve" if has_public_keys => format!("to = {EMULATED}\nfrom = {ONLY_CLIENT}"),
        "serve" => format!("to = {EMULATED}"),
        "leaf" => format!("kind = \"echo\"\nto = {EMULATED}"),
        "measure" => format!("kind = \"echo\"\nfrom = {EMULATED}\nto = {PEER}"),
        kind => format!("kind = \"{kind}\""),
    };
    let period = if measures { PAUSE } else { 15 };
    let traffic = format!("[traffic]\n{traffic}\nperiod = \"{period}s\"");
    let mac = match (sleeps, polls) {
        (true, _) => SLEEPS,
        (_, true) => "listen = \"sleepy\"",
        _ if is_slotted => "listen = \"tsch\"",
        _ => line::CSMA,
    };
    let mut text = line::line(platform, security, mac, &traffic);
    if is_host {
        text = text.replace("kind = \"emulated\"", "kind = \"emulated\"\nhost = true");
    }
    if polls || is_host {
        // Through a leaf leads no way, nor through a host.
        text = text.replace("\"120m\"", "\"-40m\"");
    }
    if discovers {
        text.push_str(
            "\n[network]\ndiscovery = \"nd\"\nprefix = \"2001:db8:7::/64\"\n[routing]\nkind = \"rpl\"",
        );
    }
    let mut builder = ScenarioBuilder::parse("stack", &text)?;
    for word in rest {
        builder = match word.as_str() {
            "null" => builder.mac(Mac::Null),
            "rpl" => builder.routing(RPL),
            "tables" => {
                let platform = Platform::named(platform)?.with_backend(DeviceBackend::Tables)?;
                builder.emulated(EMULATED, EmulatedNode { platform, image: None })
            }
            "contikimac" | "sleepy" | "tsch" | "nd" => builder,
            image => {
                let platform = Platform::named(platform)?;
                builder.emulated(EMULATED, EmulatedNode { platform, image: Some(image.into()) })
            }
        };
    }
    if has_public_keys {
        // Three such handshakes at a time collide, and take up to a minute.
        builder = builder.duration(Span::from_secs(120));
    }
    if measures {
        let echoes = u64::from(ECHOES) * SIZES.len() as u64;
        builder = builder.duration(Span::from_secs(PAUSE * (echoes + 2)));
    }
    if is_slotted {
        builder = builder.duration(Span::from_secs(600));
    }
    // An echo that comes before the network has formed is lost, as nobody sends it again.
    let early = if is_slotted { 20 } else { u64::from(is_said("rpl") || discovers) };
    let scenario = builder.build()?;
    let end = Time::ZERO + Span::from_micros(scenario.duration().micros());
    let mut simulation = Simulation::new(&scenario, Options::default())?;
    simulation.step_until(end);
    let stack = simulation.stack_peak(EMULATED).ok_or("the node is not emulated")??;
    let is_reported =
        simulation.serial(EMULATED).is_some_and(|said| said.ends_with(format!("{LAST_LINE}\n").as_bytes()));
    if measures && !is_reported {
        return Err("it has not reported".into());
    }
    for node in simulation.run()?.nodes {
        if has_to_send(node.id) && node.sent <= early || node.delivered + early < node.sent {
            return Err(format!("node {}: {} of {} arrived", node.id, node.delivered, node.sent).into());
        }
    }
    println!("{stack}");
    Ok(())
}

//! Runs an image of a microcontroller between two native nodes, and prints how many bytes of stack it has used: the
//! peak over a minute in which it makes its handshake, if it has any, sends and forwards. Exits with 1 if something that it
//! sent did not arrive.
//!
//! Usage: stack PLATFORM SECURITY report|echo|serve [null], for example: stack tmote-sky llsec report. To serve is to take in
//! the reports of the two native nodes; null is the NullMAC.

#[path = "../tests/line/mod.rs"]
mod line;

use std::error::Error;

use sixlock_sim::{Mac, Options, Scenario, Simulation, Span, Time};

/// The node that is emulated.
const EMULATED: u32 = 2;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (platform, security, traffic, has_csma) = match &arguments[..] {
        [platform, security, traffic] => (platform, security, traffic, true),
        [platform, security, traffic, null] if null == "null" => (platform, security, traffic, false),
        _ => return Err("usage: stack PLATFORM SECURITY report|echo|serve [null]".into()),
    };
    let serves = traffic == "serve";
    let traffic = match traffic.as_str() {
        "serve" => format!("to = {EMULATED}"),
        kind => format!("kind = \"{kind}\""),
    };
    let traffic = format!("[traffic]\n{traffic}\nperiod = \"15s\"");
    let mut scenario = Scenario::parse("stack", &line::line(platform, security, &traffic))?;
    if !has_csma {
        scenario.mac = Mac::Null;
    }
    let end = Time::ZERO + Span::from_micros(scenario.duration.micros());
    let mut simulation = Simulation::new(&scenario, Options::default())?;
    simulation.step_until(end);
    let stack = simulation.stack_peak(EMULATED).ok_or("the node is not emulated")??;
    for node in simulation.run()?.nodes {
        let has_to_send = !serves || node.id != EMULATED;
        if has_to_send && node.sent == 0 || node.delivered < node.sent {
            return Err(format!("node {}: {} of {} arrived", node.id, node.delivered, node.sent).into());
        }
    }
    println!("{stack}");
    Ok(())
}

//! Runs an image of a microcontroller between two native nodes, and prints how many bytes of stack it has used: the
//! peak over a minute in which it makes its handshake, if it has any, sends and forwards. Exits with 1 if something that it
//! sent did not arrive.
//!
//! Usage: stack PLATFORM SECURITY report|echo, for example: stack tmote-sky llsec report

#[path = "../tests/line/mod.rs"]
mod line;

use std::error::Error;

use sixlock_sim::{Options, Scenario, Simulation, Span, Time};

/// The node that is emulated.
const EMULATED: u32 = 2;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [platform, security, traffic] = &arguments[..] else {
        return Err("usage: stack PLATFORM SECURITY report|echo".into());
    };
    let traffic = format!("[traffic]\nkind = \"{traffic}\"\nperiod = \"15s\"");
    let scenario = Scenario::parse("stack", &line::line(platform, security, &traffic))?;
    let end = Time::ZERO + Span::from_micros(scenario.duration.micros());
    let mut simulation = Simulation::new(&scenario, Options::default())?;
    simulation.step_until(end);
    let stack = simulation.stack_peak(EMULATED).ok_or("the node is not emulated")??;
    for node in simulation.run()?.nodes {
        if node.sent == 0 || node.delivered < node.sent {
            return Err(format!("node {}: {} of {} arrived", node.id, node.delivered, node.sent).into());
        }
    }
    println!("{stack}");
    Ok(())
}

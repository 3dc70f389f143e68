//! Attackers that send packets of their own: one to a node's service, or readings in a node's name.

use sixlock_node::ECHO_PORT;

use super::behaviour::{Behaviour, Means, Sending};
use super::packets::{bytes, global, reading, udp};

/// Bytes in an echo.
const ECHO: usize = 16;

/// Sends datagrams to the target's echo service.
pub(super) struct Inject;

impl Behaviour for Inject {
    fn act(&mut self, means: &mut Means) -> Vec<Sending> {
        let echo = bytes(&mut means.stream, ECHO);
        let ends = (global(means.own), global(means.target));
        let packet = udp(&mut means.stream, ends, ECHO_PORT, &echo);
        means.frames(means.own, Some(means.next), &packet)
    }
}

/// Sends readings to the cloud in the target's name.
pub(super) struct Forge;

impl Behaviour for Forge {
    fn act(&mut self, means: &mut Means) -> Vec<Sending> {
        let packet = reading(&mut means.stream, means.security, means.target);
        means.frames(means.own, Some(means.next), &packet)
    }
}

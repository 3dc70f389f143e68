//! An attacker that sends datagrams to a node's service.

use sixlock_node::ECHO_PORT;

use super::behaviour::{AttackerContext, Behaviour, Sending};
use super::packets::{bytes, udp};

/// Bytes in an echo.
const ECHO: usize = 16;

/// Sends datagrams to the target's echo service.
pub(super) struct Inject;

impl Behaviour for Inject {
    fn act(&mut self, context: &mut AttackerContext) -> Vec<Sending> {
        let echo = bytes(&mut context.stream, ECHO);
        let ends = (context.global(context.own), context.global(context.target));
        let packet = udp(&mut context.stream, ends, ECHO_PORT, &echo);
        context.frames(context.own, Some(context.next), &packet)
    }
}

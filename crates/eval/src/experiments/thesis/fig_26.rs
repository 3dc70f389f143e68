//! Figure 26: a packet with AH behind the header of RPL.

use super::network::AH;
use crate::experiment::{Experiment, Method};

pub(in super::super) const EXPERIMENT: Experiment = Experiment {
    name: "thesis-fig26",
    paper: super::PAPER,
    at: "figure 26 (section 6.2)",
    shows: "the headers of packets with AH that RPL carries, captured from network 1",
    method: Method::Run(|_, paper| super::capture::capture(paper, AH, "figure-26")),
};
